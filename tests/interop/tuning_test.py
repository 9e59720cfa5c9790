"""Choices of the engine and replacements by plugins that are tried beside the defaults: tuning_test.py ASSAY. What is faster is
never asked, only that each is measured, judged by independent numbers, written down and used."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SHORT = ("--duration=0.02", "--iterations=6", "--warmUp=1")


def network():
    weights = [numpy_helper.from_array(np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32) / 8, "w"),
               numpy_helper.from_array(np.float32(1.702), "alpha")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "product"),
             helper.make_node("Mul", ["a", "alpha"], ["b"], "scale"),
             helper.make_node("Sigmoid", ["b"], ["c"], "gate"),
             helper.make_node("Mul", ["a", "c"], ["y"], "gated")]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 32])  # noqa: E731
    return helper.make_model(helper.make_graph(nodes, "g", [value("x")], [value("y")], weights), ir_version=9,
                             opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def pattern(op, domain="com.microsoft"):
    return f"""op: {op}
domain: {domain}
inputs: [a]
constants: [alpha]
outputs: [y]
nodes:
  - {{op: Mul, inputs: [a, alpha], outputs: [b]}}
  - {{op: Sigmoid, inputs: [b], outputs: [c]}}
  - {{op: Mul, inputs: [a, c], outputs: [y]}}
