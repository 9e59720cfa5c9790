"""Our backends `onnxrt` and `openvino` beside the Python packages: the same bits from ONNX Runtime, for outputs and for
intermediate values, from files and from memory; close values from OpenVINO. Also what `doctor` says.

    backends_test.py RUN_TOOL
"""

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
from random_ops.sides import Tool

ASSAY = os.environ["ASSAY"]
RUN_TOOL = Tool(sys.argv.pop(1))
RANDOM = np.random.RandomState(5)
FLOAT = TensorProto.FLOAT


def info(name, dtype=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model_of(nodes, inputs, outputs, constants=(), *, opset=17, ir_version=9):
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def network():
    """Convolutions and a product; its weights are more than what is copied into a model in memory."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"], "relu"),
             helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
             helper.make_node("Flatten", ["p"], ["f"], "flat"),
             helper.make_node("MatMul", ["f", "m"], ["y"], "product")]
    constants = [constant("w", normal(64, 3, 3, 3)), constant("m", normal(64, 1000))]
    return model_of(nodes, [info("x", shape=[2, 3, 16, 16])], [info("y")], constants), {"x": normal(2, 3, 16, 16)}


def branches():
    then = helper.make_graph([helper.make_node("Mul", ["a", "big"], ["t"])], "t", [], [info("t")],
                             [constant("big", normal(300, 100))])
    other = helper.make_graph([helper.make_node("Neg", ["a"], ["o"])], "o", [], [info("o")])
    nodes = [helper.make_node("Add", ["x", "x"], ["a"]),
             helper.make_node("If", ["condition"], ["y"], then_branch=then, else_branch=other)]
    return (model_of(nodes, [info("x", shape=["n", 100]), info("condition", TensorProto.BOOL, [])], [info("y")]),
            {"x": normal(300, 100), "condition": np.array(True)})


def weights_of_types():
    """Initializers that are large enough to be handed over without a copy."""
    half, four = normal(300, 300).astype(np.float16), RANDOM.randint(-8, 8, (500, 400))
    packed = helper.make_tensor("four", TensorProto.INT4, four.shape, four.ravel().tolist())
    constants = [constant("half", half), constant("table", normal(100, 300)),
                 constant("rows", RANDOM.randint(0, 100, 10000)), packed, constant("scale", np.float32(0.5))]
    nodes = [helper.make_node("MatMul", ["x", "half"], ["a"]), helper.make_node("Gather", ["table", "rows"], ["b"]),
             helper.make_node("DequantizeLinear", ["four", "scale"], ["c"])]
    return (model_of(nodes, [info("x", TensorProto.FLOAT16, [2, 300])],
                     [info("a", TensorProto.FLOAT16), info("b"), info("c")], constants, opset=21, ir_version=10),
            {"x": half[:2]})


def of_types():
    """Element types that numpy has, zero-size tensors and texts."""
    types = {"b": TensorProto.BOOL, "u": TensorProto.UINT8, "h": TensorProto.FLOAT16, "d": TensorProto.DOUBLE,
             "l": TensorProto.INT64, "e": FLOAT, "s": TensorProto.STRING}
    arrays = {"b": np.array([True, False]), "u": np.array([1, 255], np.uint8), "h": np.array([1, 0.1], np.float16),
              "d": np.array([1, 1e300]), "l": np.array([-1, 2**62]), "e": np.zeros((0, 3), np.float32),
              "s": np.array(["", "gr\u00fcn"], object)}
    nodes = [helper.make_node("Identity", [name], [f"{name}1"]) for name in types]
    nodes += [helper.make_node("Identity", [f"{name}1"], [f"{name}2"]) for name in types]
    return (model_of(nodes, [info(name, dtype, arrays[name].shape) for name, dtype in types.items()],
                     [info(f"{name}2", dtype) for name, dtype in types.items()]), arrays)


def random_graph(seed):
    """Element-wise operators and products, each of two values drawn from those before it."""
    random = np.random.RandomState(seed)
    values, nodes = ["x", "w"], []
    for i in range(25):
        op = random.choice(["Add", "Mul", "Sub", "MatMul", "Tanh", "Sigmoid", "Softmax", "Transpose"])
        count = 2 if op in ("Add", "Mul", "Sub", "MatMul") else 1
        nodes.append(helper.make_node(op, list(random.choice(values, count)), [f"v{i}"], f"n{i}"))
        if op == "MatMul":
            nodes.append(helper.make_node("Tanh", [f"v{i}"], [f"v{i}t"], f"n{i}t"))
        values.append(f"v{i}t" if op == "MatMul" else f"v{i}")
    return (model_of(nodes, [info("x", shape=[8, 8])], [info(values[-1])],
                     [constant("w", random.standard_normal((8, 8)).astype(np.float32))]),
            {"x": random.standard_normal((8, 8)).astype(np.float32)})


def results(model):
    return [name for node in model.graph.node for name in node.output]


def run_package(model, feeds, names):
    """The same in Python: what is asked for becomes an output."""
    tapped = onnx.ModelProto.FromString(model.SerializeToString())
    known = {output.name for output in tapped.graph.output}
    tapped.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    session = onnxruntime.InferenceSession(tapped.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(names, feeds)


class BackendsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def ask(self, model, feeds, backend, names=None, *, path=None):
        """Our values of the asked names, by default of the outputs; or the line with the error."""
        if path is None:
            path = self.folder / "m.onnx"
            onnx.save(model, path)
        for i, value in enumerate(model.graph.input):
            (self.folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(feeds[value.name]).SerializeToString())
        words = [str(path), str(self.folder), str(self.folder), backend, *([",".join(names)] if names else [])]
        answer = RUN_TOOL.ask("\t".join(words))
        if not answer.startswith("ok"):
            return answer
        count = len(names or model.graph.output)
        tensors = [onnx.TensorProto.FromString((self.folder / f"output_{i}.pb").read_bytes()) for i in range(count)]
        return [numpy_helper.to_array(tensor) for tensor in tensors]

    def expect_same(self, ours, expected, names):
        self.assertIsInstance(ours, list, ours)
        for name, mine, other in zip(names, ours, expected, strict=True):
            other = np.asarray(other)
            self.assertEqual((mine.dtype, mine.shape), (other.dtype, other.shape), name)
            if other.dtype == object:
                self.assertEqual([str(text) for text in other], [text.decode() if isinstance(text, bytes) else text
                                                                 for text in mine], name)
            else:
                self.assertEqual(mine.tobytes(), other.tobytes(), name)

    def check(self, model, feeds, *, path=None):
        outputs = [output.name for output in model.graph.output]
        self.expect_same(self.ask(model, feeds, "onnxrt", path=path), run_package(model, feeds, outputs), outputs)
        names = results(model)
        self.expect_same(self.ask(model, feeds, "onnxrt", names, path=path), run_package(model, feeds, names), names)

    def test_network(self):
        self.check(*network())

    def test_bodies(self):
        self.check(*branches())

    def test_weights_of_types(self):
        self.check(*weights_of_types())

    def test_types(self):
        self.check(*of_types())

    def test_random_graphs(self):
        for seed in range(10):
            with self.subTest(seed):
                self.check(*random_graph(seed))

    def test_external_data(self):
        model, feeds = network()
        path = self.folder / "external.onnx"
        onnx.save(onnx.ModelProto.FromString(model.SerializeToString()), path, save_as_external_data=True,
                  location="weights.bin")
        self.check(model, feeds, path=path)
        names = ["r", "y"]
        close = self.ask(model, feeds, "openvino", names, path=path)
        for mine, other in zip(close, run_package(model, feeds, names), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)

    def test_inputs_and_constants_are_given_as_they_are(self):
        model, feeds = network()
        for backend in ("onnxrt", "openvino"):
            ours = self.ask(model, feeds, backend, ["x", "m"])
            self.expect_same(ours, [feeds["x"], numpy_helper.to_array(model.graph.initializer[1])], ["x", "m"])

    def test_newer_versions_are_lowered_where_nothing_needs_them(self):
        model, feeds = random_graph(3)
        expected = run_package(model, feeds, [model.graph.output[0].name])
        model.ir_version = onnx.IR_VERSION
        self.expect_same(self.ask(model, feeds, "onnxrt"), expected, ["y"])
        leaky = model_of([helper.make_node("LeakyRelu", ["x"], ["y"])], [info("x", shape=[4])], [info("y")])
        data = {"x": normal(4)}
        expected = run_package(leaky, data, ["y"])
        leaky.opset_import[0].version = onnx.defs.onnx_opset_version()
        self.expect_same(self.ask(leaky, data, "onnxrt"), expected, ["y"])

    def test_openvino_is_close(self):
        for model, feeds in (network(), random_graph(1), random_graph(2)):
            names = results(model)
            ours = self.ask(model, feeds, "openvino", names)
            self.assertIsInstance(ours, list, ours)
            for name, mine, other in zip(names, ours, run_package(model, feeds, names), strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-4, err_msg=name)

    def test_what_cannot_be_run_is_said_on_one_line(self):
        unknown = model_of([helper.make_node("Strange", ["x"], ["y"], domain="com.strange")], [info("x", shape=[2])],
                           [info("y", shape=[2])])
        unknown.opset_import.append(helper.make_opsetid("com.strange", 1))
        path = self.folder / "unknown.onnx"
        onnx.save(unknown, path)
        for backend in ("--onnxrt", "--openvino"):
            done = subprocess.run([ASSAY, "run", str(path), backend], capture_output=True, text=True)
            self.assertIn(done.returncode, (2, 3), done.stderr)
            errors = [line for line in done.stderr.splitlines() if "error: " in line]
            self.assertEqual(len(errors), 1, done.stderr)

    def test_refused_functions_are_to_be_inlined(self):
        called = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17, "my": 1]>
            g (float[2] x) => (float[2] y) { y = my.twice(x) }
            <domain: "my", opset_import: ["": 17]> twice (a) => (b) { b = Add(a, a) }""")
        path, inlined = self.folder / "called.onnx", self.folder / "inlined.onnx"
        onnx.save(called, path)
        done = subprocess.run([ASSAY, "run", str(path), "--openvino"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("assay surgeon sanitize MODEL --passes inline-functions -o FILE", done.stderr)
        subprocess.run([ASSAY, "surgeon", "sanitize", str(path), "--passes", "inline-functions", "-o", str(inlined)],
                       capture_output=True, check=True)
        done = subprocess.run([ASSAY, "run", str(inlined), "--openvino"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_providers_of_a_session_are_said(self):
        model, _ = network()
        path = self.folder / "providers.onnx"
        onnx.save(model, path)
        done = subprocess.run([ASSAY, "run", str(path), "--onnxrt", "--providers", "cpu"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[I] Creating ONNX-Runtime Inference Session with providers: ['CPUExecutionProvider']\n", done.stdout)
        done = subprocess.run([ASSAY, "run", str(path), "--onnxrt", "--providers", "cuda"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("CPUExecutionProvider; the package onnxruntime-gpu has it, in the place of onnxruntime", done.stderr)

    def test_openvino_has_settings_of_its_own(self):
        path = self.folder / "product.onnx"
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 512])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 512])
        weights = np.random.default_rng(3).standard_normal((512, 512)).astype(np.float32)
        onnx.save(helper.make_model(helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y],
            [numpy_helper.from_array(weights, "w")]), ir_version=10,
            opset_imports=[helper.make_opsetid("", 17)]), path)
        words = [ASSAY, "run", str(path), "--openvino", "--ref", "--tolerance", "auto", "--json", "-", "-qqqq"]
        plain = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
        self.assertEqual(plain["verdict"], "passed", plain)
        accurate = subprocess.run(words + ["--openvino-mode", "ACCURACY", "--openvino-device", "cpu"])
        self.assertEqual(accurate.returncode, 0)
        for option, value, reason in (("--openvino-device", "quantum", "openvino has no device `quantum`"),
                                      ("--openvino-mode", "slow", "--openvino-mode")):
            done = subprocess.run(words + [option, value], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(reason, done.stderr)

    def test_doctor_names_the_packages(self):
        done = subprocess.run([ASSAY, "doctor", "--onnxrt", "--openvino", "--json", "-", "-qqqq"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        onnxrt, openvino = json.loads(done.stdout)["backends"]
        self.assertEqual(onnxrt["version"], onnxruntime.__version__)
        self.assertEqual(sorted(onnxrt["providers"]), sorted(onnxruntime.get_available_providers()))
        self.assertTrue(openvino["usable"], openvino)

    def test_version_names_the_packages(self):
        done = subprocess.run([ASSAY, "--version"], capture_output=True, text=True, check=True)
        self.assertIn(f"\nonnxrt {onnxruntime.__version__} ", done.stdout)


if __name__ == "__main__":
    unittest.main()
