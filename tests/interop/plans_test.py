"""Plans of the engine: built by `convert`, run by `run`, with the bits of the engine on the model itself, and near ONNX
Runtime; of random graphs, open shapes, and models with all that no kernel computes.

    plans_test.py RUN_TOOL
"""

import json
import os
import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from engine_test import Graph, floats, random_graph
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper, parser

ASSAY = os.environ["ASSAY"]
SEEDS = 12
OPEN = """<ir_version: 8, opset_import: ["" : 17]>
net (float[n,8] x, float[n,8] r) => (float[n,6] y, float[n,8] z) {
  a = MatMul(x, w)
  b = Relu(a)
  y = Softmax(b)
  c = Add(x, r)
  d = Sigmoid(c)
  z = Mul(c, d)
}"""
EVERYTHING = """<ir_version: 8, opset_import: ["" : 17]>
net (float[3,4] x, bool[1] flag, int64[1] trips) => (float[3,4] y, bool[3,4] low, int64[m,2] where, float[3,4] t) {
  w = Constant<value = float[4,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}>()
  a = MatMul(x, w)
  b = Relu(a)
  one = Constant<value = float {1.0}>()
  y = If (flag) <then_branch = yes () => (float[3,4] u) { u = Add(b, one) },
                 else_branch = no () => (float[3,4] v) { v = Neg(b) }>
  low = Less(x, one)
  found = NonZero(low)
  where = Transpose(found)
  many = SequenceConstruct(x, b)
  first = Constant<value = int64 {1}>()
  s = SequenceAt(many, first)
  true = Constant<value = bool {1}>()
  t = Loop (trips, true, s) <body = again (int64 i, bool go, float[3,4] p) => (bool on, float[3,4] q) {
    on = Identity(go)
    q = Add(p, x)
  }>
}"""

# What lowering makes more than once has names of its own each time: products of two values by two weights.
HEADS = "".join(f"""
  {y}0 = MatMul({x}, {w})
  {y}1 = Add({y}0, b)
  {y} = Reshape({y}1, heads)""" for y, x, w in (("q", "x", "w"), ("k", "x", "w2"), ("u", "n", "w"), ("v", "n", "w2")))
TWICE = f"""<ir_version: 8, opset_import: ["" : 17]>
net (float[1,2,4] x) => (float[1,2,2,2] q, float[1,2,2,2] k, float[1,2,2,2] u, float[1,2,2,2] v, float[1,2,4] m) {{
  heads = Constant<value = int64[4] {{0,0,2,2}}>()
  n = Neg(x){HEADS}
  f = BatchNormalization(x, s, t, t, s)
  g = Relu(f)
  m = BatchNormalization(g, s, t, t, s)
}}"""


def with_weights(text, **weights):
    model = parser.parse_model(text)
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    return model


def open_model():
    return with_weights(OPEN, w=floats(np.random.default_rng(1), 8, 6))


def words_model():
    nodes = [helper.make_node("Concat", ["s", "more"], ["t"], axis=0),
             helper.make_node("StringNormalizer", ["t"], ["u"], case_change_action="UPPER", is_case_sensitive=0)]
    more = helper.make_tensor("more", TensorProto.STRING, [2], [b"one", b"two"])
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("s", TensorProto.STRING, [2])],
                              [helper.make_tensor_value_info("u", TensorProto.STRING, [4])], [more])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def values_of(path):
    """What a file of saved outputs holds, without names and times of runs."""
    def strip(value):
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in ("runtime", "runner_name")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return [strip(iterations) for _, iterations in json.loads(path.read_text())["lst"]]


