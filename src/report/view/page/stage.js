// One scene with its places, camera and look; opening, closing and moving with a short animation.

import { Camera, calm, TOP_BAR } from "./camera.js";
import { Look } from "./look.js";
import { Places } from "./places.js";
import { KIND, NONE } from "./scene.js";

const MOVE_MS = 150;
const MOST_ANIMATED = 3000;
const MOST_FIRST = 40;
const MOST_BESIDE = 6;  // among so few, a group may have
const MOST_ALONE = 320;  // so many children

export class Stage {
  /** @param {import("./scene.js").Scene} scene @param {() => void} changed asks for a frame */
  constructor(scene, changed) {
    this.scene = scene;
    this.changed = changed;
    this.places = new Places(scene);
    this.camera = new Camera();
    this.look = new Look(scene);
    this.frame = { x: 0, y: 0, w: 800, h: 600 };
    this.animation = null;
    this.nodeCounts = null;
    this.look.countOf = (item) => this.nodesIn(item);
  }

  /** Nodes inside a group, at any depth. */
  nodesIn(item) {
    if (!this.nodeCounts) {
      this.nodeCounts = new Uint32Array(this.scene.count);
      for (let i = this.scene.count - 1; i > 0; i--) {
        if (!this.scene.isGroup(i)) this.nodeCounts[i]++;
        if (this.scene.parent[i] < i) this.nodeCounts[this.scene.parent[i]] += this.nodeCounts[i];
      }
    }
    return this.nodeCounts[item];
  }

  resize(frame) {
    this.frame = frame;
  }

  /** Opens or closes groups, keeping one where it is on the screen. @param {number[]} groups @param {boolean} open @param {number} [anchor] */
  setOpen(groups, open, anchor = groups[0]) {
    this.finish();
    const { places, camera } = this;
    const before = anchor ? places.box(anchor) : null;
    const old = new Map();
    for (const group of this.affected(groups)) old.set(group, this.snapshot(group));
    const moved = places.setOpen(groups, open);
    if (before) {
      const after = places.box(anchor);
      camera.x += after.x - before.x;
      camera.y += after.y - before.y;
      if (!open) this.keepInView(after);
    }
    this.animate(moved, old, anchor);
    this.changed();
  }

  /** After closing, a group whose header was above the view comes back into it. */
  keepInView(after) {
    const { camera, frame } = this;
    if (after.y < camera.y) camera.y = after.y - 40 / camera.scale;
    if (after.x + after.w < camera.x || after.x > camera.x + frame.w / camera.scale) camera.x = after.x + after.w / 2 - frame.w / 2 / camera.scale;
  }

  affected(groups) {
    const found = new Set();
    for (const group of groups) for (let at = group; at !== NONE && !found.has(at); at = this.scene.parent[at]) found.add(at);
    return found;
  }

  snapshot(group) {
    const { scene, places } = this;
    const from = scene.first_child[group];
    const to = from + scene.children[group];
    return [places.x, places.y, places.w, places.h].map((column) => column.slice(from, to));
  }

  /** Moves children from their old places to the new ones. */
  animate(moved, old, anchor) {
    let children = 0;
    for (const group of moved) children += this.scene.children[group];
    if (calm() || children > MOST_ANIMATED || !anchor) return;
    const news = new Map([...moved].map((group) => [group, this.snapshot(group)]));
    const target = this.places.box(anchor);
    this.animation = { begun: performance.now(), old, news, anchor, target, at: 1 };
    this.step(0);
  }

  /** One step of an animation; returns whether it goes on. @param {number} [share] */
  advance(now) {
    const { animation } = this;
    if (!animation) return false;
    const share = Math.min(1, (now - animation.begun) / MOVE_MS);
    if (animation.from) return this.glide(share);
    this.step(1 - (1 - share) ** 3);
    if (share >= 1) this.finish();
    return this.animation !== null;
  }

  step(share) {
    const { scene, places, animation } = this;
    for (const [group, columns] of animation.news) {
      const before = animation.old.get(group);
      const first = scene.first_child[group];
      [places.x, places.y, places.w, places.h].forEach((column, c) => {
        for (let i = 0; i < columns[c].length; i++) column[first + i] = before[c][i] + (columns[c][i] - before[c][i]) * share;
      });
      places.routesOf.delete(group);
    }
    const box = places.box(animation.anchor);
    const dx = box.x - animation.target.x;
    const dy = box.y - animation.target.y;
    this.camera.x += dx - (animation.dx || 0);
    this.camera.y += dy - (animation.dy || 0);
    animation.dx = dx;
    animation.dy = dy;
  }

