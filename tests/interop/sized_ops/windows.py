"""Convolutions, transposed ones and pools over one to three dims."""

import math

from .graph import ELEMENTS, PRODUCTS
from .registry import draws

SAME = ("SAME_UPPER", "SAME_LOWER")


class Window:
    """Kernel, strides, dilations and pads, and a picture that they fit."""

    def __init__(self, random, rank, most=7):
        self.kernel = [random.choice([1, 2, 3, 3, 3, 5, most]) for _ in range(rank)]
        if random.maybe(0.4):
            self.kernel = [random.choice([1, 3, 3, 3])] * rank
        self.strides = [random.choice([1, 1, 1, 2, 3]) for _ in range(rank)]
        self.dilations = [random.choice([1, 1, 1, 1, 2, 3]) for _ in range(rank)]
        if random.maybe():
            self.strides, self.dilations = self.strides[:1] * rank, [1] * rank
        self.reach = [(size - 1) * dilation + 1 for size, dilation in zip(self.kernel, self.dilations)]
        self.pads = [random.randint(0, size // 2 + 1) for size in self.kernel * 2]
        if random.maybe():
            self.pads = [size // 2 for size in self.kernel] * 2
        self.pads = [min(pad, size - 1) for pad, size in zip(self.pads, self.kernel * 2)]

    def facts(self, random):
        facts = {"kernel_shape": self.kernel, "strides": self.strides, "dilations": self.dilations}
        way = random.random()
        if way < 0.15 and all(dilation == 1 for dilation in self.dilations):
            return facts | {"auto_pad": random.choice(SAME)}
        return facts | ({"auto_pad": "VALID"} if way > 0.9 else {"pads": self.pads})

    def picture(self, random, most):
        rank = len(self.kernel)
        largest = {1: 1600, 2: 400, 3: 65}[rank]
        dims = [min(size, largest) for size in random.sizes(rank, max(most, 1))]
        return [max(size, reach) for size, reach in zip(dims, self.reach)]


def groups_of(random):
    """Groups, channels of each, results of each."""
    way = random.random()
    if way < 0.5:
        return 1, random.size(513), random.size(513)
    if way < 0.75:
        return random.size(513), 1, random.choice([1, 1, 1, 2, 4])
    return random.choice([2, 3, 4, 8, 16, 32]), random.size(65), random.size(65)


def convolution(graph, rank):
    """A window, groups, a shape of data and one of weights within the bounds."""
    random = graph.random
    while True:
        window = Window(random, rank)
        groups, channels, results = groups_of(random)
        batch = random.choice([1, 1, 1, 2, 3])
        work = batch * groups * channels * results * math.prod(window.kernel)
        most = min(PRODUCTS // work, ELEMENTS // (batch * groups * max(channels, results)))
        picture = window.picture(random, most) if most > 1 else []
        weights = groups * channels * results * math.prod(window.kernel)
        if picture and work * math.prod(picture) <= 2 * PRODUCTS and weights <= ELEMENTS // 2:
            return window, groups, [batch, groups * channels, *picture], [groups * results, channels, *window.kernel]


@draws(6, "float32 float16 bfloat16 float64")
def conv(graph, dtype):
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2, 2, 2, 3]))
    depth = math.prod(weights[1:])
    graph.deepen(depth)
    if dtype == "float32":
        graph.looseness *= 8  # Winograd
    operands = [graph.operand(shape, dtype), graph.operand(weights, dtype, graph.scaled(depth**-0.5), constant=0.7)]
    if random.maybe(0.6):
        operands.append(graph.operand(weights[:1], dtype, constant=0.7))
    return graph.add("Conv", operands, group=groups, **window.facts(random))


@draws(2, "float32 float16 float64")
def conv_transpose(graph, dtype):
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2, 3]))
    shape[2:] = [max(1, min(size // 2, 100)) for size in shape[2:]]
    each = weights[0] // groups
    weights = [shape[1], each, *window.kernel]
    out = [stride * (size - 1) + reach for stride, size, reach in zip(window.strides, shape[2:], window.reach)]
    if math.prod(out) * shape[0] * groups * each > ELEMENTS or math.prod(weights) > ELEMENTS:
        shape[2:] = [1] * len(out)
    facts = {"kernel_shape": window.kernel, "strides": window.strides, "dilations": window.dilations, "group": groups}
    if random.maybe(0.2) and all(stride <= size for stride, size in zip(window.strides, window.kernel)):
        facts["auto_pad"] = random.choice(SAME)
    else:
        facts["pads"] = [min(pad, (size - 1) // 2) for pad, size in zip(window.pads, window.reach * 2)]
        facts["output_padding"] = [random.randint(0, stride - 1) for stride in window.strides]
    depth = shape[1] // groups * math.prod(window.kernel)
    graph.deepen(depth)
    operands = [graph.operand(shape, dtype), graph.operand(weights, dtype, graph.scaled(depth**-0.5), constant=0.7)]
    if random.maybe():
        operands.append(graph.operand([groups * each], dtype, constant=0.7))
    return graph.add("ConvTranspose", operands, **facts)


def pooled(graph, most=5):
    random = graph.random
    rank = random.choice([1, 2, 2, 2, 3])
    window = Window(random, rank, most)
    batch, channels = random.choice([1, 1, 2, 3]), random.size(513)
    picture = window.picture(random, 400_000 // (batch * channels * max(1, math.prod(window.kernel) // 9)))
    facts = window.facts(random)
    if "auto_pad" in facts and any(stride > size for stride, size in zip(window.strides, window.kernel)):
        facts["strides"] = window.kernel
    if "pads" in facts:
        facts["ceil_mode"] = random.randint(0, 1)
    return [batch, channels, *picture], facts


@draws(2, "float32 float16 float64 int8 uint8")
def max_pool(graph, dtype):
    shape, facts = pooled(graph, 7)
    outputs = 2 if graph.random.maybe(0.3) else 1
    if outputs > 1 and graph.random.maybe(0.3):
        facts["storage_order"] = 1
    results = graph.add("MaxPool", [graph.operand(shape, dtype)], outputs, **facts)
    return results[0] if outputs > 1 else results


@draws(2, "float32 float16 float64")
def average_pool(graph, dtype):
    shape, facts = pooled(graph)
    if graph.version < 19:
        del facts["dilations"]
    graph.deepen(math.prod(facts["kernel_shape"]))
    facts["count_include_pad"] = graph.random.randint(0, 1)
    return graph.add("AveragePool", [graph.operand(shape, dtype)], **facts)


@draws(1, "float32 float64")
def lp_pool(graph, dtype):
    shape, facts = pooled(graph)
    if graph.version < 18:
        facts.pop("dilations"), facts.pop("ceil_mode", None)
    graph.deepen(math.prod(facts["kernel_shape"]))
    return graph.add("LpPool", [graph.operand(shape, dtype)], p=graph.random.randint(1, 3), **facts)


@draws(2, "float32 float16 float64")
def global_pool(graph, dtype):
    shape = graph.random.tensor(3, 5, 500_000)
    graph.deepen(math.prod(shape[2:]))
    op = graph.random.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    return graph.add(op, [graph.operand(shape, dtype)])


@draws(1, "uint8 int8")
def conv_integer(graph, dtype):
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2]))
    shape = [shape[0], *shape[1:]]
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    other = random.choice(["int8", "uint8"])
    limits = (-64, 65) if other == "int8" else (0, 65)
    operands = [graph.operand(shape, dtype, random.below(high, dtype, low)),
                graph.operand(weights, other, random.below(limits[1], other, limits[0]), constant=0.8)]
    if random.maybe(0.6):
        operands.append(graph.operand([], dtype, random.below(100), constant=0.6))
    return graph.add("ConvInteger", operands, group=groups, **window.facts(random))
