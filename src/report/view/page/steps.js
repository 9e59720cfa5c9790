// The steps of a rewrite: a slider through the states from one model to another, which plays what each step did.

import { byId } from "./dom.js";

const STEP_MS = 900;

/** @typedef {{name: string, unseen: string, gone: number[], made: number[], kept: number[]}} Step */

/** Gives a scene its steps, if that is what an overlay has. @param {import("./overlay.js").Overlay} overlay */
export function takeSteps({ what, scene, table, facts }) {
  if (what !== "steps") return false;
  scene.steps = table.map(stepOf);
  scene.guilty = facts.guilty;
  return true;
}

/** What a row does to the items of its scene. @returns {Step} */
function stepOf({ name, unseen = "", items, gone, kept = 0 }) {
  return { name, unseen, gone: items.slice(0, gone), made: items.slice(gone, items.length - kept), kept: items.slice(items.length - kept) };
}

export class Steps {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.list = [];
    this.at = 0;
    this.timer = 0;
    this.slider = byId("step");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    byId("play").addEventListener("click", () => this.play());
  }

  /** Shows the slider if the shown scene has steps. */
  refresh() {
    const { steps = [], guilty } = this.app.stage.scene;
    byId("steps").hidden = !steps.length;
    if (this.list === steps) return;
    this.pause();
    this.list = steps;
    this.at = this.slider.max = steps.length;
    this.tell();
    if (guilty) this.go(guilty);
  }

  /** The state after a number of steps; what the last of them touched is marked. */
  go(step) {
    if (!this.list.length) return;
    const { stage } = this.app;
    const { scene, look } = stage;
    this.at = Math.max(0, Math.min(this.list.length, step));
    const mask = scene.leaves().slice();
    this.list.forEach(({ gone, made }, i) => {
      for (const item of i < this.at ? gone : made) mask[item] = 0;
    });
    look.isolate(mask);
    look.hits = new Uint8Array(scene.count);
    const { gone, made, kept } = this.list[this.at - 1] || this.list[0];
    const touched = [...made, ...kept, ...gone];
    for (const item of touched) look.hits[item] = 1;
    if (touched.length) stage.reveal(touched[0]);
    this.tell();
    this.app.request();
  }

  tell() {
    const { name, unseen } = this.list[this.at - 1] || { name: "", unseen: "" };
    const text = `${this.at} of ${this.list.length}${name && ": "}${name.replace(/^step \d+: /, "")}${unseen && ` (${unseen})`}`;
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", text);
    byId("step-text").textContent = text;
    byId("step-text").title = text;
  }

  play() {
    if (this.timer) return this.pause();
    if (this.at === this.list.length) this.go(0);
    byId("play").textContent = "❚❚";
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.list.length) this.pause();
    }, STEP_MS);
    return undefined;
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    byId("play").textContent = "▶";
  }
}
