// The search language: words with implicit "and", `or`, `not`, parentheses, fields, numbers, and words about the graph.

/** @typedef {{kind: string, at: number, [key: string]: any}} Query */

export class QueryError extends Error {
  /** @param {string} message @param {number} at @param {number} [length] */
  constructor(message, at, length = 1) {
    super(message);
    this.at = at;
    this.length = length;
  }
}

export const TEXT_FIELDS = ["op", "name", "in", "out", "shape", "dtype", "attr", "domain", "scope", "has", "side", "bound", "tactic", "layer", "changed", "finding"];
const CALLS = { up: [1, 2], down: [1, 2], path: [2, 2], same: [1, 1] };
const FIELD = /^[A-Za-z_][\w.]*/;
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(%|[kMGT](?![\w]))?/i;
const FACTORS = { k: 1e3, K: 1e3, M: 1e6, m: 1e6, G: 1e9, g: 1e9, T: 1e12, t: 1e12 };
const MOST_DEPTH = 100;

/** @param {string} text @returns {Query|null} null for an empty text */
export function parseQuery(text) {
  const parser = new QueryParser(text);
  parser.space();
  if (parser.ended()) return null;
  const query = parser.or(0);
  parser.space();
  if (!parser.ended()) throw new QueryError(`unexpected "${text[parser.at]}"`, parser.at);
  return query;
}

