// Memory of a plan: steps along, addresses up, a box for each value.

import { el, emptyView, fill } from "./dom.js";
import { formatBytes } from "./numbers.js";
import { cutText, fontOf } from "./paint.js";
import { Surface } from "./surface.js";
import { theme } from "./theme.js";

const MEMORY_AXIS = 18;

export class MemoryView {
  constructor(app) {
    this.app = app;
    this.surface = new Surface("memory of the plan", (context, width, height) => this.paintView(context, width, height));
    this.surface.onclick = (x, y) => this.clicked(x, y);
    this.surface.onhover = (x, y) => this.hovered(x, y);
    this.status = el("span", { class: "soft" }, "");
    this.element = el("div", { class: "dock-fill" });
  }

  refresh() {
    const { scene } = this.app.stage;
    const { overlay } = this.app.active();
    const planned = [overlay, ...this.app.overlays].find((candidate) => candidate && candidate.scene === scene && candidate.container.has("block.start"));
    this.blocks = planned ? blocksOf(planned) : [];
    if (!this.blocks.length) {
      fill(this.element, emptyView("No memory plan is known: open the page with --with a plan of assay convert -o model.engine."));
      return;
    }
    this.steps = Math.max(...this.blocks.map((block) => block.end)) + 1;
    this.high = Math.max(...this.blocks.map((block) => block.address + block.bytes));
    this.surface.extent(this.steps);
    this.findPeak();
    fill(this.element, el("div", { class: "list-bar" }, this.status), this.surface.canvas);
    this.say();
    this.draw();
  }

  /** The step at which the arena is fullest. */
  findPeak() {
    const tops = new Float64Array(this.steps);
    for (const block of this.blocks) for (let step = block.start; step <= block.end; step++) tops[step] = Math.max(tops[step], block.address + block.bytes);
    this.peak = tops.indexOf(Math.max(...tops));
  }

  say() {
    const top = this.blocks.filter((block) => block.address + block.bytes === this.high)[0];
    this.status.textContent = `${this.blocks.length} values in ${formatBytes(this.high)}; highest at step ${this.peak}: ${top.text}, ${formatBytes(top.bytes)}`;
  }

  draw() {
    if (this.blocks && this.blocks.length) this.surface.draw();
  }

  rect(block, height) {
    const x = this.surface.x(block.start);
    const unit = (height - MEMORY_AXIS) / this.high;
    return [x, (height - MEMORY_AXIS) - (block.address + block.bytes) * unit, Math.max(1, this.surface.x(block.end + 1) - x), Math.max(1, block.bytes * unit)];
  }

  paintView(context, width, height) {
    const { look } = this.app.stage;
    context.fillStyle = theme.colors.faint;
    context.fillRect(this.surface.x(this.peak), 0, Math.max(1, this.surface.x(this.peak + 1) - this.surface.x(this.peak)), height - MEMORY_AXIS);
    for (const block of this.blocks) {
      const [x, y, w, h] = this.rect(block, height);
      if (x + w < 0 || x > width) continue;
      const style = block.item < this.app.stage.scene.count ? look.style(block.item) : null;
      const chosen = this.app.chosen() === block.item;
      context.fillStyle = style ? style.fill : theme.colors.faint;
      context.fillRect(x, y, w, h);
      context.strokeStyle = chosen ? theme.colors.accent : style ? style.stroke : theme.colors["group-line"];
      context.lineWidth = chosen ? 3 : 1;
      if (w > 3 && h > 3) context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      this.label(context, block, x, y, w, h, style);
    }
    context.font = fontOf(10, false);
    context.fillStyle = theme.colors.soft;
    context.textAlign = "left";
    context.fillText(`step ${Math.floor(this.surface.low)}`, 2, height - 6);
    context.textAlign = "right";
    context.fillText(`step ${Math.ceil(this.surface.high) - 1}`, width - 2, height - 6);
  }

  label(context, block, x, y, w, h, style) {
    if (w < 40 || h < 13) return;
    context.font = fontOf(10, false);
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = style ? style.ink : theme.colors.ink;
    const left = Math.max(2, x + 4);
    context.fillText(cutText(`${block.text}  ${formatBytes(block.bytes)}`, x + w - left - 4, 10, false), left, y + h / 2);
  }

  blockAt(x, y) {
    const height = this.surface.canvas.clientHeight;
    return this.blocks.find((block) => {
      const [left, top, w, h] = this.rect(block, height);
      return x >= left && x <= left + w && y >= top && y <= top + h;
    });
  }

  clicked(x, y) {
    const block = this.blockAt(x, y);
    if (block && block.item < this.app.stage.scene.count) this.app.choose(block.item);
  }

  /** Under the pointer: the value, or which one keeps the arena high at that step. */
  hovered(x, y) {
    const block = this.blockAt(x, y);
    if (block) {
      this.status.textContent = `${block.text}: ${formatBytes(block.bytes)} at ${formatBytes(block.address)}, steps ${block.start} to ${block.end}`;
      return;
    }
    const step = Math.floor(this.surface.valueAt(x));
    const live = this.blocks.filter((candidate) => candidate.start <= step && candidate.end >= step).sort((a, b) => b.address + b.bytes - a.address - a.bytes)[0];
    if (live) this.status.textContent = `step ${step}: ${live.text} keeps the arena at ${formatBytes(live.address + live.bytes)}`;
    else this.say();
  }

  selected() {
    this.draw();
  }
}

function blocksOf(overlay) {
  const { container } = overlay;
  const [start, end, item] = ["start", "end", "item"].map((name) => container.column("block." + name));
  const [address, bytes] = ["address", "bytes"].map((name) => container.column("block." + name, "f64"));
  const text = container.text("block");
  return Array.from(start, (_, i) => ({ start: start[i], end: end[i], item: item[i], address: address[i], bytes: bytes[i], text: text.at(i) }));
}
