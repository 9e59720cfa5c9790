// Spans by lanes over time, or aligned by the nodes that they compute.

import { button, el, emptyView, fill } from "./dom.js";
import { formatShare, formatTime, ticks } from "./numbers.js";
import { cutText, fontOf } from "./paint.js";
import { openInPerfetto } from "./perfetto.js";
import { Surface } from "./surface.js";
import { inkOn, theme } from "./theme.js";

const LANE = 34;
const AXIS = 18;

export class TimelineView {
  constructor(app) {
    this.app = app;
    this.aligned = false;
    this.surface = new Surface("timeline of layers", (context, width, height) => this.paintView(context, width, height));
    this.surface.onclick = (x, y) => this.clicked(x, y);
    this.surface.onhover = (x, y) => this.hovered(x, y);
    this.bar = el("div", { class: "list-bar" });
    this.status = el("span", { class: "soft" }, "");
    this.element = el("div", { class: "dock-fill" });
  }

  refresh() {
    const { scene } = this.app.stage;
    const { overlay } = this.app.active();
    const timed = [overlay, ...this.app.overlays].find((candidate) => candidate && candidate.scene === scene && candidate.container.has("span.start"));
    this.overlay = timed || null;
    if (!timed) {
      fill(this.element, emptyView("No spans are known. Make them with assay profile MODEL --save-json profile.json, and open the page with --with profile.json."));
      return;
    }
    this.spans = timed.timeline();
    this.sortLanes();
    this.place();
    fill(this.bar, button("In time", () => this.align(false), { "aria-pressed": String(!this.aligned) }), button("Aligned by nodes", () => this.align(true), { "aria-pressed": String(this.aligned) }),
      button("Open in Perfetto", () => openInPerfetto(this.app, this.spans, timed.title), { title: "Sends the spans to ui.perfetto.dev, which comes from the network" }), this.status);
    fill(this.element, this.bar, this.surface.canvas);
    this.say();
    this.draw();
  }

  align(aligned) {
    this.aligned = aligned;
    this.refresh();
  }

  /** Spans of each lane by their start. */
  sortLanes() {
    const { lane, start, count, lanes } = this.spans;
    this.lanes = lanes.map(() => []);
    for (let i = 0; i < count; i++) if (this.lanes[lane[i]]) this.lanes[lane[i]].push(i);
    for (const list of this.lanes) list.sort((a, b) => start[a] - start[b] || a - b);
  }

  /** Where spans begin: in time, or behind the slowest lane that computed what was before. */
  place() {
    const { start, length, item, count } = this.spans;
    this.begin = Float64Array.from(start);
    if (this.aligned) {
      const { order } = this.app.stage.scene;
      const rows = new Map();
      for (let i = 0; i < count; i++) {
        if (!rows.has(item[i])) rows.set(item[i], []);
        rows.get(item[i]).push(i);
      }
      let at = 0;
      for (const [, spans] of [...rows].sort((a, b) => (order[a[0]] ?? Infinity) - (order[b[0]] ?? Infinity))) {
        const used = new Map();
        for (const i of spans) {
          const before = used.get(this.spans.lane[i]) || 0;
          this.begin[i] = at + before;
          used.set(this.spans.lane[i], before + length[i]);
        }
        at += Math.max(...used.values());
      }
      for (const list of this.lanes) list.sort((a, b) => this.begin[a] - this.begin[b] || a - b);
    }
    let end = 0;
    for (let i = 0; i < count; i++) end = Math.max(end, this.begin[i] + length[i]);
    this.surface.extent(end || 1);
  }

  say() {
    const { length, start } = this.spans;
    const texts = this.lanes.map((list, lane) => {
      const sum = list.reduce((total, i) => total + length[i], 0);
      const span = list.length ? Math.max(...[list[list.length - 1]].map((i) => start[i] + length[i])) - start[list[0]] : 0;
      return `${this.spans.lanes[lane]}: layers ${formatTime(sum)}${span > sum * 1.001 && !this.aligned ? `, between layers ${formatTime(span - sum)} (${formatShare((span - sum) / span)})` : ""}`;
    });
    this.status.textContent = texts.join(" · ") + ". Measuring layers costs time of its own.";
  }

  draw() {
    if (this.overlay) this.surface.draw();
  }

