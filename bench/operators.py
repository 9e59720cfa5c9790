#!/usr/bin/env python3
"""Single operators on the engine beside ONNX Runtime, with one thread: least milliseconds of a run, and the ratio of ONNX
Runtime's to the engine's, least first.

    operators.py [--seconds N] [--only WORD...]

Models are made of random numbers in build/bench-operators; --only takes those whose names hold one of the words. What an
operator costs besides its arithmetic counts too: alone in a model, pictures are laid out anew for it.
"""

import argparse
import pathlib

import numpy as np
import onnx
from engine import measure
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "bench-operators"
PICTURE = (1, 64, 56, 56)
ROWS = (128, 1024)
RANDOM = np.random.default_rng(0)
INT64, UINT8, FLOAT16 = TensorProto.INT64, TensorProto.UINT8, TensorProto.FLOAT16


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def codes(*shape):
    return RANDOM.integers(-127, 127, shape).astype(np.int8)


def model(op, inputs, constants=(), opset=18, operands=None, outputs=None, **attributes):
    """One node; inputs are shapes or (type, shape), operands name `x0`, `x1`, …, `c0`, … in their order."""
    typed = [given if isinstance(given[0], int) and isinstance(given[1], tuple) else (TensorProto.FLOAT, given) for given in inputs]
    values = [helper.make_tensor_value_info(f"x{i}", dtype, shape) for i, (dtype, shape) in enumerate(typed)]
    tensors = [numpy_helper.from_array(np.asarray(value), f"c{i}") for i, value in enumerate(constants)]
    names = operands or [value.name for value in (*values, *tensors)]
    outputs = outputs or (["y", "z"] if op in ("TopK", "Split") else ["y"])
    node = helper.make_node(op, names, outputs, **attributes)
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(name) for name in outputs], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(made, strict_mode=True)


def elementwise():
    for op in ("Relu", "Elu", "Sigmoid", "Tanh", "Erf", "Gelu", "HardSwish", "Mish", "Softplus", "Exp", "Log", "Sqrt", "Abs",
               "Sign", "Floor", "Round", "Sin", "Reciprocal", "LeakyRelu", "IsNaN"):
        yield op, model(op, [PICTURE], opset=22)
    for op in ("Add", "Mul", "Div", "Pow", "Max", "Less", "Equal"):
        yield op, model(op, [PICTURE, (64, 1, 1)])
    yield "Where", model("Where", [(TensorProto.BOOL, ROWS), ROWS, ROWS])
    yield "Cast to int32", model("Cast", [PICTURE], to=TensorProto.INT32)
    yield "Cast to float16", model("Cast", [PICTURE], to=FLOAT16)
    yield "Add int64", model("Add", [(INT64, ROWS), (INT64, (1024,))])


