#!/usr/bin/env python3
"""The lines of trtexec in users' notes (docs/seeds.md), as they stand there, by a program that is called trtexec: trtexec_test.py ASSAY

Warm-up and duration are cut to a tenth of a second where a line leaves them to the defaults.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SHORT = ("--duration=0.05", "--warmUp=20")
# What trtexec 11 has beyond trtexec 10.
NEWEST = """loadRefOutputs refPair accuracyAlgorithm accuracyThreshold tuneBuildRoutes tuneBuildRouteFile tuningSearch
tuningCacheFile tuningTimeOut setBuildRoute helpBuildRoute saveAllEngines dryRun remoteAutoTuningConfig timeDeserialize timeRefit
dumpRefit dumpRawBindingsToFile dumpOptimizationProfile saveAllDebugTensors markUnfusedTensorsAsDebugTensors getPlanVersionOnly
monitorMemory asyncFileReader tempdir tempfileControls stripAllWeights leanDLLPath staticPlugins dynamicPlugins
setPluginsToSerialize enablePluginOverride ignoreParsedPluginLibs runtimePlatform tilingOptimizationLevel l2LimitForTiling
decomposableAttentions cpuOnly consistency layerDeviceTypes buildDLAStandalone adjustForDLA reportCapabilityDLA""".split()
PROFILE = ("--minShapes=x:0:1x1x28x28", "--optShapes=x:0:4x1x28x28", "--maxShapes=x:0:16x1x28x28")
SHAPES = "--shapes=x:0:4x1x28x28"


def model(batch="n"):
    """With the names of the notes: input `x:0`, output `y:0`."""
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
               for name, shape in (("kernel", (4, 1, 5, 5)), ("matrix", (4 * 28 * 28, 10)))]
    nodes = [helper.make_node("Conv", ["x:0", "kernel"], ["c"], pads=[2, 2, 2, 2]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("MatMul", ["f", "matrix"], ["y:0"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x:0", TensorProto.FLOAT, [batch, 1, 28, 28])],
                              [helper.make_tensor_value_info("y:0", TensorProto.FLOAT, [batch, 10])], weights)
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

    def expected(self, batch=4):
        """Inputs, and what onnxruntime gives for them."""
        inputs = np.random.default_rng(1).normal(size=(batch, 1, 28, 28)).astype(np.float32)
        session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
        return inputs, session.run(None, {"x:0": inputs})[0]

    def test_references(self):
        inputs, outputs = self.expected()
        for name, data in (("in.bin", inputs), ("good.bin", outputs), ("bad.bin", outputs + 1), ("in1.bin", inputs * 0),
                           ("nan.bin", np.where(outputs == outputs[0, 0], np.nan, outputs).astype(np.float32))):
            data.tofile(name)
        words = ("--onnx=model.onnx", SHAPES, "--loadInputs='x:0':in.bin", "--accuracyThreshold=0.1", *SHORT)
        words = [word.replace("'x:0'", "x:0") for word in words]
        printed = self.trtexec(*words, "--loadRefOutputs=y:0:good.bin", "--rtol=1e-3", "--atol=1e-3")
        self.assertIn("Reference 0: output `y:0` passed (l0 0, at most 0.1 is allowed)", printed)
        for loss in ("l0", "l1", "l2", "lInf", "cos"):
            self.trtexec(*words, "--loadRefOutputs=y:0:good.bin", f"--accuracyAlgorithm={loss}", "--rtol=1e-3",
                         "--atol=1e-3")
            self.trtexec(*words, "--loadRefOutputs=y:0:nan.bin", f"--accuracyAlgorithm={loss}", "--accuracyThreshold=1e-3",
                         status=1)
        self.trtexec(*words, "--loadRefOutputs=y:0:bad.bin", "--json=report.json", status=1)
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual([(loss["output"], loss["passed"]) for loss in report["losses"]], [("y:0", False)])
        self.assertEqual(report["losses"][0]["loss"], 1)

    def test_pairs_of_references(self):
        inputs, outputs = self.expected()
        (inputs * 0).tofile("zeros.bin")
        np.zeros_like(outputs).tofile("none.bin")
        inputs.tofile("in.bin")
        outputs.tofile("out.bin")
        pairs = ("--refPair=0", "--loadInputs=x:0:in.bin", "--loadRefOutputs=y:0:out.bin", "--refPair=1",
                 "--loadInputs=x:0:zeros.bin", "--loadRefOutputs=y:0:none.bin")
        rest = ("--onnx=model.onnx", SHAPES, "--accuracyAlgorithm=lInf", "--accuracyThreshold=0.01", *SHORT)
        printed = self.trtexec(*pairs, *rest)
        self.assertIn("Reference 1: output `y:0` passed", printed)
        self.trtexec(*pairs, *rest, "--refPair=3", status=2)
        self.trtexec("--loadRefOutputs=y:0:out.bin", "--onnx=model.onnx", SHAPES, *SHORT, status=2)
        self.trtexec("--loadRefOutputs=z:out.bin", *rest, status=2)

    def test_times_of_loading(self):
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=model.plan", "--refit", "--buildOnly")
        printed = self.trtexec("--loadEngine=model.plan", "--timeDeserialize", "--json=report.json")
        self.assertRegex(printed, r"Average time to deserialize: \S+ ms .*of 20 times, the first \S+ ms; ")
        self.assertNotIn("Throughput", printed)
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual(report["loads"][0]["bytes"], (self.path / "model.plan").stat().st_size)
        printed = self.trtexec("--loadEngine=model.plan", "--timeRefit", "--refitFromOnnx=model.onnx", SHAPES, *SHORT)
        self.assertIn("Average time to refit: ", printed)
        self.check_performance(printed)
        self.trtexec("--onnx=model.onnx", "--timeDeserialize", status=2)
        self.trtexec("--loadEngine=model.plan", "--timeRefit", status=2)

    def test_dumps(self):
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=model.plan", "--buildOnly")
        printed = self.trtexec("--loadEngine=model.plan", SHAPES, "--dumpOptimizationProfile", "--monitorMemory", *SHORT)
        self.assertIn("x:0: min=1x1x28x28, opt=4x1x28x28, max=16x1x28x28", printed)
        self.assertRegex(printed, "Memory of the process: .* now, .* at most")
        self.assertIn("Plan was created by Assay", self.trtexec("--loadEngine=model.plan", "--getPlanVersionOnly"))
        self.trtexec("--onnx=model.onnx", "--getPlanVersionOnly", status=2)
        printed = self.trtexec("--onnx=model.onnx", SHAPES, "--dumpRefit", *SHORT)
        self.assertIn("Refittable weights: 2", printed)
        self.assertIn("kernel: float32 (4x1x5x5)", printed)

    def test_files_of_values(self):
        inputs, outputs = self.expected()
        inputs.tofile("in.bin")
        self.trtexec("--onnx=model.onnx", SHAPES, "--loadInputs=x:0:in.bin", "--dumpRawBindingsToFile", *SHORT)
        given = np.fromfile("x_0.input.4.1.28.28.float32.raw", np.float32)
        np.testing.assert_array_equal(given, inputs.ravel())
        seen = np.fromfile("y_0.output.4.10.float32.raw", np.float32)
        np.testing.assert_allclose(seen, outputs.ravel(), rtol=1e-3, atol=1e-3)
        self.save(model(4), "fixed.onnx")  # where shapes come with inputs, all values are kept apart
        self.trtexec("--onnx=fixed.onnx", "--markUnfusedTensorsAsDebugTensors",
                     "--saveAllDebugTensors=summary,numpy,string,raw", *SHORT)
        summary = json.loads((self.path / "tensor_summary.json").read_text())
        names = {tensor["name"] for tensor in summary["tensors"]}
        self.assertIn("r", names)
        self.assertNotIn("c", names)  # the convolution has taken its activation in
        self.assertNotIn("y:0", names)
        for tensor in summary["tensors"]:
            array = np.load(tensor["files"]["numpy"])
            raw = np.fromfile(tensor["files"]["raw"], np.float32)
            np.testing.assert_array_equal(array.ravel(), raw)
            self.assertAlmostEqual(tensor["statistics"]["max"], float(array.max()))
        self.trtexec("--onnx=model.onnx", SHAPES, "--saveAllDebugTensors=png", *SHORT, status=2)

    def test_all_names_are_known(self):
        self.assertEqual(len(NEWEST), 43)
        done = subprocess.run([PROGRAM, "bench", "--help"], capture_output=True, text=True, check=True)
        names = set(re.findall(r"--(\w+)", done.stdout))
        unknown = [name for name in NEWEST if name not in names]
        for name in unknown:  # those that are spelled so are not listed
            done = subprocess.run(["./trtexec", "--" + name, "--onnx=none.onnx"], capture_output=True, text=True)
            self.assertNotIn("unknown option", done.stderr, name)

    def test_weights_are_stripped(self):
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=whole.plan", "--buildOnly")
        self.trtexec("--onnx=./model.onnx", *PROFILE, "--saveEngine=bare.plan", "--stripAllWeights", "--buildOnly")
        self.assertLess((self.path / "bare.plan").stat().st_size, (self.path / "whole.plan").stat().st_size)


if __name__ == "__main__":
    unittest.main()
