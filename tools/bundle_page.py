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
import itertools
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
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*$")
RESERVED = """as async await break case catch class const constructor continue default delete do else export extends false finally for from function get if import
in instanceof let new null of return set static super switch this throw true try typeof undefined var void while yield arguments""".split()
GLOBALS = "Infinity NaN document globalThis history innerHeight innerWidth location navigator performance window".split()
NOT_RENAMED = {*RESERVED, *GLOBALS}
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


def template_end(code: str, at: int, stops: bool = False) -> int:
    """Where a template literal ends that begins at a place, or with `stops` its first piece of code; what it embeds may hold
    templates again."""
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
            if stops and not depth:
                return at
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


def brace_kind(words: list[str], at: int) -> str:
    """Tells what an opening brace begins: an object or a pattern, the body of a class, or a block."""
    before, earlier = words[at - 1] if at else "", words[at - 2] if at > 1 else ""
    if earlier in ("class", "extends"):
        return "class"
    is_arrow = before == ">" and earlier == "="
    begins_value = before in "(,=:[?&|!" or before in ("return", "const", "let", "of")
    return "object" if before and begins_value and not is_arrow else "block"


def roles(words: list[str]) -> list[str]:
    """The role of each word: `variable`, `shorthand` (a key and a variable), or nothing: keys, members and signs."""
    found = []
    opened = ["block"]
    for at, word in enumerate(words):
        before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        inside = opened[-1]
        if word == "{":
            opened.append(brace_kind(words, at))
        elif word in ("(", "["):
            opened.append(word)
        elif word in (")", "]", "}"):
            opened.pop()
        if inside == "class" and word == "=":
            raise Refused("fields of classes are set in constructors")
        is_member = before == "." and words[at - 2:at] != [".", "."]
        is_key = inside == "object" and before in ("{", ",", "async", "get") and after in (":", "(")
        if not IDENTIFIER.match(word) or is_member or is_key or inside == "class":
            found.append("")
        else:
            found.append("shorthand" if inside == "object" and before in ("{", ",") and after in (",", "}", "=") else "variable")
    return found


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
        elif IDENTIFIER.match(word) and is_arrow:
            found.add(word)
        elif IDENTIFIER.match(word) and opened and before in ("(", ",", "."):
            opened[-1][1].append(word)
    return found


def declared_names(words: list[str]) -> set[str]:
    """Names of variables that the code declares, also in patterns: whatever stands there as one word."""
    found = {word for before, word in zip(words, words[1:]) if before in DECLARING} | parameters(words)
    found |= {word for word, role in zip(words, roles(words)) if role == "shorthand"}
    opened = [""]
    for before, word, after in zip(words, words[1:], words[2:]):
        if before in ("(", "[", "{"):
            opened.append(before)
        elif before in (")", "]", "}") and len(opened) > 1:
            opened.pop()
        if opened[-1] == "[" and before in ("[", ",") and after in (",", "]") and word[:1].islower():
            found.add(word)
    return {word for word in found if IDENTIFIER.match(word)} - NOT_RENAMED


def pieces_of(template: str) -> list[str]:
    """Texts and code of a template literal in turns, from a text to a text."""
    pieces = []
    begin = at = 0
    while at < len(template):
        if template[at] == "\\":
            at += 1
        elif template.startswith("${", at):
            end = template_end("`" + template[at:] + "`", 0, stops=True) + at - 1
            pieces += [template[begin:at + 2], template[at + 2:end]]
            begin = at = end
        at += 1
    return [*pieces, template[begin:]]


def all_words(found: list[str]) -> list[list[str]]:
    """The words of the code, and those of each piece of code in its templates."""
    lists = [[token for token in found if not token.isspace()]]
    for token in found:
        if token[0] == "`":
            for code in pieces_of(token)[1::2]:
                lists += all_words(tokens(code))
    return lists


def short_names(found: list[str]) -> dict[str, str]:
    """Short names for variables: words that the code does not have otherwise."""
    lists = all_words(found)
    declared = set().union(*map(declared_names, lists))
    counts = collections.Counter(word for words in lists for word, role in zip(words, roles(words)) if role and word in declared)
    taken = {word for words in lists for word in words} - set(counts)
    letters = string.ascii_letters + "$_"
    free = (name for name in (*letters, *map("".join, itertools.product(letters, letters + string.digits))) if name not in taken | NOT_RENAMED)
    return {name: short for name, short in zip(sorted(counts, key=lambda name: (-counts[name], name)), free)}


def renamed(found: list[str], names: dict[str, str]) -> list[str]:
    """The tokens with the short names of variables."""
    of_words = iter(roles([token for token in found if not token.isspace()]))
    result = []
    for token in found:
        role = "" if token.isspace() else next(of_words)
        if role and token in names:
            result.append(f"{token}:{names[token]}" if role == "shorthand" and names[token] != token else names[token])
        elif token[0] == "`":
            pieces = pieces_of(token)
            pieces[1::2] = [joined(renamed(tokens(code), names)) for code in pieces[1::2]]
            result.append("".join(pieces))
        else:
            result.append({"true": "!0", "false": "!1"}.get(token, token))
    return result


def joined(found: list[str]) -> str:
    """Tokens without white space that only people need."""
    parts: list[str] = []
    space = ""
    for token in found:
        if token.isspace():
            space = token
            continue
        if space:
            parts.append(gap(parts[-1] if parts else ";", space, token))
        parts.append(token)
        space = ""
    return "".join(without_last_semicolons(joined_constants(parts)))


def squeezed(code: str) -> str:
    """The code without white space that only people need, and with short names and words."""
    found = tokens(code)
    return joined(renamed(found, short_names(found)))


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
