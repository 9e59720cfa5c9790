"""Operators of TensorFlow and TFLite, held against what TensorFlow computes, where it is installed."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np
from in_folder import InFolder, run
from tensorflow_python import HAS_TENSORFLOW, PYTHON, QUIET, REASON

ASSAY = os.environ["ASSAY"]
MAKER = pathlib.Path(__file__).with_name("tensorflow_operators.py")
CLOSE = 2e-5
BY_TABLE = 2e-3  # TensorFlow's cubic weights are from a table


@unittest.skipUnless(HAS_TENSORFLOW, REASON)
class Operators(InFolder):
    def feeds(self, names, arrays):
        """TFLite may leave out inputs, and has them in any order."""
        inputs = [value for name, value in arrays.items() if name.startswith("in")]
        if not names[0].endswith(":0"):
            return {name: inputs[int(re.search(r"x(\d)", name)[1])] for name in names}
        return dict(zip(names, inputs))

    def check(self, model):
        arrays = dict(np.load(model.with_suffix(".npz")))
        inputs, outputs = json.loads(model.with_name(model.name + ".json").read_text())
        np.savez(self.path / "in.npz", **self.feeds(inputs, arrays))
        run(ASSAY, "run", model, "--ref", "--load-inputs", self.path / "in.npz", "--save-outputs", self.path / "out.npz")
        found = dict(np.load(self.path / "out.npz"))
        self.assertLessEqual(set(outputs), set(found))  # TFLite may have two outputs of one name
        tolerance = BY_TABLE if "Bicubic" in model.name else CLOSE
        for name, expected in arrays.items():
            if not name.startswith("out"):
                continue
            fits = [each for each in found.values() if each.shape == expected.shape and each.dtype == expected.dtype
                    and np.allclose(each, expected, rtol=tolerance, atol=tolerance)]
            self.assertTrue(fits, f"{name}: {expected}\n{found}")

    def test_operators(self):
        result = subprocess.run([PYTHON, str(MAKER), str(self.path)], env=QUIET, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        models = sorted([*self.path.glob("*.pb"), *self.path.glob("*.tflite")])
        self.assertGreater(len(models), 250)
        for model in models:
            with self.subTest(model.name):
                self.check(model)


if __name__ == "__main__":
    unittest.main()
