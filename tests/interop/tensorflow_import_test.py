"""Models of TensorFlow as models of ONNX's operators: held against OpenVINO, which reads the same files by itself, and
against numpy. Files are made here; TensorFlow is not needed."""

import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest
import zipfile

import numpy as np
import onnx
import tensorflow_files as tf
from in_folder import InFolder, run

ASSAY = os.environ["ASSAY"]
DICE = np.random.default_rng(3)


def normal(*shape):
    return DICE.normal(size=shape).astype(np.float32)


KERNEL, DEPTH, DENSE, BIAS = normal(3, 3, 3, 4), normal(3, 3, 4, 1), normal(4, 5), normal(4)
SCALE, OFFSET, MEAN, VARIANCE = normal(4), normal(4), normal(4), abs(normal(4)) + 0.5
HALF = [tf.text_attribute("padding", "SAME"), tf.list_attribute("strides", [1, 2, 2, 1])]
SAME = [tf.text_attribute("padding", "SAME"), tf.list_attribute("strides", [1, 1, 1, 1])]


def network(kernel="kernel", inputs=("x",), suffix=""):
    """Layers of a small network for images, without its input and the constant `kernel`. In a function values have the
    name of an output, `suffix`, too."""
    def of(name, output="output"):
        return f"{name}:{output}:0" if suffix else name

    axes = tf.const("axes", np.array([1, 2], np.int32))
    return [
        tf.node("conv", "Conv2D", [inputs[0], kernel], [tf.FLOAT, *HALF]), tf.const("bias", BIAS),
        tf.node("sum", "BiasAdd", [of("conv"), of("bias")], [tf.FLOAT]),
        *[tf.const(name, value) for name, value in (("s", SCALE), ("o", OFFSET), ("m", MEAN), ("v", VARIANCE))],
        tf.node("bn", "FusedBatchNormV3", [of("sum"), *(of(name) for name in "somv")],
                [tf.FLOAT, tf.type_attribute("U"), tf.number_attribute("epsilon", 0.01),
                 tf.flag_attribute("is_training", False)]),
        tf.node("relu", "Relu6", [of("bn", "y")], [tf.FLOAT]), tf.const("depth", DEPTH),
        tf.node("dw", "DepthwiseConv2dNative", [of("relu", "activations"), of("depth")], [tf.FLOAT, *SAME]),
        tf.node("both", "AddV2", [of("dw"), of("relu", "activations")], [tf.FLOAT]), axes,
        tf.node("pool", "Mean", [of("both", "z"), of("axes")], [tf.FLOAT, tf.flag_attribute("keep_dims", False)]),
        tf.const("dense", DENSE), tf.node("product", "MatMul", [of("pool"), of("dense")], [tf.FLOAT]),
        tf.node("y", "Softmax", [of("product", "product")], [tf.FLOAT])]


def frozen():
    return tf.graph_def([tf.placeholder("x", [1, 9, 8, 3]), tf.const("kernel", KERNEL), *network()])


def saved(folder, shards=2):
    """The network in a function, with its kernel in a checkpoint."""
    body = [tf.node("read", "ReadVariableOp", ["handle"], [tf.type_attribute("dtype")]),
            *network("read:value:0", ["x"], suffix="output")]
    function = tf.function_def("net", ["x", "handle"], {"y": "y:softmax:0"}, body, {"handle": 20})
    nodes = [tf.placeholder("serving_x", [1, 9, 8, 3]),
             tf.node("kernel", "VarHandleOp", (), [tf.text_attribute("shared_name", "layer/kernel"),
                                                   tf.type_attribute("dtype"), tf.shape_attribute("shape", KERNEL.shape)]),
             tf.node("call", "StatefulPartitionedCall", ["serving_x", "kernel", "^nothing"],
                     [tf.function_attribute("f", "net"), tf.attribute("Tout", tf.field(1, tf.field(6, 1)))]),
             tf.node("nothing", "NoOp")]
    graph = tf.graph_def(nodes, [function])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "saved_model.pb").write_bytes(tf.saved_model_of(
        graph, {"x": ("serving_x:0", [1, 9, 8, 3])}, {"y": ("call:0", [1, 5])}))
    tf.checkpoint(folder / "variables", {"layer/kernel": KERNEL, "other": normal(2)}, shards)
    return folder


