"""Quantisers, products and convolutions of codes."""

import math

import numpy as np

from .products import matrix_sizes
from .registry import draws
from .windows import convolution


def scale(graph, shape=(), dtype="float32", least=0.01):
    make = lambda size: graph.random.positive(size) * np.float32(least)  # noqa: E731
    return graph.operand(list(shape), dtype, make, constant=0.8)


def zero(graph, dtype, shape=()):
    limit, low = (10, -10) if dtype[0] == "i" else (150, 100)
    return graph.operand(list(shape), dtype, graph.random.below(limit, dtype, low), constant=0.8)


def codes(graph, shape, dtype, constant=0.1, low=None):
    limits = (-128, 128) if dtype == "int8" else (0, 256)
    return graph.operand(list(shape), dtype, graph.random.below(limits[1], dtype, limits[0]), constant=constant)


def grain(graph, shape):
    """Dims of scales, and attributes: of all, of each index of an axis, of blocks."""
    random, axis = graph.random, graph.random.randrange(len(shape))
    way = random.choice(["all", "axis", "axis"] + ["blocks"] * (graph.version >= 21))
    if way == "all":
        return [], {}
    if way == "axis":
        return [shape[axis]], {"axis": axis}
    size = random.choice([16, 32, 7])
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // size)
    return blocks, {"axis": axis, "block_size": size}


@draws(3, "int8 uint8 int16")
def dequantize(graph, dtype):
    if dtype == "int16":
        graph.version = max(graph.version, 21)
    shape = graph.random.tensor(1, 4)
    dims, facts = grain(graph, shape)
    make = graph.random.below(100, dtype, -100 if dtype[0] == "i" else 0)
    operands = [graph.operand(shape, dtype, make), scale(graph, dims)]
    if graph.random.maybe(0.7):
        operands.append(graph.operand(dims, dtype, make, constant=0.8))
    return graph.add("DequantizeLinear", operands, **facts)


@draws(3, "int8 uint8")
def quantize(graph, dtype):
    shape = graph.random.tensor(1, 4)
    dims, facts = grain(graph, shape)
    graph.steps = 1
    kind = "float16" if graph.version >= 21 and graph.random.maybe(0.2) else "float32"
    operands = [graph.operand(shape, kind), scale(graph, dims, kind, 0.05), zero(graph, dtype, dims)]
    q = graph.add("QuantizeLinear", operands, **facts)
    if graph.random.maybe(0.3):
        graph.add("DequantizeLinear", [q, graph.constant(np.float32(1)), graph.constant(np.array(3, dtype))])
    return q


@draws(1, "float32")
def dynamic_quantize(graph, dtype):
    graph.steps = 1
    return graph.add("DynamicQuantizeLinear", [graph.operand(graph.random.tensor(1, 4), dtype)], 3)[0]


def quantized(graph, x, dtype):
    """Codes of a value of standard deviation 1."""
    return graph.add("QuantizeLinear", [x, graph.constant(np.float32(0.03)), graph.constant(np.array(3, dtype))])


def wide(graph, x, shape=()):
    """Numbers of codes, with a scale and a zero point of their own."""
    dtype = graph.dtype(x)
    if not shape:
        return graph.add("DequantizeLinear", [x, graph.constant(np.float32(0.02)), graph.constant(np.array(3, dtype))])
    numbers = [graph.constant(graph.random.positive(shape) * np.float32(0.02)), graph.constant(np.zeros(shape, dtype))]
    return graph.add("DequantizeLinear", [x, *numbers], axis=0)


@draws(4, "uint8 int8")
def quantized_conv(graph, dtype):
    """Between quantisers."""
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2, 2]))
    graph.steps = 1
    graph.deepen(math.prod(weights[1:]))
    w = graph.constant(random.below(65, "int8", -64)(weights))
    per_channel = random.maybe()
    operands = [wide(graph, codes(graph, shape, dtype)), wide(graph, w, weights[:1] if per_channel else ())]
    if random.maybe(0.6):
        operands.append(graph.constant(random.normal(weights[:1])))
    y = graph.add("Conv", operands, group=groups, **window.facts(random))
    if random.maybe(0.4):
        y = graph.add("Relu", [y])
    return ended(graph, y, dtype, math.prod(weights[1:]))


