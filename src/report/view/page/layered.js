// A small layered layout, for groups that the page itself has put together.

import { NONE } from "./scene.js";

const SIDE_GAP = 22;
const LAYER_GAP = 30;

/**
 * Places the children of a group: layers by the longest way, orders by middles of what comes before.
 * @param {number} group @param {{first: number, children: number, order: number}[]} items @param {number[][]} edges value, from, to
 * @param {Object<string, Float32Array>} floats x, y, w, h, cw, ch @param {Uint32Array} layer @param {Uint32Array} rank
 */
export function layered(group, items, edges, floats, layer, rank) {
  const { first, children } = items[group];
  const before = Array.from({ length: children }, () => []);
  for (const [, from, to] of edges) if (from !== NONE && to !== NONE && from !== to) before[to - first].push(from - first);
  const byOrder = Array.from({ length: children }, (_, i) => i).sort((a, b) => items[first + a].order - items[first + b].order || a - b);
  const layers = [];
  const level = new Int32Array(children).fill(-1);
  for (const child of byOrder) {
    level[child] = before[child].reduce((most, from) => Math.max(most, level[from] + 1), 0);
    while (layers.length <= level[child]) layers.push([]);
    layers[level[child]].push(child);
  }
  placeLayers(group, first, layers.filter((row) => row.length), before, floats, layer, rank);
}

function placeLayers(group, first, layers, before, floats, layer, rank) {
  const { x, y, w, h, cw, ch } = floats;
  let top = 0;
  let left = Infinity;
  layers.forEach((row, l) => {
    const middle = (child) => {
      const from = before[child];
      return from.length ? from.reduce((sum, other) => sum + x[first + other] + w[first + other] / 2, 0) / from.length : 0;
    };
    const wanted = new Map(row.map((child) => [child, middle(child)]));
    row.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    const width = row.reduce((sum, child) => sum + w[first + child], (row.length - 1) * SIDE_GAP);
    let at = row.reduce((sum, child) => sum + wanted.get(child), 0) / row.length - width / 2;
    let tallest = 0;
    row.forEach((child, r) => {
      const item = first + child;
      x[item] = at;
      y[item] = top;
      layer[item] = l;
      rank[item] = r;
      at += w[item] + SIDE_GAP;
      tallest = Math.max(tallest, h[item]);
      left = Math.min(left, x[item]);
    });
    top += tallest + LAYER_GAP;
  });
  let right = 0;
  for (const row of layers) {
    for (const child of row) {
      x[first + child] -= left;
      right = Math.max(right, x[first + child] + w[first + child]);
    }
  }
  cw[group] = right;
  ch[group] = Math.max(0, top - LAYER_GAP);
}
