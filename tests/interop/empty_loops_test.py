"""Loops that end before their first iteration: what they would collect has the same shape on the reference, the engine
and ONNX Runtime, whether bodies declare it or not.

    empty_loops_test.py RUN_TOOL
"""

import itertools
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from engine_graphs import EngineCase
from onnx import TensorProto, helper
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
DECLARED = {"dims": [2, 3], "a name": ["n", 3], "the type": None, "nothing": ()}
# Nodes of a body, whether `c` goes around.
BODIES = {
    "from outside": ([("Add", ["x", "x"], "z")], False),
    "by a size from outside": ([("Shape", ["x"], "s"), ("Expand", ["x", "s"], "z")], False),
    "what goes around": ([("Add", ["c", "c"], "d"), ("Neg", ["d"], "z")], True),
    "its input": ([("Neg", ["c"], "d"), ("Identity", ["c"], "z")], True),
}


def info(name, dims):
    if dims == ():
        return onnx.ValueInfoProto(name=name)
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def loop(nodes, goes_around, dims):
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, []),
              helper.make_tensor_value_info("go", TensorProto.BOOL, [])]
    inputs += [info("c", [2, 3])] if goes_around else []
    outputs = [onnx.ValueInfoProto(name="goes"), *([info("d", dims)] if goes_around else []), info("z", dims)]
    made = [helper.make_node(op, operands, [name]) for op, operands, name in nodes]
    body = helper.make_graph([*made, helper.make_node("Identity", ["go"], ["goes"])], "body", inputs, outputs)
    node = helper.make_node("Loop", ["n", "", *(["x"] if goes_around else [])], [*(["last"] if goes_around else []), "all"],
                            body=body)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
                                            helper.make_tensor_value_info("n", TensorProto.INT64, [])],
                              [helper.make_tensor_value_info("all", TensorProto.FLOAT, None)])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


class EmptyLoopsTest(EngineCase):
    tool = RUN_TOOL

    def test_shapes(self):
        for (kind, (nodes, goes_around)), (declares, dims) in itertools.product(BODIES.items(), DECLARED.items()):
            with self.subTest(kind, declares=declares):
                model = loop(nodes, goes_around, dims)
                for count in (0, 2):
                    feeds = {"x": np.ones((2, 3), np.float32), "n": np.array(count)}
                    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
                    expected = session.run(None, feeds)[0]
                    for way in ("ref", "engine"):
                        np.testing.assert_array_equal(self.ask(model, feeds, way)[0], expected, err_msg=way)


if __name__ == "__main__":
    unittest.main()
