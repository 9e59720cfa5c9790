"""The engine's layers of integers beside ONNX Runtime, whose codes they have up to one step: convolutions and matrix
products with what stands between them and their quantisers, and pools. Operators that ONNX Runtime multiplies in integers
are compared with onnx's ReferenceEvaluator: without VNNI, ONNX Runtime's sums of two products saturate at 16 bits.

    engine_int8_test.py RUN_TOOL
"""

import sys
import unittest

import numpy as np
import onnxruntime
from engine_graphs import EngineCase, Graph
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
SEEDS = 80


class Quantized(Graph):
    """A graph of codes and what they stand for."""

    def quantizer(self, scale):
        """Constants of a quantiser of this scale, and the type of its codes."""
        is_signed = self.random.random() < 0.3
        zero = int(self.random.integers(-20, 20)) if is_signed else int(self.random.choice([0, 0, 128, 97]))
        dtype = np.int8 if is_signed else np.uint8
        return self.constant(np.float32(scale)), self.constant(np.array(zero, dtype)), dtype

    def through(self, x, scale):
        """x, quantised and dequantised: the codes and what they stand for."""
        *constants, dtype = self.quantizer(scale)
        codes = self.add("QuantizeLinear", [x, *constants], self.shapes[x])
        self.types[codes] = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return codes, self.add("DequantizeLinear", [codes, *constants], self.shapes[x])

    def weights(self, *shape, axis=0):
        codes = self.constant(self.random.integers(-127, 128, shape).astype(np.int8))
        count = shape[axis] if self.random.random() < 0.7 else 1
        scales = self.random.uniform(0.5, 1.5, count) / 127 / np.sqrt(np.prod(shape) / shape[axis])
        scales = scales.astype(np.float32) if count > 1 else scales.astype(np.float32)[0]
        zeros = self.constant(np.zeros(np.shape(scales), np.int8))
        return self.add("DequantizeLinear", [codes, self.constant(scales), zeros], shape, axis=axis)


