"""Generators of convolutions, pooling, recurrent layers, attention and losses."""

import math

import numpy as np

from .draw import generator

REAL = ("float32", "float64", "float16")


def window(r, rank, most=3):
    """Kernel, strides, dilations and pads that fit small images."""
    return ([r.randint(1, most) for _ in range(rank)], [r.randint(1, 3) for _ in range(rank)],
            [r.randint(1, 2) for _ in range(rank)], [r.randint(0, 1) for _ in range(2 * rank)])


def image_dims(r, rank, kernel=(), dilations=()):
    least = [(k - 1) * dilation + 1 for k, dilation in zip(kernel, dilations)] or [1] * rank
    return [low + r.randint(0, 4) for low in least]


def set_window(r, d, strides, dilations, pads):
    """Attributes that a window has, each left out now and then; pads or auto_pad."""
    if r.maybe(0.3):
        mode = r.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
        d.attribute(auto_pad=mode)
        if mode == "NOTSET":
            d.attribute(pads=pads)
        elif mode != "VALID":
            dilations = [1] * len(dilations)  # ONNX Runtime refuses SAME with dilations in places
    else:
        d.maybe_attribute(0.7, pads=pads)
    d.maybe_attribute(0.7, strides=strides)
    if dilations:
        d.maybe_attribute(0.7, dilations=dilations)


@generator("Conv", weight=3)
def conv(r, d):
    rank = r.choice([1, 2, 2, 3])
    kernel, strides, dilations, pads = window(r, rank)
    group, per_group = r.choice([1, 1, 2, 3]), r.randint(1, 2)
    outputs = group * r.randint(1, 2)
    dtype = d.dtype(only=REAL)
    d.input(r.array(dtype, [r.dim(0.03), group * per_group, *image_dims(r, rank, kernel, dilations)], -2, 2))
    d.input(r.array(dtype, [outputs, per_group, *kernel], -2, 2))
    d.optional(r.array(dtype, [outputs]))
    set_window(r, d, strides, dilations, pads)
    d.maybe_attribute(kernel_shape=kernel)
    if group > 1:
        d.attribute(group=group)
    d.near(8, terms=per_group * math.prod(kernel) + 1, scale=4)


