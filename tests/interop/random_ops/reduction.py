"""Generators of reductions, normalizations and linear algebra."""

import math

import numpy as np

from .draw import FLOATS, generator

NUMERIC = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bfloat16")


@generator("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
           "ReduceSumSquare", weight=2)
def reduce(r, d):
    dtype = d.dtype(only=(*NUMERIC, "bool"))
    shape = r.shape()
    logarithm = d.op == "ReduceLogSum"
    d.input(r.array(dtype, shape, 1 if logarithm else -2 if d.op == "ReduceProd" else -4,
                    2 if d.op == "ReduceProd" else 4))
    axes = r.axes(len(shape))
    d.maybe_attribute(keepdims=r.randint(0, 1))
    with_input = d.version >= (13 if d.op == "ReduceSum" else 18)
    if with_input:
        d.maybe_attribute(0.3, noop_with_empty_axes=r.randint(0, 1))
        if r.maybe(0.8):
            d.integers(axes)
    elif axes and r.maybe(0.8):
        d.attribute(axes=axes if d.version >= 11 else [axis % len(shape) for axis in axes])
    count = max(math.prod(shape), 1)
    d.near(8 + count / 8, terms=count, scale=16 if d.op == "ReduceSumSquare" else 4)
    if d.op == "ReduceProd":
        d.near(4 + count)


@generator("ArgMax ArgMin")
def arg_max(r, d):
    shape = r.shape(1, 4, zero=0)
    d.input(r.array(d.dtype(only=NUMERIC), shape, -3, 3))
    axis = r.axis(len(shape)) if d.version >= 11 else r.randrange(len(shape))
    d.attribute(axis=axis)
    d.maybe_attribute(keepdims=r.randint(0, 1))
    if d.version >= 12:
        d.maybe_attribute(0.4, select_last_index=1)


@generator("Softmax LogSoftmax Hardmax LpNormalization")
def softmax(r, d):
    shape = r.shape(1, 4)
    d.input(r.array(d.dtype(), shape))
    axis = r.axis(len(shape)) if d.version >= 11 or d.op == "LpNormalization" else r.randrange(len(shape))
    d.maybe_attribute(0.7, axis=axis)
    if d.op == "LpNormalization":
        d.attribute(axis=axis)
        d.maybe_attribute(p=r.choice([1, 2]))
    d.near(16, terms=8, scale=2)


@generator("CumSum CumProd")
def cumulate(r, d):
    shape = r.shape(1, 4)
    dtype = d.dtype(only=NUMERIC)
    d.input(r.array(dtype, shape, -2, 2))
    d.integers(r.axis(len(shape)), d.dtype("T2"))
    d.maybe_attribute(exclusive=r.randint(0, 1), reverse=r.randint(0, 1))
    d.near(8, terms=8, scale=8)


@generator("TopK", weight=2)
def top_k(r, d):
    shape = r.shape(1, 4, zero=0)
    axis = r.axis(len(shape)) if d.version >= 11 else r.randrange(len(shape))
    k = r.randint(0 if d.version >= 10 and r.maybe(0.1) else 1, shape[axis])
    dtype = d.dtype(only=NUMERIC)
    values = np.arange(math.prod(shape)) if dtype in ("float32", "int64", "float64") else None
    if values is None or r.maybe(0.3):
        array = r.array(dtype, shape)  # with ties
    else:
        array = np.array(r.sample(list(values), len(values))).reshape(shape).astype(dtype)
    d.input(array)
    d.attribute(axis=axis)
    if d.version < 10:
        d.attribute(k=k)
    else:
        d.integers([k])
    if d.version >= 11:
        d.maybe_attribute(largest=r.randint(0, 1))
    d.outputs = 2


def matrices(r, batch_rank=2):
    """Shapes of A and B for MatMul, batches broadcast."""
    m, k, n = (r.dim(0.05) for _ in range(3))
    if r.maybe(0.15):
        return r.choice([([k], [k]), ([k], [k, n]), ([m, k], [k])]), k
    a, b = r.broadcast_shapes(2, batch_rank)
    return ([*a, m, k], [*b, k, n]), k


@generator("MatMul", weight=2)
def matmul(r, d):
    dtype = d.dtype(only=NUMERIC)
    (a, b), k = matrices(r)
    d.input(r.array(dtype, a, -2, 2))
    d.input(r.array(dtype, b, -2, 2))
    d.near(4, terms=k, scale=4)


