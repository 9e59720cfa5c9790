"""Normalisations, softmax and reductions."""

import math

from .graph import EPSILON
from .registry import draws

AXES_ARE_OPERANDS = 18
SHORT = "float32 float16 bfloat16 float64"


@draws(3, SHORT)
def softmax(graph, dtype):
    shape = graph.random.tensor(1, 5)
    axis = graph.random.choice([-1, graph.random.axis(len(shape))])
    graph.deepen(shape[axis])
    return graph.add(graph.random.choice(["Softmax", "Softmax", "LogSoftmax", "Hardmax"]), [graph.operand(shape, dtype)],
                     axis=axis)


@draws(3, SHORT)
def layer_normalization(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.choice([-1, -1, random.axis(len(shape))])
    last = shape[axis:]
    graph.deepen(math.prod(last))
    graph.looseness *= 4
    graph.least = 4  # what is all the same becomes rounding, divided by epsilon's root
    op = random.choice(["LayerNormalization", "LayerNormalization", "RMSNormalization"]) if graph.version >= 23 else \
        "LayerNormalization"
    form = last if random.maybe(0.8) else [1 if random.maybe(0.3) else size for size in last]
    operands = [graph.operand(shape, dtype), graph.operand(form, dtype, constant=0.7)]
    outputs = 1
    if op == "LayerNormalization":
        if random.maybe(0.7):
            operands.append(graph.operand(form, dtype, constant=0.7))
        outputs = random.choice([1, 1, 1, 3])
    results = graph.add(op, operands, outputs, axis=axis, epsilon=random.choice([1e-3, 1e-2]))
    return results if outputs == 1 else results[0]


def picture(graph, channels=None):
    random = graph.random
    channels = channels or random.size(513)
    batch = random.choice([1, 1, 2, 3])
    return [batch, channels, *random.sizes(random.choice([1, 2, 2, 3]), 400_000 // (batch * channels))]


@draws(2, SHORT)
def group_normalization(graph, dtype):
    random = graph.random
    graph.version = max(graph.version, 21)
    groups = random.choice([1, 2, 3, 8, 32])
    shape = picture(graph, groups * random.choice([1, 2, 3, 4, 8, 10, 16]))
    graph.deepen(math.prod(shape[1:]) // groups)
    graph.looseness *= 4
    graph.least = 4
    operands = [graph.operand(shape, dtype), *(graph.operand(shape[1:2], dtype, constant=0.7) for _ in range(2))]
    return graph.add("GroupNormalization", operands, num_groups=groups, epsilon=1e-2)


@draws(2, SHORT)
def instance_normalization(graph, dtype):
    shape = picture(graph)
    graph.deepen(math.prod(shape[2:]))
    graph.looseness *= 4
    graph.least = 4
    operands = [graph.operand(shape, dtype), *(graph.operand(shape[1:2], dtype, constant=0.7) for _ in range(2))]
    return graph.add("InstanceNormalization", operands, epsilon=1e-2)


@draws(2, SHORT)
def batch_normalization(graph, dtype):
    shape = picture(graph)
    numbers = [graph.operand(shape[1:2], dtype, make, constant=0.7) for make in (None, None, None, graph.random.positive)]
    return graph.add("BatchNormalization", [graph.operand(shape, dtype), *numbers])


@draws(1, "float32 float64")
def lp_normalization(graph, dtype):
    shape = graph.random.tensor(1, 4)
    axis = graph.random.axis(len(shape))
    graph.deepen(shape[axis])
    return graph.add("LpNormalization", [graph.operand(shape, dtype)], axis=axis, p=graph.random.choice([1, 2]))


@draws(1, "float32 float64")
def mean_variance_normalization(graph, dtype):
    shape = [*graph.random.sizes(2, 3000), *graph.random.sizes(2, 300)]
    axes = sorted(graph.random.sample(range(4), graph.random.randint(1, 3)))
    graph.deepen(math.prod(shape[axis] for axis in axes))
    graph.looseness *= 8
    return graph.add("MeanVarianceNormalization", [graph.operand(shape, dtype)], axes=axes)


@draws(1, "float32")
def lrn(graph, dtype):
    shape = picture(graph)
    return graph.add("LRN", [graph.operand(shape, dtype)], size=graph.random.choice([1, 3, 5]), alpha=0.01, bias=1.5)


REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
              "ReduceLogSumExp", "ReduceLogSum", "ReduceProd"]


@draws(5, SHORT + " int32 int64 int8 uint8")
def reduction(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 5, 400_000)
    op = random.choice(REDUCTIONS)
    if dtype == "int64" and op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        op = "ReduceMin"
    if dtype in ("int32", "int8", "uint8"):
        op = random.choice(["ReduceMax", "ReduceMin", *(["ReduceSum", "ReduceMean"] if dtype == "int32" else [])])
    axes = sorted(random.sample(range(len(shape)), random.randint(1, len(shape))))
    depth = math.prod(shape[axis] for axis in axes)
    make = random.positive if op == "ReduceLogSum" else None
    if op == "ReduceProd":
        make = (lambda size: 1 + random.normal(size) * depth**-0.5) if dtype in EPSILON else random.below(2)
    graph.deepen(depth)
    x = graph.operand(shape, dtype, make)
    if random.maybe(0.3) and dtype in EPSILON and make is None:
        x = graph.add(random.choice(["Add", "Mul", "Sub"]), [x, graph.operand(random.shrunk(shape), dtype)])
    written = [axis - len(shape) if random.maybe(0.3) else axis for axis in axes]
    keeps = random.randint(0, 1)
    if graph.version >= AXES_ARE_OPERANDS or op == "ReduceSum":
        return graph.add(op, [x, graph.integers(*written)], keepdims=keeps)
    return graph.add(op, [x], axes=written, keepdims=keeps)


@draws(2, "float32 float16 float64 int32 int64 int8 uint8")
def best_place(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    facts = {"axis": random.axis(len(shape)), "keepdims": random.randint(0, 1),
             "select_last_index": random.randint(0, 1)}
    return graph.add(random.choice(["ArgMax", "ArgMin"]), [graph.operand(shape, dtype)], **facts)


@draws(2, "float32 float16 float64 int32 int64")
def top_k(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.axis(len(shape))
    count = min(shape[axis], random.choice([1, 2, 5, 17, 100, shape[axis]]))
    make = random.below(10) if random.maybe(0.3) else None
    return graph.add("TopK", [graph.operand(shape, dtype, make), graph.integers(count)], 2, axis=axis,
                     largest=random.randint(0, 1))[0]


@draws(1, "float32 float64 int32 int64")
def running_sum(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.axis(len(shape))
    graph.deepen(shape[axis])
    facts = {"exclusive": random.randint(0, 1), "reverse": random.randint(0, 1)}
    return graph.add("CumSum", [graph.operand(shape, dtype), graph.constant(axis, "int64")], **facts)