  paintView(context, width) {
    this.axis(context, width);
    this.lanes.forEach((list, lane) => this.lane(context, list, lane, width));
  }

  axis(context, width) {
    const { surface } = this;
    context.font = fontOf(10, false);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const tick of ticks(surface.low, surface.high, Math.max(2, Math.floor(width / 110)))) {
      const x = surface.x(tick);
      context.fillStyle = theme.colors.line;
      context.fillRect(x, AXIS - 4, 1, this.lanes.length * LANE + 4);
      context.fillStyle = theme.colors.soft;
      context.fillText(formatTime(tick), Math.min(width - 24, Math.max(20, x)), 7);
    }
  }

  /** One lane: at most one span a pixel. */
  lane(context, list, lane, width) {
    const { surface, begin, spans } = this;
    const top = AXIS + lane * LANE;
    const { look } = this.app.stage;
    let last = -1;
    for (let k = this.firstVisible(list); k < list.length && begin[list[k]] <= surface.high; k++) {
      const i = list[k];
      const x = Math.max(0, surface.x(begin[i]));
      const right = Math.min(width, surface.x(begin[i] + spans.length[i]));
      if (right < 0 || (Math.floor(right) <= last && right - x < 1)) continue;
      last = Math.floor(right);
      this.span(context, i, x, top, Math.max(1, right - x - 0.5), look);
    }
    context.font = fontOf(10, true);
    context.textAlign = "left";
    context.textBaseline = "middle";
    const name = spans.lanes[lane];
    const wide = context.measureText(name).width + 8;
    context.fillStyle = theme.colors.card;
    context.globalAlpha = 0.85;
    context.fillRect(2, top + 1, wide, 11);
    context.globalAlpha = 1;
    context.fillStyle = theme.colors.ink;
    context.fillText(name, 6, top + 7);
  }

  firstVisible(list) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[list[middle]] + this.spans.length[list[middle]] < this.surface.low) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  span(context, i, x, top, width, look) {
    const item = this.spans.item[i];
    const known = item < this.app.stage.scene.count;
    const style = known ? look.style(item) : null;
    const color = style ? style.fill : theme.colors.faint;
    context.fillStyle = color;
    context.fillRect(x, top + 12, width, LANE - 16);
    const chosen = this.isSelected(item);
    if (width > 4 || chosen) {
      context.strokeStyle = chosen ? theme.colors.accent : style ? style.stroke : theme.colors["group-line"];
      context.lineWidth = chosen ? 2.5 : 1;
      context.strokeRect(x + 0.5, top + 12.5, Math.max(1, width - 1), LANE - 17);
    }
    if (width < 26) return;
    context.font = fontOf(10.5, false);
    context.fillStyle = color.startsWith("#") ? inkOn(color) : theme.colors.ink;
    context.fillText(cutText(this.spans.text.at(i), width - 8, 10.5, true), x + 4, top + 12 + (LANE - 16) / 2);
  }

  isSelected(item) {
    const chosen = this.app.chosen();
    return chosen === item || (chosen !== 0 && this.overlay.layersOf(chosen).some((layer) => this.overlay.membersOf(layer).includes(item)));
  }

  spanAt(x, y) {
    const list = this.lanes[Math.floor((y - AXIS) / LANE)];
    if (!list) return -1;
    const at = this.surface.valueAt(x);
    const slack = (this.surface.high - this.surface.low) / Math.max(1, this.surface.canvas.clientWidth);
    const found = list.find((i) => this.begin[i] - slack <= at && this.begin[i] + this.spans.length[i] + slack >= at);
    return found === undefined ? -1 : found;
  }

  clicked(x, y) {
    const i = this.spanAt(x, y);
    if (i >= 0 && this.spans.item[i] < this.app.stage.scene.count) this.app.choose(this.spans.item[i]);
  }

  hovered(x, y) {
    const i = this.spanAt(x, y);
    if (i >= 0) this.status.textContent = `${this.spans.text.at(i)}: ${formatTime(this.spans.length[i])} from ${formatTime(this.spans.start[i])}`;
    else this.say();
  }

  selected() {
    if (!this.overlay) return;
    const i = this.app.chosen() ? this.spans.item.indexOf(this.app.chosen()) : -1;
    if (i >= 0) this.surface.reveal(this.begin[i], this.begin[i] + this.spans.length[i]);
    this.draw();
  }
}