@generator("Gemm", weight=2)
def gemm(r, d):
    dtype = d.dtype(only=NUMERIC)
    m, k, n = (r.dim(0.03) for _ in range(3))
    turn_a, turn_b = r.randint(0, 1), r.randint(0, 1)
    d.input(r.array(dtype, [k, m] if turn_a else [m, k], -2, 2))
    d.input(r.array(dtype, [n, k] if turn_b else [k, n], -2, 2))
    bias = r.array(dtype, r.shrunk([m, n]))
    if d.version < 11:
        d.input(bias)
    else:
        d.optional(bias, 0.7)
    d.maybe_attribute(transA=turn_a, transB=turn_b) if not (turn_a or turn_b) else d.attribute(
        transA=turn_a, transB=turn_b)
    factors = (0.5, 2.0) if dtype in FLOATS else (1.0, 2.0)
    d.maybe_attribute(alpha=r.choice(factors), beta=r.choice(factors))
    d.near(8, terms=k + 2, scale=16)


@generator("Det")
def det(r, d):
    size = r.randint(1, 4)
    d.input(r.array(d.dtype(), [*r.shape(0, 2), size, size]))
    d.near(64, terms=24 * size, scale=4.0**size)


@generator("Einsum")
def einsum(r, d):
    equation, ranks = r.choice([("ij,jk->ik", 0), ("ij->ji", 0), ("bij,bjk->bik", 0), ("ii->i", 0), ("ij->", 0),
                                ("i,j->ij", 0), ("bij,bkj->bik", 0), ("ij,ij->i", 0), ("...ij->...ji", 1),
                                ("...ij,...jk->...ik", 1), ("ij,jk", 0), ("ijk,lk->ijl", 0), (" i j , j k -> k i ", 0)])
    sizes = {letter: r.dim(0.03) for letter in "bijkl"}
    dtype = d.dtype(only=("float32", "float64", "int32", "int64"))
    lead = r.shape(0, 2, zero=0) if ranks else []
    for term in equation.replace(" ", "").split("->")[0].split(","):
        shape = [sizes[letter] for letter in term.replace("...", "")]
        d.input(r.array(dtype, [*lead, *shape] if "..." in term else shape, -2, 2))
    d.attribute(equation=equation)
    d.near(8, terms=64, scale=4)


@generator("LayerNormalization RMSNormalization")
def layer_normalization(r, d):
    shape = r.shape(1, 4, zero=0)
    axis = r.axis(len(shape)) if r.maybe() else -1
    dtype = d.dtype(only=FLOATS)
    d.input(r.array(dtype, shape))
    inner = shape[axis:] if axis < 0 else shape[axis:]
    d.input(r.array(dtype, inner, 0.5, 2))
    d.attribute(axis=axis)
    d.maybe_attribute(0.4, epsilon=1e-3)
    if d.op == "LayerNormalization":
        d.optional(r.array(dtype, inner), 0.6)
        d.outputs = r.choice([1, 1, 2, 3])
        d.maybe_attribute(0.2, stash_type=1)
    d.near(64, terms=64, scale=8)


@generator("BatchNormalization")
def batch_normalization(r, d):
    shape = [r.dim(), r.choice([1, 2, 3]), *r.shape(0, 2, zero=0)]
    dtype = d.dtype(only=("float32", "float64"))
    d.input(r.array(dtype, shape))
    for low in (0.5, -1, -1, 0.5):
        d.input(r.array(dtype, [shape[1]], low, 2))
    d.maybe_attribute(epsilon=1e-3)
    d.near(32, terms=8, scale=16)


@generator("InstanceNormalization GroupNormalization")
def instance_normalization(r, d):
    groups = r.randint(1, 3)
    channels = groups * r.randint(1, 2) if d.op == "GroupNormalization" else r.randint(1, 4)
    shape = [r.choice([1, 2]), channels, *(r.choice([2, 3, 5]) for _ in range(r.randint(1, 2)))]
    dtype = d.dtype(only=("float32",))
    d.input(r.array(dtype, shape))
    width = groups if d.op == "GroupNormalization" and d.version < 21 else channels
    d.input(r.array(dtype, [width], 0.5, 2))
    d.input(r.array(dtype, [width]))
    if d.op == "GroupNormalization":
        d.attribute(num_groups=groups)
    d.maybe_attribute(epsilon=1e-3)
    d.near(64, terms=64, scale=8)


@generator("LRN")
def lrn(r, d):
    d.input(r.array(d.dtype(only=FLOATS), [r.choice([1, 2]), r.randint(1, 6), r.choice([1, 3]), r.choice([1, 2, 5])]))
    d.attribute(size=r.choice([1, 3, 5]))
    d.maybe_attribute(alpha=0.1, beta=0.5, bias=1.5)
    d.near(32, terms=16, scale=4)


@generator("MeanVarianceNormalization")
def mean_variance(r, d):
    d.input(r.array(d.dtype(only=FLOATS), [r.choice([2, 3]), r.choice([2, 3]), r.choice([3, 5]), 4]))
    d.maybe_attribute(axes=r.choice([[0, 2, 3], [0, 1, 2, 3], [2, 3]]))
    d.near(256, terms=256, scale=8)
