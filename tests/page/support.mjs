// SPDX-License-Identifier: Apache-2.0
// A browser, pages made by regal, and what tests ask of them.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = await import(process.env.PLAYWRIGHT);

const [program, ...flags] = process.argv.slice(2);
export const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const wantsScreenshots = flags.includes("--screenshots");
export const DEMO = "gpt_neox.pb"; // in the folder of the test
export const LARGE = `${join(root, "data/torch.zip")}:hf_rwkv_infer`;

const folder = mkdtempSync(join(tmpdir(), "regal-page-"));
export const file = (name) => join(folder, name);
symlinkSync(join(root, "data/demo/hf_gpt_neox_train.pb"), file(DEMO));

export function regal(...args) {
  return execFileSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export function write(name, text) {
  writeFileSync(file(name), text);
  return file(name);
}

// -- The browser ----------------------------------------------------------------

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });

export async function closeAll() {
  await browser.close();
  rmSync(folder, { recursive: true });
}

// A tab in which pages are opened one after the other: a load in a new tab takes
// three times as long. What goes wrong in it is in `page.troubles`; what a page
// asks for beside its own file, too.
async function newTab(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      page.troubles.push(message.text());
    }
  });
  page.on("pageerror", (error) => page.troubles.push(error.stack));
  page.on("dialog", (dialog) => page.troubles.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== page.address) {
      page.troubles.push(`request: ${request.url()}`);
    }
  });
  return page;
}

const tabs = new Map(); // with a touch screen, and without

// Opens a page as in a new window: nothing is left of the one before.
export async function open(path, { hasTouch = false, width = 1440, colorScheme = "light" } = {}) {
  if (!tabs.has(hasTouch)) {
    tabs.set(hasTouch, await newTab({ hasTouch }));
  }
  const page = tabs.get(hasTouch);
  page.troubles = [];
  page.address = "about:blank";
  await page.goto(page.address);
  await page.mouse.move(0, 0);
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, media: null });
  page.address = `file://${path}`;
  await page.goto(page.address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
  await frame(page);
  return page;
}

// Waits until what was asked for is drawn.
export function frame(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

export function span(page) {
  return page.evaluate(() => [window.regal.state.from, window.regal.state.to]);
}

// The middle of a step in the chart of a plan, in coordinates of the window.
export function placeOfStep(page, plan, step) {
  return page.evaluate(
    ([index, which]) => {
      const { state, charts } = window.regal;
      const chart = charts().find((c) => c.plan.index === index);
      const box = chart.canvas.getBoundingClientRect();
      const row = chart.laneOfStep(which);
      const middle = (chart.plan.start[which] + chart.plan.end[which]) / 2;
      const share = (middle - state.from) / (state.to - state.from);
      const x = box.left + chart.gutter + share * (box.width - chart.gutter);
      return { x, y: box.top + row.y + row.height / 2 };
    },
    [plan, step],
  );
}

// A point in the memory chart of a device, at a share of the visible time.
export function placeInMemory(page, plan, device, share) {
  return page.evaluate(
    ([index, which, part]) => {
      const chart = window.regal.charts().find((c) => c.plan.index === index);
      const box = chart.canvas.getBoundingClientRect();
      const row = chart.rows.find((r) => r.type === "memory" && r.device === which);
      const x = box.left + chart.gutter + part * (box.width - chart.gutter);
      return { x, y: box.top + row.y + row.height / 2 };
    },
    [plan, device, share],
  );
}

export function longestStep(page, plan) {
  return page.evaluate((index) => {
    const { start, end } = window.regal.state.data.plans[index];
    let longest = 0;
    for (let step = 0; step < start.length; step++) {
      if (end[step] - start[step] > end[longest] - start[longest]) {
        longest = step;
      }
    }
    return longest;
  }, plan);
}

// A picture of docs/img.
export async function picture(page, name, options = {}) {
  if (wantsScreenshots) {
    await page.screenshot({ path: join(root, "docs/img", name), ...options });
  }
}
