"""What the checks share: the project's files, and how a finding is printed."""

import functools
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SKIPPED_FOLDERS = {".git", "build", ".venv", "__pycache__"}


def files(root: pathlib.Path, *suffixes: str) -> list[pathlib.Path]:
    """All files of the project below root, or those with the given suffixes, as paths relative to root, sorted."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        paths = [pathlib.Path(folder, name).relative_to(root) for name in names]
        found += [path for path in paths if not suffixes or path.suffix in suffixes]
    return sorted(found)


@functools.cache
def own_includes(file: pathlib.Path, root: pathlib.Path) -> list[pathlib.Path]:
    candidates = (root / folder / target for target in INCLUDE.findall(file.read_text()) for folder in ("src", "include"))
    return [path for path in candidates if path.is_file()]


def parts(source: pathlib.Path, root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """The source and all headers of ours that it includes, itself or through others."""
    found = {source}
    todo = [source]
    while todo:
        new = set(own_includes(todo.pop(), root)) - found
        found |= new
        todo += new
    return sorted(found)


def is_test(path: pathlib.Path) -> bool:
    return path.parts[0] == "tests" or path.stem.endswith("_test")


def report(check: str, findings: list[str]) -> int:
    """Prints the findings and returns the exit status."""
    for finding in findings:
        print(finding, file=sys.stderr)
    if findings:
        print(f"{check}: {len(findings)} findings", file=sys.stderr)
    return 1 if findings else 0
