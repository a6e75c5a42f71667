// SPDX-License-Identifier: Apache-2.0
// Keys, for all that a pointer can do.
import { byId, firstWhere } from "./format.js";
import { goTo } from "./details.js";
import { findNext } from "./find.js";
import { clearSelection, fitAll, pan, state, zoom } from "./state.js";

// The next or previous step on the same device, or along the critical chain.
function stepOn(by, steps) {
  const planIndex = state.selected?.plan ?? state.shown[0];
  const plan = state.data.plans[planIndex];
  const list = steps(plan);
  const now = state.selected?.step ?? -1;
  const place = firstWhere(0, list.length, (k) => list[k] >= now);
  const next = now < 0 ? 0 : list[place] === now || by < 0 ? place + by : place;
  if (list.length) {
    goTo(planIndex, list[Math.min(Math.max(next, 0), list.length - 1)]);
  }
}

function ofDevice(plan) {
  const device = state.selected ? plan.device[state.selected.step] : 0;
  const steps = Array.from(plan.op.keys());
  return steps.filter((step) => plan.device[step] === device || plan.to[step] === device);
}

function ofChain(plan) {
  return plan.chain;
}

const KEYS = {
  ArrowLeft: () => pan(-0.15),
  ArrowRight: () => pan(0.15),
  "+": () => zoom(0.7),
  "=": () => zoom(0.7),
  "-": () => zoom(1 / 0.7),
  0: fitAll,
  "/": () => byId("find").focus(),
  n: () => findNext(1),
  N: () => findNext(-1),
  "]": () => stepOn(1, ofDevice),
  "[": () => stepOn(-1, ofDevice),
  c: () => stepOn(1, ofChain),
  C: () => stepOn(-1, ofChain),
  m: () => byId("live-here")?.click(),
  "?": () => byId("help").toggleAttribute("open"),
  Escape: clearSelection,
};

function isTyping(target) {
  return target instanceof HTMLInputElement
    ? target.type !== "checkbox"
    : target instanceof HTMLSelectElement;
}

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
      return;
    }
    event.preventDefault();
    action();
  });
}
