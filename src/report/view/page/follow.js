// Walks along values: what comes before and after, and what lies between.

import { NONE } from "./scene.js";

/** Marks all that lies before (or after) the marked nodes, up to a number of steps; they are marked too. @returns {Uint8Array} */
export function reach(scene, mask, forward, steps = Infinity) {
  const seen = Uint8Array.from(mask);
  let edge = [];
  for (let i = 0; i < scene.count; i++) if (mask[i]) edge.push(i);
  for (let step = 0; step < steps && edge.length; step++) {
    const next = [];
    for (const item of edge) visitNeighbours(scene, item, forward, (found) => {
      if (!seen[found]) {
        seen[found] = 1;
        next.push(found);
      }
    });
    edge = next;
  }
  return seen;
}

function visitNeighbours(scene, item, forward, visit) {
  if (forward) {
    for (const value of scene.madeOfNode.of(item)) {
      for (const use of scene.usesOfValue.of(value)) visit(scene.useNode[use]);
    }
  } else {
    for (const use of scene.usesOfNode.of(item)) {
      const from = scene.producer[scene.useValue[use]];
      if (from !== NONE) visit(from);
    }
  }
}

/** All nodes on ways from the first marked ones to the second. @returns {Uint8Array} */
export function between(scene, from, to) {
  const down = reach(scene, from, true);
  const up = reach(scene, to, false);
  return down.map((seen, i) => seen & up[i]);
}

/** The nodes of one shortest way from one node to another, or none. @returns {number[]} */
export function shortestPath(scene, from, to) {
  const before = new Int32Array(scene.count).fill(-1);
  before[from] = from;
  let edge = [from];
  while (edge.length && before[to] < 0) {
    const next = [];
    for (const item of edge) visitNeighbours(scene, item, true, (found) => {
      if (before[found] < 0) {
        before[found] = item;
        next.push(found);
      }
    });
    edge = next;
  }
  if (before[to] < 0) return [];
  const path = [to];
  while (path[path.length - 1] !== from) path.push(before[path[path.length - 1]]);
  return path.reverse();
}

/** Nodes and groups inside the marked ones. A group that is marked stands for its nodes. */
export function nodesWithin(scene, mask) {
  const found = Uint8Array.from(mask);
  for (let i = 1; i < scene.count; i++) if (scene.parent[i] < scene.count && scene.parent[i] !== 0 && found[scene.parent[i]]) found[i] = 1;
  for (let i = 0; i < scene.count; i++) if (scene.isGroup(i)) found[i] = 0;
  return found;
}
