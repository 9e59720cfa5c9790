"""Frozen graphs, SavedModels and TFLite files: listed by `inspect model`, run by OpenVINO, and one network in three
formats with one result. Files are made here, from the published schemas; TensorFlow is not needed."""

import json
import os
import random
import unittest

import numpy as np
import onnx
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper
from tensorflow_files import WEIGHTS, Lite, frozen_graph, function, saved_model, tflite, variables_index

ASSAY = os.environ["ASSAY"]


class TensorFlow(InFolder):
    def write(self, name, data):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def write_all(self):
        self.write("saved/saved_model.pb", saved_model())
        return [self.write("net.pb", frozen_graph()), self.path / "saved", self.write("net.tflite", tflite())]

    def listing(self, path, *words):
        told = run(ASSAY, "inspect", "model", path, "--json", "-", *words)
        return json.loads(told[told.index("{"):told.rindex("}") + 1])

    def test_listings(self):
        graph, saved, lite = self.write_all()
        found = self.listing(graph, "--show", "layers")
        self.assertEqual((found["kind"], found["version"]), ("frozen graph", "graph 1395"))
        self.assertEqual(found["op_histogram"], {"Const": 1, "MatMul": 1, "Placeholder": 1, "Relu": 1})
        self.assertEqual(found["graphs"][0]["inputs"], [{"name": "x", "dtype": "float32", "shape": [2, 3]}])
        self.assertEqual(found["graphs"][0]["nodes"][2]["inputs"], ["x", "w"])
        found = self.listing(saved)
        self.assertEqual((found["kind"], found["version"]), ("SavedModel", "TensorFlow 2.21.0"))
        self.assertEqual(found["signatures"][0]["outputs"]["y"]["shape"], [2, 4])
        found = self.listing(lite, "--show", "layers")
        self.assertEqual((found["kind"], found["description"]), ("TFLite", "made by a test"))
        self.assertEqual(found["op_histogram"], {"FULLY_CONNECTED": 1})
        self.assertEqual((found["constant_count"], found["constant_bytes"]), (1, 48))
        self.assertEqual(found["graphs"][0]["nodes"][0]["inputs"], ["x", "w"])
        told = run(ASSAY, "inspect", "model", lite, "--show", "layers")
        self.assertIn("Node 0    | y [Op: FULLY_CONNECTED]", told)

    def test_variables_and_functions(self):
        self.write("saved/saved_model.pb", saved_model(function("loop")))
        self.write("saved/variables/variables.index", variables_index())
        self.write("saved/variables/variables.data-00001-of-00002", bytes(48))
        found = self.listing(self.path / "saved")
        self.assertEqual(found["variables"], [{"name": "layer/kernel", "dtype": "float32", "shape": [3, 4]}])
        self.assertEqual((found["variable_bytes"], found["functions"][0]["name"]), (48, "loop"))
        self.assertIn("variables.data-00000-of-00002", found["findings"][0]["message"])

    def test_three_formats_have_one_result(self):
        infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
                 helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])]
        layers = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
        graph = helper.make_graph(layers, "net", infos[:1], infos[1:], [numpy_helper.from_array(WEIGHTS, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), self.path / "m.onnx")
        results = []
        run(ASSAY, "run", self.path / "m.onnx", "--ref", "--save-inputs", self.path / "in.npz")
        values = dict(np.load(self.path / "in.npz"))
        for path in [self.path / "m.onnx", *self.write_all()]:
            found = self.listing_of_run(path, values)
            results.append(next(iter(found.values())))
        for result in results[1:]:
            np.testing.assert_allclose(result, results[0], rtol=1e-6)

    def listing_of_run(self, path, values):
        name = "x:0" if path.suffix == ".pb" else "x"
        np.savez(self.path / "given.npz", **{name: next(iter(values.values()))})
        out = self.path / "out.npz"
        run(ASSAY, "run", path, "--openvino", "--load-inputs", self.path / "given.npz", "--save-outputs", out)
        return dict(np.load(out))

    def test_inputs_that_openvino_knows_by_another_name(self):
        """A quantiser right behind an input: OpenVINO has one tensor of the two, and tells the first of their names."""
        file = Lite()
        x, codes, y = file.tensor("x", (1, 4)), file.tensor("a", (1, 4), "int8", 0.05, 3), file.tensor("y", (1, 4))
        file.add(114, [x], [codes])
        file.add(6, [codes], [y])
        path, given = self.write("quantiser.tflite", file.finish([x], [y])), np.array([[0.11, -0.49, 2, 30]], np.float32)
        expected = (np.clip(np.rint(given / 0.05) + 3, -128, 127) - 3) * 0.05
        np.savez(self.path / "given.npz", x=given)
        run(ASSAY, "run", path, "--openvino", "--load-inputs", self.path / "given.npz", "--save-outputs", self.path / "out.npz")
        found, = np.load(self.path / "out.npz").values()
        np.testing.assert_allclose(found, expected, atol=1e-6)
        run(ASSAY, "run", path, "--ref", "--openvino", "--load-inputs", self.path / "given.npz")

    def test_others_refuse(self):
        self.write_all()
        run(ASSAY, "inspect", "model", self.path / "net.tflite", "--shape-inference", status=3)
        text = self.write("text/saved_model.pbtxt", b"saved_model_schema_version: 1")
        run(ASSAY, "inspect", "model", text.parent, status=3)

    def test_damaged_files(self):
        dice = random.Random(7)
        index = variables_index()
        self.write("saved/saved_model.pb", saved_model())
        for name, data in (("a.pb", frozen_graph()), ("a.tflite", tflite()), ("saved/variables/variables.index", index)):
            for cut in range(0, len(data), max(len(data) // 12, 1)):
                self.try_listing(self.write(name, data[:cut]))
            for _ in range(12):
                changed = bytearray(data)
                for _ in range(3):
                    changed[dice.randrange(len(data))] = dice.randrange(256)
                self.try_listing(self.write(name, bytes(changed)))

    def try_listing(self, path):
        target = self.path / "saved" if path.name == "variables.index" else path
        result = run(ASSAY, "inspect", "model", target, status=None)
        self.assertNotIn("internal", result)


if __name__ == "__main__":
    unittest.main()
