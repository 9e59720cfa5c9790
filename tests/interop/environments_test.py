"""Sides of a run from other Python environments, each in a process of its own."""

import os
import pathlib
import subprocess
import sys
import unittest

import onnx
from in_folder import InFolder, run
from onnx import parser

ASSAY = os.environ["ASSAY"]
MODEL = """<ir_version: 8, opset_import: ["" : 17]> net (float[2,3] x) => (float[2,3] y) { y = Sigmoid(x) }"""


class Environments(InFolder):
    def setUp(self):
        super().setUp()
        self.model = self.path / "m.onnx"
        onnx.save(parser.parse_model(MODEL), self.model)

    def empty_environment(self):
        """An environment without packages."""
        python = self.path / "empty/bin/python"
        python.parent.mkdir(parents=True)
        python.symlink_to(os.path.realpath(sys.executable))
        (python.parent / "python3").symlink_to("python")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        (self.path / "empty/lib" / version / "site-packages").mkdir(parents=True)
        (self.path / "empty/pyvenv.cfg").write_text(f"home = {pathlib.Path(os.path.realpath(sys.executable)).parent}\n")
        return self.path / "empty"

    def test_sides_are_of_environments(self):
        told = run(ASSAY, "run", self.model, f"--onnxrt@{sys.prefix}", f"--onnxrt@{sys.executable}", "--onnxrt", "--ref",
                   f"--openvino@{sys.prefix}")
        name = pathlib.Path(sys.prefix).name
        for side in (f"onnxrt@{name}-runner-N0", f"onnxrt@{name}-runner-N1", "onnxrt-runner-N0", f"openvino@{name}-runner"):
            self.assertIn(side, told)
        self.assertEqual(told.count("Accuracy Summary"), 4)

    def test_an_environment_by_a_relative_path(self):
        (self.path / "here").symlink_to(sys.prefix)
        environment = {name: value for name, value in os.environ.items() if name != "ASSAY_ONNXRUNTIME"}
        told = subprocess.run([ASSAY, "run", "m.onnx", "--onnxrt@here", "--ref"], cwd=self.path, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("onnxrt@here-runner-N0", told.stdout)

    def test_environments_without_the_library(self):
        told = run(ASSAY, "run", self.model, f"--onnxrt@{self.empty_environment()}", "--ref", "--json", self.path / "r.json",
                   status=3)
        self.assertIn("UNDECIDED", told)
        self.assertIn("has no ONNX Runtime", (self.path / "r.json").read_text())
        run(ASSAY, "run", self.model, "--onnxrt@/nowhere", "--ref", status=2)

    def test_the_release_that_broke_it(self):
        good, bad = sys.prefix, str(self.empty_environment())
        told = run(ASSAY, "debug", "bisect", self.model, "--onnxrt", "--runtimes", good, good, good, bad, bad)
        self.assertIn(f"The first bad environment is {bad}, behind {good}", told)
        told = run(ASSAY, "debug", "bisect", self.model, "--onnxrt", "--runtimes", good, good, status=1)
        self.assertIn("good", told)
        run(ASSAY, "debug", "bisect", self.model, "--onnxrt", "--runtimes", bad, good, status=1)
        run(ASSAY, "debug", "bisect", self.model, "--onnxrt", "--runtimes", good, status=2)
        run(ASSAY, "debug", "bisect", self.model, "--ref", "--runtimes", good, good, status=2)

    def test_other_commands(self):
        told = run(ASSAY, "check", "compatibility", self.model, f"--onnxrt@{sys.prefix}")
        self.assertIn("COMPATIBLE", told)


if __name__ == "__main__":
    unittest.main()
