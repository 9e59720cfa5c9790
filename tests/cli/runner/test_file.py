"""Golden tests as text: a file is a list of directives, which read and print without loss.

    # any comment
    file NAME <<EOF               writes a file
    make NAME.onnx from NAME.txt  ONNX text -> model
    python <<EOF                  runs Python, for models that text cannot say
    setup WORDS                   runs the program, which must succeed; what it prints is not looked at
    run WORDS                     runs the program; all below belongs to it, until the next of the above
    called NAME                   the program has this name
    stdin NAME                    its standard input is this file
    env NAME=VALUE
    exit N                        required
    stdout <<EOF                  the whole text; a stream that is not named must be empty
    stdout line TEXT              one whole line; any number of these
    stdout contains TEXT          any number of these
    stdout matches REGEX
    stdout json <<EOF             equal as JSON
    stdout any
    same NAME_A NAME_B            two files have equal bytes after the run
    absent NAME                   the file does not exist after the run

`stderr` takes what `stdout` takes. A run that fails must be told by a whole line of stderr, or of stdout for a verdict
(exit 1) or where stderr is empty: by `line`, `matches ^REGEX$` or the whole text. A run with `any` must check something
else, too. In WORDS $DIR is the test's temporary folder; in texts $DIR stands for it, $TIME for a time that was
measured, $NOW for the time in the name of a runner; the program's path is `assay`. Text whose last line has no line
end is followed by the line `\\ no newline at end`.
"""

import dataclasses

SETUP = {"file", "make", "python"}
RUNS = {"run", "setup"}
OF_RUN = {"called", "stdin", "env", "exit", "stdout", "stderr", "same", "absent"}
NO_NEWLINE = "\\ no newline at end\n"


@dataclasses.dataclass
class Directive:
    word: str  # empty for comments and blank lines
    argument: str
    body: str | None
    line: int

    def text(self) -> str:
        head = f"{self.word} {self.argument}".strip()
        if self.body is None:
            return head + "\n"
        end = "EOF"
        while end in self.body.splitlines():
            end += "_"
        return f"{head} <<{end}\n{self.body}{end}\n"


class TestFileError(Exception):
    pass


def parse(text: str, name: str) -> list[Directive]:
    lines = text.splitlines()
    directives = []
    number = 0
    while number < len(lines):
        directive, number = parse_one(lines, number, name)
        directives.append(directive)
    return directives


def parse_one(lines: list[str], number: int, name: str) -> tuple[Directive, int]:
    line = lines[number]
    if not line.strip() or line.startswith("#"):
        return Directive("", line, None, number + 1), number + 1
    word, _, argument = line.partition(" ")
    if word not in SETUP | OF_RUN | RUNS:
        raise TestFileError(f"{name}:{number + 1}: unknown directive `{word}`")
    head, marker, end = argument.rpartition("<<")
    if not marker or not end.strip().isidentifier() or word in RUNS:
        return Directive(word, argument.strip(), None, number + 1), number + 1
    if end.strip() not in lines[number + 1:]:
        raise TestFileError(f"{name}:{number + 1}: no line `{end.strip()}` ends this text")
    last = lines.index(end.strip(), number + 1)
    body = "".join(line + "\n" for line in lines[number + 1:last])
    return Directive(word, head.strip(), body, number + 1), last + 1


def with_marked_end(text: str) -> str:
    """The form in which text stands in a test: whole lines."""
    return text if not text or text.endswith("\n") else text + "\n" + NO_NEWLINE
