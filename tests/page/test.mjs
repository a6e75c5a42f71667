// SPDX-License-Identifier: Apache-2.0
// The page in a real browser: test.mjs REGAL [--screenshots]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  DEMO,
  closeAll,
  file,
  frame,
  LARGE,
  longestStep,
  open,
  picture,
  placeInMemory,
  placeOfStep,
  regal,
  root,
  span,
  write,
} from "./support.mjs";

after(closeAll);

const HOSTILE = "</script><img src=x onerror=alert(1)><b>\"'&";

// Two plans of one graph, one for blocking and one for overlapped transfers.
const machine = ["--devices", "2", "--bandwidth", "25GB", "--latency", "10us"];
const search = ["-q", "--evaluations", "3000", "--threads", "1", "--memory-limit", "16GiB"];
regal("optimize", DEMO, ...machine, ...search, "-o", file("a.plan"), "--html", file("one.html"));
regal("optimize", DEMO, ...machine, ...search, "--transfers=overlapped", "-o", file("b.plan"));
regal("report", DEMO, file("a.plan"), file("b.plan"), "-q", "-o", file("two.html"));

async function openTwo(options) {
  return open(file("two.html"), options);
}

async function finish(page) {
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}

test("loads without errors and asks for nothing else", async () => {
  for (const name of ["one.html", "two.html"]) {
    const page = await open(file(name));
    assert.match(await page.title(), /hf_gpt_neox_train/);
    await finish(page);
  }
});

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
  await finish(page);
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
  await finish(page);
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
  await finish(page);
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
  await finish(page);
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
  await finish(page);
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
    await finish(page);
  }
});

test("compares plans in a table, and draws those that are chosen", async () => {
  const page = await openTwo();
  assert.equal(await page.locator("#compare tbody tr").count(), 3);
  assert.equal(await page.locator("section.plan").count(), 3);
  await page.click("#show-2");
  assert.equal(await page.locator("section.plan").count(), 2);
  await page.click("#show-0");
  assert.equal(await page.locator("section.plan").count(), 1);
  assert.match(await page.locator("section.plan h2").innerText(), /b\.plan/);
  await page.click("#show-1"); // the last one stays
  assert.equal(await page.locator("section.plan").count(), 1);
  await finish(page);
});

function brightness(page) {
  return page.evaluate(() => {
    const channels = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return channels[0] + channels[1] + channels[2];
  });
}

test("dark by the system or by choice", async () => {
  const page = await openTwo({ colorScheme: "dark" });
  assert.ok((await brightness(page)) < 150);
  await page.selectOption("#theme", "light");
  assert.ok((await brightness(page)) > 600);
  await page.selectOption("#theme", "dark");
  assert.ok((await brightness(page)) < 150);
  await finish(page);
  const light = await openTwo({ colorScheme: "light" });
  assert.ok((await brightness(light)) > 600);
  await finish(light);
});

