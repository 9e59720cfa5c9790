// Overlays: numbers, groups, findings, spans and rows that are joined to the items of a scene.

import { scaleColors, STEPS } from "./theme.js";

/** From numbers to steps of colours. */
export class Scale {
  /** @param {"diverging"|"log"|"linear"} kind @param {number} low @param {number} high */
  constructor(kind, low, high) {
    this.kind = kind;
    this.low = low;
    this.high = high;
    this.logarithmic = kind !== "linear";
  }

  share(value) {
    if (value === Infinity) return 1;
    if (!this.logarithmic) return this.high > this.low ? (value - this.low) / (this.high - this.low) : 0;
    if (value <= this.low) return 0;
    return (Math.log(value) - Math.log(this.low)) / (Math.log(this.high) - Math.log(this.low));
  }

  step(value) {
    return Math.min(STEPS - 1, Math.max(0, Math.round(this.share(value) * (STEPS - 1)))) || 0;
  }

  color(value) {
    return scaleColors(this.kind === "diverging" ? "diverging" : "sequential").fills[this.step(value)];
  }

  at(share) {
    return this.logarithmic ? this.low * (this.high / this.low) ** share : this.low + (this.high - this.low) * share;
  }
}

const TURNING = ["excess", "ratio"];
const SUMMED = ["time", "bytes", "macs", "share"];
const DEFAULT_FIELD = { accuracy: "excess", time: "time", run: "excess" };

export class Overlay {
  /** @param {any} container @param {import("./scene.js").Scene} scene @param {string} id */
  constructor(container, scene, id) {
    this.id = id;
    this.scene = scene;
    this.container = container;
    const { head } = container;
    this.title = head.title || id;
    this.what = head.what || "";
    this.origin = head.source || "";
    this.sides = head.sides && head.sides.length ? head.sides : [""];
    this.fields = this.what === "difference" ? [] : head.fields || [];
    if (this.what === "time" && this.sides.length === 2) {
      this.fields = [...this.fields, { name: "ratio", unit: "", scale: "diverging", description: `time of ${this.sides[0]} over that of ${this.sides[1]}` }];
    }
    this.notes = head.notes || [];
    this.table = head.table || [];
    this.groups = head.groups || [];
    this.facts = head;
    this.columnCache = new Map();
    this.memberLists = null;
    this.spans = null;
  }

  /** The field whose numbers are shown first. */
  firstField() {
    const wanted = DEFAULT_FIELD[this.what];
    return (this.fields.find((field) => field.name === wanted) || this.fields[0] || { name: "" }).name;
  }

  /** The side that is shown first: the one with the largest number. */
  firstSide() {
    if (this.what !== "accuracy" || this.sides.length < 2) return this.sides[0];
    const worst = this.sides.map((side) => this.numbers(side, this.firstField()).reduce((most, value) => (value > most ? value : most), 0));
    return this.sides[worst.indexOf(Math.max(...worst))];
  }

  field(name) {
    return this.fields.find((field) => field.name === name) || { name, unit: "", scale: "linear", description: "" };
  }

  /** One number an item, also for groups: sums of times, else the largest. @param {string} side @param {string} name */
  numbers(side, name) {
    const key = `${side}/${name}`;
    let values = this.columnCache.get(key);
    if (!values && name === "ratio" && !this.container.has(key)) this.columnCache.set(key, (values = this.ratios()));
    if (!values) this.columnCache.set(key, (values = this.spreadOut(key, SUMMED.some((word) => name.includes(word)))));
    return values;
  }

  /** Times of the first side over those of the second. */
  ratios() {
    const [left, right] = this.sides.map((side) => this.numbers(side, "time"));
    return left.map((time, i) => time / right[i]);
  }

