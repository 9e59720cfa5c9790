#!/usr/bin/env python3
"""The lines of trtexec in users' notes (docs/seeds.md), as they stand there, by a program that is called trtexec: trtexec_test.py ASSAY

Warm-up and duration are cut to a tenth of a second where a line leaves them to the defaults.
"""

import json
import os
import pathlib
import sys
import unittest

import numpy as np
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SHORT = ("--duration=0.05", "--warmUp=20")
PROFILE = ("--minShapes=x:0:1x1x28x28", "--optShapes=x:0:4x1x28x28", "--maxShapes=x:0:16x1x28x28")
SHAPES = "--shapes=x:0:4x1x28x28"


def model():
    """With the names of the notes: input `x:0`, output `y:0`."""
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
               for name, shape in (("kernel", (4, 1, 5, 5)), ("matrix", (4 * 28 * 28, 10)))]
    nodes = [helper.make_node("Conv", ["x:0", "kernel"], ["c"], pads=[2, 2, 2, 2]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("MatMul", ["f", "matrix"], ["y:0"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x:0", TensorProto.FLOAT, ["n", 1, 28, 28])],
                              [helper.make_tensor_value_info("y:0", TensorProto.FLOAT, ["n", 10])], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class TrtexecTest(InFolder):
    def setUp(self):
        super().setUp()
        self.save(model(), "model.onnx")
        os.symlink(PROGRAM, self.path / "trtexec")
        before = os.getcwd()
        os.chdir(self.path)
        self.addCleanup(os.chdir, before)

    def trtexec(self, *words, status=0):
        return run("./trtexec", *words, status=status)

    def check_performance(self, printed, name="GPU Compute Time"):
        self.assertRegex(printed, r"Throughput: [0-9.e+]+ qps")
        for what in ("Latency", name):
            self.assertRegex(printed, what + r": min = \S+ ms, max = \S+ ms, mean = \S+ ms, median = \S+ ms, percentile")

    def test_the_script(self):
        build = ("--onnx=model.onnx", *PROFILE, "--workspace=1024", SHAPES, "--verbose")
        self.check_performance(self.trtexec(*build, "--saveEngine=model-fp32.plan", *SHORT))
        self.check_performance(self.trtexec(*build, "--saveEngine=model-fp16.plan", "--fp16", *SHORT))
        self.check_performance(self.trtexec("--loadEngine=./model-fp32.plan", SHAPES, "--verbose", *SHORT))
        listing = run(PROGRAM, "inspect", "model", "model-fp32.plan")
        self.assertIn("min=(1, 1, 28, 28), opt=(4, 1, 28, 28), max=(16, 1, 28, 28)", listing)
        self.trtexec("--loadEngine=./model-fp32.plan", "--shapes=x:0:17x1x28x28", *SHORT, status=2)

    def test_options_of_the_build(self):
        self.trtexec("--onnx=./model.onnx", "--output=y:0", SHAPES, *SHORT)
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--memPoolSize=workspace:1024", "--noTF32", "--best",
                     "--sparsity=enable", "--saveEngine=./model.plan", "--buildOnly")
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--noTF32", "--timingCacheFile=timing.cache", "--saveEngine=b.plan",
                     "--profilingVerbosity=detailed", "--dumpLayerInfo", "--exportLayerInfo=LayerInfo.txt", *SHORT)
        self.assertGreater((self.path / "timing.cache").stat().st_size, 0)
        layers = json.loads((self.path / "LayerInfo.txt").read_text())
        self.assertEqual(layers["Bindings"], ["x:0", "y:0"])
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--noTF32", "--timingCacheFile=timing.cache", "--saveEngine=c.plan",
                     "--buildOnly")
        self.assertEqual((self.path / "b.plan").read_bytes(), (self.path / "c.plan").read_bytes())

    def test_options_of_the_run(self):
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=model.plan", "--buildOnly")
        printed = self.trtexec("--loadEngine=model.plan", SHAPES, "--warmUp=10", "--duration=0.05", "--iteration=100",
                               "--useCudaGraph", "--noDataTransfers", "--streams=2", "--verbose", "--dumpProfile",
                               "--exportProfile=LayerProfile.txt")
        self.check_performance(printed)
        count, *layers = json.loads((self.path / "LayerProfile.txt").read_text())
        self.assertGreater(count["count"], 0)
        self.assertAlmostEqual(sum(layer["percentage"] for layer in layers), 100, delta=1e-6)
        for layer in layers:
            self.assertIn(layer["name"], printed)

    def test_a_number_of_runs_and_no_duration(self):
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=model.plan", "--buildOnly")
        self.trtexec("--loadEngine=model.plan", "--warmup=0", "--duration=0", "--iteration=50", "--exportTimes=t.json")
        self.assertEqual(len(json.loads((self.path / "t.json").read_text())), 50)


if __name__ == "__main__":
    unittest.main()
