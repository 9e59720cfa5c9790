// From places, camera and look to a display list: what can be seen, in as much detail as its size on the screen allows.

import { shapeText } from "./numbers.js";
import { MOST_LABELS } from "./display.js";
import { cutText, textWidth } from "./paint.js";
import { HEADER, PADDING } from "./sizes.js";
import { KIND, NONE } from "./scene.js";
import { pixelOf, theme } from "./theme.js";

const LEAST_BOX = 3;
const LEAST_EDGE_SCALE = 0.09;
const LEAST_TYPE_SCALE = 0.75;
const MARGIN = 40;

/** Fills a display list. */
export class Picture {
  /** @param {import("./display.js").DisplayList} list */
  constructor(list) {
    this.list = list;
  }

  /**
   * @param {import("./places.js").Places} places @param {import("./camera.js").Camera} camera @param {import("./look.js").Look} look
   * @param {{x: number, y: number, w: number, h: number}} frame the part of the canvas
   */
  build(places, camera, look, frame) {
    this.places = places;
    this.scene = places.scene;
    this.look = look;
    this.frame = frame;
    this.s = camera.scale;
    this.typed = 0;
    this.fontSize = Math.min(13, Math.max(8.5, Math.round(12 * this.s * 2) / 2));
    const groups = [{ group: 0, x: frame.x - camera.x * this.s, y: frame.y - camera.y * this.s, depth: 0 }];
    this.lineEnds = [];
    this.outlined = new Map();
    while (groups.length) this.group(groups.pop(), groups);
    this.outlines();
    this.labels();
  }

  group(at, groups) {
    const { places, s, frame } = this;
    const left = (frame.x - MARGIN - at.x) / s;
    const right = (frame.x + frame.w + MARGIN - at.x) / s;
    const top = (frame.y - MARGIN - at.y) / s;
    const bottom = (frame.y + frame.h + MARGIN - at.y) / s;
    if (s >= LEAST_EDGE_SCALE) this.edges(at, left, top, right, bottom);
    const bands = places.bands(at.group);
    for (let c = 0; c < bands.columns; c++) {
      const end = bands.columnStarts[c + 1];
      for (let l = places.firstLayerBelow(bands, c, top); l < end && bands.top[l] <= bottom; l++) {
        for (let i = bands.starts[l]; i < bands.starts[l + 1]; i++) {
          const item = bands.members[i];
          if (places.x[item] <= right && places.x[item] + places.w[item] >= left) this.item(item, at, groups);
        }
      }
    }
  }

  item(item, at, groups) {
    const { places, s, list, look } = this;
    const x = at.x + places.x[item] * s;
    const y = at.y + places.y[item] * s;
    const w = places.w[item] * s;
    const h = places.h[item] * s;
    const style = look.style(item);
    if (w < LEAST_BOX || h < LEAST_BOX) {
      const faded = look.fades && look.fades[item];
      list.pixels.rect(x, y, Math.max(1, w), Math.max(1, h), faded ? pixelOf(theme.colors.faint) : style.pixel);
      return;
    }
    if (places.open[item]) this.openGroup(item, x, y, w, h, at, groups);
    else this.closed(item, x, y, w, h, style);
  }

  openGroup(item, x, y, w, h, at, groups) {
    const { s, list, look, scene } = this;
    const { colors } = theme;
    const box = list.box(x, y, w, h, at.depth % 2 ? colors.card : colors.group, look.selected === item ? colors.accent : colors["group-line"], item);
    if (!box) return;
    box.radius = Math.min(8, h / 4);
    if (look.selected === item) box.width = 2.5;
    if (scene.kind[item] === KIND.body) box.dash = [6, 3];
    const headerHeight = HEADER * s;
    if (headerHeight >= 9) {
      const size = Math.min(13, Math.max(8.5, 12 * s));
      list.candidates.push({ area: w * 40, x: x + 8 * s, y: y + headerHeight / 2 + 2 * s, text: "▾ " + scene.label(item), width: w - 16 * s, size, color: colors.soft, bold: true, item });
    }
    groups.push({ group: item, x: x + PADDING * s, y: y + (PADDING + HEADER) * s, depth: at.depth + 1 });
  }

