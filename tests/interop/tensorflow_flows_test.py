"""Loops, branches and lists of TensorFlow, in both generations, held against what TensorFlow computed: files that are kept
here (tensorflow_flows.py made them), and, where TensorFlow is installed, files that it makes now."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np
import onnx
from in_folder import InFolder, run
from tensorflow_python import HAS_TENSORFLOW, PYTHON, QUIET, REASON

ASSAY = os.environ["ASSAY"]
MAKER = pathlib.Path(__file__).with_name("tensorflow_flows.py")
KEPT = sorted(MAKER.with_name("tensorflow_kept").glob("*.npz"))
SIDES = ("--ref", "--engine", "--onnxrt")


class Flows(InFolder):
    def check(self, model, feeds, expected, outputs, sides):
        np.savez(self.path / "in.npz", **feeds)
        for side in sides:
            run(ASSAY, "run", model, side, "--load-inputs", self.path / "in.npz", "--save-outputs", self.path / "out.npz")
            found = dict(np.load(self.path / "out.npz"))
            if outputs is not None:
                self.assertEqual(sorted(found), sorted(outputs))
            for value in expected:
                fits = [each for each in found.values() if each.shape == value.shape and each.dtype == value.dtype
                        and np.allclose(each, value, rtol=2e-5, atol=2e-5)]
                self.assertTrue(fits, f"{model} {side}: {value}\n{found}")

    def kept(self, name):
        """A file that is kept, and its arrays by name."""
        arrays = dict(np.load(MAKER.with_name("tensorflow_kept") / f"{name}.npz"))
        path = self.path / f"{name}.pb"
        path.write_bytes(arrays["graph"].tobytes())
        return path, arrays

    def test_kept_files(self):
        self.assertGreater(len(KEPT), 15)
        for file in KEPT:
            with self.subTest(file.stem):
                path, arrays = self.kept(file.stem)
                feeds = {str(name): arrays[f"in{i}"] for i, name in enumerate(arrays["inputs"])}
                outputs = [str(name) for name in arrays["outputs"]]
                self.check(path, feeds, [arrays[f"out{i}"] for i in range(len(outputs))], outputs, SIDES)

    def loops(self, name):
        """The Loops of a kept file, and all nodes in them."""
        path, _ = self.kept(name)
        run(ASSAY, "convert", path, "-o", self.path / "flow.onnx")
        model = onnx.load(self.path / "flow.onnx")
        onnx.checker.check_model(model)
        loops = [node for node in model.graph.node if node.op_type == "Loop"]
        return loops, [node.op_type for loop in loops for node in loop.attribute[0].g.node], model

    def test_rounds_that_are_counted(self):
        """A counter gives the number of rounds: no condition is computed, and the steps are collected."""
        for name in ("lstm_steps.first", "lstm_any_length.second"):
            loops, inside, model = self.loops(name)
            self.assertEqual(len(loops), 1)
            self.assertTrue(loops[0].input[0] and not loops[0].input[1], name)
            self.assertFalse({"Less", "And", "ScatterND"} & set(inside), name)
            sizes = [dim.dim_value or dim.dim_param for dim in model.graph.output[0].type.tensor_type.shape.dim]
            self.assertEqual(sizes[-1], 4, name)
            self.assertTrue(all(sizes), name)

    def test_rounds_that_a_condition_ends(self):
        loops, inside, _ = self.loops("ended_early_old")
        self.assertTrue(loops[0].input[1] and not loops[0].input[0])
        self.assertIn("Less", inside)
        _, inside, _ = self.loops("read_and_written.first")
        self.assertIn("ScatterND", inside)

    def test_merges_by_one_condition(self):
        """Two values that one condition chooses are one If's."""
        _, _, model = self.loops("chosen_old")
        self.assertEqual([len(node.output) for node in model.graph.node if node.op_type == "If"], [2])

    def test_values_inside_of_loops_have_their_names(self):
        path, _ = self.kept("lstm_steps.first")
        listing = run(ASSAY, "inspect", "model", path)
        self.assertIn("TensorListStack", listing)
        run(ASSAY, "convert", path, "-o", self.path / "flow.onnx")
        loop = next(node for node in onnx.load(self.path / "flow.onnx").graph.node if node.op_type == "Loop")
        names = [name for node in loop.attribute[0].g.node for name in node.output]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(any(name.endswith("/lstm_cell_1/mul_2:0") for name in names), names)

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_files_of_today(self):
        result = subprocess.run([PYTHON, str(MAKER), str(self.path)], env=QUIET, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        models = sorted(path.with_suffix("") for path in self.path.glob("*.json"))
        self.assertGreater(len(models), 120)
        for model in models:
            with self.subTest(model.name):
                arrays = dict(np.load(self.path / f"{model.name.split('.')[0]}.npz"))
                inputs, outputs = json.loads(model.with_name(model.name + ".json").read_text())
                given = [value for name, value in arrays.items() if name.startswith("in")]
                # TFLite has inputs in any order.
                numbers = [int(re.search(r"x(\d)", name)[1]) if "x" in name else i for i, name in enumerate(inputs)]
                feeds = {name: given[number] for name, number in zip(inputs, numbers)}
                expected = [value for name, value in arrays.items() if name.startswith("out")]
                is_graph = model.suffix == ".pb"
                self.check(model, feeds, expected, outputs if is_graph else None, ("--ref", "--engine"))


if __name__ == "__main__":
    unittest.main()
