"""Convolutions of pictures of one column, which the engine looks at as lines: each kernel that computes them gives what
ONNX Runtime gives, bit by bit, since all sums are whole numbers.

    engine_columns_test.py RUN_TOOL
"""

import sys
import unittest

import numpy as np
import onnxruntime
from engine_graphs import EngineCase, Graph
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
DRAWS = 300


def whole(random, *shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def column(seed):
    """A Conv or ConvTranspose; None: it would have no result."""
    graph = Graph(seed)
    random = graph.random
    is_transposed = seed % 3 == 0
    groups = int(random.choice([1, 1, 2, 4]))
    channels, filters = (groups * int(random.choice(each)) for each in ([1, 3, 4, 8, 16], [1, 4, 8, 24]))
    height, kernel, stride, across, dilation = (int(random.integers(1, most)) for most in (15, 5, 6, 5, 3))
    pads = [int(n) for n in random.choice([0, 0, 1], 2)]
    reach = (kernel - 1) * dilation + 1
    rows = stride * (height - 1) + reach - sum(pads) if is_transposed else (height + sum(pads) - reach) // stride + 1
    if rows < 1 or not is_transposed and height + sum(pads) < reach:
        return None
    x = graph.input(int(random.integers(1, 3)), channels, height, 1)
    graph.feeds[x] = whole(random, *graph.feeds[x].shape)
    each = filters // groups if is_transposed else channels // groups
    weights = graph.constant(whole(random, channels if is_transposed else filters, each, kernel, 1))
    y = graph.add("ConvTranspose" if is_transposed else "Conv", [x, weights], [graph.feeds[x].shape[0], filters, rows, 1],
                  kernel_shape=[kernel, 1], strides=[stride, across], dilations=[dilation, 1],
                  pads=[pads[0], 0, pads[1], 0], group=groups)
    return graph.model([y]), graph.feeds


class ColumnsTest(EngineCase):
    tool = RUN_TOOL

    def test_random_columns(self):
        for made in filter(None, map(column, range(DRAWS))):
            model, feeds = made
            expected = onnxruntime.InferenceSession(model.SerializeToString(),
                                                    providers=["CPUExecutionProvider"]).run(None, feeds)[0]
            for way in ("engine+threads=1", "engine+threads=1+tactic-sources=conv.onednn"):
                with self.subTest(way=way, node=model.graph.node[0], shape=feeds["x0"].shape):
                    np.testing.assert_array_equal(self.ask(model, feeds, way)[0], expected)


if __name__ == "__main__":
    unittest.main()