def windows():
    yield "Conv", model("Conv", [PICTURE], [floats(64, 64, 3, 3)], pads=[1] * 4)
    yield "Conv 1d", model("Conv", [(1, 256, 512)], [floats(256, 256, 3)], pads=[1, 1])
    yield "Conv 3d", model("Conv", [(1, 16, 16, 28, 28)], [floats(32, 16, 3, 3, 3)], pads=[1] * 6)
    yield "Conv float16", model("Conv", [(FLOAT16, PICTURE)], [floats(64, 64, 3, 3).astype(np.float16)], pads=[1] * 4)
    yield "ConvTranspose", model("ConvTranspose", [(1, 128, 28, 28)], [floats(128, 64, 4, 4)], strides=[2, 2], pads=[1] * 4)
    for op in ("AveragePool", "MaxPool", "LpPool"):
        yield op, model(op, [PICTURE], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    yield "MaxPool with places", model("MaxPool", [PICTURE], kernel_shape=[2, 2], strides=[2, 2], outputs=["y", "i"])
    places = np.arange(64 * 56 * 56).reshape(1, 64, 28, 2, 28, 2)[:, :, :, 0, :, 1]
    yield "MaxUnpool", model("MaxUnpool", [(1, 64, 28, 28)], [places], kernel_shape=[2, 2], strides=[2, 2])
    yield "GlobalAveragePool", model("GlobalAveragePool", [PICTURE])
    for mode in ("nearest", "linear", "cubic"):
        yield f"Resize {mode}", model("Resize", [PICTURE], [np.float32([1, 1, 2, 2])], operands=["x0", "", "c0"], mode=mode)
    yield "GridSample", model("GridSample", [PICTURE, (1, 56, 56, 2)])
    regions = np.float32([[x, y, x + 90, y + 120] for x in range(0, 300, 30) for y in range(0, 300, 30)])
    yield "RoiAlign", model("RoiAlign", [(1, 256, 50, 50)], [regions, np.zeros(100, np.int64)], output_height=7,
                            output_width=7, sampling_ratio=2, spatial_scale=0.125)
    yield "LRN", model("LRN", [PICTURE], size=5)


def rows():
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp"):
        yield f"{op} of rows", model(op, [ROWS], [[-1]])
        yield f"{op} of channels", model(op, [PICTURE], [[1]])
    for op in ("Softmax", "LogSoftmax", "ArgMax"):
        yield op, model(op, [ROWS], axis=-1)
    yield "Softmax of channels", model("Softmax", [PICTURE], axis=1)
    yield "CumSum", model("CumSum", [ROWS], [1])
    yield "TopK", model("TopK", [(16, 30000)], [[50]])
    yield "TopK of channels", model("TopK", [PICTURE], [[5]], axis=1)
    yield "LayerNormalization", model("LayerNormalization", [(1, 128, 768)], [floats(768), floats(768)])
    yield "InstanceNormalization", model("InstanceNormalization", [PICTURE], [floats(64), floats(64)])
    yield "GroupNormalization", model("GroupNormalization", [PICTURE], [floats(64), floats(64)], opset=21, num_groups=8)
    yield "BatchNormalization", model("BatchNormalization", [PICTURE], [*floats(3, 64), np.abs(floats(64))])


def signals():
    yield "DFT", model("DFT", [(1, 100, 512, 1)], opset=17, onesided=1, axis=2)
    yield "DFT of 400", model("DFT", [(1, 100, 400, 1)], opset=17, onesided=1, axis=2)
    yield "DFT inverse", model("DFT", [(1, 100, 512, 2)], opset=17, inverse=1, axis=2)
    yield "STFT", model("STFT", [(1, 16000, 1)], [160, np.hanning(400).astype(np.float32)], opset=17, onesided=1)


def products():
    yield "MatMul", model("MatMul", [(12, 128, 64), (12, 64, 128)])
    yield "MatMul int32", model("MatMul", [(TensorProto.INT32, (128, 256)), (TensorProto.INT32, (256, 128))])
    yield "MatMul float64", model("MatMul", [(TensorProto.DOUBLE, (128, 256)), (TensorProto.DOUBLE, (256, 128))])
    yield "Einsum", model("Einsum", [(1, 12, 128, 64), (1, 12, 128, 64)], equation="bhid,bhjd->bhij")
    yield "MatMulInteger", model("MatMulInteger", [(UINT8, (128, 768))], [codes(768, 768)])
    quantised = [np.float32(0.1), np.uint8(128), np.float32(0.1), np.int8(0), np.float32(0.5), np.uint8(128)]
    order = ["x0", "c1", "c2", "c0", "c3", "c4", "c5", "c6"]
    yield "QLinearMatMul", model("QLinearMatMul", [(UINT8, (128, 768))], [codes(768, 768), *quantised], operands=order)
    yield "QLinearConv", model("QLinearConv", [(UINT8, PICTURE)], [codes(64, 64, 3, 3), *quantised], operands=order, pads=[1] * 4)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        weights = [floats(1, gates * 128, 128), floats(1, gates * 128, 128), floats(1, 2 * gates * 128)]
        yield op, model(op, [(64, 1, 128)], weights, hidden_size=128)


def movement():
    yield "Transpose", model("Transpose", [PICTURE], perm=[0, 2, 3, 1])
    yield "Concat", model("Concat", [PICTURE, PICTURE], axis=1)
    for mode in ("constant", "reflect"):
        yield f"Pad {mode}", model("Pad", [PICTURE], [[0, 0, 1, 1, 0, 0, 1, 1]], mode=mode)
    yield "DepthToSpace", model("DepthToSpace", [PICTURE], blocksize=2)
    yield "SpaceToDepth", model("SpaceToDepth", [PICTURE], blocksize=2)
    yield "Tile", model("Tile", [(128, 256)], [[2, 4]])
    yield "OneHot", model("OneHot", [(INT64, (128,))], [np.int64(1000), np.float32([0, 1])])
    yield "Gather", model("Gather", [(INT64, (128,))], [floats(30000, 256)], operands=["c0", "x0"])
    yield "GatherElements", model("GatherElements", [ROWS, (INT64, (128, 512))], axis=1)
    yield "ScatterElements", model("ScatterElements", [ROWS, (INT64, (128, 512)), (128, 512)], axis=1)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=0.3, help="for each operator")
    options.add_argument("--only", nargs="+", default=[""])
    options = options.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = []
    for family in (elementwise, windows, rows, signals, products, movement):
        for name, made in family():
            if not any(word in name for word in options.only):
                continue
            path = FOLDER / f"{name.replace(' ', '_')}.onnx"
            onnx.save(made, path)
            best = measure(path, options.seconds, ("threads=1",), ("engine", "onnxrt"))
            lines.append((best["onnxrt"] / best["engine"], name, best["engine"], best["onnxrt"]))
    print("| operator | engine | onnxrt | ratio |\n|---|---|---|---|")
    for ratio, name, engine, onnxrt in sorted(lines):
        print(f"| {name} | {engine:.4f} | {onnxrt:.4f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
