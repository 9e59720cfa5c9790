"""Compares the outcome of a run with what its test says, and rewrites what the test says."""

import difflib
import json
import re

from execution import Outcome, Place, Run
from test_file import Directive

STREAMS = ("stdout", "stderr")


def without_times(value):
    """JSON with the values of `timings` replaced, because they differ from run to run."""
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    if isinstance(value, dict):
        return {key: "$TIME" if key == "timings" else without_times(entry) for key, entry in value.items()}
    return value


def as_json(text: str) -> str:
    try:
        return json.dumps(without_times(json.loads(text)), indent=2, ensure_ascii=False) + "\n"
    except ValueError as error:
        return f"no JSON ({error}):\n{text}"


def difference(expected: str, seen: str) -> str:
    lines = difflib.unified_diff(expected.splitlines(), seen.splitlines(), "expected", "seen", lineterm="")
    return "\n".join(lines)


def stream_failure(check: Directive, seen: str) -> str | None:
    form, _, wanted = check.argument.partition(" ")
    if check.body is not None:
        expected, seen = (as_json(check.body), as_json(seen)) if form == "json" else (check.body, seen)
        return difference(expected, seen) if expected != seen else None
    if form == "line":
        return None if wanted in map(str.rstrip, seen.splitlines()) else f"{check.word} has no line `{wanted}`:\n{seen}"
    if form == "contains":
        return None if wanted in seen else f"{check.word} does not contain `{wanted}`:\n{seen}"
    if form == "matches":
        return None if re.search(wanted, seen, re.MULTILINE) else f"{check.word} does not match `{wanted}`:\n{seen}"
    return None if form == "any" else f"unknown check `{check.word} {check.argument}`"


def file_failure(check: Directive, place: Place) -> str | None:
    paths = [place.folder / name for name in check.argument.split()]
    if check.word == "absent":
        return f"{check.argument} exists" if paths[0].exists() else None
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        return f"{', '.join(missing)} does not exist"
    return None if paths[0].read_bytes() == paths[1].read_bytes() else f"{check.argument} differ"


def failures(run: Run, outcome: Outcome, place: Place) -> list[str]:
    if run.is_setup:
        return [] if outcome.status == 0 else [f"exit {outcome.status}:\n{outcome.stdout}{outcome.stderr}"]
    found = []
    statuses = run.arguments("exit")
    if statuses != [str(outcome.status)]:
        found.append(f"exit {outcome.status}; the test says {' '.join(statuses) or 'nothing about it'}")
    for check in run.checks:
        if check.word in STREAMS:
            found.append(stream_failure(check, outcome.stream(check.word)))
        elif check.word in ("same", "absent"):
            found.append(file_failure(check, place))
    for name in STREAMS:
        if not run.arguments(name) and outcome.stream(name):
            found.append(f"{name} is not checked and not empty:\n{outcome.stream(name)}")
    return [text for text in found if text]


def updated(run: Run, outcome: Outcome) -> list[Directive]:
    """The run's directives with what was seen; checks that name a part of the text stay."""
    if run.is_setup:
        return [run.directive, *run.checks]
    kept = [check for check in run.checks if check.word not in (*STREAMS, "exit")]
    before = [check for check in kept if check.word in ("called", "stdin", "env")]
    directives = [run.directive, *before, Directive("exit", str(outcome.status), None, 0)]
    for name in STREAMS:
        directives += updated_stream(name, [check for check in run.checks if check.word == name], outcome.stream(name))
    return directives + [check for check in kept if check not in before and check.word]


def updated_stream(name: str, checks: list[Directive], seen: str) -> list[Directive]:
    partial = [check for check in checks if check.body is None]
    if partial:
        return partial
    if checks and checks[0].argument == "json":
        return [Directive(name, "json", as_json(seen), 0)]
    return [Directive(name, "", seen, 0)] if seen else []
