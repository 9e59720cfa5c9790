"""Products of float8 on a card: blocks of two products with GELU between them, as a transformer has them, with float8e4m3fn
before each product, beside the same blocks in float16 and beside PyTorch's products of both types, in one run.

    float8.py ASSAY [--rows N...] [--layers N] [--rounds N] [--folder FOLDER]

ASSAY is the program. Least milliseconds, inputs and outputs on the card; the ratio is to the engine's blocks of float8,
above 1 where those are faster. Needs torch, onnx and ml_dtypes, and a card of compute capability 9.0.
"""

import argparse
import pathlib

import ml_dtypes
import numpy as np
import onnx
import torch
from gpu import Engine, Graphed
from onnx import TensorProto, helper, numpy_helper

WIDTH, INNER, SCALE, LARGEST = 768, 3072, 0.02, 448


def weights(layers):
    """Of each product its columns, their scale and the bias."""
    random = np.random.default_rng(0)
    for _ in range(layers):
        for inputs, outputs in ((WIDTH, INNER), (INNER, WIDTH)):
            columns = (random.standard_normal((inputs, outputs)) / inputs**0.5).astype(np.float32)
            scale = np.float16(np.abs(columns).max() / LARGEST)
            yield columns, scale, (random.standard_normal(outputs) * 0.1).astype(np.float16)


def codes_of(columns, scale):
    return (columns / np.float32(scale)).astype(ml_dtypes.float8_e4m3fn)


class Model:
    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array, np.float16), name))
        return name

    def codes(self, name, array):
        self.constants.append(helper.make_tensor(name, TensorProto.FLOAT8E4M3FN, array.shape, array.tobytes(), raw=True))
        return name

    def node(self, op, inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def product(self, x, number, columns, scale, is_float8):
        if not is_float8:
            return self.node("MatMul", [x, self.constant(f"w{number}", columns)])
        rounded = self.node("QuantizeLinear", [x, "scale"], output_dtype=TensorProto.FLOAT8E4M3FN)
        given = [self.codes(f"w{number}", codes_of(columns, scale)), self.constant(f"s{number}", scale)]
        return self.node("MatMul", [self.node("DequantizeLinear", [rounded, "scale"]), self.node("DequantizeLinear", given)])


def written(path, rows, layers, is_float8):
    model = Model()
    model.constant("scale", SCALE)
    x = block = "x"
    for number, (columns, scale, bias) in enumerate(weights(layers)):
        made = model.product(x, number, columns, scale, is_float8)
        x = model.node("Add", [made, model.constant(f"b{number}", bias)])
        x = model.node("Gelu", [x]) if number % 2 == 0 else model.node("Add", [block, x])
        block = x if number % 2 else block
    model.nodes.append(helper.make_node("Identity", [x], ["y"]))
    sides = [[helper.make_tensor_value_info(name, TensorProto.FLOAT16, [rows, WIDTH])] for name in "xy"]
    graph = helper.make_graph(model.nodes, "blocks", *sides, model.constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11), path)
    return path


def torch_blocks(rows, layers, is_float8):
    one = torch.tensor(SCALE, device="cuda")
    products = []
    for columns, scale, bias in weights(layers):
        bias = torch.from_numpy(bias).cuda()
        if is_float8:
            codes = torch.from_numpy(codes_of(columns, scale).view(np.uint8).T.copy()).cuda().view(torch.float8_e4m3fn)
            factor = torch.tensor(float(scale), device="cuda")
            products.append(lambda x, w=codes.t(), s=factor, b=bias: torch._scaled_mm(
                (x / SCALE).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn), w, scale_a=one, scale_b=s, bias=b,
                out_dtype=torch.float16))
        else:
            products.append(lambda x, w=torch.from_numpy(columns).half().cuda(), b=bias: torch.addmm(b, x, w))

    def run(x):
        for up, down in zip(products[::2], products[1::2]):
            x = x + down(torch.nn.functional.gelu(up(x)))
        return x

    return Graphed(run, [torch.randn(rows, WIDTH, device="cuda", dtype=torch.float16)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, nargs="*", default=[128, 16384])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench/float8"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.layers} blocks, least times")
    print("| rows | engine, float8, ms | rivals: ms, ratio |\n|---|---|---|", flush=True)
    for rows in options.rows:
        sides = {}
        for kind in ("float8", "float16"):
            path = written(options.folder / f"blocks_{rows}_{kind}.onnx", rows, options.layers, kind == "float8")
            sides[f"engine, {kind}"] = Engine(options.program, path)
            sides[f"torch, {kind}"] = torch_blocks(rows, options.layers, kind == "float8")
        for _ in range(options.rounds):
            for side in sides.values():
                side.measure()
        own = sides.pop("engine, float8").least
        rivals = "; ".join(f"{name} {side.least:.3f}, {side.least / own:.2f}" for name, side in sides.items())
        print(f"| {rows} | {own:.3f} | {rivals} |", flush=True)


if __name__ == "__main__":
    main()
