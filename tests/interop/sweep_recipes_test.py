"""The blocks of docs/sweep.md in a shell, in order; blocks of Python and YAML are the files that their first lines name."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder
from onnx import parser

ASSAY = pathlib.Path(os.environ["ASSAY"]).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/sweep.md"
BLOCK = re.compile(r"^```(sh|python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ZOO = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 8] x) => (float[2, 8] y) { a = %s(x) y = Softmax(a) }"""
CLASSIFIER = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 1, 4, 4] image) => (float[n, m] scores) <float[16, 8] v = {%s}, float[8, 3] w = {%s}> {
  f = Flatten(image)
  hidden = MatMul(f, v)
  kept = Relu(hidden)
  scores = MatMul(kept, w)
}"""


class Recipes(InFolder):
    def setUp(self):
        super().setUp()
        for folder in ("bin", "zoo/deep", "envs"):
            (self.path / folder).mkdir(parents=True)
        (self.path / "bin/assay").symlink_to(ASSAY)
        for name in ("old", "new"):
            (self.path / "envs" / name).symlink_to(sys.prefix)
        for name, op in (("first", "Tanh"), ("deep/second", "Sigmoid")):
            self.save(parser.parse_model(ZOO % op), f"zoo/{name}.onnx")
        random = np.random.default_rng(5)
        weights = (",".join(map(str, random.standard_normal(count).round(3))) for count in (128, 24))
        model = parser.parse_model(CLASSIFIER % tuple(weights))
        self.save(model, "classifier.onnx")
        np.save(self.path / "images.npy", random.standard_normal((200, 1, 4, 4)).astype("f4"))
        np.save(self.path / "labels.npy", random.integers(0, 3, 200))

    def test_all_blocks(self):
        environment = {name: value for name, value in os.environ.items() if name != "ASSAY_ONNXRUNTIME"}
        environment |= {"PATH": f"{self.path / 'bin'}:{sys.prefix}/bin:{os.environ['PATH']}"}
        kinds = []
        for kind, text in BLOCK.findall(PAGE.read_text()):
            kinds.append(kind)
            if kind != "sh":
                (self.path / text.splitlines()[0].removeprefix("# ")).write_text(text)
                continue
            done = subprocess.run(["sh", "-e", "-c", text], cwd=self.path, env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        self.assertEqual(kinds, ["sh", "sh", "python", "yaml", "sh", "sh", "python", "sh"])
        self.assertEqual(json.loads((self.path / "changes.json").read_text())["changes"], [])
        for name in ("regression.html", "regression.xml", "accuracy.html", "accuracy.db", "accuracy.csv", "quantised.html"):
            self.assertTrue((self.path / name).is_file(), name)
        self.assertIn("deep/second.onnx", (self.path / "regression.xml").read_text())
        images, labels = np.load(self.path / "images.npy"), np.load(self.path / "labels.npy")
        first, second = map(onnx.numpy_helper.to_array, onnx.load(self.path / "classifier.onnx").graph.initializer)
        scores = np.maximum(images.reshape(200, 16) @ first, 0) @ second
        expected = (np.argmax(scores, 1) == labels).mean()
        done = subprocess.run([ASSAY, "sweep", "report", "accuracy", "--json", "-", "-q"], cwd=self.path, capture_output=True, text=True,
                              check=True)
        score = json.loads(done.stdout)["metrics"][0]
        self.assertEqual((score["name"], score["samples"]), ("top1", 200))
        self.assertAlmostEqual(score["value"], expected, places=12)
        self.check_budget(images[100:150], scores[100:150].argmax(1))

    def check_budget(self, images, choices):
        sensitivity = json.loads((self.path / "sensitivity.json").read_text())
        self.assertEqual(len(sensitivity["sensitivity"]), 2)
        self.assertTrue(any(layer["precision"] == "int8" for layer in sensitivity["layers"]), sensitivity["layers"])
        session = onnxruntime.InferenceSession(self.path / "classifier-int8.onnx", providers=["CPUExecutionProvider"])
        self.assertGreaterEqual((session.run(None, {"image": images})[0].argmax(1) == choices).mean(), 0.98)


if __name__ == "__main__":
    unittest.main()
