// SPDX-License-Identifier: Apache-2.0
// The text reports, as regal prints them, and copies of them.
import { byId, element } from "./format.js";
import { state } from "./state.js";

export function textOf(plan) {
  return `${plan.name}\n\n${plan.summary}\n${plan.explanation}`;
}

export function wholeText(data) {
  const parts = [...data.plans.map(textOf), `graph\n\n${data.graph.text}`];
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

// The clipboard is refused to pages from files by some browsers; what is
// selected can always be copied.
async function copy(text, button, source) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl-C";
  }
  setTimeout(() => (button.textContent = "Copy as text"), 1500);
}

function block(title, text) {
  const source = element("pre", {}, text);
  const button = element("button", { class: "copy" }, "Copy as text");
  button.addEventListener("click", () => copy(text, button, source));
  return element("details", {}, element("summary", {}, title), button, source);
}

export function startText() {
  const { data } = state;
  const blocks = data.plans.map((plan) => block(plan.name, textOf(plan)));
  blocks.push(block("the graph", data.graph.text));
  const all = element("pre", { hidden: true }, wholeText(data));
  const button = byId("copy-all");
  button.addEventListener("click", () => {
    all.hidden = false;
    copy(all.textContent, button, all).finally(() => (all.hidden = true));
  });
  byId("texts").replaceChildren(...blocks, all);
}
