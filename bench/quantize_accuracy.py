#!/usr/bin/env python3
"""How much of the signal quantization leaves: ours beside ONNX Runtime's quantizer with each of its calibrations.

    quantize_accuracy.py [--only PART] [--int4 | --small] [--rivals PYTHON]

Twelve small nets with random weights of the sizes that training gives, and with outliers; calibrated on 8 sets of
inputs, measured on 128 others, since on 8 a difference of 0.8 dB may be chance. SNR in dB of the outputs in ONNX
Runtime, its optimizations off; the bar is its best calibration less 0.3 dB. With --int4: weights alone, in blocks of
32, beside its rounding. With --small: int4 by each algorithm beside its rounding and, where the package onnx_ir is
there, its GPTQ; nf4 beside its MatMulBnb4; fp8 and nvfp4 beside scales of the greatest number; on 64 sets of inputs.
--rivals names a Python that has nvidia-modelopt[onnx] or onnxsim 0.8, whose quantizers (rival_quantizers.py) are bars
for --operands-only, --fp8 and the small types; they round nothing else. Exits 1 if a bar is missed.
"""

import argparse
import contextlib
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer

from convert import ASSAY
from quantize import Reader

SETS, SMALL_SETS, TEST_SETS = 8, 64, 128
BLOCK = 32
BAR_DB = 0.3
METHODS = {"extremes": CalibrationMethod.MinMax, "entropy": CalibrationMethod.Entropy,
           "percentile": CalibrationMethod.Percentile}


