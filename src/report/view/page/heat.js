// A slice of a value: heat map, or numbers when cells are large; sliders for the dims that are not shown.

import { chart } from "./charts.js";
import { el, fill } from "./dom.js";
import { formatNumber } from "./numbers.js";
import { inkOn, rgbOf, scaleColors, STEPS, theme } from "./theme.js";

const WIDTH = 512;
const LEAST_NUMBER_CELL = 34;

export class HeatMap {
  constructor(app, scene, value, dims, still) {
    this.app = app;
    this.scene = scene;
    this.value = value;
    this.dims = dims;
    this.still = still;
    this.shown = dims.length > 1 ? [dims.length - 2, dims.length - 1] : [0];
    this.places = dims.map(() => 0);
    this.reduce = "max";
    this.colours = null;
    this.data = null;
    this.status = el("p", { class: "soft", "aria-live": "polite" }, "");
    this.canvas = chart("heat", "heat map of the slice", (context, width, height) => this.draw(context, width, height));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.notation = el("code", {}, "");
    this.controls = el("div", { class: "controls" });
    this.element = el("div", {}, this.notation, this.controls, this.canvas, this.status);
    this.refreshControls();
    this.read();
  }

  /** The slice in NumPy's notation. */
  at(colour = this.places[this.colours]) {
    return this.dims.map((_, d) => (this.shown.includes(d) ? ":" : d === this.colours ? colour : this.places[d])).join(",");
  }

  refreshControls() {
    const parts = [];
    if (this.dims.length > 2) parts.push(this.chooser("rows", 0), this.chooser("columns", 1));
    this.dims.forEach((dim, d) => {
      if (this.shown.includes(d) || dim < 2) return;
      const slider = el("input", { type: "range", min: 0, max: dim - 1, value: this.places[d], "aria-label": `index of dim ${d}`, oninput: (event) => {
        this.places[d] = Number(event.target.value);
        this.read();
      } });
      parts.push(el("label", {}, `dim ${d}`, slider));
    });
    const reduce = el("select", { "aria-label": "how blocks are reduced", onchange: (event) => {
      this.reduce = event.target.value;
      this.read();
    } }, ...["max", "mean", "min"].map((name) => el("option", {}, name)));
    reduce.value = this.reduce;
    parts.push(el("label", {}, "blocks ", reduce), this.colourBox());
    fill(this.controls, ...parts);
  }

  /** A box that shows a dim of three as red, green and blue. */
  colourBox() {
    const dim = this.dims.findIndex((size, d) => size === 3 && !this.shown.includes(d));
    if (dim < 0) this.colours = null;
    return dim < 0 ? null : el("label", {}, el("input", { type: "checkbox", checked: this.colours !== null, onchange: (event) => {
      this.colours = event.target.checked ? dim : null;
      this.read();
    } }), `dim ${dim} as red, green, blue`);
  }

  chooser(label, which) {
    const select = el("select", { "aria-label": `dim of ${label}`, onchange: (event) => {
      const chosen = Number(event.target.value);
      if (this.shown[1 - which] === chosen) this.shown[1 - which] = this.shown[which];
      this.shown[which] = chosen;
      this.refreshControls();
      this.read();
    } }, ...this.dims.map((_, d) => el("option", { value: d }, `${d}`)));
    select.value = this.shown[which];
    return el("label", {}, label + " ", select);
  }

  async read() {
    const at = this.at();
    this.notation.textContent = `[${at.replaceAll(",", ", ")}]`;
    try {
      const { colours } = this;
      const slices = await Promise.all((colours === null ? [at] : [0, 1, 2].map((colour) => this.at(colour))).map((part) => this.app.source.slice(this.scene, this.value, part, this.reduce, WIDTH)));
      if (!this.still() || at !== this.at() || colours !== this.colours) return;
      const [slice] = slices;
      const head = { ...slice.head, least: Math.min(...slices.map((part) => part.head.least)), greatest: Math.max(...slices.map((part) => part.head.greatest)) };
      const values = slice.column("data", "f32");
      const shape = head.shape && head.shape.length === 2 ? head.shape : [Math.max(1, Math.round(values.length / (head.shape ? head.shape[head.shape.length - 1] || 1 : values.length))), head.shape ? head.shape[head.shape.length - 1] : values.length];
      const channels = colours === null ? null : slices.map((part) => part.column("data", "f32"));
      this.data = { values, channels, shape, least: head.least, greatest: head.greatest };
      this.status.textContent = `${shape[0]} × ${shape[1]}, ${formatNumber(head.least)} to ${formatNumber(head.greatest)}`;
      this.canvas.style.aspectRatio = String(Math.min(4, Math.max(0.6, shape[1] / shape[0])));
      this.canvas.redraw();
    } catch (error) {
      if (this.still()) this.status.textContent = `The slice could not be read: ${error.message}`;
    }
  }

  color(value) {
    const { least, greatest } = this.data;
    const both = least < 0 && greatest > 0;
    const most = Math.max(Math.abs(least), Math.abs(greatest)) || 1;
    const share = both ? 0.5 + value / most / 2 : (value - least) / (greatest - least || 1);
    const { fills } = scaleColors(both ? "diverging" : "sequential");
    return fills[Math.min(STEPS - 1, Math.max(0, Math.round(share * (STEPS - 1))))];
  }

  draw(context, width, height) {
    if (!this.data) return;
    const { values, shape: [rows, columns] } = this.data;
    const picture = new ImageData(columns, rows);
    const words = new Uint32Array(picture.data.buffer);
    const { channels } = this.data;
    for (let i = 0; i < words.length; i++) words[i] = channels ? this.mixed(channels, i) : this.pixel(values[i], i);
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d").putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, width, height);
    if (!channels && width / columns >= LEAST_NUMBER_CELL && height / rows >= 14) this.numbers(context, width / columns, height / rows);
  }

  /** A colour, or for NaN and infinity a hatching of single pixels. */
  pixel(value, i) {
    if (!Number.isFinite(value)) return i % 2 ? 0xff2222be : 0xffffffff;
    const [red, green, blue] = rgbOf(this.color(value));
    return (255 << 24) | (blue << 16) | (green << 8) | red;
  }

  /** The colour of a place of three channels, from the least to the greatest of all. */
  mixed(channels, i) {
    const { least, greatest } = this.data;
    const parts = channels.map((values) => Math.round((255 * (values[i] - least)) / (greatest - least || 1)));
    if (!parts.every(Number.isFinite)) return this.pixel(NaN, i);
    const [red, green, blue] = parts;
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }

  numbers(context, cellWidth, cellHeight) {
    const { values, shape: [rows, columns] } = this.data;
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let i = 0; i < rows * columns; i++) {
      context.fillStyle = Number.isFinite(values[i]) ? inkOn(this.color(values[i])) : theme.colors.ink;
      context.fillText(formatNumber(values[i], 3), ((i % columns) + 0.5) * cellWidth, (Math.floor(i / columns) + 0.5) * cellHeight);
    }
  }

  point(event) {
    if (!this.data) return;
    const { values, shape: [rows, columns] } = this.data;
    const row = Math.min(rows - 1, Math.floor((event.offsetY / this.canvas.clientHeight) * rows));
    const column = Math.min(columns - 1, Math.floor((event.offsetX / this.canvas.clientWidth) * columns));
    this.status.textContent = `[${row}, ${column}] of the picture: ${formatNumber(values[row * columns + column], 7)}`;
  }
}
