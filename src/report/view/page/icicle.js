// Groups over groups: as wide as what they cost.

import { el, fill } from "./dom.js";
import { formatBytes, formatCount, formatShare, formatUnit } from "./numbers.js";
import { cutText, fontOf } from "./paint.js";
import { Surface } from "./surface.js";
import { theme } from "./theme.js";

const LEVEL = 22;

export class IcicleView {
  constructor(app) {
    this.app = app;
    this.measure = "";
    this.surface = new Surface("icicle of groups", (context, width, height) => this.paintView(context, width, height));
    this.surface.onclick = (x, y) => this.clicked(x, y);
    this.surface.onhover = (x, y) => this.hovered(x, y);
    this.surface.onscroll = (delta) => this.scrolled(delta);
    this.depth = 0;
    this.status = el("span", { class: "soft" }, "");
    this.chooser = el("select", { "aria-label": "what widths mean", onchange: (event) => {
      this.measure = event.target.value;
      this.refresh();
    } });
    this.element = el("div", { class: "dock-fill" }, el("div", { class: "list-bar" }, el("label", {}, "width ", this.chooser), this.status), this.surface.canvas);
  }

  /** What widths can mean: times of the overlay, costs of the model. */
  measures() {
    const { scene } = this.app.stage;
    const { overlay, side } = this.app.active();
    const found = [];
    if (overlay && overlay.scene === scene) {
      for (const field of overlay.fields) if (/time|bytes|share/.test(field.name)) found.push({ name: field.name, values: overlay.numbers(side, field.name), text: (value) => formatUnit(value, field.unit), summed: true });
    }
    const costs = [["MACs", scene.macs, formatCount], ["parameters", scene.params, formatCount], ["bytes of outputs", scene.bytes, formatBytes]];
    for (const [name, values, text] of costs) found.push({ name, values, text, summed: false });
    found.push({ name: "nodes", values: Float64Array.from({ length: scene.count }, (_, i) => (scene.isGroup(i) ? NaN : 1)), text: formatCount, summed: false });
    return found;
  }

  refresh() {
    const measures = this.measures();
    const useful = measures.filter((measure) => this.app.stage.scene.ordered().some((item) => measure.values[item] > 0));
    this.chosen = useful.find((measure) => measure.name === this.measure) || useful[0];
    fill(this.chooser, ...useful.map((measure) => el("option", {}, measure.name)));
    if (!this.chosen) return;
    this.chooser.value = this.chosen.name;
    this.sums = this.sumsOf(this.chosen);
    this.surface.extent(this.sums[0] || 1);
    this.draw();
  }

  sumsOf(measure) {
    const { scene } = this.app.stage;
    const sums = new Float64Array(scene.count);
    for (let i = scene.count - 1; i > 0; i--) {
      if (!scene.isGroup(i) && !scene.isOpenable(i)) sums[i] = measure.values[i] > 0 ? measure.values[i] : 0;
      else if (scene.isOpenable(i) && !scene.isGroup(i)) sums[i] = Math.max(sums[i], measure.values[i] > 0 ? measure.values[i] : 0);
      if (scene.parent[i] < scene.count) sums[scene.parent[i]] += sums[i];
    }
    return sums;
  }

  draw() {
    if (this.chosen) this.surface.draw();
  }

  paintView(context, width, height) {
    this.drawn = [];
    const { scene, look } = this.app.stage;
    const waiting = [[0, 0, 0]];
    while (waiting.length) {
      const [group, level, begin] = waiting.pop();
      let at = begin;
      for (const item of this.childrenOf(group)) {
        const x = this.surface.x(at);
        const right = this.surface.x(at + this.sums[item]);
        const y = (level - this.depth) * LEVEL;
        if (right - x >= 0.7 && right > 0 && x < width && y < height) {
          if (y >= 0) this.bar(context, item, Math.max(0, x), y, Math.min(width, right) - Math.max(0, x), scene.isGroup(item) ? look.groupStyle() : look.style(item));
          if (scene.isOpenable(item)) waiting.push([item, level + 1, at]);
        }
        at += this.sums[item];
      }
    }
  }

  childrenOf(group) {
    const { scene } = this.app.stage;
    const first = scene.first_child[group];
    const children = [];
    for (let i = 0; i < scene.children[group]; i++) if (this.sums[first + i] > 0) children.push(first + i);
    return children.sort((a, b) => scene.order[a] - scene.order[b] || a - b);
  }

  bar(context, item, x, y, width, style) {
    const { scene } = this.app.stage;
    const chosen = this.app.chosen() === item;
    context.fillStyle = style.fill;
    context.fillRect(x, y, width, LEVEL - 1);
    if (width > 3 || chosen) {
      context.strokeStyle = chosen ? theme.colors.accent : style.stroke;
      context.lineWidth = chosen ? 2.5 : 1;
      context.strokeRect(x + 0.5, y + 0.5, width - 1, LEVEL - 2);
    }
    this.drawn.push([item, x, y, width]);
    if (width < 30) return;
    context.font = fontOf(10.5, false);
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = style.ink;
    const text = `${scene.operator(item) && !scene.isGroup(item) ? scene.operator(item) : scene.label(item)}  ${this.chosen.text(this.sums[item])}`;
    context.fillText(cutText(text, width - 8, 10.5), x + 4, y + LEVEL / 2);
  }

  itemAt(x, y) {
    const found = (this.drawn || []).find(([, left, top, width]) => x >= left && x <= left + width && y >= top && y < top + LEVEL);
    return found ? found[0] : 0;
  }

  scrolled(delta) {
    const before = this.depth;
    this.depth = Math.max(0, Math.min(200, this.depth + Math.sign(delta)));
    if (!(this.drawn || []).length) this.depth = before;
    return true;
  }

  clicked(x, y) {
    const item = this.itemAt(x, y);
    if (item) this.app.choose(item);
  }

  hovered(x, y) {
    const item = this.itemAt(x, y);
    const { scene } = this.app.stage;
    this.status.textContent = item ? `${scene.operator(item)} ${scene.name(item)}: ${this.chosen.text(this.sums[item])}, ${formatShare(this.sums[item] / this.sums[0])}` : "";
  }

  selected() {
    this.draw();
  }
}
