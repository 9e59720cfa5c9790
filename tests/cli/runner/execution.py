"""Runs the directives of a golden test in a temporary folder."""

import contextlib
import dataclasses
import io
import os
import pathlib
import re
import shlex
import subprocess

from test_file import Directive, TestFileError, with_marked_end

TIME = re.compile(r"\b\d+(\.\d+)?(e[-+]\d+)? ?(ns|us|µs|ms)\b|\b\d+\.\d+(e[-+]\d+)? ?(s|sec|seconds)\b")
NOW = re.compile(r"\b\d\d/\d\d/\d\d-\d\d:\d\d:\d\d\b")
RUN_SECONDS = 600


@dataclasses.dataclass
class Outcome:
    status: int
    stdout: str
    stderr: str

    def stream(self, name: str) -> str:
        return self.stdout if name == "stdout" else self.stderr


@dataclasses.dataclass
class Run:
    directive: Directive
    checks: list[Directive] = dataclasses.field(default_factory=list)

    @property
    def is_setup(self) -> bool:
        return self.directive.word == "setup"

    def arguments(self, word: str) -> list[str]:
        return [check.argument for check in self.checks if check.word == word]


class Place:
    """The temporary folder of one test."""

    def __init__(self, program: str, folder: str):
        self.program = program
        self.folder = pathlib.Path(folder)

    def prepare(self, directive: Directive) -> None:
        if directive.word == "file":
            path = self.folder / directive.argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(directive.body or "")
        elif directive.word == "make":
            self.make_model(directive)
        else:
            self.run_python(directive)

    def run_python(self, directive: Directive) -> None:
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(directive.body or "", f"line {directive.line}", "exec"), {})
        finally:
            os.chdir(before)

    def make_model(self, directive: Directive) -> None:
        import onnx  # takes long to load, so only when a test makes a model

        words = directive.argument.split()
        if len(words) != 3 or words[1] != "from":
            raise TestFileError(f"line {directive.line}: write `make MODEL from TEXT`")
        model = onnx.parser.parse_model((self.folder / words[2]).read_text())
        (self.folder / words[0]).write_bytes(model.SerializeToString(deterministic=True))

    def run(self, run: Run) -> Outcome:
        words = shlex.split(run.directive.argument.replace("$DIR", str(self.folder)))
        stdin = [(self.folder / name).read_bytes() for name in run.arguments("stdin")] or [b""]
        environment = self.environment() | dict(pair.split("=", 1) for pair in run.arguments("env"))
        name = (run.arguments("called") or [self.program])[0]
        done = subprocess.run([name, *words], executable=self.program, input=stdin[0], capture_output=True,
                              cwd=self.folder, env=environment, timeout=RUN_SECONDS)
        return Outcome(done.returncode, self.normal(done.stdout), self.normal(done.stderr))

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.endswith("SAN_OPTIONS")}
        return kept | {"HOME": str(self.folder), "TMPDIR": str(self.folder), "LC_ALL": "C.UTF-8"}

    def normal(self, output: bytes) -> str:
        text = output.decode(errors="backslashreplace").replace(str(self.folder), "$DIR").replace(self.program, "assay")
        return with_marked_end(NOW.sub("$NOW", TIME.sub("$TIME", text)))
