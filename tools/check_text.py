#!/usr/bin/env python3
"""Fails on text that ties the project to one machine or one working folder.

    check_text.py [ROOT]

No file may name a path of somebody's machine or a folder beside the project, or hold the marks of an unfinished merge or skeleton.
"""

import pathlib
import re
import sys

import source_tree

RULES = [
    (re.compile(r"\.\./" + "shared"), "a folder beside the project"),
    (re.compile(r"(?<![\w.~}$-])/" + r"(work|root)/"), "an absolute path of one machine"),
    (re.compile(r"^(<{7}|>{7}) "), "the mark of an unfinished merge"),
    (re.compile(r"\b" + "TO" + r"DO\b"), "the mark of a skeleton that is not filled in"),
]


def file_findings(root: pathlib.Path, path: pathlib.Path) -> list[str]:
    data = (root / path).read_bytes()
    if b"\0" in data:
        return []
    findings = []
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        findings += [f"{path}:{number}: {what}" for rule, what in RULES if rule.search(line)]
    return findings


def check(root: pathlib.Path) -> list[str]:
    return [finding for path in source_tree.files(root) for finding in file_findings(root, path)]


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    return source_tree.report("check_text", check(root))


if __name__ == "__main__":
    sys.exit(main())
