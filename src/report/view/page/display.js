// The display list: what a frame shows, as plain commands, bounded in number. Canvas, SVG and the text of tests come from it.

export const MOST_BOXES = 3000;
export const MOST_LABELS = 400;
export const MOST_CURVES = 500;
export const MOST_LINES = 1500;

export class DisplayList {
  constructor() {
    this.commands = [];
    this.count = 0;
    this.pixels = new Pixels();
    this.reset(1, 1);
  }

  reset(width, height) {
    this.width = width;
    this.height = height;
    this.count = 0;
    this.boxes = 0;
    this.curves = 0;
    this.straight = 0;
    this.labels = 0;
    this.candidates = [];
    this.pixels.reset(width, height);
  }

  command(kind) {
    let command = this.commands[this.count];
    if (!command) this.commands.push((command = { kind: "", x: 0, y: 0, w: 0, h: 0, fill: "", stroke: "", width: 1, radius: 0, dash: null,
      alpha: 1, item: 0, text: "", size: 0, bold: false, align: "left", points: null, begin: 0, end: 0, smooth: false, scale: 1, dx: 0, dy: 0 }));
    this.count++;
    command.kind = kind;
    command.alpha = 1;
    command.dash = null;
    command.item = 0;
    return command;
  }

  /** Adds a box; null when there are enough. */
  box(x, y, w, h, fill, stroke, item) {
    if (this.boxes >= MOST_BOXES) return null;
    this.boxes++;
    const box = this.command("box");
    box.x = x;
    box.y = y;
    box.w = w;
    box.h = h;
    box.fill = fill;
    box.stroke = stroke;
    box.width = 1;
    box.radius = Math.min(6, h / 4);
    box.item = item;
    return box;
  }

  /** Adds a line over points in the picture's units, which become pixels by a factor and a shift. */
  line(points, begin, end, scale, dx, dy, color, width) {
    if (this.curves + this.straight >= MOST_CURVES + MOST_LINES) return null;
    const line = this.command("line");
    line.smooth = this.curves < MOST_CURVES;
    if (line.smooth) this.curves++;
    else this.straight++;
    line.points = points;
    line.begin = begin;
    line.end = end;
    line.scale = scale;
    line.dx = dx;
    line.dy = dy;
    line.stroke = color;
    line.width = width;
    return line;
  }

  /** Adds a label. */
  label(x, y, text, size, color, align = "left", bold = false, item = 0) {
    const label = this.command("text");
    label.x = x;
    label.y = y;
    label.text = text;
    label.size = size;
    label.fill = color;
    label.align = align;
    label.bold = bold;
    label.item = item;
    this.labels++;
    return label;
  }

  /** The list as text, for tests. */
  dump() {
    const lines = [`view ${Math.round(this.width)}x${Math.round(this.height)}`];
    for (let i = 0; i < this.count; i++) lines.push(dumpLine(this.commands[i]));
    if (this.pixels.count) lines.push(`pixels ${this.pixels.count}`);
    return lines.join("\n") + "\n";
  }
}

function dumpLine(command) {
  const at = `${Math.round(command.x)},${Math.round(command.y)}`;
  const extra = (command.dash ? " dashed" : "") + (command.alpha < 1 ? " faded" : "") + (command.item ? ` #${command.item}` : "");
  if (command.kind === "box") {
    return `box ${at} ${Math.round(command.w)}x${Math.round(command.h)} ${command.fill || "none"} ${command.stroke || "none"}${extra}`;
  }
  if (command.kind === "text") return `text ${at} ${JSON.stringify(command.text)} ${command.fill}${command.bold ? " bold" : ""}${extra}`;
  const points = [];
  for (let p = command.begin; p < command.end; p += 2) {
    points.push(`${Math.round(command.dx + command.points[p] * command.scale)},${Math.round(command.dy + command.points[p + 1] * command.scale)}`);
  }
  return `line ${points.join(" ")} ${command.stroke} ${Math.round(command.width * 10) / 10}${extra}`;
}

/** Boxes too small for a box: single pixels, drawn as a picture. */
class Pixels {
  constructor() {
    this.data = null;
    this.width = 0;
    this.height = 0;
    this.count = 0;
  }

  reset(width, height) {
    width = Math.max(1, Math.ceil(width));
    height = Math.max(1, Math.ceil(height));
    if (width !== this.width || height !== this.height) {
      this.data = null;
      this.width = width;
      this.height = height;
    } else if (this.count) {
      this.words.fill(0);
    }
    this.count = 0;
  }

  rect(x, y, w, h, color) {
    if (!this.data) {
      this.data = new ImageData(this.width, this.height);
      this.words = new Uint32Array(this.data.data.buffer);
    }
    this.count++;
    const left = Math.max(0, Math.round(x));
    const top = Math.max(0, Math.round(y));
    const right = Math.min(this.width, Math.max(left + 1, Math.round(x + w)));
    const bottom = Math.min(this.height, Math.max(top + 1, Math.round(y + h)));
    for (let row = top; row < bottom; row++) this.words.fill(color, row * this.width + left, row * this.width + right);
  }
}
