"""What `debug accuracy` prints as a cure is a command that cures: models that somebody else has converted to float16
number by number, so that an epsilon is 0 and a mask infinite, are converted anew by each such command, and run by ONNX
Runtime."""

import os
import re
import shlex
import subprocess

import in_folder
import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
NORM = HEAD + """g (float[4,8] x) => (float[4,8] y) <float eps = {1e-12}, float two = {2}> {
  m = ReduceMean<axes = [1]>(x) d = Sub(x, m) p = Pow(d, two) v = ReduceMean<axes = [1]>(p)
  [safe] a = Add(v, eps) r = Sqrt(a) [out] y = Div(d, r) }"""
MASK = HEAD + """g (float[2,4] x, float[2,4] keep) => (float[2,4] y) <float one = {1}, float low = {-1e9}> {
  i = Sub(one, keep) [times] m = Mul(i, low) a = Add(x, m) y = Softmax(a) }"""
LARGE = HEAD + """g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}, float s = {0.001}> {
  [first] a = MatMul(x, w) [second] b = Mul(a, s) [third] y = Mul(b, s) }"""
# Squares beyond float16, whose root is within it again; ONE is 1 as its bits.
SQUARE = HEAD + """g (float16[2,4] x) => (float16[2,4] y) <float16[4,4] w = {ONE,0,0,0, 0,ONE,0,0, 0,0,ONE,0, 0,0,0,ONE}> {
  [prod] p = MatMul(x, w) [square] q = Mul(p, p) [mean] m = ReduceMean<axes = [1]>(q) [root] r = Sqrt(m) [out] y = Div(p, r) }
  """.replace("ONE", "15360")
# What a Cast makes infinite is moved in float16, so that ONNX Runtime has it too, and gives NaN.
NARROW = HEAD + """g (float[2,4] x) => (float[2,4] y) <float much = {1e9}, float none = {0}> {
  [times] m = Mul(x, much) [narrow] h = Cast<to = 10>(m) [move] t = Transpose(h) [back] b = Transpose(t) [wide] f = Cast<to = 1>(b)
  [zero] z = Mul(f, none) [out] y = Add(x, z) }"""
BRANCH = HEAD + """g (float16[4] x, bool c) => (float16[4] y) { [pre] a = Mul(x, x)
  [choice] b = If(c) <then_branch = t () => (float16[4] u) { [inner] u = Sqrt(a) }, else_branch = e () => (float16[4] v) { [other] v = Neg(x) }>
  [post] y = Add(b, x) }"""
CLAMPED = "constants that do not fit as the nearest numbers that do"


def number_by_number(model):
    """In float16, between Casts; without the types of values between, as such models come."""
    half = onnx.ModelProto()
    half.CopyFrom(model)
    with np.errstate(over="ignore"):
        for weight in half.graph.initializer:
            weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight).astype(np.float16), weight.name))
    ends = {value.name for value in [*half.graph.input, *half.graph.output]}
    for node in half.graph.node:
        for names in (node.input, node.output):
            names[:] = [f"{name}_half" if name in ends else name for name in names]
    before = [helper.make_node("Cast", [value.name], [f"{value.name}_half"], to=TensorProto.FLOAT16)
              for value in half.graph.input]
    behind = [helper.make_node("Cast", [f"{value.name}_half"], [value.name], to=TensorProto.FLOAT)
              for value in half.graph.output]
    nodes = [*before, *half.graph.node, *behind]
    del half.graph.node[:]
    half.graph.node.extend(nodes)
    return half


