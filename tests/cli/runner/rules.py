"""What golden tests must look at."""

from execution import Run
from test_file import Directive


def is_whole(check: Directive) -> bool:
    """The check is about a whole line, or about the whole text."""
    form, _, wanted = check.argument.partition(" ")
    if form == "matches":
        return wanted.startswith("^") and wanted.endswith("$")
    return check.body is not None or form == "line"


def of_stream(run: Run, name: str) -> list[Directive]:
    return [check for check in run.checks if check.word == name]


def tells_failure(run: Run) -> bool:
    """A line of stderr is checked; or of stdout, where a verdict (1) is a result, or where stderr must be empty.

    Silence that is checked is enough.
    """
    errors, results = of_stream(run, "stderr"), of_stream(run, "stdout")
    said = errors + results if run.arguments("exit") == ["1"] else errors or results
    return not said or any(is_whole(check) for check in said)


def broken_rules(run: Run) -> list[str]:
    checks = [check for check in run.checks if check.word not in ("called", "stdin", "env") and check.word]
    if run.is_setup:
        return ["`setup` checks nothing: write `run`"] if checks else []
    found = []
    if run.arguments("exit") != ["0"] and not tells_failure(run):
        found.append("a run that fails must check a whole line: `stderr line TEXT`")
    if any(check.argument == "any" for check in checks) and all(
            check.word == "exit" or check.argument == "any" for check in checks):
        found.append("this looks at the status only: check what it prints, or write `setup`")
    return found
