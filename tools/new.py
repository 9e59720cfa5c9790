#!/usr/bin/env python3
"""Writes the skeleton of something new where it belongs. The build finds the new files by listing folders.

    new.py op GROUP/NAME OPERATOR [--domain DOMAIN]    an operator of the reference and its case file
    new.py pass FAMILY/NAME                            a pass and its test
    new.py kernel FAMILY                               a family of kernels of the engine and its test
    new.py check NAME                                  a check of `check lint`
    new.py command VERB/NAME                           a command and the task behind it
    new.py backend NAME                                a backend; also adds its module to CMakeLists.txt

Only `backend` edits an existing file: it adds the line `assay_module(backends/NAME DEPS ...)` to CMakeLists.txt.
Files that already exist are never overwritten. Each gap is marked, and check_text fails until all marks are gone.
A pass that belongs to a named sequence (`--simplify`, `--fuse`) also needs a line in src/passes/pipelines.cpp, a new
verb a line in src/cli/command_list.cpp, and a new backend a flag in src/cli/options/groups/backends.cpp.
"""

import argparse
import pathlib
import re
import sys

import skeletons

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "TO" + "DO"
EDITED = {"CMakeLists.txt"}

class Failure(Exception):
    pass


def checked(word: str, what: str, parts: int) -> list[str]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*){%d}" % (parts - 1), word):
        raise Failure(f"`{word}` is no {what}: lower case words, {parts} of them")
    return word.split("/")


def schema_versions(name: str) -> dict[int, str]:
    """The lines of an operator, called as in the texts: `Conv`, `ai.onnx.ml::Scaler`; by the version they hold from."""
    lines = [line for text in ("schemas.txt", "schemas_microsoft.txt")
             for line in (ROOT / "src" / "schema" / text).read_text().splitlines()]
    found = [line.split(maxsplit=2) for line in lines if line.startswith(name + " ")]
    return {int(since): f"{name} {since} {rest}" for _, since, rest in found}


def operator_files(path: str, name: str, domain: str) -> dict[str, str]:
    group, stem = checked(path, "GROUP/NAME", 2)
    spelled = f"{domain}::{name}" if domain else name
    versions = schema_versions(spelled)
    if not versions:
        raise Failure(f"no schema of {spelled}; those of domains that are not ONNX's go into "
                      "src/schema/schemas_microsoft.txt")
    facts = {"group": group, "stem": stem, "name": name, "since": min(versions), "signature": versions[max(versions)],
             "domain": f'.domain = "{domain}", ' if domain else "", "spelled": spelled, "mark": MARK}
    return {f"src/ops/operators/{group}/{stem}.cpp": skeletons.OPERATOR.format(**facts),
            f"tests/cases/{group}/{stem}.case": skeletons.CASE.format(**facts)}


def names_of(symbol: str) -> dict[str, str]:
    """One name as C++ and users write it: `my_view` -> MyView, my-view."""
    return {"type": symbol.title().replace("_", ""), "words": symbol.replace("_", "-"), "mark": MARK}


def check_files(path: str) -> dict[str, str]:
    (stem,) = checked(path, "NAME", 1)
    return {f"src/lint/checks/{stem}.cpp": skeletons.CHECK.format(stem=stem, mark=MARK)}


def pass_files(path: str) -> dict[str, str]:
    family, stem = checked(path, "FAMILY/NAME", 2)
    facts = names_of(stem) | {"family": family, "stem": stem}
    base = f"src/passes/rewrites/{family}/{stem}"
    return {f"{base}.cpp": skeletons.PASS.format(**facts), f"{base}_test.cpp": skeletons.PASS_TEST.format(**facts)}


def kernel_files(path: str) -> dict[str, str]:
    (stem,) = checked(path, "FAMILY", 1)
    facts = names_of(stem) | {"stem": stem}
    folder = "src/engine/devices/cpu"
    return {f"{folder}/kernels/{stem}.cpp": skeletons.KERNEL.format(**facts),
            f"{folder}/{stem}_test.cpp": skeletons.KERNEL_TEST.format(**facts)}


def command_files(path: str) -> dict[str, str]:
    verb, name = checked(path, "VERB/NAME", 2)
    facts = names_of(f"{verb}_{name}") | {"symbol": f"{verb}_{name}", "task": f"tasks/{verb}/{name}",
                                          "words": f"{verb} {name}".replace("_", "-")}
    return {f"src/cli/commands/{verb}/{name}.cpp": skeletons.COMMAND.format(**facts),
            f"src/tasks/{verb}/{name}.h": skeletons.TASK_HEADER.format(**facts),
            f"src/tasks/{verb}/{name}.cpp": skeletons.TASK.format(**facts)}


def backend_files(root: pathlib.Path, path: str) -> dict[str, str]:
    """The backend, and the CMakeLists.txt of the root with its module after the other backends."""
    (stem,) = checked(path, "NAME", 1)
    before, found, after = (root / "CMakeLists.txt").read_text().rpartition("assay_module(backends/")
    if not found:
        raise Failure("CMakeLists.txt has no line `assay_module(backends/...)` to add the new one after")
    if f"assay_module(backends/{stem} " in before + found + after:
        raise Failure(f"CMakeLists.txt has a module backends/{stem} already")
    last, rest = after.split("\n", 1)
    line = f"assay_module(backends/{stem} DEPS base tensor ir exec)\n"
    return {f"src/backends/{stem}/backend.cpp": skeletons.BACKEND.format(stem=stem, **names_of(stem)),
            "CMakeLists.txt": f"{before}{found}{last}\n{line}{rest}"}


def files(options: argparse.Namespace) -> dict[str, str]:
    if options.kind == "op":
        return operator_files(options.path, options.operator, options.domain)
    if options.kind == "backend":
        return backend_files(options.root, options.path)
    made_by = {"pass": pass_files, "kernel": kernel_files, "check": check_files, "command": command_files}
    return made_by[options.kind](options.path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="write below this folder")
    kinds = parser.add_subparsers(dest="kind", required=True)
    operator = kinds.add_parser("op")
    operator.add_argument("path", metavar="GROUP/NAME")
    operator.add_argument("operator", metavar="OPERATOR")
    operator.add_argument("--domain", default="")
    for kind, metavar in (("pass", "FAMILY/NAME"), ("kernel", "FAMILY"), ("check", "NAME"), ("command", "VERB/NAME"),
                          ("backend", "NAME")):
        kinds.add_parser(kind).add_argument("path", metavar=metavar)
    options = parser.parse_args()
    try:
        new = files(options)
        for path in new:
            if path not in EDITED and (options.root / path).exists():
                raise Failure(f"{path} exists already")
    except Failure as failure:
        print(f"new.py: {failure}", file=sys.stderr)
        return 2
    for path, text in new.items():
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_text(text)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
