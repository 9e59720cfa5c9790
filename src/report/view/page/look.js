// How items look: a style for each, from operators or from the active overlay; marks, fading, outlines.

import { KIND } from "./scene.js";
import { categoryColor, familyOf, pixelOf, scaleColors, softened, STEPS, theme } from "./theme.js";

const PLAIN = ["product", "norm", "activation", "math", "shape", "quant", "control", "other", "io"];
const GROUP_STYLE = PLAIN.length;
const UNSEEN_STYLE = GROUP_STYLE + 1;
const FIRST_SCALE = UNSEEN_STYLE + 1;

function styleOf(fill, ink, stroke, soft) {
  return { fill, ink, stroke, soft: soft || ink, pixel: pixelOf(stroke.length > 7 ? fill : stroke), dash: null };
}

/** Styles of families, groups and unseen items, in the colours of the moment. */
function plainStyles() {
  const { colors } = theme;
  const styles = PLAIN.map((family) => styleOf(colors["f-" + family], colors.ink, colors["e-" + family], colors.soft));
  styles.push(styleOf(colors.card, colors.ink, colors["group-line"], colors.soft));
  styles.push({ ...styleOf(colors.ground, colors.soft, colors["group-line"], colors.soft), dash: [4, 3] });
  return styles;
}

export class Look {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.index = new Uint8Array(scene.count);
    this.styles = [];
    this.fades = null;
    this.hits = null;
    this.path = null;
    this.selected = 0;
    this.selectedValue = -1;
    this.marked = new Set();
    this.badges = null;
    this.numberOf = null;
    this.cellsOf = null;
    this.edgeStyle = null;
    this.outlines = null;
    this.ghosts = null;
    this.plain();
  }

  /** Colours by family of operators. */
  plain() {
    const { scene } = this;
    const families = scene.operators.map((name) => PLAIN.indexOf(familyOf(name)));
    for (let i = 0; i < scene.count; i++) {
      if (scene.isGroup(i)) this.index[i] = GROUP_STYLE;
      else if (scene.kind[i] === KIND.input || scene.kind[i] === KIND.output) this.index[i] = PLAIN.indexOf("io");
      else this.index[i] = families[scene.op[i]] ?? PLAIN.indexOf("other");
    }
    this.styles = plainStyles();
    this.numberOf = null;
    this.cellsOf = null;
    this.edgeStyle = null;
  }

  /** Colours by numbers. @param {Float32Array|Float64Array} values one an item @param {import("./overlay.js").Scale} scale */
  byNumbers(values, scale) {
    const styles = plainStyles().slice(0, FIRST_SCALE);
    const colors = scaleColors(scale.kind === "diverging" ? "diverging" : "sequential");
    for (let i = 0; i < STEPS; i++) styles.push(styleOf(colors.fills[i], colors.inks[i], colors.fills[i], colors.inks[i]));
    for (const style of styles.slice(FIRST_SCALE)) style.stroke = theme.colors["group-line"];
    for (let i = 0; i < this.scene.count; i++) this.index[i] = Number.isNaN(values[i]) ? this.unseen(i) : FIRST_SCALE + scale.step(values[i]);
    this.styles = styles;
  }

  /** Colours by classes; class 255 is not observed. @param {Uint8Array} classes one an item */
  byClasses(classes, observed = false) {
    const styles = plainStyles().slice(0, FIRST_SCALE);
    if (observed) styles[UNSEEN_STYLE].dash = null;
    for (let i = 0; i < 8; i++) styles.push(styleOf(softened(categoryColor(i), 0.24), theme.colors.ink, categoryColor(i), theme.colors.soft));
    for (let i = 0; i < this.scene.count; i++) this.index[i] = classes[i] === 255 ? this.unseen(i) : FIRST_SCALE + (classes[i] % 8);
    this.styles = styles;
  }

  /** The style of an item without a number: only nodes could have had one. */
  unseen(item) {
    const { kind } = this.scene;
    if (kind[item] === KIND.input || kind[item] === KIND.output) return PLAIN.indexOf("io");
    return this.scene.isGroup(item) ? GROUP_STYLE : UNSEEN_STYLE;
  }

  style(item) {
    return this.styles[this.index[item]];
  }

  /** The style of groups whatever the colours are. */
  groupStyle() {
    return this.styles[GROUP_STYLE];
  }

  /** Shows only some items in full. Groups around them stay. @param {Uint8Array|null} mask one an item */
  isolate(mask) {
    this.fades = mask ? fadesOf(this.scene, mask) : null;
  }
}

/** One for every item that neither is wanted nor holds or stands in one that is. */
function fadesOf(scene, mask) {
  const fades = new Uint8Array(scene.count);
  for (let i = 0; i < scene.count; i++) fades[i] = mask[i] ? 0 : 1;
  for (let i = scene.count - 1; i > 0; i--) if (!fades[i] && scene.parent[i] < scene.count) fades[scene.parent[i]] = 0;
  return fades;
}
