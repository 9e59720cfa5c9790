#!/usr/bin/env python3
"""Counts where operators are named outside of the modules that describe them, and lets the numbers only fall.

    check_operators.py [--root ROOT] [--all] [--update]

What an operator is stands beside its `infer` and `eval` (src/ops/traits.h), and modules ask for it. Counted are
    files   sources with the name of an operator of the schemas as a string literal
    lists   statements, and initializers in braces, that name at least three different operators
    names   different operators in these lists
without tests, src/ops, src/schema, src/passes/opset and src/tensorflow, whose operators are others. Initializers in which most names stand beside a function are
no lists, but code for each operator. tools/operators.json holds the numbers that must not be exceeded; --update
records smaller ones. --all shows every list.
"""

import argparse
import json
import pathlib
import re
import sys

import cpp_scan
import source_tree

SCHEMAS = ("src/schema/schemas.txt", "src/schema/schemas_microsoft.txt")
DESCRIBING = ("src/ops/", "src/schema/", "src/passes/opset/", "src/passes/rewrites/opset/", "src/tensorflow/")
OPERATOR = re.compile(r"^(?:[\w.]+::)?(\w+) \d+ ", re.MULTILINE)
LEAST = 3  # names of a list
# A name beside a function: `"Conv", fuse`, `"Conv", &Speller::conv`, `"Conv", [](…`, `"Conv", spell<&Speller::conv>`.
WITH_FUNCTION = re.compile(r'^"\s*,\s*(?:"[^"]*"\s*,\s*)?(?:&\w+::\w+|\[|(?!true\b|false\b)[a-z]\w*(?:<[^<>]*>)?\s*[},])')


def blank(text: str) -> str:
    """As long as the text, without comments, the insides of literals and preprocessor lines."""
    def spaces(match: re.Match) -> str:
        word = match.group()
        kept = word[0] + re.sub(r"[^\n]", " ", word[1:-1]) + word[-1] if word[0] == '"' else re.sub(r"[^\n]", " ", word)
        return word if word[0].isdigit() else kept
    return cpp_scan.PREPROCESSOR.sub(spaces, cpp_scan.LITERAL.sub(spaces, text))


class Pieces(cpp_scan.Scanner):
    """Cuts a text into statements; an initializer in braces belongs to its statement."""

    def __init__(self, text: str):
        super().__init__(text)
        self.text = blank(text)
        self.pieces: list[tuple[int, int]] = []
        self.begin = 0

    def cut(self, end: int) -> None:
        self.pieces.append((self.begin, end))
        self.begin = end

    def in_table(self) -> bool:
        return self.stack[-1].kind == "table"

    def ended(self, match: re.Match) -> None:
        if self.stack[-1].parentheses == 0 and not self.in_table():
            self.cut(match.end())
        super().ended(match)

    def opened(self, match: re.Match) -> None:
        inside = self.in_table()
        super().opened(match)
        if inside:
            self.stack[-1].kind = "table"
        elif not self.in_table():
            self.cut(match.end())

    def closed(self, match: re.Match) -> None:
        if len(self.stack) > 1 and not self.in_table():
            self.cut(match.end())
        super().closed(match)


def operators_in(text: str, operators: set[str]) -> list[tuple[int, str]]:
    found = [match for match in cpp_scan.LITERAL.finditer(text) if match.group()[0] == '"']
    return [(match.start(), match.group()[1:-1]) for match in found if match.group()[1:-1] in operators]


def is_code(text: str, named: list[tuple[int, str]]) -> bool:
    beside = [bool(WITH_FUNCTION.match(text[place + len(name) + 1:place + 200])) for place, name in named]
    return sum(beside) * 2 > len(beside)


def lists_of(text: str, named: list[tuple[int, str]]) -> list[tuple[int, set[str]]]:
    """The line and the names of each list."""
    pieces = Pieces(text)
    pieces.run()
    pieces.cut(len(text))
    found = []
    for begin, end in pieces.pieces:
        inside = [(place, name) for place, name in named if begin <= place < end]
        names = {name for _, name in inside}
        if len(names) >= LEAST and not is_code(text, inside):
            found.append((text.count("\n", 0, inside[0][0]) + 1, names))
    return found


def measure(root: pathlib.Path) -> tuple[dict[str, int], list[str]]:
    operators = {name for schema in SCHEMAS for name in OPERATOR.findall((root / schema).read_text())}
    numbers, shown = {"files": 0, "lists": 0, "names": 0}, []
    for path in source_tree.files(root, ".h", ".cpp"):
        if path.parts[0] != "src" or source_tree.is_test(path) or path.as_posix().startswith(DESCRIBING):
            continue
        text = (root / path).read_text(errors="replace")
        named = operators_in(text, operators)
        numbers["files"] += bool(named)
        for line, names in lists_of(text, named) if named else []:
            numbers["lists"] += 1
            numbers["names"] += len(names)
            shown.append(f"{path}:{line}: {' '.join(sorted(names))}")
    return numbers, shown


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=source_tree.ROOT)
    for flag in ("--all", "--update"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    file = options.root / "tools" / "operators.json"
    limits = json.loads(file.read_text())
    numbers, shown = measure(options.root)
    if options.all:
        print("\n".join(shown))
    print("operators: " + ", ".join(f"{number} {what} (at most {limits[what]})" for what, number in numbers.items()))
    findings = [f"{number} {what} name operators; tools/operators.json allows {limits[what]}: ask ops::traits()"
                for what, number in numbers.items() if number > limits[what]]
    if options.update and not findings:
        file.write_text(json.dumps(numbers, indent=2) + "\n")
    return source_tree.report("check_operators", findings)


if __name__ == "__main__":
    sys.exit(main())