  closed(item, x, y, w, h, style) {
    const { list, look, scene } = this;
    const { colors } = theme;
    const faded = look.fades && look.fades[item];
    if (scene.kind[item] === KIND.repeat && h > 14) {
      const behind = list.box(x + 3, y + 3, w, h, style.fill, style.stroke, 0);
      if (behind && faded) behind.alpha = 0.25;
    }
    const box = list.box(x, y, w, h, style.fill, style.stroke, item);
    if (!box) {
      list.pixels.rect(x, y, w, h, style.pixel);
      return;
    }
    box.dash = (look.ghosts && look.ghosts[item]) || style.dash ? [4, 3] : null;
    if (scene.kind[item] === KIND.input || scene.kind[item] === KIND.output) box.radius = h / 2;
    if (faded) box.alpha = 0.25;
    this.emphasis(item, box);
    if (look.outlines) this.noteOutlines(item, x, y, w, h);
    if (h < 10 || w < 24 || faded) return;
    if (scene.isGroup(item)) this.groupText(item, x, y, w, h, style);
    else this.nodeText(item, x, y, w, h, style);
    if (look.cellsOf) this.cells(item, x, y, w, h);
    if (this.s > 0.5) this.railStubs(item, x, y, w, h, colors);
  }

  /** Selection, hits, marks. */
  emphasis(item, box) {
    const { look } = this;
    const { colors } = theme;
    if (look.hits && look.hits[item]) {
      box.stroke = colors.hit;
      box.width = 2;
    }
    if (look.path && look.path[item]) {
      box.stroke = colors.accent;
      box.width = 2;
    }
    if (look.marked.has(item)) {
      box.stroke = colors.open;
      box.width = 2.5;
    }
    if (look.selected === item) {
      box.stroke = colors.accent;
      box.width = 3;
    }
  }

  groupText(item, x, y, w, h, style) {
    const { scene, fontSize, look } = this;
    const nodes = look.countOf ? look.countOf(item) : 0;
    const number = look.numberOf ? look.numberOf(item) : "";
    const detail = number || (nodes ? `${nodes} nodes` : "");
    const two = detail !== "" && h >= fontSize * 2.5;
    this.text(x + 7, y + h * (two ? 0.33 : 0.5), (scene.isOpenable(item) ? "▸ " : "") + scene.label(item), w - 12, style.ink, w * h, true, item, true);
    if (two) this.text(x + 7, y + h * 0.7, detail, w - 12, style.soft, w * h * 0.6, false, item);
    if (look.badges && look.badges[item]) this.badge(item, x, y, w);
  }

  nodeText(item, x, y, w, h, style) {
    const { scene, fontSize, look, list } = this;
    const lines = Math.max(1, Math.floor((h - 4) / (fontSize * 1.3)));
    const operator = scene.operator(item) || scene.label(item);
    const name = scene.operator(item) ? scene.shortName(item) : "";
    const step = fontSize * 1.3;
    const used = Math.min(lines, 1 + (name ? 1 : 0) + (scene.chips.size(item) || 0));
    let line = y + h / 2 - ((used - 1) * step) / 2;
    const bodies = scene.isOpenable(item) ? "▸ " : "";
    let number = look.numberOf ? look.numberOf(item) : "";
    const numberWidth = number ? textWidth(number, fontSize - 1) + 10 : 0;
    if (textWidth(bodies + operator, fontSize, true) + numberWidth + 12 > w) number = "";
    this.text(x + 7, line, bodies + operator, w - 12, style.ink, w * h, true, item);
    if (number) list.candidates.push({ area: w * h * 0.9, x: x + w - 6, y: line, text: number, width: w / 2, size: fontSize - 1, color: style.soft, align: "right", item });
    if (name && lines > 1) this.text(x + 7, (line += step), name, w - 12, style.soft, w * h * 0.6, false, item, true);
    else if (name && !number) {
      const taken = textWidth(bodies + operator, fontSize, true) + 14;
      if (w - taken - 6 > Math.min(80, textWidth(name, fontSize))) this.text(x + taken, line, name, w - taken - 6, style.soft, w * h * 0.5, false, item, true);
    }
    this.chipTexts(item, x, line, step, w, used - (name ? 2 : 1), style);
    if (look.badges && look.badges[item]) this.badge(item, x, y, w);
  }

