"""Generators of convolutions, pooling, recurrent layers, attention, images and signals."""

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


@generator("MaxRoiPool")
def max_roi_pool(r, d):
    d.input(r.array("float32", [2, r.choice([1, 2]), 6, 6]))
    rois = [[r.randint(0, 1), r.randint(0, 2), r.randint(0, 2), r.randint(2, 5), r.randint(2, 5)] for _ in range(3)]
    d.input(np.array(rois, np.float32))
    d.attribute(pooled_shape=[r.randint(1, 3), r.randint(1, 3)])
    d.maybe_attribute(spatial_scale=0.5)


@generator("RoiAlign")
def roi_align(r, d):
    dtype = d.dtype("T1", only=("float32", "float64"))
    d.input(r.array(dtype, [2, r.choice([1, 2]), 6, 7]))
    rois = [[r.uniform(0, 2), r.uniform(0, 2), r.uniform(3, 6), r.uniform(3, 6)] for _ in range(3)]
    d.input(np.array(rois, dtype))
    d.input(r.integers([3], 0, 1))
    d.maybe_attribute(output_height=r.randint(1, 3), output_width=r.randint(1, 3), sampling_ratio=r.randint(0, 2),
                      spatial_scale=0.5, mode=r.choice(["avg", "max"]))
    if d.version >= 16:
        d.maybe_attribute(coordinate_transformation_mode=r.choice(["half_pixel", "output_half_pixel"]))
    d.near(64, terms=64, scale=8)


