"""What the engine makes of NaN and infinity in quantizers: the codes that the reference and ONNX Runtime make of them.

    engine_not_numbers_test.py RUN_TOOL
"""

import itertools
import sys
import unittest

import numpy as np
import onnxruntime
from engine_graphs import EngineCase, Graph, floats
from onnx import TensorProto
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
CODES = {np.int8: 3, np.uint8: 120}  # zero points


def spoilt(random, *shape):
    """Floats among which there are NaN and infinity."""
    values = floats(random, *shape) * 3
    flat = values.reshape(-1)
    flat[::5], flat[1::7], flat[2::11] = np.nan, np.inf, -np.inf
    return values


class NotNumbersTest(EngineCase):
    tool = RUN_TOOL

    def check(self, graph, outputs):
        model = graph.model(outputs)
        expected = self.run_ort(model, graph.feeds)
        for way in ("ref", "engine", "engine+strict"):
            self.check_way(model, graph.feeds, way, expected)

    def check_way(self, model, feeds, way, expected):
        for mine, other in zip(self.ask(model, feeds, way), expected, strict=True):
            np.testing.assert_array_equal(mine, other, err_msg=way)

    @staticmethod
    def run_ort(model, feeds):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)

    def quantized(self, graph, x, code, scale):
        shape = graph.shapes[x]
        operands = [x, graph.constant(np.float32(scale)), graph.constant(code(CODES[code]))]
        q = graph.add("QuantizeLinear", operands, shape)
        graph.types[q] = TensorProto.INT8 if code is np.int8 else TensorProto.UINT8
        return q, operands

    def test_quantizers(self):
        for code, columns in itertools.product(CODES, (3, 16, 100)):
            with self.subTest(code=code, columns=columns):
                graph = Graph(columns)
                x = graph.input(4, columns)
                graph.feeds[x] = spoilt(graph.random, 4, columns)
                bounded = graph.add("Relu", [x], [4, columns])
                self.check(graph, [self.quantized(graph, value, code, 0.05)[0] for value in (x, bounded)])

    def test_products_of_codes(self):
        for code in CODES:
            with self.subTest(code=code):
                graph = Graph(1)
                x = graph.input(5, 64)
                graph.feeds[x] = spoilt(graph.random, 5, 64)
                q, (_, scale, zero) = self.quantized(graph, x, code, 0.0625)
                d = graph.add("DequantizeLinear", [q, scale, zero], [5, 64])
                weights = graph.constant(graph.random.integers(-100, 100, (64, 32)).astype(np.int8))
                w = graph.add("DequantizeLinear", [weights, graph.constant(np.float32(2 ** -7))], [64, 32])
                self.check(graph, [self.quantized(graph, graph.add("MatMul", [d, w], [5, 32]), code, 0.5)[0]])

    def test_quantizers_that_find_their_range(self):
        """Numbers that are none do not count; in ONNX Runtime it depends on their places."""
        for count in (5, 40, 321):
            with self.subTest(count=count):
                graph = Graph(count)
                x = graph.input(count)
                graph.feeds[x] = np.where(np.isinf(given := spoilt(graph.random, count)), 1, given).astype(np.float32)
                y = graph.add("DynamicQuantizeLinear", [x], [count])
                graph.nodes[-1].output.extend(["scale", "zero"])
                graph.shapes |= {"scale": [], "zero": []}
                graph.types |= {y: TensorProto.UINT8, "zero": TensorProto.UINT8}
                model = graph.model([y, "scale", "zero"])
                self.check_way(model, graph.feeds, "engine", self.ask(model, graph.feeds, "ref"))


if __name__ == "__main__":
    unittest.main()
