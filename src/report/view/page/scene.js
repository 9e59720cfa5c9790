// A model as typed arrays: items (boxes), values, edges, and who makes and uses what.

import { Container } from "./columns.js";

export const NONE = 0xffffffff;
export const KIND = { group: 0, node: 1, input: 2, output: 3, body: 4, repeat: 5 };
export const FLAG = { bodies: 1, shapes: 2, constants: 4, repeated: 8 };

/** Offsets of the entries of each key in a list sorted by key. @param {ArrayLike<number>} keys @param {number} count */
export function offsetsOf(keys, count) {
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < keys.length; i++) if (keys[i] < count) offsets[keys[i] + 1]++;
  for (let i = 0; i < count; i++) offsets[i + 1] += offsets[i];
  return offsets;
}

/** Entries ordered by their key, in the order in which they stood. @param {ArrayLike<number>} keys @param {Uint32Array} offsets */
export function orderedBy(keys, offsets) {
  const next = offsets.slice();
  const ordered = new Uint32Array(offsets[offsets.length - 1]);
  for (let i = 0; i < keys.length; i++) if (keys[i] < offsets.length - 1) ordered[next[keys[i]]++] = i;
  return ordered;
}

export class Scene {
  /** @param {Container} container @param {number} number @param {string} title */
  constructor(container, number, title) {
    this.number = number;
    this.lists = {};
    this.title = title;
    this.facts = container.head;
    this.operators = container.head.operators || [];
    for (const [name, type] of [["parent", "u32"], ["kind", "u8"], ["op", "u16"], ["flags", "u8"], ["first_child", "u32"],
      ["children", "u32"], ["order", "u32"], ["last", "u32"], ["layer", "u32"], ["rank", "u32"], ["x", "f32"], ["y", "f32"],
      ["w", "f32"], ["h", "f32"], ["cw", "f32"], ["ch", "f32"], ["repeat", "u32"], ["macs", "f64"], ["params", "f64"],
      ["bytes", "f64"]]) {
      this[name] = container.column(name, type);
    }
    this.count = this.parent.length;
    this.names = container.text("name");
    this.readValues(container);
    this.readEdges(container);
    this.chipTexts = container.text("chip");
    this.chipItems = container.column("chip.item");
    this.lastOrder = 0;
    for (const column of [this.order, this.last]) for (let i = 0; i < this.count; i++) if (column[i] !== NONE && column[i] > this.lastOrder) this.lastOrder = column[i];
    this.byOrder = null;
    this.leafMask = null;
  }

  readValues(container) {
    this.valueNames = container.text("value.name");
    this.types = container.text("type");
    this.typeIds = container.column("value.type");
    this.producer = container.column("value.producer");
    this.rail = container.column("value.rail", "u8");
    this.values = this.producer.length;
    this.useNode = container.column("use.node");
    this.useValue = container.column("use.value");
  }

  // Lists that the first picture may do without are made when they are asked for.

  get usesOfValue() {
    return (this.lists.usesOfValue ||= orderedLists(this.useValue, this.values));
  }

  get usesOfNode() {
    return (this.lists.usesOfNode ||= orderedLists(this.useNode, this.count));
  }

  get madeOfNode() {
    return (this.lists.madeOfNode ||= orderedLists(this.producer, this.count));
  }

  get chips() {
    return (this.lists.chips ||= orderedLists(this.chipItems, this.count));
  }

  readEdges(container) {
    this.edgeValue = container.column("edge.value");
    this.edgeFrom = container.column("edge.from");
    this.edgeTo = container.column("edge.to");
    this.bendStart = container.column("edge.bend_start");
    this.bendCount = container.column("edge.bend_count", "u16");
    this.bendX = container.column("bend.x", "f32");
    this.bendY = container.column("bend.y", "f32");
    const groups = new Uint32Array(this.edgeFrom.length);
    for (let e = 0; e < groups.length; e++) {
      const end = this.edgeFrom[e] === NONE ? this.edgeTo[e] : this.edgeFrom[e];
      groups[e] = end === NONE ? NONE : this.parent[end];
    }
    this.edgesOf = orderedLists(groups, this.count);
  }

