// SPDX-License-Identifier: Apache-2.0
// How the search went: the best plan so far against time, with the ends of its
// stages marked. Drawn as SVG, for plans that have a history.
import { byId, element, showBytes, showShare, showTime } from "./format.js";
import { state } from "./state.js";
import { deviceColor } from "./theme.js";

const WIDTH = 900;
const HEIGHT = 230;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 30;
const SVG = "http://www.w3.org/2000/svg";
const LEAST = 1e-4; // seconds: where the logarithmic axis begins at the earliest

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

// Points of the curve: what does not fit the memory limit is no plan yet.
function pointsOf(plan) {
  const least = Math.min(...plan.history.map(([, , best]) => best));
  return plan.history.map(([seconds, evaluations, best, bound, fits, stage]) => ({
    seconds: Math.max(seconds, LEAST),
    evaluations,
    best,
    bound,
    fits: fits === 1,
    stage,
    gap: best / (bound > 0 ? bound : least || 1) - 1,
  }));
}

// The best so far at each point. What is beyond the memory limit counts only
// while nothing is within it.
function bestSoFar(points) {
  const within = points.some(({ fits }) => fits) ? points.filter(({ fits }) => fits) : points;
  let least = Infinity;
  return within
    .map((point) => ({ ...point, gap: (least = Math.min(least, point.gap)) }))
    .filter((point, i, all) => i === 0 || point.gap < all[i - 1].gap);
}

function scalesOf(curves) {
  const all = curves.flatMap(({ points }) => points);
  const first = 10 ** Math.floor(Math.log10(Math.min(...all.map(({ seconds }) => seconds))));
  const longest = Math.max(...all.map(({ seconds }) => seconds), 10 * first);
  const highest = Math.max(...all.map(({ gap }) => gap), 0.01) * 1.05;
  const decades = Math.log10(longest / first);
  return {
    first,
    longest,
    highest,
    x: (seconds) => LEFT + (Math.log10(seconds / first) / decades) * (WIDTH - LEFT - RIGHT),
    y: (gap) => TOP + (1 - gap / highest) * (HEIGHT - TOP - BOTTOM),
  };
}

function drawAxes(svg, { first, longest, highest, x, y }) {
  for (let time = first; time <= longest * 1.0001; time *= 10) {
    svg.append(
      shape("line", { x1: x(time), x2: x(time), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }),
      shape("text", { x: x(time), y: HEIGHT - 12, class: "tick" }, showTime(time * 1e9)),
    );
  }
  for (let k = 0; k <= 4; k++) {
    const gap = (highest * k) / 4;
    svg.append(
      shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(gap), y2: y(gap), class: "grid" }),
      shape("text", { x: LEFT - 6, y: y(gap) + 4, class: "tick end" }, showShare(gap, 1)),
    );
  }
}

function describe(plan, point) {
  const memory = plan.result.objective === "memory";
  const best = memory ? showBytes(point.best) : showTime(point.best);
  const what = point.stage ? `end of stage: ${point.stage}` : "improvement";
  const gap = showShare(point.gap, 1);
  const count = `${point.evaluations.toLocaleString("en")} evaluations`;
  const over = point.fits ? "" : ", beyond the limit";
  return `${what}: ${best}, ${gap} above ${point.bound > 0 ? "the bound" : "the best"}${over}, after ${showTime(point.seconds * 1e9)}, ${count}`;
}

function drawStage(svg, plan, point, color, { x, y }) {
  const at = x(point.seconds);
  const mark = shape("circle", { cx: at, cy: y(point.gap), r: 4, fill: color });
  mark.append(shape("title", {}, describe(plan, point)));
  svg.append(shape("line", { x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM, class: "stage" }), mark);
}

// Numbers of stages, where there is room for them.
function numberStages(svg, stages, { x }) {
  let free = 0;
  stages.forEach((point, i) => {
    const at = x(point.seconds) + 3;
    if (at >= free && at < WIDTH - RIGHT - 8) {
      svg.append(shape("text", { x: at, y: TOP + 9, class: "tick start" }, String(i + 1)));
      free = at + 16;
    }
  });
}

function drawCurve(svg, { plan, points }, color, scales) {
  const { x, y } = scales;
  let path = "";
  for (const { seconds, gap } of bestSoFar(points)) {
    path += path ? `H${x(seconds)}V${y(gap)}` : `M${x(seconds)} ${y(gap)}`;
  }
  path += `H${x(points[points.length - 1].seconds)}`;
  svg.append(shape("path", { d: path, fill: "none", stroke: color, "stroke-width": 2 }));
  const stages = points.filter(({ stage }) => stage);
  stages.forEach((point) => drawStage(svg, plan, point, color, scales));
  numberStages(svg, stages, scales);
}

function stageList({ plan, points }) {
  const stages = points.filter(({ stage }) => stage);
  const items = stages.map((point) =>
    element("li", {}, describe(plan, point).replace("end of stage: ", "")),
  );
  const count = plan.result.evaluations.toLocaleString("en");
  const method = `${plan.name}: method ${plan.result.method}, ${count} evaluations`;
  return element("div", {}, element("p", {}, method), element("ol", {}, ...items));
}

export function startCurve() {
  const curves = state.data.plans
    .filter((plan) => plan.history.length > 0)
    .map((plan) => ({ plan, points: pointsOf(plan) }));
  byId("search").hidden = curves.length === 0;
  if (curves.length === 0) {
    return;
  }
  const scales = scalesOf(curves);
  const label = "Distance to the lower bound against time";
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  drawAxes(svg, scales);
  curves.forEach((curve, i) => drawCurve(svg, curve, deviceColor(i), scales));
  byId("curve").replaceChildren(svg, ...curves.map(stageList));
}
