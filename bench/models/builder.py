"""Collects the nodes and weights of one graph. Names are numbered in the order in which they are asked for, and weights
come from one random stream, so that the same network is always the same file."""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSETS = {"": 13, "ai.onnx.ml": 3, "com.microsoft": 1}
IR_VERSION = 8
MOST_IN_ONE_FILE = 1_900_000_000  # bytes


class Builder:
    def __init__(self):
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.names = 0
        self.giga_macs = 0.0

    def unique(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}_{self.names}"

    def weight(self, array, prefix: str = "w") -> str:
        name = self.unique(prefix)
        array = np.asarray(array)
        # ascontiguousarray would turn a scalar into a vector
        array = array if array.ndim == 0 else np.ascontiguousarray(array)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def f32(self, value) -> str:
        return self.weight(np.float32(value))

    def int64s(self, *values: int) -> str:
        return self.weight(np.array(values, np.int64))

    def zeros(self, count: int, prefix: str = "w") -> str:
        return self.weight(np.zeros(count, np.float32), prefix)

    def op(self, op_type: str, inputs: list[str], **attributes) -> str:
        return self.op_with_outputs(1, op_type, inputs, **attributes)[0]

    def op_with_outputs(self, count: int, op_type: str, inputs: list[str], **attributes) -> list[str]:
        outputs = [self.unique(op_type.lower()) for _ in range(count)]
        self.nodes.append(helper.make_node(op_type, inputs, outputs, name=self.unique("n_" + op_type), **attributes))
        return outputs

    def name_output(self, name: str, node: int = -1) -> str:
        """Gives the output of a node, the last one by default, another name."""
        self.nodes[node].output[0] = name
        return name

    def random_weight(self, *shape: int, fan: int | None = None) -> np.ndarray:
        fan = fan or int(np.prod(shape[1:]))
        return self.random.standard_normal(shape, dtype=np.float32) * np.float32((2.0 / fan) ** 0.5)

    def save(self, path: str, inputs: list, outputs: list) -> None:
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.initializers)
        imports = [helper.make_opsetid(domain, OPSETS[domain]) for domain in sorted({"", *(node.domain for node in self.nodes)})]
        model = helper.make_model(graph, opset_imports=imports)
        model.ir_version = IR_VERSION
        if sum(len(weight.raw_data) for weight in self.initializers) > MOST_IN_ONE_FILE:
            onnx.save(model, path, save_as_external_data=True, location=pathlib.Path(path).stem + ".weights")
        else:
            onnx.save(model, path)
        print(pathlib.Path(path).stem, len(self.nodes), "nodes", round(self.giga_macs, 2), "GMAC")


def floats(name: str, shape: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def integers(name: str, shape: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)
