#!/usr/bin/env python3
"""`surgeon extract, insert, prune, weight-strip, weight-reconstruct` beside Polygraphy's, on models of the structure of
its own tests; ONNX Runtime and the checker of onnx judge what was written: surgeon_test.py ASSAY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from peer import polygraphy

PROGRAM = sys.argv.pop(1)
onnxruntime.set_default_logger_severity(4)


def assay(*words, cwd):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, cwd=cwd)


def model_of(nodes, inputs, outputs, weights=(), opset=13, imports=()):
    graph = helper.make_graph(nodes, "g", [tensor(*i) for i in inputs], [tensor(*o) for o in outputs], list(weights))
    opsets = [helper.make_opsetid("", opset), *imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def identity_identity():
    nodes = [helper.make_node("Identity", ["X"], ["identity_out_0"], "n1"),
             helper.make_node("Identity", ["identity_out_0"], ["identity_out_2"], "n3")]
    return model_of(nodes, [("X", [64, 64])], [("identity_out_2", [64, 64])])


def dynamic_identity():
    shape = [1, 2, "height", "width"]
    return model_of([helper.make_node("Identity", ["X"], ["Y"])], [("X", shape)], [("Y", shape)])


def reducable():
    names = [("X0", "identity_out_0"), ("Y0", "identity_out_2")]
    nodes = [helper.make_node("Identity", [a], [b], f"onnx_graphsurgeon_node_{2 * i + 1}")
             for i, (a, b) in enumerate(names)]
    nodes.append(helper.make_node("Add", ["identity_out_0", "identity_out_2"], ["add_out_4"], "onnx_graphsurgeon_node_5"))
    nodes += [helper.make_node("Identity", ["add_out_4"], [f"identity_out_{i}"], f"onnx_graphsurgeon_node_{i + 1}")
              for i in (6, 8)]
    return model_of(nodes, [("X0", [1]), ("Y0", [1])], [("identity_out_6", [1]), ("identity_out_8", [1])])


def conv(array, *, through=()):
    """Conv with this weight, seen through nodes from `w` to `v`."""
    nodes = [*through, helper.make_node("Conv", ["x", "v" if through else "w"], ["y"])]
    return model_of(nodes, [("x", [1, 16, 8, 8])], [("y", None)], [numpy_helper.from_array(array, "w")])


def matmul(array, as_int32_data=False):
    weight = numpy_helper.from_array(array, "w")
    if as_int32_data:
        bits = array.view(np.uint16).flatten().tolist()
        weight = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=array.shape, int32_data=bits)
    dtype = weight.data_type
    return model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [4, array.shape[0]], dtype)],
                    [("y", [4, array.shape[1]], dtype)], [weight])


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def sparse(*shape):
    """2:4 sparse along axis 1 of convolutions and axis 0 of matrices."""
    values = np.moveaxis(random(*shape), 0 if len(shape) == 2 else 1, -1).copy()
    values.reshape(*values.shape[:-1], -1, 4)[..., 1:3] = 0
    return np.ascontiguousarray(np.moveaxis(values, -1, 0 if len(shape) == 2 else 1))


def run_ok(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int8)": np.int8}
    feeds = {i.name: np.ones([d if isinstance(d, int) else 1 for d in i.shape], types[i.type])
             for i in session.get_inputs()}
    return session.run(None, feeds)


def summary(model):
    graph = model.graph
    shapes = lambda values: [(v.name, v.type.tensor_type.elem_type) for v in values]
    return {"nodes": [(n.op_type, list(n.input), list(n.output)) for n in graph.node], "inputs": shapes(graph.input),
            "outputs": shapes(graph.output), "weights": [(i.name, tuple(i.dims), i.data_type, i.doc_string)
                                                         for i in graph.initializer]}


def weight(model, name="w"):
    return next(i for i in model.graph.initializer if i.name == name)


def is_sparse(array):
    axis = 0 if array.ndim == 2 else 1
    groups = np.moveaxis(array.astype(np.float64), axis, -1).reshape(-1, 4)
    return bool(((groups == 0).sum(-1) >= 2).all())


class Surgeon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def both(self, model, command, *words, peer=True):
        """What we and the peer make of the model, and what we print."""
        source = self.folder / "model.onnx"
        onnx.save(model, source)
        results = []
        for program in [assay, polygraphy] if peer else [assay]:
            out = self.folder / f"{len(results)}.onnx"
            done = program("surgeon", command, source, "-o", out, *words, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            results.append(onnx.load(out))
            if program == assay:
                text = done.stdout + done.stderr
        return results[0], results[-1], text

    def run_ours(self):
        return run_ok(str(self.folder / "0.onnx"))

    def test_extract_says_when_it_infers(self):
        for words, is_inferred in ((["X:auto:auto"], False), (["identity_out_0:auto:auto"], True)):
            ours, peers, text = self.both(identity_identity(), "extract", "-v", "--inputs", *words)
            self.assertEqual("Shape inference completed successfully" in text, is_inferred)
            self.assertEqual(summary(ours), summary(peers))
            onnx.checker.check_model(ours, full_check=True)
            self.run_ours()

    def test_extract_with_types_of_a_run(self):
        words = ["-v", "--inputs", "identity_out_0:auto:auto", "--outputs", "identity_out_2:auto",
                 "--force-fallback-shape-inference"]
        ours, peers, text = self.both(identity_identity(), "extract", *words)
        self.assertNotIn("Shape inference completed", text)
        self.assertEqual(summary(ours), summary(peers))
        self.run_ours()
        ours, peers, _ = self.both(dynamic_identity(), "extract", "--outputs", "Y:auto",
                                   "--force-fallback-shape-inference")
        for value in (ours.graph.input[0], ours.graph.output[0], peers.graph.input[0]):
            self.assertEqual([d.dim_value for d in value.type.tensor_type.shape.dim], [1, 2, 1, 1])

    def test_extract_with_shapes_said(self):
        ours, _, _ = self.both(dynamic_identity(), "extract", "--inputs", "X:['b',-1,4,5]:auto")
        dims = ours.graph.input[0].type.tensor_type.shape.dim
        self.assertEqual([d.WhichOneof("value") for d in dims], ["dim_param", None, "dim_value", "dim_value"])
        onnx.checker.check_model(ours, full_check=True)

    def test_insert(self):
        for model, source, target in ((identity_identity, "identity_out_0", "identity_out_0"),
                                      (identity_identity, "identity_out_2", "identity_out_2"),
                                      (identity_identity, "X", "X"), (reducable, "add_out_4", "identity_out_8"),
                                      (reducable, "add_out_4", "add_out_4"), (reducable, "X0", "identity_out_6")):
            words = ["--inputs", source, "--outputs", target, "--op", "FakeOp"]
            ours, peers, _ = self.both(model(), "insert", *words)
            self.assertEqual(summary(ours), summary(peers), words)

    def test_insert_attributes(self):
        words = ["str_attr='0'", "int_attr=0", "float_attr=0.0", "other_str_attr=name", "str_list_attr=['0','1']",
                 "int_list_attr=[1,2,3]", "float_list_attr=[0.0,-1.0,-2.0]"]
        ours, peers, _ = self.both(identity_identity(), "insert", "--inputs", "X", "--outputs", "X", "--op", "FakeOp",
                                   "--attrs", *words)
        self.assertEqual([a.SerializeToString() for a in ours.graph.node[0].attribute],
                         [a.SerializeToString() for a in peers.graph.node[0].attribute])

    def test_prune(self):
        for model in (matmul(random(16, 8)), matmul(random(16, 8).astype(np.float16)), conv(random(8, 16, 3, 3))):
            ours, peers, text = self.both(model, "prune")
            self.assertIn("Found: 1 weight tensor(s) eligible for pruning.", text)
            self.assertEqual(weight(ours).raw_data, numpy_helper.to_array(weight(peers)).tobytes())
            self.assertTrue(is_sparse(numpy_helper.to_array(weight(ours))))
            self.run_ours()
        for as_int32 in (False, True):
            array = random(16, 8).astype(ml_dtypes.bfloat16)
            ours, _, _ = self.both(matmul(array, as_int32), "prune", peer=False)
            values = np.frombuffer(weight(ours).raw_data, ml_dtypes.bfloat16).reshape(16, 8)
            self.assertTrue(is_sparse(values))
            kept = np.abs(np.where(values == 0, 0, array).astype(np.float64).reshape(4, 4, 8)).sum()
            best = np.sort(np.abs(array.astype(np.float64).reshape(4, 4, 8)), axis=1)[:, 2:].sum()
            self.assertEqual(kept, best)

    def test_prune_of_external_weights(self):
        onnx.save(matmul(random(16, 8)), self.folder / "ext.onnx", save_as_external_data=True, location="ext.data",
                  size_threshold=0)
        subprocess.run([PROGRAM, "surgeon", "prune", "ext.onnx", "-o", "0.onnx"], cwd=self.folder, check=True,
                       capture_output=True)
        self.assertTrue(is_sparse(numpy_helper.to_array(weight(onnx.load(self.folder / "0.onnx")))))
        self.run_ours()

    def test_weights_of_another_folder_go_along(self):
        model = identity_identity()
        model.graph.node.insert(0, helper.make_node("Add", ["X", "w"], ["sum"], "n0"))
        model.graph.node[1].input[0] = "sum"
        model.graph.initializer.append(numpy_helper.from_array(random(64, 64), "w"))
        (self.folder / "data").mkdir()
        onnx.save(model, self.folder / "data" / "model.onnx", save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        expected = run_ok(str(self.folder / "data" / "model.onnx"))[0]
        (self.folder / "data" / "model.onnx").rename(self.folder / "model.onnx")
        for words in (["surgeon", "sanitize", "model.onnx"], ["surgeon", "sanitize", "--cleanup", "model.onnx"],
                      ["surgeon", "extract", "model.onnx", "--outputs", "identity_out_2:auto"],
                      ["surgeon", "insert", "model.onnx", "--op", "Abs", "--inputs", "X", "--outputs", "X"],
                      ["surgeon", "prune", "model.onnx"], ["convert", "model.onnx"],
                      ["run", "model.onnx", "--ref", "--save-onnx"]):
            out = [] if words[0] == "run" else ["-o"]
            subprocess.run([PROGRAM, *words, *out, "0.onnx", "--external-data-dir", "data"], cwd=self.folder,
                           check=True, capture_output=True)
            onnx.checker.check_model(str(self.folder / "0.onnx"))
            np.testing.assert_array_equal(self.run_ours()[0], expected, words)

    def strip_models(self):
        typed = matmul(random(8, 8))
        typed.graph.initializer[0].CopyFrom(helper.make_tensor("w", TensorProto.FLOAT, [8, 8], random(8, 8).flatten()))
        transpose = model_of([helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])],
                             [("x", [4, 8])], [("y", [4, 16])], [numpy_helper.from_array(random(16, 8), "w")])
        quantised = conv(random(8, 16, 3, 3), through=[
            helper.make_node("QuantizeLinear", ["w", "scale", "zero"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["v"])])
        quantised.graph.initializer.extend([numpy_helper.from_array(np.float32(0.02), "scale"),
                                            numpy_helper.from_array(np.int8(0), "zero")])
        plain = [matmul(random(16, 8)), matmul(random(16, 8).astype(np.float16)), conv(random(8, 16, 3, 3)),
                 matmul(sparse(16, 8)), conv(sparse(8, 16, 3, 3)), transpose]
        return plain, [typed, quantised, matmul(random(16, 8).astype(ml_dtypes.bfloat16))]

    def test_strip(self):
        plain, better = self.strip_models()
        for model in plain:
            ours, peers, text = self.both(model, "weight-strip")
            self.assertEqual(summary(ours), summary(peers))
            self.assertEqual((weight(ours).raw_data, ours.doc_string), (b"", "TRT_WEIGHTLESS"))
            self.assertIn("Finished stripping 1 weights", text)
        for model in better:  # where the peer leaves weights
            ours, _, _ = self.both(model, "weight-strip", peer=False)
            self.assertEqual((weight(ours).raw_data, weight(ours).doc_string), (b"", "TRT_WEIGHTLESS/"))
            self.assertFalse(weight(ours).float_data)
            for kept in ours.graph.initializer:
                self.assertEqual(bool(kept.doc_string), kept.name == "w")

    def test_strip_with_exceptions(self):
        (self.folder / "list.txt").write_text("w  \n")
        for model in (matmul(random(16, 8)), conv(sparse(8, 16, 3, 3))):
            ours, _, _ = self.both(model, "weight-strip", "--exclude-list", "list.txt")
            self.assertEqual(ours.SerializeToString(), model.SerializeToString())

    def test_reconstruct(self):
        plain, better = self.strip_models()
        for model in plain + better:
            stripped, _, _ = self.both(model, "weight-strip", peer=False)
            ours, _, text = self.both(stripped, "weight-reconstruct", peer=False)
            self.assertIn("Finished reconstructing 1 weights", text)
            self.assertEqual((ours.doc_string, weight(ours).doc_string), ("", ""))
            array = numpy_helper.to_array(weight(ours))
            self.assertEqual(is_sparse(array), weight(stripped).doc_string.endswith("SPARSE_2_4"))
            self.assertTrue(0.5 < array.astype(np.float64).std() < 1.5)
            if weight(ours).data_type != TensorProto.BFLOAT16:
                self.run_ours()
            onnx.save(model, self.folder / "full.onnx")
            back, _, _ = self.both(stripped, "weight-reconstruct", "--weights", "full.onnx", peer=False)
            np.testing.assert_array_equal(numpy_helper.to_array(weight(back)).view(np.uint8),
                                          numpy_helper.to_array(weight(model)).view(np.uint8))

    def test_reconstruct_of_what_the_peer_stripped(self):
        for model in (matmul(random(16, 8)), conv(sparse(8, 16, 3, 3))):
            _, peers, _ = self.both(model, "weight-strip")
            ours, _, _ = self.both(peers, "weight-reconstruct", peer=False)
            self.assertEqual(is_sparse(numpy_helper.to_array(weight(ours))), is_sparse(numpy_helper.to_array(weight(model))))
            self.run_ours()

    def test_remove_node_types(self):
        nodes = [helper.make_node("CustomOp", ["x"], ["a"], domain="my"), helper.make_node("Relu", ["a"], ["b"]),
                 helper.make_node("CustomOp", ["b"], ["y"], domain="my")]
        model = model_of(nodes, [("x", [4])], [("y", [4])], imports=[helper.make_opsetid("my", 1)])
        ours, _, _ = self.both(model, "prune", "--remove-node-types", "CustomOp", peer=False)
        self.assertEqual(summary(ours)["nodes"], [("Relu", ["x"], ["y"])])
        self.run_ours()

    def test_renamed_models_load_and_give_the_same(self):
        """If captures values of the main graph, and a function has names of its own."""
        branches = [helper.make_graph([helper.make_node(op, ["m/a", "m/w"], ["p"])], op, [], [tensor("p", [2])])
                    for op in ("Add", "Sub")]
        nodes = [helper.make_node("Mul", ["x", "m/w"], ["m/a"], "m/scale"),
                 helper.make_node("If", ["c"], ["m/b"], "m/if", then_branch=branches[0], else_branch=branches[1]),
                 helper.make_node("twice", ["m/b"], ["y"], "m/call", domain="f")]
        model = model_of(nodes, [("x", [2]), ("c", [], TensorProto.BOOL)], [("y", [2])],
                         [numpy_helper.from_array(np.array([2, 3], np.float32), "m/w")], 17, [helper.make_opsetid("f", 1)])
        model.functions.append(helper.make_function("f", "twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])],
                                                    [helper.make_opsetid("", 17)]))
        ours, _, _ = self.both(model, "rename", "--inputs", "x=image", "--outputs", "y=scores", "--values", "m/*=*",
                               "--nodes", "m/*=*", peer=False)
        onnx.checker.check_model(ours, full_check=True)
        self.assertEqual([n.name for n in ours.graph.node], ["scale", "if", "call"])
        self.assertEqual([i.name for i in ours.graph.initializer], ["w"])
        session = onnxruntime.InferenceSession(ours.SerializeToString(), providers=["CPUExecutionProvider"])
        x = np.array([1, 2], np.float32)
        for c, expected in ((True, [8, 18]), (False, [0, 6])):
            np.testing.assert_array_equal(session.run(["scores"], {"image": x, "c": np.array(c)})[0], expected)

    def test_what_is_set_is_what_runs(self):
        nodes = [helper.make_node("Add", ["x", "eps"], ["a"], "shift"), helper.make_node("Elu", ["a"], ["b"], "act", alpha=2.0),
                 helper.make_node("Reshape", ["b", "shape"], ["y"], "form")]
        weights = [numpy_helper.from_array(np.array(0.05, np.float32), "eps"),
                   numpy_helper.from_array(np.array([2, 3], np.int64), "shape")]
        model = model_of(nodes, [("x", [2, 3])], [("y", [2, 3])], weights, 17)
        ours, _, _ = self.both(model, "set", "--attrs", "act:alpha=0.25", "--constants", "eps=1e-05", "shape=[-1]",
                               peer=False)
        onnx.checker.check_model(ours, full_check=True)
        self.assertEqual(numpy_helper.to_array(ours.graph.initializer[0]), np.float32(1e-5))
        x = np.array([[-1, 2, 0], [1, -3, 4]], np.float32)
        session = onnxruntime.InferenceSession(ours.SerializeToString(), providers=["CPUExecutionProvider"])
        found = session.run(None, {"x": x})[0]
        a = x + np.float32(1e-5)
        self.assertEqual(found.shape, (6,))
        np.testing.assert_allclose(found, np.where(a > 0, a, 0.25 * np.expm1(a)).reshape(-1), rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    os.environ["PYTHONWARNINGS"] = "ignore"
    unittest.main()