  chipTexts(item, x, line, step, w, most, style) {
    if (most <= 0) return;
    const { scene } = this;
    let shown = 0;
    for (const chip of scene.chips.of(item)) {
      if (shown >= most) break;
      shown++;
      this.text(x + 7, line + step * shown, "◦ " + scene.chipTexts.at(chip), w - 12, style.soft, w * step * 0.5, false, item);
    }
  }

  badge(item, x, y, w) {
    const { list, look } = this;
    const badge = look.badges[item];
    const size = 15;
    const box = list.box(x + w - size / 2, y - size / 2, size, size, badge.color, theme.colors.card, 0);
    if (!box) return;
    box.radius = size / 2;
    list.candidates.push({ area: 1e9, x: x + w, y, text: badge.sign, width: 20, size: 11, color: badge.ink, align: "center", bold: true, item });
  }

  /** Small multiples: one cell for each side, of one scale. */
  cells(item, x, y, w, h) {
    const cells = this.look.cellsOf(item);
    if (cells.length < 2) return;
    const size = Math.max(3, Math.min(8, h * 0.22));
    cells.forEach((cell, i) => {
      const box = this.list.box(x + w - (cells.length - i) * (size + 1) - 3, y + h - size / 2, size, size, cell, theme.colors.card, 0);
      if (box) box.radius = 0;
    });
  }

  text(x, y, text, width, color, area, bold, item, tail = false) {
    this.list.candidates.push({ area, x, y, text, width, size: this.fontSize, color, bold, item, tail });
  }

  /** Writes the labels with the most room around them. */
  labels() {
    const { list } = this;
    let { candidates } = list;
    if (candidates.length > MOST_LABELS) {
      const areas = Float64Array.from(candidates, (candidate) => candidate.area).sort();
      const least = areas[areas.length - MOST_LABELS];
      candidates = candidates.filter((candidate) => candidate.area >= least).slice(0, MOST_LABELS);
    }
    for (const { x, y, text, width, size, color, align, bold, item, tail } of candidates) {
      const cut = cutText(text, width, size, tail, bold);
      if (cut !== "") list.label(x, y, cut, size, color, align || "left", bold || false, item);
    }
    list.candidates = [];
  }

  edges(at, left, top, right, bottom) {
    const { places, list, s, look, scene } = this;
    const routes = places.routes(at.group);
    const typed = s >= LEAST_TYPE_SCALE;
    routes.within(left, top, right, bottom, (i) => {
      const edge = routes.edges[i];
      const value = scene.edgeValue[edge];
      const chosen = this.isChosen(edge, value);
      if (scene.rail[value] && !chosen) return true;
      if (routes.turns[i] && !chosen) return this.turn(routes, i, at);
      const style = this.edgeLook(edge, value, chosen);
      const line = list.line(routes.points, routes.starts[i], routes.starts[i + 1], s, at.x, at.y, style.color, style.width);
      if (!line) return false;
      if (style.dash) line.dash = style.dash;
      if (look.fades && (this.isFaded(scene.edgeFrom[edge]) || this.isFaded(scene.edgeTo[edge]))) line.alpha = 0.2;
      else if (typed && this.typed < 150 && scene.edgeFrom[edge] !== NONE) this.edgeType(routes, i, at, value);
      return true;
    });
  }

  isFaded(item) {
    return item !== NONE && this.look.fades[item] === 1;
  }

  isChosen(edge, value) {
    const { look, scene } = this;
    return value === look.selectedValue || (look.selected !== 0 && (scene.edgeFrom[edge] === look.selected || scene.edgeTo[edge] === look.selected));
  }

  edgeLook(edge, value, chosen) {
    const { colors } = theme;
    const { look, scene } = this;
    if (chosen) return { color: colors.accent, width: 2.2 };
    if (look.path && look.path[scene.edgeFrom[edge]] && look.path[scene.edgeTo[edge]]) return { color: colors.accent, width: 2.5 };
    const style = look.edgeStyle && look.edgeStyle(value, edge);
    if (style) return style;
    return { color: colors.edge, width: Math.min(1.4, Math.max(0.7, this.s * 1.3)) };
  }

