// Lines of edges within one open group: from a box, over the bends, to a box.

import { NONE } from "./scene.js";
import { HEADER, PADDING } from "./sizes.js";

const PORT_STEP = 12;
const STUB = 22;
const MOST_SCANNED = 1500;
const BUCKET = 400;

export class Routes {
  /** @param {import("./places.js").Places} places @param {number} group */
  constructor(places, group) {
    this.places = places;
    this.scene = places.scene;
    this.group = group;
    this.edges = this.scene.edgesOf.of(group);
    this.bands = places.bands(group);
    this.ports();
    this.lines();
    this.boundaries();
  }

  /** Shares of the sides of boxes at which edges leave and arrive. */
  ports() {
    const { scene, edges } = this;
    const arriving = new Map();
    const leaving = new Map();
    const departing = new Map();
    for (const edge of edges) {
      const from = scene.edgeFrom[edge];
      const to = scene.edgeTo[edge];
      if (to !== NONE) listOf(arriving, to).push(edge);
      if (from !== NONE) {
        listOf(departing, from).push(edge);
        const values = listOf(leaving, from);
        if (!values.includes(scene.edgeValue[edge])) values.push(scene.edgeValue[edge]);
      }
    }
    this.arrivals = new Map();
    for (const list of arriving.values()) {
      list.sort((a, b) => this.originX(a) - this.originX(b) || a - b);
      list.forEach((edge, i) => this.arrivals.set(edge, i - (list.length - 1) / 2));
    }
    this.arriving = arriving;
    this.leaving = leaving;
    this.departing = departing;
  }

  originX(edge) {
    const { scene } = this;
    const bends = scene.bendCount[edge];
    if (bends) return scene.bendX[scene.bendStart[edge] + bends - 1];
    const from = scene.edgeFrom[edge];
    return from === NONE ? 0 : scene.x[from] + scene.w[from] / 2;
  }

  portX(item, shift, count) {
    const { x, w } = this.places;
    const step = Math.min(PORT_STEP, (w[item] - 12) / Math.max(1, count));
    return x[item] + w[item] / 2 + shift * step;
  }

  begin(edge, points) {
    const { scene, places } = this;
    const from = scene.edgeFrom[edge];
    if (from === NONE) return null;
    const values = this.leaving.get(from);
    points.push(this.portX(from, values.indexOf(scene.edgeValue[edge]) - (values.length - 1) / 2, values.length), places.y[from] + places.h[from]);
    return from;
  }

  end(edge, points) {
    const { scene, places } = this;
    const to = scene.edgeTo[edge];
    if (to === NONE) return;
    points.push(this.portX(to, this.arrivals.get(edge), this.arriving.get(to).length), places.y[to]);
  }

  lines() {
    const starts = new Uint32Array(this.edges.length + 1);
    const points = [];
    this.turns = new Uint8Array(this.edges.length);
    for (let i = 0; i < this.edges.length; i++) {
      this.line(this.edges[i], i, points);
      starts[i + 1] = points.length;
    }
    this.starts = starts;
    this.points = Float32Array.from(points);
  }

  /** Adds the points of one edge: x and y in turns. */
  line(edge, i, points) {
    const { scene, places, bands } = this;
    const first = points.length;
    this.begin(edge, points);
    for (let b = 0; b < scene.bendCount[edge]; b++) {
      const at = scene.bendStart[edge] + b;
      const moved = bands.moved(places, scene.bendX[at], scene.bendY[at]);
      points.push(moved.x, moved.top);
      if (moved.bottom > moved.top + 1) points.push(moved.x, moved.bottom);
    }
    this.end(edge, points);
    const from = scene.edgeFrom[edge];
    const to = scene.edgeTo[edge];
    if (points.length > first) {
      const value = scene.edgeValue[edge];
      if (from === NONE) points.splice(first, 0, this.borderX(value, true, points[first]), -PADDING - HEADER);
      if (to === NONE) points.push(this.borderX(value, false, points[points.length - 2]), this.bottom());
    }
    if (from !== NONE && to !== NONE && scene.bendCount[edge] === 0 && places.y[to] < places.y[from] + places.h[from]) this.turns[i] = 1;
  }

  /** Where a value crosses the border of the group: where the line outside ends. */
  borderX(value, arriving, otherwise) {
    const { scene, places, group } = this;
    const outer = group === 0 ? null : places.routesOf.get(scene.parent[group]);
    if (!outer) return otherwise;
    for (const edge of (arriving ? outer.arriving : outer.departing).get(group) || []) {
      if (scene.edgeValue[edge] !== value) continue;
      const points = [];
      if (arriving) outer.end(edge, points);
      else outer.begin(edge, points);
      return points[0] - places.x[group] - PADDING;
    }
    return otherwise;
  }

  /** Where the lower border of the group lies. */
  bottom() {
    return this.group === 0 ? this.contentHeight() + PADDING : this.places.h[this.group] - HEADER - PADDING;
  }

  contentHeight() {
    let bottom = 0;
    for (let c = 0; c < this.bands.columns; c++) bottom = Math.max(bottom, this.bands.bottom[this.bands.columnStarts[c + 1] - 1]);
    return bottom;
  }

  /** Boxes around the lines, and for large groups which lines cross which stretch. */
  boundaries() {
    const { edges, points, starts } = this;
    this.low = new Float32Array(edges.length);
    this.high = new Float32Array(edges.length);
    this.left = new Float32Array(edges.length);
    this.right = new Float32Array(edges.length);
    for (let i = 0; i < edges.length; i++) {
      let [low, high, left, right] = [Infinity, -Infinity, Infinity, -Infinity];
      for (let p = starts[i]; p < starts[i + 1]; p += 2) {
        left = Math.min(left, points[p]);
        right = Math.max(right, points[p]);
        low = Math.min(low, points[p + 1]);
        high = Math.max(high, points[p + 1]);
      }
      [this.low[i], this.high[i], this.left[i], this.right[i]] = [low - STUB, high + STUB, left - STUB, right + STUB];
    }
    this.buckets = null;
    if (edges.length > MOST_SCANNED) this.fillBuckets();
  }

  fillBuckets() {
    this.buckets = new Map();
    this.long = [];
    for (let i = 0; i < this.edges.length; i++) {
      const from = Math.floor(this.low[i] / BUCKET);
      const to = Math.floor(this.high[i] / BUCKET);
      if (to - from > 8) this.long.push(i);
      else for (let b = from; b <= to; b++) listOf(this.buckets, b).push(i);
    }
  }

  /** Calls `found` with the places in `edges` of those that may be seen between two heights and two sides. */
  within(left, top, right, bottom, found) {
    const seen = (i) => this.low[i] <= bottom && this.high[i] >= top && this.left[i] <= right && this.right[i] >= left;
    if (!this.buckets) {
      for (let i = 0; i < this.edges.length; i++) if (seen(i) && found(i) === false) return;
      return;
    }
    for (const i of this.long) if (seen(i) && found(i) === false) return;
    const first = Math.floor(Math.max(top, -BUCKET) / BUCKET);
    const last = Math.floor(Math.min(bottom, this.bottom() + BUCKET) / BUCKET);
    for (let b = first; b <= last; b++) {
      for (const i of this.buckets.get(b) || []) {
        if (seen(i) && (b === first || Math.floor(this.low[i] / BUCKET) === b) && found(i) === false) return;
      }
    }
  }
}

function listOf(map, key) {
  let list = map.get(key);
  if (!list) map.set(key, (list = []));
  return list;
}