def convolution(graph, x):
    random = graph.random
    batch, channels, height, width = graph.shapes[x]
    out, kernel, stride = int(random.choice([8, 20, 130, 256])), int(random.choice([1, 3])), int(random.choice([1, 1, 2]))
    weights = graph.weights(out, channels, kernel, kernel)
    pad = kernel // 2
    size = [(n + 2 * pad - kernel) // stride + 1 for n in (height, width)]
    operands = [x, weights]
    if random.random() < 0.8:
        operands.append(graph.constant(random.standard_normal(out).astype(np.float32) * 0.3))
    return graph.add("Conv", operands, [batch, out, *size], pads=[pad] * 4, strides=[stride, stride])


def activation(graph, x):
    shape = graph.shapes[x]
    op = str(graph.random.choice(["none", "Relu", "LeakyRelu", "HardSwish", "Clip", "silu", "Tanh"]))
    if op == "none":
        return x
    if op == "silu":
        return graph.add("Mul", [x, graph.add("Sigmoid", [x], shape)], shape)
    bounds = [graph.constant(np.float32(0)), graph.constant(np.float32(1.5))] if op == "Clip" else []
    return graph.add(op, [x, *bounds], shape)


def residual(graph, x):
    """The sum with other codes, or with floats, on either side; x goes through codes first, or not."""
    shape, random = graph.shapes[x], graph.random
    other = graph.input(*shape)
    if random.random() < 0.7:
        other = graph.through(other, random.uniform(0.01, 0.02))[1]
    if random.random() < 0.7:
        x = graph.through(x, random.uniform(0.01, 0.015))[1]
    operands = [x, other]
    random.shuffle(operands)
    return activation(graph, graph.add("Add", operands, shape))


def product(graph, x):
    """A matrix product, perhaps a Gemm, perhaps with a bias of its own or one that is added."""
    random, shape = graph.random, graph.shapes[x]
    columns = int(random.choice([1, 5, 64, 70, 300]))
    bias = graph.constant(random.standard_normal(columns).astype(np.float32) * 0.3)
    if len(shape) == 2 and random.random() < 0.5:
        turned = int(random.integers(0, 2))
        dims = (columns, shape[-1]) if turned else (shape[-1], columns)
        return graph.add("Gemm", [x, graph.weights(*dims, axis=1 - turned), bias][:int(random.integers(2, 4))],
                         [shape[0], columns], transB=turned)
    made = graph.add("MatMul", [x, graph.weights(shape[-1], columns, axis=1)], [*shape[:-1], columns])
    if random.random() < 0.5:
        made = graph.add("Add", [made, bias] if random.random() < 0.5 else [bias, made], [*shape[:-1], columns])
    return gelu(graph, made) if random.random() < 0.3 else made


def gelu(graph, x):
    shape = graph.shapes[x]
    half = graph.add("Mul", [x, graph.constant(np.float32(0.5))], shape)
    erf = graph.add("Erf", [graph.add("Div", [x, graph.constant(np.float32(2 ** 0.5))], shape)], shape)
    return graph.add("Mul", [half, graph.add("Add", [erf, graph.constant(np.float32(1))], shape)], shape)


def layer_of(seed):
    """A layer that begins with codes and mostly ends in them."""
    graph = Quantized(seed)
    random = graph.random
    if seed % 2:
        shape = [int(random.integers(1, 3)), int(random.choice([3, 16, 64, 70])), *random.integers(1, 15, 2).tolist()]
    else:
        shape = [*random.integers(1, 4, int(random.integers(0, 3))).tolist(), *random.integers(1, 70, 2).tolist()]
    x = graph.through(graph.input(*shape), 0.02)[1]
    x = activation(graph, convolution(graph, x) if seed % 2 else product(graph, x))
    if random.random() < 0.6:
        x = residual(graph, x)
    if random.random() < 0.2:
        return graph.model([x]), graph.feeds
    return graph.model([graph.through(x, random.uniform(0.02, 0.04))[0]]), graph.feeds


def pool(graph, x):
    """The greatest of what codes stand for, between two quantisers that may be the same."""
    batch, channels, height, width = graph.shapes[x]
    *constants, dtype = graph.quantizer(0.02)
    codes = graph.add("QuantizeLinear", [x, *constants], graph.shapes[x])
    floats = graph.add("DequantizeLinear", [codes, *constants], graph.shapes[x])
    size = [(n + 2 - 3) // 2 + 1 for n in (height, width)]
    most = graph.add("MaxPool", [floats], [batch, channels, *size], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    if graph.random.random() < 0.4:
        *constants, dtype = graph.quantizer(0.03)
    made = graph.add("QuantizeLinear", [most, *constants], graph.shapes[most])
    graph.types[made] = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    result = graph.add("DequantizeLinear", [made, *constants], graph.shapes[most])
    return graph.add("Neg", [result], graph.shapes[most])


def dynamic(graph, x):
    """What ONNX Runtime's dynamic quantisation makes of a matrix product."""
    random, shape = graph.random, graph.shapes[x]
    columns = int(random.choice([1, 5, 64, 70, 300]))
    codes = graph.add("DynamicQuantizeLinear", [x], shape)
    scale, zero = f"{codes}_scale", f"{codes}_zero"
    graph.nodes[-1].output.extend([scale, zero])
    weights = graph.constant(random.integers(-127, 128, (shape[-1], columns)).astype(np.int8))
    count = columns if random.random() < 0.7 else 1
    scales = graph.constant((random.uniform(0.5, 1.5, count) / 127 / np.sqrt(shape[-1])).astype(np.float32))
    zeros = [graph.constant(np.zeros(count, np.int8))] if random.random() < 0.5 else []
    result = [*shape[:-1], columns]
    sums = graph.add("MatMulInteger", [codes, weights, zero, *zeros], result)
    floats = graph.add("Cast", [sums], result, to=1)
    both = graph.add("Mul", [scale, scales], [count])
    made = graph.add("Mul", [floats, both], result)
    bias = graph.constant(random.standard_normal(columns).astype(np.float32))
    return activation(graph, graph.add("Add", [bias, made], result))


def heads(graph, x):
    """Codes of products that are turned and cut between quantisers, multiplied with each other and by weights."""
    rows = graph.shapes[x][0]

    def quantised(value, constants, shape):
        codes = graph.add("QuantizeLinear", [value, *constants], shape)
        return graph.add("DequantizeLinear", [codes, *constants], shape)

    sides = []
    for order in ([1, 0, 2], [1, 2, 0]):
        constants = graph.quantizer(0.02)[:2]
        made = graph.add("MatMul", [x, graph.weights(graph.shapes[x][1], 24, axis=1)], [rows, 24])
        made = quantised(made, constants, [rows, 24])
        cut = graph.constant(np.array([rows, 3, 8], np.int64))
        made = quantised(graph.add("Reshape", [made, cut], [rows, 3, 8]), constants, [rows, 3, 8])
        shape = [[rows, 3, 8][axis] for axis in order]
        sides.append(quantised(graph.add("Transpose", [made], shape, perm=order), constants, shape))
    scores = graph.add("Softmax", [graph.add("MatMul", sides, [3, rows, rows])], [3, rows, rows], axis=-1)
    scores = quantised(scores, graph.quantizer(1 / 255)[:2], [3, rows, rows])
    constants = graph.quantizer(0.02)[:2]
    sums = graph.add("MatMul", [scores, sides[0]], [3, rows, 8])
    sums = quantised(sums, constants, [3, rows, 8])
    turned = quantised(graph.add("Transpose", [sums], [rows, 3, 8], perm=[1, 0, 2]), constants, [rows, 3, 8])
    whole = graph.constant(np.array([rows, 24], np.int64))
    flat = quantised(graph.add("Reshape", [turned, whole], [rows, 24]), constants, [rows, 24])
    return graph.add("MatMul", [flat, graph.weights(24, 10, axis=1)], [rows, 10])


def attention(graph):
    """Products of codes and of softmax that is quantised, with what may stand between them."""
    random = graph.random
    items = [int(n) for n in random.integers(1, 4, 2)]
    rows, keys, depth, width = (int(random.integers(1, most)) for most in (140, 150, 70, 90))
    q = graph.through(graph.input(*items, rows, depth), 0.021)[1]
    k = graph.through(graph.input(*items, keys, depth), 0.019)[1]
    v = graph.through(graph.input(*items, keys, width), 0.02)[1]
    shape = [*items, rows, keys]
    turned = graph.add("Transpose", [k], [*items, depth, keys], perm=[0, 1, 3, 2])
    if random.random() < 0.7:
        turned = graph.through(turned, 0.019)[1]
    made = graph.add("MatMul", [q, turned], shape)
    quantises = random.random() < 0.3
    if quantises:
        made = graph.through(made, 0.173)[1]
    if random.random() < 0.8:
        scale = graph.constant(np.float32(np.sqrt(depth)))
        made = graph.add(*(("Div", [made, scale]) if random.random() < 0.5 else ("Mul", [scale, made])), shape)
    if random.random() < 0.5:
        made = graph.add("Add", [made, graph.input(items[0], 1, int(random.choice([1, rows])), keys)], shape)
    if quantises:
        made = graph.through(made, 0.177)[1]
    weights = graph.add("Softmax", [made], shape, axis=-1)
    weights = graph.through(weights, float(random.choice([1 / 255, 0.0013, 0.0177])))[1]
    sums = graph.add("MatMul", [weights, v], [*items, rows, width])
    order = random.random() < 0.5
    if random.random() < 0.7:
        codes, floats = graph.through(sums, 0.0193)
        return floats if order else codes
    return graph.add("Transpose", [sums], [items[0], rows, items[1], width], perm=[0, 2, 1, 3]) if order else sums


def codes_of(graph, x):
    """Codes of x with their scale and zero point."""
    *constants, dtype = graph.quantizer(0.02)
    codes = graph.add("QuantizeLinear", [x, *constants], graph.shapes[x])
    graph.types[codes] = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return [codes, *constants]


def integer_weights(graph, dims, axis, x):
    """Weights with a scale and a zero point, perhaps for each channel; int8 may not hold some of them. ONNX Runtime
    multiplies int8 by int8 only."""
    random = graph.random
    is_signed = random.random() < 0.5 or graph.types[x] == TensorProto.INT8
    by_channel = random.random() < 0.5
    zeros = random.integers(-3, 4, dims[axis] if by_channel else None) + (0 if is_signed else 128)
    low, high = (-100, 101) if is_signed else (0, 256) if random.random() < 0.3 else (28, 228)
    dtype = np.int8 if is_signed else np.uint8
    scales = random.uniform(0.5, 1.5, dims[axis] if by_channel else None) / 127 / np.sqrt(np.prod(dims) / dims[axis])
    zeros = zeros * 0 if is_signed and random.random() < 0.5 else zeros
    return [graph.constant(value) for value in (
        random.integers(low, high, dims).astype(dtype), np.asarray(scales, np.float32), np.asarray(zeros, dtype))]


def whole_operator(graph, op):
    """One of the operators that take and give codes, or sums of their products. ONNX Runtime wants both codes to have
    one type."""
    random = graph.random
    if op == "QLinearConv":
        batch, channels, size, out, kernel = (int(random.integers(1, most)) for most in (3, 40, 12, 70, 4))
        x = graph.input(batch, channels, size + 3, size + 3)
        codes = codes_of(graph, x)
        weights = integer_weights(graph, (out, channels, kernel, kernel), 0, codes[0])
        bias = [graph.constant(random.integers(-500, 500, out).astype(np.int32))] if random.random() < 0.5 else []
        pad = int(random.integers(0, 2)) if kernel > 1 else 0
        side = size + 3 + 2 * pad - kernel + 1
        result = [graph.constant(np.float32(0.03)), codes[2]]
        made = graph.add(op, [*codes, *weights, *result, *bias], [batch, out, side, side], pads=[pad] * 4)
        graph.types[made] = graph.types[codes[0]]
        return made
    rows, depth, columns = (int(random.integers(1, most)) for most in (40, 300, 100))
    x, scale, zero = codes_of(graph, graph.input(rows, depth))
    weights, scales, zeros = integer_weights(graph, (depth, columns), 1, x)
    if op == "MatMulInteger":
        made = graph.add(op, [x, weights, zero, zeros], [rows, columns])
        graph.types[made] = TensorProto.INT32
        return made
    result = [graph.constant(np.float32(0.03)), zero]
    made = graph.add(op, [x, scale, zero, weights, scales, zeros, *result], [rows, columns])
    graph.types[made] = graph.types[x]
    return made


class EngineInt8Test(EngineCase):
    tool = RUN_TOOL

    def expect(self, model, feeds):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)

    def check(self, model, feeds, expected=None):
        for mine, other in zip(self.ask(model, feeds), expected or self.expect(model, feeds), strict=True):
            self.assertEqual((mine.shape, mine.dtype), (other.shape, other.dtype))
            is_codes = mine.dtype != np.float32
            difference = np.abs(mine.astype(np.float64) - other)
            # A flip of codes within the layer moves its floats by a step of theirs.
            self.assertLessEqual(np.max(difference, initial=0), 1 if is_codes else 0.02)
            self.assertLessEqual(np.mean(difference > (0 if is_codes else 1e-4)), 0.002)

    def test_layers(self):
        for seed in range(SEEDS):
            with self.subTest(seed):
                self.check(*layer_of(seed))

    def test_pools(self):
        for seed in range(20):
            with self.subTest(seed):
                graph = Quantized(seed)
                channels = int(graph.random.choice([3, 16, 70, 130]))
                shape = [int(graph.random.integers(1, 3)), channels, *graph.random.integers(2, 12, 2).tolist()]
                self.check(graph.model([pool(graph, graph.input(*shape))]), graph.feeds)

    def test_codes_that_are_moved(self):
        for seed in range(20):
            with self.subTest(seed):
                graph = Quantized(seed)
                x = graph.through(graph.input(*graph.random.integers(9, 40, 2).tolist()), 0.02)[1]
                model, feeds = graph.model([heads(graph, x)]), graph.feeds
                mine, other = self.ask(model, feeds)[0], self.expect(model, feeds)[0]
                # A flip of codes before the attention moves all that follows it a little.
                self.assertLess(np.max(np.abs(mine - other)), 0.1 * np.max(np.abs(other)))
                self.assertLess(np.median(np.abs(mine - other)), 1e-4)

    def test_attention(self):
        for seed in range(SEEDS):
            with self.subTest(seed):
                graph = Quantized(seed)
                made = attention(graph)
                self.check(graph.model([made]), graph.feeds)

    def test_whole_operators(self):
        for op in ("QLinearConv", "QLinearMatMul", "MatMulInteger"):
            for seed in range(SEEDS // 2):
                with self.subTest(op, seed=seed):
                    graph = Quantized(seed)
                    made = whole_operator(graph, op)
                    model, feeds = graph.model([made]), graph.feeds
                    expected = ReferenceEvaluator(model).run(None, feeds)
                    if op != "MatMulInteger":
                        self.check(model, feeds, expected)
                        continue
                    np.testing.assert_array_equal(self.ask(model, feeds)[0], expected[0])

    def test_products_of_dynamic_codes(self):
        for seed in range(SEEDS // 2):
            with self.subTest(seed):
                graph = Quantized(seed)
                shape = [*graph.random.integers(1, 4, seed % 3).tolist(), *graph.random.integers(1, 300, 2).tolist()]
                model = graph.model([dynamic(graph, graph.input(*shape))])
                self.check(model, graph.feeds, ReferenceEvaluator(model).run(None, graph.feeds))


if __name__ == "__main__":
    unittest.main()
