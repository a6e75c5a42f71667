// SPDX-License-Identifier: Apache-2.0
// What is under the pointer, and the facts about a step that it shares with the
// panel of details.
import { byId, element, showBytes, showTime } from "./format.js";
import { deviceName, REASONS, RUN, stepBytes, stepName } from "./data.js";
import { heldAt, profileOf } from "./live.js";

// [label, value] pairs.
export function stepFacts(plan, step) {
  const { graph } = plan;
  const op = plan.op[step];
  const runs = plan.port[step] === RUN;
  const facts = [
    ["starts", showTime(plan.start[step])],
    ["ends", showTime(plan.end[step])],
    ["takes", showTime(plan.end[step] - plan.start[step])],
    ["where", whereOf(plan, step)],
  ];
  if (runs) {
    facts.push(["outputs", outputsOf(graph, op)]);
    if (graph.temporary[op]) {
      facts.push(["temporary", showBytes(graph.temporary[op])]);
    }
    if (graph.resident[op]) {
      facts.push(["resident", showBytes(graph.resident[op])]);
    }
  } else {
    facts.push(["bytes", showBytes(stepBytes(plan, step))]);
  }
  facts.push(["waits for", causeOf(plan, step)]);
  return facts;
}

function whereOf(plan, step) {
  const from = deviceName(plan, plan.device[step]);
  return plan.port[step] === RUN ? from : `${from} → ${deviceName(plan, plan.to[step])}`;
}

function outputsOf(graph, op) {
  const bytes = graph.bytes.slice(graph.outputBegin[op], graph.outputBegin[op + 1]);
  return bytes.length ? bytes.map(showBytes).join(", ") : "none";
}

function causeOf(plan, step) {
  const cause = plan.cause[step];
  const reason = REASONS[plan.reason[step]];
  return cause < 0 ? reason : `${reason}: ${stepName(plan, cause)}`;
}

function gapLines(plan, gap) {
  const idle = `idle for ${showTime(gap.to - gap.from)}`;
  if (gap.step < 0) {
    return [idle, "nothing is left to do here"];
  }
  return [
    idle,
    `until ${stepName(plan, gap.step)} starts`,
    `which waits for ${causeOf(plan, gap.step)}`,
  ];
}

function memoryLines(plan, row, point) {
  const profile = profileOf(plan, row.device);
  const held = showBytes(heldAt(plan, row.device, profile, point));
  const step = profile.steps[(point - 1) >> 1];
  if (point === 0) {
    return [`${deviceName(plan, row.device)}: ${held}`, "before its first step"];
  }
  const when = point % 2 ? "during" : "after";
  return [
    `${deviceName(plan, row.device)}: ${held}`,
    `${when} ${stepName(plan, step)}`,
    "click for what is in memory",
  ];
}

function linesOf(plan, found) {
  if (found.step !== undefined) {
    const chain = plan.inChain[found.step] ? ["on the critical chain"] : [];
    const facts = stepFacts(plan, found.step).map(([label, value]) => `${label} ${value}`);
    return [stepName(plan, found.step), ...facts, ...chain];
  }
  if (found.gap) {
    return gapLines(plan, found.gap);
  }
  return found.point === undefined ? [] : memoryLines(plan, found.row, found.point);
}

export function showTip(plan, found, x, y) {
  const tip = byId("tip");
  const lines = linesOf(plan, found);
  tip.hidden = lines.length === 0;
  if (tip.hidden) {
    return;
  }
  tip.replaceChildren(...lines.map((line, i) => element(i ? "div" : "strong", {}, line)));
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(x + 14, window.innerWidth - width - 8);
  const below = y + 18 + height < window.innerHeight;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${below ? y + 18 : Math.max(y - height - 10, 4)}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}
