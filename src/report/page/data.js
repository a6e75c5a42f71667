// SPDX-License-Identifier: Apache-2.0
// The data of the page, as flat arrays. The page's JSON has rows of different
// lengths as one list and a list of lengths; `begin` arrays tell where each row
// begins, as in regal itself.
import { byId } from "./format.js";

export const RUN = -2; // the port of a step that runs an op
export const REASONS = [
  "nothing: it starts at once",
  "an input",
  "a control edge",
  "the step before it on its device",
  "the device that receives",
  "the transfer before it on its link",
];

function beginsOf(lengths) {
  const begin = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, i) => (begin[i + 1] = begin[i] + length));
  return begin;
}

// Rows the other way round: for each value the rows that have it.
function invert(begin, list, values) {
  const counts = new Uint32Array(values);
  for (const value of list) {
    counts[value]++;
  }
  const inverse = beginsOf(Array.from(counts));
  const place = inverse.slice();
  const rows = new Uint32Array(list.length);
  for (let row = 0; row + 1 < begin.length; row++) {
    for (let k = begin[row]; k < begin[row + 1]; k++) {
      rows[place[list[k]]++] = row;
    }
  }
  return { begin: inverse, rows };
}

function producersOf(outputBegin, tensors) {
  const producer = new Uint32Array(tensors);
  for (let op = 0; op + 1 < outputBegin.length; op++) {
    producer.fill(op, outputBegin[op], outputBegin[op + 1]);
  }
  return producer;
}

// How many ops are on the longest chain to each op. Ops are in topological
// order.
function levelsOf(graph) {
  const level = new Uint32Array(graph.ops);
  for (let op = 0; op < graph.ops; op++) {
    let deepest = 0;
    for (const before of predecessors(graph, op)) {
      deepest = Math.max(deepest, level[before] + 1);
    }
    level[op] = deepest;
  }
  return level;
}

export function* predecessors(graph, op) {
  for (let k = graph.inputBegin[op]; k < graph.inputBegin[op + 1]; k++) {
    yield graph.producer[graph.input[k]];
  }
  for (let k = graph.controlBegin[op]; k < graph.controlBegin[op + 1]; k++) {
    yield graph.control[k];
  }
}

// Kinds as regal tells them, by names without path and number. Where names have
// their numbers elsewhere ("conv1_weight"), what is before the first number.
function setKinds(graph, raw) {
  graph.kind = raw.kind;
  graph.kinds = raw.kinds;
  if (raw.kinds.length <= raw.ops / 2) {
    return;
  }
  const begins = raw.kinds.map((kind) => /^\D+/.exec(kind)?.[0].replace(/[._]$/, "") ?? kind);
  graph.kinds = [...new Set(begins)];
  const number = new Map(graph.kinds.map((kind, i) => [kind, i]));
  graph.kind = raw.kind.map((kind) => number.get(begins[kind]));
}

function readGraph(raw) {
  const graph = { ops: raw.ops, tensors: raw.tensors, text: raw.text };
  graph.names = raw.names;
  graph.id = raw.id;
  setKinds(graph, raw);
  graph.runTime = raw.run_ns;
  graph.temporary = raw.temporary;
  graph.resident = raw.resident;
  graph.outputBegin = beginsOf(raw.outputs);
  graph.producer = producersOf(graph.outputBegin, raw.tensors);
  graph.bytes = raw.bytes;
  graph.isFinal = new Uint8Array(raw.tensors);
  raw.final.forEach((tensor) => (graph.isFinal[tensor] = 1));
  graph.inputBegin = beginsOf(raw.inputs);
  graph.input = raw.input;
  graph.uses = invert(graph.inputBegin, raw.input, raw.tensors);
  graph.controlBegin = beginsOf(raw.controls);
  graph.control = raw.control;
  graph.parameterBytes = raw.parameter_bytes;
  graph.parameterBegin = beginsOf(raw.parameters);
  graph.parameter = raw.parameter;
  graph.level = levelsOf(graph);
  return graph;
}

