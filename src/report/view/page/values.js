// A value: statistics, histograms, channels, slices as heat map or numbers, two values compared.

import { barChart, bandChart, scatterChart } from "./charts.js";
import { printable, shortened } from "./columns.js";
import { button, download, el, fill } from "./dom.js";
import { HeatMap } from "./heat.js";
import { formatCount, formatNumber } from "./numbers.js";
import { dimsOf } from "./search.js";
import { NONE } from "./scene.js";

export class ValueView {
  /** @param {HTMLElement} element @param {import("./app.js").App} app @param {import("./app.js").Selection} selection @param {() => boolean} still */
  constructor(element, app, selection, still) {
    this.element = element;
    this.app = app;
    this.stage = selection.stage;
    this.value = selection.id;
    this.still = still;
    const { scene } = this.stage;
    const known = this.value < scene.values;
    this.name = known ? scene.valueNames.at(this.value) : printable(shortened(selection.name || "constant"));
    this.type = known ? scene.typeOf(this.value) : printable(selection.type || "");
    this.made = known ? scene.producer[this.value] : NONE;
    this.users = known ? scene.consumersOf(this.value) : [];
  }

  show() {
    const { scene } = this.stage;
    const { made, users } = this;
    const go = (item) => button(scene.name(item) || scene.label(item), () => this.app.choose(item, this.stage), { class: "chip" });
    const body = el("div", {}, el("p", { class: "soft" }, "reading…"));
    const comparison = el("div", {});
    fill(this.element, el("h2", {}, this.value < scene.values ? "Value" : "Constant"), el("p", { class: "name" }, this.name), el("p", { class: "soft" }, this.type),
      made !== NONE ? el("section", {}, el("h3", {}, "Made by"), el("div", { class: "chips" }, go(made))) : null,
      users.length ? el("section", {}, el("h3", {}, `Used by ${users.length > 1 ? users.length : ""}`), el("div", { class: "chips" }, ...users.slice(0, 24).map(go))) : null, body, comparison);
    this.read(body);
    this.readComparison(comparison);
  }

  async read(body) {
    try {
      const facts = await this.app.source.statistics(this.stage.scene.number, this.value);
      if (!this.still()) return;
      if (!facts || facts.available === false) fill(body, el("p", { class: "soft" }, printable((facts && facts.reason) || "No numbers are known: save them with run --save-outputs, or pass them with --with.")), this.compute());
      else this.statistics(body, facts);
    } catch (error) {
      if (this.still()) fill(body, el("p", { class: "soft" }, `Statistics could not be read: ${error.message}`));
    }
  }

  /** A button that lets a run give the value. */
  compute() {
    const { source, subject, tasks } = this.app;
    const { scene } = this.stage;
    if (!source.served || !subject.tasks || scene.number !== 0 || this.value >= scene.values) return null;
    return button("Compute it by a run", () => tasks.compute(scene.valueNames.whole(this.value)), { disabled: tasks.running !== null });
  }

