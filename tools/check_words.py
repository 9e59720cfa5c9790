#!/usr/bin/env python3
"""Fails when more comments of src and include open with a word that says neither what something is nor what it does.

    check_words.py [--root ROOT] [--all] [--update [--allow-worse]]

A contract opens with a noun or a verb: `True if ...`, `Returns null if ...`, `Rows of ...`. Counted are blocks of `//` above
code that open with one of OPENINGS, and comments beside code that open with one except `of`, which reads on from the name
(`rows;  // of the matrix`). The count of each file is recorded in tools/words.json and may only fall. --update records
today's counts; it refuses if there are more in all, so files may be moved. --all lists every such comment.
"""

import argparse
import json
import pathlib
import re
import sys
from typing import NamedTuple

import cpp_scan
import source_tree

OPENINGS = ["what", "whether", "of", "how", "where", "as", "which", "why", "who", "those", "they", "their", "it", "its",
            "the same"]
OPENING = re.compile(rf"({'|'.join(OPENINGS)})\b", re.IGNORECASE)


class Comment(NamedTuple):
    line: int
    column: int
    is_beside: bool  # behind code of its first line
    text: str  # of its first line


def comments(text: str) -> list[Comment]:
    """The blocks of `//` in a source: lines one below the other, or what stands beside code and is continued below it."""
    found = []
    last = (0, -1)  # line and column of the `//` before
    for match in cpp_scan.LITERAL.finditer(text):
        if not match.group().startswith("//"):
            continue
        begin = text.rfind("\n", 0, match.start()) + 1
        line, column = text.count("\n", 0, begin) + 1, match.start() - begin
        is_beside = bool(text[begin:match.start()].strip())
        if is_beside or last != (line - 1, column):
            found.append(Comment(line, column, is_beside, match.group()[2:].strip()))
        last = (line, column)
    return found


def is_counted(comment: Comment) -> bool:
    match = OPENING.match(comment.text)
    return bool(match) and not (comment.is_beside and match.group().lower() == "of")


def scan(root: pathlib.Path) -> dict[str, list[Comment]]:
    paths = source_tree.files(root, ".h", ".cpp", ".inc")
    paths = [path for path in paths if path.parts[0] in ("src", "include") and not source_tree.is_test(path)]
    return {str(path): comments((root / path).read_text(errors="replace")) for path in paths}


def worse(now: dict[str, int], recorded: dict[str, int]) -> list[str]:
    return [f"{path}: {count} comments open with a word such as What, Whether or Of; {recorded.get(path, 0)} are recorded"
            for path, count in now.items() if count > recorded.get(path, 0)]


def print_summary(everything: list[Comment]) -> None:
    beside = [comment for comment in everything if comment.is_beside]
    above = [comment for comment in everything if not comment.is_beside]
    counts = [f"{sum(map(is_counted, part))} of {len(part)} {place}" for part, place in ((above, "above"), (beside, "beside"))]
    print(f"words: comments that open with a word such as What: {counts[0]} code, {counts[1]} it")


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    for flag in ("--all", "--update", "--allow-worse"):
        options.add_argument(flag, action="store_true")
    options = options.parse_args()
    file = options.root / "tools" / "words.json"
    recorded = json.loads(file.read_text()) if file.exists() else {}
    everything = scan(options.root)
    counted = {path: list(filter(is_counted, found)) for path, found in everything.items()}
    now = {path: len(found) for path, found in counted.items() if found}
    if options.all:
        print("".join(f"{path}:{comment.line}: {comment.text}\n" for path in now for comment in counted[path]), end="")
    print_summary([comment for found in everything.values() for comment in found])
    if options.update and (options.allow_worse or sum(now.values()) <= sum(recorded.values())):
        file.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n")
        return 0
    return source_tree.report("check_words", worse(now, recorded))


if __name__ == "__main__":
    sys.exit(main())
