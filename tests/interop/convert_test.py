#!/usr/bin/env python3
"""`convert` to 16-bit floats, beside onnxconverter-common, ONNX Runtime, onnx's checker, numpy and ml_dtypes.

    convert_test.py ASSAY

Models by hand for the rules, random graphs, and some of ONNX's own tests; ASSAY_SEED repeats a run.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnxconverter_common import float16

from random_ops.draw import Rng
from random_ops.graphs import Builder

SEED = int(os.environ.get("ASSAY_SEED", "1"))
GRAPHS = 60
ONNX_MODELS = 250
ASSAY = sys.argv[1]
HALF = {"fp16": (np.float16, TensorProto.FLOAT16), "bf16": (ml_dtypes.bfloat16, TensorProto.BFLOAT16)}


def convert(model, kind, folder, *words, name="model"):
    """The converted model; that converting it again changes nothing is checked on the way."""
    source, target, again = (folder / f"{name}{suffix}.onnx" for suffix in ("", "_half", "_again"))
    onnx.save(model, source)
    for origin, goal in ((source, target), (target, again)):
        command = [ASSAY, "convert", str(origin), f"--fp-to-{kind}", "-o", str(goal), "-q", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert target.read_bytes() == again.read_bytes(), f"{name}: a second conversion changed the file"
    converted = onnx.load(target)
    onnx.checker.check_model(converted, full_check=True)
    return converted


def run_ort(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def check_close(name, half, full, relative, absolute=0.0):
    """Relative to the largest magnitude of each output."""
    for a, b in zip(half, full):
        assert a.dtype == b.dtype and a.shape == b.shape, f"{name}: {a.dtype}{a.shape}, {b.dtype}{b.shape}"
        if a.size == 0 or a.dtype.kind != "f":
            continue
        allowed = absolute + relative * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0)))
        worst = float(np.abs(a.astype(np.float64) - b)[np.isfinite(b)].max(initial=0))
        assert worst <= allowed, f"{name}: differs by {worst}, allowed {allowed}"


def model_of(text):
    model = onnx.parser.parse_model(text)
    onnx.checker.check_model(model, full_check=True)
    return model


HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
MODELS = {
    "identity": "g (float[2] x) => (float[2] y) { a = Identity(x)  y = Identity(a) }",
    "chain": "g (float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { a = Add(x, w)  b = Relu(a)  y = Softmax(b) }",
    "if": """g (bool c, float[2] x) => (float[2] y) <float[2] w = {0.5, 3}> {
      a = Mul(x, w)
      y = If(c) <then_branch = t () => (float[2] p) { p = Mul(a, w) }, else_branch = e () => (float[2] q) { q = Sub(x, a) }> }""",
    "loop": """g (int64 n, bool c, float[2] x) => (float[2] y, float[k,2] s) {
      y, s = Loop(n, c, x) <body = b (int64 i, bool d, float[2] v) => (bool d2, float[2] w, float[2] t)
        { d2 = Identity(d)  w = Neg(v)  f = Cast<to = 1>(i)  t = Add(v, f) }> }""",
    "scan": """g (float[2] x, float[5,2] z) => (float[2] y, float[5,2] s) {
      y, s = Scan<num_scan_inputs = 1, body = b (float[2] v, float[2] u) => (float[2] w, float[2] t)
        { w = Add(v, u)  t = Tanh(w) }>(x, z) }""",
    "resize": """g (float[1,1,3,3] x) => (float[1,1,6,6] y) <float[4] s = {1, 1, 2, 2}> { y = Resize<mode = "linear">(x, , s) }""",
    "norms": """g (float[1,2,3] x) => (float[1,2,3] y) <float[2] a = {1, 2}, float[2] m = {0.5, 0.25}, float[3] w = {1, 2, 3}>
      { b = BatchNormalization(x, a, m, m, a)  y = LayerNormalization(b, w, w) }""",
    "qdq": """g (float[1,4] x) => (float[1,2] y) <float s = {0.05}, uint8 z = {128}, int8[4,2] w = {1,2,3,4,5,6,7,8}, float t = {0.01}, int8 u = {0}>
      { q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  v = DequantizeLinear(w, t, u)  m = MatMul(d, v)
        r = Relu(m)  p = QuantizeLinear(r, s, z)  y = DequantizeLinear(p, s, z) }""",
    "mask": """g (int64[1,4] ids, float[1,4] x) => (float[1,4] y) <float one = {1}, float big = {-3.4e38}>
      { c = Cast<to = 1>(ids)  i = Sub(one, c)  m = Mul(i, big)  a = Add(x, m)  y = Softmax(a) }""",
    "sizes": """g (float[1,2,5,5] x) => (float[n,m,p,q] y) <float[4] f = {1, 1, 2, 2}>
      { s = Shape(x)  c = Cast<to = 1>(s)  t = Mul(c, f)  i = Cast<to = 7>(t)  z = Relu(x)  y = Resize(z, , , i) }""",
    "sources": """g (int64[2] n, float[2,2] x) => (float[2,2] y) { c = ConstantOfShape<value = float[1] {2}>(n)
      k = Constant<value_float = 0.5>()  e = EyeLike(x)  a = Mul(x, c)  b = Add(a, k)  y = MatMul(b, e) }""",
}


def lstm():
    rng = np.random.default_rng(SEED)
    weights = [numpy_helper.from_array((rng.standard_normal(shape) / 4).astype(np.float32), name)
               for name, shape in (("W", (1, 16, 3)), ("R", (1, 16, 4)), ("B", (1, 32)))]
    node = helper.make_node("LSTM", ["x", "W", "R", "B"], ["y", "h"], hidden_size=4)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, [5, 2, 3])],
                              [helper.make_tensor_value_info("y", 1, [5, 1, 2, 4]),
                               helper.make_tensor_value_info("h", 1, [1, 2, 4])], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def feeds_for(model, rng):
    given = {"n": np.array(3), "c": np.array(True), "ids": np.array([[1, 1, 0, 1]])}
    feeds = {}
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            feeds[value.name] = rng.uniform(-2, 2, shape).astype(np.float32)
        else:
            feeds[value.name] = np.array([2, 2]) if shape == [2] else given[value.name]
    return feeds


def check_models(folder):
    rng = np.random.default_rng(SEED)
    models = {name: model_of(HEAD + text) for name, text in MODELS.items()} | {"lstm": lstm()}
    for name, model in models.items():
        feeds = feeds_for(model, rng)
        full = run_ort(model, feeds)
        half = convert(model, "fp16", folder, name=name)
        check_close(name, run_ort(half, feeds), full, 5e-3)
        convert(model, "bf16", folder, name=name)
        print(f"{name}: ok")
        check_against_rival(name, model, half, feeds, full)


def check_against_rival(name, model, half, feeds, full):
    """The same nodes on simple models."""
    if name not in ("identity", "chain"):
        return
    rival = float16.convert_float_to_float16(model, keep_io_types=True)
    ours, theirs = (sorted(node.op_type for node in m.graph.node) for m in (half, rival))
    assert ours == theirs, f"{name}: ours {ours}, rival {theirs}"
    check_close(name, run_ort(rival, feeds), full, 5e-3)


def check_quantized_scales(folder):
    half = onnx.load(folder / "qdq_half.onnx")
    scales = {t.name: t.data_type for t in half.graph.initializer}
    assert scales["s"] == scales["t"] == TensorProto.FLOAT


def check_weights(folder):
    """Bit for bit what numpy and ml_dtypes make of the same numbers."""
    rng = np.random.default_rng(SEED)
    bits = rng.integers(0, 1 << 32, 100_001, np.uint32).view(np.float32)
    small = (rng.standard_normal(100_001) * np.exp(rng.uniform(-20, 8, 100_001))).astype(np.float32)
    for kind, (dtype, number) in HALF.items():
        with np.errstate(all="ignore"):
            usable = bits[np.isfinite(bits) & (np.isfinite(bits.astype(dtype).astype(np.float32)))]
            weight = np.concatenate([usable, small, [np.inf, -np.inf, 0.0, -0.0]]).astype(np.float32)
            expected = weight.astype(dtype)
        for form in ("raw", "typed"):
            tensor = numpy_helper.from_array(weight, "w") if form == "raw" else helper.make_tensor(
                "w", TensorProto.FLOAT, weight.shape, weight)
            shape = [len(weight)]
            graph = helper.make_graph([helper.make_node("Min", ["x", "w"], ["y"])], "g",
                                      [helper.make_tensor_value_info("x", 1, shape)],
                                      [helper.make_tensor_value_info("y", 1, shape)], [tensor])
            model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
            found = convert(model, kind, folder, name="weights").graph.initializer[0]
            assert found.data_type == number
            assert found.raw_data == expected.tobytes(), f"{kind} {form}: other bits"
    print("weights: ok")


def check_random(folder):
    """Random graphs run in ONNX Runtime once they are converted, and stay near what they were."""
    loaded = 0
    for number in range(GRAPHS):
        builder = Builder(Rng(SEED * 1000 + number))
        builder.build()
        model = onnx.shape_inference.infer_shapes(builder.model())  # the checker wants types of outputs
        try:
            full = run_ort(model, builder.feeds)
        except Exception:  # seen with tensors without elements
            continue
        half = convert(model, "fp16", folder, name="random")
        magnitudes = [float(np.abs(value).max(initial=0)) for value in run_ort(with_all_outputs(model), builder.feeds)
                      if value.dtype == np.float32]
        # Each node rounds to 11 bits, and hands on what the nodes before it lost.
        bound = 2**-11 * len(model.graph.node) * max(1.0, *magnitudes)
        check_close(f"random {number} of seed {SEED}", run_ort(half, builder.feeds), full, 0.0, bound)
        loaded += 1
    assert loaded > GRAPHS // 2
    print(f"random: {loaded} of {GRAPHS} graphs ok")


def with_all_outputs(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for node in model.graph.node for name in node.output)
    return copy


def check_onnx_models(folder):
    """Models of ONNX's own tests: what ONNX Runtime loads, it loads when it is converted."""
    models = [case.model for case in collect_testcases(None) if case.model is not None]
    count = 0
    for model in random.Random(SEED).sample(models, ONNX_MODELS):
        versions = [item.version for item in model.opset_import if not item.domain]
        if not versions or versions[0] < 6 or not loads(model):
            continue
        half = convert(model, "fp16", folder, name="onnx")
        assert loads(half), f"ONNX Runtime does not load {model.graph.name} in fp16"
        count += 1
    print(f"onnx's models: {count} ok")


