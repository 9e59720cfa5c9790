// The page as a whole: what is shown, selected, found, and who is told of it.

import { badgesOf, classesOf, edgeStyleOf, outlinesOf } from "./judgement.js";
import { byId, el, fill, frame } from "./dom.js";
import { Dock } from "./dock.js";
import { addUnion } from "./difference.js";
import { shortestPath } from "./follow.js";
import { Graph } from "./graph.js";
import { Header } from "./header.js";
import { listenToKeys } from "./keys.js";
import { Link } from "./link.js";
import { Lists } from "./lists.js";
import { formatUnit } from "./numbers.js";
import { Overlay } from "./overlay.js";
import { Panel } from "./panel.js";
import { Ribbon } from "./ribbon.js";
import { NONE, Scene } from "./scene.js";
import { Search } from "./search.js";
import { openSource } from "./source.js";
import { Stage } from "./stage.js";
import { Steps, takeSteps } from "./steps.js";
import { Tasks } from "./tasks.js";
import { onTheme, startTheme, theme } from "./theme.js";
import { Tree } from "./tree.js";

/** @typedef {{kind: "item"|"value", stage: Stage, id: number}} Selection */

export class App {
  constructor() {
    this.source = openSource();
    this.stages = [];
    this.stage = null;
    this.sideBySide = false;
    this.overlays = [];
    this.overlayId = "";
    this.side = "";
    this.field = "";
    /** @type {Selection|null} */
    this.selection = null;
    this.hits = null;
    this.hitText = "";
    this.problems = [];
    this.pictured = 0;
  }

  async start() {
    startTheme();
    this.subject = await this.source.subject();
    const containers = await Promise.all(this.subject.scenes.map((_, i) => this.source.scene(i)));
    for (const [i, container] of containers.entries()) {
      this.stages.push(new Stage(new Scene(container, i, this.subject.scenes[i]), () => this.request()));
    }
    this.stage = this.stages[0];
    for (const stage of this.stages) stage.search = new Search(stage.scene, this.source, () => this.overlays);
    this.graph = new Graph(byId("graph"), this);
    this.ribbon = new Ribbon(byId("ribbon"), this);
    this.tree = new Tree(byId("tree"), this);
    this.lists = new Lists(this);
    this.panel = new Panel(byId("panel"), this);
    this.dock = new Dock(this);
    this.link = new Link(this);
    this.tasks = new Tasks(this);
    this.steps = new Steps(this);
    this.header = new Header(this);
    await this.showFirst();
    await this.loadOverlays();
    listenToKeys(this);
    onTheme(() => this.recolor());
    new ResizeObserver(() => this.request()).observe(byId("graph"));
    this.header.refresh();
    this.tree.refresh();
    this.recolor();
    await this.link.restore(location.hash);
    this.panel.show();
    this.link.ready = true;
    this.tasks.listen();
  }

  /** Draws the graph before what is around it is filled; `pictured` is when it could be seen. */
  async showFirst() {
    this.graph.layout();
    for (const stage of this.stages) {
      stage.openFirst();
      stage.firstView();
    }
    this.graph.draw();
    await frame();
    this.pictured = performance.now();
  }

  /** Gets all overlays; one that is damaged is named, the rest is shown. */
  async loadOverlays() {
    for (const entry of this.subject.overlays || []) await this.loadOverlay(entry);
    addUnion(this);
    const first = this.overlays.find((overlay) => overlay.fields.length || overlay.groups.length || overlay.table.length);
    if (first) this.useOverlay(first.id);
    const difference = this.overlays.find((overlay) => overlay.what === "difference");
    const union = this.stages.find((stage) => stage.scene.union);
    if (difference && union) this.showStage(union);
    this.steps.refresh();
  }

  async loadOverlay(entry) {
    try {
      const container = await this.source.overlay(entry.id);
      const stage = this.stages[container.head.scene || 0] || this.stages[0];
      const overlay = new Overlay(container, stage.scene, String(entry.id));
      if (!container.head.title) overlay.title = entry.title;
      if (!overlay.what) overlay.what = entry.what;
      if (takeSteps(overlay)) return;
      this.overlays = [...this.overlays.filter((other) => other.id !== overlay.id), overlay];
    } catch (error) {
      this.banner(`${entry.title}: ${error.message}`);
    }
  }

  /** The overlay, side and field whose colours are shown. */
  active() {
    const overlay = this.overlays.find((candidate) => candidate.id === this.overlayId) || null;
    return { overlay, side: this.side, field: this.field };
  }

  useOverlay(id, side, field) {
    const overlay = this.overlays.find((candidate) => candidate.id === id);
    this.overlayId = overlay ? id : "";
    this.side = overlay ? (overlay.sides.includes(side) ? side : overlay.firstSide()) : "";
    this.field = overlay ? (overlay.fields.some((candidate) => candidate.name === field) ? field : overlay.firstField()) : "";
    this.recolor();
    this.header.refresh();
    this.dock.refresh();
    this.lists.refresh();
    this.panel.show();
    this.link.save();
  }

