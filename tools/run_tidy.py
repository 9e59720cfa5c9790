#!/usr/bin/env python3
"""Runs clang-tidy on the sources of a configured build that are not known to be clean.

    run_tidy.py BUILD_FOLDER [--since REVISION] [--jobs N]

A source is known to be clean while it, the headers of ours that it includes and .clang-tidy have the text that they had
when it was found so. With a revision, only what changed since then is checked: sources, and for each header its own
source or the first one that includes it. Tests are left to the compilers: GoogleTest's macros take minutes.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import subprocess
import sys

import compilations
import source_tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = pathlib.Path(sys.executable).parent / "clang-tidy"  # the virtual environment's: half the time of Debian's


@functools.cache
def digest(file: pathlib.Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


def state(source: pathlib.Path) -> str:
    """Changes whenever clang-tidy could find something else."""
    return hashlib.sha256(b"".join(map(digest, [ROOT / ".clang-tidy", *source_tree.parts(source)]))).hexdigest()


def sources(build: pathlib.Path) -> list[pathlib.Path]:
    found = {one.source for one in compilations.read(build) if one.source.is_relative_to(ROOT / "src") and one.source.exists()}
    return sorted(source for source in found if not source_tree.is_test(source.relative_to(ROOT)))


def representative(header: pathlib.Path, known: list[pathlib.Path]) -> pathlib.Path | None:
    own = header.with_suffix(".cpp")
    return own if own in known else next((source for source in known if header in source_tree.parts(source)), None)


def changed_since(revision: str, known: list[pathlib.Path]) -> list[pathlib.Path]:
    listing = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", revision, "--", "src", "include"], cwd=ROOT,
                             capture_output=True, text=True, check=True).stdout
    files = [ROOT / line for line in listing.splitlines()]
    found = {representative(file, known) if file.suffix == ".h" else file for file in files}
    return [source for source in known if source in found]


def mark_of(build: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    return build / "tidy" / (str(source.relative_to(ROOT)).replace("/", "__") + ".clean")


def is_clean(build: pathlib.Path, source: pathlib.Path) -> bool:
    mark = mark_of(build, source)
    return mark.exists() and mark.read_text() == state(source)


def tidy(build: pathlib.Path, source: pathlib.Path) -> bool:
    before = state(source)
    command = [TIDY, "--quiet", "--warnings-as-errors=*", "-p", build, source]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        mark = mark_of(build, source)
        mark.parent.mkdir(exist_ok=True)
        mark.write_text(before)
    else:
        print(run.stdout, end="", flush=True)
    return run.returncode == 0


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--since")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options = options.parse_args()
    build = options.build.resolve()
    known = sources(build)
    wanted = changed_since(options.since, known) if options.since else known
    todo = [source for source in wanted if not is_clean(build, source)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        clean = list(pool.map(lambda source: tidy(build, source), todo))
    print(f"clang-tidy: {len(todo)} of {len(wanted)} files checked, {clean.count(False)} with findings")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
