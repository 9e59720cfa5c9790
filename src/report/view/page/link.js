// The state in the fragment of the address, so that a link leads to it and "back" undoes it.

const SAVE_MS = 400;

export class Link {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.ready = false;
    this.timer = 0;
    addEventListener("popstate", () => this.restore(location.hash));
  }

  /** The state as text. */
  text() {
    const { app } = this;
    const { stage, selection } = app;
    const parts = [];
    if (stage !== app.stages[0]) parts.push("s=" + app.stages.indexOf(stage));
    if (app.sideBySide) parts.push("both=1");
    if (selection) parts.push((selection.kind === "value" ? "v=" : "i=") + selection.id);
    const open = stage.places.openGroups();
    if (open.length && open.length <= 400) parts.push("o=" + deltas(open));
    const { x, y, scale } = stage.animation && stage.animation.to ? stage.animation.to : stage.camera;
    parts.push(`c=${Number(x.toFixed(4))},${Number(y.toFixed(4))},${Number(scale.toPrecision(10))}`);
    if (app.hitText) parts.push("q=" + encodeURIComponent(app.hitText));
    if (app.overlayId) parts.push("l=" + [app.overlayId, app.side, app.field].map(encodeURIComponent).join(","));
    if (app.dock.view !== 1) parts.push("d=" + app.dock.view);
    return parts.join("&");
  }

  /** Writes the state, as a new step of the history or in place of the last one. */
  save(push = false) {
    if (!this.ready) return;
    clearTimeout(this.timer);
    const hash = "#" + this.text();
    if (hash === location.hash) return;
    try {
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    } catch {
      // Browsers that limit how often the address changes; the next change is written.
    }
  }

  saveSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_MS);
  }

  /** @param {string} hash */
  async restore(hash) {
    const state = new URLSearchParams(hash.replace(/^#/, ""));
    if (![...state.keys()].length) return;
    const { app } = this;
    const ready = this.ready;
    this.ready = false;
    const stage = app.stages[Number(state.get("s") || 0)] || app.stages[0];
    if (state.get("both") && app.stages.length > 1) app.showSideBySide();
    else if (stage !== app.stage) app.showStage(stage);
    if (state.has("l")) app.useOverlay(...state.get("l").split(",").map(decodeURIComponent));
    this.restoreOpen(stage, state.get("o") || "");
    const camera = (state.get("c") || "").split(",").map(Number);
    if (camera.length === 3 && camera.every(Number.isFinite)) stage.moveTo({ x: camera[0], y: camera[1], scale: camera[2] }, ready);
    if (state.has("d")) app.dock.show(Number(state.get("d")));
    if (state.has("q")) await app.header.searchFor(state.get("q"));
    this.restoreSelection(stage, state);
    app.tree.refresh();
    this.ready = ready;
  }

  restoreOpen(stage, text) {
    const wanted = new Set(fromDeltas(text));
    const open = stage.places.openGroups();
    stage.setOpen(open.filter((group) => !wanted.has(group)), false, 0);
    stage.setOpen([...wanted].filter((group) => group < stage.scene.count), true, 0);
  }

  restoreSelection(stage, state) {
    const { app } = this;
    const id = Number(state.get("i") ?? state.get("v"));
    const kind = state.has("v") ? "value" : "item";
    const most = kind === "value" ? stage.scene.values : stage.scene.count;
    if ((state.has("i") || state.has("v")) && id < most) app.select({ kind, stage, id }, { reveal: false, push: false });
    else app.select(null, { push: false });
  }
}

function deltas(numbers) {
  let last = 0;
  return numbers.map((number) => {
    const text = (number - last).toString(36);
    last = number;
    return text;
  }).join(".");
}

function fromDeltas(text) {
  let last = 0;
  return text.split(".").filter(Boolean).map((part) => (last += parseInt(part, 36))).filter(Number.isFinite);
}
