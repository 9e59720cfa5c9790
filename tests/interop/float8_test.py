"""`assay convert --fp8`: codes and scales by NumPy and ml_dtypes, outputs by onnx's evaluator, OpenVINO and ONNX Runtime."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ASSAY = os.environ["ASSAY"]
FLOAT = TensorProto.FLOAT
FLOAT8 = ml_dtypes.float8_e4m3fn


def save(path, opset=17):
    """A convolution, MaxPool, Relu, a product and two Gemms; all but the products and the small last one are rounded."""
    rng = np.random.default_rng(4)
    draw = lambda *shape: (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    constants = [numpy_helper.from_array(array, name) for name, array in (
        ("k", draw(16, 16, 3, 3)), ("c", draw(16)), ("w", draw(256, 32)), ("v", draw(20, 32)), ("b", draw(20)),
        ("u", draw(20, 10)))]
    nodes = [helper.make_node("Conv", ["x", "k", "c"], ["a"], "conv", pads=[1, 1, 1, 1]),
             helper.make_node("MaxPool", ["a"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Relu", ["p"], ["r"]), helper.make_node("Flatten", ["r"], ["f"]),
             helper.make_node("MatMul", ["f", "w"], ["m"], "product"), helper.make_node("Tanh", ["m"], ["t"]),
             helper.make_node("Gemm", ["t", "v", "b"], ["z"], "last", transB=1),
             helper.make_node("MatMul", ["z", "u"], ["y"], "small")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, ["n", 16, 8, 8])],
                              [helper.make_tensor_value_info("y", FLOAT, ["n", 10])], constants)
    onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)]), path)


class Float8Test(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        save(self.folder / "m.onnx")
        self.x = np.random.default_rng(5).standard_normal((6, 16, 8, 8)).astype(np.float32)
        np.savez(self.folder / "d.npz", x=self.x)

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def convert(self, *words, model="m.onnx"):
        done = self.assay("convert", model, "--fp8", "--load-inputs", "d.npz", "-o", "c.onnx", "--force", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        onnx.checker.check_model(self.folder / "c.onnx", full_check=True)
        return onnx.load(self.folder / "c.onnx")

    def values(self, model, names):
        model = onnx.ModelProto.FromString(model.SerializeToString())
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        options = onnxruntime.SessionOptions()  # its merged products do not take float8
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip(names, session.run(names, {"x": self.x})))

    def test_codes_and_scales(self):
        made = self.convert()
        self.assertEqual(made.opset_import[0].version, 19)
        constants = {tensor.name: tensor for tensor in made.graph.initializer}
        arrays = {name: numpy_helper.to_array(tensor) for name, tensor in constants.items()}
        seen = self.values(onnx.load(self.folder / "m.onnx"), ["f", "t", "y"]) | {"x": self.x}
        for name in ("x", "f", "t"):
            self.assertAlmostEqual(float(arrays[f"{name}_scale"]), np.abs(seen[name]).max() / 448, places=7)
            self.assertEqual(constants[f"{name}_zero_point"].data_type, TensorProto.FLOAT8E4M3FN)
        before = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(self.folder / "m.onnx").graph.initializer}
        for name, axis in (("k", 0), ("w", 1), ("v", 0)):
            self.assertEqual(constants[f"{name}_quantized"].data_type, TensorProto.FLOAT8E4M3FN)
            shape = [1] * before[name].ndim
            shape[axis] = -1
            scale = arrays[f"{name}_scale"].reshape(shape)
            expected = np.clip(before[name] / scale, -448, 448).astype(FLOAT8)
            np.testing.assert_array_equal(arrays[f"{name}_quantized"].view(np.uint8), expected.view(np.uint8))
            largest = np.abs(before[name]).max(tuple(i for i in range(before[name].ndim) if i != axis), keepdims=True)
            plain = (before[name] / (largest / 448)).astype(FLOAT8).astype(np.float32) * (largest / 448)
            error = lambda rounded: float(((rounded - before[name]) ** 2).sum())
            self.assertLessEqual(error(expected.astype(np.float32) * scale), error(plain) * (1 + 1e-6))
        encoders = [node for node in made.graph.node if node.op_type == "QuantizeLinear"]
        self.assertEqual(sorted(node.input[0] for node in encoders), ["f", "t", "x"])

    def test_every_backend_gives_the_same(self):
        for words in ([], ["--per-tensor"], ["--calibration", "percentile", "--quantile", "0.99"]):
            made = self.convert(*words)
            expected = self.values(made, ["y"])["y"]
            np.testing.assert_allclose(ReferenceEvaluator(made).run(["y"], {"x": self.x})[0], expected, atol=1e-4)
            for sides in (["--engine", "--tolerance", "auto"],
                          ["--openvino", "--atol", "0.25", "--rtol", "0"]):  # rounds to float16 first, which moves few codes
                done = self.assay("run", "c.onnx", "--ref", *sides, "--load-inputs", "d.npz")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        original = self.values(onnx.load(self.folder / "m.onnx"), ["y"])["y"]
        snr = 10 * np.log10((original ** 2).sum() / ((expected - original) ** 2).sum())
        self.assertGreater(snr, 20)

    def test_a_budget_and_parts(self):
        self.convert("--budget", "snr:31", "--json", "r.json")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["conversion"], "fp8")
        kept = [layer["name"] for layer in report["layers"] if layer["reason"]]
        self.assertTrue(0 < len(kept) < 3, report["layers"])
        made = onnx.load(self.folder / "c.onnx")
        original = self.values(onnx.load(self.folder / "m.onnx"), ["y"])["y"]
        error = self.values(made, ["y"])["y"] - original
        self.assertGreaterEqual(10 * np.log10((original ** 2).sum() / (error ** 2).sum()), 30.9)
        whole = self.convert()
        for i in range(2):
            np.savez(self.folder / f"d{i}.npz", x=self.x[3 * i:3 * i + 3])
            done = self.assay("convert", "m.onnx", "--fp8", "--convert-to", "onnx", "--load-inputs", f"d{i}.npz",
                              "--save-statistics", f"s{i}.json")
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.assay("convert", "m.onnx", "--fp8", "--load-statistics", "s0.json", "s1.json", "-o", "parts.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(onnx.load(self.folder / "parts.onnx"), whole)
        again = self.assay("convert", "parts.onnx", "--fp8", "-o", "again.onnx")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "parts.onnx").read_bytes(), (self.folder / "again.onnx").read_bytes())

    def test_operands_alone(self):
        """Of int8 too: results stay float, and so does what tensor cores do not gain by."""
        rounded = lambda model: sorted(node.input[0] for node in model.graph.node if node.op_type == "QuantizeLinear")
        words = ["convert", "m.onnx", "--int8", "--calibration", "minmax", "--load-inputs", "d.npz", "--force"]
        outputs = {}
        for name, more in (("all", []), ("operands", ["--operands-only"])):
            done = self.assay(*words, *more, "-o", f"{name}.onnx", "-v")
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs[name] = self.values(onnx.load(self.folder / f"{name}.onnx"), ["y"])["y"]
        self.assertIn("node `small` (MatMul) stays float: it is too small for it to pay", done.stdout)
        self.assertEqual(rounded(onnx.load(self.folder / "operands.onnx")), ["f", "t", "x"])
        self.assertLess({"f", "t", "x"}, set(rounded(onnx.load(self.folder / "all.onnx"))))
        original = self.values(onnx.load(self.folder / "m.onnx"), ["y"])["y"]
        errors = {name: float(((seen - original) ** 2).sum()) for name, seen in outputs.items()}
        self.assertLess(errors["operands"], errors["all"])

    def test_wrong_words(self):
        for words, line in ((["--int8"], "--int8 and --fp8: choose one"), (["--asymmetric"], "--asymmetric needs --int8 or --weights"),
                            (["--calibration-cache", "c"], "--calibration-cache needs --int8"),
                            (["--calibration", "entropy"], "codes of equal steps")):
            done = self.assay("convert", "m.onnx", "--fp8", *words, "-o", "w.onnx")
            self.assertEqual((done.returncode, line in done.stderr), (2, True), done.stderr)
            self.assertFalse((self.folder / "w.onnx").exists())
        done = self.assay("convert", "m.onnx", "--weights", "int8", "--operands-only", "-o", "w.onnx")
        self.assertEqual((done.returncode, "--operands-only needs --int8" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
