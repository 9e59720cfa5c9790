"""A drawn network with its feeds (for networks.py)."""

import numpy as np
from onnx import helper

from models.faults import Net


class Network(Net):
    """A Net whose feeds are drawn with it."""

    def __init__(self, rng, shape, dtype=np.float32, feeds=None, opset=20):
        super().__init__(rng, shape, dtype)
        self.opset = opset
        self.feeds = {"x": rng.normal(size=shape).astype(dtype)} if feeds is None else feeds

    def integers(self, values):
        return self.constant(values, np.int64)

    def linear(self, width, after, source=None):
        return self.add("MatMul", self.normal(width, after, scale=width ** -0.5), source=source)

    def model(self):
        given = {name: array for name, array in self.weights.items() if not isinstance(array, np.ndarray)}
        self.weights = {name: array for name, array in self.weights.items() if name not in given}
        made = super().model()
        self.weights |= given
        made.graph.initializer.extend(given.values())
        del made.graph.input[:]
        for name, array in self.feeds.items():
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            made.graph.input.append(helper.make_tensor_value_info(name, kind, array.shape))
        made.opset_import[0].version = self.opset
        made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        made.ir_version = 10
        return made
