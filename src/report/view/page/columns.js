// Containers of typed columns, as the program writes them, read without a copy.

const CONTAINER_MAGIC = 0x31565341;
const ARRAY_TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };
const decoder = new TextDecoder();
const MOST_SHOWN_BYTES = 400;
const MOST_CACHED_TEXTS = 6000;
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The text with control and bidirectional characters as codes. @param {string} text @returns {string} */
export function printable(text) {
  return String(text).replace(HIDDEN, (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** The first characters of a text that is too long to show. @param {string} text @param {number} most @returns {string} */
export function shortened(text, most = MOST_SHOWN_BYTES) {
  return text.length > most ? text.slice(0, most) + "…" : text;
}

/** A column of texts. */
export class Texts {
  /** @param {Uint8Array} bytes @param {Uint32Array} ends */
  constructor(bytes, ends) {
    this.bytes = bytes;
    this.ends = ends;
    this.count = ends.length;
    this.cache = new Map();
    this.joinedText = null;
  }

  begin(i) {
    return i === 0 ? 0 : this.ends[i - 1];
  }

  /** An entry to be shown: cut, and with codes for what cannot be seen. @param {number} i @returns {string} */
  at(i) {
    let text = this.cache.get(i);
    if (text !== undefined) return text;
    const begin = this.begin(i);
    const end = this.ends[i];
    const cut = end - begin > MOST_SHOWN_BYTES;
    text = printable(decoder.decode(this.bytes.subarray(begin, cut ? begin + MOST_SHOWN_BYTES : end)));
    if (cut) text += "…";
    if (this.cache.size > MOST_CACHED_TEXTS) this.cache.clear();
    this.cache.set(i, text);
    return text;
  }

  /** An entry as it was written. @param {number} i @returns {string} */
  whole(i) {
    return decoder.decode(this.bytes.subarray(this.begin(i), this.ends[i]));
  }

  all() {
    return Array.from(this.ends, (_, i) => this.whole(i));
  }

  /** All entries in lower case, one character a byte, so that ends are places in it. @returns {string} */
  joined() {
    if (this.joinedText === null) this.joinedText = lowerBytes(this.bytes);
    return this.joinedText;
  }

  /** Calls `found` for every entry that holds the text, whatever its case. @param {string} text @param {(i: number) => void} found */
  search(text, found) {
    const wanted = lowerBytes(new TextEncoder().encode(text));
    if (wanted === "") return;
    const joined = this.joined();
    let from = 0;
    let entry = 0;
    for (;;) {
      const at = joined.indexOf(wanted, from);
      if (at < 0) return;
      entry = this.entryAt(at, entry);
      if (at + wanted.length <= this.ends[entry]) {
        found(entry);
        from = this.ends[entry];
      } else {
        from = at + 1;
      }
    }
  }

  /** The entry that holds a byte, at or after a first one. */
  entryAt(byte, first) {
    let low = first;
    let step = 1;
    while (low + step < this.count && this.ends[low + step] <= byte) {
      low += step;
      step *= 2;
    }
    let high = Math.min(this.count - 1, low + step);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] > byte) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Bytes as a string of one character each, A to Z as a to z. @param {Uint8Array} bytes @returns {string} */
function lowerBytes(bytes) {
  const parts = [];
  const piece = new Uint8Array(Math.min(bytes.length, 16384));
  for (let from = 0; from < bytes.length; from += piece.length) {
    const count = Math.min(piece.length, bytes.length - from);
    for (let i = 0; i < count; i++) {
      const byte = bytes[from + i];
      piece[i] = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    }
    parts.push(String.fromCharCode.apply(null, count === piece.length ? piece : piece.subarray(0, count)));
  }
  return parts.join("");
}

/** Puts the bytes of numbers beside each other, of which files hold the first of all, then the second of all. */
function joinPlanes(numbers) {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  const planes = bytes.slice();
  const width = numbers.BYTES_PER_ELEMENT;
  for (let p = 0, from = 0; p < width; p++) for (let i = p; i < bytes.length; i += width) bytes[i] = planes[from++];
}

/** Puts numbers in the place of their differences, whose lowest bit is their sign. @param {Uint32Array} numbers */
function addUp(numbers) {
  for (let i = 0, last = 0; i < numbers.length; i++) last = numbers[i] = last + ((numbers[i] >>> 1) ^ -(numbers[i] & 1));
}

/** A container: facts in `head`, columns as typed arrays. */
export class Container {
  /** @param {ArrayBuffer} buffer */
  constructor(buffer) {
    const view = new DataView(buffer);
    if (buffer.byteLength < 8 || view.getUint32(0, true) !== CONTAINER_MAGIC) throw new Error("no container of assay view");
    const length = view.getUint32(4, true);
    this.buffer = buffer;
    this.head = JSON.parse(decoder.decode(new Uint8Array(buffer, buffer.byteLength - length)));
    this.columns = this.head.columns || {};
    for (const [name, { planes, differences }] of Object.entries(this.columns)) {
      if (planes) joinPlanes(this.column(name));
      if (differences) addUp(this.column(name));
    }
  }

  has(name) {
    return name in this.columns;
  }

  /** A column, of no entries if there is none. @param {string} name @param {string} [type] */
  column(name, type = "u32") {
    const column = this.columns[name];
    if (!column) return new ARRAY_TYPES[type](0);
    return new ARRAY_TYPES[column.type](this.buffer, column.offset, column.count);
  }

  /** @param {string} name @returns {Texts} */
  text(name) {
    return new Texts(this.column(name + ".text", "u8"), this.column(name + ".ends"));
  }
}