class PlansTest(InFolder):
    def run_engine(self, file, *words):
        saved = self.path / "outputs.json"
        run(ASSAY, "run", file, "--engine", "--save-outputs", saved, *words)
        return values_of(saved)

    def build(self, model, *words, plan="m.engine"):
        """Tactics are measured; `same_tactics` makes the engine use them for the model too."""
        path = self.save(model)
        run(ASSAY, "convert", path, "-o", self.path / plan, "--save-tactics", self.path / "t.json", *words)
        self.same_tactics = ("--load-tactics", self.path / "t.json")
        return path, self.path / plan

    def check(self, model, *words):
        path, plan = self.build(model)
        self.assertEqual(self.run_engine(plan, *words), self.run_engine(path, *words, *self.same_tactics))
        saved = self.path / "saved.engine"
        expected = self.run_engine(path, *words, "--save-engine", saved)
        self.assertEqual(self.run_engine(saved, *words), expected)

    def test_random_graphs_have_the_bits_of_the_model(self):
        for seed in range(SEEDS):
            with self.subTest(seed):
                model, _ = random_graph(seed)
                self.check(model)

    def test_values_inside_are_those_of_the_model(self):
        for seed in range(3):
            model, _ = random_graph(seed)
            self.check(model, "--onnx-outputs", "mark", "all")

    def test_near_onnxruntime(self):
        for seed in range(3):
            model, feeds = random_graph(seed)
            path, plan = self.build(model)
            np.savez(self.path / "in.npz", **feeds)
            run(ASSAY, "run", path, "--onnxrt", "--trt-engine", plan, "--load-inputs", self.path / "in.npz", "--tolerance",
                "auto")

    def test_open_shapes(self):
        profile = ("--trt-min-shapes", "x:[1,8]", "r:[1,8]", "--trt-opt-shapes", "x:[4,8]", "r:[4,8]",
                   "--trt-max-shapes", "x:[64,8]", "r:[64,8]")
        for words in ((), profile):
            path, plan = self.build(open_model(), *words) if words else self.build_unplanned(open_model())
            for rows in (1, 4, 64):
                shapes = ("--input-shapes", f"x:[{rows},8]", f"r:[{rows},8]")
                tactics = self.same_tactics if words and rows == 4 else ()
                self.assertEqual(self.run_engine(plan, *shapes), self.run_engine(path, *shapes, *tactics))
                everything = (*shapes, "--onnx-outputs", "mark", "all")
                self.assertEqual(self.run_engine(plan, *everything), self.run_engine(path, *everything))

    def build_unplanned(self, model):
        path, plan = self.save(model), self.path / "any.engine"
        run(ASSAY, "convert", path, "-o", plan)
        return path, plan

    def test_what_no_kernel_computes(self):
        model = parser.parse_model(EVERYTHING)
        path, plan = self.build(model)
        random = np.random.default_rng(3)
        for flag in (True, False):
            feeds = {"x": floats(random, 3, 4), "flag": np.array([flag]), "trips": np.array([3])}
            np.savez(self.path / "in.npz", **feeds)
            loaded = ("--load-inputs", self.path / "in.npz")
            self.assertEqual(self.run_engine(plan, *loaded), self.run_engine(path, *loaded, *self.same_tactics))
            run(ASSAY, "run", path, "--onnxrt", "--trt-engine", plan, *loaded)

    def test_what_is_made_twice(self):
        random = np.random.default_rng(5)
        numbers = {name: floats(random, *shape) for name, shape in {"w": (4, 4), "w2": (4, 4), "b": (4,), "t": (2,)}.items()}
        self.check(with_weights(TWICE, **numbers, s=np.array([1.5, 0.5], np.float32)))

    def test_strings(self):
        path, plan = self.build(words_model())
        inputs = self.path / "in.py"
        inputs.write_text('import numpy as np\ndef load_data():\n    yield {"s": np.array(["a b", "Zwei"])}\n')
        words = ("--data-loader-script", inputs, "--python", sys.executable)
        self.assertEqual(self.run_engine(plan, *words), self.run_engine(path, *words))

    def test_a_plan_needs_neither_its_model_nor_its_place(self):
        model = open_model()
        path = self.path / "m.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="w.data", size_threshold=0)
        plan = self.path / "m.engine"
        shapes = ("--input-shapes", "x:[5,8]", "r:[5,8]")
        expected = self.run_engine(path, *shapes, "--save-engine", plan)
        elsewhere = self.path / "another folder"
        elsewhere.mkdir()
        plan = shutil.move(plan, elsewhere / "renamed.bin")
        path.unlink()
        (self.path / "w.data").unlink()
        self.assertEqual(self.run_engine(plan, *shapes), expected)

    def test_equal_caches_give_equal_plans(self):
        for model, *words in ((random_graph(1)[0],), (open_model(), "--input-shapes", "x:[5,8]", "r:[5,8]")):
            cache = self.path / "cache"
            self.build(model, *words, "--save-timing-cache", cache)
            plans = []
            for name in ("a.engine", "b.engine"):
                plans.append(self.build(model, *words, "--load-timing-cache", cache, plan=name)[1].read_bytes())
            self.assertEqual(plans[0], plans[1])

    def test_another_number_of_threads(self):
        for seed in range(4):
            model, _ = random_graph(seed)
            path, plan = self.build(model, "--threads", "2")
            for threads in ("1", "3"):
                run(ASSAY, "run", path, "--onnxrt", "--trt-engine", plan, "--threads", threads, "--tolerance", "auto")

    def test_another_machine(self):
        path, plan = self.build(random_graph(1)[0])
        expected = self.run_engine(path, *self.same_tactics)
        without = {name: value for name, value in os.environ.items() if name != "ASSAY_ONEDNN"}
        words = [ASSAY, "run", str(plan), "--engine", "--python", "/bin/false"]
        built = subprocess.run(words, capture_output=True, text=True, env=without | {"ASSAY_ONEDNN": "/nowhere"})
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertIn("oneDNN none here): built anew from `", built.stdout + built.stderr)
        changed = onnx.load(path)
        changed.producer_name = "another"
        for spoil in (lambda: onnx.save(changed, path), lambda: path.write_bytes(b"no model"), path.unlink):
            spoil()
            refused = subprocess.run(words, capture_output=True, text=True, env=without | {"ASSAY_ONEDNN": "/nowhere"})
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn("there, oneDNN none here), and its model is no longer at `", refused.stderr)
        self.assertEqual(self.run_engine(plan), expected)

    def test_replayed_tactics_are_those_that_were_saved(self):
        model, _ = random_graph(3)
        path, _ = self.build(model, "--save-tactics", self.path / "a.json")
        self.run_engine(path, "--load-tactics", self.path / "a.json", "--save-tactics", self.path / "b.json")
        self.assertEqual((self.path / "a.json").read_text(), (self.path / "b.json").read_text())
        replay = json.loads((self.path / "a.json").read_text())["replay"]
        names = {tactic["implementation"] for tactic in replay.values()} - {"reference"}
        self.run_engine(path, "--exclude-tactics", *sorted(names), "--save-tactics", self.path / "none.json")
        left = json.loads((self.path / "none.json").read_text())["replay"]
        self.assertFalse(names & {tactic["implementation"] for tactic in left.values()})


if __name__ == "__main__":
    unittest.main()
