#!/usr/bin/env python3
"""Graphs whose values float16 cannot hold, converted without a look at values: computed with true float16 (`--ref`,
which rounds what each operator gives), they have no NaN and no infinity where float32 has none. Indices, angles and
sampling coordinates stay what they are, in float16 and in bfloat16.

    half_traps_test.py ASSAY
"""

import json
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


INTS = "int64[1,n] p"
PICTURE = "float[1,4,200,200] x"
GRID = PICTURE + ", float[1,9,9,2] g"
EXACT = {
    "rotary": (INTS, """f = Cast<to = 1>(p)  u = Unsqueeze(f, last)  a = Mul(u, freqs)  y = Cos(a)"""),
    "rotary by product": (INTS, """f = Cast<to = 1>(p)  u = Unsqueeze(f, middle)  a = MatMul(column, u)  y = Sin(a)"""),
    "rotary by einsum": (INTS, """f = Cast<to = 1>(p)  q = Squeeze(f, first)  a = Einsum<equation = "i,j->ij">(q, freqs)  y = Cos(a)"""),
    "rotary of float positions": ("float[1,n] p", """u = Unsqueeze(p, last)  a = Mul(u, freqs)  y = Cos(a)"""),
    "rotary of scaled positions": ("float[1,n] p", """s = Mul(p, half)  u = Unsqueeze(s, last)  a = Mul(u, freqs)  c = Concat<axis = 2>(a, a)  y = Sin(c)"""),
    "timestep": ("float[1] t", """e = Exp(decay)  a = Mul(t, e)  s = Sin(a)  c = Cos(a)  y = Concat<axis = 0>(s, c)"""),
    "positions of a mask": ("float[1,n] m, float[3000,4] w", """c = CumSum(m, one)  d = Sub(c, unit)  i = Cast<to = 7>(d)  y = Gather(w, i)"""),
    "buckets": ("float[1,n] m, float[3000,4] w", """l = Add(m, unit)  k = Log(l)  s = Mul(k, hundred)  i = Cast<to = 6>(s)  y = Gather(w, i)"""),
    "grid": (GRID, """k = Mul(g, unit)  y = GridSample(x, k)"""),
    "grid of pixels": (GRID, """a = Mul(g, hundred)  b = Add(a, hundred)  k = Div(b, hundred)  e = Sub(k, unit)  y = GridSample(x, e)"""),
    "grid and offsets": (PICTURE + ", float[1,200,200,2] g", """o = Conv<pads = [1,1,1,1]>(x, kernel)  t = Transpose<perm = [0,2,3,1]>(o)  s = Mul(t, small)
      k = Add(s, g)  y = GridSample(x, k)"""),
    "transformer": (PICTURE + ", float[1,2,3] theta, float[81,3] base", """r = Transpose<perm = [0,2,1]>(theta)  a = MatMul(base, r)
      k = Reshape(a, square)  y = GridSample(x, k)"""),
    "affine grid": (PICTURE + ", float[1,2,3] theta", """h = Mul(theta, unit)  k = AffineGrid(h, size)  y = GridSample(x, k)"""),
    "regions": (PICTURE + ", float[1,4] b", """r = Mul(b, hundred)  s = Relu(x)  y = RoiAlign<output_height = 3, output_width = 3>(s, r, zero)"""),
    "one hot": ("float[5] i", """s = Mul(i, unit)  y = OneHot<axis = -1>(s, depth, range)"""),
    "lengths": ("float[1] l, int64[1] n", """s = Mul(l, hundred)  q = Squeeze(n, first)  r = Range(none, q, step)  f = Cast<to = 1>(r)  b = Less(f, s)  y = Cast<to = 1>(b)"""),
    "float64": ("float[5] t", """h = Tanh(t)  s = Mul(h, sixteen)  e = Exp(s)  d = Cast<to = 11>(e)  m = Mul(d, million)  y = Cast<to = 1>(m)"""),
    "added places": ("float[1,6] u, float[1,8] v, int64[1,6] i", """a = Mul(u, hundred)  y = ScatterElements<axis = 1, reduction = "add">(v, i, a)"""),
    "angles of a loop": ("float[1,n] p", """l = Loop(trips, , p) <body = b (int64 n, bool c, float[1,m] q) => (bool d, float[1,m] r)
      { d = Identity(c)  r = Add(q, unit) }>  y = Cos(l)"""),
}
# Float16 holds what these compute.
SMALL = {
    "small angles": "t = Tanh(x)  y = Sin(t)",
    "half a turn": "s = Sigmoid(x)  a = Mul(s, three)  y = Cos(a)",
}


def constants_of_exact():
    rng = np.random.default_rng(3)
    return {"freqs": 10000 ** -(np.arange(8, dtype=np.float32) / 8), "column": (10000 ** -(np.arange(8) / 8))[None, :, None],
            "decay": -np.arange(8) * np.log(10000) / 8, "unit": np.ones(()), "hundred": np.full((), 100.), "half": np.full((), .5),
            "sixteen": np.full((), 16.),
            "small": np.full((), 1e-3), "kernel": rng.normal(size=(2, 4, 3, 3)), "range": np.array([0., 1.]),
            "depth": np.full((), 4000.), "million": np.full((), 1e6)}