// "sends" has the receiver of each transfer, and its memory during and after.
function readSends(plan, sends) {
  plan.to = plan.device.slice();
  plan.duringTo = plan.during;
  plan.afterTo = plan.after;
  if (sends.length === 0) {
    return;
  }
  plan.duringTo = plan.during.slice();
  plan.afterTo = plan.after.slice();
  for (let step = 0, k = 0; step < plan.steps; step++) {
    if (plan.port[step] !== RUN) {
      plan.to[step] = sends[k++];
      plan.duringTo[step] = sends[k++];
      plan.afterTo[step] = sends[k++];
    }
  }
}

// The chain without gaps that covers the run time: back from the last step to
// end, each time to what it waited for.
function chainOf(plan) {
  const chain = [];
  let last = -1;
  for (let step = 0; step < plan.steps; step++) {
    if (last < 0 || plan.end[step] > plan.end[last]) {
      last = step;
    }
  }
  for (; last >= 0; last = plan.cause[last]) {
    chain.push(last);
  }
  return chain.reverse();
}

function readPlan(raw, index, graph) {
  const plan = { index, name: raw.name, graph, steps: raw.op.length };
  for (const key of ["result", "figures", "devices", "overlapped", "history"]) {
    plan[key] = raw[key];
  }
  plan.summary = raw.summary;
  plan.explanation = raw.explanation;
  plan.op = Uint32Array.from(raw.op);
  plan.port = Int32Array.from(raw.port);
  plan.device = Uint16Array.from(raw.device);
  plan.start = Float64Array.from(raw.start);
  plan.end = Float64Array.from(raw.takes, (takes, i) => raw.start[i] + takes);
  plan.cause = Int32Array.from(raw.cause);
  plan.reason = Uint8Array.from(raw.reason);
  plan.during = Float64Array.from(raw.during);
  plan.after = Float64Array.from(raw.after);
  readSends(plan, raw.sends);
  plan.runStep = new Int32Array(graph.ops).fill(-1);
  plan.op.forEach((op, step) => {
    if (plan.port[step] === RUN) {
      plan.runStep[op] = step;
    }
  });
  plan.reused = new Map();
  for (let k = 0; k < raw.reused.length; k += 2) {
    plan.reused.set(raw.reused[k], raw.reused[k + 1]);
  }
  plan.runtime = raw.result.cost.runtime_ns;
  plan.chain = chainOf(plan);
  plan.inChain = new Uint8Array(plan.steps);
  plan.chain.forEach((step) => (plan.inChain[step] = 1));
  return plan;
}

export function readData() {
  const raw = JSON.parse(byId("data").textContent);
  const graph = readGraph(raw.graph);
  const plans = raw.plans.map((plan, i) => readPlan(plan, i, graph));
  return { title: raw.title, version: raw.version, graph, plans };
}

// -- What things are called ----------------------------------------------------

export function deviceName(plan, device) {
  return plan.devices[device].name || `device ${device}`;
}

export function tensorOf(plan, step) {
  return plan.graph.outputBegin[plan.op[step]] + plan.port[step];
}

export function tensorName(graph, tensor) {
  const op = graph.producer[tensor];
  return `${graph.names[op]}:${tensor - graph.outputBegin[op]}`;
}

export function stepName(plan, step) {
  const { graph } = plan;
  const name = graph.names[plan.op[step]];
  if (plan.port[step] === RUN) {
    return name;
  }
  const what = plan.port[step] < 0 ? `end of ${name}` : tensorName(graph, tensorOf(plan, step));
  return `${what} → ${deviceName(plan, plan.to[step])}`;
}

export function stepBytes(plan, step) {
  return plan.port[step] < 0 ? 0 : plan.graph.bytes[tensorOf(plan, step)];
}
