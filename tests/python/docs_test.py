"""The code in docs/python.md runs as it stands, from the first block to the last."""

import pathlib
import re

import checks
import numpy as np
import onnx
from onnx import helper, numpy_helper

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_code_of_the_page_runs():
    weight = numpy_helper.from_array(np.ones((3, 4), np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    onnx.save(checks.model(nodes, [("x", 1, ["N", 3])], [("y", 1, ["N", 4])], [weight]), "model.onnx")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(blocks) >= 5
    names = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert [each.op_type for each in onnx.load("leaky.onnx").graph.node] == ["MatMul", "LeakyRelu"]


if __name__ == "__main__":
    checks.run_all(globals())
