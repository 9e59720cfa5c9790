"""Verdicts about what samples pictures that are sharp, where roundings of places count: ONNX Runtime's Resize, GridSample
and RoiAlign, also within a Loop, are accused of nothing, and a place that is half a pixel off is found."""

import os
import subprocess

import numpy as np
import onnx
from in_folder import InFolder, unittest
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
PICTURE = [1, 3, 50, 37]


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def model(nodes, constants, steepness=40, inputs=PICTURE):
    """A sharp picture `m`, nodes that make `r` of it, and a layer behind them."""
    weights = np.random.default_rng(5).normal(size=(2, 3, 3, 3)).astype(np.float32)
    before = [helper.make_node("Conv", ["x", "w"], ["f"], pads=[1] * 4), helper.make_node("Mul", ["f", "k"], ["g"]),
              helper.make_node("Sigmoid", ["g"], ["m"])]
    graph = helper.make_graph([*before, *nodes, helper.make_node("Tanh", ["r"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, inputs)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [constant("w", weights), constant("k", np.float32(steepness)), *constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def resize(mode, coordinates, sizes, **facts):
    node = helper.make_node("Resize", ["m", "", "", "s"], ["r"], mode=mode, coordinate_transformation_mode=coordinates, **facts)
    return model([node], [constant("s", [1, 2, *sizes])])


def grid_sample(mode, steps):
    places = np.random.default_rng(2).integers(-steps, steps, (1, 30, 40, 2)) / steps
    return model([helper.make_node("GridSample", ["m", "p"], ["r"], mode=mode)], [constant("p", places.astype(np.float32))])


def roi_align():
    corner = np.random.default_rng(3).uniform(0, 300, (20, 2))
    regions = np.concatenate([corner, corner + 60], axis=1).astype(np.float32)
    node = helper.make_node("RoiAlign", ["m", "c", "i"], ["r"], output_height=7, output_width=7, sampling_ratio=2,
                            spatial_scale=0.125)
    return model([node], [constant("c", regions), constant("i", np.zeros(20, np.int64))])


def masks_in_a_loop():
    """As a network for instances puts its masks into a picture."""
    count, random = 6, np.random.default_rng(1)
    sizes, room = random.integers(20, 60, (count, 2)), 128
    corners = np.stack([random.integers(0, room - sizes[:, 0]), random.integers(0, room - sizes[:, 1])], axis=1)
    pads = np.zeros((count, 8), np.int64)
    pads[:, 2:4], pads[:, 6:8] = corners, room - sizes - corners
    body = helper.make_graph(
        [helper.make_node("Gather", ["m", "i"], ["mask"]), helper.make_node("Unsqueeze", ["mask", "first"], ["picture"]),
         helper.make_node("Gather", ["sizes", "i"], ["size"]), helper.make_node("Concat", ["front", "size"], ["all"], axis=0),
         helper.make_node("Resize", ["picture", "", "", "all"], ["large"], mode="linear"),
         helper.make_node("Gather", ["pads", "i"], ["pad"]), helper.make_node("Pad", ["large", "pad"], ["whole"]),
         helper.make_node("Squeeze", ["whole", "first"], ["o"]), helper.make_node("Identity", ["go"], ["goes"])],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("goes", TensorProto.BOOL, []), helper.make_tensor_value_info("o", TensorProto.FLOAT, None)])
    constants = [constant("sizes", sizes), constant("pads", pads), constant("first", [0]), constant("front", [1, 2]),
                 constant("n", count), constant("t", True)]
    return model([helper.make_node("Loop", ["n", "t"], ["r"], body=body)], constants, 9, [count, 3, 28, 28])


INNOCENT = {
    "linear": resize("linear", "half_pixel", [83, 20]), "cubic": resize("cubic", "align_corners", [71, 64]),
    # 10.5 / 0.7 - 0.5 is 14.5, between two pixels; float32 has 0.7 a little otherwise.
    "tie": resize("nearest", "pytorch_half_pixel", [35, 78]), "whole places": resize("nearest", "asymmetric", [35, 111], nearest_mode="floor"),
    "grid": grid_sample("linear", 1000), "grid with ties": grid_sample("nearest", 20), "regions": roi_align(),
    "masks in a loop": masks_in_a_loop()}


class SamplingVerdicts(InFolder):
    def test_nobody_is_accused(self):
        for name, made in INNOCENT.items():
            for seed in range(4):
                with self.subTest(name, seed=seed):
                    path = self.save(made)
                    words = [ASSAY, "debug", "accuracy", path, "--onnxrt", "--against", "engine", "--seed", seed]
                    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_other_places_are_found(self):
        pairs = [("linear", "half_pixel", "asymmetric"), ("nearest", "half_pixel", "align_corners"), ("nearest", "half_pixel", "asymmetric")]
        for mode, right, wrong in pairs:
            with self.subTest(mode, wrong=wrong):
                golden = self.path / "golden.json"
                self.save(resize(mode, wrong, [83, 61]), "wrong.onnx")
                self.save(resize(mode, right, [83, 61]), "right.onnx")
                words = [ASSAY, "run", self.path / "wrong.onnx", "--onnxrt", "--save-outputs", golden]
                subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=600)
                words = [ASSAY, "run", self.path / "right.onnx", "--onnxrt", "--load-outputs", golden, "--tolerance", "auto"]
                result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
