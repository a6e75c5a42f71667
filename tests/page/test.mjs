// SPDX-License-Identifier: Apache-2.0
// The page in a real browser: test.mjs REGAL [--screenshots]
import { after } from "node:test";
import { closeAll } from "./support.mjs";
import "./whole.mjs";
import "./views.mjs";

after(closeAll);
