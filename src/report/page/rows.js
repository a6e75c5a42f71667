// SPDX-License-Identifier: Apache-2.0
// The rows of a plan's chart, from the top: the time axis, a lane for each
// device, a lane for each link, and the memory of each device.
import { deviceName, RUN } from "./data.js";

const MOST_LINKS = 12; // with more, links of one sender share a lane
const AXIS = 22;

function deviceLanes(plan) {
  const lanes = plan.devices.map((_, device) => ({
    type: "lane",
    device,
    label: deviceName(plan, device),
    steps: [],
  }));
  for (let step = 0; step < plan.steps; step++) {
    if (plan.port[step] === RUN || !plan.overlapped) {
      lanes[plan.device[step]].steps.push(step);
    }
    if (plan.port[step] !== RUN && !plan.overlapped) {
      lanes[plan.to[step]].steps.push(step);
    }
  }
  return lanes;
}

function linkLabel(plan, step, shared) {
  const from = plan.device[step];
  return shared ? `links from ${from}` : `link ${from} → ${plan.to[step]}`;
}

function collectLinks(plan, shared) {
  const lanes = new Map();
  for (let step = 0; step < plan.steps; step++) {
    if (plan.port[step] === RUN) {
      continue;
    }
    const key = plan.device[step] * 64 + (shared ? 0 : plan.to[step]);
    if (!lanes.has(key)) {
      lanes.set(key, { type: "lane", link: true, label: linkLabel(plan, step, shared), steps: [] });
    }
    lanes.get(key).steps.push(step);
  }
  return [...lanes.entries()].sort((a, b) => a[0] - b[0]).map(([, lane]) => lane);
}

function linkLanes(plan) {
  if (!plan.overlapped) {
    return [];
  }
  let lanes = collectLinks(plan, false);
  if (lanes.length > MOST_LINKS) {
    lanes = collectLinks(plan, true);
    for (const lane of lanes) {
      lane.steps.sort((a, b) => plan.start[a] - plan.start[b]);
    }
  }
  return lanes;
}

// Idle stretches of a lane, each with the step that ends it: -1 for the end of
// the plan.
function addGaps(plan, lane) {
  let until = 0;
  lane.gaps = [];
  for (const step of lane.steps) {
    if (plan.start[step] > until) {
      lane.gaps.push({ from: until, to: plan.start[step], step });
    }
    until = Math.max(until, plan.end[step]);
  }
  if (until < plan.runtime) {
    lane.gaps.push({ from: until, to: plan.runtime, step: -1 });
  }
}

// Of devices that do something.
function memoryRows(plan) {
  return plan.devices
    .map((info, device) => ({ type: "memory", device, label: deviceName(plan, device), info }))
    .filter((row) => row.info.peak_step >= 0);
}

// Fewer pixels for each where there are many.
function heights(count) {
  return {
    lane: count > 24 ? 14 : count > 8 ? 20 : 28,
    link: count > 24 ? 8 : 14,
    memory: count > 24 ? 30 : count > 8 ? 48 : 84,
  };
}

export function rowsOf(plan) {
  const high = heights(plan.devices.length);
  const lanes = deviceLanes(plan);
  lanes.forEach((lane) => addGaps(plan, lane));
  const rows = [{ type: "axis", height: AXIS, gap: 4 }];
  lanes.forEach((lane) => rows.push({ ...lane, height: high.lane, gap: 4 }));
  linkLanes(plan).forEach((lane) => rows.push({ ...lane, height: high.link, gap: 3 }));
  memoryRows(plan).forEach((row, i) =>
    rows.push({ ...row, height: high.memory, gap: 8, apart: i === 0 }),
  );
  let y = 0;
  for (const row of rows) {
    y += row.apart ? 6 : 0;
    row.y = y;
    y += row.height + row.gap;
  }
  return { rows, height: y };
}

// For each step the index of its first lane.
export function indexLanes(plan, rows) {
  const lane = new Uint16Array(plan.steps);
  for (let k = rows.length - 1; k >= 0; k--) {
    if (rows[k].type === "lane") {
      rows[k].steps.forEach((step) => (lane[step] = k));
    }
  }
  return lane;
}
