// The panel at the right: the model, a node or a group, a value.

import { button, commandLine, el, fill } from "./dom.js";
import { reach } from "./follow.js";
import { signColor, signOf } from "./judgement.js";
import { formatBytes, formatCount, formatNumber, formatUnit } from "./numbers.js";
import { printable, shortened } from "./columns.js";
import { NONE } from "./scene.js";
import { ValueView } from "./values.js";

export class Panel {
  /** @param {HTMLElement} element @param {import("./app.js").App} app */
  constructor(element, app) {
    this.element = element;
    this.app = app;
    this.turn = 0;
  }

  /** Shows the selection. */
  show() {
    const turn = ++this.turn;
    const { selection } = this.app;
    const still = () => turn === this.turn;
    if (!selection) this.model();
    else if (selection.kind === "value") new ValueView(this.element, this.app, selection, still).show();
    else this.item(selection, still);
  }

  facts(...pairs) {
    const rows = pairs.filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== "–");
    return el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  section(title, ...children) {
    const kept = children.filter(Boolean);
    return kept.length ? el("section", {}, el("h3", {}, title), ...kept) : null;
  }

  model() {
    const { app } = this;
    const { scene } = app.stage;
    const { facts } = scene;
    const ports = (list) => el("ul", { class: "ports" }, ...(list || []).slice(0, 40).map((port) => el("li", {}, el("b", {}, printable(shortened(port.name, 80))), " ", el("span", { class: "soft" }, printable(`${port.type ?? ""}${port.shape && !String(port.type ?? "").includes("[") ? "[" + port.shape + "]" : ""}`)))));
    fill(this.element, el("h2", {}, printable(facts.subject_title || facts.model || scene.title)),
      this.facts(["File", facts.file], ["Producer", facts.producer], ["Opset", facts.opset], ["IR version", facts.ir_version], ["Nodes", formatCount(facts.nodes ?? scene.ordered().length)],
        ["MACs", formatCount(total(scene, scene.macs))], ["Parameters", formatCount(total(scene, scene.params))]),
      this.section("Inputs", ports(facts.inputs)), this.section("Outputs", ports(facts.outputs)),
      this.section("Operators", this.operators(scene)),
      ...app.overlays.filter((overlay) => overlay.scene === scene).map((overlay) => this.overlaySummary(overlay)),
      app.subject.command ? this.section("This page", commandLine(app.subject.command)) : null,
      app.tasks.section());
  }