  statistics(body, facts) {
    const share = (count) => (count ? `${formatCount(count)} (${formatNumber((100 * count) / facts.count, 3)} %)` : "");
    const at = (place) => (place === undefined || place === null ? "" : ` at [${[place].flat().join(", ")}]`);
    const percentiles = Object.entries(facts.percentiles || {}).map(([key, value]) => `${key} %: ${formatNumber(value)}`).join("   ");
    const pairs = [["Elements", formatCount(facts.count)], ["Least", formatNumber(facts.least) + at(facts.least_at)], ["Greatest", formatNumber(facts.greatest) + at(facts.greatest_at)],
      ["Mean", formatNumber(facts.mean)], ["Deviation", formatNumber(facts.deviation)], ["Zeros", share(facts.zeros)], ["NaN", share(facts.nans)], ["Infinite", share(facts.infs)],
      ["Subnormal", share(facts.subnormals)], ["Outside float16", share(facts.outside_float16)], ["Percentiles", percentiles], ["From", printable(facts.source || "")]];
    const list = el("dl", {}, ...pairs.filter(([, text]) => text && text !== "–").flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
    fill(body, list, this.histogram("Histogram", facts.histogram), this.histogram("Magnitude, log₁₀", facts.log_histogram), this.channels(facts.channels), this.slices(facts));
  }

  histogram(title, histogram) {
    if (!histogram || !histogram.counts || !histogram.counts.length) return null;
    const { edges, counts } = histogram;
    const label = `${title}: ${counts.length} bins from ${formatNumber(edges[0])} to ${formatNumber(edges[edges.length - 1])}, the fullest with ${formatCount(Math.max(...counts))}`;
    return el("section", {}, el("h3", {}, title), barChart(edges, [counts], label));
  }

  channels(channels) {
    if (!channels || channels.length < 2) return null;
    const quiet = channels.filter((channel) => channel.least === channel.greatest).length;
    return el("section", {}, el("h3", {}, `Channels ${channels.length}`), bandChart(channels, `least, mean and greatest of ${channels.length} channels`),
      quiet ? el("p", { class: "soft" }, `${quiet} channel${quiet === 1 ? " is" : "s are"} constant`) : null);
  }

  slices(facts) {
    const dims = (dimsOf(facts.type || this.type) || []).map(Number);
    if (!facts.count || (!this.app.source.served && !document.getElementById(`slice/${this.stage.scene.number}/${this.value}`)) || dims.some((dim) => !Number.isInteger(dim))) return null;
    const map = new HeatMap(this.app, this.stage.scene.number, this.value, dims, this.still);
    const save = button("Save the slice as .npy", () => map.data && download(npyOf(map.data.values, map.data.shape), "slice.npy", "application/octet-stream"));
    return el("section", {}, el("h3", {}, "Slice"), map.element, save);
  }

  async readComparison(element) {
    if (!this.app.overlays.some((overlay) => ["accuracy", "run", "data"].includes(overlay.what))) return;
    try {
      const facts = await this.app.source.compare(this.stage.scene.number, this.value);
      if (this.still() && facts && facts.available !== false) this.comparison(element, facts);
    } catch {
      // No two values were saved; the numbers of the report stand with the node.
    }
  }

  comparison(element, facts) {
    const sides = facts.sides || [];
    const histograms = facts.histograms || [];
    const parts = [];
    if (histograms.length > 1) parts.push(barChart(histograms[0].edges, histograms.map((histogram) => histogram.counts), `two histograms: ${sides.join(" and ")}`, sides));
    if (facts.scatter && facts.scatter.length) parts.push(scatterChart(facts.scatter, facts.tolerance || 0, `${facts.scatter.length} elements, ${sides[0] || "left"} against ${sides[1] || "right"}`, sides));
    if (facts.worst && facts.worst.length) {
      const rows = facts.worst.slice(0, 12).map((entry) => el("tr", {}, el("td", {}, `[${[entry.at].flat().join(", ")}]`), el("td", { class: "number" }, formatNumber(entry.left, 7)), el("td", { class: "number" }, formatNumber(entry.right, 7))));
      parts.push(el("h4", {}, "Worst elements"), el("table", { class: "sides" }, el("thead", {}, el("tr", {}, el("th", {}, "at"), el("th", {}, sides[0] || "left"), el("th", {}, sides[1] || "right"))), el("tbody", {}, ...rows)));
    }
    if (parts.length) fill(element, el("section", {}, el("h3", {}, "Compared"), ...parts));
  }
}

/** A file of NumPy. @param {Float32Array} data @param {number[]} shape */
function npyOf(data, shape) {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const head = new Uint8Array(10 + padded.length);
  head.set([0x93, 78, 85, 77, 80, 89, 1, 0, padded.length & 255, padded.length >> 8]);
  head.set(new TextEncoder().encode(padded), 10);
  return new Blob([head, data]);
}
