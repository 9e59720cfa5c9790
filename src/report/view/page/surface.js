// A canvas of a view under the graph: one horizontal axis with pan and zoom, by pointer, wheel and keys.

import { el, sizedContext } from "./dom.js";

export class Surface {
  /** @param {string} label @param {(context: CanvasRenderingContext2D, width: number, height: number) => void} paintView */
  constructor(label, paintView) {
    this.paintView = paintView;
    this.canvas = el("canvas", { class: "surface", tabindex: "0", role: "img", "aria-label": label });
    this.low = 0;
    this.high = 1;
    this.most = 1;
    this.top = 0;
    this.onclick = null;
    this.onhover = null;
    this.listen();
  }

  /** Sets how far the axis goes, and shows all of it. */
  extent(most) {
    if (this.most === most) return;
    this.most = most;
    this.low = 0;
    this.high = most;
  }

  x(value) {
    return ((value - this.low) / (this.high - this.low || 1)) * this.canvas.clientWidth;
  }

  valueAt(x) {
    return this.low + (x / Math.max(1, this.canvas.clientWidth)) * (this.high - this.low);
  }

  draw() {
    if (!this.canvas.isConnected || !this.canvas.clientWidth) return;
    const context = sizedContext(this.canvas);
    context.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    this.paintView(context, this.canvas.clientWidth, this.canvas.clientHeight);
  }

  zoomBy(factor, x) {
    const at = this.valueAt(x);
    const span = Math.min(this.most, (this.high - this.low) / factor);
    const share = (at - this.low) / (this.high - this.low || 1);
    this.low = at - span * share;
    this.keep(span);
  }

  panBy(pixels) {
    const span = this.high - this.low;
    this.low += (pixels / Math.max(1, this.canvas.clientWidth)) * span;
    this.keep(span);
  }

  keep(span) {
    this.low = Math.max(0, Math.min(this.most - span, this.low));
    this.high = this.low + span;
    this.draw();
  }

  /** Brings a stretch into view. */
  reveal(from, to) {
    if (from >= this.low && to <= this.high) return;
    const span = Math.min(this.most, Math.max(this.high - this.low, (to - from) * 4));
    this.low = (from + to) / 2 - span / 2;
    this.keep(span);
  }

  listen() {
    const { canvas } = this;
    let last = null;
    let moved = 0;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) this.zoomBy(Math.exp(-event.deltaY * 0.0025), event.offsetX);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.panBy(event.deltaX || event.deltaY);
      else if (this.onscroll && this.onscroll(event.deltaY)) this.draw();
      else this.panBy(event.deltaY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      last = event.offsetX;
      moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (last !== null) {
        moved += Math.abs(event.offsetX - last);
        this.panBy(last - event.offsetX);
        last = event.offsetX;
      } else if (this.onhover) {
        this.onhover(event.offsetX, event.offsetY);
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      last = null;
      if (moved < 4 && this.onclick) this.onclick(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const width = this.canvas.clientWidth;
    const act = { w: () => this.zoomBy(1.4, width / 2), s: () => this.zoomBy(1 / 1.4, width / 2), a: () => this.panBy(-width / 6), d: () => this.panBy(width / 6) }[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