def lite():
    """The same network; normalization is part of the first convolution."""
    file = tf.Lite()
    factor = SCALE / np.sqrt(VARIANCE + 0.01)
    x, relu = file.tensor("x", (1, 9, 8, 3)), file.tensor("relu", (1, 5, 4, 4))
    kernel = file.constant("kernel", (KERNEL * factor).transpose(3, 0, 1, 2))
    bias = file.constant("bias", ((BIAS - MEAN) * factor + OFFSET).astype(np.float32))
    file.add(3, [x, kernel, bias], [relu], [(0, "i8", 0), (1, "i32", 2), (2, "i32", 2), (3, "i8", 3)], 1)
    dw, both = file.tensor("dw", (1, 5, 4, 4)), file.tensor("both", (1, 5, 4, 4))
    depth = file.constant("depth", DEPTH.transpose(3, 0, 1, 2))
    none = file.constant("none", np.zeros(4, np.float32))
    file.add(4, [relu, depth, none], [dw], [(0, "i8", 0), (1, "i32", 1), (2, "i32", 1), (3, "i32", 1)], 2)
    file.add(0, [dw, relu], [both], [(0, "i8", 0)], 11)
    pool, product, y = file.tensor("pool", (1, 4)), file.tensor("product", (1, 5)), file.tensor("y", (1, 5))
    file.add(40, [both, file.constant("axes", np.array([1, 2], np.int32))], [pool], [(0, "u8", 0)], 27)
    file.add(9, [pool, file.constant("dense", np.ascontiguousarray(DENSE.T)), -1], [product], [(0, "i8", 0)], 8)
    options = [(0, "f32", 1.0)]
    file.add(25, [product], [y], options, 9)
    return file.finish([x], [y])


def quantized(dtype="int8", zeros=(3, -5, 7), bias_dtype=np.int32):
    """A convolution with a scale for each channel, and a sum, in codes; weights have 8 bits."""
    file = tf.Lite()
    scales = np.array([0.02, 0.03, 0.01, 0.05], np.float32)
    codes = DICE.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    x = file.tensor("x", (1, 6, 6, 3), dtype, 0.05, zeros[0])
    y = file.tensor("y", (1, 6, 6, 4), dtype, 0.1, zeros[1])
    out = file.tensor("out", (1, 6, 6, 4), dtype, 0.2, zeros[2])
    kernel = file.constant("kernel", codes, scale=scales, zero=np.zeros(4, np.int64), axis=0)
    bias = DICE.integers(-500, 500, 4).astype(bias_dtype)
    bias_number = file.constant("bias", bias, scale=scales * np.float32(0.05), zero=np.zeros(4, np.int64), axis=0)
    file.add(3, [x, kernel, bias_number], [y], [(0, "i8", 0), (1, "i32", 1), (2, "i32", 1), (3, "i8", 0)], 1)
    file.add(0, [y, y], [out], [(0, "i8", 0)], 11)
    return file.finish([x], [out]), codes * scales[:, None, None, None], bias * scales * 0.05


def lstm():
    """A sequence through TFLite's LSTM: the file, what it gives by formula, and the input."""
    batch, steps, size, hidden = 2, 4, 3, 5
    x, gates = normal(batch, steps, size), "ifco"
    weights = {gate: normal(hidden, size) for gate in gates}
    recurrent = {gate: normal(hidden, hidden) for gate in gates}
    biases = {gate: normal(hidden) for gate in gates}
    file = tf.Lite()
    operands = [file.tensor("x", x.shape), *(file.constant(f"w{gate}", weights[gate]) for gate in gates),
                *(file.constant(f"r{gate}", recurrent[gate]) for gate in gates), -1, -1, -1,
                *(file.constant(f"b{gate}", biases[gate]) for gate in gates), -1, -1,
                *(file.tensor(name, (batch, hidden), is_state=True) for name in ("state", "cell"))]
    y = file.tensor("y", (batch, steps, hidden))
    file.add(44, [*operands, -1, -1, -1, -1], [y], [(0, "i8", 4), (1, "f32", 0.0), (3, "u8", 0)], 71)
    state, cell, results = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
    for step in range(steps):
        sums = {gate: x[:, step] @ weights[gate].T + state @ recurrent[gate].T + biases[gate] for gate in gates}
        opened = {gate: 1 / (1 + np.exp(-sums[gate])) for gate in gates}
        cell = opened["f"] * cell + opened["i"] * np.tanh(sums["c"])
        state = opened["o"] * np.tanh(cell)
        results.append(state)
    return file.finish([0], [y]), np.stack(results, 1), x


