"""`assay run --tolerance auto` beside ONNX Runtime: sound models are not accused, whatever their layers; models with one
fault are, and the first layer beyond its tolerance is the one with the fault."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]


class Net:
    """Nodes in a row; `last` is the value that the next one works on."""

    def __init__(self, seed, shape, dtype=np.float32):
        self.rng = np.random.default_rng(seed)
        self.dtype, self.shape, self.last = dtype, shape, "x"
        self.nodes, self.weights = [], []

    def weight(self, *shape, scale=0.2, values=None):
        name = f"w{len(self.weights)}"
        drawn = self.rng.normal(scale=scale, size=shape).astype(self.dtype) if values is None else np.asarray(values)
        self.weights.append(numpy_helper.from_array(drawn, name))
        return name

    def add(self, op, *inputs, **attributes):
        self.last = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [self.last], name=f"n{len(self.nodes)}", **attributes))
        return self.last

    def then(self, op, *inputs, **attributes):
        return self.add(op, self.last, *inputs, **attributes)

    def model(self):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("x", kind, self.shape)],
                                  [helper.make_empty_tensor_value_info(self.last)], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def pictures(dtype=np.float32):
    net = Net(1, [1, 3, 32, 32], dtype)
    for channels, inputs in ((16, 3), (32, 16), (32, 32)):
        net.then("Conv", net.weight(channels, inputs, 3, 3), pads=[1, 1, 1, 1])
        net.then("Clip", net.weight(values=np.array(0, dtype)), net.weight(values=np.array(0.5, dtype)))
    net.then("GlobalAveragePool")
    net.then("Conv", net.weight(10, 32, 1, 1))
    return net.model()


def attention():
    net = Net(2, [1, 24, 64])
    key = net.add("MatMul", "x", net.weight(64, 64))
    key = net.then("Transpose", perm=[0, 2, 1])
    query = net.add("MatMul", "x", net.weight(64, 64))
    net.add("MatMul", query, key)
    mask = np.where(np.triu(np.ones((24, 24)), 1), -np.inf, 0).astype(np.float32)
    net.then("Add", net.weight(values=mask))
    weights = net.then("Softmax", axis=-1)
    net.add("MatMul", weights, "x")
    mean = net.then("ReduceMean", axes=[-1])
    net.add("Sub", net.nodes[-2].output[0], mean)
    net.then("Erf")
    net.then("MatMul", net.weight(64, 32))
    return net.model()


def steps():
    net = Net(3, [1, 3, 24, 24])
    for channels, inputs, scale in ((8, 3, 0.02), (8, 8, 0.03), (8, 8, 0.05)):
        quantizer = (net.weight(values=np.float32(scale)), net.weight(values=np.uint8(128)))
        net.then("QuantizeLinear", *quantizer)
        net.then("DequantizeLinear", *quantizer)
        image = net.last
        integers = net.weight(values=net.rng.integers(-127, 128, (channels, inputs, 3, 3)).astype(np.int8))
        weights = net.add("DequantizeLinear", integers, net.weight(values=np.float32(0.003)))
        net.add("Conv", image, weights)
    return net.model()


def truths():
    net = Net(4, [64, 64])
    product = net.then("MatMul", net.weight(64, 64))
    net.then("Less", net.weight(values=np.float32(0.3)))
    truths_ = net.then("Not")
    net.add("Where", truths_, product, net.weight(values=np.float32(0)))
    net.then("ArgMax", axis=1, keepdims=1)
    return net.model()


class ToleranceTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name, name))

    def run_assay(self, *words):
        command = [ASSAY, "run", *words, "--onnx-outputs", "mark", "all"]
        return subprocess.run(command, capture_output=True, text=True)

    def report(self, *words):
        run = self.run_assay(*words, "--tolerance", "auto", "--json", self.path("report.json"))
        pair = json.loads(pathlib.Path(self.path("report.json")).read_text())["pairs"][0]
        return run.returncode, pair

    def accused(self, model):
        onnx.save(model, self.path("sound.onnx"))
        code, pair = self.report(self.path("sound.onnx"), "--onnxrt", "--ref")
        failed = [output["name"] for output in pair["iterations"][0]["outputs"] if not output["passed"]]
        self.assertEqual((code, failed), (0, []))

    def first(self, model, faulty):
        onnx.save(model, self.path("sound.onnx"))
        onnx.save(faulty, self.path("faulty.onnx"))
        saved = self.run_assay(self.path("faulty.onnx"), "--onnxrt", "--save-outputs", self.path("faulty.json"))
        self.assertEqual(saved.returncode, 0, saved.stderr)
        code, pair = self.report(self.path("sound.onnx"), "--ref", "--load-outputs", self.path("faulty.json"))
        self.assertEqual(code, 1)
        return pair["first_failed"]

    def test_sound_models_are_not_accused(self):
        for make in (pictures, attention, steps, truths, lambda: pictures(np.float16)):
            with self.subTest(make.__name__):
                self.accused(make())

    def with_noise(self, model, index, share):
        faulty = onnx.ModelProto()
        faulty.CopyFrom(model)
        weight = faulty.graph.initializer[index]
        values = numpy_helper.to_array(weight)
        noisy = values * (1 + share * np.random.default_rng(9).normal(size=values.shape))
        weight.CopyFrom(numpy_helper.from_array(noisy.astype(values.dtype), weight.name))
        user = next(node for node in faulty.graph.node if weight.name in node.input)
        return faulty, user.output[0]

    def test_noise_on_one_weight_is_found_at_its_layer(self):
        model = pictures()
        for index in (0, 3, 6, 9):
            faulty, layer = self.with_noise(model, index, 1e-4)
            self.assertEqual(self.first(model, faulty), layer)

    def test_noise_of_a_hundredth_is_found_in_float16(self):
        model = pictures(np.float16)
        for index in (0, 3, 6):
            faulty, layer = self.with_noise(model, index, 1e-2)
            self.assertEqual(self.first(model, faulty), layer)

    def test_another_comparison_is_found(self):
        model = truths()
        faulty = onnx.ModelProto()
        faulty.CopyFrom(model)
        faulty.graph.node[1].op_type = "Greater"
        self.assertEqual(self.first(model, faulty), "v1")

    def test_another_scale_of_a_quantizer_is_found(self):
        model = steps()
        faulty = onnx.ModelProto()
        faulty.CopyFrom(model)
        scale = next(w for w in faulty.graph.initializer if w.name == faulty.graph.node[4].input[1])
        scale.CopyFrom(numpy_helper.from_array(np.float32(0.0302), scale.name))
        self.assertEqual(self.first(model, faulty), "v4")


if __name__ == "__main__":
    unittest.main()
