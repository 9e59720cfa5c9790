"""Parts of models that the engine plans when their sizes are known, beside ONNX Runtime: what comes after sizes that
data decides, and bodies; with other sizes in each run, as models and as plans in another folder.

    engine_parts_test.py
"""

import json
import os
import shutil
import subprocess
import unittest

import numpy as np
from in_folder import InFolder, run
from onnx import numpy_helper, parser
from polygraphy.json import save_json

ASSAY = os.environ["ASSAY"]
HEADER = '<ir_version: 8, opset_import: ["" : 17]> '
COUNTS = (5, 1, 0, 12, 5, 9)

# Boxes, of which data decides how many are left, and what a second stage makes of their pictures.
DETECTION = HEADER + """net (float[1,12,4] boxes, float[1,1,12] scores, float[12,8,9,9] x)
    => (int64[n,3] found, float[n,5] classes, float[n,1,18,18] masks) {
  most = Constant<value = int64[1] {100}>()
  overlap = Constant<value = float[1] {0.5}>()
  least = Constant<value = float[1] {0.5}>()
  box = Constant<value = int64 {2}>()
  scales = Constant<value = float[4] {1,1,2,2}>()
  features = Conv<pads = [1,1,1,1]>(x, w1)
  found = NonMaxSuppression(boxes, scores, most, overlap, least)
  which = Gather<axis = 1>(found, box)
  chosen = Gather(features, which)
  a = Conv<pads = [1,1,1,1]>(chosen, w2)
  b = Relu(a)
  pooled = GlobalAveragePool(b)
  c = Flatten(pooled)
  d = MatMul(c, w3)
  classes = Softmax(d)
  larger = Resize<mode = "linear">(b, , scales)
  e = Conv(larger, w4)
  masks = Sigmoid(e)
}"""
TAIL = HEADER + """net (float[12,8,9,9] x, bool[12] k) => (float[n,8,9,9] y) {
  a = Conv<pads = [1,1,1,1]>(x, w1)
  p = Compress<axis = 0>(a, k)
  b = Conv<pads = [1,1,1,1]>(p, w2)
  c = Relu(b)
  d = Conv<pads = [1,1,1,1]>(c, w1)
  y = Add(d, p)
}"""
BRANCHES = HEADER + """net (float[2,8,9,9] x, bool c) => (float[2,8,9,9] y) {
  a = Conv<pads = [1,1,1,1]>(x, w1)
  y = If (c) <then_branch = yes () => (float[2,8,9,9] u) { b = Conv<pads = [1,1,1,1]>(a, w2) u = Relu(b) },
              else_branch = no () => (float[2,8,9,9] v) { d = Conv<pads = [1,1,1,1]>(x, w2) v = Add(d, a) }>
}"""
LOOP = HEADER + """net (float[16,32] x, int64 n) => (float[16,32] y, float[m,16,32] all) {
  on = Constant<value = bool {1}>()
  h = Abs(x)
  y, all = Loop (n, on, x) <body = again (int64 i, bool go, float[16,32] s) => (bool goes, float[16,32] r, float[16,32] o) {
    goes = Identity(go)
    t = MatMul(s, w5)
    u = Tanh(t)
    r = Add(u, h)
    o = Neg(r)
  }>
}"""
SCAN = HEADER + """net (float[n,8,32] x, float[8,32] s) => (float[8,32] y, float[n,8,32] z) {
  y, z = Scan <num_scan_inputs = 1, body = each (float[8,32] a, float[8,32] e) => (float[8,32] b, float[8,32] o) {
    t = MatMul(a, w5)
    u = Add(t, e)
    b = Tanh(u)
    o = Softmax(b)
  }> (s, x)
}"""
DRAWING = HEADER + """net (float[16,32] x, int64 n) => (float[16,32] y) {
  on = Constant<value = bool {1}>()
  y = Loop (n, on, x) <body = again (int64 i, bool go, float[16,32] s) => (bool goes, float[16,32] r) {
    goes = Identity(go)
    t = MatMul(s, w5)
    e = RandomNormalLike(t)
    u = Add(t, e)
    r = Tanh(u)
  }>
}"""
FAILING = HEADER + """net (float[12,8,9,9] x, bool[12] k, int64[1] i) => (float[1,8,9,9] y) {
  p = Compress<axis = 0>(x, k)
  b = Conv<pads = [1,1,1,1]>(p, w1)
  [taken] g = Gather(b, i)
  y = Relu(g)
}"""


