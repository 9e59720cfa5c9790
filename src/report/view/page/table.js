// All nodes or layers as rows that can be sorted; only the rows in view are elements.

import { button, el, fill } from "./dom.js";
import { formatBytes, formatCount, formatNumber, formatShare, formatUnit } from "./numbers.js";
import { printable, shortened } from "./columns.js";
import { besideColumns } from "./plans.js";

const ROW_HEIGHT = 24;

export class TableView {
  constructor(app) {
    this.app = app;
    this.sort = null;
    this.up = false;
    this.layers = false;
    this.head = el("div", { class: "grid-row grid-head", role: "row" });
    this.body = el("div", { class: "grid-body", role: "presentation" });
    this.scroller = el("div", { class: "grid-scroll" }, this.body);
    this.grid = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": "table" }, this.head, this.scroller);
    this.bar = el("div", { class: "list-bar" });
    this.element = el("div", { class: "dock-fill" }, this.bar, this.grid);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.rows = [];
  }

  refresh() {
    const { overlay } = this.app.active();
    this.overlay = overlay && overlay.scene === this.app.stage.scene ? overlay : null;
    const hasLayers = this.overlay && this.overlay.table.length && this.overlay.what !== "difference";
    if (!hasLayers) this.layers = false;
    this.columns = this.layers ? this.layerColumns() : this.nodeColumns();
    if (!this.columns.some((column) => column.key === this.sort)) this.sort = null;
    this.makeRows();
    const parts = [el("span", { class: "soft" }, `${this.rows.length} ${this.layers ? "layers" : "nodes"}${this.filtered ? ", as found" : ""}`)];
    if (hasLayers) parts.unshift(button("Nodes", () => this.choose(false), { "aria-pressed": String(!this.layers) }), button("Layers", () => this.choose(true), { "aria-pressed": String(this.layers) }));
    fill(this.bar, ...parts);
    this.drawHead();
    this.body.style.height = this.rows.length * ROW_HEIGHT + "px";
    this.draw();
  }

  choose(layers) {
    this.layers = layers;
    this.refresh();
  }

  nodeColumns() {
    const { scene } = this.app.stage;
    const columns = [
      { key: "order", title: "#", width: 60, value: (item) => scene.order[item], text: (item) => String(scene.order[item]) },
      { key: "op", title: "operator", width: 130, value: (item) => scene.operator(item), text: (item) => scene.operator(item) || scene.label(item), words: true },
      { key: "name", title: "name", width: 0, value: (item) => scene.name(item), text: (item) => scene.name(item), words: true },
      { key: "macs", title: "MACs", width: 80, value: (item) => scene.macs[item], text: (item) => formatCount(scene.macs[item]) },
      { key: "params", title: "params", width: 80, value: (item) => scene.params[item], text: (item) => formatCount(scene.params[item]) },
      { key: "bytes", title: "bytes", width: 80, value: (item) => scene.bytes[item], text: (item) => formatBytes(scene.bytes[item]) },
    ];
    if (!this.overlay) return columns;
    for (const field of this.overlay.fields) {
      for (const side of field.name === "ratio" ? [""] : this.overlay.sides) columns.push(this.fieldColumn(field, side));
    }
    return columns;
  }

  fieldColumn(field, side) {
    const values = this.overlay.numbers(side, field.name);
    const title = side && this.overlay.sides.length > 1 ? `${field.name} ${side}` : field.name;
    return { key: `${side}/${field.name}`, title, width: 96, value: (item) => values[item], text: (item) => (Number.isNaN(values[item]) ? "–" : formatUnit(values[item], field.unit)),
      color: (item) => (field.name === this.app.field && !Number.isNaN(values[item]) ? this.overlay.scale(field.name).color(values[item]) : null), share: field.name.includes("time") };
  }

  layerColumns() {
    const keys = [...new Set(this.overlay.table.flatMap((row) => Object.keys(row)))].filter((key) => key !== "items");
    const own = keys.map((key, i) => ({ key, title: key.replaceAll("_", " "), width: i === 0 ? 0 : 120, value: (row) => row[key],
      text: (row) => (typeof row[key] === "number" ? formatNumber(row[key]) : printable(shortened(cellText(row[key]), 200))), words: this.overlay.table.some((row) => typeof row[key] === "string") }));
    return [...own, ...besideColumns(this.overlay, this.app.overlays)];
  }

