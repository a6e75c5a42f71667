// SPDX-License-Identifier: Apache-2.0
// The page as a whole: its numbers, hostile names, widths, themes, paper.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { finish, machine, openTwo } from "./plans.mjs";
import { DEMO, file, frame, open, picture, placeOfStep, regal, write } from "./support.mjs";

const HOSTILE = "</script><img src=x onerror=alert(1)><b>\"'&";

test("loads without errors and asks for nothing else", async () => {
  for (const name of ["one.html", "two.html"]) {
    const page = await open(file(name));
    assert.match(await page.title(), /gpt_neox/);
    finish(page);
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
  assert.match(await page.locator("section.plan h2").innerText(), /overlapped\.plan/);
  await page.click("#show-1"); // the last one stays
  assert.equal(await page.locator("section.plan").count(), 1);
  finish(page);
});

test("a run time that the caller expects has a column", async () => {
  const figures = '"figures":{';
  const text = readFileSync(file("one.html"), "utf8");
  const expected = `${figures}"expected":["9.9 ms",9900000],`;
  write("expected.html", text.replace(figures, expected));
  for (const [name, count] of [
    ["one.html", 0],
    ["expected.html", 1],
  ]) {
    const page = await open(file(name));
    assert.equal(await page.locator('#compare [data-key="expected"]').count(), count);
    assert.equal(await page.locator("#compare th", { hasText: "expected" }).count(), count);
    finish(page);
  }
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
  finish(page);
  const light = await openTwo({ colorScheme: "light" });
  assert.ok((await brightness(light)) > 600);
  finish(light);
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
  finish(page);
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
  finish(page);
});

test("has all of the text reports, and copies them", async () => {
  const page = await openTwo();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("#copy-all");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const path of ["blocking.plan", "overlapped.plan"]) {
    const [, ...said] = regal("evaluate", DEMO, path, "-q").split("\n\n");
    for (const part of said) {
      assert.ok(copied.includes(part.trim()), part);
    }
  }
  assert.ok(copied.includes(regal("inspect", DEMO).trim()));
  finish(page);
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
  finish(page);
});

test("fits narrow and wide windows", async () => {
  for (const width of [420, 900, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openTwo({ width, colorScheme });
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
      if (width !== 900) {
        await picture(page, `page_${width}_${colorScheme}.png`);
      }
      finish(page);
    }
  }
});
