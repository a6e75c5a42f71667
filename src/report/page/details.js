// SPDX-License-Identifier: Apache-2.0
// The panel of details: the selected step with its inputs and readers, or what
// is in memory at a moment.
import { byId, element, showBytes, showCount, showShare, showTime } from "./format.js";
import { deviceName, predecessors, RUN, stepName, tensorName } from "./data.js";
import { heldAt, isForever, liveAt, profileOf } from "./live.js";
import { clearSelection, listen, reveal, select, selectMoment, state } from "./state.js";
import { stepFacts } from "./tip.js";

const MOST_ROWS = 200;

export function goTo(planIndex, step) {
  const plan = state.data.plans[planIndex];
  select(planIndex, step);
  reveal(plan.start[step], plan.end[step]);
}

function stepLink(plan, step, text = stepName(plan, step)) {
  return element("button", { class: "link", onclick: () => goTo(plan.index, step) }, text);
}

function factTable(facts) {
  const rows = facts.map(([label, value]) =>
    element("tr", {}, element("th", { scope: "row" }, label), element("td", {}, value)),
  );
  return element("table", { class: "facts" }, element("tbody", {}, ...rows));
}

function stepList(title, plan, steps) {
  if (steps.length === 0) {
    return [];
  }
  const items = steps.slice(0, 12).map((step) => element("li", {}, stepLink(plan, step)));
  if (steps.length > 12) {
    items.push(element("li", {}, `${steps.length - 12} more`));
  }
  return [element("h3", {}, `${title} (${steps.length})`), element("ul", {}, ...items)];
}

function readersOf(graph, op) {
  const { begin, rows } = graph.uses;
  const first = begin[graph.outputBegin[op]];
  const last = begin[graph.outputBegin[op + 1]];
  return [...new Set(rows.slice(first, last))];
}

// The moment of memory at which the step runs.
function momentButton(plan, step) {
  const device = plan.to[step];
  const at = profileOf(plan, device).steps.indexOf(step);
  const show = () => selectMoment(plan.index, device, 2 * at + 1);
  return element("button", { id: "live-here", onclick: show }, "What is in memory then");
}

function stepDetails(plan, step) {
  const { graph } = plan;
  const op = plan.op[step];
  const before = [...new Set(predecessors(graph, op))].map((p) => plan.runStep[p]);
  const after = readersOf(graph, op).map((p) => plan.runStep[p]);
  const cause = plan.cause[step];
  const parts = [
    element("h2", {}, stepName(plan, step)),
    element(
      "p",
      { class: "faint" },
      `${plan.name}, step ${step}, id ${graph.id[op]}, kind ${graph.kinds[graph.kind[op]]}`,
    ),
    factTable(stepFacts(plan, step)),
  ];
  if (plan.inChain[step]) {
    parts.push(element("p", {}, element("strong", {}, "On the critical chain")));
  }
  if (cause >= 0) {
    parts.push(element("p", {}, "It waited for ", stepLink(plan, cause)));
  }
  parts.push(momentButton(plan, step));
  if (plan.port[step] === RUN) {
    parts.push(...stepList("Reads from", plan, before), ...stepList("Read by", plan, after));
  }
  return parts;
}

// -- A moment ------------------------------------------------------------------

function sizeCell(bytes, held) {
  const share = element("div", { class: "faint" }, showShare(bytes, held));
  return element("td", { class: "number" }, showBytes(bytes), share);
}

function liveRow(plan, copy, held) {
  const { graph } = plan;
  const last = isForever(copy) ? "the end" : stepLink(plan, copy.last);
  return element(
    "tr",
    {},
    sizeCell(graph.bytes[copy.tensor], held),
    element("td", {}, tensorName(graph, copy.tensor)),
    element("td", {}, stepLink(plan, copy.first)),
    element("td", {}, last),
  );
}

function fixedRow(label, bytes, held) {
  return element("tr", {}, sizeCell(bytes, held), element("td", { colspan: 3 }, label));
}

function fixedRows(plan, device, step, ended, held) {
  const info = plan.devices[device];
  const runs = !ended && step >= 0 && plan.port[step] === RUN && plan.device[step] === device;
  const temporary = runs ? plan.graph.temporary[plan.op[step]] : 0;
  return [
    ["resident", info.resident_bytes],
    [showCount(info.parameters, "shared parameter"), info.parameter_bytes],
    ["temporary", temporary],
  ]
    .filter(([, bytes]) => bytes > 0)
    .map(([label, bytes]) => fixedRow(label, bytes, held));
}

const HEADS = ["size", "tensor", "made by", "last used by"];

function liveTable(plan, device, step, ended, held) {
  const live = step < 0 ? [] : liveAt(plan, device, step, ended);
  const rows = live.slice(0, MOST_ROWS).map((copy) => liveRow(plan, copy, held));
  if (live.length > MOST_ROWS) {
    rows.push(element("tr", {}, element("td", { colspan: 4 }, `${live.length - MOST_ROWS} more`)));
  }
  const head = element("tr", {}, ...HEADS.map((text) => element("th", { scope: "col" }, text)));
  return element(
    "table",
    { class: "live" },
    element("thead", {}, head),
    element("tbody", {}, ...fixedRows(plan, device, step, ended, held), ...rows),
  );
}

function momentDetails(plan, { device, point }) {
  const profile = profileOf(plan, device);
  const held = heldAt(plan, device, profile, point);
  const step = point === 0 ? -1 : profile.steps[(point - 1) >> 1];
  const ended = point % 2 === 0;
  const when = step < 0 ? "before the first step" : ended ? "after " : "during ";
  const about = [`${plan.name}, at ${showTime(profile.time[point])}, ${when}`];
  if (step >= 0) {
    about.push(stepLink(plan, step));
  }
  return [
    element(
      "h2",
      { "data-held": held },
      `In memory on ${deviceName(plan, device)}: ${showBytes(held)}`,
    ),
    element("p", { class: "faint" }, ...about),
    element("div", { class: "wide" }, liveTable(plan, device, step, ended, held)),
  ];
}

// -- The panel --------------------------------------------------------------------

function render() {
  const { moment, selected, data } = state;
  const panel = byId("details");
  const close = element(
    "button",
    { class: "close", "aria-label": "Close", onclick: clearSelection },
    "×",
  );
  panel.classList.toggle("open", Boolean(moment || selected));
  if (moment) {
    panel.replaceChildren(close, ...momentDetails(data.plans[moment.plan], moment));
  } else if (selected) {
    panel.replaceChildren(close, ...stepDetails(data.plans[selected.plan], selected.step));
  } else {
    panel.replaceChildren(
      element("h2", {}, "Details"),
      element(
        "p",
        { class: "faint" },
        "Click an op or a transfer to see it, or a moment of the memory to see what is live there.",
      ),
    );
  }
}

export function startDetails() {
  listen("select", render);
  render();
}
