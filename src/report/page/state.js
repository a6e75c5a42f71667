// SPDX-License-Identifier: Apache-2.0
// What all views share: the plans that are shown, the stretch of time that is
// visible, what is selected and found. Whoever changes it says so; views listen.

export const state = {
  data: null,
  shown: [], // plan indices, in order
  from: 0, // the visible stretch of time
  to: 1,
  longest: 1, // the run time of the longest plan shown
  coloring: null,
  showChain: true,
  showIdle: true,
  selected: null, // {plan, step}: plan is an index
  moment: null, // {plan, device, point}: of a profile
  found: { ops: [], at: -1, mark: null },
};

const listeners = new Map();

export function listen(what, listener) {
  listeners.set(what, [...(listeners.get(what) ?? []), listener]);
}

export function announce(what) {
  (listeners.get(what) ?? []).forEach((listener) => listener());
}

// -- Drawing: at most once for each frame ----------------------------------------

let waiting = false;

export function redraw() {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      announce("draw");
    });
  }
}

// -- The visible stretch of time --------------------------------------------------

const SHORTEST = 10; // nanoseconds

export function setSpan(from, to) {
  const whole = state.longest;
  const length = Math.min(Math.max(to - from, SHORTEST), whole * 1.02);
  const low = -0.01 * whole;
  const high = 1.01 * whole;
  state.from = Math.min(Math.max(from, low), Math.max(high - length, low));
  state.to = state.from + length;
  redraw();
}

export function fitAll() {
  setSpan(-0.01 * state.longest, 1.01 * state.longest);
}

// `factor` below 1 zooms in, around a moment.
export function zoom(factor, around = (state.from + state.to) / 2) {
  const length = Math.max((state.to - state.from) * factor, SHORTEST);
  const share = (around - state.from) / (state.to - state.from);
  setSpan(around - share * length, around + (1 - share) * length);
}

export function pan(share) {
  const by = share * (state.to - state.from);
  setSpan(state.from + by, state.to + by);
}

// Moves as little as needed to show a stretch, and zooms if it is too small to
// see or too long to fit.
export function reveal(start, end) {
  const takes = Math.max(end - start, SHORTEST);
  let length = state.to - state.from;
  if (takes > 0.8 * length || takes < length / 400) {
    length = takes * 40;
  }
  if (
    start < state.from + 0.05 * length ||
    end > state.to - 0.05 * length ||
    length !== state.to - state.from
  ) {
    const middle = (start + end) / 2;
    setSpan(middle - length / 2, middle + length / 2);
  }
  redraw();
}

// -- Selection ----------------------------------------------------------------------

export function select(planIndex, step) {
  state.selected = step < 0 ? null : { plan: planIndex, step };
  state.moment = null;
  announce("select");
  redraw();
}

// The op that is selected, or -1.
export function selectedOp() {
  const { selected, data } = state;
  return selected ? data.plans[selected.plan].op[selected.step] : -1;
}

export function selectMoment(planIndex, device, point) {
  state.moment = { plan: planIndex, device, point };
  announce("select");
  redraw();
}

export function clearSelection() {
  state.selected = null;
  state.moment = null;
  announce("select");
  redraw();
}

export function showPlans(indices) {
  state.shown = indices;
  const times = indices.map((index) => state.data.plans[index].runtime);
  state.longest = Math.max(1, ...times);
  announce("plans");
  fitAll();
}
