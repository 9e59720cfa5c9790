// The bar above: search, what colours mean, views, export, help; and the way of groups around what is in view.

import { button, byId, download, el, fill, sizedContext } from "./dom.js";
import { classLegend } from "./judgement.js";
import { HELP } from "./keys.js";
import { formatNumber, formatCount, formatUnit } from "./numbers.js";
import { svgOf } from "./paint.js";
import { QueryError, TEXT_FIELDS } from "./query.js";
import { scaleColors, switchTheme, theme } from "./theme.js";

const TYPING_MS = 60;
const EXAMPLES = [["conv", "part of a name or operator"], ["op:Conv*", "operators"], ["shape:[*,64,*,*]", "shapes of inputs or outputs"], ["scope:layers.7 not op:Cast", "within a group, without Casts"],
  ["macs>1e6 or time>1%", "numbers"], ["attr:group=1", "attributes"], ["up(softmax, 3)", "what comes before, 3 steps"], ["path(input, output)", "what lies between"], ["excess>1", "layers that introduce too much"]];

export class Header {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.input = byId("search");
    this.timer = 0;
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), TYPING_MS);
    });
    this.input.addEventListener("keydown", (event) => this.searchKey(event));
    this.input.addEventListener("focus", () => this.hint());
    this.input.addEventListener("blur", () => (byId("search-hint").hidden = true));
    byId("theme").addEventListener("click", () => this.switchTheme());
    byId("help").addEventListener("click", () => this.help());
    byId("export").addEventListener("click", () => this.exportMenu());
    byId("overlay").addEventListener("change", (event) => app.useOverlay(event.target.value));
    byId("side").addEventListener("change", (event) => app.useOverlay(app.overlayId, event.target.value, app.field));
    byId("field").addEventListener("change", (event) => app.useOverlay(app.overlayId, app.side, event.target.value));
    byId("scene").addEventListener("change", (event) => this.chooseScene(event.target.value));
    for (const tab of byId("views").children) tab.addEventListener("click", () => app.dock.show(Number(tab.dataset.view)));
    this.way = "";
  }

  refresh() {
    const { app } = this;
    const { scene } = app.stage;
    const name = scene.facts.subject_title || scene.facts.model || scene.title;
    byId("model").textContent = String(name);
    document.title = `${name} – assay view`;
    byId("facts").textContent = [`${formatCount(scene.facts.nodes ?? scene.ordered().length)} nodes`, scene.facts.opset ? `opset ${scene.facts.opset}` : "", scene.facts.producer || ""].filter(Boolean).join(" · ");
    this.chooser("overlay", [["", "operators"], ...app.overlays.map((overlay) => [overlay.id, overlay.title])], app.overlayId);
    const { overlay } = app.active();
    this.chooser("side", overlay ? overlay.sides.map((side) => [side, side]) : [], app.side, overlay && overlay.sides.length > 1);
    this.chooser("field", overlay ? overlay.fields.map((field) => [field.name, field.name]) : [], app.field, overlay && overlay.fields.length > 1);
    const scenes = app.stages.map((stage, i) => [String(i), stage.scene.union ? "difference" : stage.scene.facts.subject_title || stage.scene.title]);
    if (app.stages.length > 1) scenes.push(["both", "side by side"]);
    this.chooser("scene", scenes, app.sideBySide ? "both" : String(app.stages.indexOf(app.stage)), app.stages.length > 1);
    this.legend();
  }

  chooser(id, options, value, shown = options.length > 1) {
    const select = byId(id);
    select.closest("label").hidden = !shown;
    fill(select, ...options.map(([key, text]) => el("option", { value: key }, text)));
    select.value = value;
  }

  chooseScene(value) {
    if (value === "both") this.app.showSideBySide();
    else this.app.showStage(this.app.stages[Number(value)]);
  }

  /** The next overlay or operators again. */
  nextOverlay() {
    const ids = ["", ...this.app.overlays.map((overlay) => overlay.id)];
    this.app.useOverlay(ids[(ids.indexOf(this.app.overlayId) + 1) % ids.length]);
    const { overlay } = this.app.active();
    this.app.say(overlay ? overlay.title : "operators");
  }

  legend() {
    const { overlay, field } = this.app.active();
    const legend = byId("legend");
    legend.hidden = !overlay || !(overlay.fields.length || overlay.table.length);
    if (legend.hidden) return;
    if (!overlay.fields.length) {
      fill(legend, ...classLegend(overlay).map(([name, color]) => {
        const key = el("span", { class: "class-key" }, name);
        key.style.borderColor = color;
        return key;
      }));
      return;
    }
    const scale = overlay.scale(field);
    const { unit, description } = overlay.field(field);
    const canvas = el("canvas", { class: "legend-bar", "aria-hidden": "true" });
    const ends = scale.kind === "diverging" ? [`≤ ${formatNumber(scale.low)}`, "1", `≥ ${formatNumber(scale.high)}`] : [formatUnit(scale.low, unit), formatUnit(scale.high, unit)];
    fill(legend, el("b", {}, field), el("span", {}, ends[0]), canvas, ends.length === 3 ? el("span", {}, ends[2]) : el("span", {}, ends[1]), el("span", { class: "dashed-key" }, "not observed"));
    legend.title = description || "";
    const context = sizedContext(canvas);
    const { fills } = scaleColors(scale.kind === "diverging" ? "diverging" : "sequential");
    fills.forEach((color, i) => {
      context.fillStyle = color;
      context.fillRect((i / fills.length) * canvas.clientWidth, 0, canvas.clientWidth / fills.length + 1, canvas.clientHeight);
    });
    if (scale.kind === "diverging") {
      context.fillStyle = theme.colors.ink;
      context.fillRect(canvas.clientWidth / 2, 0, 1, canvas.clientHeight);
    }
  }

  /** Shows the way of groups, and how far the view is zoomed. */
  drawn() {
    const { stage } = this.app;
    const groups = stage.groupsInView();
    const way = `${groups.join(",")}|${Math.round(stage.camera.scale * 100)}`;
    if (way === this.way) return;
    this.way = way;
    const line = byId("way");
    let left = groups.slice(-6);
    do {
      fill(line, ...this.wayParts(stage, left, groups.length > left.length));
      left = left.slice(1);
    } while (left.length && line.scrollWidth > line.clientWidth);
  }

  /** The model, groups from the outside in, and the size of the view; a sign stands for groups that are left out. */
  wayParts(stage, groups, shortened) {
    const then = () => el("span", { "aria-hidden": "true" }, "›");
    const parts = [button("model", () => stage.fitItem(0), { class: "crumb" })];
    if (shortened) parts.push(then(), "…");
    for (const group of groups) {
      const label = stage.scene.label(group);
      parts.push(then(), button(label, () => this.app.choose(group, stage), { class: "crumb", title: label }));
    }
    parts.push(el("span", { class: "zoom" }, `${formatNumber(stage.camera.scale * 100, 2)} %`));
    return parts;
  }

  async searchFor(text) {
    this.input.value = text;
    await this.search();
  }

  async search() {
    const { app } = this;
    const text = this.input.value;
    if (text !== "" && text === app.hitText && app.hits) return;
    const begun = performance.now();
    try {
      const hits = await app.stage.search.find(text);
      if (text !== this.input.value) return;
      this.searchMs = performance.now() - begun;
      app.setHits(hits, hits ? text : "");
      byId("search-count").textContent = hits ? `${hits.items.length}` : "";
      this.input.removeAttribute("aria-invalid");
      byId("search-error").hidden = true;
      if (hits) app.say(`${hits.items.length} hits`);
      if (hits) app.lists.show("hits");
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.searchError(error, text);
    }
    app.link.saveSoon();
  }

  /** Points at the word that is wrong. */
  searchError(error, text) {
    this.input.setAttribute("aria-invalid", "true");
    const line = byId("search-error");
    line.hidden = false;
    const end = Math.max(error.at + 1, error.at + error.length);
    fill(line, el("span", {}, text.slice(0, error.at)), el("mark", {}, text.slice(error.at, end) || "␣"), el("span", {}, text.slice(end)), el("div", {}, error.message));
    byId("search-count").textContent = "";
    byId("search-hint").hidden = true;
  }

  searchKey(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(this.timer);
      this.search().then(() => this.app.lists.step(event.shiftKey ? -1 : 1));
    } else if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      if (this.input.value) this.searchFor("");
      else {
        this.input.blur();
        this.app.graph.canvas.focus();
      }
    }
  }

  hint() {
    const hint = byId("search-hint");
    if (this.input.value) return;
    hint.hidden = false;
    fill(hint, ...EXAMPLES.map(([query, meaning]) => {
      const line = el("button", { type: "button", class: "hint", tabindex: "-1", onpointerdown: (event) => {
        event.preventDefault();
        this.searchFor(query);
      } }, el("code", {}, query), el("span", {}, meaning));
      return line;
    }), el("div", { class: "soft" }, `Fields: ${TEXT_FIELDS.join(" ")}`));
  }

  switchTheme() {
    switchTheme();
    this.refresh();
  }

  /** Closes what lies over the page; false if there was nothing. */
  escape() {
    const open = document.querySelector("dialog[open]");
    if (!open) return false;
    open.close();
    return true;
  }

  dialog(title, ...children) {
    const dialog = byId("dialog");
    fill(dialog, el("h2", {}, title), ...children, button("Close", () => dialog.close(), { class: "primary" }));
    dialog.showModal();
  }

  help() {
    const keys = HELP.map(([key, meaning]) => el("div", {}, el("kbd", {}, key), el("span", {}, meaning)));
    const words = EXAMPLES.map(([query, meaning]) => el("div", {}, el("code", {}, query), el("span", {}, meaning)));
    this.dialog("Keys and search", el("div", { class: "keys" }, ...keys), el("h3", {}, "Search"), el("div", { class: "keys wide" }, ...words),
      el("p", { class: "soft" }, "Blue is below what may be, orange above it; dashes mean not observed. The address keeps the state: copy it to share a place."));
  }

  exportMenu() {
    const { app } = this;
    const name = (app.stage.scene.facts.model || "model").replace(/[^\w.-]+/g, "_");
    const choices = [
      ["The visible picture as SVG", () => download(this.svg(), `${name}.svg`, "image/svg+xml")],
      ["The names found by the search, one a line", () => download(this.hitNames(), `${name}.names.txt`, "text/plain")],
      ["The display list as text", () => download(app.dump(), `${name}.display.txt`, "text/plain")],
      ["Print", () => print()],
    ];
    if (app.source.served) choices.unshift(["This page as one file that works offline", () => this.exportPage(name)]);
    const dialog = byId("dialog");
    this.dialog("Export", el("div", { class: "choices" }, ...choices.map(([text, act]) => button(text, () => {
      dialog.close();
      act();
    }))));
  }

  async exportPage(name) {
    try {
      download(await this.app.source.exported("html"), `${name}.html`, "text/html");
    } catch (error) {
      this.app.banner(`The page could not be written: ${error.message}`);
    }
  }

  svg() {
    this.app.dump();
    return svgOf(this.app.graph.list, theme.colors.canvas);
  }

  hitNames() {
    const { hits, stage } = this.app;
    return (hits ? [...hits.items] : []).map((item) => stage.scene.names.whole(item)).join("\n") + "\n";
  }
}
