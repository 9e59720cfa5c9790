"""The networks of mlcommons/tiny and one like basic-pitch's, held against what TFLite computed: two files that are kept here
(tensorflow_tiny.py made them), and, where TensorFlow is installed, files that it makes now.

Floats are equal within rounding. TFLite rounds in integers after each operator of codes, and so do its plain kernels and
XNNPACK's, differently: a code may be one off, and one more where an operator behind magnifies it, so that outputs are held to
one step of their scale for 99 of 100 elements and two for all. Steps of 16 bits are 256 times smaller, hence more of them.
With weights of 8 bits beside floats, TFLite quantises activations too: the exact values are those of the file with floats
that has the same weights, and those of the file itself are near."""

import json
import os
import pathlib
import subprocess
import unittest

import numpy as np
from in_folder import InFolder, run
from tensorflow_python import HAS_TENSORFLOW, PYTHON, QUIET, REASON

ASSAY = os.environ["ASSAY"]
MAKER = pathlib.Path(__file__).with_name("tensorflow_tiny.py")
KEPT = sorted((MAKER.with_name("tensorflow_kept") / "lite").glob("*.npz"))
SIDES = ("--ref", "--engine")
ROUNDING, NEAR = 2e-5, 0.03  # of the largest element
STEPS = {"int8": (1, 2), "int16": (4, 8)}  # for 99 of 100 elements, for all
INSIDE = {"int8": 2, "int16": 8}  # steps, on average over a value inside
LISTED = {"anomalies": ("FULLY_CONNECTED", 10), "pictures": ("CONV_2D", 9), "keywords": ("DEPTHWISE_CONV_2D", 4),
          "persons": ("DEPTHWISE_CONV_2D", 13), "notes": ("CONV_2D", 30)}


def kind_of(model):
    return model.name.split(".")[1]


class Tiny(InFolder):
    def result(self, model, side, feeds, *words):
        np.savez(self.path / "in.npz", **feeds)
        run(ASSAY, "run", model, side, "--load-inputs", self.path / "in.npz", "--save-outputs", self.path / "out.npz", *words)
        return dict(np.load(self.path / "out.npz"))

    def check_floats(self, found, expected, tolerance=ROUNDING):
        self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype))
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(abs(expected).max(), 1e-3))

    def check_codes(self, found, expected, kind):
        self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype))
        steps = abs(found.astype(np.int64) - expected)
        most_have, all_have = STEPS[kind]
        self.assertGreaterEqual((steps <= most_have).mean(), 0.99, f"{found}\n{expected}")
        self.assertLessEqual(steps.max(), all_have, f"{found}\n{expected}")

    def check_outputs(self, model, arrays, found):
        kind = kind_of(model)
        self.assertEqual(sorted(found), sorted(map(str, arrays["outputs"])))
        for i, name in enumerate(map(str, arrays["outputs"])):
            if kind in STEPS:
                self.check_codes(found[name], arrays[f"out{i}"], kind)
            elif kind == "dynamic":
                self.check_floats(found[name], arrays[f"exact{i}"])
                self.check_floats(found[name], arrays[f"out{i}"], NEAR)
            else:
                self.check_floats(found[name], arrays[f"out{i}"])

    def check_inside(self, model, side, arrays, feeds):
        """What each operator gives."""
        names, kind = [str(name) for name in arrays["names"]], kind_of(model)
        found = self.result(model, side, feeds, "--tf-outputs", *names)
        self.assertEqual(sorted(found), sorted(names))
        for i, name in enumerate(names):
            with self.subTest(name):
                expected = arrays[f"inside{i}"]
                if expected.dtype.kind == "i":
                    self.assertEqual((found[name].shape, found[name].dtype), (expected.shape, expected.dtype))
                    self.assertLessEqual(abs(found[name].astype(np.int64) - expected).mean(), INSIDE.get(kind, 0))
                elif expected.dtype.kind == "f":
                    self.check_floats(found[name], expected, 2 * ROUNDING)

    def check_listing(self, model):
        listing = run(ASSAY, "inspect", "model", model)
        op, count = LISTED[model.name.split(".")[0]]
        self.assertRegex(listing, rf"(?m)^ +{count} {op}$")
        self.assertEqual("quantised" in listing, kind_of(model) in ("dynamic", "int8", "int16"), listing)

    def check_model(self, model, arrays):
        self.check_listing(model)
        feeds = {str(arrays["input"]): arrays["in"]}
        for side in SIDES:
            with self.subTest(f"{model.name} {side}"):
                self.check_outputs(model, arrays, self.result(model, side, feeds))
                if kind_of(model) != "dynamic":
                    self.check_inside(model, side, arrays, feeds)

    def test_kept_files(self):
        self.assertEqual([file.stem for file in KEPT], ["keywords.int8", "pictures.int8"])
        for file in KEPT:
            arrays = dict(np.load(file))
            model = self.path / f"{file.stem}.tflite"
            model.write_bytes(arrays["model"].tobytes())
            self.check_model(model, arrays)

    def made(self):
        result = subprocess.run([PYTHON, str(MAKER), str(self.path)], env=QUIET, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])

    def check_formats(self, name):
        """The frozen graph and the SavedModel give what the TFLite file does."""
        arrays = dict(np.load(self.path / f"{name}.float32.npz"))
        for model in (self.path / f"{name}.pb", self.path / f"{name}.saved"):
            (port,), _ = json.loads(model.with_name(model.name + ".json").read_text())
            for side in SIDES:
                with self.subTest(f"{model.name} {side}"):
                    (found,) = self.result(model, side, {port: arrays["in"]}).values()
                    self.check_floats(found, arrays["out0"])

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_files_of_today(self):
        self.made()
        models = sorted(self.path.glob("*.tflite"))
        self.assertEqual(len(models), 21)
        for model in models:
            self.check_model(model, dict(np.load(model.with_suffix(".npz"))))
        for name in ("keywords", "pictures"):
            self.check_formats(name)


if __name__ == "__main__":
    unittest.main()
