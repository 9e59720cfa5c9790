#!/usr/bin/env python3
"""Runs clang-tidy-16 on the sources of a build that changed since they were last found clean.

    run_tidy.py BUILD_FOLDER

A source is checked again when it, a header that it includes (as Ninja knows) or .clang-tidy is newer than its mark.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import compilations

ROOT = pathlib.Path(__file__).resolve().parent.parent


def dependencies(build: pathlib.Path) -> dict[str, list[pathlib.Path]]:
    """Object file -> our own files that it is made of."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[pathlib.Path]] = {}
    current: list[pathlib.Path] = []
    for line in listing.splitlines():
        if line.startswith("    "):
            path = build / line.strip()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ":" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def sources(build: pathlib.Path) -> dict[pathlib.Path, list[pathlib.Path]]:
    """Our sources with the files that they are made of."""
    objects = dependencies(build)
    return {one.source: [one.source, ROOT / ".clang-tidy", *objects.get(one.output, [])]
            for one in compilations.read(build) if one.source.is_relative_to(ROOT / "src") and one.source.exists()}


def mark_of(build: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    return build / "tidy" / (str(source.relative_to(ROOT)).replace("/", "__") + ".clean")


def is_clean(mark: pathlib.Path, files: list[pathlib.Path]) -> bool:
    return mark.exists() and all(file.exists() and file.stat().st_mtime < mark.stat().st_mtime for file in files)


def tidy(build: pathlib.Path, source: pathlib.Path) -> bool:
    command = ["clang-tidy-16", "--quiet", "--warnings-as-errors=*", "-p", build, source]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        mark = mark_of(build, source)
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
    else:
        print(run.stdout, end="", flush=True)
    return run.returncode == 0


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    todo = [source for source, files in sources(build).items() if not is_clean(mark_of(build, source), files)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(lambda source: tidy(build, source), todo))
    print(f"clang-tidy: {len(todo)} files checked, {clean.count(False)} with findings")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
