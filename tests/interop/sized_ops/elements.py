"""Elementwise operators, choices, casts."""

import math

from .chains import BINARY, UNARY
from .graph import FLOATS
from .registry import draws

NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
           "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}
FLOAT = "float32 float16 bfloat16 float64"
MORE_UNARY = ["Exp", "Ceil", "Floor", "Round", "Sign", "Selu", "Celu", "Mish", "Atan", "Sinh", "ThresholdedRelu", "Gelu",
              "Reciprocal", "Sqrt", "Log", "Cosh", "Asinh"]


def broadcast_shapes(random, count):
    whole = random.tensor(1, 5)
    return [random.shrunk(whole) for _ in range(count)]


@draws(4, FLOAT)
def chain(graph, dtype):
    """Several steps over operands that broadcast to one another."""
    random = graph.random
    shapes = broadcast_shapes(random, 4)
    x = graph.operand(shapes[0], dtype)
    for shape in shapes[1:random.randint(2, 4)]:
        pair = [x, graph.operand(shape, dtype)]
        random.shuffle(pair)
        x = graph.add(random.choice(BINARY), pair)
        if random.maybe():
            x = graph.add(random.choice(UNARY), [x])
    return x


@draws(4, FLOAT)
def unary(graph, dtype):
    op = graph.random.choice(MORE_UNARY + UNARY)
    if (op == "Gelu" and graph.version < 20) or (op == "Mish" and graph.version < 18):
        op = "Exp"
    make = graph.random.positive if op in ("Reciprocal", "Sqrt", "Log") else None
    graph.looseness *= 2
    return graph.add(op, [graph.operand(graph.random.tensor(1, 4), dtype, make)])


@draws(4, FLOAT + " int32 int64 uint8 int8 uint32 uint64")
def binary(graph, dtype):
    random = graph.random
    shapes = broadcast_shapes(random, 2)
    op = random.choice(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "PRelu", "Pow"])
    if dtype in ("int8", "uint8") and op in ("PRelu", "Pow"):
        op = "Max"
    make = None
    if op in ("Div", "Mod"):
        make = random.positive if dtype in FLOATS else random.below(20, low=1)
    if op == "PRelu":
        shapes[1] = random.shrunk(shapes[0])
        if dtype == "bfloat16":
            op = "Add"
    if op == "Pow":
        make = random.positive if dtype in FLOATS else random.below(3)
    facts = {"fmod": 1} if op == "Mod" and dtype in FLOATS else {}
    left = random.positive if op == "Pow" and dtype in FLOATS else None
    return graph.add(op, [graph.operand(shapes[0], dtype, left), graph.operand(shapes[1], dtype, make)], **facts)


@draws(2, FLOAT + " int32 int64")
def compare(graph, dtype):
    random = graph.random
    shapes = broadcast_shapes(random, 2)
    op = random.choice(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
    make = random.below(5) if random.maybe() else None
    seen = graph.add(op, [graph.operand(shape, dtype, make) for shape in shapes])
    if random.maybe(0.4):
        return graph.add("Where", [seen, graph.operand(shapes[0], dtype), graph.operand(shapes[1], dtype)])
    return graph.add("Not", [seen]) if random.maybe(0.3) else seen


@draws(2, "bool")
def logic(graph, dtype):
    pair = [graph.operand(shape, dtype) for shape in broadcast_shapes(graph.random, 2)]
    return graph.add(graph.random.choice(["And", "Or", "Xor"]), pair)


@draws(3, FLOAT + " int32 int64 uint8 bool")
def choice(graph, dtype):
    shapes = broadcast_shapes(graph.random, 3)
    return graph.add("Where", [graph.operand(shapes[0], "bool"), *(graph.operand(shape, dtype) for shape in shapes[1:])])


@draws(1, FLOAT + " int32 int64 int8 uint8")
def clip(graph, dtype):
    random = graph.random
    low, high = sorted(random.sample(range(0, 30), 2))
    bounds = [graph.operand([], dtype, lambda shape, value=value: value / 10 if dtype in FLOATS else value)
              if random.maybe(0.8) else "" for value in (low, high)]
    return graph.add("Clip", [graph.operand(random.tensor(1, 4), dtype), *bounds])


@draws(4, " ".join(NUMBERS))
def cast(graph, dtype):
    random = graph.random
    to = random.choice(list(NUMBERS))
    if dtype in FLOATS and to in FLOATS:
        graph.coarse(to)
    x = graph.operand(random.tensor(1, 4), dtype, random.positive if to[0] == "u" and dtype in FLOATS else None)
    return graph.add("Cast", [x], to=NUMBERS[to])


@draws(1, "int32 uint8 int64 uint32")
def bits(graph, dtype):
    pair = [graph.operand(shape, dtype) for shape in broadcast_shapes(graph.random, 2)]
    ops = ["BitwiseAnd", "BitwiseOr", "BitwiseXor"] if graph.version >= 18 else ["Add"]
    return graph.add(graph.random.choice(ops), pair)


@draws(1, "float32 float64")
def several(graph, dtype):
    shapes = broadcast_shapes(graph.random, graph.random.randint(1, 4))
    op = graph.random.choice(["Sum", "Mean", "Max", "Min"])
    return graph.add(op, [graph.operand(shape, dtype) for shape in shapes])


@draws(1, "float32 float64 float16")
def missing(graph, dtype):
    """What is no number, and what is infinite."""
    random = graph.random

    def make(shape):
        numbers = random.normal(shape)
        with_holes = numbers.reshape(-1)
        for _ in range(min(3, numbers.size)):
            with_holes[random.randrange(numbers.size)] = random.choice([math.nan, math.inf, -math.inf])
        return numbers

    x = graph.operand(random.tensor(1, 4), dtype, make)
    graph.add(random.choice(["IsNaN", "IsInf", "Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "Floor"]), [x])
