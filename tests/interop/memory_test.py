"""`assay inspect model --memory` beside a count in Python over random graphs, and beside sizes known by hand."""

import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import decoders

ASSAY = os.environ["ASSAY"]
FLOAT = TensorProto.FLOAT


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def random_graph(seed):
    """Unary and binary nodes over rows of several widths, and Concats; bytes of each value."""
    rng = random.Random(seed)
    widths, nodes = {"x": 8}, []
    for number in range(rng.randint(3, 25)):
        name, operand = f"v{number}", rng.choice(list(widths))
        kind = rng.choice(["Relu", "Add", "Concat", "Exp"])
        operands = [operand]
        if kind == "Add":
            operands.append(rng.choice([other for other in widths if widths[other] == widths[operand]]))
        if kind == "Concat":
            operands.append(rng.choice(list(widths)))
        widths[name] = widths[operand] + (widths[operands[1]] if kind == "Concat" else 0)
        if widths[name] > 4096:
            kind, operands, widths[name] = "Relu", [operand], widths[operand]
        attributes = {"axis": 1} if kind == "Concat" else {}
        nodes.append(helper.make_node(kind, operands, [name], f"n{number}", **attributes))
    outputs = list(widths)[-1:] + rng.sample(list(widths)[1:-1], min(1, len(widths) - 2))
    return nodes, widths, outputs


def peak_of(nodes, widths, outputs):
    """The most bytes of one row, each value living from its node to its last reader."""
    most = 0
    for place in range(len(nodes)):
        alive = 0
        for made, node in enumerate(nodes[:place + 1]):
            name = node.output[0]
            is_read = any(name in later.input for later in nodes[place:])
            if made == place or is_read or name in outputs:
                alive += 4 * widths[name]
        most = max(most, alive)
    return most


class MemoryTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_on(self, model, *words):
        onnx.save(model, self.folder / "m.onnx")
        return subprocess.run([ASSAY, "inspect", "model", "m.onnx", "--memory", "--json", "r.json", *map(str, words)],
                              capture_output=True, text=True, cwd=self.folder)

    def memory(self, model, *words, status=0):
        done = self.run_on(model, *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.text = done.stdout
        return json.loads((self.folder / "r.json").read_text())["memory"]

    def test_peaks_of_random_graphs(self):
        for seed in range(40):
            nodes, widths, outputs = random_graph(seed)
            model = model_of(nodes, [info("x", ["rows", 8])], [info(name, ["rows", widths[name]]) for name in outputs])
            expected = peak_of(nodes, widths, outputs)
            found = self.memory(model, "--input-shapes", "x:[3,8]")
            self.assertEqual([peak["bytes"] for peak in found["peaks"]], [f"{expected}*rows"], f"seed {seed}")
            self.assertEqual((found["at"]["bytes"], found["input_bytes"]), (3 * expected, "32*rows"), f"seed {seed}")
            self.assertEqual(found["total_bytes"], 3 * expected + 3 * 32)

    def test_views_take_nothing_and_bodies_count_where_they_run(self):
        shape = numpy_helper.from_array(np.array([-1], np.int64), "shape")
        body = helper.make_graph([helper.make_node("Concat", ["r", "r", "r"], ["c"], axis=0),
                                  helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0)], "body", [], [info("s", [])])
        nodes = [helper.make_node("Relu", ["x"], ["a"], "first"), helper.make_node("Reshape", ["a", "shape"], ["r"]),
                 helper.make_node("If", ["b"], ["y"], "if", then_branch=body, else_branch=body)]
        model = model_of(nodes, [info("x", [10, 10]), info("b", [], TensorProto.BOOL)], [info("y", [])], [shape])
        found = self.memory(model)
        # a, whose memory r views; y; in the body 300 elements and their sum
        self.assertEqual(found["at"]["bytes"], 400 + 4 + 1200 + 4)

    def test_which_node_has_the_peak_depends_on_sizes(self):
        wide = numpy_helper.from_array(np.zeros((4, 1000), np.float32), "w")
        narrow = numpy_helper.from_array(np.zeros((1000, 1), np.float32), "n")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "n"], ["b"]),
                 helper.make_node("Transpose", ["b"], ["t"]), helper.make_node("MatMul", ["b", "t"], ["y"])]
        model = model_of(nodes, [info("x", ["n", 4])], [info("y", ["n", "n"])], [wide, narrow])
        found = self.memory(model)
        self.assertEqual(len(found["peaks"]), 2, found["peaks"])
        for rows in (2, 10000):
            at = self.memory(model, "--input-shapes", f"x:[{rows},4]")["at"]["bytes"]
            self.assertEqual(at, max(4004 * rows, 4 * rows * rows + 8 * rows))

    def test_caches_of_a_decoder(self):
        model = decoders.Decoder(cache="concat", layers=3, heads=4, width=32).model()
        found = self.memory(model, "--input-shapes", "input_ids:[2,1]", "past*:[2,4,100,8]", "--measure")
        self.assertEqual(found["caches"], {"count": 6, "bytes": "768*batch*past", "bytes_per_token": "768*batch"})
        weights = sum(tensor.nbytes for tensor in map(numpy_helper.to_array, model.graph.initializer))
        self.assertEqual(found["weight_bytes"], weights)
        self.assertIn("total=101", found["sizes"])
        self.assertGreater(found["engine"]["packed_bytes"], weights // 2)
        self.assertIn("Memory of a run", self.text)

    def test_the_engine_is_near_what_is_counted(self):
        model = decoders.Decoder(cache="", layers=2, width=64).model()
        found = self.memory(model, "--input-shapes", "input_ids:[4,32]", "--measure")
        ratio = found["engine"]["arena_bytes"] / found["at"]["bytes"]
        self.assertTrue(0.1 < ratio < 3, ratio)  # it merges layers, and has workspaces

    def test_what_fits(self):
        model = model_of([helper.make_node("Relu", ["x"], ["y"])], [info("x", ["n", 256])], [info("y", ["n", 256])])
        self.memory(model, "--input-shapes", "x:[1024,256]", "--fits", "2M")
        self.memory(model, "--input-shapes", "x:[1025,256]", "--fits", "2M", status=1)
        self.assertTrue(re.search(r"It does not fit: 2099200 of 2097152 bytes", self.text), self.text)

    def test_wrong_words(self):
        model = model_of([helper.make_node("Add", ["x", "z"], ["y"])], [info("x", ["n"]), info("z", ["n"])],
                         [info("y", ["n"])])
        for words, line in ((["--fits", "1G"], "dims of inputs are open"), (["--measure"], "has no size"),
                            (["--input-shapes", "x:[2,2]"], "rank 1"),
                            (["--input-shapes", "x:[2]", "z:[3]"], "dim `n` of input `z` is 3, of another input 2")):
            done = self.run_on(model, *words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}")
            self.assertIn(line, done.stderr)
        done = subprocess.run([ASSAY, "inspect", "model", "m.onnx", "--measure"], capture_output=True, text=True,
                              cwd=self.folder)
        self.assertEqual((done.returncode, "needs --memory" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
