// Where data comes from: the program that serves the page, or the page itself. Both answer the same calls.

import { Container } from "./columns.js";

/** @param {string} text @returns {Promise<ArrayBuffer>} */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The program, asked by fetch. */
class ServedSource {
  /** @param {string} token */
  constructor(token) {
    this.token = token;
    this.served = true;
    this.cache = new Map();
    this.early = globalThis.assayEarly || new Map();
  }

  async reply(path, options = {}) {
    const early = this.early.get(path);
    this.early.delete(path);
    const reply = await (early || fetch(path, { ...options, headers: { "X-Assay-Token": this.token, ...(options.headers || {}) } }));
    if (!reply.ok) throw new Error(`${reply.status} ${await reply.text().catch(() => "")}`.trim());
    return reply;
  }

  async json(path) {
    return (await this.reply(path)).json();
  }

  async container(path) {
    return new Container(await (await this.reply(path)).arrayBuffer());
  }

  /** A reply that is asked for once. */
  once(path) {
    if (this.cache.size > 500) this.cache.clear();
    if (!this.cache.has(path)) {
      const reply = this.json(path);
      reply.catch(() => this.cache.delete(path));
      this.cache.set(path, reply);
    }
    return this.cache.get(path);
  }

  subject() {
    return this.json("/api/subject");
  }

  scene(number) {
    return this.container(`/api/scene/${number}`);
  }

  overlay(id) {
    return this.container(`/api/overlay/${id}`);
  }

  node(scene, item) {
    return this.once(`/api/node/${scene}/${item}`);
  }

  statistics(scene, value) {
    return this.once(`/api/value/${scene}/${value}/statistics`);
  }

  slice(scene, value, at, reduce, width) {
    return this.container(`/api/value/${scene}/${value}/slice?at=${encodeURIComponent(at)}&reduce=${reduce}&width=${width}`);
  }

  compare(scene, value) {
    return this.once(`/api/values/compare/${scene}/${value}`);
  }

  search(scene, attribute) {
    return this.once(`/api/search?attr=${encodeURIComponent(attribute)}&scene=${scene}`);
  }

  async task(command) {
    const reply = await this.reply("/api/task", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ command }),
    });
    return reply.json();
  }

  cancel(id) {
    return this.reply(`/api/task/${id}/cancel`, { method: "POST" });
  }

  async exported(kind) {
    const reply = await this.reply("/api/export", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind }),
    });
    return reply.blob();
  }

  /** Listens until the program ends. @param {(event: any) => void} heard @param {() => void} lost */
  async listen(heard, lost) {
    try {
      const reader = (await this.reply("/api/events")).body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        const lines = text.split("\n");
        text = lines.pop();
        for (const line of lines) if (line.trim() !== "") heard(JSON.parse(line));
      }
    } catch {
      // The banner says it.
    }
    lost();
  }
}

/** The containers that stand in the page. */
class EmbeddedSource {
  constructor() {
    this.served = false;
    this.parsed = new Map();
  }

  text(id) {
    const element = document.getElementById(id);
    return element ? element.textContent.trim() : "";
  }

  async buffer(id) {
    const text = this.text(id);
    if (text === "") throw new Error("this file does not hold " + id);
    return unpacked(text);
  }

  async json(id) {
    if (!this.parsed.has(id)) {
      const text = this.text(id);
      const plain = text === "" || text[0] === "{" || text[0] === "[";
      this.parsed.set(id, plain ? JSON.parse(text || "{}") : JSON.parse(new TextDecoder().decode(await unpacked(text))));
    }
    return this.parsed.get(id);
  }

  subject() {
    return this.json("subject");
  }

  async scene(number) {
    return new Container(await this.buffer(`scene/${number}`));
  }

  async overlay(id) {
    return new Container(await this.buffer(`overlay/${id}`));
  }

  async entry(id, key) {
    const all = await this.json(id);
    const list = all.items || all.nodes || all.values || all;
    return list[key] || null;
  }

  node(scene, item) {
    return this.entry(`nodes/${scene}`, item);
  }

  async statistics(scene, value) {
    return (await this.entry(`statistics/${scene}`, value)) || { available: false };
  }

  async slice(scene, value) {
    return new Container(await this.buffer(`slice/${scene}/${value}`));
  }

  async compare(scene, value) {
    return this.entry(`compare/${scene}`, value);
  }

  async search(scene, attribute) {
    const all = await this.json(`nodes/${scene}`);
    const [name, wanted] = attribute.toLowerCase().split("=");
    const fits = (node) => (node?.attributes || []).some((entry) => entry.name.toLowerCase().includes(name) &&
      (wanted === undefined || String(entry.value).toLowerCase() === wanted)) || (wanted === undefined && (node?.doc || "").toLowerCase().includes(name));
    return { items: Object.keys(all).filter((item) => fits(all[item])).map(Number) };
  }
}

/** @returns {ServedSource|EmbeddedSource} */
export function openSource() {
  if (document.getElementById("subject")) return new EmbeddedSource();
  const found = /(?:^|[#&])token=([0-9a-f]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("assay-token", found[1]);
    const rest = location.hash.slice(1).split("&").filter((part) => !part.startsWith("token=")).join("&");
    history.replaceState(null, "", location.pathname + (rest ? "#" + rest : ""));
  }
  return new ServedSource(sessionStorage.getItem("assay-token") || "");
}
