// The tree beside the canvas: the same groups and nodes, the same selection, only as many rows as can be seen.

import { el, fill } from "./dom.js";

const TREE_ROW = 24;
const SPARE = 6;

export class Tree {
  /** @param {HTMLElement} element @param {any} app */
  constructor(element, app) {
    this.element = element;
    this.app = app;
    this.rows = new Uint32Array(0);
    this.levels = new Uint16Array(0);
    this.body = el("div", { class: "tree-body", role: "presentation" });
    element.append(this.body);
    element.addEventListener("scroll", () => this.draw());
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("click", (event) => this.clicked(event));
  }

  /** Lists the rows anew: children in execution order. */
  refresh() {
    const { scene, places } = this.app.stage;
    const rows = [];
    const levels = [];
    const waiting = [[0, 0]];
    while (waiting.length) {
      const [item, level] = waiting.pop();
      if (item !== 0) {
        rows.push(item);
        levels.push(level);
      }
      if (!places.open[item]) continue;
      const first = scene.first_child[item];
      const children = Uint32Array.from({ length: scene.children[item] }, (_, i) => first + i);
      children.sort((a, b) => scene.order[a] - scene.order[b] || a - b);
      for (let i = children.length - 1; i >= 0; i--) waiting.push([children[i], level + 1]);
    }
    this.rows = Uint32Array.from(rows);
    this.levels = Uint16Array.from(levels);
    this.body.style.height = rows.length * TREE_ROW + "px";
    this.draw();
  }

  draw() {
    const height = this.element.clientHeight || 400;
    const from = Math.max(0, Math.floor(this.element.scrollTop / TREE_ROW) - SPARE);
    const to = Math.min(this.rows.length, from + Math.ceil(height / TREE_ROW) + 2 * SPARE);
    const elements = [];
    for (let i = from; i < to; i++) elements.push(this.row(i));
    fill(this.body, ...elements);
    const selected = this.selectedRow();
    if (selected >= from && selected < to) this.element.setAttribute("aria-activedescendant", `tree-${this.rows[selected]}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(i) {
    const { scene, places, look } = this.app.stage;
    const item = this.rows[i];
    const openable = scene.isOpenable(item);
    const selected = this.selected() === item;
    const operator = scene.isGroup(item) ? "" : scene.operator(item);
    const name = scene.shortName(item);
    const twisty = el("span", { class: "twisty", "aria-hidden": "true" }, openable ? (places.open[item] ? "▾" : "▸") : "");
    const row = el("div", {
      class: "tree-row" + (selected ? " selected" : "") + (look.fades && look.fades[item] ? " faded" : ""), role: "treeitem", id: `tree-${item}`,
      "aria-level": this.levels[i], "aria-selected": String(selected), "aria-expanded": openable ? String(!!places.open[item]) : null,
      title: scene.name(item), "aria-label": [operator, name].filter(Boolean).join(" ") || scene.label(item),
    }, twisty, operator ? el("b", {}, operator) : null, el("span", { class: "tree-name" + (operator ? " soft" : "") }, name || (operator ? "" : scene.label(item))));
    row.style.top = i * TREE_ROW + "px";
    row.style.paddingLeft = 6 + (this.levels[i] - 1) * 12 + "px";
    return row;
  }

  selected() {
    return this.app.chosen() || -1;
  }

  selectedRow() {
    const item = this.selected();
    return item < 0 ? -1 : this.rows.indexOf(item);
  }

  /** Scrolls to the selected row. */
  follow() {
    const row = this.selectedRow();
    if (row >= 0) {
      const top = row * TREE_ROW;
      const { scrollTop, clientHeight } = this.element;
      if (top < scrollTop || top + TREE_ROW > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    this.draw();
  }

  clicked(event) {
    const row = event.target.closest(".tree-row");
    if (!row) return;
    const item = Number(row.id.slice(5));
    this.app.choose(item);
    if (event.target.classList.contains("twisty") || event.detail > 1) this.app.toggle(this.app.stage, item);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { stage } = this.app;
    const row = this.selectedRow();
    const item = row >= 0 ? this.rows[row] : 0;
    const open = item && stage.places.open[item];
    let target = -1;
    if (event.key === "ArrowDown") target = Math.min(this.rows.length - 1, row + 1);
    else if (event.key === "ArrowUp") target = Math.max(0, row - 1);
    else if (event.key === "Home") target = 0;
    else if (event.key === "End") target = this.rows.length - 1;
    else if (event.key === "ArrowRight" && item && stage.scene.isOpenable(item)) {
      if (open) target = row + 1;
      else this.app.toggle(stage, item);
    } else if (event.key === "ArrowLeft" && item) {
      if (open) this.app.toggle(stage, item);
      else target = this.rows.indexOf(stage.scene.parent[item]);
    } else if (event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    if (target >= 0 && this.rows.length) this.app.choose(this.rows[target], stage);
  }
}
