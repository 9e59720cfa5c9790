"""`assay run` beside the peer and NumPy: the made-up inputs are those of Polygraphy's data loader for the same seed, and
the statistics of outputs are NumPy's."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.common import TensorMetadata
from polygraphy.comparator import DataLoader
from polygraphy.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.ERROR
ASSAY = os.environ["ASSAY"]
TYPES = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.FLOAT16: np.float16,
         TensorProto.INT8: np.int8, TensorProto.UINT8: np.uint8, TensorProto.INT16: np.int16,
         TensorProto.UINT16: np.uint16, TensorProto.INT32: np.int32, TensorProto.UINT32: np.uint32,
         TensorProto.INT64: np.int64, TensorProto.UINT64: np.uint64, TensorProto.BOOL: np.bool_}
SHAPES = [(), (1, 1), (7,), (3, 5), (2, 1, 33, 4), (300, 301)]


def identity_model(inputs: list[tuple[str, int, tuple[int, ...]]]) -> onnx.ModelProto:
    nodes = [helper.make_node("Identity", [name], [f"{name}_out"]) for name, _, _ in inputs]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*item) for item in inputs],
                              [helper.make_tensor_value_info(f"{name}_out", dtype, shape)
                               for name, dtype, shape in inputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class RunTest(unittest.TestCase):
    def outputs(self, model: onnx.ModelProto, *words: str) -> list[dict]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            onnx.save(model, path)
            done = subprocess.run([ASSAY, "run", str(path), "--ref", "--json", "-", *words], capture_output=True,
                                  text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runs"][0]["outputs"]

    def expect_stats(self, stats: dict, array: np.ndarray, what: str):
        values = array.astype(np.float64)
        rtol = max(values.size, 10) * np.finfo(np.float64).eps  # sums may run in another order
        self.assertEqual(stats["count"], values.size, what)
        for key, expected in (("mean", values.mean()), ("std_dev", values.std()), ("variance", values.var()),
                              ("median", np.median(values)), ("mean_magnitude", np.abs(values).mean())):
            self.assertTrue(np.isclose(stats[key], expected, rtol=rtol, atol=1e-15), f"{what}: {key} {stats[key]}")
        self.assertEqual((stats["min"], stats["max"]), (values.min(), values.max()), what)
        self.assertEqual(tuple(stats["min_at"]), np.unravel_index(values.argmin(), values.shape), what)
        self.assertEqual(tuple(stats["max_at"]), np.unravel_index(values.argmax(), values.shape), what)

    def test_inputs_of_a_seed_are_the_peers(self):
        for seed in (0, 1, 42, 2**31 + 5):
            inputs = [(f"x{i}_{j}", dtype, shape) for i, dtype in enumerate(TYPES) for j, shape in enumerate(SHAPES)]
            metadata = TensorMetadata()
            for name, dtype, shape in inputs:
                metadata.add(name, TYPES[dtype], shape)
            loader = DataLoader(seed=seed, input_metadata=metadata)
            loader.input_metadata = metadata
            feeds = loader[0]
            for output in self.outputs(identity_model(inputs), "--seed", str(seed)):
                name = output["name"].removesuffix("_out")
                self.expect_stats(output["stats"], np.asarray(feeds[name]), f"seed {seed}, {name}")

    def test_statistics_with_nan_and_infinity(self):
        constant = helper.make_tensor("c", TensorProto.FLOAT, [5], [1.0, float("nan"), float("inf"), -2.0, 0.5])
        node = helper.make_node("Constant", [], ["y"], value=constant)
        graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        stats = self.outputs(model)[0]["stats"]
        self.assertEqual((stats["nan_count"], stats["inf_count"], stats["mean"], stats["median"], stats["min_at"]),
                         (1, 1, "nan", "nan", [1]))

    def test_fp64_mode_agrees_with_numpy_in_float64(self):
        node = helper.make_node("Exp", ["x"], ["y"])
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [100])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [100])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        x = np.random.RandomState(1).random_sample(100).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            onnx.save(model, path)
            done = subprocess.run([ASSAY, "run", str(path), "--ref-fp64", "--json", "-"], capture_output=True,
                                  text=True, check=True)
        output = json.loads(done.stdout)["runs"][0]["outputs"][0]
        self.assertEqual(output["dtype"], "float32")
        self.expect_stats(output["stats"], np.exp(x.astype(np.float64)), "exp")


if __name__ == "__main__":
    unittest.main()
