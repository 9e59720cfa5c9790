#!/usr/bin/env python3
"""`inspect sparsity` against Polygraphy where that is right, and against NumPy everywhere: sparsity_test.py ASSAY

Random models; ASSAY_SEED repeats a run. Polygraphy is not right for MatMul with more than two dimensions, for bfloat16,
for weights transposed over three axes (it takes the inverse permutation), and it leaves out quantised weights.
"""

import json
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.logger import G_LOGGER
from polygraphy.tools import sparse

G_LOGGER.module_severity = G_LOGGER.CRITICAL
SEED = int(os.environ.get("ASSAY_SEED", "1"))
MODELS = 120


class ModelMaker:
    """One model of several operators, each with a weight of its own; `truth` is name -> (axis, whether it is sparse)."""

    def __init__(self, rng, for_peer):
        self.rng, self.for_peer = rng, for_peer
        self.nodes, self.weights, self.inputs, self.outputs, self.truth = [], [], [], [], {}

    def array(self, shape, axis):
        """Random numbers; along the axis 2:4 sparse, nearly so, or not at all."""
        values = self.rng.standard_normal(shape) + 3
        moved = np.moveaxis(values, axis, -1)
        groups = moved.reshape(*moved.shape[:-1], -1, 4) if moved.shape[-1] % 4 == 0 else moved[..., None]
        if groups.shape[-1] == 4 and self.rng.random() < 0.7:
            for group in groups.reshape(-1, 4):
                group[self.rng.permutation(4)[: self.rng.integers(2, 5)]] = self.rng.choice([0.0, -0.0])
            if self.rng.random() < 0.3:
                groups.reshape(-1, 4)[self.rng.integers(groups.size // 4)] = [0, 1, 2, 3]
            values = np.moveaxis(groups.reshape(moved.shape), -1, axis)
        return np.ascontiguousarray(values)

    def add_weight(self, shape, axis):
        """A weight, and the name under which its operator sees it."""
        name = f"w{len(self.weights)}"
        dtypes = [np.float32, np.float16] + ([] if self.for_peer else [ml_dtypes.bfloat16])
        array = self.array(shape, axis).astype(dtypes[self.rng.integers(len(dtypes))])
        if array.dtype == ml_dtypes.bfloat16 and self.rng.random() < 0.5:
            bits = array.view(np.uint16).flatten().tolist()
            tensor = TensorProto(name=name, data_type=TensorProto.BFLOAT16, dims=shape, int32_data=bits)
        else:
            tensor = numpy_helper.from_array(array, name)
        self.weights.append(tensor)
        if shape[axis] % 4 == 0:
            groups = np.moveaxis(array.astype(np.float64), axis, -1).reshape(-1, 4)
            self.truth[name] = (axis, bool(((groups == 0).sum(-1) >= 2).all()))
        return name

    def operand(self, shape, axis):
        """An operand of this shape that is made of a weight, seen through some nodes."""
        axis %= len(shape)
        form = self.rng.choice(["plain", "cast", "qdq", "transpose"])
        if form == "transpose" and len(shape) > 1 and (len(shape) == 2 or not self.for_peer):
            perm = [int(i) for i in self.rng.permutation(len(shape))]
            source = [0] * len(shape)
            for place, axis_in in enumerate(perm):
                source[axis_in] = shape[place]
            return self.node("Transpose", [self.add_weight(source, perm[axis])], perm=perm)
        name = self.add_weight(shape, axis)
        if form == "cast":
            return self.node("Cast", [name], to=TensorProto.FLOAT)
        if form == "qdq":
            scale = self.constant(np.float32(0.5))
            zero = self.constant(np.int8(0))
            return self.node("DequantizeLinear", [self.node("QuantizeLinear", [name, scale, zero]), scale, zero])
        return name

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], f"n{len(self.nodes)}", **attributes))
        return name

    def dim(self):
        return int(self.rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 70]))

    def add_operator(self, number):
        x = f"x{number}"
        self.inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, None))
        rank = 2 if self.for_peer else int(self.rng.integers(2, 5))
        shape = [self.dim() if i >= rank - 2 else 2 for i in range(rank)]
        kind = self.rng.choice(["Conv", "MatMul first", "MatMul second", "Gemm first", "Gemm second"])
        transposed = int(self.rng.integers(2))
        if kind == "Conv":
            y = self.node("Conv", [x, self.operand([self.dim(), self.dim(), 3, 1], 1)])
        elif kind == "MatMul first":
            y = self.node("MatMul", [self.operand(shape, -1), x])
        elif kind == "MatMul second":
            y = self.node("MatMul", [x, self.operand(shape, -2)])
        elif kind == "Gemm first":
            y = self.node("Gemm", [self.operand([self.dim(), self.dim()], 0 if transposed else 1), x], transA=transposed)
        else:
            y = self.node("Gemm", [x, self.operand([self.dim(), self.dim()], 1 if transposed else 0)], transB=transposed)
        self.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))

    def model(self):
        for number in range(int(self.rng.integers(1, 6))):
            self.add_operator(number)
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def peer(model):
    """name -> (axis, whether it is sparse) as Polygraphy finds it."""
    found = {}
    original = sparse.process_tensor

    def record(info, tensor, check):
        result = original(info, tensor, check)
        found[info.name] = (info.axis, result)
        return result

    sparse.process_tensor = record
    try:
        sparse.SparsityPruner(model).check()
    finally:
        sparse.process_tensor = original
    return found


def ours(program, path):
    run = subprocess.run([program, "inspect", "sparsity", path, "--json", "-"], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    lines = {line.split(": ")[1]: "non-sparse" not in line for line in run.stderr.splitlines() if "sparse tensor" in line}
    assert lines == {tensor["name"]: tensor["sparse"] for tensor in report["tensors"]}, run.stderr
    return {tensor["name"]: (tensor["axis"], tensor["sparse"]) for tensor in report["tensors"]}


def main():
    program = sys.argv[1]
    wrong = compared = sparse_count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        for number in range(MODELS):
            maker = ModelMaker(np.random.default_rng([SEED, number]), for_peer=number % 2 == 0)
            model = maker.model()
            onnx.save(model, path)
            found = ours(program, path)
            with np.errstate(over="ignore"):  # the peer writes the largest double into float16
                expected = [maker.truth] + ([peer(model)] if maker.for_peer else [])
            compared += len(maker.truth)
            sparse_count += sum(result for _, result in maker.truth.values())
            if any(found != truth for truth in expected):
                wrong += 1
                print(f"ASSAY_SEED={SEED} model {number}: found {found}, expected {expected}")
    print(f"{MODELS} models, {compared} weights, {sparse_count} of them sparse, {wrong} wrong")
    return 1 if wrong or sparse_count < compared // 5 or sparse_count == compared else 0


if __name__ == "__main__":
    sys.exit(main())
