// SPDX-License-Identifier: Apache-2.0
// Colours. Those of kinds are Okabe and Ito's, which people with any kind of
// colour blindness can tell apart; layers go along cividis, in which lightness
// says as much as hue. Everything else comes from the style sheet.
const PALETTE = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#d55e00",
  "#f0e442",
  "#7f6bb3",
];
const OTHER = "#9a9a9a";
const CIVIDIS = ["#00306f", "#3f4c6c", "#666970", "#8c8878", "#b5a970", "#dfcd59", "#fee838"];
const TRANSFER = { kind: "#8a6d3b", layer: "#cc79a7" }; // none of the ops' colours

export const theme = { colors: {} };

const NAMES = [
  "paper",
  "panel",
  "ink",
  "faint",
  "line",
  "idle",
  "accent",
  "chain",
  "limit",
  "bound",
  "band0",
  "band1",
  "band2",
  "band3",
  "band4",
];

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) {
    theme.colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return theme.colors;
}

// "", "light" or "dark"; "" is what the system says.
export function setTheme(choice) {
  if (choice) {
    document.documentElement.dataset.theme = choice;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function mix(from, to, share) {
  const a = channels(from);
  const b = channels(to);
  const mixed = a.map((value, i) => Math.round(value + (b[i] - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export function inkOn(hex) {
  const [red, green, blue] = channels(hex);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
}

function alongCividis(share) {
  const at = share * (CIVIDIS.length - 1);
  const below = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return mix(CIVIDIS[below], CIVIDIS[below + 1], at - below);
}

export function deviceColor(device) {
  return PALETTE[device % PALETTE.length];
}

// -- Colours of ops ------------------------------------------------------------

// Kinds by the time that they take; the first get a colour each.
function byKind(graph) {
  const time = graph.kinds.map(() => 0);
  graph.kind.forEach((kind, op) => (time[kind] += graph.runTime[op]));
  const order = graph.kinds.map((_, kind) => kind).sort((a, b) => time[b] - time[a]);
  const entry = new Int32Array(graph.kinds.length).fill(PALETTE.length);
  order.slice(0, PALETTE.length).forEach((kind, place) => (entry[kind] = place));
  const legend = order
    .slice(0, PALETTE.length)
    .map((kind, place) => ({ label: graph.kinds[kind], color: PALETTE[place] }));
  if (order.length > PALETTE.length) {
    legend.push({ label: `${order.length - PALETTE.length} other kinds`, color: OTHER });
  }
  return { entry: Uint8Array.from(graph.kind, (kind) => entry[kind]), legend };
}

// The number of the layer in a name: "layers.3/attention", "h_11.mlp", "block2".
const LAYER = /(?:^|[./_])(?:layers?|blocks?|h|stages?|encoder|decoder)[._/]?(\d+)(?:[./_]|$)/i;

export function layerOf(name) {
  const found = LAYER.exec(name);
  return found ? Number(found[1]) : -1;
}

// By layer where names tell it, else by depth in the graph.
function byLayer(graph) {
  let layer = graph.names.map(layerOf);
  const named = new Set(layer).size > 2;
  layer = named ? layer : Array.from(graph.level);
  const most = layer.reduce((a, b) => Math.max(a, b), 0);
  const shades = Math.min(most + 1, 64);
  const legend = [];
  for (let shade = 0; shade < shades; shade++) {
    const color = alongCividis(shades > 1 ? shade / (shades - 1) : 0);
    const number = Math.round((shade * most) / Math.max(shades - 1, 1));
    legend.push({ label: `${named ? "layer" : "depth"} ${number}`, color });
  }
  legend.push({ label: "no layer", color: OTHER });
  const place = (n) => (n < 0 ? shades : Math.round((n * (shades - 1)) / Math.max(most, 1)));
  const entry = Uint8Array.from(layer, place);
  const shown = [0, shades >> 1, shades - 1].filter((k, i, all) => all.indexOf(k) === i);
  return { entry, legend, shown: shown.map((k) => legend[k]) };
}

// What colours ops: a number for each op, and the legend in which it is.
export function makeColoring(graph, choice) {
  const coloring = choice === "layer" ? byLayer(graph) : byKind(graph);
  coloring.colors = coloring.legend.map(({ color }) => color);
  coloring.shown ??= coloring.legend;
  coloring.transfer = TRANSFER[choice];
  return coloring;
}
