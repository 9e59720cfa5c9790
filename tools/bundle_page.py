#!/usr/bin/env python3
"""Joins the modules of a page into one script that runs without loading anything.

    bundle_page.py FOLDER OUT.js [--most BYTES]

Modules stand behind those that they import. Cycles, names that two modules declare, and whatever would need a loader are
refused. Prints the script's sha256 as content security policies want it.
"""

import argparse
import base64
import collections
import hashlib
import pathlib
import re
import string
import sys

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
ANY_IMPORT = re.compile(r"^\s*import\b|\bimport\s*\(", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
ANY_EXPORT = re.compile(r"^\s*export\b", re.MULTILINE)
DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class|const|let|var) +(\w+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const|let) +(\w+)", re.MULTILINE)
TOKEN = re.compile(r"""[\w$]+|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\s+|.""", re.DOTALL)
EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*")
BEFORE_EXPRESSION = {"", "(", ",", "=", ":", "[", "!", "&", "|", "?", "{", "}", ";", ">", "return", "typeof", "case"}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DECLARING = {"class", "const", "function", "let"}
STATEMENTS = {"catch", "for", "if", "switch", "while"}
WORD_END = re.compile(r"[\w$]")
BLOCK_COMMENT = re.compile(r"^ */\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
LINE_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
MOST_BYTES = 200 * 1024


class Refused(Exception):
    """What is wrong with the modules."""


def read_modules(folder: pathlib.Path) -> dict[str, str]:
    """The modules without comments, of which those on types look like imports."""
    texts = ((path.name, path.read_text()) for path in sorted(folder.glob("*.js")))
    return {name: LINE_COMMENT.sub("", BLOCK_COMMENT.sub("", text)) for name, text in texts}


def imports_of(name: str, text: str, modules: dict[str, str]) -> list[str]:
    """The modules that one imports, after looking whether they export what it wants."""
    found = []
    for names, target in IMPORT.findall(text):
        if target not in modules:
            raise Refused(f"{name}: imports {target}, which is not there")
        exported = set(EXPORTED.findall(modules[target]))
        for wanted in filter(None, (word.strip() for word in names.split(","))):
            if wanted not in exported:
                raise Refused(f"{name}: {target} does not export `{wanted}`")
        found.append(target)
    if ANY_IMPORT.search(IMPORT.sub("", text)):
        raise Refused(f'{name}: an import must read: import {{ names }} from "./module.js";')
    if ANY_EXPORT.search(EXPORT.sub("", text)):
        raise Refused(f"{name}: only functions, classes and constants are exported, where they are declared")
    return found


def ordered(modules: dict[str, str]) -> list[str]:
    """The modules behind those that they import. Functions may call each other across modules, but modules may not import
    each other in a circle."""
    imports = {name: imports_of(name, text, modules) for name, text in modules.items()}
    done: list[str] = []
    while len(done) < len(modules):
        ready = [name for name in modules if name not in done and all(target in done for target in imports[name])]
        if not ready:
            raise Refused(f"modules import each other in a circle: {', '.join(name for name in modules if name not in done)}")
        done += ready
    return done


def template_end(code: str, at: int) -> int:
    """Where a template literal ends that begins at a place; what it embeds may hold templates again."""
    depth = 0
    at += 1
    while depth or code[at] != "`":
        if code[at] == "\\":
            at += 1
        elif code.startswith("${", at):
            depth += 1
            at += 1
        elif depth and code[at] == "`":
            at = template_end(code, at) - 1
        elif depth and code[at] in "{}":
            depth += 1 if code[at] == "{" else -1
        at += 1
    return at + 1


def tokens(code: str) -> list[str]:
    """Words, texts, regular expressions, signs, and stretches of white space."""
    found: list[str] = []
    last = ""
    at = 0
    while at < len(code):
        if comment := COMMENT.match(code, at):
            at = comment.end()
            continue
        if code[at] == "`":
            end = template_end(code, at)
        elif code[at] == "/" and last in BEFORE_EXPRESSION and (expression := EXPRESSION.match(code, at)):
            end = expression.end()
        else:
            end = TOKEN.match(code, at).end()
        found.append(code[at:end])
        last = last if found[-1].isspace() else found[-1]
        at = end
    return found


def gap(before: str, space: str, after: str) -> str:
    """What has to stay of white space between two tokens, in code whose statements end with semicolons."""
    if "\n" in space and before[-1:] in ("}", ";") and after in ("class", "function"):
        return "\n"
    words = WORD_END.match(before[-1:]) and WORD_END.match(after[:1])
    return " " if words or (before[-1:] in "+-" and before[-1:] == after[:1]) else ""


def joined_constants(parts: list[str]) -> list[str]:
    """Declarations of constants that follow each other, as one."""
    kept: list[str] = []
    declaring = [False]  # for each bracket that is open: whether the statement declares constants
    begins = True
    for part in filter(None, parts):
        if part == " " and kept[-1:] == [","]:
            continue
        if part == "const" and begins and declaring[-1] and kept[-1] == ";":
            kept[-1] = ","
            continue
        if begins and WORD_END.match(part):
            declaring[-1] = part == "const"
        if part in ("(", "[", "{"):
            declaring.append(False)
        elif part in (")", "]", "}"):
            declaring.pop()
        begins = part in (";", "{", "}", "\n")
        kept.append(part)
    return kept


def without_last_semicolons(parts: list[str]) -> list[str]:
    """A block whose last statement ends at its bracket, unless that is the empty statement of a loop."""
    kept: list[str] = []
    heads: list[bool] = []  # for each parenthesis that is open: whether a statement follows it
    closes_head = False
    for part in parts:
        if part == "(":
            heads.append(kept[-1:] in (["for"], ["while"], ["if"]))
        if part == "}" and kept[-1:] == [";"] and not closes_head:
            kept.pop()
        if part != ";":
            closes_head = part == ")" and heads.pop()
        kept.append(part)
    return kept


def parameters(words: list[str]) -> set[str]:
    """Names of parameters, unless they have a pattern of their own."""
    found = set()
    opened: list[tuple[str, list[str]]] = []  # the word before each bracket, and the names directly in it
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        is_arrow = words[i + 1:i + 3] == ["=", ">"]
        if word in ("(", "[", "{"):
            opened.append((before, []))
        elif word in (")", "]", "}") and opened:
            owner, names = opened.pop()
            is_function = words[i + 1:i + 2] == ["{"] and WORD_END.match(owner[:1]) and owner not in STATEMENTS
            if word == ")" and (is_arrow or is_function):
                found.update(names)
        elif WORD_END.match(word[:1]) and is_arrow:
            found.add(word)
        elif WORD_END.match(word[:1]) and opened and before in ("(", ",", "."):
            opened[-1][1].append(word)
    return found


def short_names(found: list[str]) -> dict[str, str]:
    """Short names for what is declared, unless the same word also is a property, in a template or a text."""
    words = [token for token in found if not token.isspace()]
    declared = {word for before, word in zip(words, words[1:]) if before in DECLARING and WORD_END.match(word)} | parameters(words)
    kept = set()
    brackets = [""]
    for before, word, after in zip(["", *words], words, [*words[1:], ""]):
        if word in ("(", "[", "{"):
            brackets.append(word)
        elif word in (")", "]", "}"):
            brackets.pop()
        elif word[0] in "`\"'":
            kept.update(re.findall(r"[\w$]+", word))
        elif before == "." or after == ":" or (brackets[-1] == "{" and before in ("{", ",") and after in (",", "}", "=")):
            kept.add(word)
    counts = collections.Counter(words)
    chosen = sorted((name for name in declared - kept if len(name) > 2), key=lambda name: (-counts[name], name))
    return {name: "$" + base36(number) for number, name in enumerate(chosen)}


def base36(number: int) -> str:
    digits = string.digits + string.ascii_lowercase
    return (base36(number // 36) if number >= 36 else "") + digits[number % 36]


def squeezed(code: str) -> str:
    """The code without white space that only people need, and with short names and words."""
    parts: list[str] = []
    space = ""
    found = tokens(code)
    names = {**short_names(found), "true": "!0", "false": "!1"}
    for token in (names.get(token, token) for token in found):
        if token.isspace():
            space = token
            continue
        if space:
            parts.append(gap(parts[-1] if parts else ";", space, token))
        parts.append(token)
        space = ""
    return "".join(without_last_semicolons(joined_constants(parts)))


def refuse_equal_names(modules: dict[str, str]) -> None:
    owners: dict[str, str] = {}
    for name, text in modules.items():
        for declared in DECLARATION.findall(text):
            if owners.setdefault(declared, name) != name:
                raise Refused(f"{name} and {owners[declared]} both declare `{declared}`")


def bundle(folder: pathlib.Path) -> str:
    modules = read_modules(folder)
    refuse_equal_names(modules)
    code = "\n".join(EXPORT.sub("", IMPORT.sub("", modules[name])).strip() for name in ordered(modules))
    script = squeezed(f'(() => {{\n"use strict";\n{code}\n}})();') + "\n"
    if "</script" in script.lower() or "<!--" in script:
        raise Refused("the script holds what would end a script element")
    return script


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=MOST_BYTES)
    options = parser.parse_args()
    try:
        script = bundle(options.folder)
        if len(script.encode()) > options.most:
            raise Refused(f"the script has {len(script.encode())} bytes; at most {options.most} are allowed")
    except Refused as refused:
        print(f"bundle_page: {refused}", file=sys.stderr)
        return 1
    options.out.write_text(script)
    print("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
