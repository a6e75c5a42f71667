// SPDX-License-Identifier: Apache-2.0
// The views: timeline, memory, graph, search; by pointer and by keys.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { finish, large, openTwo } from "./plans.mjs";
import {
  DEMO,
  file,
  frame,
  longestStep,
  open,
  placeInMemory,
  placeOfStep,
  regal,
  root,
  span,
  write,
} from "./support.mjs";

test("the wheel zooms around the pointer, two fingers do", async () => {
  const page = await openTwo({ hasTouch: true });
  const whole = await span(page);
  const { x, y } = await placeOfStep(page, 0, await longestStep(page, 0));
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -400);
  await frame(page);
  const near = await span(page);
  assert.ok(near[1] - near[0] < 0.6 * (whole[1] - whole[0]));
  assert.ok(near[0] > whole[0] && near[1] < whole[1]);
  const session = await page.context().newCDPSession(page);
  const touch = (type, away) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: away ? [-away, away].map((by, id) => ({ x: 600 + by, y, id })) : [],
    });
  await touch("touchStart", 40);
  for (const away of [60, 90, 120]) {
    await touch("touchMove", away);
  }
  await touch("touchEnd", 0);
  await frame(page);
  const nearer = await span(page);
  assert.ok(nearer[1] - nearer[0] < 0.5 * (near[1] - near[0]));
  finish(page);
});

test("dragging pans, and is not a click", async () => {
  const page = await openTwo();
  await page.click("#zoom-in");
  await page.click("#zoom-in");
  const before = await span(page);
  const { x, y } = await placeInMemory(page, 0, 0, 0.7);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 200, y, { steps: 4 });
  await page.mouse.up();
  await frame(page);
  const moved = await span(page);
  assert.ok(moved[0] > before[0]);
  assert.ok(Math.abs(moved[1] - moved[0] - (before[1] - before[0])) < 1);
  assert.equal(await page.evaluate(() => window.regal.state.moment), null);
  await page.click("#fit");
  assert.ok((await span(page))[0] <= 0);
  finish(page);
});

test("pointing at a step tells what it is, a click selects it", async () => {
  const page = await openTwo();
  const step = await longestStep(page, 0);
  const { x, y } = await placeOfStep(page, 0, step);
  await page.mouse.move(x, y);
  await frame(page);
  const tip = await page.locator("#tip").innerText();
  const name = await page.evaluate((s) => {
    const { plans, graph } = window.regal.state.data;
    return graph.names[plans[0].op[s]];
  }, step);
  assert.ok(tip.startsWith(name), tip);
  assert.match(tip, /starts .*\n*ends .*\n*takes /);
  assert.match(tip, /waits for /);
  await page.mouse.click(x, y);
  await frame(page);
  assert.equal(await page.locator("#details h2").innerText(), name);
  assert.match(await page.locator("#details").innerText(), /Reads from/);
  finish(page);
});

test("finds ops by name and by expression, forwards and back", async () => {
  const page = await openTwo();
  await page.fill("#find", "gelu_backward_2");
  assert.equal(await page.locator("#found").innerText(), "1 found");
  await page.click("#find-next");
  assert.equal(await page.locator("#details h2").innerText(), "gelu_backward_2");
  await page.fill("#find", "/^gelu_\\d$/");
  assert.equal(await page.locator("#found").innerText(), "3 found");
  await page.press("#find", "Enter");
  const first = await page.locator("#details h2").innerText();
  await page.press("#find", "Enter");
  assert.notEqual(await page.locator("#details h2").innerText(), first);
  await page.click("#find-previous");
  assert.equal(await page.locator("#details h2").innerText(), first);
  await page.fill("#find", "/(/");
  assert.equal(await page.locator("#found").innerText(), "not a regular expression");
  finish(page);
});

test("a click on a moment lists what is live, and the list adds up", async () => {
  const page = await openTwo();
  for (const [plan, device, share] of [
    [0, 0, 0.4],
    [0, 1, 0.2],
    [1, 0, 0.55],
  ]) {
    await page.locator(`section.plan[data-plan="${plan}"] canvas`).scrollIntoViewIfNeeded();
    const { x, y } = await placeInMemory(page, plan, device, share);
    await page.mouse.click(x, y);
    await frame(page);
    assert.match(await page.locator("#details h2").innerText(), /^In memory on device \d: /);
    assert.ok((await page.locator("#details .live tbody tr").count()) > 2);
    const [listed, held] = await page.evaluate(() => {
      const { state, heldAt, liveAt, profileOf } = window.regal;
      const { plan: index, device: d, point } = state.moment;
      const p = state.data.plans[index];
      const profile = profileOf(p, d);
      const live = liveAt(p, d, profile.steps[(point - 1) >> 1], point % 2 === 0);
      const sum = live.reduce((total, copy) => total + p.graph.bytes[copy.tensor], 0);
      const fixed = p.devices[d].resident_bytes + p.devices[d].parameter_bytes;
      const step = profile.steps[(point - 1) >> 1];
      const runs = point % 2 === 1 && p.port[step] === -2;
      const temporary = runs ? p.graph.temporary[p.op[step]] : 0;
      return [sum + fixed + temporary, heldAt(p, d, profile, point)];
    });
    assert.equal(listed, held);
  }
  finish(page);
});

