// Evaluates queries over the columns of a scene and its overlays.

import { between, nodesWithin, reach } from "./follow.js";
import { globExpression, parseQuery, QueryError } from "./query.js";
import { FLAG, KIND, NONE } from "./scene.js";

const TYPE = /^([a-z0-9_]+)?\s*(?:\[(.*)\])?$/i;

export class Search {
  /** @param {import("./scene.js").Scene} scene @param {any} source @param {() => import("./overlay.js").Overlay[]} overlays */
  constructor(scene, source, overlays) {
    this.scene = scene;
    this.source = source;
    this.overlays = overlays;
    this.asked = new Map();
  }

  /** The items that fit, in execution order. @param {string} text @returns {Promise<{mask: Uint8Array, items: Uint32Array}|null>} */
  async find(text) {
    const query = parseQuery(text);
    if (!query) return null;
    const waiting = [];
    this.prepare(query, waiting);
    if (waiting.length) await Promise.all(waiting);
    this.side = "";
    const mask = this.mask(query);
    const items = this.scene.ordered().filter((item) => mask[item]);
    return { mask, items };
  }

  /** Asks for columns that are not there yet. */
  prepare(query, waiting) {
    for (const part of query.parts || []) if (typeof part === "object") this.prepare(part, waiting);
    if (query.part) this.prepare(query.part, waiting);
    if (query.kind !== "field" || query.name !== "attr") return;
    const wanted = query.text;
    if (this.asked.has(wanted)) return;
    waiting.push(this.source.search(this.scene.number, wanted).then(
      (reply) => this.asked.set(wanted, reply.items || []),
      (error) => {
        throw new QueryError(`the program did not answer: ${error.message}`, query.at, query.text.length);
      }));
  }

  empty() {
    return new Uint8Array(this.scene.count);
  }

  mask(query) {
    switch (query.kind) {
      case "and":
        return this.both(query.parts.map((part) => this.mask(part)));
      case "or":
        return query.parts.map((part) => this.mask(part)).reduce((a, b) => a.map((seen, i) => seen | b[i]));
      case "not":
        return this.nodes(this.mask(query.part), 0);
      case "call":
        return this.call(query);
      case "number":
        return this.numbers(query);
      case "shape":
        return this.byType((type) => shapeFits(type, query.dims));
      case "field":
        return this.field(query);
      default:
        return this.word(query);
    }
  }

  both(masks) {
    const [first, ...rest] = masks;
    for (const mask of rest) for (let i = 0; i < first.length; i++) first[i] &= mask[i];
    return first;
  }

  /** Items that are no groups and whose entry is `wanted`. */
  nodes(mask, wanted) {
    const found = this.scene.leaves().slice();
    for (let i = 0; i < found.length; i++) if (mask[i] !== wanted) found[i] = 0;
    return found;
  }

  call(query) {
    const masks = query.parts.map((part) => (typeof part === "object" ? nodesWithin(this.scene, this.mask(part)) : null));
    switch (query.name) {
      case "up":
        return reach(this.scene, masks[0], false, query.parts[1] || Infinity);
      case "down":
        return reach(this.scene, masks[0], true, query.parts[1] || Infinity);
      case "path":
        return between(this.scene, masks[0], masks[1]);
      default:
        return this.repeatsOf(masks[0]);
    }
  }

  repeatsOf(mask) {
    const { scene } = this;
    const classes = new Set();
    for (let i = 0; i < scene.count; i++) {
      if (!mask[i]) continue;
      for (let at = i; at !== NONE && at !== 0; at = scene.parent[at]) if (scene.repeat[at] !== NONE) classes.add(scene.repeat[at]);
    }
    const within = this.empty();
    for (let i = 0; i < scene.count; i++) within[i] = classes.has(scene.repeat[i]) ? 1 : 0;
    return this.both([nodesWithin(scene, within), this.operatorsOf(mask)]);
  }

  operatorsOf(mask) {
    const { scene } = this;
    const operators = new Set();
    for (let i = 0; i < scene.count; i++) if (mask[i]) operators.add(scene.op[i]);
    return this.nodes(Uint8Array.from({ length: scene.count }, (_, i) => (operators.has(scene.op[i]) ? 1 : 0)), 1);
  }

  word(query) {
    const mask = this.names(query);
    const fits = this.scene.operators.map((name) => textFits(query, name));
    for (let i = 1; i < mask.length; i++) if (!mask[i] && fits[this.scene.op[i]]) mask[i] = 1;
    return this.nodes(mask, 1);
  }

  names(query) {
    const mask = this.empty();
    const { names } = this.scene;
    if (query.regex) for (let i = 0; i < mask.length; i++) mask[i] = textFits(query, names.at(i)) ? 1 : 0;
    else if (query.exact) for (let i = 0; i < mask.length; i++) mask[i] = names.at(i).toLowerCase() === query.text.toLowerCase() ? 1 : 0;
    else names.search(query.text, (i) => (mask[i] = 1));
    return mask;
  }

  field(query) {
    const { scene } = this;
    switch (query.name) {
      case "op":
        return this.byOperator(query);
      case "name":
        return this.nodes(this.names(query), 1);
      case "in":
        return this.byValueNames(query, true);
      case "out":
        return this.byValueNames(query, false);
      case "dtype":
        return this.byType((type) => textFits({ ...query, exact: true }, (TYPE.exec(type) || [])[1] || ""));
      case "scope":
        return this.scope(query);
      case "has":
        return this.having(query);
      case "attr":
        return this.listed(this.asked.get(query.text) || []);
      case "domain":
        return this.byOperators((name) => textFits(query, name.includes("::") ? name.slice(0, name.indexOf("::")) : "ai.onnx"));
      case "side":
        this.side = query.text;
        return this.nodes(this.empty(), 0);
      default:
        return this.listed(this.overlays().flatMap((overlay) => (overlay.scene === scene ? overlay.itemsWith(query.name, (text) => textFits(query, text)) : [])));
    }
  }

