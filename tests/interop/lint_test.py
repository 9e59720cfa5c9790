"""`check lint` beside `polygraphy check lint`: the same models fail, for the same nodes, unless a difference is named."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from peer import polygraphy

ASSAY = os.environ["ASSAY"]
FLOAT = TensorProto.FLOAT


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ASSAY, *words], capture_output=True, text=True)


def info(name: str, shape: list | None, dtype: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, weights=(), opsets=(("", 13),), name="g") -> onnx.ModelProto:
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(a, n) for n, a in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets], ir_version=8)


def node(op: str, inputs: list[str], outputs: list[str], name: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def parallel_faults() -> onnx.ModelProto:
    return model([node("MatMul", ["a", "b"], ["m"], "bad_product"), node("Add", ["a", "c"], ["s"], "bad_sum"),
                  node("NonZero", ["a"], ["z"], "good"), node("Cast", ["z"], ["i"], "good_too", to=TensorProto.INT32)],
                 [info("a", [2, 3]), info("b", [4, 5]), info("c", [7])],
                 [info("m", None), info("s", None), info("i", None, TensorProto.INT32)])


def duplicate_names() -> onnx.ModelProto:
    return model([node("Neg", ["a"], ["b"], "same"), node("Abs", ["a"], ["c"], "same")], [info("a", [2])],
                 [info("b", [2]), info("c", [2])])


def clean() -> onnx.ModelProto:
    return model([node("Relu", ["a"], ["b"], "act"), node("Neg", ["b"], ["c"], "neg")], [info("a", [2])],
                 [info("c", [2])])


def unused() -> onnx.ModelProto:
    return model([node("Relu", ["a"], ["b"], "act"), node("Neg", ["a"], ["c"], "loose")],
                 [info("a", [2]), info("e", [2])], [info("b", [2])])


def unknown_operator() -> onnx.ModelProto:
    return model([node("Fake", ["a"], ["b"], "fake"), node("Neg", ["b"], ["c"], "behind")], [info("a", [2])],
                 [info("c", None)])


def wrong_type() -> onnx.ModelProto:
    return model([node("Add", ["a", "b"], ["c"], "mixed")], [info("a", [2]), info("b", [2], TensorProto.INT64)],
                 [info("c", [2])])


def unnamed_graph() -> onnx.ModelProto:
    return model([node("Relu", ["a"], ["b"], "act")], [info("a", [2])], [info("b", [2])], name="")


def no_nodes() -> onnx.ModelProto:
    return model([], [info("a", [2])], [])


def data_dependent(index: int) -> onnx.ModelProto:
    return model([node("Identity", ["i"], ["j"], "copy"), node("Gather", ["a", "j"], ["b"], "pick")],
                 [info("a", [3])], [info("b", None)], [("i", np.array([index]))])


def bad_attribute() -> onnx.ModelProto:
    return model([node("Softmax", ["a"], ["b"], "soft", axis=9)], [info("a", [2, 2])], [info("b", [2, 2])])


# name -> maker; what differs on purpose is in docs/differences.md.
SAME = {"parallel faults": parallel_faults, "duplicate names": duplicate_names, "clean": clean, "unused": unused,
        "unknown operator": unknown_operator, "wrong type": wrong_type, "unnamed graph": unnamed_graph,
        "no nodes": no_nodes, "index in range": lambda: data_dependent(2), "index out of range": lambda: data_dependent(5),
        "bad attribute": bad_attribute}


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def lint(self, program: Callable[..., subprocess.CompletedProcess], path: pathlib.Path) -> tuple[int, dict]:
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = program("check", "lint", str(path), "-o", str(report))
        return done.returncode, json.loads(report.read_text()) if report.exists() else {}

    def test_same_verdicts(self):
        for name, make in SAME.items():
            path = self.folder / "m.onnx"
            onnx.save(make(), path)
            status, ours = self.lint(assay, path)
            peer_status, theirs = self.lint(polygraphy, path)
            self.assertEqual(status, peer_status, f"{name}: {ours} {theirs}")
            mine, other = set(ours["summary"]["failing"]), set(theirs["summary"]["failing"])
            self.assertLessEqual(other, mine, f"{name}: the peer finds more")
            passing = set(theirs["summary"]["passing"])
            self.assertLessEqual(passing - mine, set(ours["summary"]["passing"]) | {"behind"}, name)
            self.assertFalse(mine & (passing - {"same"}), f"{name}: {mine} fail here and pass there")

    def test_by_the_peers_name_reports_are_the_peers(self):
        named = self.folder / "polygraphy"
        named.symlink_to(ASSAY)

        def as_peer(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([named, *words], capture_output=True, text=True)

        for name in ("parallel faults", "duplicate names", "wrong type", "index out of range", "unused"):
            path = self.folder / "m.onnx"
            onnx.save(SAME[name](), path)
            status, ours = self.lint(as_peer, path)
            peer_status, theirs = self.lint(polygraphy, path)
            self.assertEqual(status, peer_status, name)
            for entry in theirs["lint_entries"]:
                self.assertIn(entry, ours["lint_entries"], name)

    def test_an_operator_set_imported_twice_is_a_warning(self):
        twice = model([node("Relu", ["a"], ["b"], "act")], [info("a", [2])], [info("b", [2])],
                      opsets=(("", 13), ("", 13)))
        onnx.checker.check_model(twice)
        onnxruntime.InferenceSession(twice.SerializeToString(), providers=["CPUExecutionProvider"])
        path = self.folder / "m.onnx"
        onnx.save(twice, path)
        status, report = self.lint(assay, path)
        found = [(entry["level"], entry["code"]) for entry in report["lint_entries"]]
        self.assertEqual((status, found), (0, [("warning", "opset_imported_twice")]))

    def test_equal_names_are_errors_where_onnx_runtime_refuses_them(self):
        constant = model([node("Constant", [], ["k"], "same", value_float=1.0), node("Add", ["a", "k"], ["b"], "same")],
                         [info("a", [2])], [info("b", [2])])
        for named, expected in ((duplicate_names(), 1), (constant, 0)):
            path = self.folder / "m.onnx"
            onnx.save(named, path)
            status, report = self.lint(assay, path)
            self.assertEqual(status, expected)
            self.assertIn("duplicate_node_name", [entry["code"] for entry in report["lint_entries"]])
            try:
                onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
                self.assertEqual(expected, 0)
            except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
                self.assertEqual((expected, "two nodes with same node name" in str(error)), (1, True))

    def test_operator_sets_that_contradict_each_other(self):
        path = self.folder / "m.onnx"
        onnx.save(model([node("Relu", ["a"], ["b"], "act")], [info("a", [2])], [info("b", [2])],
                        opsets=(("", 13), ("", 14))), path)
        self.assertEqual(self.lint(assay, path)[0], 1)

    def test_unused_things_have_the_peers_words(self):
        path = self.folder / "m.onnx"
        onnx.save(unused(), path)
        entries = [self.lint(program, path)[1]["lint_entries"] for program in (assay, polygraphy)]
        messages = [{(entry["message"], tuple(entry.get("nodes", ()))) for entry in found} for found in entries]
        self.assertEqual(messages[0], messages[1])


if __name__ == "__main__":
    unittest.main()
