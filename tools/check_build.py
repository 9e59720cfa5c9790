#!/usr/bin/env python3
"""Fails if a translation unit takes too long to compile.

    check_build.py BUILD_FOLDER [--limit SECONDS]

Ninja's log names the suspects; each is compiled again alone, and its processor time counts, so that a busy machine and
a compiler cache change nothing.
"""

import argparse
import json
import os
import pathlib
import resource
import shlex
import subprocess
import sys

import source_tree


def logged_seconds(build: pathlib.Path) -> dict[str, float]:
    """Output file -> seconds of its last compilation."""
    lines = (build / ".ninja_log").read_text().splitlines()[1:]
    fields = [line.split("\t") for line in lines]
    return {output: (int(end) - int(start)) / 1000 for start, end, _, output, *_ in fields}


def processor_seconds(entry: dict) -> float:
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = os.devnull
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=entry["directory"], check=True, env=os.environ | {"CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check(build: pathlib.Path, limit: float) -> list[str]:
    commands = {entry["output"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    findings = []
    for output, seconds in sorted(logged_seconds(build).items()):
        if seconds > limit and output in commands:
            measured = processor_seconds(commands[output])
            if measured > limit:
                findings.append(f"{commands[output]['file']}: {measured:.1f} s to compile; the limit is {limit:g} s")
    return findings


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--limit", type=float, default=8.0)
    options = options.parse_args()
    return source_tree.report("check_build", check(options.build, options.limit))


if __name__ == "__main__":
    sys.exit(main())
