// Tasks that the program runs in a worker: chosen here, with progress and cancel, and the command line that does the same.

import { button, byId, commandLine, el, fill } from "./dom.js";
import { formatShare } from "./numbers.js";
import { printable } from "./columns.js";

const TASKS = [
  ["Run and compare", (file, part) => ["run", file, "--onnxrt", "--ref", ...part]],
  ["Find the guilty layer", (file) => ["debug", "accuracy", file, "--onnxrt"]],
  ["Profile", (file) => ["profile", file, "--engine"]],
  ["Find faults", (file) => ["check", "lint", file]],
];

export class Tasks {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.running = null;
    this.asked = 0;
    this.ended = false;
  }

  /** The section of the panel, where the program is there to run something. */
  section() {
    if (!this.app.source.served || !this.app.subject.tasks) return null;
    const buttons = TASKS.map(([title, words]) => button(title, () => this.start(words(this.file(), this.part())), { disabled: this.running !== null }));
    return el("section", {}, el("h3", {}, "Run"), el("div", { class: "actions" }, ...buttons), el("p", { class: "soft" }, this.part().length ? "of the nodes that were found" : "of the whole model; a search chooses a part"));
  }

  file() {
    return String(this.app.stage.scene.facts.file || this.app.stage.scene.facts.model || "model.onnx");
  }

  /** Outputs of the nodes that were found, as the command wants them. */
  part() {
    const { hits, stage } = this.app;
    if (!hits || !hits.items.length || hits.items.length > 200) return [];
    const names = [...hits.items].flatMap((item) => stage.scene.outputsOf(item).map((value) => stage.scene.valueNames.whole(value)));
    return names.length ? ["--onnx-outputs", ...names] : [];
  }

  /** Computes a value by a run on the reference, which gives all of them, and saves it. @param {string} name */
  compute(name) {
    return this.start(["run", this.file(), "--ref", "--onnx-outputs", name, "--save-outputs", "values.json"]);
  }

  async start(command) {
    this.running = { id: null, command, share: 0, text: "started" };
    const { running } = this;
    this.app.panel.show();
    this.draw();
    try {
      running.id = (await this.app.source.task(command)).id;
    } catch (error) {
      this.running = null;
      this.app.panel.show();
      this.draw();
      this.app.banner(`The task could not be started: ${error.message}`);
    }
  }

  draw() {
    const element = byId("task");
    element.hidden = !this.running;
    if (!this.running) return;
    const { command, share, text } = this.running;
    const words = ["assay", ...command].map((word) => (/^[\w./:=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
    fill(element, el("progress", { max: 1, value: share || null, "aria-label": "progress of the task" }), el("span", {}, `${printable(text)}${share ? ` ${formatShare(share)}` : ""}`),
      button("Cancel", () => this.running && this.app.source.cancel(this.running.id).catch((error) => this.app.banner(error.message))), commandLine(words));
  }

  /** Follows the events of the program; says when they end. */
  async listen() {
    if (!this.app.source.served) return;
    await this.app.source.listen((event) => this.heard(event), () => this.lost());
  }

  heard(event) {
    if (event.type === "progress" && this.running) {
      this.running.share = event.total ? event.done / event.total : event.share || 0;
      this.running.text = event.text || event.step || "running";
      this.draw();
    } else if (event.type === "done") this.done(event);
    else if (event.type === "revision") this.changedFile();
  }

  async done(event) {
    this.running = null;
    this.draw();
    if (event.error) this.app.banner(event.error);
    if (event.cancelled) this.app.say("cancelled");
    if (event.overlay !== undefined && event.overlay !== null) {
      await this.app.loadOverlay({ id: event.overlay, title: event.title || "result", what: event.what });
      if (event.what === "data") this.app.source.cache.clear();
      else this.app.useOverlay(String(event.overlay));
    }
    this.app.panel.show();
  }

  changedFile() {
    this.app.banner("The file has changed. Reload the page to see it.");
  }

  lost() {
    if (this.ended) return;
    this.ended = true;
    this.app.banner("The program has ended or cannot be reached. What is shown stays; facts and values that were not read yet are missing.");
  }
}
