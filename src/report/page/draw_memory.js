// SPDX-License-Identifier: Apache-2.0
// Memory of a device over time: bands on top of one another, the limit, the
// bound, and the peak. Each pixel shows the largest moment in it.
import { firstWhere } from "./format.js";
import { BANDS, profileOf } from "./live.js";
import { theme } from "./theme.js";
import { state } from "./state.js";

// The top of the chart: the peak, or the limit if that is not far above.
export function topOf(info) {
  const peak = info.peak[1];
  const limit = info.limit ? info.limit[1] : 0;
  return Math.max(peak, limit <= 2.5 * peak ? limit : 0, 1) * 1.08;
}

// For each pixel the point of the profile with the most memory, or -1.
function pickPoints(paint, profile, runtime) {
  const { time } = profile;
  const { scale, gutter } = paint;
  const columns = Math.max(Math.ceil(paint.width - gutter), 1);
  const picked = new Int32Array(columns).fill(-1);
  const most = new Float64Array(columns);
  const first = firstWhere(0, time.length, (k) => time[k] > state.from);
  for (let k = Math.max(first - 1, 0); k < time.length && time[k] <= state.to; k++) {
    const end = k + 1 < time.length ? time[k + 1] : runtime;
    const from = Math.max(Math.floor((time[k] - state.from) * scale), 0);
    const to = Math.min(Math.max(Math.ceil((end - state.from) * scale), from + 1), columns);
    const sum = profile.sum[k];
    for (let column = from; column < to; column++) {
      if (picked[column] < 0 || sum > most[column]) {
        picked[column] = k;
        most[column] = sum;
      }
    }
  }
  return picked;
}

// The band from the sum of those below it, which is then the sum with it.
function fillBand(paint, row, picked, values, below, top) {
  const { context, gutter } = paint;
  const bottom = row.y + row.height;
  const y = (bytes) => bottom - (bytes / top) * row.height;
  context.beginPath();
  for (let column = 0; column < picked.length; column++) {
    context.lineTo(gutter + column, y(below[column]));
    context.lineTo(gutter + column + 1, y(below[column]));
  }
  for (let column = picked.length - 1; column >= 0; column--) {
    below[column] += picked[column] < 0 ? 0 : values[picked[column]];
    context.lineTo(gutter + column + 1, y(below[column]));
    context.lineTo(gutter + column, y(below[column]));
  }
  context.fill();
}

function drawLevel(paint, row, bytes, top, color, dash) {
  const { context } = paint;
  const y = Math.round(row.y + row.height - (bytes / top) * row.height) + 0.5;
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(paint.gutter, y);
  context.lineTo(paint.width, y);
  context.stroke();
  context.setLineDash([]);
}

// When the peak is: the time of the point of its step.
export function peakTime(plan, row) {
  const profile = profileOf(plan, row.device);
  const at = profile.steps.indexOf(row.info.peak_step);
  return at < 0 ? 0 : profile.time[2 * at + 1];
}

function drawPeak(paint, plan, row, top) {
  const { context, x } = paint;
  row.peakTime ??= peakTime(plan, row);
  const left = x(row.peakTime);
  if (row.info.peak_step < 0 || left < paint.gutter || left > paint.width) {
    return;
  }
  const y = row.y + row.height - (row.info.peak[1] / top) * row.height;
  context.fillStyle = theme.colors.ink;
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(left - 4, y - 6);
  context.lineTo(left + 4, y - 6);
  context.fill();
}

export function drawMemory(paint, plan, row) {
  const { context } = paint;
  const { colors } = theme;
  const profile = profileOf(plan, row.device);
  const top = topOf(row.info);
  const picked = pickPoints(paint, profile, plan.runtime);
  const below = new Float64Array(picked.length);
  BANDS.forEach((_, band) => {
    context.fillStyle = colors[`band${band}`];
    fillBand(paint, row, picked, profile.bands[band], below, top);
  });
  context.fillStyle = colors.line;
  context.fillRect(paint.gutter, row.y + row.height, paint.width - paint.gutter, 1);
  if (row.info.limit && row.info.limit[1] <= top) {
    drawLevel(paint, row, row.info.limit[1], top, colors.limit, []);
  }
  const bound = plan.figures.peak_bound?.[1] ?? 0;
  if (bound > 0 && bound <= top) {
    drawLevel(paint, row, bound, top, colors.bound, [5, 4]);
  }
  drawPeak(paint, plan, row, top);
}

export function memoryLabel(row, narrow) {
  const { info } = row;
  if (narrow) {
    return [info.peak[0], info.limit ? `of ${info.limit[0]}` : ""];
  }
  const exceeded = info.limit && info.peak[1] > info.limit[1];
  return [
    `peak ${info.peak[0]}`,
    info.limit ? `${exceeded ? "OVER " : ""}limit ${info.limit[0]}` : "",
  ];
}
