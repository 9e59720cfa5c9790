// The overview along execution order: colours or errors of the active overlay, what is in view, hits, findings, a brush.

import { sizedContext } from "./dom.js";
import { scaleColors, theme } from "./theme.js";

const ROW = 30;
const FOOT = 12;

export class Ribbon {
  /** @param {HTMLCanvasElement} canvas @param {any} app */
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.base = null;
    this.baseKey = "";
    this.range = null;
    this.brush = null;
    this.listen();
  }

  listen() {
    const { canvas } = this;
    let begun = null;
    canvas.addEventListener("pointerdown", (event) => {
      begun = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (begun === null || Math.abs(event.offsetX - begun) < 4) return;
      this.brush = [Math.min(begun, event.offsetX), Math.max(begun, event.offsetX)].map((x) => this.orderAt(x));
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const moved = begun !== null && Math.abs(event.offsetX - begun) >= 4;
      begun = null;
      if (moved) this.app.brushed(this.brush);
      else {
        this.brush = null;
        this.app.brushed(null);
        this.app.selectOrder(this.orderAt(event.offsetX));
      }
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.app.stepOrder(step);
    });
  }

  orders() {
    return this.app.stage.scene.lastOrder + 1;
  }

  orderAt(x) {
    return Math.min(this.orders() - 1, Math.max(0, Math.floor((x / Math.max(1, this.canvas.clientWidth)) * this.orders())));
  }

  xOf(order) {
    return ((order + 0.5) / this.orders()) * this.canvas.clientWidth;
  }

  /** Rows of the ribbon: one for each side that the overlay shows. */
  rows() {
    const { overlay, side, field } = this.app.active();
    if (!overlay || !field) return [{ label: overlay ? overlay.title : "operators", overlay: null }];
    return overlay.sides.map((name) => ({ label: name || field, side: name, overlay, field, chosen: name === side }));
  }

  /** The height that the rows need. */
  height() {
    return Math.min(5, this.rows().length) * ROW + FOOT;
  }

  /** Draws it with the stretch that a picture shows. */
  show({ scene, places }, list) {
    this.range = null;
    for (let i = 0; i < list.count; i++) {
      const { kind, item } = list.commands[i];
      if (kind !== "box" || !item || places.open[item] || scene.order[item] === NONE) continue;
      const last = scene.last[item] === NONE ? scene.order[item] : scene.last[item];
      const [from, to] = this.range || [Infinity, 0];
      this.range = [Math.min(from, scene.order[item]), Math.max(to, last)];
    }
    this.draw();
  }

  draw() {
    const { canvas, app } = this;
    canvas.style.height = this.height() + "px";
    this.paintView(sizedContext(canvas), canvas.clientWidth, canvas.clientHeight);
    const at = app.stage.scene.order[app.chosen()];
    canvas.setAttribute("aria-valuemax", String(this.orders() - 1));
    canvas.setAttribute("aria-valuenow", String(Math.min(this.orders() - 1, at)));
  }

  paintView(context, width, height) {
    const { app } = this;
    context.clearRect(0, 0, width, height);
    const rows = this.rows().slice(0, 5);
    const bins = this.binned(rows, width);
    rows.forEach((row, i) => this.row(context, row, bins[i], i * ROW));
    this.marks(context, rows.length * ROW, width);
    if (app.chosen()) this.selected(context, height);
    this.shade(context, this.range, height);
    if (this.brush) {
      context.fillStyle = theme.colors.accent;
      context.globalAlpha = 0.22;
      context.fillRect(this.xOf(this.brush[0] - 0.5), 0, this.xOf(this.brush[1] + 0.5) - this.xOf(this.brush[0] - 0.5), height);
      context.globalAlpha = 1;
    }
  }

  /** For each row and pixel the item that stands out most; kept until something changes. */
  binned(rows, width) {
    const { scene, look } = this.app.stage;
    const key = `${scene.number}|${scene.title}|${width}|${theme.version}|${rows.map((row) => `${row.overlay && row.overlay.id}/${row.side}/${row.field}`)}`;
    if (key !== this.baseKey) {
      this.baseKey = key;
      this.bins = rows.map((row) => this.binRow(row, scene, look, Math.max(1, Math.floor(width))));
    }
    return this.bins;
  }

  binRow(row, scene, look, width) {
    const bins = new Int32Array(width).fill(-1);
    const values = row.overlay ? row.overlay.numbers(row.side, row.field) : [];
    const ordered = scene.ordered();
    const scale = width / this.orders();
    for (let i = 0; i < ordered.length; i++) {
      const item = ordered[i];
      const from = Math.min(width - 1, Math.floor(scene.order[item] * scale));
      const to = Math.max(from + 1, Math.min(width, Math.floor((scene.order[item] + 1) * scale)));
      for (let x = from; x < to; x++) {
        const other = bins[x];
        if (other < 0 || values[item] > values[other] || (Number.isNaN(values[other]) && !Number.isNaN(values[item]))) bins[x] = item;
      }
    }
    return bins;
  }

  row(context, row, bins, top) {
    if (row.overlay && row.overlay.what === "accuracy" && row.overlay.fields.some((field) => field.name === "introduced")) this.errors(context, row, bins, top);
    else this.strip(context, row, bins, top);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    context.textAlign = "left";
    const text = row.label;
    const wide = context.measureText(text).width;
    context.fillStyle = theme.colors.card;
    context.globalAlpha = 0.85;
    context.fillRect(2, top + 2, wide + 6, 12);
    context.globalAlpha = 1;
    context.fillStyle = row.chosen === false ? theme.colors.soft : theme.colors.ink;
    context.fillText(text, 5, top + 3);
  }

  /** Colours, and bars whose height says the number. */
  strip(context, row, bins, top) {
    const { look } = this.app.stage;
    const scale = row.overlay ? row.overlay.scale(row.field) : null;
    const values = row.overlay ? row.overlay.numbers(row.side, row.field) : null;
    for (let x = 0; x < bins.length; x++) {
      if (bins[x] < 0) continue;
      if (!row.overlay) {
        context.fillStyle = look.style(bins[x]).stroke;
        context.fillRect(x, top + 8, 1, ROW - 12);
        continue;
      }
      const value = values[bins[x]];
      if (Number.isNaN(value)) continue;
      const size = Math.max(2, Math.min(1, Math.max(0, scale.share(value))) * (ROW - 4));
      context.fillStyle = scale.color(value);
      context.fillRect(x, top + ROW - 2 - size, 1, size);
    }
  }

  /** Error by execution order, logarithmic: allowed as a band, inherited as a line, introduced as points. */
  errors(context, row, bins, top) {
    const { overlay, side } = row;
    const columns = ["tolerance", "inherited", "introduced"].map((name) => (overlay.fields.some((field) => field.name === name) ? overlay.numbers(side, name) : null));
    const y = this.errorHeight(columns, top);
    const [allowed, inherited, introduced] = columns;
    context.fillStyle = theme.colors.faint;
    if (allowed) for (let x = 0; x < bins.length; x++) if (bins[x] >= 0 && allowed[bins[x]] > 0) context.fillRect(x, y(allowed[bins[x]]), 1, top + ROW - y(allowed[bins[x]]));
    const colors = scaleColors("diverging").fills;
    if (inherited) {
      context.strokeStyle = colors[12];
      context.lineWidth = 1;
      context.beginPath();
      for (let x = 0; x < bins.length; x++) if (bins[x] >= 0 && inherited[bins[x]] > 0) context.lineTo(x, y(inherited[bins[x]]));
      context.stroke();
    }
    const scale = overlay.scale("excess");
    const excess = overlay.numbers(side, "excess");
    for (let x = 0; x < bins.length; x++) {
      const item = bins[x];
      if (item < 0 || !(introduced[item] > 0)) continue;
      const guilty = excess[item] > 1;
      context.fillStyle = guilty ? scale.color(excess[item]) : theme.colors.soft;
      context.fillRect(x - (guilty ? 1.5 : 0.5), y(introduced[item]) - (guilty ? 1.5 : 0.5), guilty ? 4 : 1.5, guilty ? 4 : 1.5);
    }
  }

  errorHeight(columns, top) {
    let low = Infinity;
    let high = 0;
    for (const column of columns) {
      if (!column) continue;
      for (let i = 1; i < column.length; i++) {
        if (!(column[i] > 0) || column[i] === Infinity) continue;
        low = Math.min(low, column[i]);
        high = Math.max(high, column[i]);
      }
    }
    const span = Math.log(high / low) || 1;
    return (value) => top + 3 + (ROW - 6) * (1 - Math.min(1, Math.max(0, Math.log(value / low) / span)));
  }

  marks(context, top, width) {
    const { app } = this;
    const { scene, look } = app.stage;
    const mark = (order, color, size) => {
      context.fillStyle = color;
      context.fillRect(this.xOf(order) - size / 2, top + 1, size, FOOT - 4);
    };
    const hits = app.hits ? app.hits.items : [];
    const step = Math.max(1, Math.floor(hits.length / Math.max(1, width * 2)));
    for (let i = 0; i < hits.length; i += step) mark(scene.order[hits[i]], theme.colors.hit, 2);
    for (const note of app.notes()) if (note.item < scene.count) mark(scene.order[note.item], theme.colors.bad, 3);
    for (const item of look.marked) mark(scene.order[item], theme.colors.open, 3);
  }

  selected(context, height) {
    const { scene } = this.app.stage;
    const id = this.app.chosen();
    context.strokeStyle = theme.colors.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(this.xOf(scene.order[id]), 0);
    context.lineTo(this.xOf(scene.order[id]), height);
    context.stroke();
  }

  /** What the graph shows, as a frame. */
  shade(context, range, height) {
    if (!range || range[1] - range[0] + 1 >= this.orders()) return;
    const left = this.xOf(range[0] - 0.5);
    const right = Math.max(left + 3, this.xOf(range[1] + 0.5));
    context.strokeStyle = theme.colors.soft;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, 0.5, right - left - 1, height - 1);
  }
}
