// SPDX-License-Identifier: Apache-2.0
// The page in a real browser: test.mjs REGAL [--screenshots | --speed]
import { after } from "node:test";
import { closeAll } from "./support.mjs";

if (process.argv.includes("--speed")) {
  await import("./speed.mjs");
} else {
  await import("./whole.mjs");
  await import("./views.mjs");
}

after(closeAll);
