// Two models as one graph: what was removed stands beside its neighbours, runs of unchanged nodes are folded.

import { Texts } from "./columns.js";
import { Overlay } from "./overlay.js";
import { FLAG, KIND, NONE, Scene } from "./scene.js";
import { Search } from "./search.js";
import { Stage } from "./stage.js";
import { layered } from "./layered.js";

const LEAST_FOLDED = 4;

/** Adds the union of two models to the page, if their differences are there. @param {import("./app.js").App} app */
export function addUnion(app) {
  if (app.stages.length < 2) return;
  const [older, newer] = app.stages.map((stage) => stage.scene);
  const [removals, difference] = [older, newer].map((scene) => app.overlays.find((overlay) => overlay.what === "difference" && overlay.scene === scene));
  if (!removals || !difference) return;
  newer.pairs = new Map();
  difference.container.column("/counterpart", "f32").forEach((other, item) => other >= 0 && newer.pairs.set(item, other));
  older.pairs = new Map([...newer.pairs].map(([item, other]) => [other, item]));
  const removed = removals.table.filter((row) => row.kind === "removed").map((row) => ({ ...row, items: [], other: row.items }));
  const table = [...difference.table, ...removed];
  const union = new Union(newer, older, table, newer.pairs);
  const scene = new Scene(union.container(), 0, "difference");
  scene.union = true;
  scene.steps = union.steps();
  scene.guilty = older.guilty;
  scene.reference = (item) => union.references[item];
  const stage = new Stage(scene, () => app.request());
  stage.look.ghosts = union.ghostMask();
  stage.search = new Search(scene, app.source, () => app.overlays);
  stage.openFirst((item) => union.items[item].from === "main" && union.touched[union.items[item].id] === 1);
  app.stages.push(stage);
  app.overlays = [new Overlay(union.overlayContainer(difference, table), scene, "union"), ...app.overlays];
}

class Union {
  constructor(main, other, table, pairs) {
    this.main = main;
    this.other = other;
    this.pairs = pairs;
    this.back = new Map([...pairs].map(([left, right]) => [right, left]));
    this.removed = [...new Set(table.filter((row) => row.kind === "removed").flatMap((row) => row.other || []))];
    this.changed = new Set(table.flatMap((row) => row.items || []));
    this.items = [{ from: "main", id: 0, parent: NONE }];
    this.byMain = new Map([[0, 0]]);
    this.byOther = new Map();
    this.ghosts = new Map();
    this.place();
    this.mark();
    this.number();
    this.connect();
  }

  /** The group of the first model in which each removed node is shown, and behind which node. */
  place() {
    for (const node of this.removed) {
      const near = this.nearest(node, false) ?? this.nearest(node, true);
      const group = near === undefined ? 0 : this.main.parent[near];
      if (!this.ghosts.has(group)) this.ghosts.set(group, []);
      this.ghosts.get(group).push({ node, order: near === undefined ? this.other.order[node] : this.main.order[near] + 0.5 });
    }
  }

  /** The counterpart of the nearest node before or after that has one. */
  nearest(node, forward) {
    const seen = new Set([node]);
    let edge = [node];
    while (edge.length && seen.size < 2000) {
      const next = [];
      for (const at of edge) {
        for (const found of this.other.neighbours(at, forward)) {
          if (this.back.has(found)) return this.back.get(found);
          if (!seen.has(found)) {
            seen.add(found);
            next.push(found);
          }
        }
      }
      edge = next;
    }
    return undefined;
  }

  /** Groups and nodes that hold a change. */
  mark() {
    const { main } = this;
    this.touched = new Uint8Array(main.count);
    for (const item of this.changed) if (item < main.count) this.touched[item] = 1;
    for (const group of this.ghosts.keys()) this.touched[group] = 1;
    for (let i = main.count - 1; i > 0; i--) if (this.touched[i] && main.parent[i] < main.count) this.touched[main.parent[i]] = 1;
  }

  /** Gives ids: children of an item follow each other. */
  number() {
    for (let at = 0; at < this.items.length; at++) {
      const item = this.items[at];
      const children = item.from === "fold" ? item.members : item.from === "main" ? this.childrenOf(item.id) : [];
      item.first = this.items.length;
      item.children = children.length;
      for (const child of children) {
        child.parent = at;
        if (child.from === "main") this.byMain.set(child.id, this.items.length);
        else if (child.from === "other") this.byOther.set(child.id, this.items.length);
        this.items.push(child);
      }
    }
    this.references = this.items.map((item) => (item.from === "fold" ? null : { scene: item.from === "main" ? this.main.number : this.other.number, item: item.id }));
  }

  childrenOf(group) {
    const { main } = this;
    const first = main.first_child[group];
    const children = Array.from({ length: main.children[group] }, (_, i) => ({ from: "main", id: first + i, order: main.order[first + i] }));
    for (const ghost of this.ghosts.get(group) || []) children.push({ from: "other", id: ghost.node, order: ghost.order });
    if (!this.touched[group]) return children;
    children.sort((a, b) => a.order - b.order);
    return this.folded(children);
  }

