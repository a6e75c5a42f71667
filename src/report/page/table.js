// SPDX-License-Identifier: Apache-2.0
// The table that compares plans, and the choice of those that are drawn. All
// numbers are regal's.
import { byId, element } from "./format.js";
import { deviceName } from "./data.js";
import { listen, showPlans, state } from "./state.js";

const COLUMNS = [
  ["run time", "runtime"],
  ["expected", "expected"],
  ["bound", "runtime_bound"],
  ["above it", "runtime_gap"],
  ["peak memory", "peak"],
  ["bound", "peak_bound"],
  ["above it", "peak_gap"],
  ["transfers", "transfers"],
  ["bytes moved", "moved"],
];

// Those of which some plan has a figure.
function columns() {
  const { plans } = state.data;
  return COLUMNS.filter(([, key]) => plans.some((plan) => plan.figures[key]));
}

function isShown(plan) {
  return state.shown.includes(plan.index);
}

function toggle(plan) {
  const shown = isShown(plan)
    ? state.shown.filter((index) => index !== plan.index)
    : [...state.shown, plan.index].sort((a, b) => a - b);
  showPlans(shown.length ? shown : [plan.index]);
}

function figureCell(plan, label, key) {
  const figure = plan.figures[key];
  if (!figure) {
    return element("td", { class: "number" }, "–");
  }
  const over = key === "peak" && !plan.result.fits;
  return element(
    "td",
    {
      class: over ? "number over" : "number",
      "data-key": key,
      "data-label": label,
      "data-value": figure[1],
      title: String(figure[1]),
    },
    over ? `${figure[0]} over limit` : figure[0],
  );
}

function planRow(plan) {
  const box = element("input", {
    type: "checkbox",
    id: `show-${plan.index}`,
    onchange: () => toggle(plan),
  });
  box.checked = isShown(plan);
  const name = element("label", { for: `show-${plan.index}` }, box, plan.name);
  const cells = columns().map(([label, key]) => figureCell(plan, label, key));
  return element(
    "tr",
    { "data-plan": plan.index },
    element("th", { scope: "row" }, name),
    ...cells,
  );
}

function compareTable() {
  const heads = ["plan", ...columns().map(([label]) => label)];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const { plans } = state.data;
  return element(
    "table",
    { id: "compare" },
    element("thead", {}, head),
    element("tbody", {}, ...plans.map(planRow)),
  );
}

// -- Devices ---------------------------------------------------------------------

function deviceRow(plan, device) {
  const info = plan.devices[device];
  const texts = [
    info.ops,
    info.busy[0],
    info.load,
    info.peak[0],
    info.limit ? info.limit[0] : "none",
  ];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, deviceName(plan, device)),
    ...texts.map((text) => element("td", { class: "number" }, String(text))),
  );
}

export function deviceTable(plan) {
  const heads = ["", "ops", "busy", "load", "peak", "limit"];
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  return element(
    "table",
    { class: "devices" },
    element("thead", {}, head),
    element("tbody", {}, ...plan.devices.map((_, device) => deviceRow(plan, device))),
  );
}

export function startTable() {
  const render = () => byId("table").replaceChildren(compareTable());
  listen("plans", render);
  render();
}