@generator("ConvTranspose", weight=2)
def conv_transpose(r, d):
    rank = r.choice([1, 2, 2, 3])
    kernel, strides, dilations, pads = window(r, rank)
    group, per_group = r.choice([1, 1, 2]), r.randint(1, 2)
    dtype = d.dtype(only=("float32",))
    channels = group * r.randint(1, 2)
    image = [r.randint(2, 5) for _ in range(rank)]
    d.input(r.array(dtype, [r.choice([1, 2]), channels, *image], -2, 2))
    d.input(r.array(dtype, [channels, per_group, *kernel], -2, 2))
    d.optional(r.array(dtype, [group * per_group]))
    d.attribute(strides=strides, dilations=dilations, group=group)
    d.maybe_attribute(kernel_shape=kernel)
    choice = r.randint(0, 3)
    if choice == 0:
        d.attribute(auto_pad=r.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif choice == 1:
        d.attribute(pads=pads)
    elif choice == 2:
        d.attribute(output_shape=[size * stride for size, stride in zip(image, strides)])
        d.maybe_attribute(auto_pad=r.choice(["SAME_UPPER", "SAME_LOWER"]))
    if choice != 2 and r.maybe(0.3):
        d.attribute(output_padding=[r.randint(0, max(stride, dilation) - 1)
                                    for stride, dilation in zip(strides, dilations)])
    d.near(8, terms=channels * math.prod(kernel) + 1, scale=4)


@generator("DeformConv")
def deform_conv(r, d):
    kernel, strides, dilations, pads = window(r, 2)
    group, offset_group, per_group = r.choice([1, 2]), r.choice([1, 2]), 2
    image = image_dims(r, 2, kernel, dilations)
    out = [(image[i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    dtype = d.dtype(only=("float32", "float64"))
    n, outputs, points = r.choice([1, 2]), group * r.randint(1, 2), math.prod(kernel)
    d.input(r.array(dtype, [n, group * per_group, *image], -2, 2))
    d.input(r.array(dtype, [outputs, per_group, *kernel], -2, 2))
    d.input(r.array(dtype, [n, 2 * offset_group * points, *out], -1.5, 1.5))
    d.optional(r.array(dtype, [outputs]))
    d.optional(r.array(dtype, [n, offset_group * points, *out], 0, 1))
    d.attribute(strides=strides, dilations=dilations, pads=pads, group=group, offset_group=offset_group)
    d.near(64, terms=16 * per_group * points, scale=8)


@generator("MaxPool AveragePool LpPool", weight=2)
def pool(r, d):
    rank = r.choice([1, 2, 2, 3])
    kernel, strides, dilations, pads = window(r, rank)
    pads = [min(pad, kernel[i % rank] - 1) for i, pad in enumerate(pads)]
    since = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[d.op]
    if d.version < since or r.maybe():
        dilations = [1] * rank
    only = (*REAL, "int8", "uint8") if d.op == "MaxPool" else REAL
    d.input(r.array(d.dtype(only=only), [r.choice([1, 2]), r.randint(1, 3), *image_dims(r, rank, kernel, dilations)]))
    d.attribute(kernel_shape=kernel)
    set_window(r, d, strides, dilations if d.version >= since else [], pads)
    if d.version >= since:
        d.maybe_attribute(ceil_mode=r.randint(0, 1))
    elif d.version >= 10 and d.op == "AveragePool":
        d.maybe_attribute(ceil_mode=r.randint(0, 1))
    if d.op == "AveragePool":
        d.maybe_attribute(count_include_pad=r.randint(0, 1))
    if d.op == "LpPool":
        d.maybe_attribute(p=r.randint(1, 3))
    if d.op == "MaxPool" and d.version >= 8:
        d.outputs = r.choice([1, 1, 2])
        d.maybe_attribute(0.2, storage_order=r.randint(0, 1))
    d.near(16, terms=math.prod(kernel), scale=4)


@generator("GlobalAveragePool GlobalMaxPool GlobalLpPool")
def global_pool(r, d):
    shape = [r.choice([1, 2]), r.randint(1, 3), *(r.choice([1, 2, 3, 5]) for _ in range(r.randint(1, 3)))]
    d.input(r.array(d.dtype(only=REAL), shape))
    if d.op == "GlobalLpPool":
        d.maybe_attribute(p=r.randint(1, 3))
    d.near(16, terms=math.prod(shape[2:]), scale=4)


@generator("MaxUnpool")
def max_unpool(r, d):
    h, w = r.randint(1, 3), r.randint(1, 3)
    shape = [1, r.choice([1, 2]), h, w]
    d.input(r.array("float32", shape))
    cells = r.sample(range(4 * h * w), h * w)
    d.input(np.broadcast_to(np.array(cells, np.int64).reshape(h, w), shape) +
            4 * h * w * np.arange(shape[1], dtype=np.int64).reshape(1, -1, 1, 1))
    d.attribute(kernel_shape=[2, 2], strides=[2, 2])
    if r.maybe(0.4):
        d.integers([1, shape[1], 2 * h, 2 * w])


@generator("RNN LSTM GRU", weight=2)
def recurrent(r, d):
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[d.op]
    length, batch, size, hidden = r.randint(1, 4), r.choice([1, 2, 3]), r.randint(1, 3), r.randint(1, 4)
    direction = r.choice(["forward", "forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    layout = 0
    dtype = d.dtype(only=("float32",))
    d.input(r.array(dtype, [length, batch, size], -1, 1))
    d.input(r.array(dtype, [ways, gates * hidden, size], -1, 1))
    d.input(r.array(dtype, [ways, gates * hidden, hidden], -1, 1))
    d.optional(r.array(dtype, [ways, 2 * gates * hidden], -1, 1))
    d.optional(r.integers([batch], 1, length, "int32"), 0.4)
    d.optional(r.array(dtype, [ways, batch, hidden], -1, 1))
    if d.op == "LSTM":
        d.optional(r.array(dtype, [ways, batch, hidden], -1, 1))
        d.optional(r.array(dtype, [ways, 3 * hidden], -1, 1), 0.3)
        d.maybe_attribute(0.2, input_forget=1)
    d.attribute(hidden_size=hidden, layout=layout) if d.version >= 14 and r.maybe(0.2) else d.attribute(
        hidden_size=hidden)
    d.maybe_attribute(0.2, clip=0.5)
    if direction != "forward":
        d.attribute(direction=direction)
    if d.op == "GRU":
        d.maybe_attribute(linear_before_reset=r.randint(0, 1))
    if d.op == "RNN" and r.maybe(0.4):
        d.attribute(activations=[r.choice(["Relu", "Tanh", "Sigmoid"])] * ways)
    d.outputs = r.randint(1, 3 if d.op == "LSTM" else 2)
    d.near(64, terms=128, scale=2)


@generator("Attention", weight=2)
def attention(r, d):
    heads, groups = r.choice([1, 2]), r.choice([1, 2])
    b, q_len, kv_len = r.choice([1, 2]), r.randint(1, 4), r.randint(1, 5)
    size, v_size = r.choice([2, 4]), r.choice([2, 4])
    dtype, flat = d.dtype("T1", only=("float32",)), r.maybe(0.3)

    def heads_of(count, length, width):
        return r.array(dtype, [b, length, count * width] if flat else [b, count, length, width], -1, 1)

    d.input(heads_of(heads * groups, q_len, size))
    d.input(heads_of(heads, kv_len, size))
    d.input(heads_of(heads, kv_len, v_size))
    if flat:
        d.attribute(q_num_heads=heads * groups, kv_num_heads=heads)
    past = r.randint(1, 3) if r.maybe(0.3) else 0
    mask = r.maybe(0.4)
    d.input(r.array(r.choice(["bool", dtype]), [q_len, kv_len + past]) if mask else None)
    if past:
        d.input(r.array(dtype, [b, heads, past, size], -1, 1))
        d.input(r.array(dtype, [b, heads, past, v_size], -1, 1))
    d.maybe_attribute(0.3, is_causal=0 if mask else 1, scale=0.5, softcap=2.0)
    d.outputs = 3 if past else 1
    d.near(128, terms=64, scale=2)


@generator("RotaryEmbedding")
def rotary_embedding(r, d):
    b, heads, length, size = r.choice([1, 2]), r.choice([1, 2]), r.randint(1, 4), r.choice([4, 8])
    dtype = d.dtype(only=("float32",))
    d.input(r.array(dtype, [b, heads, length, size]))
    with_positions = r.maybe()
    cache = [7, size // 2] if with_positions else [b, length, size // 2]
    d.input(r.array(dtype, cache, -1, 1))
    d.input(r.array(dtype, cache, -1, 1))
    if with_positions:
        d.input(r.integers([b, length], 0, 6))
    d.maybe_attribute(interleaved=r.randint(0, 1))
    d.near(8, terms=2, scale=4)


@generator("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss")
def loss(r, d):
    n, classes, tail = r.choice([1, 2, 3]), r.randint(2, 4), r.shape(0, 2, zero=0)
    d.input(r.array(d.dtype(only=("float32",)), [n, classes, *tail]))
    labels = r.integers([n, *tail], 0, classes - 1, r.choice(["int32", "int64"]))
    d.input(labels)
    d.optional(r.array("float32", [classes], 0.5, 2))
    d.maybe_attribute(reduction=r.choice(["none", "sum", "mean"]))
    if r.maybe(0.3):
        d.attribute(ignore_index=0)
    if d.op == "SoftmaxCrossEntropyLoss":
        d.outputs = r.randint(1, 2)
    d.near(64, terms=64, scale=8)