@generator("Resize", weight=3)
def resize(r, d):
    mode = r.choice(["nearest", "linear", "cubic"] if d.version >= 11 else ["nearest", "linear"])
    rank = r.choice([1, 2, 3, 4]) if mode == "nearest" else r.choice([2, 4])
    shape = [r.choice([1, 2, 3, 5]) for _ in range(rank)]
    factors = [r.choice([0.5, 1.0, 1.5, 2.0, 3.0, 0.7]) for _ in shape]
    if rank == 4:
        factors[:2] = [1.0, 1.0]
    factors = [factor if int(size * factor) > 0 else 1.0 for size, factor in zip(shape, factors)]
    d.input(r.array(d.dtype("T1" if d.version >= 11 else "T", only=("float32",)), shape))
    d.attribute(mode=mode)
    scales = np.array(factors, np.float32)
    d.near(64, terms=16, scale=8)
    if d.version < 11:
        return d.input(scales, shape_like=True)
    modes = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    d.maybe_attribute(coordinate_transformation_mode=r.choice(modes), cubic_coeff_a=-0.5)
    if mode == "nearest":
        d.maybe_attribute(nearest_mode=r.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        d.maybe_attribute(exclude_outside=r.randint(0, 1))
    by_scale = r.maybe(0.6)
    if d.version < 13:
        d.input(np.zeros([0], np.float32), shape_like=True)
        d.input(scales if by_scale else np.zeros([0], np.float32), shape_like=True)
    else:
        d.input(None)
        d.input(scales if by_scale else None, shape_like=True)
    if not by_scale:
        d.integers([max(1, int(size * factor)) for size, factor in zip(shape, factors)])
    if d.version >= 18 and mode == "linear":
        d.maybe_attribute(0.4, antialias=1)
    return None


@generator("Upsample")
def upsample(r, d):
    shape = [1, r.choice([1, 2]), r.choice([2, 3]), r.choice([2, 3])]
    d.input(r.array("float32", shape))
    d.attribute(mode=r.choice(["nearest", "linear"]))
    scales = [1.0, 1.0, r.choice([1.0, 2.0, 3.0]), r.choice([1.0, 2.0])]
    if d.version < 9:
        d.attribute(scales=scales)
    else:
        d.input(np.array(scales, np.float32), shape_like=True)
    d.near(64, terms=16, scale=4)


@generator("GridSample")
def grid_sample(r, d):
    rank = r.choice([2, 2, 3]) if d.version >= 20 else 2
    dtype = d.dtype("T1", only=("float32", "float64"))
    n, image = r.choice([1, 2]), [r.randint(2, 5) for _ in range(rank)]
    d.input(r.array(dtype, [n, r.choice([1, 2]), *image]))
    grid = d.dtype("T2", only=("float32", "float64"))
    d.input(r.array(dtype if d.version >= 16 and dtype in ("float32", "float64") else grid,
                    [n, *(r.randint(1, 4) for _ in range(rank)), rank], -1.4, 1.4))
    modes = ["linear", "nearest", *(["cubic"] if rank == 2 else [])] if d.version >= 20 else [
        "bilinear", "nearest", "bicubic"]
    d.attribute(mode=r.choice(modes))
    d.maybe_attribute(padding_mode=r.choice(["zeros", "border", "reflection"]), align_corners=r.randint(0, 1))
    d.near(512, terms=256, scale=8)


@generator("AffineGrid")
def affine_grid(r, d):
    rank, n = r.choice([2, 3]), r.choice([1, 2])
    d.input(r.array(d.dtype("T1", only=("float32", "float64")), [n, rank, rank + 1], -1, 1))
    d.integers([n, 1, *(r.randint(1, 4) for _ in range(rank))])
    d.maybe_attribute(align_corners=r.randint(0, 1))
    d.near(32, terms=16, scale=2)


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
    b, q_len, kv_len, size, v_size = r.choice([1, 2]), r.randint(1, 4), r.randint(1, 5), r.choice([2, 4]), r.choice([2, 4])
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


@generator("DFT")
def dft(r, d):
    n, length, onesided, inverse = r.choice([1, 2]), r.choice([2, 3, 4, 5, 8]), r.maybe(0.3), r.maybe(0.3)
    dtype = d.dtype("T1", only=("float32", "float64"))
    complex_input = r.maybe() or inverse
    onesided = onesided and not inverse and not complex_input
    d.input(r.array(dtype, [n, length, 2 if complex_input else 1], -2, 2))
    d.attribute(onesided=int(onesided), inverse=int(inverse))
    d.optional(np.array(r.choice([length, length + 1, 3]), np.int64), 0.3, shape_like=True)
    if d.version < 20:
        d.attribute(axis=1)
    elif r.maybe():
        d.integers(r.choice([1, -2]))
    d.near(64, terms=length * 8, scale=4)


@generator("STFT")
def stft(r, d):
    frame, n = r.choice([4, 8]), r.choice([1, 2])
    dtype = d.dtype("T1", only=("float32", "float64"))
    d.input(r.array(dtype, [n, r.choice([16, 20]), 1], -2, 2))
    d.integers(r.choice([2, 4]))
    with_window = r.maybe()
    d.input(r.array(dtype, [frame], 0.1, 1) if with_window else None)
    if not with_window or r.maybe():
        d.integers(frame)
    d.maybe_attribute(onesided=r.randint(0, 1))
    d.near(64, terms=64, scale=4)


@generator("HannWindow HammingWindow BlackmanWindow")
def signal_window(r, d):
    d.integers(r.choice([1, 2, 5, 8]), d.dtype("T1"))
    d.maybe_attribute(periodic=r.randint(0, 1), output_datatype=r.choice([1, 11]))
    d.near(32, terms=16, scale=1)


@generator("MelWeightMatrix")
def mel_weight_matrix(r, d):
    for value in (r.choice([4, 8]), r.choice([16, 32]), r.choice([8000, 16000])):
        d.integers(value)
    d.input(np.array(r.choice([0.0, 20.0]), np.float32), shape_like=True)
    d.input(np.array(r.choice([3000.0, 4000.0]), np.float32), shape_like=True)
    d.near(64, terms=64, scale=1)


@generator("NonMaxSuppression")
def non_max_suppression(r, d):
    n, boxes, classes = r.choice([1, 2]), r.randint(1, 6), r.choice([1, 2])
    corners = r.array("float32", [n, boxes, 4], 0, 4)
    corners[..., 2:] += corners[..., :2] + 1
    d.input(corners)
    d.input(r.array("float32", [n, classes, boxes], 0, 1))
    d.optional(np.array([r.randint(0, 4)], np.int64), 0.8, shape_like=True)
    d.optional(np.array([0.5], np.float32), 0.7)
    d.optional(np.array([0.2], np.float32), 0.5)
    d.maybe_attribute(center_point_box=r.randint(0, 1))


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
