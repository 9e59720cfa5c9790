// Lists at the left: the tree, hits, findings, changes; with next and previous.

import { button, byId, el, fill } from "./dom.js";
import { signColor, signOf } from "./judgement.js";
import { formatNumber } from "./numbers.js";

const MOST_LISTED = 500;

export class Lists {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.tab = "tree";
    this.at = -1;
    this.kinds = new Set();
    for (const tab of byId("tabs").children) tab.addEventListener("click", () => this.show(tab.dataset.tab));
    this.refresh();
  }

  show(tab) {
    this.tab = tab;
    this.at = -1;
    for (const element of byId("tabs").children) element.setAttribute("aria-selected", String(element.dataset.tab === tab));
    byId("tree").hidden = tab !== "tree";
    byId("list").hidden = tab === "tree";
    this.refresh();
    if (tab === "tree") this.app.tree.draw();
  }

  /** What next and previous go through. @returns {{item: number, sign?: string, word?: string, text: string, detail?: string, command?: string}[]} */
  entries() {
    const { app } = this;
    const { scene } = app.stage;
    if (this.tab === "findings") return app.notes().map((note) => ({ item: note.item, word: note.severity || "warning", text: note.text, detail: scene.label(note.item), command: note.command }));
    if (this.tab === "changes") return this.changes();
    return app.hits ? [...app.hits.items].map((item) => ({ item, text: scene.name(item) || scene.label(item), detail: scene.operator(item) })) : [];
  }

  changes() {
    const { app } = this;
    const rows = app.overlays.filter((overlay) => overlay.what === "difference" && overlay.scene === app.stage.scene).flatMap((overlay) => overlay.table);
    const kept = rows.filter((row) => !this.kinds.size || this.kinds.has(row.kind));
    if (this.kinds.has("changed")) kept.sort((a, b) => (b.distance || 0) - (a.distance || 0));
    return kept.map((row) => ({ item: (row.items || [])[0], word: row.kind, text: row.name || row.layer || this.nameOf((row.items || [])[0]), detail: changeDetail(row) }))
      .filter((entry) => entry.item !== undefined);
  }

  nameOf(item) {
    return item === undefined ? "" : this.app.stage.scene.label(item);
  }

  refresh() {
    const { app } = this;
    const notes = app.notes().length;
    const changes = app.overlays.filter((overlay) => overlay.what === "difference" && overlay.scene === app.stage.scene).reduce((sum, overlay) => sum + overlay.table.length, 0);
    const counts = { hits: app.hits ? app.hits.items.length : 0, findings: notes, changes };
    for (const tab of byId("tabs").children) {
      const count = counts[tab.dataset.tab];
      tab.hidden = tab.dataset.tab === "changes" ? !changes : tab.dataset.tab === "findings" ? !notes : false;
      tab.querySelector("span").textContent = count ? ` ${count}` : "";
    }
    if (this.tab !== "tree") this.draw();
  }

  draw() {
    const entries = this.entries();
    if (this.at >= entries.length) this.at = -1;
    const bar = el("div", { class: "list-bar" }, button("Previous", () => this.step(-1)), button("Next", () => this.step(1)),
      el("span", { class: "soft" }, entries.length ? `${this.at + 1 || "–"} of ${entries.length}` : "nothing here"));
    const parts = [bar];
    if (this.tab === "hits") parts.push(this.hitActions());
    if (this.tab === "changes") parts.push(this.kindFilter());
    const rows = entries.slice(0, MOST_LISTED).map((entry, i) => this.row(entry, i));
    parts.push(el("div", { role: "list" }, ...rows));
    if (entries.length > MOST_LISTED) parts.push(el("p", { class: "soft" }, `and ${entries.length - MOST_LISTED} more; Next goes through all`));
    fill(byId("list"), ...parts);
  }

  row(entry, i) {
    const sign = entry.word ? el("span", { class: "sign", "aria-label": entry.word }, signOf(entry.word)) : null;
    if (sign) sign.style.color = signColor(entry.word);
    return el("div", { role: "listitem" }, el("button", { type: "button", class: "entry" + (i === this.at ? " selected" : ""), onclick: () => this.go(i) },
      sign, el("span", { class: "entry-text" }, entry.text), entry.detail ? el("span", { class: "soft" }, entry.detail) : null));
  }

  /** What can be done with hits: isolate, hide, nothing. */
  hitActions() {
    const { app } = this;
    const { look } = app.stage;
    const isolate = (mask) => {
      look.isolate(mask);
      app.tree.draw();
      app.request();
    };
    return el("div", { class: "list-bar" },
      button("Isolate", () => app.hits && isolate(app.hits.mask), { title: "Fade everything else" }),
      button("Fade", () => app.hits && isolate(app.hits.mask.map((hit) => 1 - hit)), { title: "Fade the hits" }),
      button("All", () => isolate(null), { title: "Everything in full" }),
      button("Copy names", () => navigator.clipboard?.writeText(app.header.hitNames()).catch(() => {}), { title: "For --filter-name or --onnx-outputs" }));
  }

  kindFilter() {
    const kinds = ["added", "removed", "changed", "renamed"];
    return el("div", { class: "list-bar" }, ...kinds.map((kind) => button(`${signOf(kind)} ${kind}`, () => {
      if (!this.kinds.delete(kind)) this.kinds.add(kind);
      this.at = -1;
      this.draw();
    }, { "aria-pressed": String(this.kinds.has(kind)) })));
  }

  step(step) {
    if (this.tab === "tree") this.tab = this.app.hits ? "hits" : this.changes().length ? "changes" : this.app.notes().length ? "findings" : "hits";
    const count = this.entries().length;
    if (!count) return this.app.say("nothing to go through");
    const next = this.at < 0 ? (step > 0 ? 0 : count - 1) : (this.at + step + count) % count;
    if (byId("list").hidden) {
      const { tab } = this;
      this.show(tab);
    }
    return this.go(next);
  }

  go(i) {
    this.at = i;
    const entry = this.entries()[i];
    this.app.choose(entry.item);
    this.draw();
    byId("list").querySelector(".entry.selected")?.scrollIntoView({ block: "nearest" });
  }

  /** Selects the next layer that introduces more than may be, in execution order. */
  nextGuilty() {
    const { app } = this;
    const overlay = app.overlays.find((candidate) => candidate.what === "accuracy" && candidate.scene === app.stage.scene);
    if (!overlay) return app.say("no comparison is shown");
    const columns = overlay.sides.map((side) => overlay.numbers(side, "excess"));
    const { scene } = app.stage;
    const guilty = [...scene.ordered()].filter((item) => columns.some((column) => column[item] > 1));
    if (!guilty.length) return app.say("no layer is guilty");
    const at = app.chosen() ? scene.order[app.chosen()] : -1;
    const next = guilty.find((item) => scene.order[item] > at) ?? guilty[0];
    return app.choose(next);
  }
}

function changeDetail(row) {
  const parts = [row.facts || row.changes || ""].flat().filter(Boolean).map(String);
  if (row.was) parts.push(`was ${row.was}`);
  if (typeof row.distance === "number") parts.push(`distance ${formatNumber(row.distance, 3)}`);
  return parts.join(", ");
}
