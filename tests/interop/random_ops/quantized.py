"""Generators of operators on quantized numbers."""

import math

import numpy as np

from .draw import generator

BYTES = ("int8", "uint8")


def scale_of(r, shape=(), dtype="float32"):
    return np.asarray(r.choice([0.25, 0.5, 0.125, 0.1]) * r.array("float32", shape, 0.5, 2)).astype(dtype)


def zero_of(r, dtype, shape=()):
    return r.integers(shape, 0 if dtype[0] == "u" else -5, 5, dtype)


@generator("QuantizeLinear DequantizeLinear", weight=3)
def quantize_linear(r, d):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    by_axis = r.maybe(0.4) and d.version >= 13
    width = [shape[axis]] if by_axis else []
    if by_axis:
        d.attribute(axis=axis)
    if d.op == "QuantizeLinear":
        target = r.choice([t for t in d.dtypes("T2" if d.version < 23 else "T3") if t in (*BYTES, "int16", "uint16")])
        d.input(r.array("float32", shape, -20, 20))
        d.input(scale_of(r, width))
        d.input(zero_of(r, target, width)) if target != "uint8" else d.optional(zero_of(r, target, width))
        d.near(steps=1)
        return
    source = d.dtype("T" if d.version < 19 else "T1", only=(*BYTES, "int32", "int16", "uint16"))
    d.input(r.array(source, shape, -100, 100))
    d.input(scale_of(r, width))
    zero = np.zeros(width, source) if source == "int32" else zero_of(r, source, width)
    d.optional(zero, 0.7)
    d.near(2)


@generator("DynamicQuantizeLinear")
def dynamic_quantize_linear(r, d):
    d.input(r.array("float32", r.shape(0, 4, zero=0)))
    d.outputs = 3
    d.near(8, steps=1)


@generator("MatMulInteger")
def mat_mul_integer(r, d):
    m, k, n = r.dim(0), r.dim(0), r.dim(0)
    lead = r.shape(0, 1, zero=0)
    a, b = d.dtype("T1"), d.dtype("T2")
    d.input(r.array(a, [*lead, m, k], -100, 100))
    d.input(r.array(b, [*(lead if r.maybe() else []), k, n], -100, 100))
    d.optional(zero_of(r, a))
    d.optional(zero_of(r, b, r.choice([[], [n]])))


@generator("QLinearMatMul")
def q_linear_mat_mul(r, d):
    m, k, n = r.dim(0), r.dim(0), r.dim(0)
    lead = r.shape(0, 1, zero=0)
    a, b, y = (d.dtype(variable, only=BYTES) for variable in ("T1", "T2", "T3"))
    if a == "int8" and b == "uint8" or y != a:
        b, y = a, a
    for dtype, shape in ((a, [*lead, m, k]), (b, [k, n])):
        d.input(r.array(dtype, shape, -100, 100))
        d.input(scale_of(r))
        d.input(zero_of(r, dtype))
    d.input(np.float32(r.uniform(5, 50)) * np.ones([], np.float32))
    d.input(zero_of(r, y))
    d.near(steps=1)


@generator("ConvInteger QLinearConv")
def conv_integer(r, d):
    kernel = [r.randint(1, 3), r.randint(1, 3)]
    image = [k + r.randint(0, 3) for k in kernel]
    channels, outputs = r.randint(1, 3), r.randint(1, 3)
    x, w = d.dtype("T1", only=BYTES), d.dtype("T2", only=BYTES)
    if d.op == "QLinearConv" and x == "int8":
        w = "int8"
    shape, filters = [r.choice([1, 2]), channels, *image], [outputs, channels, *kernel]
    d.maybe_attribute(pads=[r.randint(0, 1) for _ in range(4)], strides=[r.randint(1, 2) for _ in range(2)],
                      kernel_shape=kernel)
    if d.op == "ConvInteger":
        d.input(r.array(x, shape, -100, 100))
        d.input(r.array(w, filters, -100, 100))
        d.optional(zero_of(r, x))
        d.optional(zero_of(r, w))
        return
    for dtype, dims in ((x, shape), (w, filters)):
        d.input(r.array(dtype, dims, -100, 100))
        d.input(scale_of(r))
        d.input(zero_of(r, dtype) if dtype == x else np.zeros([], dtype))
    d.input(np.asarray(np.float32(r.uniform(5, 50) * math.prod(kernel))))
    d.input(zero_of(r, x))
    d.optional(r.integers([outputs], -100, 100, "int32"))
    d.near(steps=1)
