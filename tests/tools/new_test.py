"""tools/new.py writes skeletons that are found, compile and are refused by check_text until they are filled in."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = pathlib.Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/release/tests")).parent / "compile_commands.json"


def flags_of(source: str) -> list[str]:
    """The flags with which a source of the project is compiled, without its own name and output."""
    for entry in json.loads(COMMANDS.read_text()):
        if entry["file"].endswith(source):
            words = shlex.split(entry["command"])
            return [word for word in words if word.startswith(("-I", "-D", "-W", "-std", "-f"))]
    raise AssertionError(f"{source} is not compiled")


class NewTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def new(self, *words: str) -> subprocess.CompletedProcess:
        command = ["python3", str(ROOT / "tools" / "new.py"), "--root", str(self.root), *words]
        return subprocess.run(command, capture_output=True, text=True)

    def compile(self, path: str, like: str):
        flags = flags_of(like)
        command = ["g++", *flags, "-fsyntax-only", str(self.root / path)]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_operator_is_one_source_and_one_case_file(self):
        done = self.new("op", "math/gelu_again", "Gelu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(),
                         ["src/ops/operators/math/gelu_again.cpp", "tests/cases/math/gelu_again.case"])
        source = (self.root / "src/ops/operators/math/gelu_again.cpp").read_text()
        self.assertIn("OperatorRows operator_math_gelu_again()", source)
        self.assertIn('.name = "Gelu", .since = 20', source)
        self.compile("src/ops/operators/math/gelu_again.cpp", "src/ops/operators/math/arithmetic.cpp")
        check = subprocess.run(["python3", str(ROOT / "tools" / "check_text.py"), str(self.root)], capture_output=True,
                               text=True)
        self.assertEqual(check.returncode, 1, check.stdout)

    def test_domains(self):
        self.assertEqual(self.new("op", "ml/scaler", "Scaler", "--domain", "ai.onnx.ml").returncode, 0)
        source = (self.root / "src/ops/operators/ml/scaler.cpp").read_text()
        self.assertIn('.domain = "ai.onnx.ml", .name = "Scaler", .since = 1', source)

    def test_checks_and_commands_compile(self):
        self.assertEqual(self.new("check", "my_check").returncode, 0)
        self.compile("src/lint/checks/my_check.cpp", "src/lint/checks/types.cpp")
        self.assertEqual(self.new("command", "inspect/my_view").returncode, 0)
        self.compile("src/cli/commands/inspect/my_view.cpp", "src/cli/commands/inspect/sparsity.cpp")

    def test_refusals(self):
        for words in (["op", "math/x", "NoSuchOperator"], ["op", "Math/x", "Relu"], ["op", "relu", "Relu"],
                      ["check", "a/b"], ["command", "inspect"]):
            done = self.new(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), words)
        self.new("check", "twice")
        self.assertEqual(self.new("check", "twice").returncode, 2)


if __name__ == "__main__":
    unittest.main()
