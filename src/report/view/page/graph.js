// The canvas with the graph: drawing frames, pointer, wheel.

import { sizedContext } from "./dom.js";
import { DisplayList } from "./display.js";
import { paint } from "./paint.js";
import { Picture } from "./picture.js";
import { theme } from "./theme.js";

const CLICK_DISTANCE = 4;

export class Graph {
  /** @param {HTMLCanvasElement} canvas @param {any} app */
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.list = new DisplayList();
    this.picture = new Picture(this.list);
    this.waiting = false;
    this.hover = 0;
    this.frames = [];
    this.listen();
  }

  /** Asks for one frame. */
  request() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => {
      this.waiting = false;
      const begun = performance.now();
      let moving = false;
      for (const stage of this.app.shownStages()) moving = stage.advance(now) || moving;
      this.draw();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 1000) this.frames.splice(0, 500);
      if (moving) this.request();
    });
  }

  /** Parts of the canvas, one for each stage that is shown. */
  layout() {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const stages = this.app.shownStages();
    stages.forEach((stage, i) => stage.resize({ x: (width / stages.length) * i, y: 0, w: width / stages.length, h: height }));
  }

  draw() {
    const context = sizedContext(this.canvas);
    this.layout();
    this.build();
    context.fillStyle = theme.colors.canvas;
    context.fillRect(0, 0, this.list.width, this.list.height);
    paint(context, this.list);
    this.app.drawn(this.list);
  }

  build() {
    this.list.reset(this.canvas.clientWidth, this.canvas.clientHeight);
    const stages = this.app.shownStages();
    for (const stage of stages) {
      this.picture.build(stage.places, stage.camera, stage.look, stage.frame);
      if (stage !== stages[0]) this.divide(stage.frame);
    }
  }

  divide(frame) {
    this.list.line(new Float32Array([frame.x, 0, frame.x, frame.h]), 0, 4, 1, 0, 0, theme.colors.soft, 2);
  }

  stageAt(px) {
    const stages = this.app.shownStages();
    return stages.find((stage) => px < stage.frame.x + stage.frame.w) || stages[stages.length - 1];
  }

  place(event) {
    const rect = this.canvas.getBoundingClientRect();
    const px = event.clientX - rect.left;
    const py = event.clientY - rect.top;
    const stage = this.stageAt(px);
    return { stage, px: px - stage.frame.x, py: py - stage.frame.y };
  }

  itemUnder(event) {
    const { stage, px, py } = this.place(event);
    const { camera } = stage;
    return { stage, item: stage.places.itemAt(camera.x + px / camera.scale, camera.y + py / camera.scale) };
  }

  listen() {
    const { canvas } = this;
    let pressed = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 && event.button !== 1) return;
      pressed = { x: event.clientX, y: event.clientY, moved: false, stage: this.place(event).stage, lastX: event.clientX, lastY: event.clientY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pressed) return this.hovered(event);
      if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK_DISTANCE) pressed.moved = true;
      if (!pressed.moved) return undefined;
      canvas.classList.add("dragging");
      this.panned(pressed.stage, pressed.lastX - event.clientX, pressed.lastY - event.clientY);
      pressed.lastX = event.clientX;
      pressed.lastY = event.clientY;
      return undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      const click = pressed && !pressed.moved;
      pressed = null;
      canvas.classList.remove("dragging");
      if (click) this.clicked(event);
    });
    canvas.addEventListener("pointercancel", () => (pressed = null));
    canvas.addEventListener("pointerleave", () => this.app.hovering(null, 0));
    canvas.addEventListener("dblclick", (event) => {
      const { stage, item } = this.itemUnder(event);
      if (item && !stage.places.open[item] && !stage.scene.isOpenable(item)) stage.fitItem(item);
    });
    canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
  }

  panned(stage, dx, dy) {
    stage.finish();
    stage.camera.pan(dx, dy);
    this.app.moved(stage);
    this.request();
  }

  wheeled(event) {
    event.preventDefault();
    const { stage, px, py } = this.place(event);
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      stage.finish();
      stage.camera.zoom(Math.exp(-event.deltaY * unit * 0.0022), px, py);
      this.app.moved(stage);
      this.request();
    } else {
      this.panned(stage, (event.shiftKey ? event.deltaY : event.deltaX) * unit, (event.shiftKey ? 0 : event.deltaY) * unit);
    }
  }

  /** A click selects; on a group it opens, on the header of an open one it closes. */
  clicked(event) {
    const { stage, item } = this.itemUnder(event);
    this.canvas.focus();
    if (!item) {
      this.app.select(null);
      return;
    }
    const header = stage.places.open[item] && this.onHeader(stage, item, event);
    if (stage.places.open[item] && !header) {
      this.app.select(null);
      return;
    }
    this.app.select({ kind: "item", stage, id: item }, { reveal: false });
    if (stage.scene.isOpenable(item) && (header || stage.scene.isGroup(item) || event.detail > 1)) this.app.toggle(stage, item);
  }

  onHeader(stage, item, event) {
    const { py } = this.place(event);
    const y = stage.camera.y + py / stage.camera.scale;
    return y - stage.places.box(item).y <= 26;
  }

  hovered(event) {
    const { stage, item } = this.itemUnder(event);
    const shown = stage.places.open[item] ? 0 : item;
    this.canvas.classList.toggle("pointing", shown !== 0);
    this.app.hovering(stage, shown, event);
  }
}
