"""Generators of operators that shape, cut, repeat and fill."""

import math

from .draw import generator

ANY = ("float32", "float64", "int32", "int64", "bool", "string", "float16", "uint8", "int8")


def data(r, d, least=0, most=5, zero=0.06, variable="T"):
    array = r.array(d.dtype(variable, only=ANY), r.shape(least, most, zero))
    d.input(array)
    return array


@generator("Reshape", weight=2)
def reshape(r, d):
    array = data(r, d)
    left = array.size
    target = []
    while left > 1 and r.maybe(0.7):
        target.append(r.choice([n for n in range(1, left + 1) if left % n == 0]))
        left //= target[-1]
    target.append(left)
    if array.size == 0:
        target = r.sample(array.shape, len(array.shape))
    elif r.maybe(0.4):
        target[r.randrange(len(target))] = -1
    if array.size and r.maybe(0.3) and array.shape and target[0] == array.shape[0]:
        target[0] = 0
    if array.size == 0 and d.version >= 14:
        d.attribute(allowzero=1)
    d.integers(target)


@generator("Flatten")
def flatten(r, d):
    array = data(r, d)
    low = -array.ndim if d.version >= 11 else 0
    d.maybe_attribute(0.8, axis=r.randint(low, array.ndim))


def axes_operand(d, axes, since=13):
    if d.version >= since:
        d.integers(axes)
    else:
        d.attribute(axes=[axis for axis in axes])


@generator("Squeeze Unsqueeze")
def squeeze(r, d):
    shape = r.shape(0, 3)
    count = r.randint(0 if d.op == "Squeeze" else 1, 2)
    rank = len(shape) + count
    ones = sorted(r.sample(range(rank), count))
    axes = [axis - rank if r.maybe(0.4) and d.version >= 11 else axis for axis in ones]
    if d.op == "Squeeze":
        for axis in ones:
            shape.insert(axis, 1)
    d.input(r.array(d.dtype(only=ANY), shape))
    if axes and (d.op == "Unsqueeze" or r.maybe(0.8)):
        axes_operand(d, axes if r.maybe() else axes[::-1])


@generator("Transpose")
def transpose(r, d):
    array = data(r, d)
    d.maybe_attribute(0.8, perm=r.sample(range(array.ndim), array.ndim))


@generator("Concat", weight=2)
def concat(r, d):
    shape, dtype = r.shape(1), d.dtype(only=ANY)
    axis = r.axis(len(shape))
    for _ in range(r.randint(1, 4)):
        shape[axis] = r.dim(0.15)
        d.input(r.array(dtype, shape))
    d.attribute(axis=axis if d.version >= 11 else axis % len(shape))


@generator("Split")
def split(r, d):
    shape = r.shape(1)
    axis = r.axis(len(shape)) if d.version >= 11 else r.randrange(len(shape))
    parts = [r.dim(0.1) for _ in range(r.randint(1, 4))]
    d.outputs = len(parts)
    if r.maybe(0.4):
        parts = [parts[0]] * len(parts)
        if d.version >= 18 and parts[0] > 1 and r.maybe():
            parts[-1] -= 1
            d.attribute(num_outputs=len(parts))
    equal = len(set(parts)) == 1
    shape[axis] = sum(parts)
    d.input(r.array(d.dtype(only=ANY), shape))
    d.maybe_attribute(0.8 if axis else 0.5, axis=axis) if axis in (0, -len(shape)) else d.attribute(axis=axis)
    if "num_outputs" in d.attributes:
        return
    if equal and r.maybe():
        if d.version >= 18:
            d.attribute(num_outputs=len(parts))
    elif d.version >= 13:
        d.integers(parts)
    else:
        d.attribute(split=parts)


@generator("Slice", weight=3)
def slice_(r, d):
    array = data(r, d, 1)
    axes = r.axes(array.ndim, 1)
    starts = [r.choice([0, 1, 2, -1, -2, -100, 100, r.randint(-9, 9)]) for _ in axes]
    ends = [r.choice([1, 2, 5, -1, 2**31 - 1, 2**63 - 1, -2**63, r.randint(-9, 9)]) for _ in axes]
    if d.version < 10:
        return d.attribute(starts=starts, ends=ends, axes=[axis % array.ndim for axis in axes])
    dtype = r.choice(["int64", "int64", "int32"])
    clamp = (lambda v: v) if dtype == "int64" else (lambda v: max(-2**31, min(2**31 - 1, v)))
    d.integers(starts, dtype)
    d.integers([clamp(end) for end in ends], dtype)
    steps = [r.choice([1, 1, 2, 3, -1, -2, 100, -100]) for _ in axes]
    if r.maybe(0.8):
        d.integers(axes, dtype)
    elif len(axes) != array.ndim:
        d.integers(axes, dtype)
    else:
        d.input(None)
    if r.maybe(0.7):
        d.integers(steps, dtype)
    return None


@generator("Expand")
def expand(r, d):
    a, b = r.broadcast_shapes(2)
    d.input(r.array(d.dtype(only=ANY), a))
    d.integers(b)


@generator("Tile")
def tile(r, d):
    array = data(r, d, 1, 4)
    d.integers([r.choice([0, 1, 1, 2, 3]) for _ in array.shape])


