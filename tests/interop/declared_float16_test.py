"""The engine in float16 as it is declared (`--fp16 --strict`, `--precision-constraints obey`): NumPy's float16 gives the
same bits after each elementwise operator, infinities included, and what `convert --fp-to-fp16` writes gives the same
bits as a whole."""

import json
import os
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from in_folder import InFolder, run

ASSAY = os.environ["ASSAY"]
OBEYED = "--precision-constraints"


def model(nodes, weights, shapes, opset=17):
    """Of float32 inputs and outputs by name; a shape of None is an output's."""
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    outputs = [values.pop(name) for name, shape in shapes.items() if shape is None]
    graph = helper.make_graph(nodes, "g", list(values.values()), outputs,
                              [numpy_helper.from_array(np.asarray(array, np.float32), name)
                               for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(op, inputs, output, name=None, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=name or f"at_{output}", **attributes)


def network(scale):
    """Convolutions, a scale and its inverse, a pool and a product."""
    rng = np.random.default_rng(3)
    weights = {"w": rng.normal(size=(8, 3, 3, 3)) / 5, "v": rng.normal(size=(16, 8, 3, 3)) / 8, "k": scale,
               "j": 1 / scale, "u": rng.normal(size=(16, 10))}
    nodes = [node("Conv", "x w", "a", "first", pads=[1] * 4), node("Relu", "a", "b"),
             node("Conv", "b v", "c", "second", pads=[1] * 4), node("Mul", "c k", "d", "up"),
             node("Mul", "d j", "e", "down"), node("GlobalAveragePool", "e", "p"), node("Flatten", "p", "q"),
             node("MatMul", "q u", "y", "product")]
    feeds = {"x": (rng.normal(size=(1, 3, 16, 16)) * 30).astype(np.float32)}
    return model(nodes, weights, {"x": [1, 3, 16, 16], "y": None}), feeds


class DeclaredFloat16(InFolder):
    def given(self, graph, feeds):
        np.savez(self.path / "in.npz", **feeds)
        return [self.save(graph), "--load-inputs", self.path / "in.npz"]

    def outputs(self, words, *options, command="run", status=0):
        file = self.path / "out.npz"
        file.unlink(missing_ok=True)
        run(ASSAY, command, *words, "--engine", *options, "--save-outputs", file, status=status)
        with np.load(file) as values:
            return dict(values)

    def elementwise(self):
        """A chain, its feeds, and what NumPy says of each value, in float16."""
        rng = np.random.default_rng(5)
        x, z = (rng.standard_t(2, size=2000).astype(np.float32) * 300 for _ in range(2))
        nodes = [node("Mul", "x z", "a"), node("Add", "a x", "b"), node("Sub", "b z", "c"), node("Abs", "c", "d"),
                 node("Sqrt", "d", "e"), node("Div", "e z", "f"), node("Neg", "f", "y")]
        h = {"x": np.float16(x), "z": np.float16(z)}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            h["a"] = h["x"] * h["z"]
            h["b"] = h["a"] + h["x"]
            h["c"] = h["b"] - h["z"]
            h["d"] = np.abs(h["c"])
            h["e"] = np.sqrt(h["d"])
            h["f"] = h["e"] / h["z"]
            h["y"] = -h["f"]
        return model(nodes, {}, {"x": [2000], "z": [2000], "y": None}), {"x": x, "z": z}, h

    def test_elementwise_operators_have_the_bits_of_numpy(self):
        graph, feeds, expected = self.elementwise()
        given = self.given(graph, feeds)
        self.assertGreater(np.isinf(expected["y"]).sum(), 10)
        for options in (["--fp16", "--strict"], [OBEYED, *(f"at_{name}:fp16" for name in "abcdefy")],
                        ["--layer-precisions", "at_*:float16", OBEYED, "obey"],
                        ["--strict", "--layer-precisions", "at_*:half"]):
            found = self.outputs(given, *options, "--onnx-outputs", "mark", "all")
            for name in "abcdefy":
                np.testing.assert_array_equal(found[name].astype(np.float16), expected[name], err_msg=f"{options} {name}")
                np.testing.assert_array_equal(found[name].astype(np.float32), expected[name].astype(np.float32))

    def test_a_layer_alone_is_rounded(self):
        graph, feeds, _ = self.elementwise()
        given = self.given(graph, feeds)
        rounded = self.outputs(given, OBEYED, "at_a:fp16", "--onnx-outputs", "mark", "all")
        with np.errstate(over="ignore"):
            product = (np.float16(feeds["x"]) * np.float16(feeds["z"])).astype(np.float32)
        np.testing.assert_array_equal(rounded["a"], product)
        np.testing.assert_array_equal(rounded["b"], product + feeds["x"])

    def test_without_obey_it_is_a_permission(self):
        graph, feeds, _ = self.elementwise()
        given = self.given(graph, feeds)
        plain = self.outputs(given)
        for options in (["--fp16"], ["--layer-precisions", "at_a:fp16"], ["--fp16", OBEYED, "prefer"]):
            np.testing.assert_array_equal(self.outputs(given, *options)["y"], plain["y"])

    def test_a_network_is_that_of_the_conversion(self):
        graph, feeds = network(8)
        given = self.given(graph, feeds)
        run(ASSAY, "convert", given[0], "--fp-to-fp16", "-o", self.path / "half.onnx")
        declared = self.outputs(given, "--fp16", "--strict")["y"]
        converted = self.outputs([self.path / "half.onnx", *given[1:]], "--strict")["y"]
        np.testing.assert_array_equal(declared, converted)
        self.assertFalse(np.array_equal(declared, self.outputs(given)["y"]))
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.path / "half.onnx", options, providers=["CPUExecutionProvider"])
        (peer,) = session.run(None, feeds)
        np.testing.assert_allclose(declared, peer, rtol=0, atol=2e-3 * np.abs(peer).max())

    def test_a_plan_has_the_same_bits(self):
        graph, feeds = network(8)
        given = self.given(graph, feeds)
        plan = self.path / "m.engine"
        for options in (["--fp16", "--strict"], [OBEYED, "second:fp16"]):
            run(ASSAY, "convert", given[0], "-o", plan, "--force", *options)
            np.testing.assert_array_equal(self.outputs([plan, *given[1:]])["y"], self.outputs(given, *options)["y"])
        run(ASSAY, "run", plan, *given[1:], "--engine", "--fp16", "--strict", status=2)

    def test_bodies_are_rounded_too(self):
        body = helper.make_graph(
            [node("Mul", "h k", "g", "within"), node("Identity", "c", "d")], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("h", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("g", TensorProto.FLOAT, [4])])
        graph = model([helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)], {"k": 1.1},
                      {"x": [4], "y": None})
        graph.graph.initializer.append(numpy_helper.from_array(np.int64(9), "n"))
        x = np.float32([1, 2.3, 1e-6, 30000])
        given = self.given(graph, {"x": x})
        with np.errstate(over="ignore"):
            expected = np.float16(x)
            for _ in range(9):
                expected = expected * np.float16(1.1)
        self.assertTrue(np.isinf(expected[3]))
        for options in (["--fp16", "--strict"], [OBEYED, "within:fp16", "loop:fp16"]):
            np.testing.assert_array_equal(self.outputs(given, *options)["y"], expected.astype(np.float32))

    def test_an_overflow_is_found_and_cured(self):
        graph, feeds = network(3000)
        given = self.given(graph, feeds)
        self.assertTrue(np.isnan(self.outputs(given, "--fp16", "--strict")["y"]).all())
        report = self.path / "report.json"
        run(ASSAY, "debug", "accuracy", *given, "--engine", "--fp16", "--strict", "--json", report, status=1)
        first = json.loads(report.read_text())["first_guilty"]
        self.assertEqual(first["node"], "up")
        self.assertEqual(first["cause"], "overflow")
        out = run(ASSAY, "run", *given, "--engine", "--onnxrt", "--fp16", "--strict", "--onnx-outputs", "mark", "all",
                  "--atol", "1", "--rtol", "0.1", status=1)
        self.assertIn("First beyond tolerance in the order of the graph: `d`", out)
        run(ASSAY, "run", *given, "--engine", "--onnxrt", "--fp16", "--strict", "--layer-precisions", "up:float32",
            "down:float32", "--atol", "2", "--rtol", "0.05")

    def test_debug_precision_finds_layers_from_both_ends(self):
        graph, feeds = network(8)
        given = self.given(graph, feeds)
        names = [each.name for each in graph.graph.node]
        true = self.outputs(given)["y"]

        def error(kept):
            half = self.path / "half.onnx"
            run(ASSAY, "convert", given[0], "--fp-to-fp16", "-o", half, "--force", *(["--exclude", *kept] if kept else []))
            return np.abs(self.outputs([half, *given[1:]], "--strict")["y"] - true).max()

        for direction, ends in (("forward", [names[:i] for i in range(1, len(names))]),
                                ("reverse", [names[i:] for i in range(1, len(names))])):
            best = min(map(error, ends))
            self.assertLess(best, error([]))
            most = (best + error([])) / 2
            report = self.path / "report.json"
            run(ASSAY, "debug", "precision", *given, "--fp16", "--mode", "linear", "--direction", direction, "--engine", "--against", "ref",
                "--atol", most, "--rtol", 0, "--json", report)
            kept = [each["name"] for each in json.loads(report.read_text())["kept"]]
            self.assertEqual(kept, names[:len(kept)] if direction == "forward" else names[-len(kept):])
            self.assertTrue(0 < len(kept) < len(names), kept)
            self.assertLessEqual(error(kept), 1.01 * most)
            self.assertGreater(error(kept[:-1] if direction == "forward" else kept[1:]), most)

    def test_beside_integers(self):
        graph, feeds = network(8)
        given = self.given(graph, feeds)
        plan, report = self.path / "m.engine", self.path / "report.json"
        words = ["--int8", "--calibration", "minmax", OBEYED, "second:fp16"]
        run(ASSAY, "convert", *given, *words, "-o", plan)
        run(ASSAY, "inspect", "model", plan, "--show", "layers", "--json", report)
        self.assertIn("float16", report.read_text())
        found = self.outputs(given, *words)["y"]
        np.testing.assert_array_equal(found, self.outputs([plan, *given[1:]])["y"])
        self.assertFalse(np.array_equal(found, self.outputs(given, *words[:3])["y"]))

    def test_what_cannot_be_is_said(self):
        graph, feeds, _ = self.elementwise()
        graph.graph.node.append(node("CumSum", "y axis", "s", "sums"))
        graph.graph.initializer.append(numpy_helper.from_array(np.int64(0), "axis"))
        graph.graph.output.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, None))
        given = self.given(graph, feeds)
        run(ASSAY, "run", *given, "--engine", OBEYED, "sums:int8", status=3)
        run(ASSAY, "run", *given, "--engine", OBEYED, "summs:fp16", status=2)


if __name__ == "__main__":
    unittest.main()
