"""Products by matrices that indices choose, as mixtures of experts have them: the engine gives what ONNX Runtime gives, bit by
bit, since all sums are whole numbers, in one layer, and says which index is out of range.

    engine_experts_test.py RUN_TOOL
"""

import json
import os
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from engine_graphs import EngineCase, Graph
from onnx import TensorProto
from random_ops.sides import Tool

RUN_TOOL, ASSAY = Tool(sys.argv.pop(1)), os.environ["ASSAY"]
DRAWS = 60


def whole(random, *shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def experts(seed, items=None, outside=False):
    graph = Graph(seed)
    random = graph.random
    is_right = seed % 2 == 0
    count, most = int(random.integers(1, 6)), int(random.choice([3, 40, 700]))
    items = items or int(random.integers(1, most))
    depth, columns = (int(random.choice([1, 5, 16, 64, 300, 520])) for _ in range(2))
    rows = int(random.integers(1, 4)) if is_right else 1
    x = graph.input(1 if seed % 5 == 0 else items, *((rows, depth) if is_right else (depth, 1)))
    graph.feeds[x] = whole(random, *graph.feeds[x].shape)
    chosen = graph.input(items)
    graph.feeds[chosen] = random.integers(-count, count, items).astype(np.float32)
    if outside:
        graph.feeds[chosen][items // 2] = count
    index = graph.add("Cast", [chosen], [items], to=TensorProto.INT32 if seed % 3 == 0 else TensorProto.INT64)
    matrices = graph.constant(whole(random, count, *((depth, columns) if is_right else (columns, depth))))
    if seed % 4 < 2:
        gathered = graph.add("Gather", [matrices, index], [])
    else:
        if seed % 3 == 0:
            index = graph.add("Cast", [index], [items], to=TensorProto.INT64)
        gathered = graph.add("GatherND", [matrices, graph.add("Unsqueeze", [index, graph.constant(np.array([1]))], [])], [])
    operands = [x, gathered] if is_right else [gathered, x]
    y = graph.add("MatMul", operands, [items, *((rows, columns) if is_right else (columns, 1))])
    return graph.model([y]), graph.feeds


class ExpertsTest(EngineCase):
    tool = RUN_TOOL

    def layers(self, model):
        onnx.save(model, self.folder / "m.onnx")
        subprocess.run([ASSAY, "profile", self.folder / "m.onnx", "--engine", "--iterations", "1", "--json",
                        self.folder / "p.json", "-q"], check=True, capture_output=True)
        return [layer["op"] for layer in json.loads((self.folder / "p.json").read_text())["backends"][0]["layers"]]

    def test_random_experts(self):
        for seed in range(DRAWS):
            model, feeds = experts(seed)
            expected = onnxruntime.InferenceSession(model.SerializeToString(),
                                                    providers=["CPUExecutionProvider"]).run(None, feeds)[0]
            for threads in (1, 3):
                with self.subTest(seed=seed, shape=feeds["x0"].shape):
                    np.testing.assert_array_equal(self.ask(model, feeds, f"engine+threads={threads}")[0], expected)

    def test_they_are_one_layer(self):
        for seed in range(4):
            model, _ = experts(seed)
            self.assertTrue(any(op.startswith("product.selected") for op in self.layers(model)), self.layers(model))

    def test_matrices_that_others_read_are_gathered(self):
        model, feeds = experts(2, items=3)
        gathered = model.graph.node[-1].input[1]
        model.graph.output.append(onnx.ValueInfoProto(name=gathered))
        model = onnx.shape_inference.infer_shapes(model)
        self.assertFalse(any(op.startswith("product.selected") for op in self.layers(model)))
        expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
        for seen, wanted in zip(self.ask(model, feeds), expected):
            np.testing.assert_array_equal(seen, wanted)

    def test_an_index_out_of_range(self):
        for seed in (0, 1, 2, 3):
            model, feeds = experts(seed, items=5, outside=True)
            with self.assertRaisesRegex(AssertionError, "is out of range, it must be from"):
                self.ask(model, feeds)


if __name__ == "__main__":
    unittest.main()