@generator("Pad", weight=2)
def pad(r, d):
    mode = r.choice(["constant", "constant", "reflect", "edge", *(["wrap"] if d.version >= 19 else [])])
    dtype = d.dtype(only=ANY)
    shape = r.shape(1, 4, zero=0 if mode != "constant" else 0.06)
    low = -1 if mode == "constant" else 0
    most = [min(3, dim - 1) if mode == "reflect" else 3 if mode != "wrap" else dim for dim in shape]
    axes = list(range(len(shape)))
    if d.version >= 18 and r.maybe(0.4):
        axes = r.axes(len(shape), 1)
    begin = [r.randint(min(low, most[axis]), most[axis]) if shape[axis] else r.randint(0, 2) for axis in axes]
    end = [r.randint(0, most[axis]) if shape[axis] else r.randint(0, 2) for axis in axes]
    d.maybe_attribute(0.3, mode=mode) if mode == "constant" else d.attribute(mode=mode)
    d.input(r.array(dtype, shape))
    if d.version < 11:
        d.attribute(pads=begin + end)
        return d.maybe_attribute(value=1.5)
    d.integers(begin + end)
    d.optional(r.array(dtype, []), 0.5)
    if d.version >= 18 and (len(axes) != len(shape) or axes != list(range(len(shape)))):
        d.integers(axes, r.choice(["int64", "int32"]))
    return None


@generator("Shape Size")
def shape_of(r, d):
    data(r, d)
    if d.op == "Shape" and d.version >= 15:
        d.maybe_attribute(0.5, start=r.randint(-6, 6), end=r.randint(-6, 6))


@generator("ConstantOfShape")
def constant_of_shape(r, d):
    d.integers(r.shape())
    if r.maybe(0.7):
        d.attribute(value=r.array(d.dtype("T2", only=ANY[:5]), [1]))


@generator("Constant")
def constant(r, d):
    choice = r.choice(["value", "value", *(["value_float", "value_ints", "value_floats"] if d.version >= 12 else [])])
    made = {"value": lambda: r.array(r.choice(ANY[:6]), r.shape()), "value_float": lambda: 1.5,
            "value_ints": lambda: [1, 2, 3], "value_floats": lambda: [0.5, 2.0]}
    d.attribute(**{choice: made[choice]()})


@generator("Range")
def range_(r, d):
    dtype = d.dtype(only=("float32", "float64", "int16", "int32", "int64"))
    step = r.choice([1, 2, 3, -1, -2])
    for value in (r.randint(-5, 5), r.randint(-5, 9), step):
        d.integers(value, dtype)
    d.near(4, terms=9, scale=9)


@generator("EyeLike")
def eye_like(r, d):
    d.input(r.array(d.dtype("T1", only=ANY[:5]), r.shape(2, 2)))
    d.maybe_attribute(k=r.randint(-4, 4), dtype=r.choice([1, 6, 7, 11]))


@generator("ReverseSequence")
def reverse_sequence(r, d):
    shape = r.shape(2, 4, zero=0)
    batch = r.randint(0, 1)
    d.input(r.array(d.dtype(only=ANY), shape))
    d.input(r.integers([shape[batch]], 1, shape[1 - batch]))
    d.attribute(batch_axis=batch, time_axis=1 - batch)


@generator("DepthToSpace SpaceToDepth")
def depth_to_space(r, d):
    block = r.randint(1, 3)
    n, c, h, w = r.dim(), r.randint(1, 3), r.randint(1, 3), r.randint(1, 3)
    shape = [n, c * block**2, h, w] if d.op == "DepthToSpace" else [n, c, h * block, w * block]
    d.input(r.array(d.dtype(only=("float32", "float64", "float16", "uint8")), shape))
    d.attribute(blocksize=block)
    if d.op == "DepthToSpace" and d.version >= 11:
        d.maybe_attribute(mode=r.choice(["DCR", "CRD"]))


@generator("CenterCropPad")
def center_crop_pad(r, d):
    array = data(r, d, 1, 4, zero=0)
    axes = r.axes(array.ndim, 1)
    if len(axes) == array.ndim and r.maybe():
        axes = list(range(array.ndim))
    else:
        d.attribute(axes=axes)
    d.integers([r.choice([1, 2, 3, 6, 9]) for _ in axes])


@generator("Col2Im")
def col2im(r, d):
    rank = r.choice([1, 2, 2, 3])
    block = [r.randint(1, 3) for _ in range(rank)]
    dilations = [r.randint(1, 2) for _ in range(rank)]
    strides = [r.randint(1, 2) for _ in range(rank)]
    pads = [r.randint(0, 1) for _ in range(2 * rank)]
    image = [r.randint((k - 1) * dil + 1, 7) for k, dil in zip(block, dilations)]
    blocks = [(image[i] + pads[i] + pads[rank + i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
              for i in range(rank)]
    n, c = r.choice([1, 2]), r.choice([1, 2, 3])
    d.input(r.array(d.dtype(only=("float32", "float64")), [n, c * math.prod(block), math.prod(blocks)]))
    d.integers(image)
    d.integers(block)
    d.attribute(dilations=dilations, strides=strides, pads=pads)
    d.near(4, terms=9, scale=4)