  /** Gives all items the colours of the moment. */
  recolor() {
    const { overlay: chosen, side, field } = this.active();
    for (const stage of this.stages) {
      const { look } = stage;
      const overlay = chosen && (chosen.scene === stage.scene ? chosen : this.overlays.find((other) => other.scene === stage.scene && other.what === chosen.what));
      look.plain();
      look.outlines = null;
      look.badges = badgesOf(stage.scene, this.overlays);
      if (!overlay) continue;
      if (overlay.groups.length) look.outlines = outlinesOf(overlay, this);
      const classes = classesOf(overlay);
      if (field && overlay.fields.length) this.colorByField(look, overlay, side, field);
      else if (classes) look.byClasses(classes, overlay.what === "difference");
    }
    this.request();
  }

  colorByField(look, overlay, side, field) {
    const values = overlay.numbers(side, field);
    const scale = overlay.scale(field);
    const { unit } = overlay.field(field);
    look.byNumbers(values, scale);
    look.numberOf = (item) => (Number.isNaN(values[item]) ? "" : formatUnit(values[item], unit));
    if (overlay.sides.length > 1) {
      const columns = overlay.sides.map((name) => overlay.numbers(name, field));
      look.cellsOf = (item) => columns.map((column) => (Number.isNaN(column[item]) ? theme.colors.ground : scale.color(column[item])));
    }
    look.edgeStyle = edgeStyleOf(overlay, side, scale);
  }

  request() {
    if (this.graph) this.graph.request();
  }

  /** Stages that share the canvas. */
  shownStages() {
    if (this.sideBySide && this.stages.length > 1) return [this.stages[0], this.stages[1]];
    return [this.stage];
  }

  showStage(stage) {
    this.stage = stage;
    this.sideBySide = false;
    if (this.selection && this.selection.stage !== stage) this.selection = null;
    this.afterStage();
  }

  showSideBySide() {
    this.sideBySide = true;
    this.stage = this.stages[0];
    this.afterStage();
  }

  afterStage() {
    this.hits = null;
    this.header.refresh();
    this.tree.refresh();
    this.lists.refresh();
    this.panel.show();
    this.dock.refresh();
    this.steps.refresh();
    this.graph.layout();
    for (const stage of this.shownStages()) if (!stage.viewed) stage.firstView();
    for (const stage of this.shownStages()) stage.viewed = true;
    this.request();
    this.link.save();
  }

  /** @param {Selection|null} selection @param {{reveal?: boolean, push?: boolean}} [options] */
  select(selection, { reveal = true, push = true } = {}) {
    const same = selection && this.selection && selection.kind === this.selection.kind && selection.id === this.selection.id && selection.stage === this.selection.stage;
    this.selection = selection;
    for (const stage of this.stages) {
      stage.look.selected = 0;
      stage.look.selectedValue = -1;
    }
    if (selection) {
      const { stage, id, kind } = selection;
      if (!this.sideBySide) this.stage = stage;
      if (kind === "value") stage.look.selectedValue = id;
      else stage.look.selected = id;
      if (reveal && kind === "item") stage.reveal(id);
      this.selectPair(selection);
    }
    if (reveal) this.tree.refresh();
    this.tree.follow();
    this.panel.show();
    this.dock.selected();
    this.say(selection ? this.described(selection) : "nothing selected");
    this.request();
    if (!same) this.link.save(push);
  }

  choose(item, stage = this.stage) {
    this.select({ kind: "item", stage, id: item });
  }

  /** The selected item of the shown scene; 0 if there is none. */
  chosen() {
    const { selection, stage } = this;
    return selection && selection.kind === "item" && selection.stage === stage ? selection.id : 0;
  }

  /** The counterpart in another model is selected as well. */
  selectPair({ stage, id, kind }) {
    if (kind !== "item" || !stage.scene.pairs || !this.sideBySide) return;
    const other = this.stages.find((candidate) => candidate !== stage && this.shownStages().includes(candidate));
    const pair = stage.scene.pairs.get(id);
    if (!other || pair === undefined) return;
    other.look.selected = pair;
    other.reveal(pair);
  }

  described({ stage, kind, id }) {
    const { scene } = stage;
    if (kind === "value") return id < scene.values ? `value ${scene.valueNames.at(id)} ${scene.typeOf(id)}` : `constant ${this.selection.name}`;
    const { overlay, side, field } = this.active();
    const words = [scene.operator(id), scene.name(id) || scene.label(id)].filter(Boolean);
    if (scene.isGroup(id)) words.unshift("group");
    if (scene.isOpenable(id)) words.push(stage.places.open[id] ? "open" : "closed");
    if (overlay && overlay.scene === scene && field) words.push(`${field} ${formatUnit(overlay.numbers(side, field)[id], overlay.field(field).unit)}`);
    return words.join(", ");
  }

  say(text) {
    byId("live").textContent = text;
  }

