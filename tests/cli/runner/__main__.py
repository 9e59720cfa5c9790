"""Runs golden tests of the program.

    python tests/cli/runner --program PROGRAM [--update] PATH...

PATH is a *.test file or a folder that holds some. test_file.py says how they are written. --update rewrites what the
tests expect; the difference is then reviewed like code.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import comparison
from execution import Place, Run
from rules import broken_rules
from test_file import RUNS, SETUP, Directive, TestFileError, parse


def blocks(directives: list[Directive]) -> list[Directive | Run]:
    """Groups what belongs to a run with it. Comments and blank lines behind a run stay outside."""
    found: list[Directive | Run] = []
    run = None
    for directive in directives:
        if directive.word in RUNS:
            run = Run(directive)
            found.append(run)
        elif directive.word in SETUP or not directive.word:
            run = run if not directive.word else None
            found.append(directive)
        elif run is None:
            raise TestFileError(f"line {directive.line}: `{directive.word}` belongs to no `run`")
        else:
            run.checks.append(directive)
    return found


def play(block: Directive | Run, place: Place, where: str) -> tuple[list[str], list[Directive]]:
    """Executes a block; returns what failed and the block as it should be written."""
    if isinstance(block, Directive):
        if block.word:
            place.prepare(block)
        return [], [block]
    try:
        outcome = place.run(block)
    except subprocess.TimeoutExpired as error:
        return [f"{where}:{block.directive.line}: no end after {error.timeout:.0f} s"], [block.directive, *block.checks]
    failed = comparison.failures(block, outcome, place)
    head = f"{where}:{block.directive.line}: assay {block.directive.argument}"
    return [f"{head}\n{text}" for text in failed], comparison.updated(block, outcome)


def run_file(path: pathlib.Path, program: str, update: bool) -> tuple[int, list[str]]:
    """Returns how many runs there were and what failed."""
    parts = blocks(parse(path.read_text(), str(path)))
    failed = [f"{path}:{part.directive.line}: {rule}"
              for part in parts if isinstance(part, Run) for rule in broken_rules(part)]
    text = ""
    with tempfile.TemporaryDirectory(prefix="assay-cli-") as folder:
        place = Place(program, folder)
        for part in parts:
            part_failed, directives = play(part, place, str(path))
            failed += part_failed
            text += "".join(directive.text() for directive in directives)
    if update and text != path.read_text():
        path.write_text(text)
        print(f"updated {path}")
    return sum(isinstance(part, Run) for part in parts), failed


def test_files(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    return sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*.test")))


def attempt(path: pathlib.Path, program: str, update: bool) -> tuple[int, list[str]]:
    """Like run_file; a fault of the test itself is a failure, not the end of all tests."""
    try:
        if update:
            run_file(path, program, update)
        return run_file(path, program, update=False)
    except Exception as error:
        return 0, [f"{path}: {type(error).__name__}: {error}"]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--program", required=True)
    options.add_argument("--update", action="store_true")
    options.add_argument("paths", nargs="+", type=pathlib.Path)
    options = options.parse_args()
    program = os.path.abspath(options.program)
    results = [attempt(path, program, options.update) for path in test_files(options.paths)]
    runs = sum(count for count, _ in results)
    failed = [text for _, failures in results for text in failures]
    print("".join(f"FAILED {text}\n\n" for text in failed), end="")
    print(f"{len(results)} files, {runs} runs, {len(failed)} failures")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
