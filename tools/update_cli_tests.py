#!/usr/bin/env python3
"""Rewrites what the golden CLI tests expect to what build/release/bin/assay does now; review the change with git diff.

    update_cli_tests.py [PATH...]        default: all of tests/cli
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    program = ROOT / "build" / "release" / "bin" / "assay"
    if not program.exists():
        print("update_cli_tests: there is no program; run ./dev build first", file=sys.stderr)
        return 2
    paths = sys.argv[1:] or [str(ROOT / "tests" / "cli")]
    python, runner = ROOT / ".venv" / "bin" / "python", ROOT / "tests" / "cli" / "runner"
    return subprocess.run([python, runner, "--program", program, "--update", *paths]).returncode


if __name__ == "__main__":
    sys.exit(main())
