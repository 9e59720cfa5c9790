"""tools/new.py writes skeletons where the build finds them, which check_text refuses until they are filled in."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = pathlib.Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/release/tests")).parent / "compile_commands.json"


def flags_of(mark: str) -> list[str]:
    """The flags with which sources are compiled whose commands hold the mark, without their names and outputs."""
    for entry in json.loads(COMMANDS.read_text()):
        if mark in entry["command"]:
            words = shlex.split(entry["command"])
            return [word for word in words if word.startswith(("-I", "-D", "-W", "-std", "-f"))]
    raise AssertionError(f"nothing is compiled with {mark}")


sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402


class NewTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def new(self, *words: str) -> subprocess.CompletedProcess:
        command = ["python3", str(ROOT / "tools" / "new.py"), "--root", str(self.root), *words]
        return subprocess.run(command, capture_output=True, text=True)

    def compile(self, path: str):
        """As part of the library, or of its tests."""
        flags = flags_of("CMakeFiles/test_base.dir" if path.endswith("_test.cpp") else "CMakeFiles/libassay.dir")
        command = ["g++", f"-I{self.root}/src", *flags, "-fsyntax-only", str(self.root / path)]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def written(self, *words: str) -> dict[str, str]:
        """The files that a call has named, with their text."""
        done = self.new(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {path: (self.root / path).read_text() for path in done.stdout.split()}

    def check_includes(self, files: dict[str, str], modules: set[str]):
        """Every include exists, here or among the new files, and belongs to one of the modules."""
        table = check_layers.read_table(ROOT)
        for path, text in files.items():
            for included in re.findall(r'#include "(.*)"', text):
                known = f"src/{included}" in files or (ROOT / "src" / included).is_file()
                known = known or (path.endswith("_test.cpp") and (ROOT / "tests" / included).is_file())
                self.assertTrue(known, f"{path} includes {included}")
                if not path.endswith("_test.cpp"):
                    self.assertIn(check_layers.module_of(pathlib.PurePath(included), table), modules, path)

    def check_text(self) -> str:
        command = ["python3", str(ROOT / "tools" / "check_text.py"), str(self.root)]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def test_an_operator_is_one_source_and_one_case_file(self):
        done = self.new("op", "math/gelu_again", "Gelu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(),
                         ["src/ops/operators/math/gelu_again.cpp", "tests/cases/math/gelu_again.case"])
        source = (self.root / "src/ops/operators/math/gelu_again.cpp").read_text()
        self.assertIn("OperatorRows operator_math_gelu_again()", source)
        self.assertIn('.name = "Gelu", .since = 20', source)
        self.compile("src/ops/operators/math/gelu_again.cpp")
        self.assertIn("gelu_again.cpp", self.check_text())

    def test_domains(self):
        self.assertEqual(self.new("op", "ml/scaler", "Scaler", "--domain", "ai.onnx.ml").returncode, 0)
        source = (self.root / "src/ops/operators/ml/scaler.cpp").read_text()
        self.assertIn('.domain = "ai.onnx.ml", .name = "Scaler", .since = 1', source)

    def test_checks_and_commands_compile(self):
        self.assertEqual(self.new("check", "my_check").returncode, 0)
        self.compile("src/lint/checks/my_check.cpp")
        self.assertEqual(self.new("command", "inspect/my_view").returncode, 0)
        self.compile("src/cli/commands/inspect/my_view.cpp")

    def test_a_pass_opens_with_its_contract_and_has_a_test(self):
        files = self.written("pass", "fuse/my_pass")
        source, test = "src/passes/rewrites/fuse/my_pass.cpp", "src/passes/rewrites/fuse/my_pass_test.cpp"
        self.assertEqual(list(files), [source, test])
        heads = [line.split(":")[0] for line in files[source].splitlines()[:3]]
        self.assertEqual(heads, ["// Before", "// After", "// Only if"])
        self.assertIn("Pass pass_fuse_my_pass() {", files[source])
        self.assertIn('.name = "my-pass"', files[source])
        self.assertIn("TEST(MyPass, ", files[test])
        self.assertIn('nodes_after("my-pass"', files[test])
        self.check_includes(files, {"ir", "match", "passes"})
        self.compile(source)
        self.compile(test)
        for path in files:
            self.assertIn(path, self.check_text())

    def test_a_kernel_is_a_family_and_its_test(self):
        files = self.written("kernel", "my_family")
        source, test = "src/engine/devices/cpu/kernels/my_family.cpp", "src/engine/devices/cpu/my_family_test.cpp"
        self.assertEqual(list(files), [source, test])
        self.assertIn("KernelFamily cpu_kernel_my_family() {", files[source])
        self.assertIn("class MyFamilyKernel final : public PlainKernel {", files[source])
        self.assertIn("TEST(MyFamily, ", files[test])
        self.check_includes(files, {"base", "engine/devices/cpu"})
        self.compile(source)
        self.compile(test)
        for path in files:
            self.assertIn(path, self.check_text())

    def test_a_command_calls_a_task(self):
        files = self.written("command", "inspect/my_view")
        command, header, task = ("src/cli/commands/inspect/my_view.cpp", "src/tasks/inspect/my_view.h",
                                 "src/tasks/inspect/my_view.cpp")
        self.assertEqual(list(files), [command, header, task])
        self.assertIn("Command command_inspect_my_view() {", files[command])
        self.assertIn('.path = "inspect my-view"', files[command])
        self.assertIn("LogObserver observer(arguments, environment);", files[command])
        self.assertIn("tasks::inspect_my_view(request, observer);", files[command])
        declared = "InspectMyViewResult inspect_my_view(const InspectMyViewRequest& request, Observer& observer)"
        self.assertIn(declared + ";", files[header])
        self.assertIn(declared + " {", files[task])
        self.check_includes(files, {"base", "cli", "tasks"})

    def test_a_backend_is_a_module(self):
        lists = self.root / "CMakeLists.txt"
        lists.write_text((ROOT / "CMakeLists.txt").read_text())
        before = check_layers.read_table(self.root)
        files = self.written("backend", "my_device")
        self.assertEqual(list(files), ["src/backends/my_device/backend.cpp", "CMakeLists.txt"])
        source = files["src/backends/my_device/backend.cpp"]
        self.assertIn("Backends backends_my_device_backend() {", source)
        self.assertIn('return "my-device";', source)
        after = check_layers.read_table(self.root)
        added = after.pop("backends/my_device")
        self.assertEqual(after, before)
        self.check_includes({"src/backends/my_device/backend.cpp": source}, added)
        self.compile("src/backends/my_device/backend.cpp")
        self.assertEqual(self.new("backend", "my_device").returncode, 2)
        self.assertEqual(lists.read_text().count("backends/my_device "), 1)

    def test_refusals(self):
        for words in (["op", "math/x", "NoSuchOperator"], ["op", "Math/x", "Relu"], ["op", "relu", "Relu"],
                      ["check", "a/b"], ["command", "inspect"], ["pass", "fuse"], ["kernel", "a/b"],
                      ["backend", "a/b"]):
            done = self.new(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), words)
        self.new("check", "twice")
        self.assertEqual(self.new("check", "twice").returncode, 2)
        (self.root / "CMakeLists.txt").write_text("assay_module(base)\n")
        self.assertEqual(self.new("backend", "first").returncode, 2)


if __name__ == "__main__":
    unittest.main()