def floats(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def model_of(text):
    model = parser.parse_model(text)
    random = np.random.default_rng(7)
    weights = {"w1": floats(random, 8, 8, 3, 3) / 8, "w2": floats(random, 8, 8, 3, 3) / 8, "w3": floats(random, 8, 5),
               "w4": floats(random, 1, 8, 1, 1), "w5": floats(random, 32, 32) / 8}
    used = {name for name in weights if f", {name})" in text}
    model.graph.initializer.extend(numpy_helper.from_array(weights[name], name) for name in sorted(used))
    return model


def detection_feeds(random, count):
    corners = np.arange(12, dtype=np.float32)[:, None] * 2 + np.array([0, 0, 1, 1], np.float32)
    scores = np.where(random.permutation(12) < count, 0.9, 0.1).astype(np.float32)
    return {"boxes": corners[None], "scores": scores[None, None], "x": floats(random, 12, 8, 9, 9)}


def tail_feeds(random, count):
    return {"x": floats(random, 12, 8, 9, 9), "k": random.permutation(12) < count}


FEEDS = {
    DETECTION: detection_feeds,
    TAIL: tail_feeds,
    BRANCHES: lambda random, count: {"x": floats(random, 2, 8, 9, 9), "c": np.array(count > 4)},
    LOOP: lambda random, count: {"x": floats(random, 16, 32), "n": np.array(count)},
    SCAN: lambda random, count: {"x": floats(random, count + 1, 8, 32), "s": floats(random, 8, 32)},
}


class EnginePartsTest(InFolder):
    def feed(self, text, counts=COUNTS):
        random = np.random.default_rng(3)
        save_json([FEEDS[text](random, count) for count in counts], str(self.path / "in.json"))
        return "--load-inputs", self.path / "in.json"

    def outputs(self, file, *words):
        saved = self.path / "out.json"
        run(ASSAY, "run", file, "--engine", "--save-outputs", saved, *words)
        _, iterations = json.loads(saved.read_text())["lst"][0]
        return [{name: value for name, value in each.items() if name not in ("runtime", "runner_name")}
                for each in iterations]

    def test_near_onnxruntime(self):
        for text in FEEDS:
            with self.subTest(text.split("{")[0]):
                path = self.save(model_of(text))
                for words in ((), ("--strict",), ("--threads", "1"), ("--onnx-outputs", "mark", "all")):
                    near = ("--atol", "1e-4", "--rtol", "1e-4")
                    run(ASSAY, "run", path, "--engine", "--onnxrt", *self.feed(text), *near, *words)

    def test_bfloat16(self):
        for text in FEEDS:
            path = self.save(model_of(text))
            loose = ("--atol", "0.1", "--rtol", "0.1", "--fail-fast")
            run(ASSAY, "run", path, "--engine", "--bf16", "--onnxrt", *self.feed(text), *loose)

    def test_any_number_of_threads_gives_the_same_bits(self):
        for text in FEEDS:
            path = self.save(model_of(text))
            words = ("--strict", *self.feed(text))
            self.assertEqual(self.outputs(path, *words, "--threads", "1"), self.outputs(path, *words, "--threads", "3"))

    def test_plans_in_another_folder(self):
        for text in FEEDS:
            with self.subTest(text.split("{")[0]):
                path, tactics = self.save(model_of(text)), self.path / "t.json"
                run(ASSAY, "convert", path, "-o", self.path / "m.engine", "--save-tactics", tactics)
                expected = self.outputs(path, *self.feed(text), "--load-tactics", tactics)
                elsewhere = self.path / "elsewhere"
                elsewhere.mkdir()
                plan = shutil.move(self.path / "m.engine", elsewhere / "m.engine")
                path.unlink()
                self.assertEqual(self.outputs(plan, *self.feed(text)), expected)
                shutil.rmtree(elsewhere)

    def test_plans_without_weights(self):
        path = self.save(model_of(TAIL))
        plan, tactics = self.path / "m.engine", self.path / "t.json"
        run(ASSAY, "convert", path, "-o", plan, "--strip-plan", "--save-tactics", tactics)
        expected = self.outputs(path, *self.feed(TAIL), "--load-tactics", tactics)
        other = path.rename(self.path / "other.onnx")
        self.assertEqual(self.outputs(plan, *self.feed(TAIL), "--refit-from", other), expected)

    def test_values_that_are_marked(self):
        path = self.save(model_of(TAIL))
        marked = self.outputs(path, *self.feed(TAIL), "--mark-debug", "b")
        self.assertEqual([set(each["outputs"]) if "outputs" in each else set(each) for each in marked],
                         [{"y", "b"}] * len(COUNTS))

    def test_listings(self):
        path = self.save(model_of(TAIL))
        run(ASSAY, "convert", path, "-o", self.path / "m.engine")
        listing = run(ASSAY, "inspect", "model", self.path / "m.engine", "--show", "layers", "attrs")
        self.assertIn("Conv+Relu+Conv+Add", listing)
        profile = run(ASSAY, "profile", path, "--engine", *self.feed(TAIL, (5,)), "-o", self.path / "trace.json")
        self.assertIn("[part]", profile)

    def test_random_numbers_are_those_of_the_reference(self):
        path = self.save(model_of(DRAWING))
        save_json([FEEDS[LOOP](np.random.default_rng(3), count) for count in (3, 0, 7)], str(self.path / "in.json"))
        run(ASSAY, "run", path, "--engine", "--ref", "--load-inputs", self.path / "in.json", "--atol", "1e-5")

    def test_nodes_that_fail_are_named(self):
        path = self.save(model_of(FAILING))
        save_json([tail_feeds(np.random.default_rng(3), 5) | {"i": np.array([7])}], str(self.path / "in.json"))
        seen = []
        for backend in ("--engine", "--ref"):
            words = [ASSAY, "run", path, backend, "--load-inputs", self.path / "in.json"]
            failed = subprocess.run(words, capture_output=True, text=True)
            self.assertIn("node `taken` (Gather): index 7 is", failed.stdout + failed.stderr)
            seen.append(failed.returncode)
        self.assertEqual(seen[0], seen[1])

    def test_limits(self):
        path = self.save(model_of(LOOP))
        words = [ASSAY, "run", path, "--engine", *self.feed(LOOP, (5,)), "--max-steps"]
        self.assertEqual(subprocess.run([*words, "5"], capture_output=True).returncode, 0)
        self.assertNotEqual(subprocess.run([*words, "4"], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
