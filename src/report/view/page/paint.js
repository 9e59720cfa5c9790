// Draws a display list on a canvas, or writes it as SVG.

import { printable } from "./columns.js";

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const widths = new Map();
let measuring = null;
let pixelCanvas = null;

export function fontOf(size, bold) {
  return `${bold ? "600 " : ""}${size}px ${FAMILY}`;
}

/** The width of a text at a size; texts are measured once. @param {string} text @param {number} size @param {boolean} [bold] */
export function textWidth(text, size, bold = false) {
  const key = bold ? "b" + text : text;
  let width = widths.get(key);
  if (width === undefined) {
    if (!measuring) measuring = new OffscreenCanvas(1, 1).getContext("2d");
    measuring.font = fontOf(12, bold);
    width = measuring.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return (width * size) / 12;
}

/** A text cut to a width: at its end, or for names at their beginning. @param {string} text @param {number} width @param {number} size @param {boolean} [tail] */
export function cutText(text, width, size, tail = false, bold = false) {
  if (text === "" || textWidth(text, size, bold) <= width) return text;
  let kept = Math.floor((text.length * width) / textWidth(text, size, bold)) - 1;
  while (kept > 0) {
    const cut = tail ? "…" + text.slice(text.length - kept) : text.slice(0, kept) + "…";
    if (textWidth(cut, size, bold) <= width) return cut;
    kept--;
  }
  return "";
}

/** @param {CanvasRenderingContext2D} context @param {import("./display.js").DisplayList} list */
export function paint(context, list) {
  paintPixels(context, list);
  for (let i = 0; i < list.count; i++) {
    const command = list.commands[i];
    context.globalAlpha = command.alpha;
    if (command.kind === "box") paintBox(context, command);
    else if (command.kind === "text") paintText(context, command);
    else paintLine(context, command);
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

function paintPixels(context, list) {
  if (!list.pixels.count) return;
  const { width, height, data } = list.pixels;
  if (!pixelCanvas || pixelCanvas.width !== width || pixelCanvas.height !== height) pixelCanvas = new OffscreenCanvas(width, height);
  pixelCanvas.getContext("2d").putImageData(data, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(pixelCanvas, 0, 0);
}

function paintBox(context, box) {
  const plain = box.radius < 1.5 || box.w < 8;
  if (plain && !box.dash) {
    if (box.fill) {
      context.fillStyle = box.fill;
      context.fillRect(box.x, box.y, box.w, box.h);
    }
    if (box.stroke) {
      context.setLineDash([]);
      context.lineWidth = box.width;
      context.strokeStyle = box.stroke;
      context.strokeRect(box.x, box.y, box.w, box.h);
    }
    return;
  }
  context.beginPath();
  context.roundRect(box.x, box.y, box.w, box.h, box.radius);
  if (box.fill) {
    context.fillStyle = box.fill;
    context.fill();
  }
  if (box.stroke) {
    context.setLineDash(box.dash || []);
    context.lineWidth = box.width;
    context.strokeStyle = box.stroke;
    context.stroke();
  }
}

function paintText(context, label) {
  context.font = fontOf(label.size, label.bold);
  context.fillStyle = label.fill;
  context.textAlign = label.align;
  context.textBaseline = "middle";
  context.fillText(label.text, label.x, label.y);
}

function paintLine(context, line) {
  context.setLineDash(line.dash || []);
  context.lineWidth = line.width;
  context.strokeStyle = line.stroke;
  context.beginPath();
  trace(line, (x, y) => context.moveTo(x, y), (x, y) => context.lineTo(x, y), (...at) => context.bezierCurveTo(...at));
  context.stroke();
}

/** Walks along a line: straight where it is vertical, else curves that begin and end vertically. */
function trace(line, move, straight, curve) {
  const { points, begin, end, scale, dx, dy } = line;
  let x = dx + points[begin] * scale;
  let y = dy + points[begin + 1] * scale;
  move(x, y);
  for (let p = begin + 2; p < end; p += 2) {
    const nextX = dx + points[p] * scale;
    const nextY = dy + points[p + 1] * scale;
    if (!line.smooth || Math.abs(nextX - x) < 0.75) straight(nextX, nextY);
    else {
      const middle = (y + nextY) / 2;
      curve(x, middle, nextX, middle, nextX, nextY);
    }
    x = nextX;
    y = nextY;
  }
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text) {
  return printable(text).replace(/[&<>"]/g, (letter) => ENTITIES[letter]);
}

/** The list as an SVG file. @param {import("./display.js").DisplayList} list @param {string} ground @returns {string} */
export function svgOf(list, ground) {
  const { width, height } = list;
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FAMILY)}">`,
    `<rect width="${width}" height="${height}" fill="${ground}"/>`];
  for (let i = 0; i < list.count; i++) parts.push(svgElement(list.commands[i]));
  parts.push("</svg>", "");
  return parts.join("\n");
}

function rounded(value) {
  return Math.round(value * 100) / 100;
}

function svgElement(command) {
  const shared = (command.alpha < 1 ? ` opacity="${rounded(command.alpha)}"` : "") + (command.dash ? ` stroke-dasharray="${command.dash.join(" ")}"` : "");
  if (command.kind === "box") {
    const { x, y, w, h, fill, stroke, width, radius } = command;
    return `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(w)}" height="${rounded(h)}" rx="${rounded(radius)}" fill="${fill || "none"}"` +
      ` stroke="${stroke || "none"}" stroke-width="${rounded(width)}"${shared}/>`;
  }
  if (command.kind === "text") {
    const anchor = { left: "start", center: "middle", right: "end" }[command.align];
    return `<text x="${rounded(command.x)}" y="${rounded(command.y)}" font-size="${rounded(command.size)}"${command.bold ? ' font-weight="600"' : ""}` +
      ` fill="${command.fill}" text-anchor="${anchor}" dominant-baseline="central"${shared}>${escaped(command.text)}</text>`;
  }
  const path = [];
  trace(command, (x, y) => path.push(`M${rounded(x)} ${rounded(y)}`), (x, y) => path.push(`L${rounded(x)} ${rounded(y)}`),
    (...at) => path.push("C" + at.map(rounded).join(" ")));
  return `<path d="${path.join("")}" fill="none" stroke="${command.stroke}" stroke-width="${rounded(command.width)}"${shared}/>`;
}