class Net:
    """Nodes in a row; `last` is the value that the next one works on."""

    def __init__(self, seed, shape, tails=0.0):
        self.rng = np.random.default_rng(seed)
        self.shape, self.tails = shape, tails
        self.nodes, self.weights, self.last = [], [], "x"

    def weight(self, *shape, gain=1.4):
        array = self.rng.normal(size=shape) * gain / np.sqrt(np.prod(shape[1:]) if len(shape) > 2 else shape[0])
        array *= np.exp(self.tails * self.rng.normal(size=shape))
        return self.constant(array)

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def ints(self, *numbers):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
        return name

    def add(self, op, *others, source=None, **attributes):
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [source or self.last, *others], [result], result, **attributes))
        self.last = result
        return result

    def conv(self, before, after, size=3, **attributes):
        bias = self.constant(self.rng.normal(size=after) * 0.1)
        return self.add("Conv", self.weight(after, before // attributes.get("group", 1), size, size), bias,
                        pads=[size // 2] * 4, **attributes)

    def dense(self, before, after, gain=1.0, source=None):
        self.add("MatMul", self.weight(before, after, gain=gain), source=source)
        return self.add("Add", self.constant(self.rng.normal(size=after) * 0.05))

    def norm(self, size, outliers=0.0):
        scale = np.exp(outliers * self.rng.normal(size=size))
        return self.add("LayerNormalization", self.constant(scale), self.constant(np.zeros(size)))

    def attention(self, length, size, heads):
        start = self.last
        parts = []
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            self.dense(size, size, source=start)
            self.add("Reshape", self.ints(0, length, heads, size // heads))
            parts.append(self.add("Transpose", perm=order))
        self.add("MatMul", parts[1], source=parts[0])
        self.add("Mul", self.constant(2 / np.sqrt(size // heads)))
        self.add("Softmax", axis=-1)
        self.add("MatMul", parts[2])
        self.add("Transpose", perm=[0, 2, 1, 3])
        self.add("Reshape", self.ints(0, length, size))
        self.dense(size, size)
        return self.add("Add", start)

    def model(self, opset=21):
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("x", 1, self.shape)],
                                  [helper.make_tensor_value_info(self.last, 1, None)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def convnet(seed, tails, activation, depth=4):
    net = Net(seed, [1, 3, 32, 32], tails)
    net.conv(3, 16, strides=[2, 2])
    for _ in range(depth):
        start = net.add(activation)
        net.conv(16, 16)
        net.add(activation)
        net.conv(16, 16)
        net.add("Add", start)
    net.add(activation)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.dense(16, 10)
    return net.model()


def separable(seed, tails):
    net = Net(seed, [1, 3, 32, 32], tails)
    net.conv(3, 16, strides=[2, 2])
    for _ in range(3):
        net.add("Clip", net.constant(0), net.constant(6))
        net.conv(16, 16, group=16)
        net.add("Clip", net.constant(0), net.constant(6))
        net.conv(16, 16, 1)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.dense(16, 10)
    return net.model()


def transformer(seed, tails, outliers=0.0, blocks=2):
    net = Net(seed, [1, 16, 64], tails)
    for _ in range(blocks):
        net.norm(64, outliers)
        net.attention(16, 64, 4)
        start = net.norm(64, outliers)
        net.dense(64, 256)
        plain = net.last
        net.add("Mul", net.add("Sigmoid"), source=plain)
        net.dense(256, 64)
        net.add("Add", start)
    return net.model()


def perceptron(seed, tails, activation):
    net = Net(seed, [1, 64], tails)
    for size in (64, 128, 128):
        net.dense(size, 128, gain=1.4)
        net.add(activation)
    net.dense(128, 32)
    return net.model()


NETS = {
    "residual": lambda: convnet(1, 0, "Relu"), "residual_tails": lambda: convnet(2, 0.8, "Relu"),
    "residual_tanh": lambda: convnet(3, 0.5, "Tanh", 2), "residual_leaky": lambda: convnet(4, 0.5, "LeakyRelu", 3),
    "separable": lambda: separable(5, 0), "separable_tails": lambda: separable(6, 0.8),
    "transformer": lambda: transformer(7, 0), "transformer_tails": lambda: transformer(8, 0.6),
    "transformer_outliers": lambda: transformer(9, 0.3, 1.0), "transformer_deep": lambda: transformer(10, 0.3, 0.5, 4),
    "perceptron": lambda: perceptron(11, 0, "Relu"), "perceptron_tails": lambda: perceptron(12, 1.0, "Tanh"),
}


def outputs(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, feeds)[0] for feeds in inputs]).astype(np.float64)


def snr_db(seen, expected):
    return 10 * np.log10((expected**2).sum() / ((seen - expected) ** 2).sum())


def draw(model, seed, sets):
    rng = np.random.default_rng(seed)
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    return [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(sets)]


def ours(folder, *words):
    subprocess.run([ASSAY, "convert", folder / "model.onnx", "-o", folder / "ours.onnx", "--force", "-qq", "--python",
                    sys.executable, *words], check=True)
    return folder / "ours.onnx"


def rival(folder, inputs, method, symmetric):
    with contextlib.redirect_stdout(io.StringIO()):
        quantize_static(str(folder / "model.onnx"), str(folder / "rival.onnx"), Reader(inputs), per_channel=True,
                        quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt8, calibrate_method=method,
                        activation_type=QuantType.QInt8 if symmetric else QuantType.QUInt8,
                        extra_options={"ActivationSymmetric": symmetric})
    return folder / "rival.onnx"


def round_blocks(weight, symmetric):
    """What ONNX Runtime's own rounding of blocks leaves of a matrix; its quantizer needs packages that are not here."""
    blocks = weight.astype(np.float64).reshape(-1, BLOCK, weight.shape[1])
    if symmetric:
        largest = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1)
        scale, zero = largest / -8, 8
    else:
        low, high = blocks.min(1, keepdims=True).clip(max=0), blocks.max(1, keepdims=True).clip(min=0)
        scale = (high - low) / 15
        zero = np.rint(-low / scale)
    codes = np.rint(blocks / scale + zero).clip(0, 15)
    return ((codes - zero) * scale).reshape(weight.shape).astype(np.float32)


def rival_int4(folder, symmetric):
    model = onnx.load(folder / "model.onnx")
    products = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    for tensor in model.graph.initializer:
        if tensor.name in products:
            rounded = round_blocks(numpy_helper.to_array(tensor), symmetric)
            tensor.CopyFrom(numpy_helper.from_array(rounded, tensor.name))
    onnx.save(model, folder / "rival.onnx")
    return folder / "rival.onnx"


def others(python, kind, folder, tests, expected):
    """Bars of other tools' quantizers, as far as ONNX Runtime runs what they write."""
    if not python:
        return {}
    for path in folder.glob("rival_*.onnx"):
        path.unlink()
    script = pathlib.Path(__file__).with_name("rival_quantizers.py")
    done = subprocess.run([python, script, kind, folder], check=True, stderr=subprocess.PIPE, text=True)
    print("".join(f"{line}\n" for line in done.stderr.splitlines() if "Error: " in line), end="", file=sys.stderr)
    bars = {}
    for path in sorted(folder.glob("rival_*.onnx")):
        name = path.stem.removeprefix("rival_")
        try:
            seen = outputs(path, tests)
            if not np.array_equal(seen, expected):  # it found something to do
                bars[name] = snr_db(seen, expected)
        except Exception as error:
            print(f"{name}: {str(error)[:150]}", file=sys.stderr)
    return bars


def without_theirs(folder, symmetric):
    """Words for what the bar leaves out: convolutions in groups (Model Optimizer), products of two values (onnxsim)."""
    graph = onnx.load(folder / "model.onnx").graph
    weights = {tensor.name for tensor in graph.initializer}
    is_grouped = lambda node: any(attribute.name == "group" and attribute.i > 1 for attribute in node.attribute)
    is_computed = lambda node: node.op_type == "MatMul" and node.input[1] not in weights
    names = [node.name for node in graph.node if (is_grouped if symmetric else is_computed)(node)]
    return ["--exclude", *names] if names else []


def int8_case(folder, inputs, tests, expected, rivals):
    data = ["--load-inputs", *(folder / f"inputs{i}.npz" for i in range(SETS))]
    for symmetric in (False, True):
        words = ["--int8", *data, *([] if symmetric else ["--asymmetric"])]
        seen = snr_db(outputs(ours(folder, *words), tests), expected)
        bars = {name: snr_db(outputs(rival(folder, inputs, method, symmetric), tests), expected)
                for name, method in METHODS.items()}
        kind = "int8" if symmetric else "uint8"
        yield kind, seen, bars
        if rivals:
            more = ["--operands-only", *without_theirs(folder, symmetric)]
            seen = snr_db(outputs(ours(folder, *words, *more), tests), expected)
            yield f"{kind} operands", seen, others(rivals, kind, folder, tests, expected)
    if rivals:
        seen = snr_db(outputs(ours(folder, "--fp8", *data), tests), expected)
        yield "fp8", seen, others(rivals, "fp8", folder, tests, expected)


def int4_case(folder, tests, expected):
    for symmetric in (False, True):
        words = ["--weights", "int4", "--weights-form", "matmulnbits", *([] if symmetric else ["--asymmetric"])]
        seen = snr_db(outputs(ours(folder, *words), tests), expected)
        yield ("symmetric" if symmetric else "asymmetric", seen,
               {"rival": snr_db(outputs(rival_int4(folder, symmetric), tests), expected)})


class Loader:
    """Inputs as ONNX Runtime's GPTQ wants them."""

    batch_size = 1

    def __init__(self, inputs):
        self.inputs = inputs

    def __iter__(self):
        return iter([(feeds["x"], None) for feeds in self.inputs])


def rival_gptq(folder, inputs, symmetric):
    from onnxruntime.quantization.neural_compressor.weight_only import gptq_quantize
    made = gptq_quantize(onnx.load(folder / "model.onnx"), Loader(inputs), num_bits=4, group_size=BLOCK, mse=True,
                         scheme="sym" if symmetric else "asym", n_samples=-1)
    onnx.save(getattr(made, "model", made), folder / "rival.onnx")
    return folder / "rival.onnx"


def rival_nf4(folder):
    quantizer = MatMulBnb4Quantizer(onnx.load(folder / "model.onnx"), MatMulBnb4Quantizer.NF4, 64)
    quantizer.process()
    onnx.save(quantizer.model.model, folder / "rival.onnx")
    return folder / "rival.onnx"


def rival_floats(folder, block, levels, scale_type):
    """Blocks (0: columns) scaled by their greatest magnitude, to the nearest of the levels."""
    model = onnx.load(folder / "model.onnx")
    products = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    for tensor in model.graph.initializer:
        if tensor.name not in products:
            continue
        weight = numpy_helper.to_array(tensor).astype(np.float64)
        parts = weight.reshape(-1, block or weight.shape[0], weight.shape[1])
        scale = np.abs(parts).max(1, keepdims=True) / levels.max()
        if scale_type is not None:
            whole = scale.max() / 448
            scale = (scale / whole).astype(scale_type).astype(np.float64) * whole
        places = np.abs(np.abs(parts / scale)[..., None] - levels).argmin(-1)
        rounded = (np.sign(parts) * levels[places] * scale).reshape(weight.shape).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(rounded, tensor.name))
    onnx.save(model, folder / "rival.onnx")
    return folder / "rival.onnx"


def family(name):
    """The algorithm of ours that stands beside another tool's."""
    return "gptq" if "gpt" in name else "awq" if "awq" in name else "rtn"


def small_case(folder, inputs, tests, expected, rivals):
    data = ["--load-inputs", *(folder / f"inputs{i}.npz" for i in range(len(inputs)))]
    measure = lambda path: snr_db(outputs(path, tests), expected)
    has_gptq = importlib.util.find_spec("onnx_ir") is not None
    for symmetric in (False, True):
        words = ["--weights", "int4", "--weights-form", "matmulnbits", *([] if symmetric else ["--asymmetric"])]
        rounding = measure(rival_int4(folder, symmetric))
        told = others(rivals, "int4" if symmetric else "int4_asymmetric", folder, tests, expected)
        for algorithm in ("rtn", "awq", "gptq"):
            bars = {"rounding": rounding}
            if algorithm == "gptq" and has_gptq:
                bars["its gptq"] = measure(rival_gptq(folder, inputs, symmetric))
            bars |= {name: bar for name, bar in told.items() if family(name) == algorithm}
            seen = measure(ours(folder, *words, "--algorithm", algorithm, *(data if algorithm != "rtn" else [])))
            yield f"int4 {'symmetric' if symmetric else 'asymmetric'} {algorithm}", seen, bars
    yield ("nf4 rtn", measure(ours(folder, "--weights", "nf4")),
           {"bnb4": measure(rival_nf4(folder))} | others(rivals, "nf4", folder, tests, expected))
    if rivals:
        seen = measure(ours(folder, "--weights", "mxfp4", "--weights-form", "table"))
        yield "mxfp4 rtn", seen, others(rivals, "mxfp4", folder, tests, expected)
    eight = rival_floats(folder, 0, np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64), None)
    yield "fp8 rtn", measure(ours(folder, "--weights", "fp8")), {"greatest": measure(eight)}
    four = rival_floats(folder, 16, np.array([0, .5, 1, 1.5, 2, 3, 4, 6]), ml_dtypes.float8_e4m3fn)
    bars = {"greatest": measure(four)} | others(rivals, "nvfp4", folder, tests, expected)
    for algorithm in ("rtn", "gptq"):
        words = ["--weights", "nvfp4", "--weights-form", "table", "--algorithm", algorithm]
        yield f"nvfp4 {algorithm}", measure(ours(folder, *words, *(data if algorithm != "rtn" else []))), bars


def run_case(name, folder, is_int4, is_small, rivals):
    model = NETS[name]()
    onnx.save(model, folder / "model.onnx")
    inputs, tests = draw(model, 1, SMALL_SETS if is_small else SETS), draw(model, 2, TEST_SETS)
    for i, feeds in enumerate(inputs):
        np.savez(folder / f"inputs{i}.npz", **feeds)
    expected = outputs(folder / "model.onnx", tests)
    missed = False
    cases = (small_case(folder, inputs, tests, expected, rivals) if is_small
             else int4_case(folder, tests, expected) if is_int4 else int8_case(folder, inputs, tests, expected, rivals))
    for kind, seen, bars in cases:
        miss = seen < max(bars.values(), default=-np.inf) - BAR_DB
        missed |= miss
        text = ", ".join(f"{method} {bar:.2f}" for method, bar in bars.items())
        print(f"{name} {kind}: ours {seen:.2f} dB; {text}" + ("  MISS" if miss else "  ok"), flush=True)
    return missed


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--int4", action="store_true")
    options.add_argument("--small", action="store_true")
    options.add_argument("--rivals", metavar="PYTHON")
    options = options.parse_args()
    names = [name for name in NETS if options.only in name]
    if options.int4 or options.small:
        names = [name for name in names if "transformer" in name or "perceptron" in name]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        return int(any([run_case(name, pathlib.Path(folder), options.int4, options.small, options.rivals)
                        for name in names]))


if __name__ == "__main__":
    sys.exit(main())