  /** An edge that would run back over its column: two numbered stubs. */
  turn(routes, i, at) {
    const { list, s } = this;
    const { colors } = theme;
    const { points, starts } = routes;
    const begin = starts[i];
    const end = starts[i + 1] - 2;
    const number = `↪ ${routes.edges[i] - routes.edges[0] + 1}`;
    list.line(new Float32Array([points[begin], points[begin + 1], points[begin], points[begin + 1] + 14]), 0, 4, s, at.x, at.y, colors.edge, 1);
    list.line(new Float32Array([points[end], points[end + 1] - 14, points[end], points[end + 1]]), 0, 4, s, at.x, at.y, colors.edge, 1);
    if (s > 0.5) {
      list.candidates.push({ area: 300, x: at.x + points[begin] * s + 3, y: at.y + (points[begin + 1] + 12) * s, text: number, width: 60, size: 9, color: colors.soft, item: 0 });
      list.candidates.push({ area: 300, x: at.x + points[end] * s + 3, y: at.y + (points[end + 1] - 10) * s, text: number, width: 60, size: 9, color: colors.soft, item: 0 });
    }
    return true;
  }

  /** The shape of a value beside the beginning of its line, once for each value and place. */
  edgeType(routes, i, at, value) {
    const { s, scene, list } = this;
    const begin = routes.starts[i];
    const x = at.x + routes.points[begin] * s;
    const y = at.y + routes.points[begin + 1] * s;
    const length = (routes.points[begin + 3] - routes.points[begin + 1]) * s;
    const text = length < 16 ? "" : shapeText(scene.typeOf(value));
    if (text === "" || this.lineEnds.some(([left, top, wide]) => Math.abs(top - y) < 9 && x < left + wide && x + wide > left)) return;
    this.lineEnds.push([x, y, textWidth(text, 10) + 4]);
    this.typed++;
    list.candidates.push({ area: 500, x: x + 4, y: y + 9, text, width: 150, size: Math.min(10.5, 10 * s), color: theme.colors.soft, item: 0 });
  }

  /** Labelled stubs of values that are not drawn as lines. */
  railStubs(item, x, y, w, h, colors) {
    const { scene, s } = this;
    if (scene.kind[item] !== KIND.node) return;
    let shown = 0;
    for (const use of scene.usesOfNode.of(item)) {
      const value = scene.useValue[use];
      if (!scene.rail[value] || shown >= 3) continue;
      this.stub(x + w - 10 * s - shown * 10 * s, y, -9 * s, scene.valueNames.at(value), value, colors);
      shown++;
    }
    for (const value of scene.madeOfNode.of(item)) {
      if (scene.rail[value]) this.stub(x + w - 10 * s, y + h, 9 * s, scene.valueNames.at(value), value, colors);
    }
  }

  stub(x, y, length, name, value, colors) {
    const { list, s, look } = this;
    const color = value === look.selectedValue ? colors.accent : colors["e-control"];
    list.line(new Float32Array([0, 0, 0, length]), 0, 4, 1, x, y, color, 1.5);
    list.candidates.push({ area: 200, x: x + 4, y: y + length, text: "≡ " + name, width: 90 * s, size: Math.min(10, 9.5 * s), color, item: 0, tail: true });
  }

  /** Remembers the extent of each layer of a plan within a parent. */
  noteOutlines(item, x, y, w, h) {
    for (const layer of this.look.outlines.layersOf(item)) {
      const key = layer * 65536 + (this.scene.parent[item] % 65536);
      const at = this.outlined.get(key);
      if (!at) this.outlined.set(key, { layer, left: x, top: y, right: x + w, bottom: y + h, members: 1 });
      else {
        at.left = Math.min(at.left, x);
        at.top = Math.min(at.top, y);
        at.right = Math.max(at.right, x + w);
        at.bottom = Math.max(at.bottom, y + h);
        at.members++;
      }
    }
  }

  outlines() {
    const { list, look } = this;
    for (const at of this.outlined.values()) {
      const style = look.outlines.style(at.layer);
      const box = list.box(at.left - 5, at.top - 5, at.right - at.left + 10, at.bottom - at.top + 10, "", style.color, 0);
      if (!box) return;
      box.width = style.chosen ? 3.5 : 1.8;
      box.radius = 9;
      box.dash = style.dashed ? [5, 4] : null;
      if (this.s > 0.55 && style.text) {
        list.candidates.push({ area: 250, x: at.right + 8, y: at.top + 4, text: style.text, width: 140 * this.s, size: 10, color: style.color, item: 0 });
      }
    }
  }
}
