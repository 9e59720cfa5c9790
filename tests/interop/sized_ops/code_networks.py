"""Pieces of networks between quantisers: convolutions, products and what codes go through."""

import math

import numpy as np

from .networks import LARGEST
from .registry import draws

SCALE = 0.05


def quantized(graph, x, dtype):
    """A value as codes, and what these stand for."""
    pair = [graph.constant(np.float32(SCALE)), graph.constant(np.array(3 if dtype == "int8" else 120, dtype))]
    return graph.add("DequantizeLinear", [graph.add("QuantizeLinear", [x, *pair]), *pair])


def weights(graph, shape, axis):
    random = graph.random
    dims = [shape[axis]] if random.maybe() else []
    depth = math.prod(shape) / shape[axis]
    scales = random.positive(dims) * np.float32(0.02 * depth**-0.5)
    operands = [graph.constant(random.below(100, "int8", -100)(tuple(shape))), graph.constant(scales)]
    if random.maybe(0.3):
        operands.append(graph.constant(np.zeros(dims, "int8")))
    return graph.add("DequantizeLinear", operands, **({"axis": axis} if dims else {}))


def convolved(graph, x):
    random = graph.random
    batch, channels, height, width = graph.shape(x)
    groups = random.choice([1, 1, 1, channels, 2 if channels % 2 == 0 else 1])
    size = random.choice([1, 3, 3, 5])
    results = groups if groups == channels else groups * max(1, random.size(129) // groups)
    if height * width * batch * results * channels // groups * size * size > 20_000_000:
        groups, results, size = channels, channels, 3
    operands = [x, weights(graph, [results, channels // groups, size, size], 0)]
    if random.maybe():
        operands.append(graph.constant(random.normal((results,))))
    stride = random.choice([1, 1, 2])
    y = graph.add("Conv", operands, group=groups, pads=[size // 2] * 4, strides=[stride, stride])
    op = random.choice(["", "Relu", "Relu", "HardSwish", "Clip", "Sigmoid"])
    if op == "Clip":
        return graph.add(op, [y, graph.constant(np.float32(0)), graph.constant(np.float32(4))])
    return graph.add(op, [y]) if op else y


def moved(graph, x):
    """By what codes may go through."""
    random, (batch, channels, height, width) = graph.random, graph.shape(x)
    way = random.choice(["pool", "resize", "slice", "turn", "pad", "average"])
    if way == "pool" and min(height, width) > 3:
        return graph.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    if way == "resize" and batch * channels * height * width < LARGEST // 4:
        return graph.add("Resize", [x, "", graph.constant(np.float32([1, 1, 2, 2]))], mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    if way == "slice" and channels > 1:
        return graph.add("Slice", [x, graph.integers(channels // 2), graph.integers(channels), graph.integers(1)])
    if way == "turn":
        return graph.add("Transpose", [x], perm=random.choice([[0, 1, 3, 2], [1, 0, 2, 3], [0, 2, 3, 1]]))
    if way == "pad":
        return graph.add("Pad", [x, graph.integers(0, 0, 1, 1, 0, 0, 2, 0)])
    return graph.add("GlobalAveragePool", [x])


def joined(graph, x, known):
    random, shape = graph.random, graph.shape(x)
    same = [name for name in known if graph.shape(name) == shape]
    if random.maybe():
        return graph.add(random.choice(["Add", "Add", "Mul"]), [x, random.choice(same)])
    alike = [name for name in known if graph.shape(name)[0] == shape[0] and graph.shape(name)[2:] == shape[2:]]
    return graph.add("Concat", [x, random.choice(alike)], axis=1)


@draws(8, "int8 uint8")
def code_network(graph, dtype):
    random = graph.random
    channels = random.size(129)
    dims = [max(3, n) for n in random.sizes(2, 60_000 // channels)]
    x = graph.input(random.normal([random.choice([1, 1, 2]), channels, *dims]))
    known = [quantized(graph, x, dtype)]
    graph.steps, graph.absolute = 2, 2 * SCALE
    for _ in range(random.randint(1, 4)):
        x = known[-1]
        step = random.choice([convolved, convolved, moved, None])
        made = step(graph, x) if step else joined(graph, x, known)
        if math.prod(graph.shape(made)) < LARGEST:
            known.append(quantized(graph, made, dtype))
            graph.steps *= 2
            graph.absolute *= 2


@draws(4, "int8 uint8")
def code_attention(graph, dtype):
    random = graph.random
    batch, heads, size = random.choice([1, 2]), random.choice([1, 2, 4]), random.choice([16, 32, 48, 64, 33])
    queries, keys = random.size(257), random.size(513)
    while batch * heads * queries * keys * size > 20_000_000:
        queries, keys = random.size(257), random.size(513)
    graph.steps, graph.absolute = 4, 4 * SCALE
    q, k, v = (quantized(graph, graph.operand([batch, heads, length, size], constant=0), dtype)
               for length in (queries, keys, keys))
    turned = graph.add("Transpose", [k], perm=[0, 1, 3, 2])
    scores = graph.add("Mul", [graph.add("MatMul", [q, turned]), graph.constant(np.float32(size**-0.5))])
    if random.maybe():
        scores = quantized(graph, scores, dtype)
    if random.maybe(0.4):
        scores = graph.add("Add", [scores, graph.operand(random.choice([[queries, keys], [1, keys]]))])
    weight = graph.add("Softmax", [scores], axis=-1)
    pair = [graph.constant(np.float32(1 / 255)), graph.constant(np.array(-128 if dtype == "int8" else 0, dtype))]
    weight = graph.add("DequantizeLinear", [graph.add("QuantizeLinear", [weight, *pair]), *pair])
    y = graph.add("MatMul", [weight, v])
    return quantized(graph, y, dtype) if random.maybe() else y


@draws(4, "int8 uint8")
def code_rows(graph, dtype):
    """Products of rows with elementwise steps, between quantisers."""
    random = graph.random
    rows, depth = random.sizes(2, 200_000)
    lead = random.choice([[], [1], [2]]) if rows * depth < 100_000 else []
    x = quantized(graph, graph.operand([*lead, rows, depth], constant=0), dtype)
    graph.steps, graph.absolute = 4, 4 * SCALE
    for _ in range(random.randint(1, 2)):
        depth = graph.shape(x)[-1]
        columns = random.size(max(1, min(1600, 30_000_000 // (rows * depth))))
        y = graph.add("MatMul", [x, weights(graph, [depth, columns], 1)])
        if random.maybe():
            y = graph.add("Add", [y, graph.constant(random.normal((columns,)))])
        if random.maybe(0.4):
            y = graph.add(random.choice(["Relu", "Sigmoid", "Tanh", "HardSwish"]), [y])
        if random.maybe(0.3):
            y = graph.add("Add", [y, quantized(graph, graph.operand(graph.shape(y)), dtype)])
        x = quantized(graph, y, dtype)
    return x