  byOperator(query) {
    const plain = query.regex || query.exact ? query : { ...query, regex: globExpression(query.text) };
    return this.byOperators((name) => textFits(plain, name) || textFits(plain, name.split("::").pop()));
  }

  byOperators(fitting) {
    const { op, operators } = this.scene;
    const fits = operators.map(fitting);
    const mask = this.empty();
    for (let i = 0; i < mask.length; i++) if (fits[op[i]]) mask[i] = 1;
    return this.nodes(mask, 1);
  }

  listed(items) {
    const mask = this.empty();
    for (const item of items) if (item < mask.length) mask[item] = 1;
    return mask;
  }

  byValueNames(query, inputs) {
    const { scene } = this;
    const fits = new Uint8Array(scene.values);
    if (query.regex || query.exact) for (let v = 0; v < scene.values; v++) fits[v] = textFits(query, scene.valueNames.at(v)) ? 1 : 0;
    else scene.valueNames.search(query.text, (v) => (fits[v] = 1));
    return this.byValues(fits, inputs, !inputs);
  }

  byType(fits) {
    const { scene } = this;
    const known = Uint8Array.from({ length: scene.types.count }, (_, id) => (fits(scene.types.at(id)) ? 1 : 0));
    return this.byValues(Uint8Array.from(scene.typeIds, (id) => known[id]), true, true);
  }

  byValues(fits, inputs, outputs) {
    const { scene } = this;
    const mask = this.empty();
    if (inputs) for (let u = 0; u < scene.useNode.length; u++) if (fits[scene.useValue[u]]) mask[scene.useNode[u]] = 1;
    if (outputs) for (let v = 0; v < scene.values; v++) if (fits[v] && scene.producer[v] !== NONE) mask[scene.producer[v]] = 1;
    return mask;
  }

  /** Nodes within groups whose way from the whole model holds the text. */
  scope(query) {
    const { scene } = this;
    const paths = new Map([[0, ""]]);
    const inside = this.empty();
    for (let i = 1; i < scene.count; i++) {
      if (!scene.isGroup(i)) continue;
      const parent = scene.parent[i];
      paths.set(i, ((paths.get(parent) || "") + "." + scene.name(i)).replace(/^\./, ""));
      inside[i] = inside[parent] || textFits(query, paths.get(i)) || textFits(query, scene.name(i)) ? 1 : 0;
    }
    return nodesWithin(scene, inside);
  }

  having(query) {
    const { scene } = this;
    const flags = { body: FLAG.bodies, bodies: FLAG.bodies, shape: FLAG.shapes, constant: FLAG.constants, const: FLAG.constants, repeat: FLAG.repeated };
    const flag = flags[query.text.toLowerCase()];
    if (!flag) throw new QueryError(`has: knows ${Object.keys(flags).join(", ")}`, query.at, query.text.length + 4);
    return this.nodes(Uint8Array.from(scene.flags, (flagsOf) => (flagsOf & flag ? 1 : 0)), 1);
  }

  numbers(query) {
    const { scene } = this;
    if (query.name === "rank") return this.byType((type) => compared(rankOf(type), query));
    const known = { macs: scene.macs, params: scene.params, bytes: scene.bytes, order: scene.order };
    const values = known[query.name] || this.overlayNumbers(query.name);
    if (!values) throw new QueryError(`no numbers are called "${query.name}"`, query.at, query.name.length);
    let total = 1;
    if (query.share) {
      total = 0;
      for (let i = 1; i < scene.count; i++) if (!scene.isGroup(i) && !Number.isNaN(values[i])) total += values[i];
    }
    const mask = this.empty();
    for (let i = 1; i < scene.count; i++) if (!scene.isGroup(i) && compared(values[i] / total, query)) mask[i] = 1;
    return mask;
  }

  overlayNumbers(name) {
    for (const overlay of this.overlays()) {
      if (overlay.scene !== this.scene) continue;
      const field = overlay.fields.find((candidate) => candidate.name.toLowerCase() === name);
      const sides = this.side ? overlay.sides.filter((side) => side === this.side) : overlay.sides;
      if (field && sides.length) return largest(sides.map((side) => overlay.numbers(side, field.name)));
    }
    return null;
  }
}

function largest(columns) {
  if (columns.length === 1) return columns[0];
  return columns[0].map((_, i) => columns.reduce((most, column) => (Number.isNaN(most) || column[i] > most ? column[i] : most), NaN));
}

function compared(value, { operation, value: wanted }) {
  switch (operation) {
    case "<": return value < wanted;
    case "<=": return value <= wanted;
    case ">": return value > wanted;
    case ">=": return value >= wanted;
    default: return value === wanted;
  }
}

function textFits(query, text) {
  if (query.regex) return query.regex.test(text);
  return query.exact ? text.toLowerCase() === query.text.toLowerCase() : text.toLowerCase().includes(query.text.toLowerCase());
}

/** Dims of a type's text; null where they are not known. */
export function dimsOf(type) {
  const found = TYPE.exec(type);
  if (!found || found[2] === undefined) return null;
  return found[2].trim() === "" ? [] : found[2].split(",").map((dim) => dim.trim());
}

function rankOf(type) {
  const dims = dimsOf(type);
  return dims ? dims.length : NaN;
}

function shapeFits(type, wanted) {
  const dims = dimsOf(type);
  return dims !== null && dims.length === wanted.length && wanted.every((dim, i) => dim === "*" || dim === dims[i]);
}
