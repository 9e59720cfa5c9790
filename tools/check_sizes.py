#!/usr/bin/env python3
"""Warns about what is larger than we aim for, and fails when something beyond the hard limits is new or has grown.

    check_sizes.py [--root ROOT] [--all] [--update [--allow-worse]]

Aims: function 20 lines, file 200, folder 25 files, 4 parameters, nesting 2. Hard limits: function 40, file 400; what is
beyond them is recorded in tools/sizes.json. --update records today's numbers and refuses to raise one without
--allow-worse. --all lists every warning. Tests and the insides of tables (brace initializers, rows of a switch) do not
count.
"""

import argparse
import ast
import collections
import json
import pathlib
import sys

import cpp_scan
import source_tree

AIMS = {"function": 20, "file": 200, "folder": 25, "parameters": 4, "nesting": 2}
WORDS = {
    "function": "functions over 20 lines", "file": "files over 200 lines", "folder": "folders over 25 files",
    "parameters": "functions with more than 4 parameters", "nesting": "functions nested deeper than 2"}
HARD = {"function": 40, "file": 400}
PYTHON_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)

Sizes = dict[str, dict[str, int]]  # kind -> "path" or "path:function" -> number


def python_nesting(node: ast.AST, depth: int = 0) -> int:
    deepest = depth
    for field in ("body", "orelse", "handlers", "finalbody"):
        for child in getattr(node, field, []):
            elif_chain = field == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If)
            deeper = isinstance(child, PYTHON_BLOCKS) and not elif_chain
            deepest = max(deepest, python_nesting(child, depth + deeper))
    return deepest


def python_functions(text: str) -> list[cpp_scan.Function]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            lines = node.end_lineno - node.lineno + 1
            found.append(cpp_scan.Function(node.name, node.lineno, lines, len(names), python_nesting(node)))
    return found


def scan_file(path: pathlib.Path) -> tuple[list[cpp_scan.Function], int]:
    """The functions of a file and its lines without those of tables."""
    text = path.read_text(errors="replace")
    functions, table_lines = (python_functions(text), 0) if path.suffix == ".py" else cpp_scan.scan(text)
    return functions, text.count("\n") - table_lines


def measure(root: pathlib.Path) -> Sizes:
    sizes: Sizes = collections.defaultdict(dict)
    folders: collections.Counter = collections.Counter()
    for path in source_tree.files(root, ".h", ".cpp", ".py"):
        if source_tree.is_test(path):
            continue
        functions, sizes["file"][str(path)] = scan_file(root / path)
        if "ops" not in path.parts:
            folders[str(path.parent)] += 1
        for function in functions:
            key = f"{path}:{function.name}"
            for kind, number in (("function", function.lines), ("parameters", function.parameters),
                                 ("nesting", function.nesting)):
                sizes[kind][key] = max(sizes[kind].get(key, 0), number)
    sizes["folder"] = dict(folders)
    return sizes


def beyond(numbers: dict[str, int], limit: int) -> dict[str, int]:
    return {key: number for key, number in sorted(numbers.items()) if number > limit}


def worse(now: Sizes, recorded: Sizes) -> list[str]:
    findings = []
    for kind, limit in HARD.items():
        for key, number in now[kind].items():
            before = recorded.get(kind, {}).get(key)
            if before is None:
                findings.append(f"{key}: {kind} of {number} lines; the limit is {limit}")
            elif number > before:
                findings.append(f"{key}: {kind} of {number} lines; it had {before}, the limit is {limit}")
    return findings


def print_warnings(sizes: Sizes, everything: bool) -> None:
    counts = []
    for kind, aim in AIMS.items():
        found = beyond(sizes[kind], aim)
        if found:
            counts.append(f"{len(found)} {WORDS[kind]} (most: {max(found.values())}, {max(found, key=found.get)})")
        if everything:
            print("".join(f"{key}: {kind} {number}, aim {aim}\n" for key, number in found.items()), end="")
    if counts:
        print("sizes: " + "\n       ".join(counts))


def update(file: pathlib.Path, now: Sizes) -> None:
    file.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n")
    print(f"{file}: {sum(map(len, now.values()))} numbers recorded")


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    for flag in ("--all", "--update", "--allow-worse"):
        options.add_argument(flag, action="store_true")
    options = options.parse_args()
    file = options.root / "tools" / "sizes.json"
    recorded = json.loads(file.read_text()) if file.exists() else {}
    sizes = measure(options.root)
    now = {kind: beyond(sizes[kind], limit) for kind, limit in HARD.items()}
    findings = worse(now, recorded)
    if options.update and (options.allow_worse or not findings):
        update(file, now)
        return 0
    print_warnings(sizes, options.all)
    return source_tree.report("check_sizes", findings)


if __name__ == "__main__":
    sys.exit(main())