def model_of_exact(types, body):
    dtypes = {"million": np.float64}
    weights = [numpy_helper.from_array(np.asarray(value, dtypes.get(name, np.float32)), name)
               for name, value in constants_of_exact().items()]
    integers = {"first": [0], "middle": [1], "last": [2], "one": 1, "zero": [0], "size": [1, 4, 200, 200],
                "square": [1, 9, 9, 2], "none": 0, "step": 1, "trips": 3}
    weights += [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in integers.items()]
    graph = f"g ({types}) => (float y) {{ {body} }}"
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 20]>\n' + graph)
    del model.graph.output[:]
    model.graph.output.append(onnx.ValueInfoProto(name="y", type=helper.make_tensor_type_proto(1, None)))
    used = {name for node in model.graph.node for name in node.input}
    used |= {name for node in model.graph.node for attribute in node.attribute for inner in attribute.g.node for name in inner.input}
    model.graph.initializer.extend(weight for weight in weights if weight.name in used)
    return model


def feeds_of_exact(model):
    rng = np.random.default_rng(4)
    places = np.arange(20000, 20016)
    made = {"p": places[None], "t": np.array([981.]), "m": np.ones((1, 2900)), "w": rng.normal(size=(3000, 4)),
            "x": rng.normal(size=(1, 4, 200, 200)), "theta": np.array([[[0.7, 0.2, 0.1], [-0.2, 0.7, 0.05]]]),
            "base": np.concatenate([rng.uniform(-0.9, 0.9, size=(81, 2)), np.ones((81, 1))], 1),
            "b": np.array([[1.3117, 1.7042, 1.3342, 1.7193]]), "i": np.array([1., 2049., 2051., 3001., 3999.]),
            "l": np.array([20.49]), "n": np.array([3000]), "u": rng.normal(size=(1, 6)), "v": rng.normal(size=(1, 8))}
    dims = {item.name: [dim.dim_value for dim in item.type.tensor_type.shape.dim] for item in model.graph.input}
    if "g" in dims:
        made["g"] = rng.uniform(-0.95, 0.95, size=dims["g"])
    if model.graph.node[0].op_type == "Tanh":
        made["t"] = np.linspace(-3, -1.5, 5)
    if model.graph.node[0].op_type == "Add":
        made["m"] = np.arange(2900)[None]
    if dims.get("i") == [1, 6]:
        made["i"] = np.array([[0, 1, 1, 3, 3, 3]])
    dtypes = {1: np.float32, 7: np.int64}
    return {item.name: made[item.name].astype(dtypes[item.type.tensor_type.elem_type]) for item in model.graph.input}


def check_exact(folder):
    """Beside ONNX Runtime in float32: the picture or table is rounded, places in it are not."""
    failed = []
    for name, (types, body) in EXACT.items():
        model = model_of_exact(types, body)
        feeds = feeds_of_exact(model)
        expected = run_ort(model.SerializeToString(), feeds)[0]
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, expected.shape))
        rms = np.sqrt((expected.astype(np.float64) ** 2).mean())
        for words in (["--fp-to-fp16"], ["--fp-to-bf16"]):
            convert(folder, model, words=words)
            bound = 1e-2 if words == ["--fp-to-fp16"] else 4e-2
            seen = {"ref": run_ref(folder, "half.onnx", feeds)[0]}
            if words == ["--fp-to-fp16"]:
                seen["onnxrt"] = run_ort(folder / "half.onnx", feeds)[0]
            for backend, value in seen.items():
                error = np.abs(value.astype(np.float64) - expected).max() / rms
                print(f"{name} {words[0]} {backend}: {error:.2g}")
                if not error < bound:
                    failed.append(f"{name} {words[0]} {backend}: {error:.2g}")
    assert not failed, "indices, angles or places are lost:\n" + "\n".join(failed)


def check_small_angles(folder):
    for name, body in SMALL.items():
        assert "needs float32" not in convert(folder, model_of(body)), f"{name} stays float32"


def check_told(folder):
    """Each reason is a line and a finding; measuring finds that angles are small."""
    model = model_of_exact(*EXACT["rotary of float positions"])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [1, None, 8]))
    for low, is_kept in ((900, True), (0, False)):
        feeds = {"p": np.arange(low, low + 4, dtype=np.float32)[None]}
        np.savez(folder / "feeds.npz", **feeds)
        said = convert(folder, model, words=["--fp-to-fp16", "--load-inputs", str(folder / "feeds.npz"),
                                             "--json", str(folder / "report.json")])
        report = json.loads((folder / "report.json").read_text())
        found = [finding["message"] for finding in report["findings"] if finding["code"] == "kept_float32"]
        line = "3 node(s) stay float32, `u` first: the angle of a sine or cosine needs float32"
        assert found == ([line] if is_kept else []), (low, found)
        assert (line in said) == is_kept, said


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


def convert(folder, model, *more, words=("--fp-to-fp16",)):
    """What the program says; that converting it again changes nothing is checked on the way."""
    onnx.save(model, folder / "model.onnx")
    done, again = (subprocess.run([ASSAY, "convert", str(folder / source), "-o", str(folder / target), "--force",
                                   *words, *more], capture_output=True, text=True)
                   for source, target in (("model.onnx", "half.onnx"), ("half.onnx", "again.onnx")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert again.returncode == 0, again.stdout + again.stderr
    assert (folder / "half.onnx").read_bytes() == (folder / "again.onnx").read_bytes(), f"{words} {more}: a second time it changed"
    onnx.checker.check_model(onnx.load(folder / "half.onnx"), full_check=True)
    return done.stdout


def run_ref(folder, name, feeds):
    np.savez(folder / "feeds.npz", **feeds)
    command = [ASSAY, "run", str(folder / name), "--ref", "--load-inputs", str(folder / "feeds.npz"),
               "--save-outputs", str(folder / "out.npz"), "-qq"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [value for name, value in np.load(folder / "out.npz").items() if not name.endswith("assay_dtype")]


def run_ort(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)


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
        check_exact(folder)
        check_small_angles(folder)
        check_told(folder)


if __name__ == "__main__":
    main()