class QueryParser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  ended() {
    return this.at >= this.text.length;
  }

  space() {
    while (!this.ended() && /\s/.test(this.text[this.at])) this.at++;
  }

  rest() {
    return this.text.slice(this.at);
  }

  /** Takes a word of the language, which ends where a word ends. */
  keyword(word) {
    this.space();
    const found = this.rest().slice(0, word.length).toLowerCase() === word && !/^[^\s()]/.test(this.rest().slice(word.length));
    if (found) this.at += word.length;
    return found;
  }

  or(depth) {
    if (depth > MOST_DEPTH) throw new QueryError("too many parentheses", this.at);
    const at = this.at;
    const parts = [this.and(depth)];
    while (this.keyword("or")) parts.push(this.and(depth));
    return parts.length === 1 ? parts[0] : { kind: "or", at, parts };
  }

  and(depth) {
    const at = this.at;
    const parts = [this.not(depth)];
    for (;;) {
      this.keyword("and");
      this.space();
      if (this.ended() || this.text[this.at] === ")" || this.text[this.at] === "," || /^or(?![^\s()])/i.test(this.rest())) break;
      parts.push(this.not(depth));
    }
    return parts.length === 1 ? parts[0] : { kind: "and", at, parts };
  }

  not(depth) {
    this.space();
    const at = this.at;
    let turned = false;
    while (this.keyword("not")) turned = !turned;
    const part = this.primary(depth);
    return turned ? { kind: "not", at, part } : part;
  }

  primary(depth) {
    this.space();
    if (this.ended()) throw new QueryError("a word is missing", this.at);
    const at = this.at;
    const letter = this.text[at];
    if (letter === "(") {
      this.at++;
      const inner = this.or(depth + 1);
      this.close(at);
      return inner;
    }
    if (letter === ")" || letter === ",") throw new QueryError(`unexpected "${letter}"`, at);
    const name = FIELD.exec(this.rest());
    if (name) {
      const after = this.text[at + name[0].length];
      if (after === "(" && name[0].toLowerCase() in CALLS) return this.call(name[0].toLowerCase(), depth);
      if (after === ":") return this.field(name[0]);
      if (after === "<" || after === ">" || after === "=") return this.number(name[0]);
    }
    return this.word();
  }

  close(opened) {
    this.space();
    if (this.text[this.at] !== ")") throw new QueryError("a closing parenthesis is missing", opened);
    this.at++;
  }

  call(name, depth) {
    const at = this.at;
    this.at += name.length + 1;
    const parts = [this.or(depth + 1)];
    this.space();
    while (this.text[this.at] === ",") {
      this.at++;
      parts.push(this.or(depth + 1));
      this.space();
    }
    this.close(at + name.length);
    const [least, most] = CALLS[name];
    if (parts.length < least || parts.length > most) {
      throw new QueryError(`${name} takes ${least === most ? least : `${least} or ${most}`} parts`, at, name.length);
    }
    if (most === 2 && name !== "path" && parts[1]) parts[1] = this.steps(parts[1]);
    return { kind: "call", at, name, parts };
  }

  steps(part) {
    const steps = part.kind === "word" ? Number(part.text) : NaN;
    if (!Number.isInteger(steps) || steps < 1) throw new QueryError("a number of steps is wanted here", part.at, 1);
    return steps;
  }

  field(name) {
    const at = this.at;
    const key = name.toLowerCase();
    this.at += name.length + 1;
    if (key === "rank") return { ...this.comparison(key, at, "="), kind: "number" };
    if (!TEXT_FIELDS.includes(key)) throw new QueryError(`unknown field "${name}"; known: ${TEXT_FIELDS.join(", ")}`, at, name.length);
    const pattern = this.pattern();
    if (pattern.text === "" && !pattern.regex) throw new QueryError(`what ${name} should be is missing`, at, name.length + 1);
    if (key === "shape") return { kind: "shape", at, dims: this.dims(pattern.text, at) };
    return { kind: "field", at, name: key, ...pattern };
  }

  dims(text, at) {
    const inner = /^\[(.*)\]$/.exec(text);
    if (!inner) throw new QueryError("a shape looks like [*,64,*,*]", at, text.length + 6);
    return inner[1].trim() === "" ? [] : inner[1].split(",").map((dim) => dim.trim());
  }

  number(name) {
    const at = this.at;
    this.at += name.length;
    let operation = this.text[this.at++];
    if (this.text[this.at] === "=") {
      this.at++;
      if (operation !== "=") operation += "=";
    }
    return this.comparison(name, at, operation);
  }

  comparison(name, at, operation) {
    const found = NUMBER.exec(this.rest());
    if (!found) throw new QueryError(`a number is wanted after ${name}`, this.at);
    this.at += found[0].length;
    if (!this.ended() && !/[\s),]/.test(this.text[this.at])) throw new QueryError("a number ends here", this.at);
    const unit = found[3];
    const plain = Number(unit ? found[0].slice(0, -1) : found[0]);
    return { kind: "number", at, name: name.toLowerCase(), operation, value: unit === "%" ? plain / 100 : plain * (FACTORS[unit] || 1), share: unit === "%" };
  }

  word() {
    const at = this.at;
    const pattern = this.pattern();
    return { kind: "word", at, ...pattern };
  }

  /** A text in quotes, an expression in slashes, a list in brackets, or what goes on to the next space. */
  pattern() {
    const letter = this.text[this.at];
    if (letter === '"') return { text: this.quoted('"'), regex: null, exact: true };
    if (letter === "/") return this.expression();
    if (letter === "[") {
      const end = this.text.indexOf("]", this.at);
      if (end < 0) throw new QueryError("a closing bracket is missing", this.at);
      const text = this.text.slice(this.at, end + 1);
      this.at = end + 1;
      return { text, regex: null, exact: false };
    }
    const begin = this.at;
    while (!this.ended() && !/[\s(),]/.test(this.text[this.at])) this.at++;
    const text = this.text.slice(begin, this.at);
    return { text, regex: /[*?]/.test(text) ? globExpression(text) : null, exact: false };
  }

  quoted(mark) {
    const begin = this.at++;
    let text = "";
    while (!this.ended() && this.text[this.at] !== mark) {
      if (this.text[this.at] === "\\" && this.at + 1 < this.text.length && this.text[this.at + 1] === mark) this.at++;
      text += this.text[this.at++];
    }
    if (this.ended()) throw new QueryError("a closing mark is missing", begin);
    this.at++;
    return text;
  }

  expression() {
    const begin = this.at;
    const source = this.quoted("/");
    try {
      return { text: source, regex: new RegExp(source, "i"), exact: false };
    } catch (error) {
      throw new QueryError(`no expression: ${error.message.replace(/^.*: /, "")}`, begin, this.at - begin);
    }
  }
}

/** An expression for a whole text with `*` and `?`. @param {string} text */
export function globExpression(text) {
  const source = text.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
  return new RegExp(`^${source}$`, "i");
}

/** The query with all its parts in parentheses, for tests. @param {Query|null} query @returns {string} */
export function queryText(query) {
  if (!query) return "()";
  const text = () => (query.regex && !/[*?]/.test(query.text) ? `/${query.text}/` : JSON.stringify(query.text));
  switch (query.kind) {
    case "and":
    case "or":
      return `(${query.kind} ${query.parts.map(queryText).join(" ")})`;
    case "not":
      return `(not ${queryText(query.part)})`;
    case "call":
      return `(${query.name} ${query.parts.map((part) => (typeof part === "number" ? part : queryText(part))).join(" ")})`;
    case "number":
      return `(${query.name} ${query.operation} ${query.share ? query.value * 100 + "%" : query.value})`;
    case "shape":
      return `(shape ${JSON.stringify(query.dims)})`;
    case "field":
      return `(${query.name} ${text()})`;
    default:
      return text();
  }
}
