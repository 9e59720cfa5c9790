"""Graphs that grow node by node, and what asks the engine for their outputs."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def floats(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


class Graph:
    """A graph that grows by nodes whose operands exist."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes, self.feeds = [], [], {}, {}
        self.types = {}  # of what is not float32

    def input(self, *shape):
        name = f"x{len(self.feeds)}"
        self.feeds[name] = floats(self.random, *shape)
        self.shapes[name] = list(shape)
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, op, operands, shape, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], f"n{len(self.nodes)}", **attributes))
        self.shapes[name] = list(shape)
        return name

    def model(self, outputs):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
                  for name, value in self.feeds.items()]
        results = [helper.make_tensor_value_info(name, self.types.get(name, TensorProto.FLOAT), self.shapes[name])
                   for name in outputs]
        graph = helper.make_graph(self.nodes, "g", inputs, results, self.constants)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class EngineCase(unittest.TestCase):
    """Asks the engine; `tool` is the program that runs models."""

    tool = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def ask(self, model, feeds, backend="engine"):
        path = self.folder / "m.onnx"
        onnx.save(model, path)
        for i, value in enumerate(model.graph.input):
            (self.folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(feeds[value.name]).SerializeToString())
        answer = self.tool.ask("\t".join([str(path), str(self.folder), str(self.folder), backend]))
        self.assertTrue(answer.startswith("ok"), answer)
        tensors = [onnx.TensorProto.FromString((self.folder / f"output_{i}.pb").read_bytes())
                   for i in range(len(model.graph.output))]
        return [numpy_helper.to_array(tensor) for tensor in tensors]
