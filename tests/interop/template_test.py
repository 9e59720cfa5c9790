"""The script that `assay template onnx-gs` writes runs with the real ONNX GraphSurgeon and saves what it says."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

ASSAY = os.environ["ASSAY"]


class TemplateTest(unittest.TestCase):
    def test_the_script_cuts_the_model_and_saves_it_beside(self):
        nodes = [helper.make_node("Exp", ["x"], ["it's"]), helper.make_node("Neg", ["it's"], ["y"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                      folder / "net.onnx")
            script = folder / "edit.py"
            subprocess.run([ASSAY, "template", "onnx-gs", str(folder / "net.onnx"), "-o", str(script), "--shape-inference",
                            "--onnx-outputs", "it's"], check=True, capture_output=True)
            self.assertTrue(os.access(script, os.X_OK))
            subprocess.run([sys.executable, str(script)], check=True, capture_output=True)
            updated = onnx.load(folder / "net_updated.onnx")
        self.assertEqual([output.name for output in updated.graph.output], ["it's"])
        self.assertEqual([node.op_type for node in updated.graph.node], ["Exp"])


if __name__ == "__main__":
    unittest.main()
