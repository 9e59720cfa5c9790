"""The causes that `debug accuracy` tells of faults planted into drawn networks, run by ONNX Runtime: true ones where the
faulty model is given, true ones or `unknown` where only its values are."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from models.causes import CAUSES, copied, finished, judge_cause, weights_of
from models.faults import Net, change_weight
from models.plantings import renamed, values_of
from remedies_test import number_by_number

ASSAY = os.environ["ASSAY"]
SEEDS = range(3)
# Without the faulty model, nothing shows one weight that all later steps depend on.
HIDDEN = ("lstm_weight", "gru_weight")
# The second model says that it computes in a narrower type, and may be off so far.
DECLARED = ("half_layer",)


class Causes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def draw(self, kind, seed):
        rng = np.random.default_rng([seed, *kind.encode()])
        sound, faulty, name, facts = CAUSES[kind](rng)
        shape = [dim.dim_value for dim in sound.graph.input[0].type.tensor_type.shape.dim]
        feeds = {"x": facts.pop("feeds", rng.normal(size=shape).astype(np.float32))}
        np.savez(self.path / "in.npz", **feeds)
        onnx.save(sound, self.path / "m.onnx")
        return faulty, feeds, name, facts

    def first_guilty(self, *words, may_be_clean=False):
        command = [ASSAY, "debug", "accuracy", "m.onnx", *words, "--load-inputs", "in.npz", "--no-remedies", "--json", "r.json"]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1) if may_be_clean else (1,), done.stdout + done.stderr)
        return json.loads((self.path / "r.json").read_text())["first_guilty"]

    def check(self, kind):
        for seed in SEEDS:
            faulty, feeds, name, facts = self.draw(kind, seed)
            onnx.save(renamed(faulty) if seed % 2 else faulty, self.path / "faulty.onnx")
            with self.subTest(kind=kind, seed=seed, how="--other"):
                first = self.first_guilty("--onnxrt", "--other", "faulty.onnx", may_be_clean=kind in DECLARED)
                if first is not None:
                    self.assertEqual(first["node"], name)
                    self.assertEqual(judge_cause(kind, facts, first), "true", first["reason"])
            np.savez(self.path / "theirs.npz", **values_of(faulty, feeds))
            with self.subTest(kind=kind, seed=seed, how="--load-outputs"):
                first = self.first_guilty("--load-outputs", "theirs.npz")
                self.assertEqual(first["node"], name)
                verdict = judge_cause(kind, facts, first)
                self.assertIn(verdict, ("true", "unknown") if kind in HIDDEN else ("true",),
                              f"{first['cause']}: {first['reason']}")


    def save(self, feeds, **models):
        np.savez(self.path / "in.npz", **feeds)
        for name, model in models.items():
            onnx.save(model, self.path / f"{name}.onnx")

    def hunt(self, *words, status):
        """The report and the text."""
        command = [ASSAY, "debug", "accuracy", "m.onnx", *words, "--load-inputs", "in.npz", "--json", "r.json"]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads((self.path / "r.json").read_text()), done.stdout

    def test_an_overflow_and_what_follows_it(self):
        """Numbers beyond float16 that become finite again: the layers behind are innocent, and float16 is named."""
        net = Net(np.random.default_rng(1), [4, 16])
        net.add("LayerNormalization", net.constant(np.ones(16)), net.constant(np.zeros(16)))
        inner = net.add("MatMul", net.normal(16, 64, scale=12000))
        net.add("Div", net.constant(20000.0))
        net.add("Erf")
        net.add("Add", net.constant(1.0))
        net.add("Mul", inner)
        net.add("Div", net.constant(40000.0))
        net.add("MatMul", net.normal(64, 16, scale=0.1))
        sound = finished(net, 17)
        self.save({"x": np.random.default_rng(2).normal(size=(4, 16)).astype(np.float32)}, m=sound, half=number_by_number(sound))
        report, _ = self.hunt("--other", "half.onnx", status=1)
        self.assertEqual([g["node"] for g in report["guilty"]], ["layer1", "layer5"])
        self.assertEqual({g["cause"] for g in report["guilty"]}, {"overflow"})
        self.assertIn("float16 holds at most 65504", report["first_guilty"]["reason"])
        self.assertTrue(any(remedy["cures"] for remedy in report["remedies"]))
        report, text = self.hunt("--onnxrt", "--other", "half.onnx", status=0)
        self.assertEqual([g["node"] for g in report["harmless"]], ["layer1", "layer5"])
        self.assertIn("does not reach the outputs: `layer1` (MatMul)", text)

    def test_only_outputs_are_known(self):
        sound, faulty, _, _ = CAUSES["epsilon_spelled_out"](np.random.default_rng(5))
        feeds = {"x": np.random.default_rng(2).normal(size=(12, 16)).astype(np.float32)}
        self.save(feeds, m=sound)
        np.savez(self.path / "theirs.npz", **values_of(faulty, feeds, everything=False))
        report, text = self.hunt("--load-outputs", "theirs.npz", status=1)
        self.assertEqual(report["first_guilty"]["cause"], "unknown")
        self.assertIn("only `v10` is known: it may be any of the 11 layers up to it", report["first_guilty"]["reason"])
        self.assertLess(max(map(len, text.splitlines())), 400)

    def test_what_a_backend_does_in_both_models(self):
        """ONNX Runtime's GroupNormalization loses digits far from 0; the fault behind it is named first."""
        net = Net(np.random.default_rng(1), [1, 8, 12, 12])
        net.add("GroupNormalization", net.constant(np.ones(8)), net.constant(np.zeros(8)), num_groups=2)
        net.add("Conv", net.normal(4, 8, 3, 3, scale=0.2))
        net.add("Tanh")
        sound = finished(net, 21)
        faulty = copied(sound)
        change_weight(faulty, faulty.graph.node[1], 1, lambda a: a * np.float32(1.01))
        x = np.random.default_rng(2).normal(size=(1, 8, 12, 12)) * 0.7 - 800
        self.save({"x": x.astype(np.float32)}, m=sound, faulty=faulty)
        alone, _ = self.hunt("--onnxrt", status=1)
        self.assertEqual((alone["first_guilty"]["node"], alone["first_guilty"]["cause"]), ("layer0", "cancellation"))
        report, text = self.hunt("--onnxrt", "--other", "faulty.onnx", status=1)
        self.assertEqual([(g["node"], g["in_both_models"]) for g in report["guilty"]], [("layer1", False), ("layer0", True)])
        self.assertIn("1.01 times as large in the other model", report["first_guilty"]["reason"])
        self.assertIn("also guilty, in both models: `layer0`", text)

    def test_a_fault_of_the_model_has_no_remedy_by_conversion(self):
        sound, faulty, _, _ = CAUSES["half_layer"](np.random.default_rng([0, *b"half_layer"]))
        self.save({"x": np.random.default_rng(2).normal(size=(12, 16)).astype(np.float32)}, m=sound, faulty=faulty)
        report, text = self.hunt("--onnxrt", "--other", "faulty.onnx", status=1)
        self.assertEqual(report["remedies"], [])
        self.assertNotIn("assay convert", text)

    def test_products_of_rounded_inputs(self):
        """The first so many bits of float32, as bfloat16 and TF32 have them, rounded to even; the bias is added in full."""
        model = CAUSES["weight_scaled"](np.random.default_rng(4))[0]
        feeds = {"x": np.random.default_rng(2).normal(size=(12, 16)).astype(np.float32)}
        self.save(feeds, m=model)
        values, gemm = values_of(model, feeds), model.graph.node[2]
        x, (weights, bias) = values[gemm.input[0]], (weights_of(model, name) for name in gemm.input[1:])
        for name, cut in (("bfloat16", 16), ("TF32", 13)):
            def rounded(array, cut=cut):
                bits = array.view(np.uint32).astype(np.uint64)
                more = (1 << (cut - 1)) - 1 + (bits >> cut & 1)
                return ((bits + more) >> cut << cut).astype(np.uint32).view(np.float32).astype(np.float64)

            np.savez(self.path / "theirs.npz", v0=values["v0"], v1=values["v1"], v2=(rounded(x) @ rounded(weights) + bias).astype(np.float32))
            first = self.hunt("--load-outputs", "theirs.npz", status=1)[0]["first_guilty"]
            self.assertEqual((first["node"], first["cause"]), (gemm.name, "precision"))
            self.assertIn(f"its first two inputs are rounded to {name}", first["reason"])

    def test_peepholes_that_are_left_out(self):
        """OpenVINO does not read them."""
        net, rng = Net(np.random.default_rng(0), [6, 2, 8]), np.random.default_rng(1)
        net.add("LSTM", net.normal(1, 32, 8, scale=0.3), net.normal(1, 32, 8, scale=0.3), net.normal(1, 64, scale=0.1), "", "", "",
                net.normal(1, 24, scale=0.8), hidden_size=8)
        net.add("Tanh")
        self.save({"x": rng.normal(size=(6, 2, 8)).astype(np.float32)}, m=finished(net))
        first = self.hunt("--openvino", status=1)[0]["first_guilty"]
        self.assertEqual(first["cause"], "semantics")
        self.assertIn("without its input 7", first["reason"])
        self.assertNotIn("input 6", first["reason"])

    def test_the_value_and_the_command_for_the_part(self):
        sound, faulty, name, _ = CAUSES["alpha"](np.random.default_rng(3))
        self.save({"x": np.random.default_rng(2).normal(size=(12, 16)).astype(np.float32)}, m=sound, faulty=faulty)
        _, text = self.hunt("--onnxrt", "--other", "faulty.onnx", status=1)
        self.assertRegex(text, f"first guilty layer: `{name}`")
        words = re.search(r"assay (surgeon extract .*)", text).group(1).split()
        subprocess.run([ASSAY, *words], cwd=self.path, check=True, capture_output=True)
        self.assertEqual(onnx.load(self.path / "part.onnx").graph.node[-1].name, name)


for kind in CAUSES:
    setattr(Causes, f"test_{kind}", lambda self, kind=kind: self.check(kind))

if __name__ == "__main__":
    unittest.main()