  /** Runs of unchanged children as one box each; a neighbour of a change stays. */
  folded(children) {
    const changed = children.map((child) => child.from === "other" || this.touched[child.id] === 1 || this.main.kind[child.id] === KIND.input || this.main.kind[child.id] === KIND.output);
    const kept = changed.map((is, i) => is || changed[i - 1] || changed[i + 1]);
    const list = [];
    for (let i = 0; i < children.length;) {
      let end = i;
      while (end < children.length && !kept[end]) end++;
      if (end - i >= LEAST_FOLDED) list.push({ from: "fold", members: children.slice(i, end), order: children[i].order, last: children[end - 1].order });
      else list.push(...children.slice(i, Math.max(end, i + 1)));
      i = Math.max(end, i + 1);
    }
    return list;
  }

  /** Values, who makes and who uses them, and the edges at the lowest common groups. */
  connect() {
    const { main, other } = this;
    this.uses = [];
    this.producers = Array.from(main.producer, (item) => (this.byMain.has(item) ? this.byMain.get(item) : NONE));
    this.otherValues = [];
    for (let u = 0; u < main.useNode.length; u++) this.uses.push([main.useValue[u], this.byMain.get(main.useNode[u])]);
    const ofOther = new Map();
    for (const node of this.removed) {
      for (const value of other.outputsOf(node)) {
        ofOther.set(value, main.values + this.otherValues.length);
        this.producers.push(this.byOther.get(node));
        this.otherValues.push(value);
      }
    }
    for (const node of this.removed) {
      for (const value of other.inputsOf(node)) {
        const known = ofOther.has(value) ? ofOther.get(value) : this.counterpart(value);
        if (known !== undefined) this.uses.push([known, this.byOther.get(node)]);
      }
      for (const value of other.outputsOf(node)) {
        for (const user of other.consumersOf(value)) if (this.back.has(user)) this.uses.push([ofOther.get(value), this.byMain.get(this.back.get(user))]);
      }
    }
    this.uses.sort((a, b) => a[0] - b[0]);
    this.edges = this.edgesOf();
  }

  /** The value of the first model that stands for one of the second: of the same place among the results of the same node. */
  counterpart(value) {
    const maker = this.other.producer[value];
    const pair = this.back.get(maker);
    if (pair === undefined) return undefined;
    return this.main.outputsOf(pair)[this.other.outputsOf(maker).indexOf(value)];
  }

  edgesOf() {
    const found = new Map();
    const add = (value, from, to) => found.set(`${value},${from},${to}`, [value, from, to]);
    for (const [value, user] of this.uses) {
      const maker = this.producers[value];
      if (maker === NONE || user === undefined || maker === undefined) continue;
      const [up, down] = [this.wayTo(maker), this.wayTo(user)];
      let common = 0;
      while (common < up.length && common < down.length && up[common] === down[common]) common++;
      if (common >= up.length || common >= down.length) continue;
      add(value, up[common], down[common]);
      for (let i = common + 1; i < up.length; i++) add(value, up[i], NONE);
      for (let i = common + 1; i < down.length; i++) add(value, NONE, down[i]);
    }
    return [...found.values()];
  }

  wayTo(item) {
    const way = [];
    for (let at = item; at !== NONE && at !== 0; at = this.items[at].parent) way.push(at);
    return way.reverse();
  }

  fact(item, name) {
    if (item.from === "fold") return undefined;
    return (item.from === "main" ? this.main : this.other)[name][item.id];
  }

  label(item) {
    if (item.from === "fold") return `${item.members.length} unchanged`;
    return (item.from === "main" ? this.main : this.other).names.whole(item.id);
  }

  ghostMask() {
    return Uint8Array.from(this.items, (item) => (item.from === "other" ? 1 : 0));
  }

  /** What the class Scene reads, as if it had come from the program. */
  container() {
    const { items, main, other } = this;
    const operators = [...new Set([...main.operators, ...other.operators])];
    const columns = new Map();
    const numbers = (name, Type, make) => columns.set(name, Type.from(items, make));
    numbers("parent", Uint32Array, (item) => item.parent);
    numbers("kind", Uint8Array, (item) => this.fact(item, "kind") ?? KIND.group);
    numbers("op", Uint16Array, (item) => (item.from === "fold" ? 0xffff : operators.indexOf((item.from === "main" ? main : other).operator(item.id)) & 0xffff));
    numbers("flags", Uint8Array, (item) => (this.fact(item, "flags") ?? 0) & ~FLAG.bodies);
    numbers("first_child", Uint32Array, (item) => item.first);
    numbers("children", Uint32Array, (item) => item.children);
    numbers("order", Uint32Array, (item) => Math.floor(item.order ?? 0));
    numbers("last", Uint32Array, (item) => (item.from === "main" ? main.last[item.id] : Math.floor(item.last ?? item.order)));
    numbers("repeat", Uint32Array, (item) => this.fact(item, "repeat") ?? NONE);
    for (const name of ["macs", "params", "bytes"]) numbers(name, Float64Array, (item) => this.fact(item, name) ?? NaN);
    this.layout(columns);
    this.texts(columns, "name", items.map((item) => this.label(item)));
    this.valueColumns(columns);
    return { head: { ...main.facts, operators, nodes: undefined, subject_title: [other, main].map((scene) => scene.facts.subject_title || scene.facts.model).join(" → ") }, has: (name) => columns.has(name),
      column: (name) => columns.get(name) || new Uint32Array(0), text: (name) => textsOf(columns, name) };
  }

