#!/usr/bin/env python3
"""What `bench` writes, read by another program: statistics are computed again by NumPy from the times that it exports,
and outputs beside ONNX Runtime's: bench_test.py ASSAY
"""

import json
import os
import pathlib
import sys

import numpy as np
import onnxruntime
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

PROGRAM = pathlib.Path(sys.argv.pop(1))
TIME_KEYS = {"startEnqMs", "endEnqMs", "startH2dMs", "endH2dMs", "startComputeMs", "endComputeMs", "startD2hMs",
             "endD2hMs", "h2dMs", "computeMs", "d2hMs", "latencyMs"}


def model():
    weights = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) / 10, "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"]),
             helper.make_node("Log", ["m"], ["z"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "yz"],
                              [weights])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def nearest_rank(times, p):
    return np.sort(times)[max(0, len(times) - 1 - int(np.floor((1 - p / 100) * len(times))))]


class BenchTest(InFolder):
    def bench(self, *words, program=PROGRAM, status=0):
        path = self.save(model())
        return run(program, *([] if program != PROGRAM else ["bench"]), f"--onnx={path}", "--duration=0.1",
                   "--warmUp=20", *words, status=status)

    def load(self, name):
        return json.loads((self.path / name).read_text(), parse_constant=self.fail)

    def check_distribution(self, found, times):
        self.assertAlmostEqual(found["min"], times.min(), delta=1e-12)
        self.assertAlmostEqual(found["max"], times.max(), delta=1e-12)
        np.testing.assert_allclose(found["mean"], times.mean(), rtol=1e-9)
        np.testing.assert_allclose(found["median"], np.median(times), rtol=1e-9)
        np.testing.assert_allclose(found["coefficient_of_variation"], times.std() / times.mean(), rtol=1e-6)
        for entry in found["percentiles"]:
            np.testing.assert_allclose(entry["seconds"], nearest_rank(times, entry["percentile"]), rtol=1e-9)
        low, high = found["mean_interval"]
        pieces = [times[len(times) * i // 20:len(times) * (i + 1) // 20] for i in range(20)]
        half = 2.093 * np.std([np.mean(piece) for piece in pieces], ddof=1) / np.sqrt(20)
        np.testing.assert_allclose(high, times.mean() + half, rtol=1e-6)
        np.testing.assert_allclose(low, max(0, times.mean() - half), rtol=1e-6, atol=1e-15)
        # Of 20 draws, fewer than 6 are below the median with a chance of 2.1%, fewer than 7 with 5.8%.
        medians = sorted(np.median(piece) for piece in pieces)
        low, high = found["median_interval"]
        np.testing.assert_allclose(low, min(medians[5], np.median(times)), rtol=1e-9)
        np.testing.assert_allclose(high, max(medians[14], np.median(times)), rtol=1e-9)
        first, third = nearest_rank(times, 25), nearest_rank(times, 75)
        reach = 3 * (third - first)
        # Many times are the same number of ticks, perhaps just that of a bound, which rounding moves to either side.
        fewest, most = (((times < first - reach - slack) | (times > third + reach + slack)).sum()
                        for slack in (1e-12, -1e-12))
        self.assertTrue(fewest <= found["outliers"] <= most, (fewest, found["outliers"], most))

    def test_statistics_are_those_of_the_exported_times(self):
        for streams in 1, 2:
            self.bench("--iterations=50", f"--infStreams={streams}", f"--exportTimes={self.path / 't.json'}",
                       "--percentile=5,50,99.5", "--with-samples", "--json", self.path / "r.json")
            runs = self.load("t.json")
            self.assertEqual(set(runs[0]), TIME_KEYS)
            side = self.load("r.json")["backends"][0]
            self.assertEqual(side["count"], len(runs))
            self.assertGreaterEqual(len(runs), 50 * streams)
            self.assertEqual({sample["stream"] for sample in side["samples"]}, set(range(streams)))
            for key, column in ("latency", "latencyMs"), ("compute", "computeMs"):
                self.check_distribution(side[key], np.array([entry[column] for entry in runs]) / 1e3)
            ends = np.array([entry["endD2hMs"] for entry in runs])
            seconds = (ends.max() - runs[0]["startH2dMs"]) / 1e3
            np.testing.assert_allclose(side["throughput_qps"], len(runs) / seconds, rtol=1e-6)
            for entry in runs:
                whole = entry["h2dMs"] + entry["computeMs"] + entry["d2hMs"]
                self.assertAlmostEqual(entry["latencyMs"], whole, places=9)

    def test_outputs_and_layers(self):
        x = np.array([[1, 2, 3], [0, 0, -1]], np.float32)  # Log of negative numbers: NaN
        x.tofile(self.path / "x.bin")
        self.bench("--shapes=x:2x3", f"--loadInputs=x:{self.path / 'x.bin'}", "--iterations=20",
                   f"--exportOutput={self.path / 'o.json'}", f"--exportProfile={self.path / 'p.json'}",
                   f"--exportLayerInfo={self.path / 'l.json'}")
        session = onnxruntime.InferenceSession(self.path / "m.onnx")
        for output, expected in zip(self.load("o.json"), session.run(None, {"x": x}), strict=True):
            self.assertEqual(output["dimensions"], "2x4")
            values = np.array([float(value) for value in output["values"]])
            np.testing.assert_allclose(values, expected.flatten(), rtol=1e-5)
        profile, layers = self.load("p.json"), self.load("l.json")
        self.assertEqual(profile[0], {"count": 20})
        self.assertEqual([layer["name"] for layer in profile[1:]], layers["Layers"])
        self.assertEqual(layers["Bindings"], ["x", "y", "z"])
        self.assertAlmostEqual(sum(layer["percentage"] for layer in profile[1:]), 100, places=6)
        for layer in profile[1:]:
            self.assertAlmostEqual(layer["timeMs"], layer["averageMs"] * 20, places=9)

    def test_rivals_run_in_turns(self):
        self.bench("--against", "onnxrt,openvino", "--shapes=x:4x3", "--with-samples", "--json", self.path / "r.json")
        report = self.load("r.json")
        times = {side["backend"]: np.array([sample["compute"] for sample in side["samples"]])
                 for side in report["backends"]}
        starts = {side["backend"]: side["samples"][0]["start"] for side in report["backends"]}
        ends = {side["backend"]: side["samples"][-1]["start"] for side in report["backends"]}
        self.assertLess(max(starts.values()), min(ends.values()))
        self.assertEqual([ratio["backend"] for ratio in report["ratios"]], ["onnxrt", "openvino"])
        for ratio in report["ratios"]:
            rival = times[ratio["backend"]]
            np.testing.assert_allclose(ratio["of_minima"], rival.min() / times["engine"].min(), rtol=1e-9)
            np.testing.assert_allclose(ratio["of_medians"], np.median(rival) / np.median(times["engine"]), rtol=1e-9)
            low, high = ratio["of_medians_interval"]
            self.assertTrue(low <= ratio["of_medians"] <= high)

    def test_a_program_called_trtexec(self):
        link = self.path / "trtexec"
        os.symlink(PROGRAM.resolve(), link)
        self.assertRegex(self.bench(program=link), r"GPU Compute Time: min = \S+ ms, max = \S+ ms, mean = \S+ ms")
        self.assertIn("--exportTimes", run(link))
        self.bench("--exportTime=t.json", program=link, status=2)


if __name__ == "__main__":
    import unittest
    unittest.main()
