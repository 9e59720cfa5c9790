"""What follows an operator: up to three steps that engines merge with it, or that read its result in another way."""

import numpy as np

from .graph import FLOATS
from . import views

UNARY = ["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "HardSigmoid", "Elu", "Softplus", "Neg", "Abs", "Erf",
         "Identity", "Softsign"]
BINARY = ["Add", "Add", "Mul", "Sub", "Max", "Min"]


def unary(graph, x):
    return graph.add(graph.random.choice(UNARY), [x])


def written(graph, x):
    """A SiLU or a GELU of several steps."""
    dtype = graph.dtype(x)
    graph.least = max(graph.least, 1)
    if graph.random.maybe():
        return graph.add("Mul", [x, graph.add("Sigmoid", [x])])
    scaled = graph.add("Div", [x, graph.constant(2**0.5, dtype)])
    inner = graph.add("Add", [graph.add("Erf", [scaled]), graph.constant(1, dtype)])
    return graph.add("Mul", [graph.add("Mul", [x, graph.constant(0.5, dtype)]), inner])


def binary(graph, x):
    """With a value that broadcasts to it, or to which it broadcasts."""
    random, shape, dtype = graph.random, graph.shape(x), graph.dtype(x)
    same = [name for name, (kind, other) in graph.values.items() if other == shape and kind == dtype]
    if random.maybe(0.3):
        other = random.choice(same)
    else:
        other_shape = random.shrunk(shape)
        if random.maybe(0.3) and np.prod(shape, initial=1) < 100_000:
            other_shape = [random.choice([2, 3]) if size == 1 else size for size in shape]
        other = graph.operand(other_shape, dtype)
    pair = [x, other] if random.maybe(0.7) else [other, x]
    return graph.add(random.choice(BINARY), pair)


def turn(graph, x):
    rank = len(graph.shape(x))
    return x if not rank else graph.add("Transpose", [x], perm=graph.random.sample(range(rank), rank))


def piece(graph, x):
    shape = graph.shape(x)
    if not shape:
        return x
    axis = graph.random.randrange(len(shape))
    begin, step = graph.random.randrange(shape[axis]), graph.random.choice([1, 1, 2])
    return graph.add("Slice", [x, *(graph.integers(value) for value in (begin, shape[axis], axis, step))])


def fold(graph, x):
    shape = graph.shape(x)
    at = graph.random.randint(0, len(shape))
    lengths = [int(np.prod(part, initial=1)) for part in (shape[:at], shape[at:])]
    return graph.add("Reshape", [x, graph.integers(*lengths)])


def join(graph, x):
    shape = graph.shape(x)
    if not shape:
        return x
    axis = graph.random.randrange(len(shape))
    other = [*shape]
    other[axis] = graph.random.choice([1, 3, shape[axis]])
    pair = [x, graph.operand(other, graph.dtype(x))]
    graph.random.shuffle(pair)
    return graph.add("Concat", pair, axis=axis)


def softmax(graph, x):
    shape = graph.shape(x)
    graph.least = max(graph.least, graph.depth**0.5)
    return graph.add("Softmax", [x], axis=graph.random.choice([-1, -1, -len(shape)])) if shape else x


def reduce(graph, x):
    shape = graph.shape(x)
    axes = [axis for axis in range(len(shape)) if graph.random.maybe()]
    if not axes:
        return x
    graph.least = max(graph.least, 1)
    graph.deepen(np.prod([shape[axis] for axis in axes]))
    if graph.version < 18:
        return graph.add("ReduceMean", [x], axes=axes, keepdims=graph.random.randint(0, 1))
    return graph.add("ReduceMean", [x, graph.integers(*axes)], keepdims=graph.random.randint(0, 1))


def cast(graph, x):
    dtype, to = graph.dtype(x), graph.random.choice(FLOATS)
    graph.coarse(dtype)
    graph.coarse(to)
    return graph.add("Cast", [x], to={"float32": 1, "float16": 10, "float64": 11, "bfloat16": 16}[to])


STEPS = [unary, unary, unary, written, binary, binary, binary, binary, turn, piece, fold, join, softmax, reduce, cast]


def follow(graph, x):
    for _ in range(graph.random.choice([0, 0, 1, 1, 2, 3])):
        if not isinstance(x, str) or graph.dtype(x) not in FLOATS or -1 in graph.shape(x):
            return
        if np.prod(graph.shape(x), initial=1) > 500_000:
            return
        x = graph.random.choice(STEPS)(graph, x)
