// The layers of a group's children, as the program laid them out, and where they lie once children have grown.

const LEAST_GAP = 10;
const MOST_SIDE_GAP = 26;

/** The layers of one group. */
export class Bands {
  /** @param {import("./scene.js").Scene} scene @param {number} group */
  constructor(scene, group) {
    const first = scene.first_child[group];
    const count = scene.children[group];
    this.scene = scene;
    this.first = first;
    this.members = Uint32Array.from({ length: count }, (_, i) => first + i);
    this.members.sort((a, b) => scene.layer[a] - scene.layer[b] || scene.x[a] - scene.x[b] || a - b);
    this.findLayers();
    this.findColumns();
    this.top = Float64Array.from(this.top0);
    this.bottom = Float64Array.from(this.bottom0);
  }

  findLayers() {
    const { layer, y, h } = this.scene;
    const starts = [];
    this.members.forEach((item, i) => {
      if (i === 0 || layer[item] !== layer[this.members[i - 1]]) starts.push(i);
    });
    this.layers = starts.length;
    this.starts = Uint32Array.from([...starts, this.members.length]);
    this.top0 = new Float64Array(this.layers).fill(Infinity);
    this.bottom0 = new Float64Array(this.layers).fill(-Infinity);
    this.layerOf = new Map();
    for (let l = 0; l < this.layers; l++) {
      for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
        const item = this.members[i];
        this.top0[l] = Math.min(this.top0[l], y[item]);
        this.bottom0[l] = Math.max(this.bottom0[l], y[item] + h[item]);
      }
    }
  }

  /** Layers that begin above the one before them begin a column. */
  findColumns() {
    const { x, w } = this.scene;
    this.column = new Uint32Array(this.layers);
    this.columnStarts = [0];
    for (let l = 1; l < this.layers; l++) {
      if (this.top0[l] < this.top0[l - 1]) this.columnStarts.push(l);
      this.column[l] = this.columnStarts.length - 1;
    }
    if (this.layers === 0) this.columnStarts = [];
    this.columns = this.columnStarts.length;
    this.columnStarts.push(this.layers);
    this.left0 = new Float64Array(this.columns).fill(Infinity);
    this.right0 = new Float64Array(this.columns).fill(-Infinity);
    for (let l = 0; l < this.layers; l++) {
      const c = this.column[l];
      for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
        const item = this.members[i];
        this.left0[c] = Math.min(this.left0[c], x[item]);
        this.right0[c] = Math.max(this.right0[c], x[item] + w[item]);
      }
    }
    this.left = Float64Array.from(this.left0);
    this.right = Float64Array.from(this.right0);
  }

  /** Gives children new places; returns the size of the content. @param {import("./places.js").Places} places */
  fit(places) {
    const { scene } = this;
    let columnLeft = this.columns ? this.left0[0] : 0;
    let right = 0;
    let bottom = 0;
    for (let c = 0; c < this.columns; c++) {
      let y = this.top0[this.columnStarts[c]];
      let low = Infinity;
      let high = -Infinity;
      for (let l = this.columnStarts[c]; l < this.columnStarts[c + 1]; l++) {
        if (l > this.columnStarts[c]) y += Math.max(LEAST_GAP, this.top0[l] - this.bottom0[l - 1]);
        y = this.placeLayer(places, l, y);
        low = Math.min(low, places.x[this.members[this.starts[l]]]);
        const last = this.members[this.starts[l + 1] - 1];
        high = Math.max(high, places.x[last] + places.w[last]);
      }
      const shift = columnLeft - low;
      for (let i = this.starts[this.columnStarts[c]]; i < this.starts[this.columnStarts[c + 1]]; i++) places.x[this.members[i]] += shift;
      right = high + shift;
      this.left[c] = columnLeft;
      this.right[c] = right;
      if (c + 1 < this.columns) columnLeft = right + Math.max(LEAST_GAP, this.left0[c + 1] - this.right0[c]);
      bottom = Math.max(bottom, y);
    }
    const margin = this.columns ? Math.max(0, scene.cw[scene.parent[this.first]] - this.right0[this.columns - 1]) : 0;
    const below = Math.max(0, scene.ch[scene.parent[this.first]] - Math.max(0, ...this.lastBottoms()));
    return { width: right + margin, height: bottom + below };
  }

  lastBottoms() {
    return Array.from({ length: this.columns }, (_, c) => this.bottom0[this.columnStarts[c + 1] - 1]);
  }

  /** Places the children of a layer at a height; returns where the layer ends. */
  placeLayer(places, l, y) {
    let height = this.bottom0[l] - this.top0[l];
    for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
      const item = this.members[i];
      places.y[item] = y + this.scene.y[item] - this.top0[l];
      height = Math.max(height, places.y[item] - y + places.h[item]);
    }
    spread(this.scene, places, this.members, this.starts[l], this.starts[l + 1]);
    this.top[l] = y;
    this.bottom[l] = y + height;
    return y + height;
  }

  /** The layer at or above a height of the program's layout, in the column that x is in or behind. */
  layerAt(x, y) {
    let c = 0;
    while (c + 1 < this.columns && x >= this.left0[c + 1]) c++;
    let low = this.columnStarts[c];
    let high = this.columnStarts[c + 1] - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top0[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Moves a place of the program's layout to where it is now. */
  moved(places, x, y) {
    if (this.layers === 0) return { x, top: y, bottom: y };
    const l = this.layerAt(x, y);
    if (y >= this.top0[l] && y <= this.bottom0[l]) return { x: this.movedX(places, l, x), top: this.top[l], bottom: this.bottom[l] };
    const c = this.column[l];
    const at = y < this.top0[l] ? this.top[l] - this.top0[l] + y : this.bottom[l] + y - this.bottom0[l];
    const shift = x > this.right0[c] ? this.right[c] - this.right0[c] : this.nearestShift(places, l, x);
    return { x: x + shift, top: at, bottom: at };
  }

  /** How far the middle of the nearest child of a layer has moved: what lies between layers moves with it. */
  nearestShift(places, l, x) {
    const { scene, members } = this;
    let least = Infinity;
    let shift = 0;
    for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
      const item = members[i];
      const middle = scene.x[item] + scene.w[item] / 2;
      if (Math.abs(middle - x) >= least) continue;
      least = Math.abs(middle - x);
      shift = places.x[item] + places.w[item] / 2 - middle;
    }
    return shift;
  }

  movedX(places, l, x) {
    const { scene, members } = this;
    let before = -1;
    let after = -1;
    for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
      const item = members[i];
      if (scene.x[item] + scene.w[item] / 2 <= x) before = item;
      else {
        after = item;
        break;
      }
    }
    const rightShift = before < 0 ? 0 : places.x[before] + places.w[before] - scene.x[before] - scene.w[before];
    const leftShift = after < 0 ? 0 : places.x[after] - scene.x[after];
    if (before < 0 && after < 0) return x;
    if (before < 0) return x + leftShift;
    if (after < 0) return x > this.right0[this.column[l]] ? x + this.right[this.column[l]] - this.right0[this.column[l]] : x + rightShift;
    const from = scene.x[before] + scene.w[before];
    const to = scene.x[after];
    const share = to > from ? Math.min(1, Math.max(0, (x - from) / (to - from))) : 0.5;
    return x + rightShift + (leftShift - rightShift) * share;
  }
}

/** Moves the boxes of a row as little as possible from their old middles so that none overlap: blocks that meet share their shift. */
function spread(scene, places, members, begin, end) {
  const blocks = [];
  let offset = 0;
  for (let i = begin; i < end; i++) {
    const item = members[i];
    if (i > begin) {
      const left = members[i - 1];
      const gap = scene.x[item] - scene.x[left] - scene.w[left];
      offset += places.w[left] + Math.max(LEAST_GAP, Math.min(MOST_SIDE_GAP, gap));
    }
    const wanted = scene.x[item] + scene.w[item] / 2 - places.w[item] / 2 - offset;
    blocks.push({ sum: wanted, count: 1 });
    while (blocks.length > 1 && mean(blocks[blocks.length - 2]) > mean(blocks[blocks.length - 1])) {
      const last = blocks.pop();
      blocks[blocks.length - 1].sum += last.sum;
      blocks[blocks.length - 1].count += last.count;
    }
    places.x[item] = offset;
  }

  let i = begin;
  for (const block of blocks) for (const stop = i + block.count; i < stop; i++) places.x[members[i]] += mean(block);
}

function mean(block) {
  return block.sum / block.count;
}
