// SPDX-License-Identifier: Apache-2.0
// Plans and pages that several tests look at.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DEMO, file, LARGE, open, regal } from "./support.mjs";

// Two plans of one graph, one for blocking and one for overlapped transfers.
export const machine = ["--devices", "2", "--bandwidth", "25GB", "--latency", "10us"];
export const search = ["-q", "--evaluations", "3000", "--threads", "1", "--memory-limit", "16GiB"];
regal("optimize", DEMO, ...machine, ...search, "-o", "blocking.plan", "--html", file("one.html"));
regal("optimize", DEMO, ...machine, ...search, "--transfers=overlapped", "-o", "overlapped.plan");
regal("report", DEMO, "blocking.plan", "overlapped.plan", "-q", "-o", file("two.html"));

// The page of a large plan, made when it is needed first.
export function large() {
  const path = file("large.html");
  if (!existsSync(path)) {
    regal("optimize", LARGE, "-q", ...machine, "--evaluations", "200", "--html", path);
  }
  return path;
}

export async function openTwo(options) {
  return open(file("two.html"), options);
}

export function finish(page) {
  assert.deepEqual(page.troubles, []);
}
