// Signs on nodes for findings and changes, outlines of engine layers, classes of rows without numbers.

import { categoryColor, inkOn, theme } from "./theme.js";

const SIGNS = { error: "!", fault: "!", warning: "!", refused: "✕", added: "+", removed: "−", changed: "~", renamed: "→", info: "i", note: "i" };
const CHANGE_CLASSES = { added: 6, removed: 1, changed: 4, renamed: 7 };

/** The sign of a severity or of a kind of change. @param {string} word */
export function signOf(word) {
  return SIGNS[word] || "•";
}

export function signColor(word) {
  const { colors } = theme;
  if (word === "added") return colors.good;
  if (word === "error" || word === "fault" || word === "refused" || word === "removed") return colors.bad;
  if (word === "info" || word === "note" || word === "renamed") return colors.soft;
  return colors.open;
}

function badge(word) {
  const color = signColor(word);
  return { sign: signOf(word), color, ink: inkOn(color) };
}

/** Signs by item; groups show the gravest of what they hold. @param {import("./scene.js").Scene} scene @param {import("./overlay.js").Overlay[]} overlays */
export function badgesOf(scene, overlays) {
  const badges = {};
  const put = (item, word) => {
    if (item < scene.count && (!badges[item] || badges[item].word !== "error")) badges[item] = { ...badge(word), word };
  };
  for (const overlay of overlays) {
    if (overlay.scene !== scene) continue;
    for (const note of overlay.notes) put(note.item, note.severity || "warning");
    if (overlay.what === "difference") for (const row of overlay.table) for (const item of row.items || []) put(item, row.kind);
  }
  for (const item of Object.keys(badges).map(Number)) {
    for (let at = scene.parent[item]; at < scene.count && at !== 0; at = scene.parent[at]) if (!badges[at]) badges[at] = badges[item];
  }
  return badges;
}

/** The family of a tactic: its first word. @param {string} tactic */
function tacticFamily(tactic) {
  return tactic.split(/[.:_ ]/)[0];
}

/** How layers of a plan and groups that were judged together are outlined. */
export function outlinesOf(overlay, app) {
  const rows = new Map(overlay.table.map((row) => [row.layer, row]));
  const families = [...new Set(overlay.table.map((row) => tacticFamily(row.tactic || "")))];
  return {
    layersOf: (item) => overlay.layersOf(item),
    style(layer) {
      const group = overlay.groups[layer];
      const row = rows.get(group.label) || {};
      const family = families.indexOf(tacticFamily(row.tactic || group.tactic || ""));
      const chosen = overlay.layersOf(app.chosen()).includes(layer);
      return { color: chosen ? theme.colors.accent : categoryColor(Math.max(0, family)), text: row.tactic || group.label || "", chosen,
        dashed: /^(reference|copy|merged)/.test(group.state || row.tactic || "") };
    },
  };
}

/** Names and colours of the classes that an overlay shows. @returns {[string, string][]} */
export function classLegend(overlay) {
  if (overlay.what === "difference") return Object.keys(CHANGE_CLASSES).map((kind) => [`${signOf(kind)} ${kind}`, categoryColor(CHANGE_CLASSES[kind])]);
  const families = [...new Set(overlay.table.map((row) => tacticFamily(row.tactic || row.state || "")))];
  return families.slice(0, 8).map((family, i) => [family || "other", categoryColor(i)]);
}

/** A class for each item of an overlay that has rows but no numbers; null if it has none. */
export function classesOf(overlay) {
  if (!overlay.table.length && !overlay.groups.length) return null;
  const { scene } = overlay;
  const classes = new Uint8Array(scene.count).fill(255);
  const spread = (item, number) => {
    if (item < scene.count) classes[item] = number;
  };
  if (overlay.what === "difference") {
    for (const row of overlay.table) for (const item of row.items || []) spread(item, CHANGE_CLASSES[row.kind] ?? 7);
    return classes;
  }
  const families = [...new Set(overlay.table.map((row) => tacticFamily(row.tactic || row.state || "")))];
  for (const row of overlay.table) for (const item of row.items || []) spread(item, families.indexOf(tacticFamily(row.tactic || row.state || "")));
  return overlay.table.length ? classes : null;
}

/** Colours of edges: the total error of the value over what its layer may introduce, as wide as the share that was inherited. */
export function edgeStyleOf(overlay, side, scale) {
  if (overlay.what !== "accuracy" || !overlay.valueNumbers(side, "total")) return null;
  const { scene } = overlay;
  const totals = overlay.valueNumbers(side, "total");
  const [tolerance, inherited, whole] = ["tolerance", "inherited", "total"].map((name) => overlay.numbers(side, name));
  const allowance = (item) => (tolerance[item] > 0 ? tolerance[item] : Math.max(...scene.neighbours(item, false).map((other) => tolerance[other] || 0), 0));
  return (value) => {
    const made = scene.producer[value];
    const total = totals[value];
    if (made >= scene.count || !(total >= 0)) return { color: theme.colors.soft, width: 1, dash: [3, 3] };
    const most = allowance(made);
    const share = whole[made] > 0 ? Math.min(1, inherited[made] / whole[made]) : 0;
    return { color: most > 0 ? scale.color(total / most) : theme.colors.edge, width: 1 + 2.5 * (share || 0), dash: null };
  };
}
