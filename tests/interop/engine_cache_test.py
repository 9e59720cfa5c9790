"""Decoding on the engine beside ONNX Runtime: attention whose keys and values grow by Concat, step by step, as exporters
write it.

    engine_cache_test.py RUN_TOOL
"""

import sys
import unittest

import numpy as np
import onnxruntime
from engine_graphs import EngineCase, Graph, floats
from onnx import helper
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
SEEDS = 40


class Decoder:
    """One attention over inputs, of random sizes and form; what it caches becomes outputs, or does not."""

    def __init__(self, seed):
        self.graph = Graph(seed)
        random = self.graph.random
        self.batch, self.groups, self.sharing = (int(random.integers(1, n)) for n in (3, 4, 4))
        self.depth, self.width = (int(n) for n in random.choice([2, 5, 8, 32, 33, 64], 2))
        self.is_turned = bool(random.random() < 0.4)
        self.outputs = []

    def cached(self, past, fresh, shape, axis):
        both = self.graph.add("Concat", [past, fresh], shape, axis=int(axis - 4 if self.graph.random.random() < 0.3 else axis))
        kind = self.graph.random.integers(0, 5)
        self.outputs += [[both], [both, self.graph.add("Neg", [both], shape)], [], [both], [both]][kind]
        return both

    def repeated(self, x, rows, columns):
        if self.sharing == 1:
            return x
        heads, graph = [self.batch, self.groups * self.sharing, rows, columns], self.graph
        apart = graph.add("Unsqueeze", [x, graph.constant(np.array([2]))], [self.batch, self.groups, 1, rows, columns])
        wide = [self.batch, self.groups, self.sharing, rows, columns]
        wider = graph.add("Expand", [apart, graph.constant(np.array(wide))], wide)
        return graph.add("Reshape", [wider, graph.constant(np.array(heads))], heads)

    def model(self, past, rows):
        graph, keys = self.graph, past + rows
        items, heads = [self.batch, self.groups], self.groups * self.sharing
        q = graph.input(self.batch, heads, rows, self.depth)
        fresh = graph.input(self.batch, rows, self.groups, self.depth)  # as a product gives it
        turned = [0, 2, 3, 1] if self.is_turned else [0, 2, 1, 3]
        shape = [*items, *((self.depth, rows) if self.is_turned else (rows, self.depth))]
        k = graph.add("Transpose", [fresh], shape, perm=turned)
        sizes = (self.depth, past) if self.is_turned else (past, self.depth)
        all_sizes = (self.depth, keys) if self.is_turned else (keys, self.depth)
        k = self.cached(graph.input(*items, *sizes), k, [*items, *all_sizes], 3 if self.is_turned else 2)
        v = self.cached(graph.input(*items, past, self.width), graph.input(*items, rows, self.width),
                        [*items, keys, self.width], 2)
        k, v = self.repeated(k, *all_sizes), self.repeated(v, keys, self.width)
        if not self.is_turned:
            k = graph.add("Transpose", [k], [self.batch, heads, self.depth, keys], perm=[0, 1, 3, 2])
        scores = graph.add("MatMul", [q, k], [self.batch, heads, rows, keys])
        scores = graph.add("Mul", [scores, graph.constant(np.float32(self.depth ** -0.5))], [self.batch, heads, rows, keys])
        mask = np.triu(np.full((rows, keys), -np.inf, np.float32), past + 1)
        scores = graph.add("Add", [scores, graph.constant(mask)], [self.batch, heads, rows, keys])
        weights = graph.add("Softmax", [scores], [self.batch, heads, rows, keys], axis=-1)
        y = graph.add("MatMul", [weights, v], [self.batch, heads, rows, self.width])
        model = graph.model([y, *self.outputs])
        model.opset_import[0].version = 17
        return model


class EngineCacheTest(EngineCase):
    tool = RUN_TOOL

    def check(self, model, feeds, backend="engine", tolerance=2e-5):
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, feeds)
        for output, mine, other in zip(model.graph.output, self.ask(model, feeds, backend), expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=10 * tolerance, atol=tolerance, err_msg=output.name)

    def test_random_decoders(self):
        for seed in range(SEEDS):
            random = np.random.default_rng(seed)
            past, rows = int(random.choice([0, 1, 31, 127, 300])), int(random.choice([1, 1, 2, 4, 7, 150]))
            with self.subTest(seed, past=past, rows=rows):
                decoder = Decoder(seed)
                model = decoder.model(past, rows)
                self.check(model, decoder.graph.feeds)
                self.check(model, decoder.graph.feeds, "engine+bf16", 4e-2)

    def test_what_a_run_caches_is_the_past_of_the_next(self):
        """The dims of the past are open, so each step has a plan of its own."""
        nodes = [helper.make_node("Concat", ["pk", "nk"], ["k"], axis=2), helper.make_node("Concat", ["pv", "nv"], ["v"], axis=2),
                 helper.make_node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "t"], ["s"]),
                 helper.make_node("Softmax", ["s"], ["w"], axis=-1), helper.make_node("MatMul", ["w", "v"], ["y"])]
        value = [helper.make_tensor_value_info(name, 1, [2, 3, dim, 16]) for name, dim in
                 (("q", 1), ("nk", 1), ("nv", 1), ("pk", "past"), ("pv", "past"), ("y", 1), ("k", "all"), ("v", "all"))]
        graph = helper.make_graph(nodes, "g", value[:5], value[5:])
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        random = np.random.default_rng(1)
        past = {name: floats(random, 2, 3, 0, 16) for name in ("pk", "pv")}
        for _ in range(6):
            feeds = {name: floats(random, 2, 3, 1, 16) for name in ("q", "nk", "nv")} | past
            self.check(model, feeds)
            _, k, v = self.ask(model, feeds)
            np.testing.assert_array_equal(k, np.concatenate([feeds["pk"], feeds["nk"]], 2))
            np.testing.assert_array_equal(v, np.concatenate([feeds["pv"], feeds["nv"]], 2))
            past = {"pk": k, "pv": v}


if __name__ == "__main__":
    unittest.main()