  makeRows() {
    const { hits, stage } = this.app;
    const { fades } = stage.look;
    this.filtered = !this.layers && (!!hits || !!fades);
    if (this.layers) this.rows = this.overlay.table.slice();
    else if (hits) this.rows = [...hits.items];
    else this.rows = [...stage.scene.ordered()].filter((item) => !fades || !fades[item]);
    const column = this.columns.find((candidate) => candidate.key === this.sort);
    if (column) {
      const sign = this.up ? 1 : -1;
      this.rows.sort((a, b) => sign * comparedCells(column.value(a), column.value(b)));
    }
    this.cumulative = column && column.share && !this.up ? this.sharesOf(column) : null;
  }

  /** How much of the whole the rows up to each one have. */
  sharesOf(column) {
    let sum = 0;
    const sums = this.rows.map((row) => (sum += column.value(row) || 0));
    return sums.map((part) => part / (sum || 1));
  }

  drawHead() {
    const cells = this.columns.map((column) => {
      const sorted = column.key === this.sort;
      const label = column.title + (sorted ? (this.up ? " ↑" : " ↓") : "");
      const cell = el("div", { role: "columnheader", class: "cell" + (column.words ? "" : " number"), "aria-sort": sorted ? (this.up ? "ascending" : "descending") : "none" },
        button(label, () => this.sortBy(column), { class: "sort" }));
      return sized(cell, column);
    });
    if (this.cumulative) cells.push(sized(el("div", { role: "columnheader", class: "cell number" }, "sum"), { width: 70 }));
    fill(this.head, ...cells);
  }

  sortBy(column) {
    this.up = this.sort === column.key ? !this.up : !!column.words;
    this.sort = column.key;
    this.refresh();
  }

  draw() {
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - 4);
    const to = Math.min(this.rows.length, from + Math.ceil((this.scroller.clientHeight || 300) / ROW_HEIGHT) + 8);
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.row(i));
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    fill(this.body, ...rows);
  }

  row(i) {
    const row = this.rows[i];
    const chosen = this.isSelected(row);
    const element = el("div", { role: "row", class: "grid-row" + (chosen ? " selected" : ""), "aria-rowindex": i + 2, "aria-selected": String(chosen), onclick: () => this.choose_(row) },
      ...this.columns.map((column) => this.cell(column, row)));
    if (this.cumulative) element.append(sized(el("div", { role: "gridcell", class: "cell number soft" }, formatShare(this.cumulative[i])), { width: 70 }));
    element.style.top = i * ROW_HEIGHT + "px";
    return element;
  }

  cell(column, row) {
    const cell = sized(el("div", { role: "gridcell", class: "cell" + (column.words ? "" : " number") }, column.text(row)), column);
    const color = column.color && column.color(row);
    if (color) cell.style.boxShadow = `inset -4px 0 ${color}`;
    return cell;
  }

  itemOf(row) {
    return typeof row === "number" ? row : (row.items || [])[0];
  }

  isSelected(row) {
    const chosen = this.app.chosen();
    return chosen !== 0 && (typeof row === "number" ? row === chosen : (row.items || []).includes(chosen));
  }

  choose_(row) {
    const item = this.itemOf(row);
    if (item !== undefined) this.app.choose(item);
  }

  selected() {
    const at = this.rows.findIndex((row) => this.isSelected(row));
    const top = at * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (at >= 0 && (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight)) this.scroller.scrollTop = Math.max(0, top - clientHeight / 2);
    this.draw();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (!step || event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.rows.findIndex((row) => this.isSelected(row));
    const next = this.rows[Math.min(this.rows.length - 1, Math.max(0, at + step))];
    if (next !== undefined) this.choose_(next);
  }
}

function cellText(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(cellText).join(", ");
  return typeof value === "object" ? Object.values(value).map(cellText).join(" ") : String(value);
}

function comparedCells(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : 1;
    return a - b;
  }
  const [left, right] = [cellText(a), cellText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sized(cell, column) {
  if (column.width) cell.style.width = column.width + "px";
  else cell.classList.add("wide");
  return cell;
}
