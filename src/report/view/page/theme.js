// Colours: CSS variables that canvases read, and scales from numbers to colours.

const VARIABLES = ["ground", "card", "line", "ink", "soft", "faint", "edge", "accent", "hit", "good", "bad", "open", "group", "group-line",
  "canvas", "f-product", "f-norm", "f-activation", "f-math", "f-shape", "f-quant", "f-control", "f-other", "f-io",
  "e-product", "e-norm", "e-activation", "e-math", "e-shape", "e-quant", "e-control", "e-other", "e-io"];
export const STEPS = 64;
const DIVERGING = { light: ["#2166ac", "#8fbce0", "#eef1f4", "#f4b176", "#b35806"], dark: ["#4d97dd", "#2c5580", "#2b313b", "#935317", "#f39443"] };
const SEQUENTIAL = { light: ["#eef3fb", "#b9d2f2", "#7fabe3", "#3f7fca", "#1b4f93"], dark: ["#222a36", "#27446b", "#2e63a3", "#4f8fdd", "#a9cefb"] };
const CATEGORIES = { light: ["#3b6fd4", "#c26a1a", "#0f8a7e", "#8a56c2", "#8c7a14", "#b5467f", "#4f7d2c", "#5d6675"],
  dark: ["#7aa5f7", "#eba45c", "#4cc4b6", "#bd94ee", "#cdb94a", "#e586b8", "#93c56a", "#a2acba"] };

/** @type {{dark: boolean, colors: Object<string, string>, version: number}} */
export const theme = { dark: false, colors: {}, version: 0 };
const themeListeners = [];

/** @param {() => void} listener */
export function onTheme(listener) {
  themeListeners.push(listener);
}

/** Reads the variables anew and tells those who draw. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  theme.dark = style.getPropertyValue("--dark").trim() === "1";
  for (const name of VARIABLES) theme.colors[name] = style.getPropertyValue("--" + name).trim();
  theme.version++;
  scaleCache.clear();
  for (const listener of themeListeners) listener();
}

/** Follows the system, or a choice that was made. */
export function startTheme() {
  const chosen = stored("assay-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readTheme);
  readTheme();
}

export function switchTheme() {
  const next = theme.dark ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("assay-theme", next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  readTheme();
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} color @returns {number[]} */
export function rgbOf(color) {
  const value = parseInt(color.slice(1), 16);
  return color.length === 4 ? [(value >> 8) * 17, ((value >> 4) & 15) * 17, (value & 15) * 17] : [value >> 16, (value >> 8) & 255, value & 255];
}

/** A colour as canvas pixels hold it. @param {string} color */
export function pixelOf(color) {
  const [red, green, blue] = rgbOf(color);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => ((part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours, 1 to 21. @param {string} a @param {string} b */
export function contrast(a, b) {
  const [low, high] = [luminance(rgbOf(a)), luminance(rgbOf(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever is read better on a colour. @param {string} color */
export function inkOn(color) {
  return contrast(color, "#11151c") >= contrast(color, "#ffffff") ? "#11151c" : "#ffffff";
}

const scaleCache = new Map();

/** Colours of a scale from low to high, with their inks. @param {"diverging"|"sequential"} kind @returns {{fills: string[], inks: string[]}} */
export function scaleColors(kind) {
  let scale = scaleCache.get(kind);
  if (scale) return scale;
  const stops = (kind === "diverging" ? DIVERGING : SEQUENTIAL)[theme.dark ? "dark" : "light"].map(rgbOf);
  const fills = Array.from({ length: STEPS }, (_, i) => {
    const at = (i / (STEPS - 1)) * (stops.length - 1);
    const from = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[from].map((part, c) => Math.round(part + (stops[from + 1][c] - part) * (at - from)));
    return "#" + mixed.map((part) => part.toString(16).padStart(2, "0")).join("");
  });
  scale = { fills, inks: fills.map(inkOn) };
  scaleCache.set(kind, scale);
  return scale;
}

/** @param {number} index @returns {string} */
export function categoryColor(index) {
  const list = CATEGORIES[theme.dark ? "dark" : "light"];
  return list[index % list.length];
}

/** A colour mixed with the ground of cards. @param {string} color @param {number} share */
export function softened(color, share) {
  const ground = rgbOf(theme.colors.card);
  return "#" + rgbOf(color).map((part, i) => Math.round(part * share + ground[i] * (1 - share)).toString(16).padStart(2, "0")).join("");
}

const FAMILIES = [
  ["quant", /^(Quantize|Dequantize|DynamicQuantize|QLinear|.*Integer$)/],
  ["product", /^(Conv|ConvTranspose|MatMul|Gemm|Einsum|Attention|MultiHeadAttention|LSTM|GRU|RNN|FusedMatMul|DeformConv|GroupQueryAttention)$/],
  ["norm", /(Norm|Pool|Softmax|^LRN$|^Reduce|^ArgM|^CumSum$|^TopK$)/],
  ["activation", /^(Relu|LeakyRelu|PRelu|Gelu|FastGelu|Elu|Selu|Celu|Sigmoid|HardSigmoid|HardSwish|Swish|Mish|Tanh|Softplus|Softsign|Erf|Clip|ThresholdedRelu|Silu|QuickGelu|BiasGelu)$/],
  ["control", /^(If|Loop|Scan|SequenceMap|Optional.*|Sequence.*|Concat.*Sequence)$/],
  ["shape", /^(Reshape|Transpose|Concat|Split|Slice|Gather.*|Scatter.*|Squeeze|Unsqueeze|Flatten|Expand|Tile|Pad|Shape|Size|Cast|CastLike|Identity|Constant|ConstantOfShape|Range|Resize|Upsample|DepthToSpace|SpaceToDepth|OneHot|NonZero|Where|Compress|Trilu|EyeLike)$/],
  ["math", /^(Add|Sub|Mul|Div|Pow|Sqrt|Exp|Log|Neg|Abs|Min|Max|Mean|Sum|Sin|Cos|Tan|Reciprocal|Equal|Less.*|Greater.*|And|Or|Not|Xor|Floor|Ceil|Round|Sign|Mod|Is.*|Bit.*)$/],
];

/** The family of an operator, which has a colour. @param {string} operator @returns {string} */
export function familyOf(operator) {
  const plain = operator.slice(operator.lastIndexOf(":") + 1);
  const found = FAMILIES.find(([, pattern]) => pattern.test(plain));
  return found ? found[0] : "other";
}
