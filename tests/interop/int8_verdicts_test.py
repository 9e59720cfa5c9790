"""`debug accuracy --other` on models that `convert --int8` and ONNX Runtime's quantizers make of drawn networks: sound ones
are accused of nothing, and a fault in a scale, a zero point, the layout of a weight or the axis of its scales is named."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from models.networks import draw

ASSAY = os.environ["ASSAY"]
WIDTH = 32
TOKENS = 12


class Network:
    def __init__(self, seed):
        self.rng, self.nodes, self.weights = np.random.default_rng(seed), [], {}

    def weight(self, name, *shape, fan=None):
        size = np.sqrt(2 / (fan or np.prod(shape[1:])))
        self.weights[name] = (self.rng.standard_t(6, size=shape) * size).astype(np.float32)
        return name

    def number(self, name, array):
        self.weights[name] = np.asarray(array)
        return name

    def node(self, op, inputs, result, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [result], name=f"at_{result}", **attributes))
        return result

    def model(self, feeds, output, shape):
        inputs = [helper.make_tensor_value_info(name, 1, array.shape) for name, array in feeds.items()]
        graph = helper.make_graph(self.nodes, "drawn", inputs, [helper.make_tensor_value_info(output, 1, shape)],
                                  [numpy_helper.from_array(array, name) for name, array in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model, feeds


def pictures(seed):
    """Convolutions, a sum, pools, Reshape and Flatten, and products."""
    net = Network(seed)
    x = {"x": net.rng.normal(size=(2, 3, 24, 24)).astype(np.float32)}

    def conv(source, result, channels, filters):
        names = [source, net.weight(f"{result}_w", filters, channels, 3, 3), net.weight(f"{result}_b", filters, fan=50)]
        return net.node("Conv", names, result, pads=[1] * 4)

    net.node("Relu", [conv("x", "c1", 3, 16)], "r1")
    net.node("MaxPool", ["r1"], "p1", kernel_shape=[2, 2], strides=[2, 2])
    net.node("Relu", [conv("p1", "c2", 16, 16)], "r2")
    net.node("Relu", [net.node("Add", [conv("r2", "c3", 16, 16), "p1"], "s")], "r3")
    net.node("GlobalAveragePool", [conv("r3", "c4", 16, WIDTH)], "a")
    net.node("Reshape", ["a", net.number("to", np.int64([2, WIDTH, 1]))], "q")
    net.node("Flatten", ["q"], "f")
    net.node("Relu", [net.node("MatMul", ["f", net.weight("square", WIDTH, WIDTH)], "h")], "g")
    net.node("Gemm", ["g", net.weight("fc", 10, WIDTH), net.weight("fc_b", 10, fan=50)], "y", transB=1)
    return net.model(x, "y", [2, 10])


def tokens(seed):
    """An attention head and what comes behind it."""
    net = Network(seed)
    x = {"x": net.rng.normal(size=(1, TOKENS, WIDTH)).astype(np.float32)}

    def product(source, result):
        return net.node("MatMul", [source, net.weight(f"{result}_w", WIDTH, WIDTH)], result)

    net.node("Transpose", [product("x", "k")], "kt", perm=[0, 2, 1])
    net.node("MatMul", [product("x", "q"), "kt"], "raw")
    net.node("Softmax", [net.node("Mul", ["raw", net.number("scaled", np.float32(0.1))], "scores")], "soft", axis=-1)
    net.node("MatMul", ["soft", product("x", "v")], "heads")
    net.node("Add", [product("heads", "o"), "x"], "s")
    net.node("LayerNormalization", ["s", net.number("one", np.ones(WIDTH, np.float32)),
                                    net.number("zero", np.zeros(WIDTH, np.float32))], "n")
    net.node("Relu", [product("n", "square_of")], "g")
    product("g", "y")
    return net.model(x, "y", [1, TOKENS, WIDTH])


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.left = [feeds]

    def get_next(self):
        return self.left.pop() if self.left else None


def own(**_):
    subprocess.run([ASSAY, "convert", "m.onnx", "--int8", "--load-inputs", "i.npz", "-o", "q.onnx"], check=True,
                   capture_output=True)


def static(feeds, activations=QuantType.QUInt8):
    quantize_static("m.onnx", "q.onnx", Reader(feeds), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=activations, weight_type=QuantType.QInt8)


def symmetric(feeds):
    static(feeds, QuantType.QInt8)


def dynamic(**_):
    quantize_dynamic("m.onnx", "q.onnx", per_channel=True, weight_type=QuantType.QInt8)


def initializer(model, name):
    return next(weight for weight in model.graph.initializer if weight.name == name)


def changed(model, node, index, change):
    """Input `index` of a node becomes another constant, of its own."""
    array = change(numpy_helper.to_array(initializer(model, node.input[index])).copy())
    name = f"planted_{node.output[0]}"
    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    node.input[index] = name


def maker(model, name):
    return next((node for node in model.graph.node if name in node.output), None)


class Planted:
    """The sound model, and the layer whose quantizer is to be wrong."""

    def __init__(self, model, result):
        self.model = model
        self.layer = next(node for node in model.graph.node if node.name == f"at_{result}")
        self.weight = maker(model, self.layer.input[1])
        self.data = maker(model, self.layer.input[0])

    def scale(self):
        changed(self.model, self.weight, 1, lambda scale: scale * np.float32(1.1))

    def scale_of_data(self):
        changed(self.model, self.data, 1, lambda scale: scale * np.float32(1.1))

    def zero_point(self):
        changed(self.model, self.weight, 2, lambda zero: zero + np.int8(1))

    def zero_point_of_data(self):
        changed(self.model, self.data, 2, lambda zero: zero + zero.dtype.type(1))

    def transposed(self):
        changed(self.model, self.weight, 0, lambda codes: codes.T)

    def axis(self):
        attribute = next(attribute for attribute in self.weight.attribute if attribute.name == "axis")
        attribute.i = 1 - attribute.i % 2

    def channel(self):
        def tripled(scale):
            scale[3] *= 3
            return scale
        changed(self.model, self.weight, 1, tripled)


FAULTS = ["scale", "scale_of_data", "zero_point", "zero_point_of_data", "transposed", "axis", "channel"]
NETWORKS = {pictures: "h", tokens: "square_of"}


class Int8Verdicts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def draw(self, network, seed, quantizer):
        model, feeds = network(seed)
        onnx.save(model, "m.onnx")
        np.savez("i.npz", **feeds)
        quantizer(feeds=feeds)

    def hunt(self, backend):
        ran = subprocess.run([ASSAY, "debug", "accuracy", "m.onnx", "--other", "q.onnx", f"--{backend}", "--load-inputs",
                              "i.npz", "--json", "report.json"], capture_output=True, text=True, check=False)
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        return ran, json.loads(pathlib.Path("report.json").read_text())

    def check_sound(self, quantizer):
        for network in NETWORKS:
            for seed in range(3):
                self.draw(network, seed, quantizer)
                for backend in ("onnxrt", "ref"):
                    with self.subTest(network=network.__name__, seed=seed, backend=backend):
                        ran, report = self.hunt(backend)
                        self.assertEqual([], [(one["node"], one["reason"]) for one in report["guilty"]])
                        self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)

    def test_sound_of_convert(self):
        self.check_sound(own)

    def test_sound_of_quantize_static(self):
        self.check_sound(static)

    def test_sound_of_quantize_static_around_zero(self):
        self.check_sound(symmetric)

    def test_sound_of_quantize_dynamic(self):
        self.check_sound(dynamic)

    def check_named(self, report, result, cause):
        """The layer is first, or the Relu behind it where its own result is not there any more."""
        guilty = [(one["node"], one["cause"], one["reason"]) for one in report["guilty"]]
        self.assertIn(guilty[0][0], (f"at_{result}", "at_g"))
        self.assertEqual(cause, guilty[0][1], guilty)

    def test_faults(self):
        for network, result in NETWORKS.items():
            for quantizer in (own, static):
                for fault in FAULTS:
                    self.draw(network, 1, quantizer)
                    model = onnx.load("q.onnx")
                    getattr(Planted(model, result), fault)()
                    onnx.save(model, "q.onnx")
                    with self.subTest(network=network.__name__, quantizer=quantizer.__name__, fault=fault):
                        ran, report = self.hunt("onnxrt")
                        self.assertEqual(1, ran.returncode, ran.stdout + ran.stderr)
                        self.check_named(report, result, "quantized")

    def test_a_range_that_clips(self):
        self.draw(tokens, 1, static)
        model = onnx.load("q.onnx")
        layer = Planted(model, "square_of")
        quantizers = [node for node in model.graph.node if layer.data.input[1] in node.input]
        for node in quantizers:
            changed(model, node, 1, lambda scale: scale / np.float32(4))
        onnx.save(model, "q.onnx")
        _, report = self.hunt("onnxrt")
        self.check_named(report, "square_of", "clipped")

    def test_costs_are_told(self):
        self.draw(pictures, 1, own)
        ran, report = self.hunt("onnxrt")
        self.assertIn("Layers by what int8 costs the outputs", ran.stdout + ran.stderr)
        self.assertIn("`run --tolerance auto` judges the outputs", ran.stdout + ran.stderr)
        costs = report["costs"]
        self.assertEqual(8, len(costs))
        self.assertEqual(costs, sorted(costs, key=lambda cost: -cost["output_error"]))
        self.assertTrue(all(cost["introduced"] > 0 for cost in costs))


class Folded(unittest.TestCase):
    """A BatchNormalization that the conversion folds into the codes of the convolution before it."""

    def code(self, folder, faulty=None):
        net = draw("cnn", 0, 9)
        onnx.save(net.model(), folder / "m.onnx")
        np.savez(folder / "i.npz", **net.feeds)
        subprocess.run([ASSAY, "convert", "m.onnx", "--int8", "--load-inputs", "i.npz", "-o", "q.onnx"], cwd=folder, check=True,
                       capture_output=True)
        if faulty:
            model = onnx.load(folder / "q.onnx")
            faulty(model)
            onnx.save(model, folder / "q.onnx")
        done = subprocess.run([ASSAY, "debug", "accuracy", "m.onnx", "--other", "q.onnx", "--onnxrt", "--load-inputs", "i.npz",
                               "--no-remedies"], cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_sound_and_faulty(self):
        def tripled(model):
            scale = next(t for t in model.graph.initializer if t.name == "constant_0_scale")
            scales = numpy_helper.to_array(scale).copy()
            scales.reshape(-1)[2] *= 3
            scale.CopyFrom(numpy_helper.from_array(scales, scale.name))

        with tempfile.TemporaryDirectory() as folder:
            code, text = self.code(pathlib.Path(folder))
            self.assertEqual(code, 0, text)
            code, text = self.code(pathlib.Path(folder), tripled)
            self.assertEqual(code, 1, text)
            self.assertIn("first guilty layer: `layer1`", text)


if __name__ == "__main__":
    unittest.main()
