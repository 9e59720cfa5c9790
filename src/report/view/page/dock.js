// Views under the graph that share its selection: table, timeline, icicle, roofline, memory.

import { byId, el, fill } from "./dom.js";
import { IcicleView } from "./icicle.js";
import { MemoryView } from "./memory.js";
import { RooflineView } from "./roofline.js";
import { TableView } from "./table.js";
import { onTheme } from "./theme.js";
import { TimelineView } from "./timeline.js";

const VIEW_NAMES = ["", "graph", "table", "timeline", "icicle", "roofline", "memory"];

export class Dock {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.view = 1;
    this.element = byId("dock");
    this.current = null;
    this.makers = [null, null, () => new TableView(app), () => new TimelineView(app), () => new IcicleView(app), () => new RooflineView(app), () => new MemoryView(app)];
    this.listenToEdge();
    onTheme(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.element);
    this.refreshTabs();
  }

  /** The edge between graph and view can be moved, by keys as well. */
  listenToEdge() {
    const edge = byId("edge");
    const set = (height) => {
      const most = byId("stage").clientHeight - 120;
      byId("dock").style.height = Math.max(90, Math.min(most, height)) + "px";
      this.app.request();
    };
    edge.addEventListener("pointerdown", (event) => edge.setPointerCapture(event.pointerId));
    edge.addEventListener("pointermove", (event) => {
      if (edge.hasPointerCapture(event.pointerId)) set(this.element.getBoundingClientRect().bottom - event.clientY);
    });
    edge.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 30, ArrowDown: -30 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      set(this.element.clientHeight + step);
    });
  }

  refreshTabs() {
    for (const tab of byId("views").children) tab.setAttribute("aria-pressed", String(Number(tab.dataset.view) === this.view));
  }

  /** Shows a view by its number; 1 is the graph alone. */
  show(view) {
    if (!(view >= 1 && view <= 6)) return;
    this.view = view;
    this.element.hidden = view === 1;
    byId("edge").hidden = view === 1;
    this.current = view === 1 ? null : this.makers[view]();
    this.refreshTabs();
    if (this.current) {
      fill(this.element, this.current.element);
      this.element.setAttribute("aria-label", VIEW_NAMES[view]);
      this.current.refresh();
    } else {
      fill(this.element);
    }
    this.app.say(VIEW_NAMES[view]);
    this.app.request();
    this.app.link.save();
  }

  refresh() {
    if (this.current) this.current.refresh();
  }

  selected() {
    if (this.current && this.current.selected) this.current.selected();
    else this.redraw();
  }

  redraw() {
    if (this.current) this.current.draw();
  }
}