def loads(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # of many classes without a common base
        return False
    return True


FOREIGN_HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "f" : 1]>\n'
FOREIGN = {
    "gelus": "g (float[2,8] x) => (float[2,8] y) { a = com.microsoft.Gelu(x)  b = com.microsoft.FastGelu(a)  y = com.microsoft.QuickGelu(b) }",
    "fused product": "g (float[2,8] x) => (float[2,2] y) { y = com.microsoft.FusedMatMul<alpha = 0.5, transB = 1>(x, x) }",
    "norm": """g (float[1,2,8] x) => (float[1,2,8] y) <float[8] w = {1, 2, 3, 4, 5, 6, 7, 8}>
      { a = com.microsoft.SkipLayerNormalization(x, x, w, w)  y = Relu(a) }""",
    "bias": "g (float[2,8] x) => (float[2,8] y) <float[8] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = com.microsoft.BiasGelu(x, w) }",
    "function": """g (float[2,8] x) => (float[2,8] y) { a = f.act(x)  y = f.act(a) }
      <domain: "f", opset_import: ["" : 17]> act (p) => (q) { s = Sigmoid(p)  q = Mul(p, s) }""",
    "function in a branch": """g (bool c, float[2,8] x) => (float[2,8] y) {
        y = If(c) <then_branch = t () => (float[2,8] p) { p = f.act(x) }, else_branch = e () => (float[2,8] q) { q = com.microsoft.Gelu(x) }> }
      <domain: "f", opset_import: ["" : 17]> act (p) => (q) { s = Sigmoid(p)  q = Mul(p, s) }""",
    "loop of branches": """g (int64 n, bool c, float[2,8] x) => (float[2,8] y) {
      y = Loop(n, c, x) <body = b (int64 i, bool d, float[2,8] v) => (bool d2, float[2,8] w) { d2 = Identity(d)
        w = If(d) <then_branch = t () => (float[2,8] p) { p = com.microsoft.FastGelu(v) }, else_branch = e () => (float[2,8] q) { q = Tanh(v) }> }> }""",
}


