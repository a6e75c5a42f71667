// SPDX-License-Identifier: Apache-2.0
// What eslint checks in the page and in its tests. Functions are short, as in
// the C sources; text never becomes markup.
const browser = [
  "document",
  "getComputedStyle",
  "getSelection",
  "HTMLInputElement",
  "HTMLSelectElement",
  "matchMedia",
  "navigator",
  "performance",
  "requestAnimationFrame",
  "setTimeout",
  "window",
];
const node = ["console", "process", "setTimeout", "URL"];

const globals = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

const markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"];

const rules = {
  complexity: ["error", 12],
  eqeqeq: "error",
  "max-lines": ["error", 450],
  "max-lines-per-function": ["error", { max: 40, skipBlankLines: true, skipComments: true }],
  "no-const-assign": "error",
  "no-dupe-args": "error",
  "no-dupe-keys": "error",
  "no-duplicate-imports": "error",
  "no-eval": "error",
  "no-fallthrough": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-redeclare": "error",
  "no-restricted-properties": ["error", ...markup.map((property) => ({ property }))],
  "no-shadow": "error",
  "no-undef": "error",
  "no-unreachable": "error",
  "no-unused-vars": "error",
  "no-use-before-define": ["error", { functions: false, classes: false }],
  "no-var": "error",
  "prefer-const": "error",
};

export default [
  { files: ["src/report/page/*.js"], languageOptions: { globals: globals(browser) }, rules },
  {
    files: ["tests/page/*.mjs"],
    languageOptions: { globals: globals([...browser, ...node]) },
    rules: { ...rules, "max-lines-per-function": "off" },
  },
];
