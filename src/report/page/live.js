// SPDX-License-Identifier: Apache-2.0
// What is in memory when. The totals come from regal; here they are told apart:
// by size of tensor for the chart, tensor by tensor for a moment.
//
// A copy of a tensor is on a device from the step that makes or receives it
// there to the last step that needs it there. An output that is written over an
// input counts only once that step has ended (docs/model.md).
import { RUN, tensorOf } from "./data.js";

const FOREVER = 0x7fffffff;

// -- Copies ----------------------------------------------------------------

function addCopy(copies, tensor, device, first) {
  copies.push({ tensor, device, first, last: first });
}

function needUntil(copies, tensor, device, step) {
  const { begin, list } = copies;
  for (let k = begin[tensor]; k < begin[tensor + 1]; k++) {
    if (list[k].device === device) {
      list[k].last = Math.max(list[k].last, step);
    }
  }
}

// All copies, those of one tensor side by side.
function listCopies(plan) {
  const { graph } = plan;
  const made = [];
  for (let tensor = 0; tensor < graph.tensors; tensor++) {
    const step = plan.runStep[graph.producer[tensor]];
    addCopy(made, tensor, plan.device[step], step);
  }
  for (let step = 0; step < plan.steps; step++) {
    if (plan.port[step] >= 0) {
      addCopy(made, tensorOf(plan, step), plan.to[step], step);
    }
  }
  made.sort((a, b) => a.tensor - b.tensor || a.first - b.first);
  const begin = new Uint32Array(graph.tensors + 1);
  made.forEach((copy) => begin[copy.tensor + 1]++);
  for (let tensor = 0; tensor < graph.tensors; tensor++) {
    begin[tensor + 1] += begin[tensor];
  }
  return { begin, list: made };
}

export function copiesOf(plan) {
  if (plan.copies) {
    return plan.copies;
  }
  const { graph } = plan;
  const copies = listCopies(plan);
  for (let step = 0; step < plan.steps; step++) {
    const op = plan.op[step];
    if (plan.port[step] >= 0) {
      needUntil(copies, tensorOf(plan, step), plan.device[step], step);
    } else if (plan.port[step] === RUN) {
      for (let k = graph.inputBegin[op]; k < graph.inputBegin[op + 1]; k++) {
        needUntil(copies, graph.input[k], plan.device[step], step);
      }
    }
  }
  for (const copy of copies.list) {
    const producer = graph.producer[copy.tensor];
    if (graph.isFinal[copy.tensor] && copy.device === plan.device[plan.runStep[producer]]) {
      copy.last = FOREVER;
    }
  }
  plan.copies = copies;
  return copies;
}

// The copies in memory on a device during a step (after it, if `ended`), the
// largest first.
export function liveAt(plan, device, step, ended) {
  const { graph } = plan;
  const live = copiesOf(plan).list.filter(
    (copy) =>
      copy.device === device &&
      graph.bytes[copy.tensor] > 0 &&
      copy.first <= step &&
      (ended ? copy.last > step : copy.last >= step) &&
      (ended || copy.first !== step || !isWrittenOver(plan, copy, step)),
  );
  return live.sort((a, b) => graph.bytes[b.tensor] - graph.bytes[a.tensor]);
}

function isWrittenOver(plan, copy, step) {
  return plan.port[step] === RUN && plan.reused.has(copy.tensor);
}

export function isForever(copy) {
  return copy.last === FOREVER;
}

// -- The chart ----------------------------------------------------------------

export const BANDS = ["parameters", "large", "medium", "small", "temporary"];
const LARGE = 1;
const TEMPORARY = 4;

// Sizes from which a tensor is large, and medium.
export function sizeSteps(graph) {
  if (!graph.sizeSteps) {
    let largest = 0;
    for (const bytes of graph.bytes) {
      largest = Math.max(largest, bytes);
    }
    graph.sizeSteps = [largest / 4, largest / 32];
  }
  return graph.sizeSteps;
}

function bandOf(graph, tensor) {
  const [large, medium] = sizeSteps(graph);
  const bytes = graph.bytes[tensor];
  return bytes >= large ? LARGE : bytes >= medium ? LARGE + 1 : LARGE + 2;
}

function touches(plan, device) {
  const steps = [];
  for (let step = 0; step < plan.steps; step++) {
    if (plan.device[step] === device || plan.to[step] === device) {
      steps.push(step);
    }
  }
  return steps;
}

