"""`assay surgeon sanitize` beside the peer's: the structure that users' scripts rely on, and outputs that stay the same,
bit for bit on ONNX Runtime where only constants were folded."""

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
PEER = str(pathlib.Path(__file__).resolve().parents[2] / ".venv" / "bin" / "polygraphy")


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, weights=(), opset=17):
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"n_{outputs[0]}", **attributes)


def const_foldable():
    weights = [(name, np.ones((1, 3), np.float32)) for name in "abd"]
    nodes = [node("Add", ["a", "b"], ["c"]), node("Add", ["c", "d"], ["e"]), node("Add", ["e", "input"], ["output"])]
    return model_of(nodes, [value("input", (1, 3))], [value("output", (1, 3))], weights)


def dynamic_identity():
    return model_of([node("Identity", ["X"], ["Y"])], [value("X", (1, 2, "height", "width"))],
                    [value("Y", (1, 2, "height", "width"))])


def identity_identity():
    nodes = [node("Identity", ["X"], ["mid"]), node("Identity", ["mid"], ["end"])]
    return model_of(nodes, [value("X", (4, 4))], [value("end", (4, 4))])


def bloater():
    weights = [("w", np.ones((1024, 256), np.float32)), ("repeats", np.array([10, 1], np.int64))]
    return model_of([node("Tile", ["w", "repeats"], ["y"])], [], [value("y", (10240, 256))], weights)


def unbounded(dtype):
    kind = {TensorProto.INT64: np.int64, TensorProto.INT32: np.int32, TensorProto.FLOAT: np.float32}[dtype]
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Cast", ["sum"], ["limit"], to=dtype),
             node("Range", ["zero", "limit", "one"], ["y"])]
    return model_of(nodes, [value("x", (4,))], [value("y", ("n",), dtype)],
                    [("zero", np.array(0, kind)), ("one", np.array(1, kind))])


def shapes_of_transformer():
    """Attention's shape arithmetic: batch and sequence are known in a run only, the rest can be folded."""
    weights = [("i0", np.array([0], np.int64)), ("i1", np.array([1], np.int64)), ("h", np.array([2], np.int64)),
               ("d", np.array([4], np.int64)), ("two", np.array([2], np.int64))]
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i0"], ["b"]), node("Gather", ["s", "i1"], ["t"]),
             node("Gather", ["s", "two"], ["w"]), node("Div", ["w", "h"], ["dh"]),
             node("Concat", ["b", "t", "h", "dh"], ["target"], axis=0), node("Reshape", ["x", "target"], ["r"]),
             node("Transpose", ["r"], ["y"], perm=[0, 2, 1, 3])]
    return model_of(nodes, [value("x", ("N", "S", 8))], [value("y", ("N", 2, "S", 4))], weights)


class SanitizeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def call(self, *words, expect=0):
        done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def sanitize(self, model, *words, expect=0):
        onnx.save(model, self.path / "in.onnx")
        self.log = self.call("surgeon", "sanitize", self.path / "in.onnx", "-o", self.path / "out.onnx", *words,
                             expect=expect)
        return onnx.load(self.path / "out.onnx") if expect == 0 else None

    def expect_same(self, before, after, feeds):
        onnx.checker.check_model(after, full_check=True)
        runs = []
        for model in (before, after):
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            names = {item.name for item in session.get_inputs()}
            runs.append(session.run(None, {name: data for name, data in feeds.items() if name in names}))
        for one, other in zip(*runs):
            np.testing.assert_array_equal(one, other)

    def test_folds_as_the_peer_does(self):
        model = const_foldable()
        for words in ([], ["--no-fold-shapes"], ["--partitioning", "basic"], ["--partitioning", "recursive"],
                      ["--no-per-pass-shape-inference"], ["--no-onnxruntime-shape-inference"]):
            after = self.sanitize(model, "--fold-constants", *words)
            self.assertEqual([item.op_type for item in after.graph.node], ["Add"])
            self.expect_same(model, after, {"input": np.arange(3, dtype=np.float32).reshape(1, 3)})

    def test_one_round_prints_one_round(self):
        self.sanitize(const_foldable(), "--fold-constants", "--num-passes=1")
        self.assertIn("Folding Constants | Pass 1", self.log.stdout)
        self.assertNotIn("Pass 2", self.log.stdout)

    def test_threshold(self):
        self.assertEqual(len(self.sanitize(bloater(), "--fold-constants", "--fold-size-threshold", "10M").graph.node), 0)
        left = self.sanitize(bloater(), "--fold-constants", "--fold-size-threshold", "9.99M")
        self.assertEqual([item.op_type for item in left.graph.node], ["Tile"])

    def test_outputs(self):
        every = self.sanitize(identity_identity(), "--outputs", "mark", "all")
        self.assertEqual([item.name for item in every.graph.output], ["mid", "end"])
        first = self.sanitize(identity_identity(), "--outputs", "mid", "--cleanup")
        self.assertEqual([item.name for item in first.graph.output], ["mid"])
        self.assertEqual(len(first.graph.node), 1)

    def test_new_outputs_have_types(self):
        nodes = [node("Relu", ["x"], ["a"]), node("Transpose", ["a"], ["b"]), node("Reshape", ["b", "s"], ["c"]),
                 node("Neg", ["c"], ["y"])]
        model = model_of(nodes, [value("x", (2, "n"))], [value("y", (1, "m"))], [("s", np.array([1, -1], np.int64))])
        path, out = self.path / "in.onnx", self.path / "out.onnx"
        onnx.save(model, path)
        for words in (["surgeon", "sanitize", path, "--outputs", "b", "-o", out],
                      ["surgeon", "sanitize", path, "--outputs", "mark", "all", "-o", out],
                      ["run", path, "--ref", "--onnx-outputs", "b", "--save-onnx", out],
                      ["convert", path, "--onnx-outputs", "c", "-o", out],
                      ["convert", path, "--onnx-outputs", "b", "--fp-to-fp16", "-o", out],
                      ["surgeon", "extract", path, "--outputs", "b:float32", "-o", out],
                      ["surgeon", "prune", path, "--remove-nodes", "n_y", "-o", out],
                      ["surgeon", "insert", path, "--inputs", "c", "--outputs", "y", "--op", "Exp", "-o", out],
                      ["surgeon", "insert", path, "--inputs", "y", "--outputs", "y", "--op", "Mine", "--domain", "own",
                       "-o", out]):
            self.call(*words)
            onnx.checker.check_model(str(out), full_check=True)
            if "Mine" not in words:
                onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])

    def test_a_resize_that_rounds_stays_valid(self):
        x = value("x", (1, 1, 5, 5))
        for scale in (2.6, 1.4, 0.6, 2.5):  # onnx says 12 for 5 x 2.6, ONNX Runtime 13
            model = model_of([node("Resize", ["x", "", "s"], ["r"], mode="linear"), node("Relu", ["r"], ["y"])], [x],
                             [value("y", (1, 1, "h", 5))], [("s", np.array([1, 1, scale, 1], np.float32))])
            onnx.checker.check_model(model, full_check=True)
            for words in (["--opset", "21"], ["--opset", "11"], ["--fold-constants"], ["--outputs", "mark", "all"]):
                after = self.sanitize(model, *words)
                onnx.checker.check_model(after, full_check=True)
                self.expect_same(model, after, {"x": np.ones((1, 1, 5, 5), np.float32)})

    def test_masks_of_dropout_stay_true(self):
        model = model_of([node("Dropout", ["x"], ["y", "mask"])], [value("x", (2,))],
                         [value("y", (2,)), value("mask", (2,), TensorProto.BOOL)])
        after = self.sanitize(model, "--opset", "11")
        onnx.checker.check_model(after, full_check=True)
        self.expect_same(model, after, {"x": np.ones(2, np.float32)})

    def test_sorts(self):
        nodes = [node("Exp", ["a"], ["y"]), node("Relu", ["x"], ["a"])]
        after = self.sanitize(model_of(nodes, [value("x", (2,))], [value("y", (2,))]), "--toposort")
        self.assertEqual([item.op_type for item in after.graph.node], ["Relu", "Exp"])

    def test_a_long_chain_in_reverse_order(self):
        count = 3000
        nodes = [node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in reversed(range(count))]
        after = self.sanitize(model_of(nodes, [value("v0", (2,))], [value(f"v{count}", (2,))]), "--toposort")
        self.assertEqual([item.output[0] for item in after.graph.node], [f"v{i + 1}" for i in range(count)])

    def test_a_cycle_is_refused(self):
        nodes = [node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])]
        self.sanitize(model_of(nodes, [value("x", (2,))], [value("b", (2,))]), "--toposort", expect=2)
        self.assertIn("cycle", self.log.stderr)
        self.assertFalse((self.path / "out.onnx").exists())

    def input_shapes(self, model):
        return {item.name: [dim.dim_value or dim.dim_param for dim in item.type.tensor_type.shape.dim]
                for item in model.graph.input}

    def test_overrides_shapes(self):
        for n in (1, 2, 3):
            after = self.sanitize(dynamic_identity(), f"--override-input-shapes=X:[1,2,{n},{n}]")
            self.assertEqual(self.input_shapes(after), {"X": [1, 2, n, n]})
            self.expect_same(dynamic_identity(), after, {"X": np.ones((1, 2, n, n), np.float32)})
        after = self.sanitize(dynamic_identity(), "--override-input-shapes", "X:[batch,2,-1,'w']")
        self.assertEqual(self.input_shapes(after), {"X": ["batch", 2, "", "w"]})
        after = self.sanitize(dynamic_identity(), "--override-input-shapes=Y:[1,2,3,4]")
        self.assertEqual(self.input_shapes(after)["X"], [1, 2, "height", "width"])

    def test_overriding_keeps_the_order_of_inputs(self):
        model = model_of([node("Add", ["a", "b"], ["y"])], [value("a", (5,)), value("b", (5,))], [value("y", (5,))])
        after = self.sanitize(model, "--override-input-shapes", "b:[7]", "a:[7]")
        self.assertEqual(self.input_shapes(after), {"a": [7], "b": [7]})
        self.assertEqual([item.name for item in after.graph.input], ["a", "b"])
        self.assertEqual(after.graph.output[0].type.tensor_type.shape.dim[0].dim_value, 7)

    def test_a_static_model_made_dynamic_does_not_keep_old_shapes(self):
        nodes = [node("Relu", ["x"], ["r"]), node("Shape", ["r"], ["y"])]
        model = model_of(nodes, [value("x", (1, 3))], [value("y", (2,), TensorProto.INT64)])
        model.graph.value_info.append(value("r", (1, 3)))
        after = self.sanitize(model, "--override-input-shapes", "x:[N,3]", "--fold-constants")
        self.expect_same(after, after, {"x": np.zeros((4, 3), np.float32)})
        session = onnxruntime.InferenceSession(after.SerializeToString(), providers=["CPUExecutionProvider"])
        self.assertEqual(session.run(None, {"x": np.zeros((4, 3), np.float32)})[0].tolist(), [4, 3])

    def test_bounds_what_data_decides(self):
        for dtype in (TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT):
            model = unbounded(dtype)
            for words, bound in ((["2000"], 2000), (["limit:4000"], 4000), (["1000", "limit:4000"], 4000)):
                after = self.sanitize(model, "--set-unbounded-dds-upper-bound", *words)
                minimum = next(item for item in after.graph.node if item.op_type == "Min")
                weights = {item.name: numpy_helper.to_array(item) for item in after.graph.initializer}
                self.assertEqual([float(weights[name]) for name in minimum.input if name in weights], [bound])
                self.expect_same(model, after, {"x": np.ones(4, np.float32)})
        self.sanitize(unbounded(TensorProto.INT64), "--set-unbounded-dds-upper-bound", "limt:4", expect=2)
        self.assertIn("did you mean `limit`", self.log.stderr)

    def test_shapes_from_a_run(self):
        after = self.sanitize(dynamic_identity(), "--force-fallback-shape-inference")
        self.assertEqual(self.input_shapes(after), {"X": [1, 2, 1, 1]})
        self.assertEqual([dim.dim_value for dim in after.graph.output[0].type.tensor_type.shape.dim], [1, 2, 1, 1])

    def test_shapes_from_a_run_on_inputs_of_a_script(self):
        script = self.path / "data.py"
        script.write_text("import numpy\ndef load_data():\n"
                          "    yield {'X': numpy.ones((1, 2, 5, 7), dtype=numpy.float32)}\n")
        after = self.sanitize(dynamic_identity(), "--force-fallback-shape-inference", "--data-loader-script", script,
                              "--python", sys.executable)
        self.assertEqual(self.input_shapes(after), {"X": [1, 2, 5, 7]})

    def test_shape_arithmetic_goes(self):
        model = shapes_of_transformer()
        after = self.sanitize(model, "--fold-constants")
        self.assertEqual([item.op_type for item in after.graph.node], ["Reshape", "Transpose"])
        for shape in ((1, 1, 8), (3, 5, 8)):
            feeds = {"x": np.random.default_rng(0).random(shape, np.float32)}
            self.expect_same(model, after, feeds)

    def test_random_nodes_stay_random(self):
        model = model_of([node("RandomNormal", [], ["r"], shape=[2]), node("Add", ["x", "r"], ["y"])],
                         [value("x", (2,))], [value("y", (2,))])
        self.assertEqual(len(self.sanitize(model, "--fold-constants").graph.node), 2)

    def test_metadata_survives(self):
        model = const_foldable()
        model.doc_string, model.domain, model.model_version = "what it is", "a.b", 7
        model.metadata_props.add(key="k", value="v")
        model.graph.node[2].doc_string = "the last one"
        after = self.sanitize(model, "--fold-constants", "--cleanup", "--toposort")
        self.assertEqual((after.doc_string, after.domain, after.model_version), ("what it is", "a.b", 7))
        self.assertEqual([(item.key, item.value) for item in after.metadata_props], [("k", "v")])
        self.assertEqual(after.graph.node[0].doc_string, "the last one")

    def test_every_step_can_be_the_last(self):
        model = const_foldable()
        feeds = {"input": np.ones((1, 3), np.float32)}
        for last in range(4):
            self.expect_same(model, self.sanitize(model, "--fold-constants", "--stop-after-step", last), feeds)
        self.sanitize(model, "--fold-constants", "--explain")
        self.assertIn("step 1: ", self.log.stdout)

    def test_the_report_says_what_was_done(self):
        weights = [("w", np.ones(2, np.float32))]
        model = model_of([node("RandomNormal", [], ["r"], shape=[2]), node("Add", ["w", "w"], ["c"]),
                          node("Add", ["r", "c"], ["y"])], [], [value("y", (2,))], weights)
        self.sanitize(model, "--fold-constants", "--json", self.path / "report.json")
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual(report["schema"], "assay/surgeon-sanitize/1")
        self.assertEqual((report["before"]["nodes"], report["after"]["nodes"]), (3, 2))
        self.assertEqual([item["action"] for item in report["changes"]], ["fold-constants", "remove-dead"])
        self.assertEqual([item["detail"] for item in report["skipped"]], ["its result is random"])
        self.assertIn("total_seconds", report["timings"])

    def test_output_may_be_the_input(self):
        onnx.save(const_foldable(), self.path / "in.onnx")
        self.call("surgeon", "sanitize", self.path / "in.onnx", "--fold-constants", "-o", self.path / "in.onnx")
        self.assertEqual(len(onnx.load(self.path / "in.onnx").graph.node), 1)

    def test_the_default_name_is_not_overwritten(self):
        onnx.save(const_foldable(), self.path / "in.onnx")
        self.call("surgeon", "sanitize", self.path / "in.onnx", "--cleanup")
        self.assertTrue((self.path / "in.sanitized.onnx").exists())
        self.call("surgeon", "sanitize", self.path / "in.onnx", "--cleanup", expect=2)
        self.call("surgeon", "sanitize", self.path / "in.onnx", "--cleanup", "--force")

    def test_external_data(self):
        after = self.sanitize(const_foldable(), "--fold-constants", "--save-external-data", "w.data",
                              "--external-data-size-threshold=1")
        self.assertTrue((self.path / "w.data").stat().st_size > 0)
        self.expect_same(const_foldable(), after, {"input": np.zeros((1, 3), np.float32)})

    def test_a_threshold_of_zero_leaves_no_weight_inside(self):
        self.sanitize(const_foldable(), "--save-external-data", "w.data", "--external-data-size-threshold", "0")
        inside = onnx.load(self.path / "out.onnx", load_external_data=False)
        self.assertEqual({item.data_location for item in inside.graph.initializer}, {TensorProto.EXTERNAL})
        onnx.checker.check_model(str(self.path / "out.onnx"))
        self.assertEqual(len(self.sanitize(bloater(), "--fold-constants", "--fold-size-threshold", "0").graph.node), 1)

    def test_steps_name_nodes(self):
        weights = [("w", np.ones((2, 3, 1, 1), np.float32)), ("m", np.ones((2, 1, 1), np.float32)),
                   ("unused", np.ones(2, np.float32))]
        nodes = [node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "m"], ["y"])]
        model = model_of(nodes, [value("x", (1, 3, 4, 4))], [value("y", (1, 2, 4, 4))], weights)
        after = self.sanitize(model, "--fuse", "--cleanup", "--explain")
        self.expect_same(model, after, {"x": np.ones((1, 3, 4, 4), np.float32)})
        self.assertIn("fuse Mul `n_y` into Conv `n_c`", self.log.stdout)
        self.assertRegex(self.log.stdout, "nothing uses them: .*`unused`")

    def test_the_peer_reads_what_we_write(self):
        self.sanitize(shapes_of_transformer(), "--fold-constants")
        done = subprocess.run([PEER, "inspect", "model", self.path / "out.onnx"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("2 Node(s)", done.stdout)


if __name__ == "__main__":
    unittest.main()