def ended(graph, y, dtype, depth):
    """Quantised again, so that codes spread over their range, or left as numbers."""
    graph.least = 2 * depth**0.5
    if graph.random.maybe(0.3):
        return y
    if graph.random.maybe(0.3):
        y = graph.add("Add", [y, wide(graph, codes(graph, graph.shape(y), dtype))])
    pair = [graph.constant(np.float32(0.02 * depth**0.5 + 0.02)), graph.constant(np.array(3, dtype))]
    return graph.add("QuantizeLinear", [y, *pair])


@draws(4, "uint8 int8")
def quantized_matmul(graph, dtype):
    random = graph.random
    rows, depth, columns = matrix_sizes(random)
    graph.steps = 1
    graph.deepen(depth)
    lead = [random.choice([1, 2])] if random.maybe(0.3) and rows * depth < 500_000 and rows * columns < 500_000 else []
    if random.maybe(0.7):
        right = wide(graph, graph.constant(random.below(65, "int8", -64)((depth, columns))))
    else:
        right = wide(graph, codes(graph, [depth, columns], dtype, constant=0))
    y = graph.add("MatMul", [wide(graph, codes(graph, [*lead, rows, depth], dtype)), right])
    if random.maybe(0.4):
        y = graph.add("Add", [y, graph.constant(random.normal((columns,)))])
    return ended(graph, y, dtype, depth)


@draws(2, "uint8 int8")
def qlinear_matmul(graph, dtype):
    random = graph.random
    rows, depth, columns = matrix_sizes(random)
    graph.steps = 1
    right = graph.operand([depth, columns], dtype, random.below(65, dtype, -64 if dtype == "int8" else 0), constant=0.7)
    operands = [codes(graph, [rows, depth], dtype), scale(graph), zero(graph, dtype), right, scale(graph),
                zero(graph, dtype), graph.constant(np.float32(0.01 * depth**0.5)), zero(graph, dtype)]
    graph.version = min(graph.version, 20)
    return graph.add("QLinearMatMul", operands)


@draws(2, "uint8 int8")
def qlinear_conv(graph, dtype):
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2]))
    graph.steps = 1
    w = graph.constant(random.below(65, "int8", -64)(weights))
    depth = math.prod(weights[1:])
    dims = weights[:1] if random.maybe(0.3) else []
    operands = [codes(graph, shape, dtype), scale(graph), zero(graph, dtype), w, scale(graph, dims),
                graph.constant(np.zeros(dims, "int8")), graph.constant(np.float32(0.01 * depth**0.5)), zero(graph, dtype)]
    if random.maybe():
        operands.append(graph.constant(random.below(1000, "int32", -1000)(weights[:1])))
    return graph.add("QLinearConv", operands, group=groups, **window.facts(random))


@draws(2, "float32")
def compressed_product(graph, dtype):
    """Weights of 8 bits that a product expands."""
    random = graph.random
    rows, depth, columns = matrix_sizes(random)
    if random.maybe():
        rows = min(rows, random.randint(1, 9))
    kind = random.choice(["int8", "uint8"])
    graph.deepen(depth)
    graph.looseness *= 4
    dims, facts = random.choice([([], {}), ([columns], {"axis": 1}),
                                 ([-(-depth // 32), columns], {"axis": 0, "block_size": 32})])
    if "block_size" in facts:
        graph.version = max(graph.version, 21)
    operands = [graph.constant(random.below(100, kind)((depth, columns))),
                graph.constant(random.positive(dims) * np.float32(0.02 * depth**-0.5))]
    if random.maybe():
        operands.append(graph.constant(random.below(60, kind, 40)(dims)))
    weights = graph.add("DequantizeLinear", operands, **facts)
    return graph.add("MatMul", [graph.operand([rows, depth], dtype, constant=0), weights])
