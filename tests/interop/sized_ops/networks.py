"""Pieces of networks of pictures: what lies with its channels innermost, and is cut, joined and added so."""

import math

import numpy as np

from .registry import draws

LARGEST = 300_000


def convolved(graph, x):
    random = graph.random
    batch, channels, height, width = graph.shape(x)
    groups = random.choice([1, 1, 1, channels, 2 if channels % 2 == 0 else 1])
    size = random.choice([1, 3, 3, 5])
    results = groups if groups == channels else groups * max(1, random.size(129) // groups)
    if height * width * batch * results * channels // groups * size * size > 20_000_000:
        groups, results, size = channels, channels, 3
    depth = channels // groups * size * size
    graph.deepen(depth)
    weights = random.normal((results, channels // groups, size, size)) * np.float32(depth**-0.5)
    operands = [x, graph.constant(weights, graph.dtype(x))]
    if random.maybe():
        operands.append(graph.constant(random.normal((results,)), graph.dtype(x)))
    stride = random.choice([1, 1, 2])
    return graph.add("Conv", operands, group=groups, pads=[size // 2] * 4, strides=[stride, stride])


def like(graph, x):
    """Pictures of the same size and type, with as many channels or others."""
    (dtype, shape), values = graph.values[x], graph.values.items()
    return [name for name, (kind, other) in values
            if kind == dtype and len(other) == 4 and other[0] == shape[0] and other[2:] == shape[2:]]


def active(graph, x):
    op = graph.random.choice(["Relu", "HardSwish", "LeakyRelu", "Sigmoid", "silu", "Clip", "PRelu", "Tanh"])
    if op == "silu":
        return graph.add("Mul", [x, graph.add("Sigmoid", [x])])
    if op == "Clip":
        return graph.add("Clip", [x, graph.constant(0, graph.dtype(x)), graph.constant(1.5, graph.dtype(x))])
    if op == "PRelu":
        return graph.add("PRelu", [x, graph.constant(graph.random.normal((graph.shape(x)[1], 1, 1)), graph.dtype(x))])
    return graph.add(op, [x])


def together(graph, x):
    """With a value of its shape, one number for each channel, or for each pixel."""
    random, shape = graph.random, graph.shape(x)
    same = [name for name in like(graph, x) if graph.shape(name) == shape]
    other = random.choice([random.choice(same), graph.operand([1, shape[1], 1, 1], graph.dtype(x)),
                           graph.operand([shape[0], 1, *shape[2:]], graph.dtype(x)), graph.add("GlobalAveragePool", [x])])
    return graph.add(random.choice(["Add", "Add", "Mul", "Sub", "Max"]), [x, other])


def pooled(graph, x):
    random = graph.random
    if min(graph.shape(x)[2:]) < 4:
        return graph.add(random.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x])
    size, stride = random.choice([(2, 2), (3, 2), (3, 1), (5, 1)])
    facts = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4}
    return graph.add(random.choice(["MaxPool", "MaxPool", "AveragePool"]), [x], **facts)


def enlarged(graph, x):
    shape = graph.shape(x)
    if math.prod(shape) > LARGEST // 4:
        return x
    where = "coordinate_transformation_mode"
    facts = graph.random.choice([{"mode": "nearest", where: "asymmetric", "nearest_mode": "floor"}, {"mode": "linear"},
                                 {"mode": "linear", where: "align_corners"}])
    return graph.add("Resize", [x, "", graph.constant(np.float32([1, 1, 2, 2]))], **facts)


def cut(graph, x):
    channels = graph.shape(x)[1]
    if channels < 2:
        return x
    first = graph.random.randint(1, channels - 1)
    parts = graph.add("Split", [x, graph.integers(first, channels - first)], 2, axis=1)
    if graph.random.maybe(0.4):
        return graph.add("Concat", [active(graph, parts[1]), parts[0]], axis=1)
    return graph.random.choice(parts)


def joined(graph, x):
    operands = [x, *graph.random.choices(like(graph, x), k=graph.random.choice([1, 2]))]
    graph.random.shuffle(operands)
    return graph.add("Concat", operands, axis=1)


def shuffled(graph, x):
    batch, channels, height, width = graph.shape(x)
    groups = graph.random.choice([2, 3, 4])
    if channels % groups:
        return graph.add("Slice", [x, *(graph.integers(number) for number in (1, -1 if height > 2 else height, 2))])
    apart = graph.add("Reshape", [x, graph.integers(batch, groups, channels // groups, height, width)])
    turned = graph.add("Transpose", [apart], perm=[0, 2, 1, 3, 4])
    return graph.add("Reshape", [turned, graph.integers(batch, channels, height, width)])


def normalised(graph, x):
    channels = graph.shape(x)[1]
    numbers = [graph.constant(graph.random.positive((channels,)), graph.dtype(x)) for _ in range(2)]
    graph.least = max(graph.least, 4)
    if graph.random.maybe():
        return graph.add("InstanceNormalization", [x, *numbers], epsilon=1e-1)
    return graph.add("BatchNormalization", [x, *numbers, *numbers])


def blocks(graph, x):
    _, channels, height, width = graph.shape(x)
    if channels % 4 == 0:
        return graph.add("DepthToSpace", [x], blocksize=2, mode=graph.random.choice(["DCR", "CRD"]))
    if height % 2 == 0 and width % 2 == 0:
        return graph.add("SpaceToDepth", [x], blocksize=2)
    return x


def sampled(graph, x):
    """Means over the pixels of a channel, or over the channels of a pixel."""
    axes = graph.random.choice([[2, 3], [1], [1, 2, 3], [3]])
    op = graph.random.choice(["ReduceMean", "ReduceMax"])
    graph.deepen(math.prod(graph.shape(x)[axis] for axis in axes))
    mean = graph.add(op, [x, graph.integers(*axes)]) if graph.version >= 18 else graph.add(op, [x], axes=axes)
    return graph.add("Mul", [x, mean])


STEPS = [convolved, convolved, convolved, active, active, together, together, pooled, enlarged, cut, joined, joined,
         shuffled, normalised, blocks, sampled]


@draws(12, "float32 float32 float16")
def network(graph, dtype):
    random = graph.random
    channels = random.size(129)
    sizes = [max(4, size) for size in random.sizes(2, 60_000 // channels)]
    x = convolved(graph, graph.input(random.normal([random.choice([1, 1, 2]), channels, *sizes], dtype)))
    for _ in range(random.randint(2, 6)):
        graph.looseness *= 2
        step = random.choice(STEPS)
        made = step(graph, x)
        if 0 < math.prod(graph.shape(made)) < LARGEST:
            x = made
    graph.looseness *= 8
    graph.least = max(graph.least, 1)
