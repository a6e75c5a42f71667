// SPDX-License-Identifier: Apache-2.0
// The graph, coloured by device: a canvas that is moved and zoomed by itself. A
// click on an op selects it everywhere; a click on a node of several ops goes to
// them in the timeline.
import { byId, element, showCount, showTime, swatch } from "./format.js";
import { deviceName } from "./data.js";
import { CLICK } from "./chart.js";
import { CELL, layOut } from "./graph_layout.js";
import { goTo } from "./details.js";
import { listen, redraw, reveal, selectedOp, state } from "./state.js";
import { deviceColor, inkOn, theme } from "./theme.js";

const STUB = 14; // of an edge to another band

// The nearest power of the wheel.
function clampScale(scale) {
  return Math.min(Math.max(scale, 0.01), 4);
}

export class GraphView {
  constructor(canvas) {
    this.canvas = canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    this.layout = layOut(state.data.graph, width / Math.max(height, 1));
    this.fit();
    this.addGestures();
  }

  get plan() {
    return state.data.plans[state.shown[0]];
  }

  // -- Where things are -------------------------------------------------------------

  fit() {
    const { width: wide, height: high } = this.layout;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.scale = clampScale(Math.min((width - 20) / wide, (height - 20) / high, 1));
    this.left = Math.max((width - wide * this.scale) / 2, 10);
    this.top = Math.max((height - high * this.scale) / 2, 10);
    redraw();
  }

  nodeAt(x, y) {
    const atX = (x - this.left) / this.scale;
    const atY = (y - this.top) / this.scale;
    return this.layout.nodes.find(
      (node) =>
        atX >= node.x && atX <= node.x + CELL.width && atY >= node.y && atY <= node.y + CELL.height,
    );
  }

  // How many of a node's ops each device runs.
  shares(node) {
    const counts = new Map();
    for (const op of node.ops) {
      const device = this.plan.device[this.plan.runStep[op]];
      counts.set(device, (counts.get(device) ?? 0) + 1);
    }
    return [...counts.entries()].sort((a, b) => a[0] - b[0]);
  }

  // -- Drawing ------------------------------------------------------------------------

  draw() {
    const { canvas } = this;
    const box = canvas.getBoundingClientRect();
    if (box.bottom < 0 || box.top > window.innerHeight || box.width === 0) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const context = canvas.getContext("2d");
    const { scale, left, top } = this;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    context.font = "12px ui-sans-serif, system-ui, sans-serif";
    this.drawEdges(context);
    const marked = this.markedNode();
    this.drawOwnEdges(context, marked);
    this.layout.nodes.forEach((node, i) => this.drawNode(context, node, i === marked));
  }

  markedNode() {
    const op = selectedOp();
    return op < 0 ? -1 : this.layout.nodeOf[op];
  }

  isOutside(node) {
    const x = node.x * this.scale + this.left;
    const y = node.y * this.scale + this.top;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return (
      x > width || y > height || x + CELL.width * this.scale < 0 || y + CELL.height * this.scale < 0
    );
  }

  drawEdges(context) {
    const { nodes, edges } = this.layout;
    context.strokeStyle = theme.colors.idle;
    context.lineWidth = Math.max(1, 0.7 / this.scale);
    context.beginPath();
    for (const { from, to } of edges) {
      if (!this.isOutside(nodes[from]) || !this.isOutside(nodes[to])) {
        drawEdge(context, nodes[from], nodes[to]);
      }
    }
    context.stroke();
  }

  // Those of the selected op, also to other bands.
  drawOwnEdges(context, marked) {
    const { nodes, edges } = this.layout;
    context.strokeStyle = theme.colors.accent;
    context.lineWidth = Math.max(2, 1.5 / this.scale);
    context.beginPath();
    for (const { from, to } of edges) {
      if (from === marked || to === marked) {
        drawWhole(context, nodes[from], nodes[to]);
      }
    }
    context.stroke();
  }

  drawNode(context, node, marked) {
    if (this.isOutside(node)) {
      return;
    }
    const x = node.x;
    const y = node.y;
    let at = x;
    for (const [device, count] of this.shares(node)) {
      const wide = (CELL.width * count) / node.ops.length;
      context.fillStyle = deviceColor(device);
      context.fillRect(at, y, wide + 0.5, CELL.height);
      at += wide;
    }
    if (marked) {
      context.strokeStyle = theme.colors.ink;
      context.lineWidth = Math.max(3, 3 / this.scale);
      context.strokeRect(x, y, CELL.width, CELL.height);
    }
    if (this.scale > 0.35) {
      const text = node.ops.length > 1 ? `${node.name} (${node.ops.length})` : node.name;
      context.fillStyle = inkOn(deviceColor(this.shares(node)[0][0]));
      context.fillText(
        text.length > 17 ? `${text.slice(0, 16)}…` : text,
        x + 5,
        y + 17,
        CELL.width - 8,
      );
    }
  }

