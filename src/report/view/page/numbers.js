// Numbers as people read them.

const UNITS = ["", " k", " M", " G", " T", " P"];

/** @param {number} value @param {number} [digits] @returns {string} */
export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(digits)));
  return value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, "e").replace("e+", "e");
}

/** A count with a unit: 12.3 M. @param {number} value @returns {string} */
export function formatCount(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1000 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit++;
  }
  return String(Number(scaled.toPrecision(3))) + UNITS[unit];
}

/** @param {number} value @returns {string} */
export function formatBytes(value) {
  const text = formatCount(value);
  return text === "–" ? text : text + (text.includes(" ") ? "B" : " B");
}

/** @param {number} us @returns {string} */
export function formatTime(us) {
  if (us === null || us === undefined || Number.isNaN(us)) return "–";
  if (us >= 1e6) return Number((us / 1e6).toPrecision(3)) + " s";
  if (us >= 1e3) return Number((us / 1e3).toPrecision(3)) + " ms";
  return Number(us.toPrecision(3)) + " µs";
}

/** A number in a unit. @param {number} value @param {string} [unit] @returns {string} */
export function formatUnit(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not observed";
  if (unit === "us" || unit === "µs") return formatTime(value);
  if (unit === "ms") return formatTime(value * 1000);
  if (unit === "bytes" || unit === "B") return formatBytes(value);
  if (unit === "%") return formatNumber(value, 3) + " %";
  return formatNumber(value, 3) + (unit && unit !== "1" ? " " + unit : "");
}

/** @param {number} share @returns {string} */
export function formatShare(share) {
  return Number.isFinite(share) ? Number((share * 100).toPrecision(3)) + " %" : "–";
}

/** Round steps of an axis. @param {number} low @param {number} high @param {number} [most] @returns {number[]} */
export function ticks(low, high, most = 6) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

/** A shape and type, shortened: float32[1,64,56,56] as 1×64×56×56. @param {string} type @returns {string} */
export function shapeText(type) {
  const open = type.indexOf("[");
  if (open < 0) return type;
  const dims = type.slice(open + 1, type.lastIndexOf("]")).trim();
  return dims === "" ? "scalar" : dims.replace(/\s*,\s*/g, "×");
}