  /** Places of groups that are as they were come from the program; others are laid out here. */
  layout(columns) {
    const { items } = this;
    const floats = Object.fromEntries(["x", "y", "w", "h", "cw", "ch"].map((name) => [name, Float32Array.from(items, (item) => this.fact(item, name) ?? 0)]));
    const [layer, rank] = ["layer", "rank"].map((name) => Uint32Array.from(items, (item) => this.fact(item, name) ?? 0));
    items.forEach((item, i) => {
      if (item.from === "fold") {
        floats.w[i] = 150;
        floats.h[i] = 42;
      } else if (item.from === "other") floats.cw[i] = floats.ch[i] = 0;
    });
    const edges = new Map();
    for (const edge of this.edges) {
      const group = items[edge[1] === NONE ? edge[2] : edge[1]].parent;
      if (!edges.has(group)) edges.set(group, []);
      edges.get(group).push(edge);
    }
    items.forEach((item, i) => {
      if (!item.children || (item.from === "main" && !this.touched[item.id])) return;
      layered(i, items, edges.get(i) || [], floats, layer, rank);
    });
    for (const [name, column] of Object.entries(floats)) columns.set(name, column);
    columns.set("layer", layer);
    columns.set("rank", rank);
  }

  valueColumns(columns) {
    const { main, other, otherValues } = this;
    this.texts(columns, "value.name", [...main.valueNames.all(), ...otherValues.map((v) => other.valueNames.whole(v))]);
    this.texts(columns, "type", [...main.types.all(), ...other.types.all()]);
    columns.set("value.type", Uint32Array.from([...main.typeIds, ...otherValues.map((v) => main.types.count + other.typeIds[v])]));
    columns.set("value.producer", Uint32Array.from(this.producers, (item) => item ?? NONE));
    columns.set("value.rail", Uint8Array.from([...main.rail, ...otherValues.map(() => 0)]));
    const uses = this.uses.filter(([, item]) => item !== undefined);
    columns.set("use.value", Uint32Array.from(uses, ([value]) => value));
    columns.set("use.node", Uint32Array.from(uses, ([, item]) => item));
    columns.set("edge.value", Uint32Array.from(this.edges, ([value]) => value));
    columns.set("edge.from", Uint32Array.from(this.edges, ([, from]) => from));
    columns.set("edge.to", Uint32Array.from(this.edges, ([, , to]) => to));
    columns.set("edge.bend_start", new Uint32Array(this.edges.length));
    columns.set("edge.bend_count", new Uint16Array(this.edges.length));
    const chips = this.items.map((item) => (item.from === "fold" ? [] : [...(item.from === "main" ? main : other).chips.of(item.id)].map((chip) => (item.from === "main" ? main : other).chipTexts.whole(chip))));
    columns.set("chip.item", Uint32Array.from(chips.flatMap((list, i) => list.map(() => i))));
    this.texts(columns, "chip", chips.flat());
  }

  texts(columns, name, list) {
    const encoder = new TextEncoder();
    const parts = list.map((text) => encoder.encode(text));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    const ends = new Uint32Array(parts.length);
    let at = 0;
    parts.forEach((part, i) => {
      bytes.set(part, at);
      ends[i] = at += part.length;
    });
    columns.set(name, { bytes, ends });
  }

  /** The steps from one model to the other. Nodes that both have are kept, whatever became of their names. */
  steps() {
    const { steps: removing = [] } = this.other;
    const { steps: adding = [] } = this.main;
    return removing.map(({ name, unseen, gone }, i) => {
      const { made, kept } = adding[i] || { made: [], kept: [] };
      return { name, unseen, gone: moved(gone, this.byOther), made: moved(made.filter((item) => !this.pairs.has(item)), this.byMain),
        kept: moved([...kept, ...made.filter((item) => this.pairs.has(item))], this.byMain) };
    });
  }

  /** The difference with the ids of the union. */
  overlayContainer({ container, notes }, rows) {
    const order = (row) => this.items[row.items[0]]?.order ?? Infinity;
    const table = rows.map((row) => ({ ...row, other: undefined, items: [...moved(row.items, this.byMain), ...moved(row.other, this.byOther)] })).sort((a, b) => order(a) - order(b));
    return { head: { ...container.head, table, notes: notes.map((note) => ({ ...note, item: this.byMain.get(note.item) ?? 0 })), groups: [] }, has: () => false,
      column: (name, type) => container.column("none", type), text: (name) => container.text(name) };
  }
}

/** The items that have another number, with that. */
function moved(items, numbers) {
  return (items || []).map((item) => numbers.get(item)).filter((item) => item !== undefined);
}

function textsOf(columns, name) {
  const { bytes, ends } = columns.get(name) || { bytes: new Uint8Array(0), ends: new Uint32Array(0) };
  return new Texts(bytes, ends);
}
