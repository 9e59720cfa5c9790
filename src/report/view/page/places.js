// Which groups are open, and where everything lies because of it.

import { Bands } from "./bands.js";
import { Routes } from "./routes.js";
import { KIND, NONE } from "./scene.js";
import { HEADER, LEAST_NODE, PADDING } from "./sizes.js";

export class Places {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.open = new Uint8Array(scene.count);
    this.x = scene.x.slice();
    this.y = scene.y.slice();
    this.w = new Float32Array(scene.count);
    for (let i = 0; i < scene.count; i++) this.w[i] = this.closedWidth(i);
    this.h = scene.h.slice();
    this.bandsOf = new Map();
    this.routesOf = new Map();
    if (scene.count) this.open[0] = 1;
    this.width = 1;
    this.height = 1;
    if (scene.count) this.fit([0]);
  }

  closedWidth(item) {
    const { kind, w } = this.scene;
    return kind[item] === KIND.input || kind[item] === KIND.output ? w[item] : Math.max(w[item], LEAST_NODE);
  }

  /** @param {number} group @returns {Bands} */
  bands(group) {
    let bands = this.bandsOf.get(group);
    if (!bands) this.bandsOf.set(group, (bands = new Bands(this.scene, group)));
    return bands;
  }

  /** Lines of the edges between a group's children. @param {number} group @returns {Routes} */
  routes(group) {
    let routes = this.routesOf.get(group);
    if (!routes) this.routesOf.set(group, (routes = new Routes(this, group)));
    return routes;
  }

  /** Opens or closes groups; returns those whose children moved. @param {Iterable<number>} groups @param {boolean} open */
  setOpen(groups, open) {
    const moved = new Set();
    for (const group of groups) {
      if (group === 0 || !this.scene.isOpenable(group) || !!this.open[group] === open) continue;
      this.open[group] = open ? 1 : 0;
      if (open) moved.add(group);
      for (let at = this.scene.parent[group]; at !== NONE; at = this.scene.parent[at]) moved.add(at);
      if (!open) this.resize(group);
    }
    this.fit(moved);
    return moved;
  }

  /** Places the children of groups anew, innermost first: children have larger ids than their parents. */
  fit(groups) {
    for (const group of [...groups].sort((a, b) => b - a)) {
      if (!this.open[group]) continue;
      const size = this.bands(group).fit(this);
      this.routesOf.delete(group);
      if (group === 0) {
        this.width = size.width;
        this.height = size.height;
      } else {
        this.contentWidth(group, size.width, size.height);
      }
    }
  }

  contentWidth(group, width, height) {
    this.w[group] = Math.max(this.closedWidth(group), width + 2 * PADDING);
    this.h[group] = height + HEADER + 2 * PADDING;
  }

  resize(group) {
    this.w[group] = this.closedWidth(group);
    this.h[group] = this.scene.h[group];
  }

  openGroups() {
    const found = [];
    for (let i = 1; i < this.open.length; i++) if (this.open[i]) found.push(i);
    return found;
  }

  /** The item itself, or the outermost closed group around it. */
  shownFor(item) {
    let shown = item;
    for (let at = this.scene.parent[item]; at !== NONE; at = this.scene.parent[at]) if (!this.open[at]) shown = at;
    return shown;
  }

  /** The box of an item in the whole picture, in doubles. @returns {{x: number, y: number, w: number, h: number}} */
  box(item) {
    if (item === 0) return { x: 0, y: 0, w: this.width, h: this.height };
    let x = this.x[item];
    let y = this.y[item];
    for (let at = this.scene.parent[item]; at !== NONE && at !== 0; at = this.scene.parent[at]) {
      x += this.x[at] + PADDING;
      y += this.y[at] + PADDING + HEADER;
    }
    return { x, y, w: this.w[item], h: this.h[item] };
  }

  /** The innermost visible item at a place. @param {number} x @param {number} y @returns {number} 0 if there is none */
  itemAt(x, y) {
    let group = 0;
    for (;;) {
      const child = this.childAt(group, x, y);
      if (child < 0) return group;
      if (!this.open[child]) return child;
      x -= this.x[child] + PADDING;
      y -= this.y[child] + PADDING + HEADER;
      group = child;
    }
  }

  childAt(group, x, y) {
    const bands = this.bands(group);
    for (let c = 0; c < bands.columns; c++) {
      const from = this.firstLayerBelow(bands, c, y);
      for (let l = from; l < bands.columnStarts[c + 1] && bands.top[l] <= y; l++) {
        for (let i = bands.starts[l]; i < bands.starts[l + 1]; i++) {
          const item = bands.members[i];
          if (x >= this.x[item] && x <= this.x[item] + this.w[item] && y >= this.y[item] && y <= this.y[item] + this.h[item]) return item;
        }
      }
    }
    return -1;
  }

  /** The first layer of a column that ends below a height. */
  firstLayerBelow(bands, column, y) {
    let low = bands.columnStarts[column];
    let high = bands.columnStarts[column + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bands.bottom[middle] < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
