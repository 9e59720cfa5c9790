// Roofline: operations per byte against operations per second, both logarithmic; a point for each layer.

import { el, emptyView, fill } from "./dom.js";
import { formatCount, formatNumber, formatTime } from "./numbers.js";
import { fontOf } from "./paint.js";
import { Surface } from "./surface.js";
import { categoryColor, theme } from "./theme.js";

const LEFT = 56;
const FLOOR = 22;

export class RooflineView {
  constructor(app) {
    this.app = app;
    this.surface = new Surface("roofline", (context, width, height) => this.paintView(context, width, height));
    this.surface.panBy = () => {};
    this.surface.zoomBy = () => {};
    this.surface.onclick = (x, y) => this.clicked(x, y);
    this.surface.onhover = (x, y) => this.hovered(x, y);
    this.status = el("span", { class: "soft" }, "");
    this.element = el("div", { class: "dock-fill" });
  }

  refresh() {
    const { scene } = this.app.stage;
    const { overlay } = this.app.active();
    const timed = [overlay, ...this.app.overlays].find((candidate) => candidate && candidate.scene === scene && candidate.fields.some((field) => field.name === "time"));
    this.points = [];
    if (timed) this.collect(timed);
    if (!this.points.length) {
      fill(this.element, emptyView("No times of layers with multiplications are known: open the page with --with a report of assay profile."));
      return;
    }
    fill(this.element, el("div", { class: "list-bar" }, this.status), this.surface.canvas);
    this.sum();
    this.draw();
  }

  collect(overlay) {
    this.roofs = this.roofsOf(overlay);
    this.sides = overlay.sides;
    for (const row of overlay.table) {
      if (!(row.flops > 0) || !(row.time > 0) || !(row.bytes > 0) || !row.items || !row.items.length) continue;
      const seconds = row.time * 1e-3;
      this.points.push({ item: row.items[0], side: Math.max(0, overlay.sides.indexOf(row.side)), estimated: false, intensity: row.flops / row.bytes, speed: row.flops / seconds, seconds, ops: row.flops, moved: row.bytes });
    }
    if (!this.points.length) this.collectNodes(overlay);
    if (this.points.length) this.ranges();
  }

  /** Points of single nodes, where the report has no layers. */
  collectNodes(overlay) {
    const { scene } = overlay;
    const unit = { us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1 }[overlay.field("time").unit] || 1e-6;
    overlay.sides.forEach((side, s) => {
      const times = overlay.numbers(side, "time");
      for (const item of scene.ordered()) {
        const ops = 2 * scene.macs[item];
        const seconds = times[item] * unit;
        const moved = estimatedBytes(scene, item);
        if (ops > 0 && seconds > 0 && moved > 0) this.points.push({ item, side: s, estimated: true, intensity: ops / moved, speed: ops / seconds, seconds, ops, moved });
      }
    });
  }

  ranges() {
    const [x, y] = ["intensity", "speed"].map((key) => this.points.map((point) => point[key]));
    this.xRange = [Math.min(...x) / 2, Math.max(...x) * 2];
    this.yRange = [Math.min(...y) / 2, Math.max(...y, this.roofs.peak || 0) * 1.6];
  }

  /** The measured roofs, in operations and bytes a second. */
  roofsOf(overlay) {
    const peak = overlay.facts.flops_per_second || 0;
    const bandwidth = overlay.facts.bytes_per_second || 0;
    return { peak, bandwidth };
  }

  roof(intensity) {
    const { peak, bandwidth } = this.roofs;
    if (!peak || !bandwidth) return NaN;
    return Math.min(peak, intensity * bandwidth);
  }

  saved(point) {
    const roof = this.roof(point.intensity);
    return Number.isNaN(roof) ? NaN : Math.max(0, point.seconds - point.ops / roof);
  }

  sum() {
    const total = this.points.reduce((sum, point) => sum + (this.saved(point) || 0), 0);
    this.status.textContent = this.roofs.peak ? `roofs: ${formatCount(this.roofs.peak)}op/s, ${formatCount(this.roofs.bandwidth)}B/s · at the roofs ${formatTime(total * 1e6)} less` : "no roofs were measured";
  }

