// Two plans of one model: beside each layer those of the other plan that compute its nodes.

import { printable, shortened } from "./columns.js";

/** The other plan that is shown on the same model, if there is one. @param {import("./overlay.js").Overlay} overlay @param {import("./overlay.js").Overlay[]} overlays */
function otherPlan(overlay, overlays) {
  return overlay.what === "plan" ? overlays.find((candidate) => candidate !== overlay && candidate.what === "plan" && candidate.scene === overlay.scene) : undefined;
}

/** What a layer has otherwise than its partners, in a word. */
function difference(row, partners) {
  if (!partners.length) return (row.items || []).length ? "no layer" : "";
  if (partners.length > 1) return `${partners.length} layers`;
  const [partner] = partners;
  if (partner.items.length !== row.items.length) return "nodes";
  if (partner.tactic !== row.tactic) return "tactic";
  return partner.outputs === row.outputs ? "" : "outputs";
}

/** Columns of the table of layers. @param {import("./overlay.js").Overlay} overlay @param {import("./overlay.js").Overlay[]} overlays */
export function besideColumns(overlay, overlays) {
  const other = otherPlan(overlay, overlays);
  if (!other) return [];
  const known = new Map(overlay.table.map((row) => [row, [...new Set((row.items || []).flatMap((item) => other.rowsOf(item)))]]));
  const joined = (row, key) => printable(shortened(known.get(row).map((partner) => partner[key] || "").join(" + "), 200));
  const file = printable(other.origin.split("/").pop());
  const column = (key, title, width, text) => ({ key, title, width, value: text, text, words: true });
  return [column("differs", "differs in", 90, (row) => difference(row, known.get(row))),
    column("other layer", `layer of ${file}`, 160, (row) => joined(row, "layer")),
    column("other tactic", `tactic of ${file}`, 160, (row) => joined(row, "tactic"))];
}