  toggle(stage, item) {
    stage.toggle(item);
    this.afterOpening();
  }

  setOpen(stage, items, open, anchor) {
    stage.setOpen(items, open, anchor);
    this.afterOpening();
  }

  afterOpening() {
    this.tree.refresh();
    this.request();
    this.link.save(true);
  }

  /** Called for every frame that was drawn. The first one stands alone. */
  drawn(list) {
    if (!this.pictured) return;
    this.ribbon.show(this.stage, list);
    this.header.drawn();
  }

  moved(stage) {
    if (this.sideBySide) {
      for (const other of this.shownStages()) if (other !== stage) other.camera.scale = stage.camera.scale;
    }
    this.link.saveSoon();
  }

  hovering(stage, item, event) {
    const card = byId("hover");
    card.hidden = !item;
    if (!item) return;
    fill(card, ...this.hoverLines(stage, item).map((line) => el("div", {}, line)));
    const rect = byId("stage").getBoundingClientRect();
    card.style.left = Math.min(event.clientX - rect.left + 14, rect.width - 280) + "px";
    card.style.top = event.clientY - rect.top + 16 + "px";
  }

  hoverLines(stage, item) {
    const { scene } = stage;
    const lines = [[scene.operator(item), scene.name(item)].filter(Boolean).join("  ") || scene.label(item)];
    if (scene.isGroup(item)) lines.push(`${stage.nodesIn(item)} nodes`);
    for (const value of scene.outputsOf(item).slice(0, 2)) lines.push(scene.typeOf(value));
    const { overlay, field } = this.active();
    if (overlay && overlay.scene === scene && field) {
      for (const side of overlay.sides) lines.push(`${side ? side + " " : ""}${field} ${formatUnit(overlay.numbers(side, field)[item], overlay.field(field).unit)}`);
    }
    for (const note of this.notes().filter((candidate) => candidate.item === item).slice(0, 2)) lines.push(note.text);
    return lines;
  }

  /** Findings about the shown scene. */
  notes() {
    return this.overlays.filter((overlay) => overlay.scene === this.stage.scene).flatMap((overlay) => overlay.notes);
  }

  setHits(hits, text) {
    this.hits = hits;
    this.hitText = text;
    for (const stage of this.stages) stage.look.hits = hits && stage === this.stage ? hits.mask : null;
    this.lists.refresh();
    this.request();
  }

  brushed(range) {
    const { scene, look } = this.stage;
    if (!range) {
      look.isolate(null);
    } else {
      const mask = new Uint8Array(scene.count);
      for (let i = 1; i < scene.count; i++) mask[i] = !scene.isGroup(i) && scene.order[i] >= range[0] && scene.order[i] <= range[1] ? 1 : 0;
      look.isolate(mask);
      const first = scene.ordered().find((item) => mask[item]);
      if (first !== undefined) this.stage.reveal(this.stage.places.shownFor(first));
    }
    this.dock.refresh();
    this.request();
  }

  selectOrder(order) {
    const { scene } = this.stage;
    const item = scene.ordered().find((candidate) => scene.order[candidate] >= order);
    if (item !== undefined) this.choose(item);
  }

  stepOrder(step) {
    const ordered = this.stage.scene.ordered();
    const at = ordered.indexOf(this.chosen());
    const next = ordered[Math.min(ordered.length - 1, Math.max(0, at + step))];
    if (next !== undefined) this.choose(next);
  }

  /** Shows one shortest way from the marked node to the selected one. */
  showPath() {
    const { stage, selection } = this;
    const [from] = stage.look.marked;
    if (from === undefined || !selection || selection.kind !== "item") return this.banner("Mark a node with b, select another, then show the path");
    const path = shortestPath(stage.scene, from, selection.id);
    const items = path.length ? path : shortestPath(stage.scene, selection.id, from);
    if (!items.length) return this.banner("No path leads from one to the other");
    stage.look.path = new Uint8Array(stage.scene.count);
    for (const item of items) for (let at = item; at !== NONE && at !== 0; at = stage.scene.parent[at]) stage.look.path[at] = 1;
    stage.look.isolate(stage.look.path);
    this.say(`a path of ${items.length} nodes`);
    this.request();
    return undefined;
  }

  /** Everything in full again. */
  clearEmphasis() {
    for (const { look } of this.stages) {
      look.path = null;
      look.isolate(null);
    }
    this.ribbon.brush = null;
    this.request();
  }

  /** A line that stays until it is closed. */
  banner(text) {
    const close = el("button", { type: "button", class: "small", "aria-label": "Close the message", onclick: () => line.remove() }, "×");
    const line = el("div", { class: "banner", role: "alert" }, el("span", {}, text), close);
    const banners = byId("banners");
    if ([...banners.children].some((child) => child.firstChild.textContent === text)) return;
    banners.append(line);
  }

  /** The display list of the picture as text. */
  dump() {
    for (const stage of this.stages) stage.finish();
    this.graph.draw();
    return this.graph.list.dump();
  }
}