  // -- Gestures -------------------------------------------------------------------------

  addGestures() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointerleave", () => (byId("tip").hidden = true));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  zoomAt(factor, x, y) {
    const scale = clampScale(this.scale * factor);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    redraw();
  }

  onWheel(event) {
    event.preventDefault();
    this.zoomAt(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  }

  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.grip = {
      x: event.offsetX,
      y: event.offsetY,
      left: this.left,
      top: this.top,
      moved: false,
    };
  }

  onMove(event) {
    const { grip } = this;
    if (!grip) {
      this.hover(event);
      return;
    }
    const x = event.offsetX - grip.x;
    const y = event.offsetY - grip.y;
    grip.moved = grip.moved || Math.hypot(x, y) > CLICK;
    if (grip.moved) {
      this.left = grip.left + x;
      this.top = grip.top + y;
      redraw();
    }
  }

  onUp(event) {
    if (this.grip && !this.grip.moved) {
      this.click(this.nodeAt(event.offsetX, event.offsetY));
    }
    this.grip = null;
  }

  // The arrow keys move this view while it has the focus.
  onKey(event) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const moves = {
      ArrowLeft: [60, 0],
      ArrowRight: [-60, 0],
      ArrowUp: [0, 60],
      ArrowDown: [0, -60],
    };
    const zooms = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };
    if (moves[event.key]) {
      this.left += moves[event.key][0];
      this.top += moves[event.key][1];
      redraw();
    } else if (zooms[event.key]) {
      this.zoomAt(zooms[event.key], width / 2, height / 2);
    } else if (event.key === "0") {
      this.fit();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  click(node) {
    if (!node) {
      return;
    }
    const { plan } = this;
    const steps = node.ops.map((op) => plan.runStep[op]).sort((a, b) => a - b);
    goTo(plan.index, steps[0]);
    if (steps.length > 1) {
      reveal(
        plan.start[steps[0]],
        steps.reduce((end, step) => Math.max(end, plan.end[step]), 0),
      );
    }
  }

  hover(event) {
    const node = this.nodeAt(event.offsetX, event.offsetY);
    const tip = byId("tip");
    tip.hidden = !node;
    if (!node) {
      return;
    }
    const { graph } = state.data;
    const time = node.ops.reduce((sum, op) => sum + graph.runTime[op], 0);
    const lines = [
      showCount(node.ops.length, "op"),
      showTime(time),
      ...this.shares(node).map(([device, count]) => `${deviceName(this.plan, device)}: ${count}`),
    ];
    tip.replaceChildren(
      element("strong", {}, node.name),
      ...lines.map((line) => element("div", {}, line)),
    );
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 4)}px`;
  }

  // Moves the selected op into view.
  follow() {
    const marked = this.markedNode();
    const node = this.layout.nodes[marked];
    if (node && this.isOutside(node)) {
      this.left = this.canvas.clientWidth / 2 - node.x * this.scale;
      this.top = this.canvas.clientHeight / 2 - node.y * this.scale;
    }
  }
}

function drawWhole(context, from, to) {
  const x1 = from.x + CELL.width;
  const y1 = from.y + CELL.height / 2;
  const y2 = to.y + CELL.height / 2;
  const bend = Math.max((to.x - x1) / 2, 20);
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, to.x - bend, y2, to.x, y2);
}

function drawEdge(context, from, to) {
  if (from.band === to.band) {
    drawWhole(context, from, to);
    return;
  }
  const y1 = from.y + CELL.height / 2;
  const y2 = to.y + CELL.height / 2;
  context.moveTo(from.x + CELL.width, y1);
  context.lineTo(from.x + CELL.width + STUB, y1);
  context.moveTo(to.x, y2);
  context.lineTo(to.x - STUB, y2);
}

function showAbout(view) {
  const { nodes, single } = view.layout;
  const { plan } = view;
  const { ops } = state.data.graph;
  const folded = single ? "" : `, folded into ${nodes.length} nodes by layer, name or kind`;
  const devices = plan.devices.map((_, d) => swatch(deviceName(plan, d), deviceColor(d)));
  const text = `${showCount(ops, "op")}${folded}, with the devices of ${plan.name}:`;
  byId("graph-about").replaceChildren(text, ...devices);
}

// Laid out when it is looked at for the first time.
export function startGraph() {
  const box = byId("graph");
  let view = null;
  box.addEventListener("toggle", () => {
    if (box.open && !view) {
      view = new GraphView(byId("graph-canvas"));
      byId("graph-fit").addEventListener("click", () => view.fit());
      window.regal.graph = view;
    }
    if (view) {
      showAbout(view);
    }
    redraw();
  });
  listen("select", () => view?.follow());
  listen("plans", () => {
    if (view) {
      showAbout(view);
    }
  });
  listen("draw", () => {
    if (view && box.open) {
      view.draw();
    }
  });
}
