// SPDX-License-Identifier: Apache-2.0
// Finding ops by name: text, or a regular expression between slashes.
import { byId } from "./format.js";
import { announce, listen, redraw, state } from "./state.js";
import { goTo } from "./details.js";

// A test for names, or null when the expression is not one.
function matcher(text) {
  const expression = /^\/(.*?)\/?$/.exec(text);
  try {
    if (expression) {
      const pattern = new RegExp(expression[1], "i");
      return (name) => pattern.test(name);
    }
  } catch {
    return null;
  }
  const lower = text.toLowerCase();
  return (name) => name.toLowerCase().includes(lower);
}

// Ops in the order in which the first plan shown runs them.
function inOrder(ops) {
  const plan = state.data.plans[state.shown[0]];
  return ops.sort((a, b) => plan.runStep[a] - plan.runStep[b]);
}

export function find(text) {
  const { graph } = state.data;
  const matches = text ? matcher(text) : () => false;
  const ops = [];
  const mark = text && matches ? new Uint8Array(graph.ops) : null;
  for (let op = 0; matches && text && op < graph.ops; op++) {
    if (matches(graph.names[op])) {
      ops.push(op);
      mark[op] = 1;
    }
  }
  state.found = { ops: inOrder(ops), at: -1, mark, wrong: matches === null };
  announce("found");
  redraw();
}

export function findNext(by) {
  const { found } = state;
  if (found.ops.length === 0) {
    return;
  }
  const count = found.ops.length;
  found.at = found.at < 0 && by < 0 ? count - 1 : (found.at + by + count) % count;
  const planIndex = state.shown[0];
  goTo(planIndex, state.data.plans[planIndex].runStep[found.ops[found.at]]);
  announce("found");
}

function showCountFound() {
  const { ops, at, wrong } = state.found;
  const text = byId("find").value;
  const place = at < 0 ? "" : `${at + 1} of `;
  byId("found").textContent = wrong
    ? "not a regular expression"
    : text
      ? `${place}${ops.length} found`
      : "";
}

export function startFind() {
  const input = byId("find");
  input.addEventListener("input", () => find(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      findNext(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      input.value = "";
      find("");
      input.blur();
    }
  });
  byId("find-next").addEventListener("click", () => findNext(1));
  byId("find-previous").addEventListener("click", () => findNext(-1));
  listen("found", showCountFound);
}
