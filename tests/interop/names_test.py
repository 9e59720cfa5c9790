"""Names and texts of a model that hold control characters come out escaped, in every command and form of report: they
neither steer a terminal nor look like lines of ours."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
EVIL = "\x1b[31m\x07\x7f\x9b1m\r\n[I] FORGED"


def evil(name: str) -> str:
    return name + EVIL


def make_model(path: pathlib.Path, scale: float = 1.0):
    weight = numpy_helper.from_array(np.full((4, 4), scale, np.float32), evil("w"))
    shape = numpy_helper.from_array(np.array([2, 2, 4], np.int64), evil("s"))
    nodes = [
        helper.make_node("MatMul", [evil("x"), evil("w")], [evil("a")], name=evil("mm"), doc_string=evil("doc")),
        helper.make_node("Relu", [evil("a")], [evil("b")], name=evil("relu")),
        helper.make_node("Reshape", [evil("b"), evil("s")], [evil("y")], name=evil("shape")),
        helper.make_node("LeakyRelu", [evil("a")], [evil("z")], name=evil("leaky"), alpha=0.5),
    ]
    x = helper.make_tensor_value_info(evil("x"), TensorProto.FLOAT, [evil("n"), 4], doc_string=evil("doc"))
    outputs = [helper.make_tensor_value_info(evil("y"), TensorProto.FLOAT, [2, 2, 4]),
               helper.make_tensor_value_info(evil("z"), TensorProto.FLOAT, [evil("n"), 4])]
    graph = helper.make_graph(nodes, evil("graph"), [x], outputs, [weight, shape], doc_string=evil("doc"))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name=evil("producer"), doc_string=evil("doc"))
    helper.set_model_props(model, {evil("key"): evil("value")})
    onnx.save(model, path)


def make_damaged_model(path: pathlib.Path):
    nodes = [helper.make_node(evil("Op"), [evil("nowhere")], [evil("y")], name=evil("n"), domain=evil("d")),
             helper.make_node("Relu", [evil("y")], [evil("y")], name=evil("n"), **{"what": evil("text")})]
    y = helper.make_tensor_value_info(evil("y"), TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, evil("graph"), [], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class NamesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        make_model(self.folder / "m.onnx")
        make_model(self.folder / "other.onnx", 1.5)
        make_damaged_model(self.folder / "bad.onnx")

    def check_text(self, text: bytes, what: str):
        decoded = text.decode()
        found = [c for c in decoded if c != "\n" and c != "\t" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
        self.assertEqual(found, [], f"{what}: {decoded[:3000]!r}")
        is_model_text = "'text'" in what  # the model itself, whose strings may hold line breaks
        forged = [line for line in decoded.splitlines() if line.startswith("[I] FORGED") and not is_model_text]
        self.assertEqual(forged, [], f"{what}: {decoded[:3000]!r}")

    def run_assay(self, *words: str, statuses=(0,), reports=()):
        done = subprocess.run([ASSAY, *words], cwd=self.folder, capture_output=True, timeout=600)
        self.assertIn(done.returncode, statuses, (words, done.stdout[-2000:], done.stderr[-2000:]))
        self.check_text(done.stdout, f"{words} stdout")
        self.check_text(done.stderr, f"{words} stderr")
        for name in reports:
            self.check_text((self.folder / name).read_bytes(), f"{words} {name}")
            if name.endswith(".json"):
                json.loads((self.folder / name).read_text())
        return done

    def test_listings(self):
        for model in "m.onnx", "bad.onnx":
            for show in [], ["--show", "layers", "attrs", "weights"], ["--show", "layers", "cost"], ["--show", "text"]:
                self.run_assay("inspect", "model", model, *show, "-v")
            self.run_assay("inspect", "model", model, "--show", "layers", "attrs", "weights", "--json", "r.json",
                           reports=["r.json"])
            self.run_assay("inspect", "model", model, "--shape-inference", "--list-unbounded-dds", "--json", "-")
            self.run_assay("check", "lint", model, "-vvvv", "--json", "r.json", "--input-shapes", evil("x") + ":[4,4]",
                           statuses=(0, 1) if model == "m.onnx" else (2,), reports=["r.json"])
            self.run_assay("check", "lint", model, "--static", "--json", "r.json", statuses=(0, 1), reports=["r.json"])
            self.run_assay("check", "compatibility", model, "--ref", "--onnxrt", "--openvino", "--json", "r.json", "-v",
                           statuses=(0, 1), reports=["r.json"])
            self.run_assay("run", model, "--ref", "--input-shapes", evil("nobody") + ":[1]", statuses=(0, 2))
        self.run_assay("inspect", "diff", "m.onnx", "other.onnx", "-v", "--json", "r.json", statuses=(1,),
                       reports=["r.json"])
        self.run_assay("inspect", "diff", "m.onnx", "bad.onnx", "-v", "--json", "r.json", statuses=(1,),
                       reports=["r.json"])
        self.run_assay("inspect", "sparsity", "m.onnx", "-v", "--json", "r.json", reports=["r.json"])

    def test_runs_and_data(self):
        shape = evil("x") + ":[4,4]"
        self.run_assay("run", "m.onnx", "--ref", "--onnxrt", "--openvino", "--onnx-outputs", "mark", "all", "-vv",
                       "--input-shapes", shape, "--save-inputs", "i.json", "--save-outputs", "o.json", "--json",
                       "r.json", "--junit", "r.xml", "--report", "r.html", "--save-accuracy-results", "a.json",
                       "--check-average", "--check-error-stat", "max", "--validate", "--save-heatmaps", "maps", "--save-error-metrics-plot", "plots",
                       "--log-file", "log.txt", reports=["r.json", "r.xml", "r.html", "log.txt"])
        self.run_assay("run", "other.onnx", "--ref", "--load-inputs", "i.json", "--load-outputs", "o.json", "-v",
                       "--json", "r.json", "--junit", "r.xml", "--report", "r.html", statuses=(1,),
                       reports=["r.json", "r.xml", "r.html"])
        for path in "i.json", "o.json", "a.json":
            words = [] if path == "a.json" else ["--show-values", "--histogram"]
            self.run_assay("inspect", "data", path, *words, "--json", "r.json", reports=["r.json"])
        self.run_assay("check", "accuracy", "a.json", "-v", "--json", "r.json", reports=["r.json"])
        self.run_assay("inspect", "diff", "i.json", "o.json", "-v", "--json", "r.json", statuses=(1,),
                       reports=["r.json"])
        self.run_assay("data", "to-input", "i.json", "o.json", "-o", "all.json", "-v", statuses=(0, 2))
        self.run_assay("data", "convert", "i.json", "-o", "i.npz", "-v")

    def test_edits_and_conversions(self):
        for edit in (["surgeon", "sanitize", "--simplify", "--fuse", "--explain", "--cleanup"],
                     ["surgeon", "extract", "--inputs", evil("a") + ":auto:auto", "--outputs", evil("z") + ":auto"],
                     ["surgeon", "insert", "--inputs", evil("a"), "--outputs", evil("a"), "--op", "Tanh"],
                     ["surgeon", "prune"], ["surgeon", "weight-strip"],
                     ["convert", "--fp-to-fp16", "--measure", "--explain"],
                     ["convert", "--weights", "int8"],
                     ["convert", "--int8", "--explain"]):
            word = 1 if edit[0] == "convert" else 2
            self.run_assay(*edit[:word], "m.onnx", *edit[word:], "-o", "e.onnx", "-v", "--json", "r.json",
                           statuses=(0, 2), reports=[])
            self.run_assay(*edit[:word], "bad.onnx", *edit[word:], "-o", "e.onnx", "-v", statuses=(0, 1, 2, 3))
            if (self.folder / "r.json").exists():
                self.check_text((self.folder / "r.json").read_bytes(), f"{edit} r.json")
        self.run_assay("template", "shard-hints", "m.onnx", "-o", "hints.json", statuses=(0, 1, 2, 3))


if __name__ == "__main__":
    unittest.main()