  spreadOut(key, summed) {
    const { scene } = this;
    const values = new Float64Array(scene.count).fill(NaN);
    const given = this.container.has(key) ? this.container.column(key, "f32") : this.container.column(key.replace(/^\//, ""), "f32");
    if (given.length === scene.count) values.set(given);
    else {
      let entry = 0;
      for (let i = 0; i < scene.count && entry < given.length; i++) if (scene.kind[i] === 1) values[i] = given[entry++];
    }
    for (let i = scene.count - 1; i > 0; i--) {
      const parent = scene.parent[i];
      if (parent >= scene.count || Number.isNaN(values[i])) continue;
      if (Number.isNaN(values[parent])) values[parent] = values[i];
      else values[parent] = summed ? values[parent] + values[i] : Math.max(values[parent], values[i]);
    }
    return values;
  }

  /** One number a value; null where there are none. */
  valueNumbers(side, name) {
    const key = `${side}/${name}@value`;
    return this.container.has(key) ? this.container.column(key, "f32") : null;
  }

  /** The scale of a field, one for all sides. @returns {Scale} */
  scale(name) {
    const key = "scale " + name;
    if (!this.columnCache.has(key)) this.columnCache.set(key, this.makeScale(name));
    return this.columnCache.get(key);
  }

  makeScale(name) {
    const field = this.field(name);
    if (field.scale === "diverging" || TURNING.includes(name)) return name === "ratio" ? new Scale("diverging", 0.1, 10) : new Scale("diverging", 0.01, 100);
    let low = Infinity;
    let high = 0;
    for (const side of this.sides) {
      const values = this.numbers(side, name);
      for (let i = 1; i < values.length; i++) {
        if (this.scene.isGroup(i) || !(values[i] > 0) || values[i] === Infinity) continue;
        low = Math.min(low, values[i]);
        high = Math.max(high, values[i]);
      }
    }
    if (!(high > 0)) return new Scale("linear", 0, 1);
    if (field.scale === "log") return new Scale("log", Math.max(low, high * 1e-6), high > low ? high : low * 10);
    return new Scale("linear", 0, high);
  }

  /** Items of a layer of the plan or of nodes that were judged together. @param {number} group @returns {number[]} */
  membersOf(group) {
    if (this.container.has("group.start")) {
      const start = this.container.column("group.start")[group];
      return [...this.container.column("member.item").subarray(start, start + this.container.column("group.count")[group])];
    }
    return this.groups[group].items || [];
  }

  /** Layers that hold an item. @param {number} item @returns {number[]} */
  layersOf(item) {
    if (!this.memberLists) {
      this.memberLists = new Map();
      this.groups.forEach((_, group) => {
        for (const member of this.membersOf(group)) {
          if (!this.memberLists.has(member)) this.memberLists.set(member, []);
          this.memberLists.get(member).push(group);
        }
      });
    }
    return this.memberLists.get(item) || [];
  }

  /** Rows of the table that name an item. @param {number} item */
  rowsOf(item) {
    if (!this.rowLists) {
      this.rowLists = new Map();
      this.table.forEach((row, i) => {
        for (const named of row.items || []) this.rowLists.set(named, [...(this.rowLists.get(named) || []), i]);
      });
    }
    return (this.rowLists.get(item) || []).map((i) => this.table[i]);
  }

  notesOf(item) {
    return this.notes.filter((note) => note.item === item);
  }

  /** Items whose row, layer or finding has a text that fits. @param {string} name @param {(text: string) => boolean} fits */
  itemsWith(name, fits) {
    const found = [];
    if (name === "finding") for (const note of this.notes) if (fits(`${note.severity || ""} ${note.code || ""} ${note.text || ""}`)) found.push(note.item);
    if (name === "layer") this.groups.forEach((group, i) => fits(group.label || "") && found.push(...this.membersOf(i)));
    const keys = name === "changed" ? ["kind", "facts", "changes"] : [name];
    if (name === "finding") return found;
    for (const row of this.table) if (keys.some((key) => row[key] !== undefined && fits(String(row[key])))) found.push(...(row.items || []));
    return found;
  }

  /** Spans of the timeline, by lanes. */
  timeline() {
    if (!this.spans) {
      const { container } = this;
      const lane = container.column("span.lane", "u16");
      this.spans = { lane, start: container.column("span.start", "f64"), length: container.column("span.length", "f64"),
        item: container.column("span.item"), text: container.text("span"), count: lane.length,
        lanes: this.facts.lanes || [...new Set(lane)].map((number) => this.sides[number] || `lane ${number}`) };
    }
    return this.spans;
  }
}
