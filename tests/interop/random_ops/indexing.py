"""Generators of operators that pick or place elements by index."""

import numpy as np

from .draw import generator, np_dtype
from .movement import ANY, data


@generator("Gather", weight=2)
def gather(r, d):
    array = data(r, d, 1, 4)
    axis = r.axis(array.ndim)
    size = array.shape[axis]
    shape = r.shape(0, 3) if size else [0]
    d.input(r.integers(shape, -size if d.version >= 11 else 0, max(size - 1, 0), d.dtype("Tind")), shape_like=True)
    d.attribute(axis=axis)


@generator("GatherElements")
def gather_elements(r, d):
    array = data(r, d, 1, 4, zero=0)
    axis = r.axis(array.ndim)
    shape = [r.randint(1, dim) for dim in array.shape]
    shape[axis] = r.dim(0.1)
    d.input(r.integers(shape, -array.shape[axis], array.shape[axis] - 1, d.dtype("Tind")))
    d.maybe_attribute(axis=axis) if axis == 0 else d.attribute(axis=axis)


@generator("GatherND")
def gather_nd(r, d):
    array = data(r, d, 1, 4, zero=0)
    batch = r.randint(0, array.ndim - 1) if d.version >= 12 and r.maybe(0.4) else 0
    last = r.randint(1, array.ndim - batch)
    lead = [*array.shape[:batch], *r.shape(0, 2)]
    columns = [r.integers(lead, -array.shape[batch + i], array.shape[batch + i] - 1) for i in range(last)]
    d.input(np.stack(columns, axis=-1) if columns else r.integers([*lead, 0], 0, 0))
    if batch:
        d.attribute(batch_dims=batch)


def reduction_of(r, d, dtype):
    choices = ["none"]
    if dtype not in ("string", "bool"):
        choices += ["add", "mul"] if d.version >= 16 else []
        choices += ["max", "min"] if d.version >= 18 else []
    return r.choice(choices)


@generator("Scatter ScatterElements")
def scatter_elements(r, d):
    dtype = d.dtype(only=ANY)
    shape = r.shape(1, 4, zero=0)
    axis = r.axis(len(shape))
    sizes = [r.randint(1, dim) for dim in shape]
    d.input(r.array(dtype, shape))
    order = r.sample(range(shape[axis]), sizes[axis])  # without reduction, indices must not repeat
    line = np.array(order, np.int64).reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])
    d.input(np.broadcast_to(line, sizes).astype(d.dtype("Tind")))
    d.input(r.array(dtype, sizes))
    d.attribute(axis=axis)
    if d.op == "ScatterElements" and d.version >= 16:
        d.attribute(reduction=reduction_of(r, d, dtype))
    d.near(4)


@generator("ScatterND")
def scatter_nd(r, d):
    dtype = d.dtype(only=ANY)
    shape = r.shape(1, 4, zero=0)
    d.input(r.array(dtype, shape))
    last = r.randint(1, len(shape))
    rows = list(np.ndindex(*shape[:last]))
    chosen = r.sample(rows, r.randint(1, min(len(rows), 4)))
    d.input(np.array(chosen, np.int64).reshape(len(chosen), last))
    d.input(r.array(dtype, [len(chosen), *shape[last:]]))
    if d.version >= 16:
        d.attribute(reduction=reduction_of(r, d, dtype))
    d.near(4)


@generator("OneHot")
def one_hot(r, d):
    depth, indices, values = d.dtype("T2"), d.dtype("T1"), d.dtype("T3", only=ANY)
    array = np.asarray(np.floor(r.array(indices, r.shape(0, 3), -7, 7)), np_dtype(indices))
    d.input(array)
    d.integers(r.choice([r.randint(1, 7), [r.randint(1, 7)]]), depth)
    d.input(r.array(values, [2]))
    d.maybe_attribute(axis=r.randint(-array.ndim - 1, array.ndim))


@generator("NonZero")
def non_zero(r, d):
    d.input(r.array(d.dtype(only=ANY), r.shape(0, 4), -1, 1))


@generator("Compress")
def compress(r, d):
    array = data(r, d, 1, 4)
    axis = r.axis(array.ndim) if d.version >= 11 else r.randrange(array.ndim)
    flat = r.maybe(0.3)
    length = array.size if flat else array.shape[axis]
    d.input(r.array("bool", [r.randint(0, length)]))
    if not flat:
        d.attribute(axis=axis)


@generator("Unique")
def unique(r, d):
    array = r.array(d.dtype(only=ANY), r.shape(1, 3), -1, 2)
    d.input(array)
    if r.maybe():
        d.attribute(axis=r.axis(array.ndim))
    d.maybe_attribute(sorted=r.randint(0, 1))
    d.outputs = r.randint(1, 4)


@generator("Trilu")
def trilu(r, d):
    array = data(r, d, 2, 4)
    d.maybe_attribute(upper=r.randint(0, 1))
    if r.maybe():
        d.integers(r.randint(-6, 6))
    assert array.ndim >= 2


@generator("TensorScatter")
def tensor_scatter(r, d):
    batch, length, size = r.choice([1, 2, 3]), r.choice([3, 5]), r.randint(1, 3)
    dtype = d.dtype(only=ANY)
    middle, tail = r.shape(0, 1, zero=0), [r.choice([1, 2, 4])]
    d.input(r.array(dtype, [batch, *middle, length, *tail]))
    d.input(r.array(dtype, [batch, *middle, size, *tail]))
    d.maybe_attribute(axis=-2)
    mode = r.choice(["linear", "circular"])
    d.attribute(mode=mode)
    d.optional(r.integers([batch], 0, length - size if mode == "linear" else length - 1), 0.8)
