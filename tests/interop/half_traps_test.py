#!/usr/bin/env python3
"""Graphs whose values float16 cannot hold, converted without a look at values: computed with true float16 (`--ref`,
which rounds what each operator gives), they have no NaN and no infinity where float32 has none.

    half_traps_test.py ASSAY
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

ASSAY = sys.argv[1]
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
CONSTANTS = """<float one = {1}, float two = {2}, float three = {3}, float half = {0.5}, float eps = {1e-12},
  float small = {1e-6}, float tiny = {1e-9}, float big = {10000}, float huge = {-1e9}, float least = {-65504},
  float cubic = {0.044715}, float minus = {-1}, float root = {0.5}, float minus_root = {-0.5}, float ten = {10}>"""
ROWS = "g (float[4,64] x) => (float[n,m] y) " + CONSTANTS
NORMS = """m = ReduceMean<axes = [1]>(x)  d = Sub(x, m)"""
TRAPS = {
    "exp": "y = Exp(x)",
    "softplus": "e = Exp(x)  s = Add(e, one)  y = Log(s)",
    "logistic": "n = Neg(x)  e = Exp(n)  s = Add(e, one)  y = Div(one, s)",
    "square": "y = Mul(x, x)",
    "power": "y = Pow(x, three)",
    "gelu": "p = Pow(x, three)  c = Mul(p, cubic)  s = Add(x, c)  t = Tanh(s)  u = Add(t, one)  y = Mul(x, u)",
    "layer norm": NORMS + "  p = Pow(d, two)  v = ReduceMean<axes = [1]>(p)  a = Add(v, eps)  r = Sqrt(a)  y = Div(d, r)",
    "layer norm by mul": NORMS + """  p = Mul(d, d)  v = ReduceMean<axes = [1]>(p)  a = Add(v, eps)  r = Sqrt(a)
      i = Reciprocal(r)  y = Mul(d, i)""",
    "layer norm by pow": NORMS + """  p = Mul(d, d)  v = ReduceMean<axes = [1]>(p)  a = Add(v, eps)
      i = Pow(a, minus_root)  y = Mul(d, i)""",
    "rms norm": "p = Pow(x, two)  v = ReduceMean<axes = [1]>(p)  a = Add(v, small)  r = Sqrt(a)  y = Div(x, r)",
    "l2 norm": "p = ReduceSumSquare<axes = [1]>(x)  r = Sqrt(p)  c = Max(r, eps)  y = Div(x, c)",
    "l2 norm by sum": "p = Mul(x, x)  q = Constant<value_ints = [1]>()  s = ReduceSum(p, q)  r = Sqrt(s)  a = Add(r, eps)  y = Div(x, a)",
    "norm of constant rows": "z = Sub(x, x)  p = Mul(z, z)  a = Add(p, eps)  r = Sqrt(a)  y = Div(z, r)",
    "softmax": "e = Exp(x)  q = Constant<value_ints = [1]>()  s = ReduceSum(e, q)  y = Div(e, s)",
    "softmax by maximum": """m = ReduceMax<axes = [1]>(x)  d = Sub(x, m)  e = Exp(d)  q = Constant<value_ints = [1]>()
      s = ReduceSum(e, q)  y = Div(e, s)""",
    "log of softmax": "e = Softmax(x)  y = Log(e)",
    "log of softmax turned": "e = Softmax(x)  t = Transpose(e)  l = Log(t)  y = Transpose(l)",
    "log of logistic": "e = Sigmoid(x)  a = Add(e, eps)  y = Log(a)",
    "inverse of logistic": "e = Sigmoid(x)  y = Div(one, e)",
    "masked": "t = Tanh(x)  g = Greater(t, two)  w = Where(g, x, huge)  y = Softmax(w)",
    "masked by sum": "t = Tanh(x)  g = Greater(x, two)  f = Cast<to = 1>(g)  i = Sub(one, f)  m = Mul(i, huge)  a = Add(x, m)  y = Softmax(a)",
    "masked by least": "z = Sub(x, x)  m = Add(z, least)  a = Add(x, m)  b = Sub(a, ten)  y = Softmax(b)",
    "long sum": "m = ReduceMax<axes = [1]>(x)  s = Sigmoid(m)  e = Expand(s, shape)  q = Constant<value_ints = [0]>()  y = ReduceSum(e, q)",
    "long sum of ordinary numbers": "q = Constant<value_ints = [1]>()  a = Abs(x)  s = Mul(a, ten)  y = ReduceSum(s, q)",
    "small constant": "y = Div(x, small)",
    "inverse of a small constant": "s = Reciprocal(small)  y = Mul(x, s)",
    "tiny constant": "a = Abs(x)  s = Add(a, tiny)  y = Div(one, s)",
    "tiny scale": "t = Mul(x, tiny)  y = Div(t, tiny)",
    "large constant": "s = Mul(x, big)  y = Div(s, big)",
    "distance": "d = Sub(x, ten)  p = Mul(d, d)  q = Constant<value_ints = [1]>()  y = ReduceSum(p, q)",
    "gauss": "p = Mul(x, x)  n = Neg(p)  e = Exp(n)  l = Add(e, eps)  y = Log(l)",
    "in a branch": "s = ReduceSum<keepdims = 0>(x)  c = Greater(s, one)  y = If(c) <then_branch = t () => (float[4,64] p) { p = Exp(x) }, else_branch = f () => (float[4,64] q) { q = Mul(x, x) }>",
    "cast": "t = Abs(x)  c = Cast<to = 4>(t)  k = Cast<to = 1>(c)  b = Mul(k, big)  y = Sqrt(b)",
    "variance by squares": """p = Mul(x, x)  e = ReduceMean<axes = [1]>(p)
      m = ReduceMean<axes = [1]>(x)  n = Mul(m, m)  v = Sub(e, n)  w = Max(v, eps)  r = Sqrt(w)  d = Sub(x, m)  y = Div(d, r)""",
    "extremes": """a = ReduceMax<axes = [1]>(x)  b = ReduceMin<axes = [1]>(x)  r = Sub(a, b)
      e = Add(r, eps)  d = Sub(x, b)  y = Div(d, e)""",
    "cosine": """q = Constant<value_ints = [1]>()  a = Add(x, one)  p = Mul(x, a)  s = ReduceSum(p, q)  l = ReduceL2<axes = [1]>(x)
      k = ReduceL2<axes = [1]>(a)  z = Mul(l, k)  w = Add(z, eps)  y = Div(s, w)""",
    "logarithm of exponentials": """q = Constant<value_ints = [1]>()  e = Exp(x)  s = ReduceSum(e, q)  y = Log(s)""",
    "product": """t = Tanh(x)  u = Add(t, two)  p = ReduceProd<axes = [1]>(u)  y = Log(p)""",
    "temperature": """s = Div(x, small)  y = Softmax(s)""",
    "entropy": """q = Constant<value_ints = [1]>()  p = Softmax(x)  l = Log(p)  m = Mul(p, l)  s = ReduceSum(m, q)  y = Neg(s)""",
    "cross entropy": """p = Sigmoid(x)  n = Sub(one, p)  a = Max(n, eps)  l = Log(a)  y = Neg(l)""",
    "clipped": """p = Sigmoid(x)  c = Clip(p, eps, one)  y = Log(c)""",
    "running sum": """a = Mul(x, big)  k = Constant<value_int = 1>()  y = CumSum(a, k)""",
    "large weights": """w = Transpose(x)  v = Mul(w, big)  p = MatMul(x, v)  y = Softmax(p)""",
    "product before the quotient": """e = Exp(x)  w = Transpose(x)  n = MatMul(e, w)  q = Constant<value_ints = [1]>()  s = ReduceSum(e, q)  y = Div(n, s)""",
}
# Graphs of which nothing has to stay float32.
PLAIN = {
    "relu": "y = Relu(x)",
    "logistic": "s = Sigmoid(x)  y = Mul(x, s)",
    "sums": "a = Add(x, x)  b = Add(a, x)  c = Add(b, a)  y = Mul(c, half)",
    "erf": "d = Mul(x, half)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a)  y = Mul(m, half)",
    "softmax": "m = ReduceMax<axes = [1]>(x)  d = Sub(x, m)  e = Exp(d)  q = Constant<value_ints = [1]>()  s = ReduceSum(e, q)  y = Div(e, s)",
    "gate": "t = Tanh(x)  y = Mul(t, x)",
    "layer": "w = Transpose(x)  p = MatMul(x, w)  y = Softmax(p)",
}


def model_of(body):
    model = onnx.parser.parse_model(HEAD + ROWS + " { " + body + " }")
    if "shape" in body:
        model.graph.initializer.append(numpy_helper.from_array(np.array([140000, 4, 1]), "shape"))
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [1, 4, 1]))
    return model


def inputs():
    """Ordinary numbers: rows that are constant, small, spread out, and with outliers."""
    rng = np.random.default_rng(1)
    rows = [np.full(64, 0.5), rng.normal(size=64) * 1e-3, rng.normal(size=64) * 8, rng.normal(size=64) * 25]
    return np.stack(rows).astype(np.float32).clip(-45, 45)


def convert(folder, model, *words):
    """What the program says; that converting it again changes nothing is checked on the way."""
    onnx.save(model, folder / "model.onnx")
    done, again = (subprocess.run([ASSAY, "convert", str(folder / source), "--fp-to-fp16", "-o", str(folder / target),
                                   *words], capture_output=True, text=True)
                   for source, target in (("model.onnx", "half.onnx"), ("half.onnx", "again.onnx")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert again.returncode == 0, again.stdout + again.stderr
    assert (folder / "half.onnx").read_bytes() == (folder / "again.onnx").read_bytes(), f"{words}: a second time it changed"
    onnx.checker.check_model(onnx.load(folder / "half.onnx"), full_check=True)
    return done.stdout


def run_ref(folder, name, feeds):
    np.savez(folder / "feeds.npz", **feeds)
    command = [ASSAY, "run", str(folder / name), "--ref", "--load-inputs", str(folder / "feeds.npz"),
               "--save-outputs", str(folder / "out.npz"), "-qq"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [value for name, value in np.load(folder / "out.npz").items() if not name.endswith("assay_dtype")]


def run_ort(path, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def check_traps(folder):
    failed = []
    for name, body in TRAPS.items():
        feeds = {"x": inputs()}
        for words in ((), ("--fp16-overflow", "clamp")):
            said = convert(folder, model_of(body), *words)
            full = run_ref(folder, "model.onnx", feeds)[0]
            assert np.isfinite(full).all(), f"{name}: no trap, float32 has NaN or infinity itself"
            run_ort(folder / "half.onnx", feeds)
            if not np.isfinite(run_ref(folder, "half.onnx", feeds)[0].astype(np.float64)).all():
                failed.append(f"{name} {' '.join(words)}")
            elif not words:
                print(f"{name}: ok, {said.count('stays float32')} node(s) stay float32")
    assert not failed, "NaN or infinity: " + ", ".join(failed)


def check_plain(folder):
    for name, body in PLAIN.items():
        said = convert(folder, model_of(body))
        assert "stays float32" not in said, f"{name}: {said}"
    print(f"plain: {len(PLAIN)} graphs without a node in float32")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_traps(folder)
        check_plain(folder)


if __name__ == "__main__":
    main()
