// SPDX-License-Identifier: Apache-2.0
// How fast the page is; alone on the machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { finish, large } from "./plans.mjs";
import { open } from "./support.mjs";

// Runs in the page: drags for a second, and counts frames.
async function dragForASecond() {
  const { state } = window.regal;
  const canvas = document.querySelector("canvas");
  const box = canvas.getBoundingClientRect();
  const point = (type, x) =>
    canvas.dispatchEvent(
      new window.PointerEvent(type, { pointerId: 1, clientX: x, clientY: box.top + 60 }),
    );
  canvas.setPointerCapture = () => {};
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
  document.querySelector("#zoom-in").click();
  const from = state.from;
  point("pointerdown", box.left + 800);
  await nextFrame();
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < 1000; count++) {
    point("pointermove", box.left + 800 - 5 * (count % 60));
    await nextFrame();
  }
  point("pointerup", box.left + 500);
  return { rate: (1000 * count) / (performance.now() - start), moved: state.from !== from };
}

test("a plan of 27,000 ops loads in 3 s and pans at 30 frames a second", async () => {
  const path = large();
  const began = performance.now();
  const page = await open(path);
  const loaded = performance.now() - began;
  const tries = [];
  for (let k = 0; k < 3 && !tries.some(({ rate }) => rate >= 30); k++) {
    tries.push(await page.evaluate(dragForASecond)); // others may use the machine
  }
  const best = tries.reduce((a, b) => (b.rate > a.rate ? b : a));
  assert.equal(best.moved, true);
  console.log(`# loaded in ${Math.round(loaded)} ms, ${best.rate.toFixed(1)} frames a second`);
  assert.ok(loaded < 3000, `${loaded} ms`);
  assert.ok(best.rate >= 30, `${best.rate} frames a second`);
  finish(page);
});