  operators(scene) {
    const counts = new Uint32Array(0x10000);
    for (let i = 1; i < scene.count; i++) if (!scene.isGroup(i)) counts[scene.op[i]]++;
    const sorted = scene.operators.map((name, id) => [name, counts[id]]).filter(([, count]) => count).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 30);
    return el("div", { class: "chips" }, ...sorted.map(([name, count]) => button(`${name} ${count}`, () => this.app.header.searchFor(`op:${name}`), { class: "chip", title: "Search them" })));
  }

  /** The verdict of an overlay: guilty layer, cause, remedy. */
  overlaySummary(overlay) {
    const { facts } = overlay;
    const parts = [];
    if (overlay.fields.some((field) => field.name === "excess")) parts.push(this.guilty(overlay));
    if (facts.verdict) parts.push(el("p", {}, printable(facts.verdict)));
    if (overlay.notes.length) parts.push(el("p", {}, `${overlay.notes.length} finding${overlay.notes.length === 1 ? "" : "s"}`));
    if (overlay.what === "difference") parts.push(el("p", {}, changeCounts(overlay)));
    if (facts.cause) parts.push(el("p", {}, printable(facts.cause)));
    for (const row of facts.header || []) parts.push(el("p", {}, printable(row)));
    if (facts.command) parts.push(commandLine(printable(facts.command)));
    return this.section(overlay.title, ...parts, overlay.origin ? el("p", { class: "soft" }, printable(overlay.origin)) : null);
  }

  guilty(overlay) {
    const { scene } = overlay;
    const lines = overlay.sides.map((side) => {
      const excess = overlay.numbers(side, "excess");
      const first = scene.ordered().find((item) => excess[item] > 1);
      if (first === undefined) return el("p", {}, side ? `${side}: ` : "", "no layer introduces more than may be");
      return el("p", {}, side ? `${side}: ` : "", "first guilty layer ", button(scene.name(first) || scene.label(first), () => this.app.choose(first, this.stageOf(scene)), { class: "link" }), ` (${formatNumber(excess[first], 3)} times what may be)`);
    });
    return el("div", {}, ...lines);
  }

  stageOf(scene) {
    return this.app.stages.find((stage) => stage.scene === scene);
  }

  async item({ stage, id }, still) {
    const { scene } = stage;
    const group = scene.isGroup(id);
    const head = [el("h2", {}, scene.operator(id) || scene.label(id)), el("p", { class: "name" }, group ? scene.path(id) : scene.name(id)), this.actions(stage, id)];
    const body = el("div", {});
    fill(this.element, ...head, ...this.overlayParts(stage, id), this.ownFacts(stage, id), body, this.flow(stage, id));
    if (group && !scene.operator(id)) return;
    try {
      const facts = await this.source(scene, id);
      if (still() && facts) fill(body, ...this.nodeFacts(stage, facts));
    } catch (error) {
      if (still()) fill(body, el("p", { class: "soft" }, `Facts could not be read: ${error.message}`));
    }
  }

  /** Facts of an item; in a union of two models, from the model that has it. */
  source(scene, id) {
    const at = scene.reference ? scene.reference(id) : { scene: scene.number, item: id };
    return at ? this.app.source.node(at.scene, at.item) : null;
  }

  actions(stage, id) {
    const { app } = this;
    const { scene } = stage;
    const list = [];
    if (scene.isOpenable(id)) list.push(button(stage.places.open[id] ? "Close" : "Open", () => app.toggle(stage, id)));
    list.push(button("Before", () => this.isolateReach(false), { title: "Isolate everything that this depends on (u)" }), button("After", () => this.isolateReach(true), { title: "Isolate everything that depends on this (d)" }));
    const marked = [...stage.look.marked][0];
    list.push(button(stage.look.marked.has(id) ? "Unmark" : "Mark", () => {
      if (!stage.look.marked.delete(id)) stage.look.marked.add(id);
      this.show();
      app.request();
    }));
    if (marked !== undefined && marked !== id) list.push(button("Path from the mark", () => app.showPath()));
    if (scene.repeat[id] !== NONE) list.push(button("Repeats", () => app.header.searchFor(`same("${scene.name(id)}")`)));
    if (stage.look.fades) list.push(button("Show all", () => app.clearEmphasis()));
    return el("div", { class: "actions" }, ...list);
  }

  /** Isolates all that lies before or after the selection. */
  isolateReach(forward) {
    const { selection, stage } = this.app;
    if (!selection || selection.kind !== "item") return;
    const { scene } = stage;
    const mask = new Uint8Array(scene.count);
    mask[selection.id] = 1;
    for (let i = 1; i < scene.count; i++) if (scene.parent[i] < scene.count && scene.parent[i] !== 0 && mask[scene.parent[i]]) mask[i] = 1;
    const found = reach(scene, mask, forward);
    stage.look.isolate(found);
    this.app.say(`${found.reduce((sum, seen) => sum + seen, 0) - 1} nodes ${forward ? "after" : "before"}`);
    this.show();
    this.app.request();
  }

  ownFacts(stage, id) {
    const { scene } = stage;
    const rows = [["Order", scene.order[id] === NONE ? "" : scene.isGroup(id) ? `${scene.order[id]} to ${scene.last[id]}` : String(scene.order[id])],
      ["Nodes", scene.isGroup(id) ? formatCount(stage.nodesIn(id)) : ""], ["MACs", formatCount(scene.macs[id])], ["Parameters", formatCount(scene.params[id])], ["Bytes of outputs", formatBytes(scene.bytes[id])],
      ["In", scene.isGroup(id) ? "" : scene.path(id)]];
    return this.facts(...rows);
  }

  overlayParts(stage, id) {
    return this.app.overlays.filter((overlay) => overlay.scene === stage.scene).map((overlay) => this.overlayPart(overlay, id));
  }

  overlayPart(overlay, id) {
    const parts = [this.sideTable(overlay, id)];
    for (const layer of overlay.layersOf(id)) parts.push(this.layerPart(overlay, layer, id));
    for (const row of overlay.rowsOf(id).slice(0, 5)) parts.push(this.rowFacts(row));
    for (const note of overlay.notesOf(id)) parts.push(this.note(note));
    return this.section(overlay.title, ...parts);
  }

  /** The numbers of an item: a row for each field, a column for each side. */
  sideTable(overlay, id) {
    const seen = overlay.fields.filter((field) => overlay.sides.some((side) => !Number.isNaN(overlay.numbers(side, field.name)[id])));
    if (!seen.length) return overlay.fields.length ? el("p", { class: "soft" }, "not observed") : null;
    const head = overlay.sides.length > 1 ? el("tr", {}, el("th", {}, ""), ...overlay.sides.map((side) => el("th", { scope: "col" }, side))) : null;
    const rows = seen.map((field) => el("tr", {}, el("th", { scope: "row", title: field.description || "" }, field.name), ...overlay.sides.map((side) => {
      const value = overlay.numbers(side, field.name)[id];
      const cell = el("td", { class: "number" }, formatUnit(value, field.unit));
      if (field.name === this.app.field && !Number.isNaN(value)) cell.append(swatch(overlay.scale(field.name).color(value)));
      return cell;
    })));
    return el("table", { class: "sides" }, ...(head ? [el("thead", {}, head)] : []), el("tbody", {}, ...rows));
  }

  layerPart(overlay, layer, id) {
    const group = overlay.groups[layer];
    const others = overlay.membersOf(layer).filter((member) => member !== id);
    const line = el("p", {}, el("b", {}, printable(group.label || `layer ${layer}`)), group.state ? ` (${printable(group.state)})` : "");
    if (!others.length) return line;
    return el("div", {}, line, el("p", { class: "soft" }, "together with "), el("div", { class: "chips" }, ...others.slice(0, 12).map((member) => this.itemButton(overlay.scene, member))));
  }

  itemButton(scene, item) {
    return button(scene.name(item) || scene.label(item), () => this.app.choose(item, this.stageOf(scene)), { class: "chip" });
  }

  rowFacts(row) {
    const plain = Object.entries(row).filter(([key, value]) => key !== "items" && value !== undefined && value !== "" && (typeof value !== "object" || Array.isArray(value)));
    return this.facts(...plain.map(([key, value]) => [key.replaceAll("_", " "), printable(Array.isArray(value) ? value.map((entry) => (typeof entry === "object" ? Object.values(entry).join(" ") : entry)).join(", ") : typeof value === "number" ? formatNumber(value) : String(value))]));
  }

  note(note) {
    const word = note.severity || "warning";
    const sign = el("span", { class: "sign" }, signOf(word) + " ");
    sign.style.color = signColor(word);
    return el("div", { class: "note" }, el("p", {}, sign, printable(note.text || "")), note.command ? commandLine(printable(note.command)) : null);
  }

  nodeFacts(stage, facts) {
    const { scene } = stage;
    const attributes = (facts.attributes || []).map((entry) => el("tr", {}, el("th", { scope: "row" }, printable(entry.name)), el("td", {}, printable(shortened(typeof entry.value === "object" ? JSON.stringify(entry.value) : String(entry.value), 300)))));
    const metadata = Object.entries(facts.metadata || {}).map(([key, value]) => [printable(key), printable(shortened(String(value), 300))]);
    return [
      this.facts(["Domain", facts.domain && facts.domain !== "ai.onnx" ? printable(facts.domain) : ""], ["Origins", (facts.origins || []).slice(0, 8).map((origin) => printable(String(origin))).join(", ")]),
      this.section("Attributes", attributes.length ? el("table", { class: "sides" }, el("tbody", {}, ...attributes)) : null),
      this.section("Inputs", this.values(scene, stage, facts.inputs)), this.section("Outputs", this.values(scene, stage, facts.outputs)),
      this.section("Metadata", metadata.length ? this.facts(...metadata) : null),
      facts.doc ? this.section("Documentation", el("p", { class: "doc" }, printable(shortened(facts.doc, 4000)))) : null,
      facts.source ? el("p", { class: "soft" }, printable(shortened(facts.source, 300))) : null,
    ];
  }

  values(scene, stage, list) {
    if (!list || !list.length) return null;
    return el("div", { class: "values" }, ...list.map((entry) => el("button", { type: "button", class: "entry", onclick: () => this.app.select({ kind: "value", stage, id: entry.value, name: entry.name, type: entry.type }), disabled: entry.value === undefined || entry.value === null || entry.value === NONE },
      el("span", { class: "entry-text" }, (entry.constant ? "◦ " : "") + printable(shortened(entry.name || "—", 120))), el("span", { class: "soft" }, printable(entry.type || "")))));
  }

  /** Producers and consumers, to go on to. */
  flow(stage, id) {
    const { scene } = stage;
    if (scene.isGroup(id)) return null;
    const list = (title, items) => (items.length ? this.section(title, el("div", { class: "chips" }, ...items.slice(0, 24).map((item) => this.itemButton(scene, item)))) : null);
    return el("div", {}, list("Comes from", scene.neighbours(id, false)), list("Goes to", scene.neighbours(id, true)));
  }
}

function swatch(color) {
  const mark = el("span", { class: "swatch", "aria-hidden": "true" });
  mark.style.background = color;
  return mark;
}

function total(scene, column) {
  let sum = 0;
  for (const item of scene.ordered()) if (column[item] > 0) sum += column[item];
  return sum || NaN;
}

function changeCounts(overlay) {
  const counts = {};
  for (const row of overlay.table) counts[row.kind] = (counts[row.kind] || 0) + 1;
  return Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ") || "no change";
}
