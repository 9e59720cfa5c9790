"""check compatibility on ONNX Runtime and OpenVINO, which stop at the first fault: every node that they refuse is named,
no other, in the main graph and in bodies; what depends on values of unknown type is not judged."""

import json
import os
import unittest

import onnx
from in_folder import InFolder, run

ASSAY = os.environ["ASSAY"]
HEADER = '<ir_version: 8, opset_import: ["" : 17, "my" : 1, "com.microsoft" : 1]> '


class CompatibilityTest(InFolder):
    def refused(self, text: str, backend: str) -> tuple[list[str], dict]:
        model = self.save(onnx.parser.parse_model(HEADER + text))
        out = run(ASSAY, "check", "compatibility", model, "--" + backend, "--json", "-", "-qqqq", status=None)
        found = json.loads(out)["backends"][0]
        self.assertTrue(found["usable"], found)
        return [node["node"] for node in found["refused"]], found

    def test_every_refused_node_is_named(self):
        text = """g (float[2] X) => (float[2] Y, float[2] Z) <float[2] a, float[2] c, float[2] d> {
            [n1] a = my.Thing(X) [n2] b = my.Other(a) [n3] c = Relu(b) [n4] d = com.microsoft.Nope(a)
            [n5] Y = my.Thing(d) Z = Neg(X) }"""
        for backend in ("onnxrt", "openvino"):
            with self.subTest(backend):
                nodes, found = self.refused(text, backend)
                self.assertEqual(sorted(nodes), [f"node `n{i}` ({op})" for i, op in
                                                 ((1, "Thing"), (2, "Other"), (4, "Nope"), (5, "Thing"))])
                self.assertEqual((found["node_count"], found["untried_count"]), (6, 1))  # n3 needs a value of no type
                self.assertNotIn("whole_refusal", found)

    def test_one_of_several_nodes_of_an_operator(self):
        # ONNX Runtime has no Neg for unsigned integers; the nodes have no name, or one in common.
        text = """g (float[2] X, uint16[2] W) => (float[2] Y, uint16[2] Z) <float[2] a, uint16[2] b, uint16[2] c> {
            a = Neg(X) Y = Neg(a) b = Neg(W) [same] c = Identity(b) [same] Z = Neg(c) }"""
        nodes, found = self.refused(text, "onnxrt")
        self.assertEqual(len(nodes), 2, found)
        self.assertEqual({node["op"] for node in found["refused"]}, {"Neg"})
        self.assertFalse(any("assay_node" in node["reason"] for node in found["refused"]), found)

    def test_in_a_body(self):
        text = """g (bool c, float[2] X) => (float[2] Y) {
            Y = If (c) <then_branch = t () => (float[2] u) <float[2] v> { [deep] v = my.Thing(X) u = Neg(v) },
                        else_branch = e () => (float[2] w) { w = Identity(X) }> }"""
        nodes, found = self.refused(text, "onnxrt")
        self.assertEqual(nodes, ["node `deep` (Thing)"], found)

    def test_what_lifts_a_refusal_is_said(self):
        text = """g (float[2] X) => (float[2] Y) { Y = own.Twice(X) }
            <domain: "own", opset_import: ["" : 17]> Twice (a) => (b) { b = Add(a, a) }"""
        model = self.save(onnx.parser.parse_model(HEADER.replace('"my" : 1', '"my" : 1, "own" : 1') + text))
        out = run(ASSAY, "check", "compatibility", model, "--openvino", status=1)
        self.assertIn("surgeon sanitize MODEL --passes inline-functions", out)
        self.assertEqual(out.count("inline-functions"), 1)

    def test_a_model_that_is_fine(self):
        nodes, found = self.refused("g (float[2] X) => (float[2] Y) { Y = Relu(X) }", "onnxrt")
        self.assertEqual((nodes, found["untried_count"]), ([], 0))


if __name__ == "__main__":
    unittest.main()
