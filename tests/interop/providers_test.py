"""Providers of ONNX Runtime from libraries of their own, beside the Python package: which node ran where, parts that a
provider has compiled, and libraries that cannot be used. The provider is tests/libraries/relu_provider.cpp.

    providers_test.py RELU_PROVIDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
LIBRARY = sys.argv.pop(1)
FLOAT = TensorProto.FLOAT


def graph_of(nodes, constants=()):
    value = lambda name: helper.make_tensor_value_info(name, FLOAT, [2, 3])  # noqa: E731
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def network():
    weights = numpy_helper.from_array(np.arange(9, dtype=np.float32).reshape(3, 3) - 4, "w")
    return graph_of([helper.make_node("MatMul", ["x", "w"], ["a"], "product"),
                     helper.make_node("Relu", ["a"], ["b"], "rectify"),
                     helper.make_node("Neg", ["b"], ["y"], "negate")], [weights])


def compiled(**attributes):
    facts = {"source": "ReluProvider", "ep_sdk_version": "1.0.0", "embed_mode": 1, "ep_cache_context": b"\x00code" * 100,
             "main_context": 1} | attributes
    return graph_of([helper.make_node("EPContext", ["x"], ["y"], "part", domain="com.microsoft", **facts)])


class Providers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        onnx.save(network(), self.folder / "m.onnx")
        onnx.save(compiled(), self.folder / "compiled.onnx")

    def assay(self, *words, told="", status=0):
        done = subprocess.run([ASSAY, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env=os.environ | {"RELU_PROVIDER": told})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_report(self, *words, **how):
        text = self.assay("run", *words, "--json", "report.json", **how)
        return text, json.loads((self.folder / "report.json").read_text())

    def expected(self, model):
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if "relu" not in {device.ep_metadata.get("name") for device in onnxruntime.get_ep_devices()}:
            try:
                onnxruntime.register_execution_provider_library("relu", LIBRARY)
            except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
                pass  # by an earlier test
        devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "ReluProvider"]
        options.add_provider_for_devices(devices[:1], {})
        session = onnxruntime.InferenceSession(model, options)
        return [(part.ep_name, node.name, node.op_type) for part in session.get_provider_graph_assignment_info()
                for node in part.get_nodes()]

    def test_nodes_are_told_as_the_package_tells_them(self):
        text, report = self.run_report("m.onnx", "--onnxrt", "--ref", "--ep", f"ReluProvider={LIBRARY}",
                                       "--show-assignment")
        runs = {run["runner"].split("-")[0]: run for run in report["runs"]}
        told = [(node["provider"], node["node"], node["op"]) for node in runs["onnxrt"]["assignment"]]
        self.assertEqual(sorted(told), sorted(self.expected(self.folder / "m.onnx")))
        self.assertNotIn("assignment", runs["ref"])
        self.assertIn("ReluProvider: 1 node(s)\n", text)
        self.assertIn("Relu `rectify`", text)
        self.assertIn("'ReluProvider', 'CPUExecutionProvider'", text)

    def test_a_part_of_a_name_is_enough_and_none_for_one_provider(self):
        for word in (f"relu={LIBRARY}", LIBRARY):
            _, report = self.run_report("m.onnx", "--onnxrt", "--ep", word, "--show-assignment")
            providers = {node["provider"] for node in report["runs"][0]["assignment"]}
            self.assertEqual(providers, {"ReluProvider", "CPUExecutionProvider"})

    def test_without_a_provider_all_is_the_processors(self):
        _, report = self.run_report("m.onnx", "--onnxrt", "--show-assignment")
        self.assertEqual({node["provider"] for node in report["runs"][0]["assignment"]}, {"CPUExecutionProvider"})

    def test_the_listing_says_what_is_left_to_the_processor(self):
        text = self.assay("inspect", "capability", "m.onnx", "--onnxrt", "--ep", LIBRARY)
        self.assertIn("CPUExecutionProvider", text)
        self.assertIn("MatMul", text)
        self.assertNotIn("rectify` on", text)

    def test_a_profile_says_who_computes_a_layer(self):
        text = self.assay("profile", "m.onnx", "--onnxrt", "--ep", LIBRARY, "-o", "trace.json")
        self.assertIn("on ReluProvider", text)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        providers = {event["args"].get("provider") for event in events if event.get("cat") == "layer"}
        self.assertEqual(providers, {"ReluProvider", "CPUExecutionProvider"})

    def test_compiled_parts_are_listed_and_run(self):
        text = self.assay("inspect", "model", "compiled.onnx", "--show", "layers", "attrs")
        self.assertRegex(text, r"Compiled Parts: 1\n +`part`: ReluProvider 1\.0\.0, 500 B inside\n")
        self.assertIn("ep_cache_context = <500 bytes>", text)
        self.assay("run", "compiled.onnx", "--onnxrt", "--ep", LIBRARY, "--save-inputs", "in.json", "--save-outputs",
                   "out.json")
        self.assay("run", "m.onnx", "--onnxrt", "--model-type", "onnx", "--load-inputs", "in.json")
        rectified = graph_of([helper.make_node("Relu", ["x"], ["y"], "rectify")])
        onnx.save(rectified, self.folder / "relu.onnx")
        self.assay("run", "relu.onnx", "--ref", "--load-inputs", "in.json", "--load-outputs", "out.json", "--atol", "0")

    def test_a_compiled_part_in_a_file(self):
        onnx.save(compiled(embed_mode=0, ep_cache_context=b"part.bin", hardware_architecture="x86"),
                  self.folder / "beside.onnx")
        text = self.assay("inspect", "model", "beside.onnx")
        self.assertIn("`part`: ReluProvider 1.0.0, for x86, in `part.bin`", text)
        self.assay("inspect", "model", "beside.onnx", "--json", "listing.json")
        overview = json.loads((self.folder / "listing.json").read_text())
        self.assertEqual(overview["compiled"][0]["file"], "part.bin")

    def test_others_refuse_compiled_parts_and_say_who_runs_them(self):
        for backend in ("--ref", "--engine"):
            text = self.assay("run", "compiled.onnx", backend, status=3)
            self.assertIn("compiled for an execution provider of ONNX Runtime", text)
        text = self.assay("run", "compiled.onnx", "--onnxrt", status=3)
        self.assertIn("ReluProvider", text)

    def test_libraries_that_cannot_be_used(self):
        (self.folder / "text.so").write_text("no library" * 100)
        cases = [("nothere.so", "", 2, "no library `nothere.so`"),
                 ("text.so", "", 3, "invalid ELF header"),
                 ("libm.so.6", "", 2, "no library"),
                 (f"other={LIBRARY}", "", 2, "no provider `other`; available: ReluProvider"),
                 (LIBRARY, "wants-newer", 3, "needs version 1023"),
                 (LIBRARY, "has-no-device", 3, "no provider for a device of this machine"),
                 (LIBRARY, "dies", 3, "was killed by signal 6"),
                 (LIBRARY, "dies-late", 3, "was killed by signal 6")]
        for word, told, status, expected in cases:
            with self.subTest(word=word, told=told):
                text = self.assay("run", "m.onnx", "--onnxrt", "--ref", "--ep", word, told=told, status=status)
                faults = [line for line in text.splitlines() if "error" in line.lower()]
                self.assertEqual(len(faults), 1, text)
                self.assertIn(expected, text)

    def test_options_of_a_provider_are_pairs(self):
        text = self.assay("run", "m.onnx", "--onnxrt", "--ep", LIBRARY, "--ep-options", "threads", status=2)
        self.assertIn("expected KEY=VALUE for a provider", text)
        self.assay("run", "m.onnx", "--onnxrt", "--ep", LIBRARY, "--ep-options", "threads=2", "mode=a=b")


if __name__ == "__main__":
    unittest.main()
