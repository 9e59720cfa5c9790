"""Models as ONNX Runtime's optimisers save them, full of fused operators, on the engine: the numbers are ONNX Runtime's,
plans have the bits of the models, and no layer is left to the reference operators.

    engine_fused_operators_test.py ASSAY
"""

import re
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, run
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static

ASSAY = sys.argv.pop(1)
LEVELS = {"extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
          "none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "layout": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_LAYOUT}
TOKENS, WIDTH, HEADS = 24, 32, 4


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.shapes = [], [], {}

    def weight(self, *shape, scale=None, shift=0.0):
        name = f"w{len(self.weights)}"
        spread = 1 / np.sqrt(shape[0]) if scale is None else scale
        array = (self.random.normal(size=shape) * spread + shift).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, op, *operands, **attributes):
        name = attributes.pop("result", f"v{len(self.nodes)}")
        self.nodes.append(helper.make_node(op, operands, [name], f"n{len(self.nodes)}", **attributes))
        return name

    def model(self, inputs, outputs, version):
        values = {name: helper.make_tensor_value_info(name, 1, shape) for name, shape in (inputs | outputs).items()}
        graph = helper.make_graph(self.nodes, "g", [values[name] for name in inputs],
                                  [values[name] for name in outputs], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def normalised(b, x):
    """As exporters write it out."""
    centred = b.add("Sub", x, b.add("ReduceMean", x, axes=[-1]))
    squared = b.add("ReduceMean", b.add("Pow", centred, b.constant(np.float32(2))), axes=[-1])
    root = b.add("Sqrt", b.add("Add", squared, b.constant(np.float32(1e-5))))
    scaled = b.add("Mul", b.add("Div", centred, root), b.weight(WIDTH, scale=0.1, shift=1))
    return b.add("Add", scaled, b.weight(WIDTH, scale=0.1))


def gelu(b, x, by_tanh):
    if not by_tanh:
        inner = b.add("Add", b.add("Erf", b.add("Div", x, b.constant(np.float32(np.sqrt(2))))), b.constant(np.float32(1)))
        return b.add("Mul", b.add("Mul", x, inner), b.constant(np.float32(0.5)))
    cube = b.add("Mul", b.add("Pow", x, b.constant(np.float32(3))), b.constant(np.float32(0.044715)))
    inner = b.add("Mul", b.add("Add", x, cube), b.constant(np.float32(np.sqrt(2 / np.pi))))
    grown = b.add("Add", b.add("Tanh", inner), b.constant(np.float32(1)))
    return b.add("Mul", b.add("Mul", x, b.constant(np.float32(0.5))), grown)


def encoder(seed, version, by_tanh=False):
    b = Builder(seed)

    def linear(x, inner, outer):
        return b.add("Add", b.add("MatMul", x, b.weight(inner, outer)), b.weight(outer, scale=0.1))

    def heads(x, order):
        split = b.add("Reshape", linear(x, WIDTH, WIDTH), b.constant(np.array([0, 0, HEADS, WIDTH // HEADS])))
        return b.add("Transpose", split, perm=order)

    x = "x"
    for _ in range(2):
        scores = b.add("MatMul", heads(x, [0, 2, 1, 3]), heads(x, [0, 2, 3, 1]))
        weights = b.add("Softmax", b.add("Div", scores, b.constant(np.float32(np.sqrt(WIDTH // HEADS)))), axis=-1)
        mixed = b.add("Transpose", b.add("MatMul", weights, heads(x, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        joined = b.add("Reshape", mixed, b.constant(np.array([0, 0, WIDTH])))
        x = normalised(b, b.add("Add", x, linear(joined, WIDTH, WIDTH)))
        x = normalised(b, b.add("Add", x, linear(gelu(b, linear(x, WIDTH, 3 * WIDTH), by_tanh), 3 * WIDTH, WIDTH)))
    b.add("Identity", x, result="y")
    return b.model({"x": [2, TOKENS, WIDTH]}, {"y": [2, TOKENS, WIDTH]}, version)


def network(seed):
    b = Builder(seed)

    def conv(x, inner, outer, size, **attributes):
        weights = b.weight(outer, inner // attributes.get("group", 1), size, size, scale=1 / np.sqrt(inner * size * size))
        return b.add("Conv", x, weights, b.weight(outer, scale=0.1), pads=[size // 2] * 4, **attributes)

    x = b.add("Relu", conv("x", 3, 16, 3, strides=[2, 2]))
    x = b.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = b.add("LeakyRelu", conv(x, 16, 16, 3), alpha=0.1)
    y = b.add("Clip", conv(y, 16, 16, 3, group=16), b.constant(np.float32(0)), b.constant(np.float32(6)))
    x = b.add("Relu", b.add("Add", conv(y, 16, 16, 1), x))
    y = b.add("Sigmoid", conv(x, 16, 24, 1))
    b.add("GlobalAveragePool", b.add("HardSigmoid", conv(y, 24, 24, 3)), result="y")
    return b.model({"x": [2, 3, 34, 30]}, {"y": [2, 24, 1, 1]}, 13)


def feeds_of(model, seed):
    rng = np.random.default_rng(seed)
    return {value.name: rng.normal(size=[d.dim_value for d in value.type.tensor_type.shape.dim]).astype(np.float32)
            for value in model.graph.input}


class FusedOperatorsTest(InFolder):
    def session(self, path, level, saved=None):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = LEVELS[level]
        if saved is not None:
            options.optimized_model_filepath = str(saved)
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def optimised(self, path, expected, level="extended"):
        """As ONNX Runtime saves it; these operators must be in it."""
        saved = self.path / "optimised.onnx"
        self.session(path, level, saved)
        model = onnx.load(saved)
        self.assertLessEqual(expected, {node.op_type for node in model.graph.node})
        return saved, model

    def outputs(self, file, *words):
        saved = self.path / "out.npz"
        run(ASSAY, "run", file, "--engine", *words, "--save-outputs", saved)
        with np.load(saved) as arrays:
            return dict(arrays)

    def check(self, path, model, tolerance, share=0.0):
        """Where a sum falls between two codes, one apart moves its whole row through what follows: in a share of results."""
        feeds = feeds_of(model, 7)
        np.savez(self.path / "in.npz", **feeds)
        words = ("--load-inputs", self.path / "in.npz")
        plan = self.path / "m.engine"
        mine, of_plan = [self.outputs(file, *words, *more)
                         for file, more in ((path, ("--save-engine", plan)), (plan, ()))]
        session = self.session(path, "none")
        for output, expected in zip(session.get_outputs(), session.run(None, feeds), strict=True):
            difference = np.abs(mine[output.name] - expected) / np.max(np.abs(expected))
            self.assertLessEqual(np.mean(difference > tolerance), share)
            self.assertLess(np.max(difference), 0.05)
            np.testing.assert_array_equal(of_plan[output.name], mine[output.name])
        listing = run(ASSAY, "inspect", "model", plan, "--show", "layers", "attrs")
        tactics = re.findall(r"(\S+)\.Tactic = (\S+)", listing)
        self.assertTrue(tactics)
        self.assertEqual([layer for layer, tactic in tactics if tactic == "reference"], [])

    def test_encoders(self):
        for version in (13, 17):
            for by_tanh in (False, True):
                with self.subTest(version=version, by_tanh=by_tanh):
                    model = encoder(1, version, by_tanh)
                    expected = {"SkipLayerNormalization", "FastGelu" if by_tanh else "Gelu"}
                    path, model = self.optimised(self.save(model), expected)
                    self.check(path, model, 1e-5)

    def test_convolutions(self):
        path, model = self.optimised(self.save(network(2)), {"FusedConv"})
        self.check(path, model, 1e-5)

    def test_integers(self):
        for name, model in (("encoder", encoder(3, 17)), ("network", network(4))):
            for form in ("static", "operators", "dynamic"):
                if (name, form) == ("network", "dynamic"):
                    continue  # ConvInteger is never fused
                with self.subTest(model=name, form=form):
                    source = str(self.save(model))
                    made = self.path / "quantised.onnx"
                    if form == "dynamic":
                        quantize_dynamic(source, str(made))
                    else:
                        feeds = iter([feeds_of(model, 1), feeds_of(model, 2)])
                        reader = type("Reader", (CalibrationDataReader,), {"get_next": lambda self: next(feeds, None)})()
                        quantize_static(source, str(made), reader, per_channel=True, quant_format=QuantFormat.QDQ
                                        if form == "static" else QuantFormat.QOperator)
                    expected = {"DynamicQuantizeMatMul"} if form == "dynamic" else set()
                    path, optimised = self.optimised(made, expected, "layout" if form == "operators" else "extended")
                    self.check(path, optimised, 1e-5, 0.8 if (name, form) == ("encoder", "static") else 0)


if __name__ == "__main__":
    unittest.main()
