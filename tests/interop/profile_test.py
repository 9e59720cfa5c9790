"""Profiles of ONNX Runtime and OpenVINO beside the engine: their layers are those of the libraries' own reports, and
layers of all three stand side by side by the nodes of the model.

    profile_test.py
"""

import json
import os
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, run
from onnx import helper, numpy_helper

ASSAY = os.environ["ASSAY"]


def model():
    random = np.random.default_rng(3)
    weights = {"w": (16, 16, 3, 3), "v": (16 * 64, 32)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Flatten", ["r"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "v"], ["m"], "product"),
        helper.make_node("Softmax", ["m"], ["y"], "last"),
    ]
    values = [helper.make_tensor_value_info("x", 1, [1, 16, 8, 8]), helper.make_tensor_value_info("y", 1, [1, 32])]
    initializers = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
                    for name, shape in weights.items()]
    graph = helper.make_graph(nodes, "net", values[:1], values[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class ProfileTest(InFolder):
    def profile(self, *words):
        run(ASSAY, "profile", self.path / "m.onnx", "--iterations", "4", "--json", self.path / "p.json", *words)
        return json.loads((self.path / "p.json").read_text())

    def setUp(self):
        super().setUp()
        onnx.save(model(), self.path / "m.onnx")

    def test_layers_are_those_of_the_library(self):
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = str(self.path / "own")
        session = onnxruntime.InferenceSession(self.path / "m.onnx", options, providers=["CPUExecutionProvider"])
        session.run(None, {"x": np.zeros((1, 16, 8, 8), np.float32)})
        with open(session.end_profiling()) as file:
            events = json.load(file)
        own = [e["name"].removesuffix("_kernel_time") for e in events if e["name"].endswith("_kernel_time")]
        found = self.profile("--onnxrt")["backends"][0]
        self.assertEqual([layer["name"] for layer in found["layers"]], own)
        self.assertLess(sum(layer["seconds"] for layer in found["layers"]), 60)

    def test_side_by_side(self):
        report = self.profile("--engine", "--onnxrt", "--openvino")
        groups = {origin: group["seconds"] for group in report["groups"] for origin in group["origins"]}
        for origin in ("conv", "product", "last"):
            self.assertEqual(len(groups[origin]), 3)
            self.assertTrue(all(seconds is not None and seconds > 0 for seconds in groups[origin]), (origin, groups))


if __name__ == "__main__":
    unittest.main()
