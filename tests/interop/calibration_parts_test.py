"""`assay convert --int8` from statistics of parts of the inputs: the same model as from all of them."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
FLOAT = TensorProto.FLOAT


def save(path, seed=0):
    """x W1, Relu, W2, and a branch that is 0 on most inputs."""
    rng = np.random.default_rng(seed)
    weights = [numpy_helper.from_array(rng.standard_normal((16, 16)).astype(np.float32), f"w{i}") for i in range(3)]
    weights.append(numpy_helper.from_array(np.float32(9), "far"))
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], "first"), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MatMul", ["b", "w1"], ["c"], "second"),
             helper.make_node("Sub", ["x", "far"], ["d"]), helper.make_node("Relu", ["d"], ["e"]),
             helper.make_node("MatMul", ["e", "w2"], ["f"], "rare"), helper.make_node("Add", ["c", "f"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, ["n", 16])],
                              [helper.make_tensor_value_info("y", FLOAT, ["n", 16])], weights)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)]), path)


class CalibrationPartsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        save(self.folder / "m.onnx")
        rng = np.random.default_rng(1)
        parts = [np.zeros((4, 16)), rng.standard_normal((50, 16)), 1e-3 * rng.standard_normal((30, 16)),
                 8 * rng.standard_normal((20, 16)) ** 3]
        self.parts = [part.astype(np.float32) for part in parts]
        for i, part in enumerate(self.parts):
            np.savez(self.folder / f"part{i}.npz", x=part)

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def run_well(self, *words):
        done = self.assay(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def measure(self, *words):
        for i in range(len(self.parts)):
            told = self.run_well("convert", "m.onnx", "--int8", "--load-inputs", f"part{i}.npz", "--save-statistics",
                                 f"s{i}.json", *words)
            self.assertIn("Saved statistics of", told)
            self.assertEqual(list(self.folder.glob("*int8*")), [])
        return [f"s{i}.json" for i in range(len(self.parts))]

    def test_parts_give_the_model_that_all_inputs_give(self):
        files = self.measure()
        np.savez(self.folder / "all.npz", x=np.concatenate(self.parts))
        for calibration in ("minmax", "mse", "percentile", "entropy"):
            words = ["convert", "m.onnx", "--int8", "--calibration", calibration, "--quantile", "0.99"]
            self.run_well(*words, "--load-inputs", "all.npz", "-o", "all.onnx", "--force")
            for order in (files, files[::-1]):
                self.run_well(*words, "--load-statistics", *order, "-o", "parts.onnx", "--force")
                self.assertEqual((self.folder / "all.onnx").read_bytes(), (self.folder / "parts.onnx").read_bytes())
        one = self.run_well("convert", "m.onnx", "--int8", "--load-statistics", files[1], "-o", "one.onnx")
        self.assertIn("a choice among calibrations takes inputs", one)
        self.assertNotEqual((self.folder / "all.onnx").read_bytes(), (self.folder / "one.onnx").read_bytes())
        chosen = self.run_well("convert", "m.onnx", "--int8", "--load-statistics", *files, "--load-inputs", "part1.npz",
                               "-o", "chosen.onnx")
        self.assertIn("Ranges are chosen by", chosen)

    def test_what_is_counted(self):
        self.measure()
        for i, part in enumerate(self.parts):
            values = {value["name"]: value for value in json.loads((self.folder / f"s{i}.json").read_text())["values"]}
            seen = values["x"]
            self.assertEqual((seen["low"], seen["high"]), (min(0, part.min()), max(0, part.max())))
            self.assertEqual(sum(seen["counts"]), part.size)
            if seen["width"] > 0:
                edges = np.arange(len(seen["counts"]) + 1) * seen["width"]
                expected = np.histogram(np.abs(part.astype(np.float64)), edges)[0]
                self.assertEqual(expected.tolist(), seen["counts"])

    def refused(self, status, line, *words):
        done = self.assay("convert", "m.onnx", "--int8", *words)
        self.assertEqual((done.returncode, line in done.stderr, len(done.stderr.strip().splitlines())),
                         (status, True, 1), done.stderr)
        self.assertEqual(list(self.folder.glob("*int8*")), [])

    def test_files_that_do_not_fit(self):
        files = self.measure()
        text = (self.folder / "s1.json").read_text()
        (self.folder / "torn.json").write_text(text[:-100])
        (self.folder / "report.json").write_text('{"schema": "assay/run/1"}')
        (self.folder / "width.json").write_text(text.replace('"width": ', '"width": 3', 1))
        (self.folder / "low.json").write_text(text.replace('"low": -', '"low": ', 1))
        load = "--load-statistics"
        self.refused(2, "reading `torn.json`", load, files[0], "torn.json")
        self.refused(2, "reading `report.json`: expected statistics of a calibration", load, "report.json")
        self.refused(2, "no histogram has", load, "width.json")
        self.refused(2, "a range from", load, "low.json")
        self.refused(2, "gone.json", load, "gone.json")
        self.refused(2, "--save-statistics writes statistics and nothing else", "--save-statistics", "s", load, files[0])
        self.run_well("convert", "m.onnx", "--int8", "--exclude", "rare", "--load-inputs", "part1.npz",
                      "--save-statistics", "less.json")
        self.refused(2, "reading `less.json`: its values are not those", load, files[0], "less.json")
        self.run_well("convert", "m.onnx", "--int8", load, "less.json", "-o", "less.onnx")
        save(self.folder / "m.onnx", seed=5)
        self.refused(2, "its statistics are of another model", load, files[0])
        for option in ("--save-statistics", load):
            done = self.assay("convert", "m.onnx", option, "s.json", "-o", "c.onnx")
            self.assertEqual((done.returncode, f"{option} needs --int8 or --fp8" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
