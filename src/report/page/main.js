// SPDX-License-Identifier: Apache-2.0
// The page begins here: reads its data and starts the views.
import { byId, element, showBytes, swatch } from "./format.js";
import { readData } from "./data.js";
import { Chart } from "./chart.js";
import { startCurve } from "./curve.js";
import { startDetails } from "./details.js";
import { startFind } from "./find.js";
import { startGraph } from "./graph_view.js";
import { startKeys } from "./keys.js";
import { BANDS, heldAt, liveAt, profileOf, sizeSteps } from "./live.js";
import { fitAll, listen, redraw, showPlans, state, zoom } from "./state.js";
import { deviceTable, startTable } from "./table.js";
import { startText } from "./text.js";
import { makeColoring, readTheme, setTheme, theme } from "./theme.js";

let charts = [];

function planCard(chart) {
  const { plan } = chart;
  const facts = `${plan.figures.runtime[0]}, peak ${plan.figures.peak[0]}, ${plan.figures.transfers[0]} transfers`;
  const devices = element(
    "details",
    { class: "devices" },
    element("summary", {}, "devices"),
    deviceTable(plan),
  );
  return element(
    "section",
    { class: "plan", "data-plan": plan.index },
    element("h2", {}, plan.name, element("span", { class: "faint" }, facts)),
    chart.canvas,
    devices,
  );
}

function showCharts() {
  charts = state.shown.map((index) => new Chart(state.data.plans[index]));
  byId("charts").replaceChildren(...charts.map(planCard));
}

// -- Legends ----------------------------------------------------------------------

function bandLabel(band) {
  const [large, medium] = sizeSteps(state.data.graph);
  return {
    parameters: "parameters, resident",
    large: `tensors from ${showBytes(large)}`,
    medium: `from ${showBytes(medium)}`,
    small: "smaller",
    temporary: "temporary",
  }[band];
}

function showLegends() {
  const entries = state.coloring.shown.map(({ label, color }) => swatch(label, color));
  byId("legend").replaceChildren(...entries, swatch("transfer", state.coloring.transfer));
  const bands = BANDS.map((band, i) => swatch(bandLabel(band), theme.colors[`band${i}`]));
  const lines = [swatch("limit", theme.colors.limit), swatch("lower bound", theme.colors.bound)];
  byId("memory-legend").replaceChildren(...bands, ...lines);
}

// -- Controls -----------------------------------------------------------------------

function refreshTheme() {
  readTheme();
  showLegends();
  redraw();
}

function startControls() {
  const color = byId("color");
  color.addEventListener("change", () => {
    state.coloring = makeColoring(state.data.graph, color.value);
    showLegends();
    redraw();
  });
  for (const [id, key] of [
    ["chain", "showChain"],
    ["idle", "showIdle"],
  ]) {
    byId(id).addEventListener("change", (event) => {
      state[key] = event.target.checked;
      redraw();
    });
  }
  byId("theme").addEventListener("change", (event) => {
    setTheme(event.target.value);
    refreshTheme();
  });
  byId("fit").addEventListener("click", fitAll);
  byId("zoom-in").addEventListener("click", () => zoom(0.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
}

// On paper everything is drawn, on white.
function setPrinting(printing) {
  document.documentElement.toggleAttribute("data-printing", printing);
  document.querySelectorAll("details.devices").forEach((table) => (table.open = printing));
  refreshTheme();
  charts.forEach((chart) => chart.draw());
}

function watchWindow() {
  window.addEventListener("resize", redraw);
  window.addEventListener("scroll", redraw, { passive: true });
  window.addEventListener("beforeprint", () => setPrinting(true));
  window.addEventListener("afterprint", () => setPrinting(false));
  matchMedia("print").addEventListener("change", (event) => setPrinting(event.matches));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refreshTheme);
}

function start() {
  state.data = readData();
  state.coloring = makeColoring(state.data.graph, "kind");
  const title = state.data.title || "plan";
  document.title = `${title} · regal`;
  byId("title").textContent = title;
  byId("version").textContent = `regal ${state.data.version}`;
  readTheme();
  startTable();
  startDetails();
  startFind();
  startText();
  startCurve();
  startGraph();
  startControls();
  startKeys();
  watchWindow();
  listen("plans", showCharts);
  listen("draw", () => charts.forEach((chart) => chart.draw()));
  showLegends();
  showPlans(state.data.plans.map((plan) => plan.index).slice(0, 4));
  document.documentElement.dataset.ready = "yes";
}

// For tests, which look at what is behind the canvas.
window.regal = { state, charts: () => charts, heldAt, liveAt, profileOf };
start();