class Remedies(in_folder.InFolder):
    def run_model(self, name, feeds):
        return onnxruntime.InferenceSession(self.path / name, providers=["CPUExecutionProvider"]).run(None, feeds)[0]

    def cures(self, text, feeds, *words):
        """The printed commands by what was tried; each is run, and its model."""
        model = onnx.parser.parse_model(text)
        self.save(model)
        self.save(number_by_number(model), "half.onnx")
        np.savez(self.path / "feeds.npz", **feeds)
        done = self.assay("debug", "accuracy", "m.onnx", "--other", "half.onnx", *words, status=1)
        cures = dict(re.findall(r"Tried: ([^|]+) \|.*\| cured by: (.*)", done))
        for command in cures.values():
            self.assay(*shlex.split(command.replace("FILE.onnx", "cured.onnx"))[1:])
            onnx.checker.check_model(onnx.load(self.path / "cured.onnx"), full_check=True)
            np.testing.assert_allclose(self.run_model("cured.onnx", feeds), self.run_model("m.onnx", feeds), rtol=1e-2, atol=1e-3)
            (self.path / "cured.onnx").unlink()
        return cures

    def assay(self, *words, status=0):
        done = subprocess.run([ASSAY, *words], cwd=self.path, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_an_epsilon_that_became_0(self):
        rows = np.stack([np.full(8, 0.5), np.arange(8) / 100, np.arange(8) / 10, np.zeros(8)]).astype(np.float32)
        cures = self.cures(NORM, {"x": rows}, "--onnxrt", "--load-inputs", "feeds.npz")
        self.assertEqual(cures["the first guilty layer in float32"], "assay convert m.onnx --fp-to-fp16 --exclude out -o FILE.onnx")
        self.assertEqual(cures[CLAMPED], "assay convert m.onnx --fp-to-fp16 --fp16-overflow clamp -o FILE.onnx")

    def test_a_mask_that_became_infinite(self):
        keep = np.array([[1, 1, 0, 0], [1, 1, 1, 1]], np.float32)
        feeds = {"x": np.arange(8, dtype=np.float32).reshape(2, 4) / 8, "keep": keep}
        self.assertIn(CLAMPED, self.cures(MASK, feeds, "--onnxrt", "--load-inputs", "feeds.npz"))

    def mended(self, text, feeds, truth):
        """Of a model that comes in float16: the printed commands; each is run, and what it makes gives the truth."""
        self.save(onnx.parser.parse_model(text))
        np.savez(self.path / "feeds.npz", **feeds)
        done = self.assay("debug", "accuracy", "m.onnx", "--ref", "--load-inputs", "feeds.npz", status=1)
        cures = dict(re.findall(r"Tried: ([^|]+) \|.*\| cured by: (.*)", done))
        for command in cures.values():
            self.assay(*shlex.split(command.replace("FILE.onnx", "cured.onnx"))[1:])
            onnx.checker.check_model(onnx.load(self.path / "cured.onnx"), full_check=True)
            np.testing.assert_allclose(self.run_model("cured.onnx", feeds), truth, rtol=1e-2, atol=1e-3)
            (self.path / "cured.onnx").unlink()
        return cures

    def test_a_float16_model_that_overflows_between_layers(self):
        x = np.array([[400, 410, 420, 430], [3, 4, 5, 6]], np.float16)
        exact = x.astype(np.float64)
        truth = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True))
        cures = self.mended(SQUARE, {"x": x}, truth)
        self.assertEqual(cures, {"layers in float32 whose values do not fit":
                                 "assay convert m.onnx --layer-precisions square:float32 mean:float32 root:float32 -o FILE.onnx"})

    def test_values_that_a_body_uses(self):
        x = np.array([300, 310, 320, 330], np.float16)
        cures = self.mended(BRANCH, {"x": x, "c": np.array(True)}, 2 * x)
        self.assertEqual(cures, {"layers in float32 whose values do not fit":
                                 "assay convert m.onnx --layer-precisions pre:float32 inner:float32 -o FILE.onnx"})

    def test_a_cast_that_overflows(self):
        x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
        cures = self.mended(NARROW, {"x": x}, x)
        self.assertEqual(cures["a Clip before the guilty Cast"], "assay convert m.onnx --clip-casts narrow -o FILE.onnx")
        self.assertFalse(np.isfinite(self.run_model("m.onnx", {"x": x})).any())

    def test_inputs_that_decide_are_named(self):
        x = np.full((2, 2), 25000, np.float32)
        cures = self.cures(LARGE, {"x": x}, "--ref", "--val-range", "[20000,30000]", "--seed", "3")
        self.assertEqual(cures["layers in float32 whose values do not fit"],
                         "assay convert m.onnx --fp-to-fp16 --val-range [20000,30000] --seed 3 --measure -o FILE.onnx")


if __name__ == "__main__":
    in_folder.unittest.main()
