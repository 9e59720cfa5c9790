"""Operands that are computed: views with strides and offsets, and copies."""

import math

import numpy as np


def turned(graph, shape, dtype, make):
    order = graph.random.sample(range(len(shape)), len(shape))
    source = [0] * len(shape)
    for at, axis in enumerate(order):
        source[axis] = shape[at]
    return graph.add("Transpose", [graph.operand(source, dtype, make)], perm=order)


def sliced(graph, shape, dtype, make):
    random, axis = graph.random, graph.random.randrange(len(shape))
    step, begin = random.choice([1, 1, 1, 2, 3, -1, -2]), random.choice([0, 1, 3, 8])
    reach = (shape[axis] - 1) * abs(step) + 1
    source = list(shape)
    source[axis] = begin + reach + random.choice([0, 1, 5])
    bounds = (begin, begin + reach) if step > 0 else (begin + reach - 1, begin - 1 if begin else -source[axis] - 1)
    operands = [graph.integers(value) for value in (*bounds, axis, step)]
    return graph.add("Slice", [graph.operand(source, dtype, make), *operands])


def split(graph, shape, dtype, make):
    random, axis = graph.random, graph.random.randrange(len(shape))
    parts = [random.choice([shape[axis], 1, 7]) for _ in range(random.randint(2, 3))]
    at = random.randrange(len(parts))
    parts[at] = shape[axis]
    source = list(shape)
    source[axis] = sum(parts)
    return graph.add("Split", [graph.operand(source, dtype, make), graph.integers(*parts)], len(parts), axis=axis)[at]


def joined(graph, shape, dtype, make):
    axis = graph.random.randrange(len(shape))
    if shape[axis] < 2:
        return reshaped(graph, shape, dtype, make)
    first = graph.random.randint(1, shape[axis] - 1)
    pieces = [[*shape[:axis], part, *shape[axis + 1:]] for part in (first, shape[axis] - first)]
    return graph.add("Concat", [graph.operand(piece, dtype, make) for piece in pieces], axis=axis)


def reshaped(graph, shape, dtype, make):
    at = graph.random.randint(0, len(shape) - 1)
    source = graph.random.choice([[math.prod(shape)], [1, *shape], [math.prod(shape[:at]), math.prod(shape[at:])]])
    return graph.add("Reshape", [graph.operand(source, dtype, make), graph.integers(*shape)])


def expanded(graph, shape, dtype, make):
    source = [1 if graph.random.maybe(0.4) else size for size in shape]
    return graph.add("Expand", [graph.operand(source, dtype, make), graph.integers(*shape)])


def gathered(graph, shape, dtype, make):
    random, axis = graph.random, graph.random.randrange(len(shape))
    source = list(shape)
    source[axis] += random.choice([0, 1, 9])
    places = random.below(source[axis])((shape[axis],))
    return graph.add("Gather", [graph.operand(source, dtype, make), graph.constant(places)], axis=axis)


def computed(graph, shape, dtype, make):
    ops = ["Identity"] if make or dtype == "bool" or dtype[0] == "u" else ["Neg", "Relu", "Abs"]
    return graph.add(graph.random.choice(ops), [graph.operand(shape, dtype, make)])


def cast(graph, shape, dtype, make):
    if make or dtype not in ("float32", "float16", "float64"):
        return sliced(graph, shape, dtype, make)
    graph.coarse(dtype)
    source = graph.operand(shape, graph.random.choice(["float16", "float64", "int32", "int8", "uint8", "bool"]))
    to = {"float32": 1, "float16": 10, "float64": 11}[dtype]
    number = graph.add("Cast", [source], to=to)
    if graph.dtype(source) in ("float16", "float64", "bool"):
        return number
    return graph.add("Mul", [number, graph.constant(np.array(1 / 64), dtype)])


WAYS = [turned, turned, sliced, sliced, split, split, joined, reshaped, expanded, gathered, computed, cast]


def compute(graph, shape, dtype, make):
    return graph.random.choice(WAYS)(graph, shape, dtype, make)
