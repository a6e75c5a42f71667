// SPDX-License-Identifier: Apache-2.0
// Numbers as regal's text reports show them, and elements made of text.

// The first unit in which the value is below `base`, once rounded.
function scaled(value, base, decimals, units) {
  if (Math.abs(value) < base) {
    return `${Math.round(value)} ${units[0]}`;
  }
  const almost = base - 0.5 / 10 ** decimals;
  let unit = 0;
  while (unit + 1 < units.length && (unit === 0 || Math.abs(value) >= almost)) {
    value /= base;
    unit++;
  }
  return `${value.toFixed(decimals)} ${units[unit]}`;
}

export function showTime(ns) {
  return scaled(ns, 1000, 2, ["ns", "us", "ms", "s"]);
}

export function showBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  return scaled(bytes, 1024, 1, units);
}

export function showShare(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(1)}%` : "0.0%";
}

export function showCount(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

// An element with attributes and children. Strings become text, never markup:
// names come from files.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else if (value !== false && value !== undefined) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

// An entry of a legend.
export function swatch(label, color) {
  const box = element("span", { class: "swatch" });
  box.style.background = color;
  return element("span", { class: "entry" }, box, label);
}

export function byId(id) {
  return document.getElementById(id);
}

// The index of the first element of a sorted range for which `reached` holds.
export function firstWhere(from, to, reached) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (reached(middle)) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}