def check_foreign(folder):
    """Operators of ONNX Runtime, functions, and bodies in bodies."""
    rng = np.random.default_rng(SEED)
    for name, text in FOREIGN.items():
        model = onnx.parser.parse_model(FOREIGN_HEAD + text)
        feeds = feeds_for(model, rng)
        half = convert(model, "fp16", folder, name="foreign")
        check_close(name, run_ort(half, feeds), run_ort(model, feeds), 1e-2)
        print(f"{name}: ok")


def check_measured(folder):
    """What is measured to be too large stays float32, and then nothing overflows."""
    model = model_of(HEAD + "g (float[4] x) => (float[4] y) { a = Exp(x)  b = Log(a)  y = Tanh(b) }")
    feeds = {"x": np.array([1, 5, 10, 12], np.float32)}
    np.savez(folder / "feeds.npz", **feeds)
    half = convert(model, "fp16", folder, "--load-inputs", str(folder / "feeds.npz"), name="measured")
    blind = convert(model, "fp16", folder, "--layer-precisions", "a:float16", name="blind")
    assert np.isinf(run_ort(with_all_outputs(blind), feeds)[1]).any()
    check_close("measured", run_ort(half, feeds), run_ort(model, feeds), 5e-3)
    print("measured: ok")


def check_many_layers(folder):
    """Where layers are many and small, what measures them leaves out optimizations, whose time grows with the square of
    the nodes; the ranges are those of the values."""
    for count, is_strict in ((20, False), (1050, True)):
        layers = "".join(f"v{i + 1} = MatMul(v{i}, w) " for i in range(count))
        weights = "<float[4,4] w = {0,1,0,0, 0,0,1,0, 0,0,0,1, 1,0,0,0}>"
        onnx.save(model_of(HEAD + f"g (float[1,4] v0) => (float[1,4] v{count}) {weights} {{ {layers} }}"),
                  folder / "many.onnx")
        np.savez(folder / "feeds.npz", v0=np.array([[1, -2, 3, -12.7]], np.float32))
        command = [ASSAY, "convert", str(folder / "many.onnx"), "--int8", "-o", str(folder / "many8.onnx"), "-v", "--force",
                   "--calibration", "minmax", "--load-inputs", str(folder / "feeds.npz"), "--python", sys.executable]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("without optimizations" in done.stdout + done.stderr) == is_strict, done.stdout
        graph = onnx.load(folder / "many8.onnx").graph
        scales = [numpy_helper.to_array(tensor) for tensor in graph.initializer
                  if tensor.name.startswith("v") and tensor.name.endswith("_scale")]
        assert scales and all(abs(scale - 0.1) < 1e-6 for scale in scales), scales
    print("many layers: ok")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_models(folder)
        check_quantized_scales(folder)
        check_weights(folder)
        check_random(folder)
        check_foreign(folder)
        check_measured(folder)
        check_many_layers(folder)
        check_onnx_models(folder)


if __name__ == "__main__":
    main()
