"""`assay convert --sensitivity` and `--budget`: what it says of layers, measured again with ONNX Runtime."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
FLOAT = TensorProto.FLOAT


class BudgetTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def convert(self, *words):
        done = self.assay("convert", "m.onnx", "-o", "c.onnx", "--force", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def onnxrt(self, x, name="c.onnx"):
        options = onnxruntime.SessionOptions()  # operators as they stand: merged kernels round activations, too
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.folder / name, options, providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]

    def deep(self, rows="n"):
        """Six products, of which the third has outliers that small types cannot hold."""
        rng = np.random.default_rng(5)
        nodes, constants, value = [], [], "x"
        for i in range(6):
            weight = rng.standard_normal((64, 64)) / 8
            if i == 2:
                weight *= np.exp(1.5 * rng.standard_normal((64, 64))) / 4
            constants.append(numpy_helper.from_array(weight.astype(np.float32), f"w{i}"))
            nodes.append(helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"], f"layer{i}"))
            nodes.append(helper.make_node("Tanh", [f"m{i}"], [f"t{i}" if i < 5 else "y"]))
            value = f"t{i}"
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [rows, 64])],
                                  [helper.make_tensor_value_info("y", FLOAT, [rows, 64])], constants)
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]),
                  self.folder / "m.onnx")
        data = rng.standard_normal((128 if rows == "n" else rows, 64)).astype(np.float32)
        np.savez(self.folder / "d.npz", x=data)
        return data

    def snr(self, x):
        expected = self.onnxrt(x, "m.onnx").astype(np.float64)
        return 10 * np.log10((expected ** 2).sum() / ((self.onnxrt(x) - expected) ** 2).sum())

    def report(self):
        return json.loads((self.folder / "r.json").read_text())

    def test_sensitivity_of_layers(self):
        x = self.deep()
        self.convert("--weights", "int4", "--sensitivity", "--calibrate-with", "ref", "--load-inputs", "d.npz", "--json", "r.json")
        report = self.report()
        self.assertEqual(len(report["points"]), 7)
        alone = {layer["name"]: layer["output_snr_db"] for layer in report["sensitivity"]}
        for name, expected in alone.items():
            self.convert("--weights", "int4", "--exclude", *(other for other in alone if other != name))
            self.assertAlmostEqual(self.snr(x), expected, delta=0.05)
        self.assertEqual(min(alone, key=alone.get), "layer2")

    def test_budgets_leave_out_the_fewest_layers(self):
        x = self.deep()
        for bound in (13, 18, 21):
            self.convert("--weights", "int4", "--budget", f"snr:{bound}", "--calibrate-with", "ref", "--load-inputs", "d.npz", "--json", "r.json")
            report = self.report()
            self.assertGreaterEqual(self.snr(x), bound - 0.01)
            left_out = sum(layer["reason"] != "" for layer in report["layers"])
            tried = {point["left_out"]: point["measured"] for point in report["points"] if point["measured"] is not None}
            self.assertTrue(0 < left_out < 6 and tried.get(left_out, bound) >= bound, report["points"])
            self.assertLess(tried[left_out - 1], bound)
        self.convert("--weights", "int4", "--budget", "top1:-2%", "--calibrate-with", "ref", "--load-inputs", "d.npz", "--json", "r.json")
        same = (self.onnxrt(x).argmax(1) == self.onnxrt(x, "m.onnx").argmax(1)).mean()
        self.assertGreaterEqual(same, 0.98)
        for text in ("snr", "psnr:3", "top1:0.5", "top1:-x%", "top1:-500%", "top1:--1%", "top1:-nan%"):
            done = self.assay("convert", "m.onnx", "--weights", "int4", "--budget", text, "-o", "w.onnx")
            self.assertEqual((done.returncode, "--budget" in done.stderr), (2, True), done.stderr)

    def test_layers_that_compute_with_integers(self):
        x = self.deep(64)
        words = ["--int8", "--calibration", "minmax", "--calibrate-with", "ref", "--load-inputs", "d.npz"]
        self.convert(*words, "--sensitivity", "--json", "r.json")
        report = self.report()
        alone = {layer["name"]: layer["output_snr_db"] for layer in report["sensitivity"]}
        self.assertEqual(sorted(alone), [f"layer{i}" for i in range(6)])
        self.assertEqual({layer["macs"] for layer in report["sensitivity"]}, {64 * 64 * 64})
        self.assertEqual([point["macs"] for point in report["points"]], [64 ** 3 * left for left in range(6, -1, -1)])
        for name, expected in alone.items():
            self.convert(*words, "--exclude", *(other for other in alone if other != name))
            self.assertAlmostEqual(self.snr(x), expected, delta=0.05)
        self.assertEqual(min(alone, key=alone.get), "layer2")
        worst = report["points"][0]["expected_snr_db"]
        for bound in (worst + 3, worst + 8):
            self.convert(*words, "--budget", f"snr:{bound}", "--json", "r.json")
            report = self.report()
            self.assertGreaterEqual(self.snr(x), bound - 0.05)
            tried = {point["left_out"]: point["measured"] for point in report["points"] if point["measured"] is not None}
            left_out = sum(layer["reason"] == "it is left out for the budget" for layer in report["layers"])
            self.assertTrue(0 < left_out < 6 and tried.get(left_out, bound) >= bound, report["points"])
            self.assertLess(tried[left_out - 1], bound)
            timed = {point["left_out"] for point in report["points"] if point["seconds"] is not None}
            self.assertEqual(timed, {*tried, len(alone)})
        kept = (self.folder / "c.onnx").read_bytes()
        done = self.assay("convert", "c.onnx", *words, "--budget", "snr:40", "-o", "again.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(kept, (self.folder / "again.onnx").read_bytes())

    def test_outputs_that_no_budget_can_see(self):
        rng = np.random.default_rng(2)
        weight = numpy_helper.from_array(rng.standard_normal((8, 8)).astype(np.float32), "w")
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("ArgMax", ["h"], ["y"], axis=1)], "g",
            [helper.make_tensor_value_info("x", FLOAT, [4, 8])],
            [helper.make_tensor_value_info("y", TensorProto.INT64, [4, 1])], [weight])
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]),
                  self.folder / "m.onnx")
        for conversion in (["--int8"], ["--weights", "int8"]):
            for budget in ("snr:1", "top1:-50%"):
                done = self.assay("convert", "m.onnx", *conversion, "--budget", budget, "-o", "c.onnx")
                self.assertEqual((done.returncode, "no output of floats" in done.stderr), (3, True), done.stderr)
                self.assertFalse((self.folder / "c.onnx").exists())

    def test_words_without_a_conversion(self):
        self.deep()
        for words in (["--budget", "snr:20"], ["--sensitivity"], ["--fp-to-fp16", "--budget", "snr:20"]):
            done = self.assay("convert", "m.onnx", "-o", "c.onnx", *words)
            self.assertEqual((done.returncode, f"needs --int8, --fp8 or --weights" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
