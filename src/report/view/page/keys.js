// Keys: everything that the pointer reaches.

import { byId } from "./dom.js";
import { NONE } from "./scene.js";

export const HELP = [
  ["↑ ↓", "producer, consumer"], ["← →", "neighbours in the layer"], ["Enter", "open a group"], ["Escape", "close; clear"],
  ["Backspace", "back"], ["/", "search"], ["n p", "next, previous hit, finding or change"], ["e", "next guilty layer"],
  ["f", "fit the selection"], ["0", "whole model"], ["+ −", "zoom"], ["1 … 6", "graph, table, timeline, icicle, roofline, memory"],
  ["b", "mark, or unmark"], ["g", "path from the mark to the selection"], ["u d", "isolate what comes before, after"], ["a", "open all, close all"], ["[ ]", "step of a rewrite"],
  ["i", "colour by another overlay"], ["t", "light or dark"], ["?", "this help"], ["wheel", "pans; with Ctrl zooms; with Shift sideways"],
];

/** @param {import("./app.js").App} app */
export function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.defaultPrevented || event.altKey || ((event.ctrlKey || event.metaKey) && event.key !== "f")) return;
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      if (app.header.escape(event)) event.preventDefault();
      else if (typing) typing.blur();
      else escape(app);
      return;
    }
    if (typing) return;
    if (event.target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ")) return;
    const action = ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action(app);
  });
}

/** Without a selection: the first item that can be seen. */
function startingItem(app) {
  const { places, camera } = app.stage;
  const bands = places.bands(0);
  return [...bands.members].find((item) => places.y[item] >= camera.y) || bands.members[0] || 0;
}

function follow(app, forward) {
  const item = app.chosen();
  if (!item) return app.choose(startingItem(app));
  const { scene, places } = app.stage;
  const found = scene.isGroup(item) ? groupNeighbours(scene, item, forward) : scene.neighbours(item, forward);
  const shown = found.map((node) => places.shownFor(node)).filter((other) => other !== item);
  const nearest = shown.sort((a, b) => Math.abs(scene.order[a] - scene.order[item]) - Math.abs(scene.order[b] - scene.order[item]))[0];
  if (nearest !== undefined) app.choose(nearest);
  else app.say(forward ? "no consumer" : "no producer");
  return undefined;
}

/** What follows a group: by the edges beside it. */
function groupNeighbours(scene, group, forward) {
  const found = [];
  for (const edge of scene.edgesOf.of(scene.parent[group])) {
    if (forward && scene.edgeFrom[edge] === group && scene.edgeTo[edge] !== NONE) found.push(scene.edgeTo[edge]);
    if (!forward && scene.edgeTo[edge] === group && scene.edgeFrom[edge] !== NONE) found.push(scene.edgeFrom[edge]);
  }
  return found;
}

function beside(app, step) {
  const item = app.chosen();
  if (!item) return app.choose(startingItem(app));
  const { scene, places } = app.stage;
  const { members } = places.bands(scene.parent[item]);
  const next = members[members.indexOf(item) + step];
  if (next !== undefined && scene.layer[next] === scene.layer[item]) app.choose(next);
  return undefined;
}

function enter(app) {
  const item = app.chosen();
  if (!item) return app.choose(startingItem(app));
  const { scene, places } = app.stage;
  if (!scene.isOpenable(item)) return app.stage.fitItem(item);
  if (!places.open[item]) app.toggle(app.stage, item);
  else app.choose(places.bands(item).members[0]);
  return undefined;
}

function escape(app) {
  const { stage } = app;
  const item = app.chosen();
  const group = item && (stage.places.open[item] ? item : stage.scene.parent[item]);
  if (stage.look.fades || stage.look.path) app.clearEmphasis();
  else if (app.hits) app.setHits(null, "");
  else if (group && group !== NONE) {
    app.setOpen(stage, [group], false, group);
    app.choose(group);
  } else app.select(null);
}

function zoom(app, factor) {
  const { stage } = app;
  stage.finish();
  stage.camera.zoom(factor, stage.frame.w / 2, stage.frame.h / 2);
  app.moved(stage);
  app.request();
}

function mark(app) {
  const item = app.chosen();
  if (!item) return;
  const { marked } = app.stage.look;
  if (!marked.delete(item)) marked.add(item);
  app.say(marked.has(item) ? "marked" : "mark removed");
  app.panel.show();
  app.request();
}

/** Opens all groups, or closes them; with very many, only those of the first level. */
export function toggleAll(app) {
  const { stage } = app;
  const { scene } = stage;
  const open = stage.places.openGroups();
  if (open.length) app.setOpen(stage, open, false, 0);
  else app.setOpen(stage, Array.from({ length: scene.count }, (_, i) => i).filter((i) => scene.isOpenable(i) && i), true, 0);
  stage.firstView();
}

const ACTIONS = {
  ArrowUp: (app) => follow(app, false),
  ArrowDown: (app) => follow(app, true),
  ArrowLeft: (app) => beside(app, -1),
  ArrowRight: (app) => beside(app, 1),
  Enter: enter,
  Backspace: () => history.back(),
  "/": () => byId("search").focus(),
  n: (app) => app.lists.step(1),
  p: (app) => app.lists.step(-1),
  e: (app) => app.lists.nextGuilty(),
  f: (app) => app.stage.fitItem(app.chosen()),
  0: (app) => app.stage.fitItem(0),
  "+": (app) => zoom(app, 1.3),
  "=": (app) => zoom(app, 1.3),
  "-": (app) => zoom(app, 1 / 1.3),
  b: mark,
  g: (app) => app.showPath(),
  u: (app) => app.panel.isolateReach(false),
  d: (app) => app.panel.isolateReach(true),
  a: toggleAll,
  i: (app) => app.header.nextOverlay(),
  "[": (app) => app.steps.go(app.steps.at - 1),
  "]": (app) => app.steps.go(app.steps.at + 1),
  t: (app) => app.header.switchTheme(),
  "?": (app) => app.header.help(),
};
for (let view = 1; view <= 6; view++) ACTIONS[view] = (app) => app.dock.show(view);
