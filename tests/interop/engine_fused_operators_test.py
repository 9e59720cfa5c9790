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
from in_folder import InFolder, run, saturates
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


def assembled(seed, has_past):
    """As optimisers that know whole models leave them: attention with its products, masks and past, embeddings."""
    b = Builder(seed)

    def fused(op, *operands, **attributes):
        return b.add(op, *operands, domain="com.microsoft", **attributes)

    def rows(*inner):
        return [b.weight(width, scale=0.1, shift=shift) for width, shift in inner]

    tables = [b.weight(count, WIDTH, scale=1) for count in (50, TOKENS, 2)]
    names = ["ids", "kinds", *tables, *rows((WIDTH, 1), (WIDTH, 0)), *(() if has_past else ("mask",))]
    x = "embedded"
    b.nodes.append(helper.make_node("EmbedLayerNormalization", names, [x, "counts"], domain="com.microsoft", epsilon=1e-5))
    operands = [b.weight(WIDTH, 3 * WIDTH), *rows((3 * WIDTH, 0)), "mask" if has_past else "counts"]
    outputs = {"y": [2, TOKENS, WIDTH]}
    inputs = {"ids": [2, TOKENS], "kinds": [2, TOKENS], "mask": [2, TOKENS + 3 * has_past]}
    if has_past:
        inputs["past"] = [2, 2, HEADS, 3, WIDTH // HEADS]
        outputs["present"] = [2, 2, HEADS, TOKENS + 3, WIDTH // HEADS]
        node = helper.make_node("Attention", [x, *operands, "past"], ["a", "present"], domain="com.microsoft",
                                num_heads=HEADS, unidirectional=1)
        b.nodes.append(node)
        attended = "a"
    else:
        attended = fused("Attention", x, *operands, num_heads=HEADS)
    out = b.add("MatMul", attended, b.weight(WIDTH, WIDTH))
    x = fused("SkipLayerNormalization", out, x, *rows((WIDTH, 1), (WIDTH, 0), (WIDTH, 0)), epsilon=1e-5)
    inner = fused("BiasGelu", b.add("MatMul", x, b.weight(WIDTH, 2 * WIDTH)), *rows((2 * WIDTH, 0)))
    out = b.add("MatMul", inner, b.weight(2 * WIDTH, WIDTH))
    fused("SkipSimplifiedLayerNormalization", out, x, *rows((WIDTH, 1)), epsilon=1e-5, result="y")
    model = b.model(inputs, outputs, 17)
    for value in model.graph.input[:3]:
        value.type.tensor_type.elem_type = onnx.TensorProto.INT32
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def feeds_of(model, seed):
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        is_integer = value.type.tensor_type.elem_type == onnx.TensorProto.INT32
        most = 50 if value.name == "ids" else 2
        feeds[value.name] = (rng.integers(0, most, shape).astype(np.int32) if is_integer
                             else rng.normal(size=shape).astype(np.float32))
    return feeds


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

    def check(self, path, model, tolerance, share=0.0, by_reference=()):
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
        self.assertEqual([layer for layer, tactic in tactics if tactic == "reference"], list(by_reference))

    def test_encoders(self):
        for version in (13, 17):
            for by_tanh in (False, True):
                with self.subTest(version=version, by_tanh=by_tanh):
                    model = encoder(1, version, by_tanh)
                    expected = {"SkipLayerNormalization", "FastGelu" if by_tanh else "Gelu"}
                    path, model = self.optimised(self.save(model), expected)
                    self.check(path, model, 1e-5)

    def test_attention(self):
        for has_past in (False, True):
            for is_quantised in (False, True):
                with self.subTest(has_past=has_past, is_quantised=is_quantised):
                    model = assembled(5, has_past)
                    path = self.save(model)
                    if is_quantised:
                        quantize_dynamic(str(path), str(self.path / "quantised.onnx"), reduce_range=saturates(),
                                         op_types_to_quantize=["Attention", "MatMul"],
                                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
                        path = self.path / "quantised.onnx"
                        self.assertIn("QAttention", {node.op_type for node in onnx.load(path).graph.node})
                    self.check(path, model, 1e-5, 0.02 if is_quantised else 0, ["embedded"])

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
                        quantize_dynamic(source, str(made), reduce_range=saturates())
                    else:
                        feeds = iter([feeds_of(model, 1), feeds_of(model, 2)])
                        reader = type("Reader", (CalibrationDataReader,), {"get_next": lambda self: next(feeds, None)})()
                        quantize_static(source, str(made), reader, per_channel=True, reduce_range=saturates(),
                                        quant_format=QuantFormat.QDQ if form == "static" else QuantFormat.QOperator)
                    expected = {"DynamicQuantizeMatMul"} if form == "dynamic" else set()
                    path, optimised = self.optimised(made, expected, "layout" if form == "operators" else "extended")
                    self.check(path, optimised, 1e-5, 0.8 if (name, form) == ("encoder", "static") else 0)


if __name__ == "__main__":
    unittest.main()
