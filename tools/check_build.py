#!/usr/bin/env python3
"""Fails if a translation unit takes too long to compile.

    check_build.py BUILD_FOLDER [--limit SECONDS]

Ninja's log names the suspects; each is compiled again alone, and its processor time counts, so that a busy machine and
a compiler cache change nothing.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys

import compilations
import source_tree


def logged_seconds(build: pathlib.Path) -> dict[str, float]:
    """Output file -> seconds of its last compilation."""
    lines = (build / ".ninja_log").read_text().splitlines()[1:]
    fields = [line.split("\t") for line in lines]
    return {output: (int(end) - int(start)) / 1000 for start, end, _, output, *_ in fields}


def processor_seconds(build: pathlib.Path, words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=build, check=True, env=os.environ | {"CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(build: pathlib.Path, limit: float) -> list[str]:
    logged = logged_seconds(build)
    suspects = [one for one in compilations.read(build) if logged.get(one.output, 0) > limit and one.source.exists()]
    measured = [(one.source, processor_seconds(build, one.discarding())) for one in suspects]
    return [f"{source}: {seconds:.1f} s to compile; the limit is {limit:g} s"
            for source, seconds in measured if seconds > limit]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--limit", type=float, default=8.0)
    options = options.parse_args()
    return source_tree.report("check_build", check(options.build, options.limit))


if __name__ == "__main__":
    sys.exit(main())
