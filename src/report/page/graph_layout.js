// SPDX-License-Identifier: Apache-2.0
// The structure of the graph for drawing: nodes in columns by depth, edges
// between them. Above some hundreds of ops, ops become one node: those of a
// layer or with a common beginning of their names, or, where names say nothing,
// neighbours in depth of the same kind.
import { predecessors } from "./data.js";
import { layerOf } from "./theme.js";

export const CELL = { width: 118, height: 26, stepX: 158, stepY: 34, apart: 40 };
const MOST_NODES = 400;
const SWEEPS = 4;

// -- Folding --------------------------------------------------------------------

// The first `count` parts of a path: "model/layers.3/attention".
function prefix(name, count) {
  return name.split("/").slice(0, count).join("/");
}

function countDistinct(keys) {
  return new Set(keys).size;
}

function foldByPrefix(graph) {
  for (let count = 8; count > 0; count--) {
    const keys = graph.names.map((name) => prefix(name, count));
    const groups = countDistinct(keys);
    if (groups <= MOST_NODES && groups > 8) {
      return keys;
    }
  }
  return null;
}

function foldByLayer(graph) {
  const layers = graph.names.map(layerOf);
  if (countDistinct(layers) < 3) {
    return null;
  }
  const keys = graph.names.map((name, op) =>
    layers[op] < 0 ? graph.kinds[graph.kind[op]] : `layer ${layers[op]}`,
  );
  return countDistinct(keys) <= MOST_NODES ? keys : null;
}

// Bands of depth, and in each the kinds.
function foldByDepth(graph) {
  let deepest = 0;
  graph.level.forEach((level) => (deepest = Math.max(deepest, level)));
  for (let height = 1; ; height *= 2) {
    const keys = graph.names.map(
      (_, op) =>
        `${graph.kinds[graph.kind[op]]} @ ${Math.floor(graph.level[op] / height) * height}`,
    );
    if (countDistinct(keys) <= MOST_NODES || height > deepest) {
      return keys;
    }
  }
}

// For each op the number of its node, and the nodes.
function fold(graph) {
  const single = graph.ops <= MOST_NODES;
  const keys = single
    ? graph.names.map((name, op) => op)
    : (foldByLayer(graph) ?? foldByPrefix(graph) ?? foldByDepth(graph));
  const numbers = new Map();
  const nodes = [];
  const nodeOf = Uint32Array.from(keys, (key, op) => {
    if (!numbers.has(key)) {
      numbers.set(key, nodes.length);
      nodes.push({ name: single ? graph.names[op] : String(key), ops: [], level: 0 });
    }
    const number = numbers.get(key);
    nodes[number].ops.push(op);
    nodes[number].level += graph.level[op];
    return number;
  });
  nodes.forEach((node) => (node.level /= node.ops.length));
  return { nodes, nodeOf, single };
}

function edgesOf(graph, nodeOf) {
  const edges = new Map();
  for (let op = 0; op < graph.ops; op++) {
    for (const before of predecessors(graph, op)) {
      const from = nodeOf[before];
      const to = nodeOf[op];
      if (from !== to) {
        edges.set(from * 65536 + to, { from, to });
      }
    }
  }
  return [...edges.values()];
}

// -- Columns ----------------------------------------------------------------------

// Columns by depth; depths that no node has take no room.
function placeColumns(nodes, single) {
  const depth = (node) => (single ? node.level : Math.round(node.level));
  const depths = [...new Set(nodes.map(depth))].sort((a, b) => a - b);
  const column = new Map(depths.map((value, i) => [value, i]));
  const columns = depths.map(() => []);
  nodes.forEach((node, i) => {
    node.column = column.get(depth(node));
    columns[node.column].push(i);
  });
  return columns;
}

function neighbours(nodes, edges) {
  const lists = nodes.map(() => []);
  edges.forEach(({ from, to }) => {
    lists[from].push(to);
    lists[to].push(from);
  });
  return lists;
}

// Nodes of a column in the order of the mean of their neighbours, again and
// again: this untangles most edges.
function untangle(nodes, columns, lists) {
  columns.forEach((column) => column.forEach((i, k) => (nodes[i].row = k - column.length / 2)));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const order = sweep % 2 ? columns.slice().reverse() : columns;
    for (const column of order) {
      const mean = new Map(
        column.map((i) => [
          i,
          lists[i].reduce((sum, n) => sum + nodes[n].row, 0) / (lists[i].length || 1),
        ]),
      );
      column.sort((a, b) => mean.get(a) - mean.get(b));
      column.forEach((i, k) => (nodes[i].row = k - column.length / 2));
    }
  }
}

// -- Bands -------------------------------------------------------------------------

// Networks are long and thin. So columns go in several bands, one below the
// other, as the lines of a text do; `aspect` is the width of the picture for a
// height of 1.
function placeNodes(nodes, columns, aspect) {
  const tallest = Math.max(...columns.map((column) => column.length));
  const long = (columns.length * CELL.stepX) / (tallest * CELL.stepY);
  const bands = Math.max(Math.round(Math.sqrt(long / aspect)), 1);
  const each = Math.ceil(columns.length / bands);
  let y = 0;
  for (let first = 0; first < columns.length; first += each) {
    const band = columns.slice(first, first + each);
    const high = Math.max(...band.map((column) => column.length));
    band.forEach((column, k) =>
      column.forEach((i, row) => {
        nodes[i].band = first / each;
        nodes[i].x = k * CELL.stepX;
        nodes[i].y = y + (row + (high - column.length) / 2) * CELL.stepY;
      }),
    );
    y += high * CELL.stepY + CELL.apart;
  }
  return { width: each * CELL.stepX, height: y };
}

export function layOut(graph, aspect) {
  const { nodes, nodeOf, single } = fold(graph);
  const edges = edgesOf(graph, nodeOf);
  const columns = placeColumns(nodes, single);
  untangle(nodes, columns, neighbours(nodes, edges));
  return { nodes, nodeOf, edges, single, ...placeNodes(nodes, columns, aspect) };
}
