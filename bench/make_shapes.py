"""A transformer as exporters write it, with shapes computed in the graph from those of its inputs."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS = 64, 4


class Builder:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def op(self, kind: str, *inputs: str, **attributes) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"n{self.count}", **attributes))
        return name

    def constant(self, values, dtype=np.int64) -> str:
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant(np.full(shape, 0.01), np.float32)

    def size(self, value: str, axis: int) -> str:
        return self.op("Gather", self.op("Shape", value), self.constant(axis), axis=0)

    def shape(self, *sizes: str | int) -> str:
        parts = [self.constant([size]) if isinstance(size, int) else self.op("Unsqueeze", size, self.constant([0]))
                 for size in sizes]
        return self.op("Concat", *parts, axis=0)


def attention(b: Builder, x: str) -> str:
    batch, sequence = b.size(x, 0), b.size(x, 1)
    head = b.op("Div", b.size(x, 2), b.constant(HEADS))

    def split(value: str) -> str:
        return b.op("Transpose", b.op("Reshape", value, b.shape(batch, sequence, HEADS, head)), perm=[0, 2, 1, 3])

    query, key, value = (split(b.op("MatMul", x, b.weight(HIDDEN, HIDDEN))) for _ in range(3))
    scores = b.op("MatMul", query, b.op("Transpose", key, perm=[0, 1, 3, 2]))
    mask = b.op("ConstantOfShape", b.shape(batch, 1, sequence, sequence))
    mixed = b.op("MatMul", b.op("Softmax", b.op("Add", scores, mask), axis=-1), value)
    merged = b.op("Transpose", mixed, perm=[0, 2, 1, 3])
    flat = b.op("Reshape", merged, b.shape(batch, sequence, b.op("Mul", head, b.constant(HEADS))))
    rows = b.op("Reshape", flat, b.constant([-1, HIDDEN]))
    dense = b.op("Gemm", rows, b.weight(HIDDEN, HIDDEN))
    return b.op("Reshape", dense, b.op("Shape", x))


def transformer(blocks: int) -> onnx.ModelProto:
    b = Builder()
    x = b.op("Gather", b.weight(100, HIDDEN), "ids")
    places = b.op("Range", b.constant(0), b.size("ids", 1), b.constant(1))
    x = b.op("Add", x, b.op("Expand", b.op("Gather", b.weight(512, HIDDEN), places), b.op("Shape", x)))
    for _ in range(blocks):
        x = b.op("Add", attention(b, x), x)
    last = b.op("Slice", x, b.constant([-1]), b.constant([2**63 - 1]), b.constant([1]))
    both = b.op("Concat", last, x, axis=1)
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "sequence"])]
    outputs = [helper.make_tensor_value_info(both, TensorProto.FLOAT, ["batch", "rows", HIDDEN])]
    graph = helper.make_graph(b.nodes, "shapes", inputs, outputs, b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