  isGroup(item) {
    const kind = this.kind[item];
    return kind === KIND.group || kind === KIND.body || kind === KIND.repeat;
  }

  isOpenable(item) {
    return this.children[item] > 0;
  }

  name(item) {
    return this.names.at(item);
  }

  operator(item) {
    return this.operators[this.op[item]] || "";
  }

  /** A short name of an item: its label, else its operator. */
  label(item) {
    return this.name(item) || this.operator(item) || `item ${item}`;
  }

  /** An item and the groups around it, from the inside out, without the whole model. */
  ancestors(item) {
    const found = [];
    for (let at = this.parent[item]; at !== NONE && at !== 0 && found.length < 100000; at = this.parent[at]) found.push(at);
    return found;
  }

  /** Names of the groups around an item, from the outside in. */
  path(item) {
    return this.ancestors(item).reverse().map((group) => this.name(group)).join(" › ");
  }

  /** A name without what the groups around it say already: what stands behind the name of the nearest one that it holds. */
  shortName(item) {
    const name = this.name(item);
    let group = this.parent[item];
    for (let steps = 0; steps < 4 && group !== NONE && group !== 0; steps++, group = this.parent[group]) {
      const around = this.name(group);
      const at = around === "" ? -1 : name.lastIndexOf(around);
      const end = at + around.length;
      const whole = at >= 0 && "/.".includes(name[end] || "-") && (at === 0 || "/.".includes(name[at - 1]));
      if (whole && end + 1 < name.length) return name.slice(end + 1);
    }
    return name;
  }

  /** Values that a node reads. */
  inputsOf(item) {
    return this.usesOfNode.map(item, (use) => this.useValue[use]);
  }

  outputsOf(item) {
    return [...this.madeOfNode.of(item)];
  }

  consumersOf(value) {
    return this.usesOfValue.map(value, (use) => this.useNode[use]);
  }

  /** Nodes before or after a node. */
  neighbours(item, forward) {
    const found = new Set();
    if (forward) for (const value of this.outputsOf(item)) for (const node of this.consumersOf(value)) found.add(node);
    else for (const value of this.inputsOf(item)) if (this.producer[value] !== NONE) found.add(this.producer[value]);
    found.delete(item);
    return [...found];
  }

  /** One for each item that is no group. */
  leaves() {
    if (!this.leafMask) {
      this.leafMask = new Uint8Array(this.count);
      for (let i = 1; i < this.count; i++) this.leafMask[i] = this.isGroup(i) ? 0 : 1;
    }
    return this.leafMask;
  }

  /** Nodes in execution order. @returns {Uint32Array} */
  ordered() {
    if (!this.byOrder) {
      const leaves = this.leaves();
      const keys = Uint32Array.from(this.order, (order, i) => (leaves[i] ? order : NONE));
      this.byOrder = orderedBy(keys, offsetsOf(keys, this.lastOrder + 1));
    }
    return this.byOrder;
  }

  /** The type of a value as text. @returns {string} */
  typeOf(value) {
    return this.types.at(this.typeIds[value]);
  }
}

/** Lists of entries by key: `of(key)` has the entries, `map` what a function makes of them. */
function orderedLists(keys, count) {
  const offsets = offsetsOf(keys, count);
  const entries = orderedBy(keys, offsets);
  return {
    offsets,
    entries,
    size: (key) => offsets[key + 1] - offsets[key],
    of: (key) => entries.subarray(offsets[key], offsets[key + 1]),
    map(key, make) {
      const found = [];
      for (let i = offsets[key]; i < offsets[key + 1]; i++) found.push(make(entries[i]));
      return found;
    },
  };
}
