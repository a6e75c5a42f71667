// SPDX-License-Identifier: Apache-2.0
// Lanes: what a device or a link does over time.
//
// Steps of less than a pixel are drawn together: of those that begin in a pixel
// the colour that takes most of the time wins. Pixels are counted from time 0,
// not from the edge of the window, so that nothing flickers while the window
// moves.
import { firstWhere } from "./format.js";
import { RUN } from "./data.js";
import { inkOn, theme } from "./theme.js";
import { state } from "./state.js";

const LABEL_FROM = 34; // pixels of a step that gets its name
const REST = 255; // the colour of transfers

// The visible part of a lane: from the first step that ends after `from`. Steps
// of a lane are in order of time.
export function firstVisible(plan, steps, from) {
  return firstWhere(0, steps.length, (k) => plan.end[steps[k]] >= from);
}

function colorIndex(plan, step) {
  return plan.port[step] === RUN ? state.coloring.entry[plan.op[step]] : REST;
}

function colorOf(index) {
  return index === REST ? state.coloring.transfer : state.coloring.colors[index];
}

// Collects short steps into pixels, and pixels of one colour into runs.
class Pixels {
  constructor(paint, row) {
    this.paint = paint;
    this.row = row;
    this.pixel = -1;
    this.weights = new Map();
    this.run = null;
  }

  add(pixel, color, weight) {
    if (pixel !== this.pixel) {
      this.flushPixel();
      this.pixel = pixel;
    }
    this.weights.set(color, (this.weights.get(color) ?? 0) + weight);
  }

  flushPixel() {
    let best = -1;
    let most = -1;
    for (const [color, weight] of this.weights) {
      if (weight > most) {
        best = color;
        most = weight;
      }
    }
    this.weights.clear();
    if (best < 0) {
      return;
    }
    if (this.run && this.run.color === best && this.run.end === this.pixel) {
      this.run.end++;
      return;
    }
    this.flushRun();
    this.run = { color: best, begin: this.pixel, end: this.pixel + 1 };
  }

  flushRun() {
    if (this.run) {
      const { x, scale } = this.paint;
      const left = x(this.run.begin / scale);
      const right = x(this.run.end / scale);
      this.paint.context.fillStyle = colorOf(this.run.color);
      this.paint.context.fillRect(left, this.row.y, right - left, this.row.height);
      this.run = null;
    }
  }

  flush() {
    this.flushPixel();
    this.flushRun();
    this.pixel = -1;
  }
}

function drawLabel(paint, plan, step, row, left, width, color) {
  if (width < LABEL_FROM || row.height < 12) {
    return;
  }
  const { context } = paint;
  const room = Math.floor((width - 6) / 6.2);
  const name = plan.graph.names[plan.op[step]];
  const text = name.length > room ? `${name.slice(0, Math.max(room - 1, 1))}…` : name;
  context.fillStyle = inkOn(color);
  context.fillText(text, left + 3, row.y + row.height / 2 + 4);
}

function drawStep(paint, plan, step, row, left, width) {
  const { context } = paint;
  const color = colorOf(colorIndex(plan, step));
  context.fillStyle = color;
  context.fillRect(left, row.y, width - (width > 3 ? 1 : 0), row.height);
  const shown = Math.max(left, paint.gutter);
  drawLabel(paint, plan, step, row, shown, Math.min(left + width, paint.width) - shown, color);
}

export function drawLane(paint, plan, row) {
  const { x, scale } = paint;
  const pixels = new Pixels(paint, row);
  const { steps } = row;
  for (let k = firstVisible(plan, steps, state.from); k < steps.length; k++) {
    const step = steps[k];
    if (plan.start[step] > state.to) {
      break;
    }
    const takes = plan.end[step] - plan.start[step];
    if (takes * scale < 1) {
      pixels.add(Math.floor(plan.start[step] * scale), colorIndex(plan, step), takes + 1e-9);
      continue;
    }
    pixels.flush();
    drawStep(paint, plan, step, row, x(plan.start[step]), takes * scale);
  }
  pixels.flush();
}

// -- Idle time -------------------------------------------------------------------

// Hatched; the pattern's lines stand still while the window moves.
export function drawGaps(paint, row) {
  const { context, x, scale } = paint;
  const first = firstWhere(0, row.gaps.length, (k) => row.gaps[k].to >= state.from);
  context.fillStyle = paint.hatch;
  for (let k = first; k < row.gaps.length && row.gaps[k].from <= state.to; k++) {
    const gap = row.gaps[k];
    if ((gap.to - gap.from) * scale >= 2) {
      const left = Math.max(x(gap.from), paint.gutter);
      context.fillRect(left, row.y, Math.min(x(gap.to), paint.width) - left, row.height);
    }
  }
}

// -- The critical chain ------------------------------------------------------------

// A line below the steps of the chain, which joins those that follow one another
// on different lanes. In each pixel it goes once from the top to the bottom of
// what is there, however many steps that is.
class ChainLine {
  constructor(context) {
    this.context = context;
    this.pixel = NaN;
  }

  moveTo(x, y) {
    const pixel = Math.round(x);
    if (pixel !== this.pixel) {
      this.flush();
      this.context.lineTo(pixel, y);
      this.pixel = pixel;
      this.low = y;
      this.high = y;
    }
    this.low = Math.min(this.low, y);
    this.high = Math.max(this.high, y);
    this.last = y;
  }

  flush() {
    if (this.low < this.high) {
      this.context.lineTo(this.pixel, this.low);
      this.context.lineTo(this.pixel, this.high);
      this.context.lineTo(this.pixel, this.last);
    }
  }
}

export function drawChain(paint, plan, laneOfStep) {
  const { context, x } = paint;
  const { chain } = plan;
  const line = new ChainLine(context);
  const first = firstWhere(0, chain.length, (k) => plan.end[chain[k]] >= state.from);
  context.strokeStyle = theme.colors.chain;
  context.lineWidth = 2.5;
  context.beginPath();
  for (let k = Math.max(first - 1, 0); k < chain.length; k++) {
    const step = chain[k];
    const row = laneOfStep(step);
    const y = row.y + row.height - 1;
    line.moveTo(x(plan.start[step]), y);
    line.moveTo(x(plan.end[step]), y);
    if (plan.start[step] > state.to) {
      break;
    }
  }
  line.flush();
  context.stroke();
}

// -- What is selected or found -------------------------------------------------------

export function outlineStep(paint, plan, step, row, color, width) {
  const { context, x } = paint;
  const left = x(plan.start[step]);
  const wide = Math.max(x(plan.end[step]) - left, 2);
  if (left > paint.width || left + wide < paint.gutter) {
    return;
  }
  context.strokeStyle = color;
  context.lineWidth = width;
  context.strokeRect(left - 0.5, row.y - 0.5, wide + 1, row.height + 1);
}
