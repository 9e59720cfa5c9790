"""`assay run pipeline.yaml`: chains of models beside ONNX Runtime's own chain, and files with a planted fault."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
PIPELINE = """
stages:
  - {name: encoder, model: encoder.onnx}
  - name: decoder
    model: models/decoder.onnx
    inputs: {states: encoder.hidden}
  - {name: head, model: head.onnx}
"""


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def dense(source, result, rows, columns, seed, rounded=False):
    """result = tanh(source W); `rounded`: by a detour through numbers that float32 cannot hold exactly."""
    weight = (np.random.default_rng(seed).standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)
    nodes = [helper.make_node("MatMul", [source, "w"], ["m"]), helper.make_node("Tanh", ["m"], ["t"])]
    if rounded:
        nodes += [helper.make_node("Add", ["t", "large"], ["s"]), helper.make_node("Sub", ["s", "large"], [result])]
    else:
        nodes.append(helper.make_node("Identity", ["t"], [result]))
    constants = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.float32(1e7), "large")]
    graph = helper.make_graph(nodes, "g", [info(source, ["n", rows])], [info(result, ["n", columns])], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class PipelineTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "models").mkdir()
        (self.folder / "p.yaml").write_text(PIPELINE)

    def save(self, faulty=None):
        onnx.save(dense("x", "hidden", 8, 16, 1, faulty == "encoder"), self.folder / "encoder.onnx")
        onnx.save(dense("states", "latent", 16, 16, 2, faulty == "decoder"), self.folder / "models/decoder.onnx")
        onnx.save(dense("latent", "y", 16, 4, 3, faulty == "head"), self.folder / "head.onnx")

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def run_pipeline(self, *words, status=0):
        done = self.assay("run", "p.yaml", "--json", "r.json", *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.text = done.stdout
        return json.loads((self.folder / "r.json").read_text())

    def chain(self, x):
        """The output of ONNX Runtime's own chain."""
        value = x
        for path in ("encoder.onnx", "models/decoder.onnx", "head.onnx"):
            session = onnxruntime.InferenceSession(self.folder / path, providers=["CPUExecutionProvider"])
            value = session.run(None, {session.get_inputs()[0].name: value})[0]
        return value

    def test_outputs_are_those_of_a_chain(self):
        self.save()
        x = np.random.default_rng(5).standard_normal((3, 8)).astype(np.float32)
        for name in ("x", "encoder.x"):
            np.savez(self.folder / "i.npz", **{name: x})
            report = self.run_pipeline("--onnxrt", "--engine", "--ref", "--load-inputs", "i.npz")
            self.assertEqual([stage["name"] for stage in report["stages"]], ["encoder", "decoder", "head"])
            self.assertEqual(report["first_guilty"], "")
            expected = self.chain(x)
            last = report["stages"][-1]
            for pair in last["pairs"] + last["chained"]:
                stats = pair["iterations"][0]["outputs"][0]["a"]
                self.assertAlmostEqual(stats["mean"], float(expected.astype(np.float64).mean()), places=6)

    def test_the_file_at_fault_is_named(self):
        for name, path in (("encoder", "encoder.onnx"), ("decoder", "models/decoder.onnx"), ("head", "head.onnx")):
            with self.subTest(name):
                self.save(faulty=name)
                report = self.run_pipeline("--onnxrt", "--ref-fp64", "--save-inputs", "stage.npz", "--atol", "1e-3",
                                           status=1)
                self.assertEqual((report["first_guilty"], report["inputs"]), (name, "stage.npz"))
                verdicts = [stage["verdict"] for stage in report["stages"]]
                self.assertEqual(verdicts.count("failed"), 1)
                self.assertIn(f"First file at fault: {path}", self.text)
                command = report["command"].split()
                self.assertEqual(command[1:4], ["debug", "accuracy", path])
                self.assertIn(self.assay(*command[1:]).returncode, (0, 1))

    def test_differences_that_grow_are_told_apart(self):
        self.save(faulty="encoder")
        report = self.run_pipeline("--onnxrt", "--ref-fp64", "--atol", "1e-3", status=1)
        self.assertEqual([stage["chained_verdict"] for stage in report["stages"][1:]], ["failed", "failed"])
        self.assertEqual([stage["verdict"] for stage in report["stages"]], ["failed", "passed", "passed"])

    def test_wrong_pipelines(self):
        self.save()
        for text, line in ((PIPELINE.replace("encoder.hidden", "encoder.hiden"), "did you mean `hidden`?"),
                           (PIPELINE.replace("{states:", "{state:"), "did you mean `states`?"),
                           (PIPELINE.replace("encoder.hidden", "head.y"), "no stage before this one is called `head`"),
                           (PIPELINE.replace("stages:", "stage:"), "did you mean `stages`?"),
                           (PIPELINE.replace("head.onnx", "none.onnx"), "none.onnx"), ("[", "line 1")):
            (self.folder / "p.yaml").write_text(text)
            done = self.assay("run", "p.yaml", "--ref", "--onnxrt")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(line, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        (self.folder / "p.yaml").write_text(PIPELINE)
        self.assertEqual(self.assay("run", "p.yaml", "--ref", "--decode", 3).returncode, 3)


if __name__ == "__main__":
    unittest.main()