// When a device's steps are drawn. Memory is counted by steps, in order; a
// transfer that overlaps with ops is drawn between the ops that it is between.
function timesOf(plan, device, steps) {
  const from = steps.map((step) => plan.start[step]);
  const to = steps.map((step) => plan.end[step]);
  if (!plan.overlapped) {
    return { from, to };
  }
  const isOp = (step) => plan.port[step] === RUN;
  let before = 0;
  steps.forEach((step, k) => {
    from[k] = isOp(step) ? from[k] : Math.max(from[k], before);
    to[k] = isOp(step) ? to[k] : Math.max(to[k], before);
    before = isOp(step) ? to[k] : before;
  });
  let next = plan.runtime;
  for (let k = steps.length - 1; k >= 0; k--) {
    if (isOp(steps[k])) {
      next = from[k];
    } else {
      from[k] = Math.min(from[k], next);
      to[k] = Math.min(to[k], next);
    }
    next = Math.min(next, from[k]);
  }
  return { from, to };
}

// Copies of the device in the order in which they come, and in which they go.
function orderCopies(plan, device) {
  const mine = copiesOf(plan).list.filter((copy) => copy.device === device);
  const coming = mine.slice().sort((a, b) => a.first - b.first);
  const going = mine.slice().sort((a, b) => a.last - b.last);
  return { coming, going };
}

// A value for each band from each of `time` to the next: points 2k and 2k + 1
// are during and after the k-th step of the device.
export function profileOf(plan, device) {
  plan.profiles ??= [];
  plan.profiles[device] ??= makeProfile(plan, device);
  return plan.profiles[device];
}

// What a device holds, while its steps go by in order.
class Sweep {
  constructor(plan, device, profile) {
    this.plan = plan;
    this.profile = profile;
    Object.assign(this, orderCopies(plan, device), { came: 0, went: 0, points: 0 });
    const info = plan.devices[device];
    this.held = new Float64Array(BANDS.length);
    this.held[0] = info.parameter_bytes + info.resident_bytes;
    this.put(0);
  }

  put(time) {
    const { profile, held } = this;
    const point = this.points++;
    profile.time[point] = time;
    held.forEach((bytes, band) => (profile.bands[band][point] = bytes));
    profile.sum[point] = held.reduce((sum, bytes) => sum + bytes, 0);
  }

  count(tensor, sign) {
    const { graph } = this.plan;
    this.held[bandOf(graph, tensor)] += sign * graph.bytes[tensor];
  }

  // Tensors that are written over an input count once the step has ended.
  arrive(step) {
    const late = [];
    for (; this.came < this.coming.length && this.coming[this.came].first <= step; this.came++) {
      const copy = this.coming[this.came];
      if (isWrittenOver(this.plan, copy, step)) {
        late.push(copy.tensor);
      } else {
        this.count(copy.tensor, 1);
      }
    }
    return late;
  }

  pass(step, from, to) {
    const { plan } = this;
    const late = this.arrive(step);
    this.held[TEMPORARY] = plan.port[step] === RUN ? plan.graph.temporary[plan.op[step]] : 0;
    this.put(from);
    this.held[TEMPORARY] = 0;
    late.forEach((tensor) => this.count(tensor, 1));
    for (; this.went < this.going.length && this.going[this.went].last <= step; this.went++) {
      this.count(this.going[this.went].tensor, -1);
    }
    this.put(to);
  }
}

function makeProfile(plan, device) {
  const steps = touches(plan, device);
  const { from, to } = timesOf(plan, device, steps);
  const room = () => new Float64Array(2 * steps.length + 1);
  const profile = { steps, time: room(), sum: room(), bands: BANDS.map(room) };
  const sweep = new Sweep(plan, device, profile);
  steps.forEach((step, k) => sweep.pass(step, from[k], to[k]));
  return profile;
}

// regal's own number for the same moment: point p of the profile.
export function heldAt(plan, device, profile, point) {
  if (point === 0) {
    const info = plan.devices[device];
    return info.parameter_bytes + info.resident_bytes;
  }
  const step = profile.steps[(point - 1) >> 1];
  const receives = plan.device[step] !== device;
  if (point % 2 === 1) {
    return receives ? plan.duringTo[step] : plan.during[step];
  }
  return receives ? plan.afterTo[step] : plan.after[step];
}