// The bands are computed in the page, the sums by regal's verifier.
test("the bands of all plans add up to the verifier's memory at every step", async () => {
  const small = ["-q", "--threads", "1", "--evaluations", "500"];
  const shape = "layers=6,microbatches=4,parameter=2MB,activation=1MB";
  const reusing = join(root, "tests/graphs/tf/vae_train.pb");
  regal("generate", "--pipeline", shape, "-q", "-o", file("pipe.json"));
  regal("optimize", file("pipe.json"), ...small, "--html", file("pipe.html"));
  regal("optimize", reusing, "--aliases=reuse", ...small, "--html", file("reuse.html"));
  for (const name of ["two.html", "pipe.html", "reuse.html"]) {
    const page = await open(file(name));
    const wrong = await page.evaluate(() => {
      const { state, profileOf, heldAt } = window.regal;
      let bad = 0;
      for (const plan of state.data.plans) {
        plan.devices.forEach((_, device) => {
          const profile = profileOf(plan, device);
          for (let point = 0; point < profile.time.length; point++) {
            const sum = profile.bands.reduce((total, band) => total + band[point], 0);
            bad += sum !== heldAt(plan, device, profile, point);
            bad += point > 0 && profile.time[point] < profile.time[point - 1];
          }
        });
      }
      return bad;
    });
    assert.equal(wrong, 0);
    finish(page);
  }
});

test("everything with keys alone", async () => {
  const page = await openTwo();
  const { keyboard } = page;
  const whole = await span(page);
  await keyboard.press("+");
  await keyboard.press("ArrowRight");
  const near = await span(page);
  assert.ok(near[1] - near[0] < whole[1] - whole[0] && near[0] > whole[0]);
  await keyboard.press("-");
  await keyboard.press("0");
  assert.deepEqual(await span(page), whole);
  await keyboard.press("/");
  await keyboard.type("mm_1");
  await keyboard.press("Enter");
  const found = await page.locator("#details h2").innerText();
  assert.match(found, /mm_1/);
  await keyboard.press("Tab");
  await keyboard.press("n");
  assert.notEqual(await page.locator("#details h2").innerText(), found);
  await keyboard.press("m");
  assert.match(await page.locator("#details h2").innerText(), /^In memory on/);
  await keyboard.press("Escape");
  assert.equal(await page.locator("#details h2").innerText(), "Details");
  await keyboard.press("c");
  assert.match(await page.locator("#details").innerText(), /On the critical chain/);
  const first = await page.locator("#details h2").innerText();
  await keyboard.press("]");
  assert.notEqual(await page.locator("#details h2").innerText(), first);
  await keyboard.press("[");
  assert.equal(await page.locator("#details h2").innerText(), first);
  await keyboard.press("?");
  assert.equal(await page.locator("#help p").isVisible(), true);
  finish(page);
});

test("the graph selects ops in all views, and follows", async () => {
  const page = await openTwo();
  await page.click("#graph summary");
  await page.waitForFunction(() => window.regal.graph);
  await page.locator("#graph-canvas").scrollIntoViewIfNeeded();
  await frame(page);
  const place = await page.evaluate(() => {
    const { graph: view } = window.regal;
    const { x, y } = view.layout.nodes[100];
    const box = view.canvas.getBoundingClientRect();
    return {
      x: box.left + view.left + (x + 50) * view.scale,
      y: box.top + view.top + (y + 13) * view.scale,
      name: view.layout.nodes[100].name,
    };
  });
  await page.mouse.move(place.x, place.y);
  assert.ok((await page.locator("#tip").innerText()).startsWith(place.name));
  await page.mouse.click(place.x, place.y);
  assert.equal(await page.locator("#details h2").innerText(), place.name);
  const before = await page.evaluate(() => window.regal.graph.scale);
  await page.mouse.wheel(0, -300);
  await page.focus("#graph-canvas");
  await page.keyboard.press("+");
  assert.ok((await page.evaluate(() => window.regal.graph.scale)) > 1.5 * before);
  await page.fill("#find", "embedding_dense_backward");
  await page.click("#find-next");
  const seen = await page.evaluate(() => {
    const { graph: view } = window.regal;
    return !view.isOutside(view.layout.nodes[view.markedNode()]);
  });
  assert.equal(seen, true);
  finish(page);
});

test("a large graph is folded, and all ops are in it", async () => {
  const page = await open(large());
  await page.click("#graph summary");
  await page.waitForFunction(() => window.regal.graph);
  const [nodes, ops] = await page.evaluate(() => {
    const { layout } = window.regal.graph;
    return [layout.nodes.length, layout.nodes.reduce((sum, node) => sum + node.ops.length, 0)];
  });
  assert.ok(nodes <= 400 && nodes > 20, `${nodes} nodes`);
  assert.equal(ops, 26774);
  finish(page);
});

test("the curve of the search ends at the plan, stages are named", async () => {
  const page = await open(file("one.html"));
  assert.equal(await page.locator("#search").isVisible(), true);
  const said = JSON.parse(regal("evaluate", DEMO, "blocking.plan", "--json", "-q"));
  const last = await page.evaluate(() => window.regal.state.data.plans[0].history.at(-1));
  assert.equal(last[2], said.cost.runtime_ns);
  const stages = await page.locator("#curve li").count();
  assert.ok(stages >= 2);
  assert.equal(await page.locator("#curve circle").count(), stages);
  finish(page);
  const given = await openTwo();
  assert.equal(await given.locator("#search").isVisible(), false);
  finish(given);
});

test("kinds are what is before a number, where names have it inside", async () => {
  const names = ["conv1_w", "conv2_w", "conv3_w", "relu1_w", "relu2_w"];
  const ops = names.map((name) => ({ name, run_ns: 1000, outputs: [8] }));
  const path = write("inside.json", JSON.stringify({ regal_graph: 1, ops }));
  regal("optimize", path, "-q", "--method", "heft", "--html", file("inside.html"));
  const page = await open(file("inside.html"));
  assert.match(await page.locator("#legend").innerText(), /^conv\s*relu\s*transfer$/);
  finish(page);
});
