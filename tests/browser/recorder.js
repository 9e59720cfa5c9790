// Writes down what a view draws: an expression that is a function of a view, which has a canvas and the method paintView.

(() => {
/** Stands in for a canvas: lines of text instead of pixels. */
class Recorder {
  constructor() {
    this.lines = [];
    this.points = [];
  }

  /** A rectangle or a text that was filled. */
  add(kind, numbers, rest) {
    this.lines.push(`${kind} ${numbers.map((number) => Math.round(number)).join(",")} ${rest}`);
  }

  fillRect(...at) {
    this.add("fill", at, this.fillStyle);
  }

  strokeRect(...at) {
    this.add("frame", at, this.strokeStyle);
  }

  fillText(text, x, y) {
    this.add("text", [x, y], `${JSON.stringify(text)} ${this.fillStyle}`);
  }

  measureText(text) {
    return { width: text.length * 6 };
  }

  beginPath() {
    this.points = [];
  }

  moveTo(...at) {
    this.points.push(...at);
  }

  lineTo(...at) {
    this.points.push(...at);
  }

  arc(...at) {
    this.points.push(...at.slice(0, 3));
  }

  stroke() {
    this.add("line", this.points, this.strokeStyle);
  }

  fill() {
    this.add("shape", this.points, this.fillStyle);
  }

  clearRect() {
    this.lines = [];
  }

  setLineDash(dash) {
    if (dash.length) this.lines.push("dashed");
  }
}

return (view) => {
  const recorder = new Recorder();
  view.paintView(recorder, view.canvas.clientWidth, view.canvas.clientHeight);
  return recorder.lines.join("\n") + "\n";
};
})()
