// Small charts on canvases, each with a name that says what it shows.

import { el, sizedContext } from "./dom.js";
import { formatNumber, ticks } from "./numbers.js";
import { categoryColor, onTheme, theme } from "./theme.js";

const charts = new Set();
let following = false;

/** A canvas that is drawn when it has a size, and again when colours change. */
export function chart(className, label, draw) {
  const canvas = el("canvas", { class: className, role: "img", "aria-label": label });
  const redraw = () => {
    if (!canvas.isConnected) return;
    const context = sizedContext(canvas);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    draw(context, canvas.clientWidth, canvas.clientHeight);
  };
  canvas.redraw = redraw;
  charts.add(new WeakRef(canvas));
  if (!following) {
    following = true;
    onTheme(() => {
      for (const ref of charts) {
        const known = ref.deref();
        if (known && known.isConnected) known.redraw();
        else charts.delete(ref);
      }
    });
  }
  new ResizeObserver(redraw).observe(canvas);
  return canvas;
}

export function smallFont(context, align = "left") {
  context.font = "10px system-ui, sans-serif";
  context.fillStyle = theme.colors.soft;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
}

function axisBelow(context, low, high, width, height) {
  smallFont(context, "center");
  for (const tick of ticks(low, high, 5)) {
    const x = ((tick - low) / (high - low || 1)) * width;
    context.fillText(formatNumber(tick, 3), Math.min(width - 14, Math.max(14, x)), height - 2);
  }
}

/** Counts by edges; several are drawn over each other. */
export function barChart(edges, series, label, names = []) {
  return chart("chart", label, (context, width, height) => {
    const floor = height - 14;
    const most = Math.max(1, ...series.flat());
    const low = edges[0];
    const high = edges[edges.length - 1];
    series.forEach((counts, s) => {
      context.globalAlpha = series.length > 1 ? 0.6 : 1;
      context.fillStyle = categoryColor(s);
      counts.forEach((count, i) => {
        const x = ((edges[i] - low) / (high - low || 1)) * width;
        const next = edges.length > i + 1 ? ((edges[i + 1] - low) / (high - low || 1)) * width : width;
        const size = count ? Math.max(1, (count / most) * (floor - 2)) : 0;
        context.fillRect(x, floor - size, Math.max(1, next - x - 0.5), size);
      });
    });
    context.globalAlpha = 1;
    context.fillStyle = theme.colors.line;
    context.fillRect(0, floor, width, 1);
    axisBelow(context, low, high, width, height);
    legendOf(context, names, width);
  });
}

function legendOf(context, names, width) {
  let x = width;
  smallFont(context, "right");
  [...names].reverse().forEach((name, i) => {
    context.fillStyle = categoryColor(names.length - 1 - i);
    context.fillText(name, x, 10);
    x -= context.measureText(name).width + 10;
  });
}

/** Least, mean and greatest of each channel. */
export function bandChart(channels, label) {
  return chart("chart", label, (context, width, height) => {
    const floor = height - 14;
    const low = Math.min(...channels.map((channel) => channel.least));
    const high = Math.max(...channels.map((channel) => channel.greatest));
    const y = (value) => floor - ((value - low) / (high - low || 1)) * (floor - 4) - 1;
    const step = width / channels.length;
    channels.forEach((channel, i) => {
      context.fillStyle = categoryColor(0);
      context.globalAlpha = 0.45;
      context.fillRect(i * step, y(channel.greatest), Math.max(1, step - 0.5), Math.max(1, y(channel.least) - y(channel.greatest)));
      context.globalAlpha = 1;
      context.fillStyle = theme.colors.ink;
      context.fillRect(i * step, y(channel.mean), Math.max(1, step - 0.5), 1.5);
    });
    smallFont(context);
    context.fillText(formatNumber(low, 3), 0, height - 2);
    smallFont(context, "right");
    context.fillText(formatNumber(high, 3), width, 10);
  });
}

/** One value against the other, with the band that the tolerance permits. */
export function scatterChart(points, tolerance, label, names) {
  return chart("chart square", label, (context, width, height) => {
    const values = points.flat().filter(Number.isFinite);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const size = Math.min(width, height) - 16;
    const at = (value) => ((value - low) / (high - low || 1)) * size;
    context.fillStyle = theme.colors.faint;
    const band = tolerance ? Math.max(2, (tolerance / (high - low || 1)) * size) : 0;
    context.beginPath();
    context.moveTo(0, size - band);
    context.lineTo(size, -band);
    context.lineTo(size, band);
    context.lineTo(0, size + band);
    context.fill();
    context.strokeStyle = theme.colors.line;
    context.beginPath();
    context.moveTo(0, size);
    context.lineTo(size, 0);
    context.stroke();
    for (const [left, right] of points) {
      context.fillStyle = Math.abs(left - right) > tolerance && tolerance ? categoryColor(1) : categoryColor(0);
      context.fillRect(at(left) - 1, size - at(right) - 1, 2.5, 2.5);
    }
    smallFont(context);
    context.fillText(`${names[0] || "left"} →   ${names[1] || "right"} ↑   ${formatNumber(low, 3)} to ${formatNumber(high, 3)}`, 0, height - 3);
  });
}
