"""Verdicts about convolutions that the engine computes by Winograd's forms: weights with heavy tails, and data of which few
channels are much larger than the others, accuse neither the engine nor ONNX Runtime."""

import os
import subprocess

import numpy as np
import onnx
from in_folder import InFolder, unittest
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ.get("ASSAY", "assay")  # bench/winograd.py draws its models here
SIZES = ((64, 28), (64, 56), (128, 28))
PICTURES = 8  # channels of the input
WEIGHTS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "t(3)": lambda random, shape: random.standard_t(3, size=shape),
    "t(2)": lambda random, shape: random.standard_t(2, size=shape),
    "Cauchy": lambda random, shape: random.standard_cauchy(size=shape),
    "2% large": lambda random, shape: random.normal(size=shape) * np.where(random.random(shape) < 0.02, 20, 1)}


def convolution(channels, size, kind, has_large_channels, seed):
    """A convolution 3 x 3 of what Relu leaves of mixed inputs; two of its channels may be 20 times larger."""
    random = np.random.default_rng(seed)
    weights = WEIGHTS[kind](random, (channels, channels, 3, 3)) / np.sqrt(9 * channels)
    scales = np.ones((1, channels, 1, 1))
    if has_large_channels:
        scales[0, random.choice(channels, 2, replace=False)] = 20
    mix = random.normal(size=(channels, PICTURES, 3, 3)) / np.sqrt(PICTURES)
    constants = {"w": weights, "s": scales, "m": mix, "half": 0.5}
    nodes = [helper.make_node("Sub", ["x", "half"], ["centred"]), helper.make_node("Conv", ["centred", "m"], ["mixed"], pads=[1] * 4),
             helper.make_node("Relu", ["mixed"], ["positive"]), helper.make_node("Mul", ["positive", "s"], ["scaled"]),
             helper.make_node("Conv", ["scaled", "w"], ["y"], pads=[1] * 4)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, PICTURES, size, size])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.asarray(values, np.float32), name) for name, values in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


class WinogradVerdicts(InFolder):
    def expect_success(self, *words):
        result = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_nobody_is_accused(self):
        for kind in WEIGHTS:
            for channels, size in SIZES:
                for has_large_channels in (False, True):
                    for seed in range(2):
                        with self.subTest(kind, channels=channels, size=size, has_large_channels=has_large_channels, seed=seed):
                            path = self.save(convolution(channels, size, kind, has_large_channels, seed))
                            self.expect_success("run", path, "--engine", "--onnxrt", "--tolerance", "auto")
                            self.expect_success("debug", "accuracy", path, "--onnxrt", "--against", "engine")


if __name__ == "__main__":
    unittest.main()
