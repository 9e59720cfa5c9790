// Elements, made of text only.

/**
 * Makes an element. Properties beginning with `on` are listeners, `class`, `role`, `aria-…`, `data-…` and the like attributes.
 * @param {string} tag @param {Object<string, any>} [properties] @param {...(Node|string|number|null|undefined|false)} children
 * @returns {HTMLElement}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** @param {Element} element @param {...(Node|string|null)} children */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** A drawing surface of the size that its element has on the screen. @param {HTMLCanvasElement} canvas */
export function sizedContext(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** Gives a file to the user. @param {BlobPart} data @param {string} name @param {string} type */
export function download(data, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A button with a name. */
export function button(label, onclick, properties = {}) {
  return el("button", { type: "button", onclick, ...properties }, label);
}

/** A text that can be copied, with a button that does. @param {string} command */
export function commandLine(command) {
  const copy = button("Copy", () => {
    navigator.clipboard?.writeText(command).then(() => (copy.textContent = "Copied"), () => {});
  }, { class: "small", "aria-label": "Copy the command" });
  return el("div", { class: "command" }, el("code", {}, command), copy);
}

/** What stands in place of a view that has nothing to show. @param {string} text */
export function emptyView(text) {
  return el("p", { class: "empty" }, text);
}

/** Waits until what was drawn is seen; a page that nobody sees gets no frames. */
export function frame() {
  const MOST_MS = 1000;
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, document.hidden ? 0 : MOST_MS);
  });
}
