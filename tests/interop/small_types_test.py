"""`assay convert --weights fp8|nvfp4|mxfp4|nf4` and `--algorithm`: the codes by onnx's own readers and NumPy, the
outputs by ONNX Runtime where it has the types, and by the reference elsewhere."""

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
FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])
TYPES = ("fp8", "nvfp4", "mxfp4", "nf4")


def save(path, opset=24, transposed=False, rows=64, inner=128, columns=48):
    """x W1, Relu, then a Gemm of a matrix that may be stored the other way round."""
    rng = np.random.default_rng(3)
    first = rng.standard_normal((rows, inner)).astype(np.float32) / 8
    second = rng.standard_normal((inner, columns)).astype(np.float32) / 11
    bias = rng.standard_normal(columns).astype(np.float32)
    stored = np.ascontiguousarray(second.T) if transposed else second
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h"], "first"), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w2", "b"], ["y"], "second", transB=int(transposed))]
    constants = [numpy_helper.from_array(array, name) for array, name in ((first, "w1"), (stored, "w2"), (bias, "b"))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, ["n", rows])],
                              [helper.make_tensor_value_info("y", FLOAT, ["n", columns])], constants)
    model = helper.make_model(graph, ir_version=11, opset_imports=[helper.make_opsetid("", opset)])
    onnx.save(model, path)
    return first, second, bias


def absmax_error(weight, block, levels):
    """The square error of blocks along the rows, scaled by their greatest magnitude, to the nearest of some levels."""
    parts = weight.reshape(-1, block, weight.shape[1]).astype(np.float64)
    scale = np.abs(parts).max(1, keepdims=True) / levels.max()
    nearest = levels[np.abs(np.abs(parts / scale)[..., None] - levels).argmin(-1)]
    return float(((np.sign(parts) * nearest * scale - parts) ** 2).sum())


class SmallTypesTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def convert(self, *words):
        done = self.assay("convert", "m.onnx", "-o", "c.onnx", "--force", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        model = onnx.load(self.folder / "c.onnx")
        onnx.checker.check_model(model, full_check=True)
        return model, {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}

    def reference(self, x):
        np.savez(self.folder / "x.npz", x=x)
        done = self.assay("run", "c.onnx", "--ref", "--load-inputs", "x.npz", "--save-outputs", "o.npz")
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(self.folder / "o.npz") as saved:
            return saved["y"]

    def onnxrt(self, x, path="c.onnx"):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(self.folder / path, options, providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]

    def numbers(self, kind, arrays, name, axis=0):
        """The matrix that codes and scales of a kind stand for, by NumPy."""
        codes = arrays[f"{name}_quantized"].astype(np.float64)
        if kind == "fp8":
            return codes * arrays[f"{name}_scale"].astype(np.float64)[None]
        if kind == "nf4":
            shape, scales = codes.shape, arrays[f"{name}_scale"].astype(np.float64)
            values = arrays[f"{name}_table"][codes.astype(int)].astype(np.float64)
            return (values.reshape(arrays[f"{name}_blocks"]) * scales).reshape(shape)
        scales = arrays[f"{name}_scale_quantized" if kind == "nvfp4" else f"{name}_scale"].astype(np.float64)
        if kind == "nvfp4":
            scales = scales * arrays[f"{name}_scale_of_tensor"]
        return codes * np.repeat(scales, 16 if kind == "nvfp4" else 32, axis)

    def test_numbers_and_outputs_of_each_type(self):
        x = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float32)
        for kind in TYPES:
            with self.subTest(kind):
                first, second, bias = save(self.folder / "m.onnx")
                _, arrays = self.convert("--weights", kind)
                w1, w2 = (self.numbers(kind, arrays, name) for name in ("w1", "w2"))
                expected = np.maximum(x @ w1, 0) @ w2 + bias
                np.testing.assert_allclose(self.reference(x), expected, rtol=1e-4, atol=1e-4)
                if kind in ("fp8", "nf4"):
                    np.testing.assert_allclose(self.onnxrt(x), expected, rtol=1e-4, atol=1e-4)
                for rounded, weight in ((w1, first), (w2, second)):
                    signal = (weight.astype(np.float64) ** 2).sum() / ((rounded - weight) ** 2).sum()
                    self.assertGreater(10 * np.log10(signal), 28 if kind == "fp8" else 17)

    def test_scales_lose_no_more_than_those_of_the_greatest_number(self):
        _, second, _ = save(self.folder / "m.onnx")
        _, arrays = self.convert("--weights", "nf4")
        table = np.unique(arrays["w2_table"].astype(np.float64))
        self.assertEqual((len(table), table.min(), table.max()), (16, -1, 1))
        parts = second.reshape(-1, 64, second.shape[1]).astype(np.float64)
        scaled = parts / np.abs(parts).max(1, keepdims=True)
        nearest = table[np.abs(scaled[..., None] - table).argmin(-1)]
        naive = (((nearest - scaled) * np.abs(parts).max(1, keepdims=True)) ** 2).sum()
        self.assertLessEqual(((self.numbers("nf4", arrays, "w2") - second) ** 2).sum(), naive * (1 + 1e-6))
        _, arrays = self.convert("--weights", "nvfp4")
        ours = ((self.numbers("nvfp4", arrays, "w2") - second) ** 2).sum()
        self.assertLess(ours, 1.02 * absmax_error(second, 16, FP4))

    def test_tables_are_run_by_everyone(self):
        x = np.random.default_rng(1).standard_normal((3, 64)).astype(np.float32)
        for transposed in (False, True):
            for kind in ("nvfp4", "mxfp4"):
                save(self.folder / "m.onnx", opset=21, transposed=transposed)
                self.convert("--weights", kind, "--weights-form", "table")
                table = self.onnxrt(x)
                save(self.folder / "m.onnx", transposed=transposed)
                self.convert("--weights", kind)
                np.testing.assert_allclose(table, self.reference(x), rtol=1e-4, atol=1e-5)
                done = self.assay("run", "c.onnx", "--engine", "--ref", "--tolerance", "auto")
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_algorithms_lose_less_of_the_outputs(self):
        rng = np.random.default_rng(7)
        mix = rng.standard_normal((64, 64)) / 8
        outliers = np.where(rng.random(64) < 0.08, 20.0, 1.0)
        draw = lambda count: ((rng.standard_normal((count, 64)) @ mix) * outliers).astype(np.float32)
        tests = draw(256)
        for kind in ("int4", "nvfp4", "nf4"):
            for transposed in (False, True):
                save(self.folder / "m.onnx", transposed=transposed)
                np.savez(self.folder / "d.npz", x=draw(512))
                expected, errors = self.onnxrt(tests, "m.onnx"), {}
                for algorithm in ("rtn", "awq", "gptq"):
                    words = ["--weights-form", "table"] if kind == "nvfp4" else []
                    self.convert("--weights", kind, "--algorithm", algorithm, "--load-inputs", "d.npz", *words)
                    errors[algorithm] = float(((self.onnxrt(tests) - expected) ** 2).sum())
                self.assertLess(errors["gptq"], 0.8 * errors["rtn"], f"{kind}: {errors}")
                self.assertLess(errors["awq"], 0.95 * errors["rtn"], f"{kind}: {errors}")

    def test_a_second_time_nothing_changes(self):
        for kind in TYPES:
            save(self.folder / "m.onnx")
            self.convert("--weights", kind)
            done = self.assay("convert", "c.onnx", "--weights", kind, "-o", "again.onnx")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "c.onnx").read_bytes(), (self.folder / "again.onnx").read_bytes())

    def test_wrong_words(self):
        save(self.folder / "m.onnx", opset=20)
        for words, status, line in (
                (["--weights", "nvfp4"], 3, "DequantizeLinear needs 23"),
                (["--weights", "mxfp4"], 3, "DequantizeLinear needs 24"),
                (["--weights", "nvfp4", "--block-size", 32], 2, "nvfp4 has blocks of 16"),
                (["--weights", "fp8", "--asymmetric"], 2, "fp8 has no zero points"),
                (["--weights", "fp8", "--weights-form", "table"], 2, "too many numbers"),
                (["--weights", "nf4", "--weights-form", "matmulnbits"], 2, "its codes are integers"),
                (["--weights", "int4", "--weights-form", "table"], 2, "floats"),
                (["--weights", "fp9"], 2, "fp8")):
            done = self.assay("convert", "m.onnx", "-o", "w.onnx", *words)
            self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
            self.assertIn(line, done.stderr)
            self.assertFalse((self.folder / "w.onnx").exists())


if __name__ == "__main__":
    unittest.main()