  draw() {
    if (this.points && this.points.length) this.surface.draw();
  }

  at(point, width, height) {
    const share = (value, [low, high]) => Math.log(value / low) / Math.log(high / low);
    return [LEFT + share(point.intensity, this.xRange) * (width - LEFT - 10), (height - FLOOR) * (1 - share(point.speed, this.yRange))];
  }

  paintView(context, width, height) {
    this.axes(context, width, height);
    this.roofLine(context, width, height);
    const most = Math.max(...this.points.map((point) => point.seconds));
    for (const point of this.points) {
      const [x, y] = this.at(point, width, height);
      const chosen = this.app.chosen() === point.item;
      context.beginPath();
      context.arc(x, y, 2 + 9 * Math.sqrt(point.seconds / most), 0, 7);
      context.globalAlpha = 0.55;
      context.fillStyle = categoryColor(point.side);
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash(point.estimated ? [2, 2] : []);
      context.strokeStyle = chosen ? theme.colors.accent : categoryColor(point.side);
      context.lineWidth = chosen ? 3 : 1;
      context.stroke();
    }
    context.setLineDash([]);
  }

  axes(context, width, height) {
    context.font = fontOf(10, false);
    context.fillStyle = theme.colors.soft;
    context.strokeStyle = theme.colors.line;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    for (let power = Math.ceil(Math.log10(this.xRange[0])); power <= Math.log10(this.xRange[1]); power++) {
      const [x] = this.at({ intensity: 10 ** power, speed: this.yRange[0] }, width, height);
      context.textAlign = "center";
      context.fillText(formatNumber(10 ** power), x, height - 12);
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - FLOOR);
      context.stroke();
    }
    for (let power = Math.ceil(Math.log10(this.yRange[0])); power <= Math.log10(this.yRange[1]); power++) {
      const [, y] = this.at({ intensity: this.xRange[0], speed: 10 ** power }, width, height);
      context.textAlign = "right";
      context.fillText(formatCount(10 ** power), LEFT - 6, y);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width, y);
      context.stroke();
    }
    context.textAlign = "right";
    context.fillText("operations per byte; dashed: bytes are estimated", width - 8, height - 3 - 20);
    context.textAlign = "left";
    context.fillText("operations a second", LEFT + 4, 8);
  }

  roofLine(context, width, height) {
    if (!this.roofs.peak || !this.roofs.bandwidth) return;
    const ridge = this.roofs.peak / this.roofs.bandwidth;
    const [low, high] = this.xRange;
    context.strokeStyle = theme.colors.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const intensity of [low, Math.min(high, Math.max(low, ridge)), high]) context.lineTo(...this.at({ intensity, speed: Math.max(this.yRange[0] / 10, this.roof(intensity)) }, width, height));
    context.stroke();
  }

  pointAt(x, y) {
    const { clientWidth, clientHeight } = this.surface.canvas;
    let nearest = null;
    let least = 14;
    for (const point of this.points) {
      const [px, py] = this.at(point, clientWidth, clientHeight);
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) {
        least = distance;
        nearest = point;
      }
    }
    return nearest;
  }

  clicked(x, y) {
    const point = this.pointAt(x, y);
    if (point) this.app.choose(point.item);
  }

  hovered(x, y) {
    const point = this.pointAt(x, y);
    if (!point) return this.sum();
    const { scene } = this.app.stage;
    const saved = this.saved(point);
    this.status.textContent = `${scene.operator(point.item)} ${scene.name(point.item)}: ${formatTime(point.seconds * 1e6)}, ${formatCount(point.speed)}op/s${Number.isNaN(saved) ? "" : `, could save ${formatTime(saved * 1e6)}`}`;
    return undefined;
  }

  selected() {
    this.draw();
  }
}

/** Bytes of outputs and parameters, where none were measured. */
function estimatedBytes(scene, item) {
  let bytes = (scene.bytes[item] || 0) + 4 * (scene.params[item] || 0);
  for (const value of scene.inputsOf(item)) if (scene.producer[value] < scene.count) bytes += scene.bytes[scene.producer[value]] || 0;
  return bytes;
}
