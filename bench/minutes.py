#!/usr/bin/env python3
"""How long developers wait: `./dev demo` and `.ci/run` of a new clone, and the program after one operator was changed.

    minutes.py [--only PART] [--cache]

Clones are of the last commit, in a temporary folder. Compilers run in earnest unless --cache is given; Python packages
come from where pip finds them. For `operator`, sources are touched and the program of this folder is built, one after
the other; the longest counts. Whatever else the machine does counts too. Exits 1 if a bar is missed.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BARS = {"demo": 6 * 60, "ci": 14 * 60, "operator": 10}
COMMANDS = {"demo": ["./dev", "demo"], "ci": [".ci/run"]}
BUILD = ["tools/build.sh", "release", "assay"]
# Small and large ones, of folders whose sources are compiled in different groups.
OPERATORS = ("math/prelu", "conv/conv", "movement/slice", "ml/trees", "attention/attention")


def wall_seconds(command: list[str], folder: pathlib.Path, environment: dict[str, str]) -> float:
    """Runs a command in a folder; where it fails, says how it ended."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        lines = "\n".join(done.stdout.splitlines()[-30:])
        raise SystemExit(f"{lines}\nminutes: {' '.join(command)} ended with {done.returncode} after {seconds:.0f} s")
    return seconds


def clone_seconds(name: str, environment: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory(prefix="assay_minutes_") as temporary:
        folder = pathlib.Path(temporary) / "assay"
        begin = time.perf_counter()
        wall_seconds(["git", "clone", "--quiet", str(ROOT), str(folder)], ROOT, environment)
        wall_seconds(COMMANDS[name], folder, environment)
        return time.perf_counter() - begin


def operator_seconds(environment: dict[str, str]) -> float:
    wall_seconds(BUILD, ROOT, environment)
    longest = 0.0
    for operator in OPERATORS:
        os.utime(ROOT / "src/ops/operators" / f"{operator}.cpp")
        seconds = wall_seconds(BUILD, ROOT, environment)
        print(f"  {operator}.cpp: {seconds:.1f} s", flush=True)
        longest = max(longest, seconds)
    return longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--cache", action="store_true", help="with the compiler cache")
    options = parser.parse_args()
    environment = {**os.environ} if options.cache else {**os.environ, "CCACHE_DISABLE": "1"}
    fine = True
    for name, bar in BARS.items():
        if options.only not in name:
            continue
        seconds = operator_seconds(environment) if name == "operator" else clone_seconds(name, environment)
        fine &= seconds <= bar
        print(f"{name:<10}{seconds:7.1f} s  bar {bar} s, {'met' if seconds <= bar else 'MISSED'}", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