test("prints", async () => {
  const page = await openTwo({ colorScheme: "dark" });
  const pdf = await page.pdf({ format: "A4", landscape: true, printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20000, `${pdf.length} bytes`);
  await page.emulateMedia({ media: "print" });
  await frame(page);
  assert.ok((await brightness(page)) > 600);
  assert.equal(await page.locator("#tools").isVisible(), false);
  await page.emulateMedia({ media: "screen" });
  await frame(page);
  assert.ok((await brightness(page)) < 150);
  await finish(page);
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
  await finish(page);
});

test("the numbers are those of evaluate --json, for 20 random plans", async () => {
  const plans = [];
  for (let seed = 1; seed <= 20; seed++) {
    const how = ["--method", "brkga", "--evaluations", "1", "--seed", `${seed}`];
    const transfers = seed % 2 ? "blocking" : "overlapped";
    const path = file(`${seed}.plan`);
    regal("optimize", DEMO, "-q", ...machine, ...how, "--transfers", transfers, "-o", path);
    plans.push(path);
  }
  regal("report", DEMO, ...plans, "-q", "-o", file("many.html"));
  const page = await open(file("many.html"));
  const shown = await page.$$eval("#compare tbody tr", (rows) =>
    rows.map((row) =>
      Object.fromEntries(
        [...row.querySelectorAll("[data-key]")].map((cell) => [
          cell.dataset.key,
          Number(cell.dataset.value),
        ]),
      ),
    ),
  );
  const distinct = new Set();
  plans.forEach((path, i) => {
    const said = JSON.parse(regal("evaluate", DEMO, path, "--json", "-q"));
    assert.equal(shown[i].runtime, said.cost.runtime_ns);
    assert.equal(shown[i].peak, Math.max(...said.cost.peak_bytes));
    assert.equal(shown[i].runtime_bound, said.bound.runtime_ns);
    assert.equal(shown[i].peak_bound, said.bound.peak_bytes);
    const sends = JSON.parse(readFileSync(path, "utf8")).steps.filter((step) => step.send);
    assert.equal(shown[i].transfers, sends.length);
    distinct.add(said.cost.runtime_ns);
  });
  assert.ok(distinct.size > 15);
  await finish(page);
});

test("has all of the text reports, and copies them", async () => {
  const page = await openTwo();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("#copy-all");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const path of [file("a.plan"), file("b.plan")]) {
    const [, ...said] = regal("evaluate", DEMO, path, "-q").split("\n\n");
    for (const part of said) {
      assert.ok(copied.includes(part.trim()), part);
    }
  }
  assert.ok(copied.includes(regal("inspect", DEMO).trim()));
  await finish(page);
});

test("names cannot become markup or script", async () => {
  const graph = {
    regal_graph: 1,
    ops: [
      { name: HOSTILE, run_ns: 1000, outputs: [{ bytes: 64 }] },
      { name: "reader", run_ns: 500, inputs: [HOSTILE] },
    ],
  };
  const path = write("hostile.json", JSON.stringify(graph));
  const page_file = file("hostile.html");
  regal("optimize", path, "-q", "--threads", "1", "--evaluations", "50", "--html", page_file);
  const page = await open(page_file);
  const { x, y } = await placeOfStep(page, 0, 0);
  await page.mouse.move(x, y);
  await page.mouse.click(x, y);
  await page.fill("#find", "img");
  await frame(page);
  assert.equal(await page.locator("#details h2").innerText(), HOSTILE);
  assert.ok((await page.locator("#tip").innerText()).startsWith(HOSTILE));
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("#found").innerText(), "1 found");
  await finish(page);
});

test("fits narrow and wide windows", async () => {
  for (const width of [420, 900, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openTwo({ viewport: { width, height: 900 }, colorScheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} of ${width} pixels`);
      const overlap = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll("header > *, #tools .group > *")]
          .map((part) => part.getBoundingClientRect())
          .filter((box) => box.width > 0 && box.height > 0);
        return boxes.some((a, i) =>
          boxes.some(
            (b, k) =>
              k > i &&
              a.left < b.right - 1 &&
              b.left < a.right - 1 &&
              a.top < b.bottom - 1 &&
              b.top < a.bottom - 1,
          ),
        );
      });
      assert.equal(overlap, false);
      await picture(page, `page_${width}_${colorScheme}.png`);
      await finish(page);
    }
  }
});

test("a plan of 27,000 ops loads in 3 s and pans at 30 frames a second", async () => {
  const large = file("large.html");
  regal("optimize", LARGE, "-q", ...machine, "--evaluations", "200", "--html", large);
  const began = performance.now();
  const page = await open(large);
  const loaded = performance.now() - began;
  const frames = await page.evaluate(async () => {
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
  });
  assert.equal(frames.moved, true);
  console.log(`# loaded in ${Math.round(loaded)} ms, ${frames.rate.toFixed(1)} frames a second`);
  assert.ok(loaded < 3000, `${loaded} ms`);
  assert.ok(frames.rate >= 30, `${frames.rate} frames a second`);
  await finish(page);
});
