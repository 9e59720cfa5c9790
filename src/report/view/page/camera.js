// Which part of the picture is seen, in doubles.

export const TOP_BAR = 56;
export const LEAST_SCALE = 1e-4;
export const MOST_SCALE = 8;

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 1;
  }

  set(x, y, scale) {
    this.x = x;
    this.y = y;
    this.scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
  }

  pan(dx, dy) {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zooms so that what lies under a pixel stays there. */
  zoom(factor, px, py) {
    const x = this.x + px / this.scale;
    const y = this.y + py / this.scale;
    this.scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.scale * factor));
    this.x = x - px / this.scale;
    this.y = y - py / this.scale;
  }

  /** The view that shows a box, at most at a scale, below what lies over the canvas. */
  fitted(box, width, height, most = 1, margin = 24) {
    const free = height - TOP_BAR;
    const scale = Math.min(most, (width - 2 * margin) / Math.max(1, box.w), (free - 2 * margin) / Math.max(1, box.h));
    const kept = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
    return { x: box.x + box.w / 2 - width / 2 / kept, y: box.y + box.h / 2 - (TOP_BAR + free / 2) / kept, scale: kept };
  }
}

/** Whether movement is to be avoided. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