class Import(InFolder):
    def write(self, name, data):
        path = self.path / name
        path.write_bytes(data)
        return path

    def failure(self, *words, status):
        """The line that a command fails with."""
        words = [str(word) for word in (ASSAY, *words)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr

    def result(self, path, side, feeds, *words):
        np.savez(self.path / "in.npz", **feeds)
        out = self.path / "out.npz"
        run(ASSAY, "run", path, side, "--load-inputs", self.path / "in.npz", "--save-outputs", out, *words)
        return dict(np.load(out))

    def first(self, path, side, feeds, *words):
        return next(iter(self.result(path, side, feeds, *words).values()))

    def test_one_network_in_three_formats(self):
        x = normal(1, 9, 8, 3)
        paths = [(self.write("net.pb", frozen()), "x:0"), (saved(self.path / "saved"), "x"),
                 (self.write("net.tflite", lite()), "x")]
        expected = self.first(paths[0][0], "--openvino", {"x:0": x})
        for path, name in paths:
            # OpenVINO wants more of a checkpoint, such as checksums, than is made here.
            sides = ["--ref", "--engine", "--onnxrt", *([] if path.is_dir() else ["--openvino"])]
            for side in sides:
                np.testing.assert_allclose(self.first(path, side, {name: x}), expected, rtol=1e-5, err_msg=f"{path} {side}")
            run(ASSAY, "run", path, *sides)
            run(ASSAY, "check", "lint", path)

    def test_versions_that_are_chosen(self):
        x, path = normal(1, 9, 8, 3), self.write("net.pb", frozen())
        expected = self.first(path, "--ref", {"x:0": x})
        run(ASSAY, "run", path, "--ref", "--opset", "13", "--save-onnx", self.path / "saved.onnx")
        run(ASSAY, "convert", path, "--opset", "11", "-o", self.path / "made.onnx")
        for name, version in (("saved.onnx", 13), ("made.onnx", 11)):
            model = onnx.load(self.path / name)
            self.assertEqual([(each.domain, each.version) for each in model.opset_import], [("", version)])
            onnx.checker.check_model(model)
            np.testing.assert_allclose(self.first(self.path / name, "--onnxrt", {"x:0": x}), expected, rtol=1e-5, atol=1e-6)
        self.assertIn("is not one of 7 to 28", self.failure("run", path, "--ref", "--opset", "3", "-q", status=2))
        told = self.failure("run", self.path / "made.onnx", "--ref", "--opset", "13", "-q", status=3)
        self.assertIn("it is about TensorFlow models", told)

    def test_channels_stay_first_between_layers(self):
        path = self.write("net.pb", frozen())
        run(ASSAY, "convert", path, "-o", self.path / "net.onnx")
        model = onnx.load(self.path / "net.onnx")
        onnx.checker.check_model(model, full_check=True)
        ops = [node.op_type for node in model.graph.node]
        self.assertEqual(ops.count("Transpose"), 1)
        self.assertEqual([port.name for port in [*model.graph.input, *model.graph.output]], ["x:0", "y:0"])
        x = normal(1, 9, 8, 3)
        np.testing.assert_array_equal(self.first(self.path / "net.onnx", "--ref", {"x:0": x}),
                                      self.first(path, "--ref", {"x:0": x}))

    def test_quantized_by_channel(self):
        self.check_quantized("int8", (3, -5, 7), np.int32)

    def test_codes_of_16_bits(self):
        """Biases have 64 bits there."""
        self.check_quantized("int16", (0, 0, 0), np.int64)

    def test_codes_of_64_bits_by_row(self):
        file, codes, scales = tf.Lite(), np.array([[1, -2, 3], [4, 5, -6]]), np.array([0.5, 0.25], np.float32)
        x, y = file.tensor("x", (2, 3)), file.tensor("y", (2, 3))
        file.add(0, [x, file.constant("codes", codes, scale=scales, zero=np.zeros(2, np.int64))], [y], [(0, "i8", 0)], 11)
        given = normal(2, 3)
        found = self.first(self.write("rows.tflite", file.finish([x], [y])), "--ref", {"x": given})
        np.testing.assert_allclose(found, given + codes * scales[:, None], rtol=1e-6)

    def check_quantized(self, dtype, zeros, bias_dtype):
        data, kernel, bias = quantized(dtype, zeros, bias_dtype)
        path, least, most = self.write("codes.tflite", data), np.iinfo(dtype).min, np.iinfo(dtype).max
        x = DICE.integers(-128, 128, (1, 6, 6, 3)).astype(dtype)
        real = np.pad((x.astype(np.float64) - zeros[0]) * 0.05, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(real, (3, 3), (1, 2))
        sums = np.einsum("nhwcij,oijc->nhwo", windows, kernel) + bias
        codes = np.clip(np.rint(sums / 0.1) + zeros[1], least, most)
        expected = np.clip(np.rint((codes - zeros[1]) * 0.1 * 2 / 0.2) + zeros[2], least, most)
        for side in ("--ref", "--engine", "--onnxrt", "--openvino"):
            found = self.first(path, side, {"x": x}).astype(np.int64)
            self.assertLessEqual(abs(found - expected).max(), 1, side)
            self.assertGreater((found == expected).mean(), 0.95, side)

    def test_values_inside_and_other_outputs(self):
        path = self.write("net.pb", frozen())
        x = normal(1, 9, 8, 3)
        found = self.result(path, "--ref", {"x:0": x}, "--tf-outputs", "relu", "pool:0")
        self.assertEqual({name: value.shape for name, value in found.items()}, {"relu:0": (1, 5, 4, 4), "pool:0": (1, 4)})
        self.assertIn("no `nowhere`", self.failure("run", path, "--ref", "--tf-outputs", "nowhere", status=2))
        run(ASSAY, "debug", "accuracy", path, "--onnxrt")
        folder = saved(self.path / "saved")
        self.result(folder, "--ref", {"x": x}, "--signature", "serving_default")
        told = self.failure("run", folder, "--ref", "--signature", "train", status=2)
        self.assertIn("no signature `train`, but: serving_default", told)

    def test_elements_are_repeated(self):
        """The last element of a constant stands for those that are missing."""
        listed = tf.field(1, 1) + tf.field(2, tf.shape(2, 3)) + tf.field(5, np.array([1, 2, 3], np.float32).tobytes())
        constant = tf.node("c", "Const", (), [tf.type_attribute("dtype"), tf.attribute("value", tf.field(8, listed))])
        graph = tf.graph_def([tf.placeholder("x", [2, 3]), constant, tf.node("y", "Mul", ["x", "c"], [tf.FLOAT])])
        found = self.first(self.write("r.pb", graph), "--ref", {"x:0": np.ones((2, 3), np.float32)})
        np.testing.assert_array_equal(found, [[1, 2, 3], [3, 3, 3]])

    def test_outputs_of_one_name(self):
        file = tf.Lite()
        x, y = file.tensor("x", (2,)), file.tensor("y", (2,))
        file.add(19, [x], [y])
        path = self.write("two.tflite", file.finish([x], [y, y]))
        found = self.result(path, "--ref", {"x": np.array([-1, 2], np.float32)})
        self.assertEqual({name: value.tolist() for name, value in found.items()}, {"y": [0, 2], "y_1": [0, 2]})

    def test_sequences_by_lstm(self):
        data, expected, x = lstm()
        path = self.write("lstm.tflite", data)
        for side in ("--ref", "--onnxrt", "--engine"):
            np.testing.assert_allclose(self.first(path, side, {"x": x}), expected, rtol=1e-5, atol=1e-6, err_msg=side)

    def test_strided_slices(self):
        x = normal(4, 5, 6)
        masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        cases = [([1, 0, 4], [3, 0, 0], [1, 2, -2], (0, 2, 0, 0, 0), x[1:3, ::2, 4:0:-2]),
                 ([0, 0, -1], [0, 0, 0], [1, 1, 1], (0, 0, 1, 2, 4), x[..., None, -1]),
                 ([2, 0, 1], [0, 0, 3], [1, 1, 1], (0, 0, 2, 0, 1), x[2, ..., 1:3]),
                 ([0, 3], [0, 9], [1, -1], (3, 2, 0, 0, 0), x[:0, ::-1])]
        for number, (begin, end, strides, bits, expected) in enumerate(cases):
            lists = [tf.const(name, np.array(items, np.int32)) for name, items in
                     (("begin", begin), ("end", end), ("strides", strides))]
            attributes = [tf.FLOAT, *(tf.integer_attribute(*each) for each in zip(masks, bits))]
            nodes = [tf.placeholder("x", x.shape), *lists,
                     tf.node("y", "StridedSlice", ["x", "begin", "end", "strides"], attributes)]
            path = self.write(f"s{number}.pb", tf.graph_def(nodes))
            np.testing.assert_array_equal(self.first(path, "--ref", {"x:0": x}), expected, err_msg=f"case {number}")

    def test_resizes(self):
        x = normal(1, 5, 4, 2)
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            for corners, half in ((False, False), (True, False), (False, True)):
                flags = [tf.FLOAT, tf.flag_attribute("align_corners", corners), tf.flag_attribute("half_pixel_centers", half)]
                nodes = [tf.placeholder("x", x.shape), tf.const("size", np.array([9, 7], np.int32)),
                         tf.node("y", op, ["x", "size"], flags)]
                path = self.write("resize.pb", tf.graph_def(nodes))
                found = [self.first(path, side, {"x:0": x}) for side in ("--ref", "--openvino", "--onnxrt")]
                np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6, err_msg=f"{op} {corners} {half}")
                np.testing.assert_allclose(found[0], found[2], rtol=1e-5, atol=1e-6, err_msg=f"{op} {corners} {half}")

    def test_branches_and_loops(self):
        twice = tf.function_def("twice", ["v"], {"r": "double:z:0"}, [tf.node("double", "AddV2", ["v", "v"], [tf.FLOAT])])
        same = tf.function_def("minus", ["v"], {"r": "neg:y:0"}, [tf.node("neg", "Neg", ["v"], [tf.FLOAT])])
        one = tf.const("one", np.array(1, np.int32))
        four = tf.const("four", np.array(4, np.int32))
        types = {"i": 3, "j": 3, "goes": 10}
        cond = tf.function_def("cond", ["i", "v"], {"goes": "less:z:0"},
                               [four, tf.node("less", "Less", ["i", "four:output:0"])], types)
        body = tf.function_def("body", ["i", "v"], {"j": "next:z:0", "w": "sum:z:0"},
                               [one, tf.node("next", "AddV2", ["i", "one:output:0"]),
                                tf.node("sum", "AddV2", ["v", "v"], [tf.FLOAT])], types)
        nodes = [tf.placeholder("x", [3]), tf.placeholder("c", [], "bool"), tf.const("zero", np.array(0, np.int32)),
                 tf.node("branch", "StatelessIf", ["c", "x"], [tf.function_attribute("then_branch", "twice"),
                                                              tf.function_attribute("else_branch", "minus")]),
                 tf.node("loop", "StatelessWhile", ["zero", "branch"], [tf.function_attribute("cond", "cond"),
                                                                       tf.function_attribute("body", "body")]),
                 tf.node("y", "Identity", ["loop:1"], [tf.FLOAT])]
        path = self.write("flow.pb", tf.graph_def(nodes, [twice, same, cond, body]))
        x = normal(3)
        for flag, factor in ((True, 32), (False, -16)):
            for side in ("--ref", "--onnxrt"):
                found = self.first(path, side, {"x:0": x, "c:0": np.array(flag)})
                np.testing.assert_allclose(found, x * factor, rtol=1e-6)

    def test_all_unknown_operators_are_named(self):
        nodes = [tf.placeholder("x", [3]), tf.node("a", "Fancy", ["x"]), tf.node("b", "Fanciest", ["a"]),
                 tf.node("unused", "Nothing", ["x"], ()), tf.node("y", "Relu", ["b"], [tf.FLOAT])]
        path = self.write("u.pb", tf.graph_def(nodes))
        told = self.failure("convert", path, "-o", self.path / "u.onnx", "--tf-outputs", "y", status=3)
        self.assertIn("operators are not imported: Fanciest, Fancy\n", told)
        self.assertFalse((self.path / "u.onnx").exists())

    def test_strings(self):
        """Outputs that come from strings are refused, by the node nearest to them; others can be chosen."""
        texts = tf.attribute("value", tf.field(8, tf.field(1, 7) + tf.field(2, tf.shape(2)) + tf.field(8, "no") + tf.field(8, "yes")))
        function = tf.function_def("names", ["v"], {"label": "named:output:0", "score": "twice:z:0"}, [
            tf.node("twice", "AddV2", ["v", "v"], [tf.FLOAT]),
            tf.node("texts", "Const", (), [tf.type_attribute("dtype", 7), texts]),
            tf.node("index", "Cast", ["v"], [tf.type_attribute("SrcT"), tf.type_attribute("DstT", 3)]),
            tf.const("axis", np.array(0, np.int32)),
            tf.node("named", "GatherV2", ["texts:output:0", "index:y:0", "axis:output:0"], [tf.type_attribute("Tparams", 7)])])
        nodes = [tf.placeholder("x", [2]), tf.node("call", "PartitionedCall", ["x"], [tf.function_attribute("f", "names")]),
                 tf.node("label", "Identity", ["call"], [tf.type_attribute("T", 7)]),
                 tf.node("score", "Identity", ["call:1"], [tf.FLOAT])]
        path = self.write("labels.pb", tf.graph_def(nodes, [function]))
        told = self.failure("run", path, "--ref", status=3)
        self.assertIn("`label` (Identity) works on strings, which are not imported; `score:0` can be chosen (--tf-outputs", told)
        found = self.result(path, "--ref", {"x:0": np.array([1, 0], np.float32)}, "--tf-outputs", "score:0")
        self.assertEqual({name: value.tolist() for name, value in found.items()}, {"score:0": [2, 0]})
        nodes = [tf.node("x", "Placeholder", (), [tf.type_attribute("dtype", 7)]),
                 tf.node("hash", "StringToHashBucketFast", ["x"]), tf.node("y", "Cast", ["hash"], [tf.type_attribute("DstT")])]
        told = self.failure("convert", self.write("hash.pb", tf.graph_def(nodes)), "-o", self.path / "h.onnx", status=3)
        self.assertIn("`hash` (StringToHashBucketFast) works on strings, which are not imported; export the part", told)
        self.assertFalse((self.path / "h.onnx").exists())

    def test_chosen_outputs_of_lite(self):
        path = self.write("net.tflite", lite())
        found = self.result(path, "--ref", {"x": normal(1, 9, 8, 3)}, "--tf-outputs", "pool", "y")
        self.assertEqual([(name, value.shape) for name, value in found.items()], [("pool", (1, 4)), ("y", (1, 5))])
        self.assertIn("no `nowhere`", self.failure("run", path, "--ref", "--tf-outputs", "nowhere", status=2))

    def test_files_of_keras(self):
        """Only Keras reads them: the line says what else there is."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            for name in ("metadata.json", "config.json", "model.weights.h5"):
                file.writestr(name, "{}")
        data = archive.getvalue()
        old = b"\x89HDF\r\n\x1a\n" + bytes(32) + struct.pack("<Q", 200) + bytes(40) + b"model_config"
        for name, written, status, told in (
                ("m.keras", data, 3, "SavedModel"), ("cut.keras", data[:-30], 2, "the Keras file ends early"),
                ("m.h5", old.ljust(200, b" "), 3, "SavedModel"), ("cut.h5", old, 2, "the Keras file ends early"),
                ("weights.h5", old.replace(b"model_config", b"").ljust(200, b" "), 2, "without a network")):
            path = self.write(name, written)
            for words in (["run", path, "--ref"], ["inspect", "model", path], ["convert", path, "-o", self.path / "k.onnx"]):
                self.assertIn(told, self.failure(*words, status=status), name)
        self.assertIn("--save-pb FILE.pb` makes a frozen graph", self.failure("check", "lint", self.path / "m.keras", status=3))

    def test_bad_models(self):
        """One line each, and nothing is written."""
        call = [tf.function_attribute("f", "again")]
        again = tf.function_def("again", ["v"], {"r": "c:output:0"}, [tf.node("c", "PartitionedCall", ["v"], call)])
        nodes = [tf.placeholder("x", [3]), tf.node("y", "PartitionedCall", ["x"], call)]
        circle = [tf.node("a", "Relu", ["b"], [tf.FLOAT]), tf.node("b", "Relu", ["a"], [tf.FLOAT]),
                  tf.node("y", "Relu", ["a"], [tf.FLOAT])]
        strings = [tf.node("x", "Placeholder", (), [tf.type_attribute("dtype", 7)]), tf.node("y", "Identity", ["x"])]
        for name, graph, status, reason in (
                ("function", tf.graph_def(nodes, [again]), 2, "calls itself"),
                ("circle", tf.graph_def(circle), 2, "needs itself"),
                ("strings", tf.graph_def(strings), 3, "strings"),
                ("nothing", tf.graph_def([tf.node("y", "Relu", ["gone"], [tf.FLOAT])]), 2, "nothing gives `gone:0`"),
                ("twice", tf.graph_def(circle + circle), 2, "damaged")):
            told = self.failure("run", self.write(f"{name}.pb", graph), "--ref", status=status)
            self.assertIn(reason, told, name)
        folder = saved(self.path / "saved")
        (folder / "variables/variables.data-00001-of-00002").unlink()
        self.assertIn("`variables.data-00001-of-00002` is missing", self.failure("run", folder, "--ref", status=2))
        shutil.rmtree(folder / "variables")
        self.assertIn("the variable `kernel` has no value", self.failure("run", folder, "--ref", status=3))

    def test_the_page_lists_the_operators(self):
        """docs/tensorflow.md has the rows of the tables of makers, family by family."""
        root = pathlib.Path(__file__).parents[2]
        page = (root / "docs/tensorflow.md").read_text()
        listed = {row for row in page.splitlines() if row.startswith("|")}
        for source in (root / "src/tensorflow/import/families").glob("*.cpp"):
            rows = re.findall(r'Maker\{"(\w*)", "(\w*)"', source.read_text())
            if not rows:
                continue
            cells = [" ".join(f"`{name}`" for name in column if name) or "–" for column in zip(*rows)]
            ending = f" | {cells[0]} | {cells[1]} |"
            self.assertTrue(any(row.endswith(ending) for row in listed), f"{source.name}: expected a row{ending}")

    def test_damaged_files(self):
        for name, data in (("a.pb", frozen()), ("a.tflite", lite()), ("b.tflite", quantized()[0])):
            for cut in range(0, len(data), max(len(data) // 24, 1)):
                self.try_running(self.write(name, data[:cut]))
            for _ in range(40):
                changed = bytearray(data)
                for place in DICE.integers(0, len(data), 3):
                    changed[place] = DICE.integers(0, 256)
                self.try_running(self.write(name, bytes(changed)))

    def try_running(self, path):
        out = self.path / "damaged.onnx"
        words = [ASSAY, "convert", str(path), "-o", str(out)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600)
        self.assertIn(result.returncode, (0, 2, 3), result.stderr)
        self.assertLessEqual(len(result.stderr.splitlines()), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