"""


class Tuning(InFolder):
    def setUp(self):
        super().setUp()
        self.model = self.save(network())

    def bench(self, *words, status=0):
        return run(PROGRAM, "bench", f"--onnx={self.model}", f"--tuningCacheFile={self.path}/cache.json", *SHORT, *words,
                   status=status)

    def rows(self):
        return [json.loads(line) for line in (self.path / "cache.json").read_text().splitlines()]

    def test_choices_are_listed(self):
        printed = run(PROGRAM, "bench", "--helpBuildRoute")
        for knob in ("-tactics=[first|measured]", "-bf16=[off|on]", "-without=[none|...]"):
            self.assertIn(knob, printed)
        self.assertNotIn("bf16", run(PROGRAM, "bench", "--helpBuildRoute=level"))

    def test_routes_are_listed_without_being_tried(self):
        printed = self.bench("--tuneBuildRoutes=-bf16=[off|on] -tactics=[first|measured]", "--tuningSearch=full",
                             "--dryRun")
        for route in ("-bf16=on", "-tactics=measured", "-bf16=on -tactics=measured"):
            self.assertRegex(printed, f"(?m)^(\\[I\\] )?{route}$")
        self.assertFalse((self.path / "cache.json").exists())

    def test_a_search_and_its_continuation(self):
        words = ("--tuneBuildRoutes=-strict=[off|on] -level=0", f"--saveEngine={self.path}/best.plan")
        printed = self.bench(*words, "--saveAllEngines")
        self.assertIn("Best route: ", printed)
        head, *rows = self.rows()
        self.assertEqual(head["kind"], "assay/tuning/1")
        self.assertEqual(head["knobs"], {"strict": "off|on"})
        self.assertEqual([row["route"] for row in rows], ["-strict=on"])
        self.assertGreater(rows[0]["median_seconds"], 0)
        self.assertGreater(rows[0]["ratio"], 0)
        for name in ("best.plan", "best.plan.0", "best.plan.1"):
            self.assertIn("1 Engine Input(s)", run(PROGRAM, "inspect", "model", self.path / name))
        self.bench("--tuneBuildRoutes=-strict=[off|on] -bf16=[off|on]", "--continue")
        self.assertEqual([row["route"] for row in self.rows()[1:]], ["-strict=on", "-bf16=on"])

    def test_routes_that_fail_and_those_that_are_not_accurate(self):
        inputs = np.random.default_rng(1).normal(size=(4, 32)).astype(np.float32)
        session = onnxruntime.InferenceSession(self.model, providers=["CPUExecutionProvider"])
        inputs.tofile(self.path / "x.bin")
        (session.run(None, {"x": inputs})[0] + 1).tofile(self.path / "wrong.bin")
        printed = self.bench("--tuneBuildRoutes=-strict=[off|on] -without=[none|nothing.like.it]",
                             f"--loadInputs=x:{self.path}/x.bin", f"--loadRefOutputs=y:{self.path}/wrong.bin",
                             "--accuracyThreshold=0.5")
        self.assertIn("Best route: the defaults", printed)
        rows = {row["route"]: row for row in self.rows()[1:]}
        self.assertFalse(rows["-strict=on"]["is_accurate"])
        self.assertEqual(rows["-strict=on"]["loss"], 1)

    def test_wrong_words(self):
        for words in (["--tuneBuildRoutes=-nothing=[1|2]"], ["--tuneBuildRoutes=-bf16=on"], ["--setBuildRoute=-bf16=[on|off]"],
                      ["--tuneBuildRoutes=-bf16=[on|off]", "--tuneBuildRouteFile=x"],
                      ["--tuneBuildRoutes=-bf16=[on|off]", "--continue"]):
            self.bench(*words, status=2)
        (self.path / "cache.json").write_text('{"kind": "other"}\n')
        self.bench("--tuneBuildRoutes=-bf16=[on|off]", "--continue", status=2)
        self.bench("--setBuildRoute=-strict=on")


class Autotune(InFolder):
    def setUp(self):
        super().setUp()
        self.model = self.save(network())

    def rows(self):
        return [json.loads(line) for line in (self.path / "cache.json").read_text().splitlines()]

    def plugins(self, **patterns):
        for name, text in patterns.items():
            folder = self.path / "plugins" / name
            folder.mkdir(parents=True)
            (folder / "pattern.yaml").write_text(text)
        return self.path / "plugins"

    def autotune(self, *words, status=0):
        return run(PROGRAM, "plugin", "autotune", self.model, "--duration", "0.02", "--iterations", "6", "--warm-up", "1",
                   *words, status=status)

    def test_a_replacement_is_tried_and_judged(self):
        folder = self.plugins(quick=pattern("QuickGelu"))
        cache, tuned = self.path / "cache.json", self.path / "tuned.onnx"
        printed = self.autotune("--plugin-dir", folder, "--search", "exhaustive", "--tune-build-routes=-strict=[off|on]",
                                "--tuning-cache-file", cache, "-o", tuned)
        self.assertIn("Best route: ", printed)
        rows = {row["route"]: row for row in self.rows()[1:]}
        self.assertEqual(set(rows), {"-strict=on", "-quick#0=on", "-strict=on -quick#0=on"})
        for row in rows.values():
            self.assertEqual(row["failure"], "")
            self.assertTrue(row["is_accurate"])  # its alpha is QuickGelu's default
        inputs = {"x": np.random.default_rng(1).normal(size=(4, 32)).astype(np.float32)}
        seen, wanted = (onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, inputs)[0]
                        for path in (tuned, self.model))
        np.testing.assert_allclose(seen, wanted, rtol=1e-4, atol=1e-5)

    def test_what_computes_something_else_is_not_taken(self):
        folder = self.plugins(wrong=pattern("FastGelu"), unknown=pattern("Unknown", "own"))
        tuned = self.path / "tuned.onnx"
        printed = self.autotune("--plugin-dir", folder, "--accuracy-threshold", "1e-7", "-o", tuned)
        self.assertIn("Best route: the defaults", printed)
        self.assertRegex(printed, "failed  -unknown#0=on: .*own::Unknown")
        self.assertEqual([node.op_type for node in onnx.load(tuned).graph.node], ["MatMul", "Mul", "Sigmoid", "Mul"])

    def test_places_from_a_file(self):
        folder = self.plugins(quick=pattern("QuickGelu"))
        config = self.path / "config.yaml"
        run(PROGRAM, "plugin", "match", self.model, "--plugin-dir", folder, "-o", config)
        self.assertIn("-quick#0=on", self.autotune("--config", config))
        self.autotune("--config", config, "--plugin-dir", folder, status=2)
        self.autotune(status=2)

    def test_nothing_to_try(self):
        folder = self.plugins(never=pattern("Never").replace("Sigmoid", "Softmax"))
        self.autotune("--plugin-dir", folder, status=2)


if __name__ == "__main__":
    unittest.main()