  /** Ends an animation at its goal. */
  finish() {
    const { animation } = this;
    if (!animation) return;
    if (animation.from) this.camera.set(animation.to.x, animation.to.y, animation.to.scale);
    else this.step(1);
    this.animation = null;
  }

  /** Moves the camera, at once or gliding. @param {{x: number, y: number, scale: number}} to */
  moveTo(to, glide = true) {
    this.finish();
    const { camera } = this;
    if (!glide || calm()) camera.set(to.x, to.y, to.scale);
    else this.animation = { begun: performance.now(), from: { x: camera.x, y: camera.y, scale: camera.scale }, to };
    this.changed();
  }

  glide(share) {
    const { from, to } = this.animation;
    const eased = 1 - (1 - share) ** 3;
    const scale = from.scale * (to.scale / from.scale) ** eased;
    const span = to.scale === from.scale ? eased : (1 / scale - 1 / from.scale) / (1 / to.scale - 1 / from.scale);
    this.camera.set(from.x + (to.x - from.x) * span, from.y + (to.y - from.y) * span, scale);
    if (share >= 1) this.finish();
    return this.animation !== null;
  }

  toggle(group) {
    if (this.scene.isOpenable(group)) this.setOpen([group], !this.places.open[group]);
  }

  /** Opens all groups around an item. */
  openAround(item) {
    const closed = this.scene.ancestors(item).filter((group) => !this.places.open[group]);
    if (closed.length) this.setOpen(closed, true, 0);
  }

  /** Brings an item into the view, opening what it is in. */
  reveal(item, glide = true) {
    this.openAround(item);
    const { camera, frame } = this;
    const box = this.places.box(item);
    const scale = Math.max(camera.scale, 0.85);
    const margin = 40 / camera.scale;
    const inside = box.x >= camera.x + margin && box.y >= camera.y + margin + TOP_BAR / camera.scale && box.x + box.w <= camera.x + frame.w / camera.scale - margin &&
      box.y + box.h <= camera.y + frame.h / camera.scale - margin;
    if (inside && camera.scale >= 0.45) this.changed();
    else if (this.places.open[item]) this.moveTo(camera.fitted(box, frame.w, frame.h, 1), glide);
    else this.moveTo({ x: box.x + box.w / 2 - frame.w / 2 / scale, y: box.y + box.h / 2 - frame.h / 2 / scale, scale }, glide);
  }

  fitItem(item, glide = true) {
    this.openAround(item);
    const { frame } = this;
    this.moveTo(this.camera.fitted(this.places.box(item), frame.w, frame.h, item === 0 ? 1 : 1.2), glide);
  }

  /** Opens the first groups, level by level, as long as what is shown stays small. @param {(item: number) => boolean} [wanted] */
  openFirst(wanted = (item) => this.scene.kind[item] !== KIND.body) {
    const { scene, places } = this;
    let shown = scene.children[0];
    for (let level = [0]; level.length;) {
      const next = [];
      const alone = level.length === 1 && scene.children[level[0]] <= MOST_BESIDE;
      for (const group of level) {
        for (let child = scene.first_child[group]; child < scene.first_child[group] + scene.children[group]; child++) {
          if (!scene.isOpenable(child) || !wanted(child) || shown + scene.children[child] > (alone ? MOST_ALONE : MOST_FIRST)) continue;
          shown += scene.children[child];
          next.push(child);
        }
      }
      places.setOpen(next, true);
      level = next;
    }
  }

  /** The view with which a model opens: its beginning in a size that can be read, or all of it. */
  firstView() {
    const { camera, frame, places } = this;
    const whole = camera.fitted(places.box(0), frame.w, frame.h, 1);
    if (whole.scale >= 0.5) camera.set(whole.x, whole.y, whole.scale);
    else {
      const scale = Math.min(1, Math.max(0.55, (frame.w - 40) / Math.max(1, places.width)));
      const middle = places.width * scale <= frame.w ? places.width / 2 : this.firstItemMiddle();
      const left = middle - frame.w / 2 / scale;
      camera.set(places.width * scale > frame.w ? Math.max(left, -24 / scale) : left, -(TOP_BAR + 12) / scale, scale);
    }
  }

  firstItemMiddle() {
    const first = this.places.bands(0).members[0];
    return first === undefined ? 0 : this.places.x[first] + this.places.w[first] / 2;
  }

  /** Groups around the middle of the view, from the outside in. */
  groupsInView() {
    const { camera, frame } = this;
    const found = [];
    let item = this.places.itemAt(camera.x + frame.w / 2 / camera.scale, camera.y + Math.min(frame.h / 3, 120) / camera.scale);
    if (item && !this.places.open[item]) item = this.scene.parent[item];
    for (let at = item; at && at !== NONE; at = this.scene.parent[at]) found.push(at);
    return found.reverse();
  }

}
