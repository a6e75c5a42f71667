// SPDX-License-Identifier: Apache-2.0
// The chart of a plan: one canvas with the rows of rows.js. It draws what is
// visible, tells what is at a point, and turns gestures into changes of the
// window: drag and wheel, two fingers, a click.
import { element, firstWhere } from "./format.js";
import { RUN } from "./data.js";
import { drawChain, drawGaps, drawLane, firstVisible, outlineStep } from "./draw_lanes.js";
import { drawMemory, memoryLabel } from "./draw_memory.js";
import { profileOf } from "./live.js";
import { indexLanes, rowsOf } from "./rows.js";
import { pan, redraw, select, selectedOp, selectMoment, setSpan, state, zoom } from "./state.js";
import { theme } from "./theme.js";
import { hideTip, showTip } from "./tip.js";

export const CLICK = 4; // pixels that a click may move

export class Chart {
  constructor(plan) {
    this.plan = plan;
    Object.assign(this, rowsOf(plan));
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": `Timeline and memory of ${plan.name}: ${plan.figures.runtime[0]}, peak ${plan.figures.peak[0]}. Arrow keys move, + and - zoom.`,
    });
    this.canvas.style.height = `${this.height}px`;
    this.lanes = indexLanes(plan, this.rows);
    this.pointers = new Map();
    this.cursor = null;
    this.addGestures();
  }

  laneOfStep(step) {
    return this.rows[this.lanes[step]];
  }

  get gutter() {
    return this.canvas.clientWidth < 600 ? 74 : 128;
  }

  // -- Drawing -------------------------------------------------------------------

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio);
    const height = Math.round(this.height * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    return ratio;
  }

  makePaint() {
    const ratio = this.resize();
    const context = this.canvas.getContext("2d");
    const width = this.canvas.clientWidth;
    const gutter = this.gutter;
    const scale = (width - gutter) / (state.to - state.from);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.height);
    context.font = "11px ui-sans-serif, system-ui, sans-serif";
    const x = (time) => gutter + (time - state.from) * scale;
    return { context, width, gutter, scale, x, hatch: hatchOf(context) };
  }

  // Rows that are on the screen; on paper all are.
  isVisible(row, top) {
    const printing = document.documentElement.dataset.printing !== undefined;
    return printing || (top + row.y + row.height > -50 && top + row.y < window.innerHeight + 50);
  }

  draw() {
    const box = this.canvas.getBoundingClientRect();
    const inside = this.rows.filter((row) => this.isVisible(row, box.top));
    if (inside.length === 0 || box.width === 0) {
      return;
    }
    const paint = this.makePaint();
    const { context } = paint;
    context.save();
    context.beginPath();
    context.rect(paint.gutter, 0, paint.width - paint.gutter, this.height);
    context.clip();
    this.drawAxis(paint);
    inside.forEach((row) => this.drawRow(paint, row));
    if (state.showChain) {
      drawChain(paint, this.plan, (step) => this.laneOfStep(step));
    }
    this.drawMarks(paint);
    this.drawCursor(paint);
    context.restore();
    inside.forEach((row) => this.drawLabel(paint, row));
  }

  drawRow(paint, row) {
    if (row.type === "lane") {
      if (state.showIdle && row.gaps) {
        drawGaps(paint, row);
      }
      drawLane(paint, this.plan, row);
    } else if (row.type === "memory") {
      drawMemory(paint, this.plan, row);
    }
  }

  drawAxis(paint) {
    const { context, x, scale } = paint;
    const step = tickOf(90 / scale);
    context.fillStyle = theme.colors.line;
    const first = Math.ceil(Math.max(state.from, 0) / step);
    const last = Math.min(state.to, state.longest);
    for (let k = first; k * step <= last; k++) {
      context.fillStyle = theme.colors.line;
      context.fillRect(Math.round(x(k * step)), 16, 1, this.height - 16);
      context.fillStyle = theme.colors.faint;
      const label = tickLabel(k * step, step);
      if (x(k * step) + 5 + context.measureText(label).width < paint.width) {
        context.fillText(label, x(k * step) + 3, 12);
      }
    }
    context.fillStyle = theme.colors.ink;
    context.fillRect(Math.round(x(this.plan.runtime)), 16, 1, this.height - 16);
  }

  drawLabel(paint, row) {
    const { context, gutter } = paint;
    const lines =
      row.type === "memory" ? [row.label, ...memoryLabel(row, gutter < 100)] : [row.label ?? ""];
    const room = row.height < 40 ? 1 : lines.length;
    lines.slice(0, room).forEach((line, i) => {
      context.fillStyle = i ? theme.colors.faint : theme.colors.ink;
      const y = row.type === "memory" ? row.y + 11 + 14 * i : row.y + row.height / 2 + 4;
      context.fillText(fitText(context, line, gutter - 8), 2, y);
    });
  }

  drawMarks(paint) {
    const { ink } = theme.colors;
    const op = selectedOp();
    const { mark } = state.found;
    if (mark) {
      this.drawFound(paint, mark);
    }
    if (op >= 0) {
      const own = state.selected.plan === this.plan.index;
      const step = own ? state.selected.step : this.plan.runStep[op];
      this.stepRows(step).forEach((row) => outlineStep(paint, this.plan, step, row, ink, 2));
    }
  }

  drawFound(paint, mark) {
    for (const row of this.rows) {
      if (row.type !== "lane") {
        continue;
      }
      for (let k = firstVisible(this.plan, row.steps, state.from); k < row.steps.length; k++) {
        const step = row.steps[k];
        if (this.plan.start[step] > state.to) {
          break;
        }
        if (mark[this.plan.op[step]] && this.plan.port[step] === RUN) {
          outlineStep(paint, this.plan, step, row, theme.colors.accent, 1.5);
        }
      }
    }
  }

  stepRows(step) {
    const first = this.laneOfStep(step);
    if (this.plan.overlapped || this.plan.port[step] === RUN) {
      return [first];
    }
    return [
      first,
      this.rows.find((row) => row.type === "lane" && row.device === this.plan.to[step]),
    ];
  }

  drawCursor(paint) {
    const { context } = paint;
    const own = state.moment && state.moment.plan === this.plan.index;
    if (own) {
      const profile = profileOf(this.plan, state.moment.device);
      context.fillStyle = theme.colors.accent;
      context.fillRect(Math.round(paint.x(profile.time[state.moment.point])), 16, 2, this.height);
    }
    if (state.hoverTime !== undefined) {
      context.fillStyle = theme.colors.faint;
      context.fillRect(Math.round(paint.x(state.hoverTime)), 16, 1, this.height);
    }
  }

  // -- What is where -----------------------------------------------------------------

  timeAt(x) {
    const share = (x - this.gutter) / (this.canvas.clientWidth - this.gutter);
    return state.from + share * (state.to - state.from);
  }

  // {row, time, step} or {row, time, gap} or {row, time, point}
  hit(x, y) {
    const time = this.timeAt(x);
    const row = this.rows.find((r) => y >= r.y && y < r.y + r.height + r.gap);
    if (!row || x < this.gutter) {
      return { row, time };
    }
    if (row.type === "memory") {
      return { row, time, point: this.pointAt(row, time) };
    }
    return row.type === "lane" ? { row, time, ...this.stepAt(row, time) } : { row, time };
  }

  pointAt(row, time) {
    const profile = profileOf(this.plan, row.device);
    const after = firstWhere(0, profile.time.length, (k) => profile.time[k] > time);
    return Math.max(after - 1, 0);
  }

  // The step under the pointer, or one not more than two pixels away; else the
  // gap.
  stepAt(row, time) {
    const { plan } = this;
    const pixel = (state.to - state.from) / (this.canvas.clientWidth - this.gutter);
    let nearest = -1;
    let least = 2 * pixel;
    const first = firstVisible(plan, row.steps, time - least);
    for (let k = first; k < row.steps.length && plan.start[row.steps[k]] <= time + least; k++) {
      const step = row.steps[k];
      const away = Math.max(plan.start[step] - time, time - plan.end[step], 0);
      if (away < least || (away === 0 && nearest < 0)) {
        nearest = step;
        least = away;
      }
    }
    if (nearest >= 0) {
      return { step: nearest };
    }
    return { gap: row.gaps?.find((gap) => gap.from <= time && time < gap.to) };
  }

  // -- Gestures ------------------------------------------------------------------------

  addGestures() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => {
      state.hoverTime = undefined;
      hideTip();
      redraw();
    });
  }

  // Over the labels the wheel scrolls the page, as elsewhere.
  onWheel(event) {
    if (event.offsetX < this.gutter) {
      return;
    }
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan(((event.deltaX || event.deltaY) * lines) / 1000);
    } else {
      zoom(Math.exp(event.deltaY * lines * 0.0015), this.timeAt(event.offsetX));
    }
  }

  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event.offsetX);
    this.pressed = { x: event.offsetX, y: event.offsetY };
    this.grip();
  }

  // The moments under the fingers, which stay under them.
  grip() {
    this.gripped = [...this.pointers.values()].map((x) => this.timeAt(x));
  }

  onMove(event) {
    if (!this.pointers.has(event.pointerId)) {
      this.hover(event);
      return;
    }
    const x = event.offsetX;
    this.pointers.set(event.pointerId, x);
    if (this.pressed && Math.hypot(x - this.pressed.x, event.offsetY - this.pressed.y) > CLICK) {
      this.pressed = null;
      hideTip();
    }
    if (!this.pressed) {
      this.follow();
    }
  }

  follow() {
    const [first, second] = [...this.pointers.values()];
    const room = this.canvas.clientWidth - this.gutter;
    const length =
      second === undefined || Math.abs(second - first) < 8
        ? state.to - state.from
        : (Math.abs(this.gripped[1] - this.gripped[0]) / Math.abs(second - first)) * room;
    const from = this.gripped[0] - ((first - this.gutter) / room) * length;
    setSpan(from, from + length);
  }

  onUp(event) {
    this.pointers.delete(event.pointerId);
    this.grip();
    if (this.pressed) {
      this.click(this.pressed.x, this.pressed.y);
      this.pressed = null;
    }
  }

  click(x, y) {
    const found = this.hit(x, y);
    if (found.point !== undefined) {
      selectMoment(this.plan.index, found.row.device, found.point);
    } else if (found.step !== undefined) {
      select(this.plan.index, found.step);
    } else if (found.gap && found.gap.step >= 0) {
      select(this.plan.index, found.gap.step);
    }
  }

  hover(event) {
    const found = this.hit(event.offsetX, event.offsetY);
    state.hoverTime = event.offsetX < this.gutter ? undefined : found.time;
    showTip(this.plan, found, event.clientX, event.clientY);
    redraw();
  }
}

// -- Helpers ---------------------------------------------------------------------------

let hatches = { color: "", pattern: null };

function hatchOf(context) {
  const color = theme.colors.idle;
  if (hatches.color !== color) {
    const tile = element("canvas", { width: 8, height: 8 });
    const pen = tile.getContext("2d");
    pen.strokeStyle = color;
    pen.lineWidth = 1;
    for (const shift of [-8, 0, 8]) {
      pen.moveTo(shift, 8);
      pen.lineTo(shift + 8, 0);
    }
    pen.stroke();
    hatches = { color, pattern: context.createPattern(tile, "repeat") };
  }
  return hatches.pattern;
}

// 1, 2 or 5 times a power of ten, at least `least`.
function tickOf(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * power).find((tick) => tick >= least) ?? least;
}

// As many digits as tell neighbours apart.
function tickLabel(time, step) {
  const units = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
    [1, "ns"],
  ];
  const [size, unit] = units.find(([s]) => time >= s) ?? [1, "ns"];
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(step / size) - 1e-9), 0), 6);
  return time === 0 ? "0" : `${(time / size).toFixed(digits)} ${unit}`;
}

function fitText(context, text, room) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) {
    shown = `${shown.slice(0, -2)}…`;
  }
  return shown;
}
