"""What only moves elements, and what chooses them."""

import math

import numpy as np

from . import views
from .registry import draws

ANY = "float32 float16 bfloat16 float64 int32 int64 int8 uint8 bool"


@draws(5, ANY)
def viewed(graph, dtype):
    """Views of views, and copies."""
    x = views.compute(graph, graph.random.tensor(1, 5), dtype, None)
    for _ in range(graph.random.randint(0, 2)):
        shape = graph.shape(x)
        step = graph.random.choice(["turn", "tile", "flat"])
        if step == "turn":
            x = graph.add("Transpose", [x], perm=graph.random.sample(range(len(shape)), len(shape)))
        elif step == "tile" and math.prod(shape) < 100_000:
            x = graph.add("Tile", [x, graph.integers(*(graph.random.choice([1, 1, 2, 3]) for _ in shape))])
        else:
            x = graph.add("Flatten", [x], axis=graph.random.randint(0, len(shape)))
    return x


@draws(2, ANY)
def pad(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    mode = random.choice(["constant", "constant", "edge", "reflect"] + ["wrap"] * (graph.version >= 19))
    pads = [random.choice([0, 0, 1, 2, 9]) for _ in range(2 * len(shape))]
    if mode in ("reflect", "wrap"):
        pads = [min(pads[i], size - 1) for i, size in enumerate(shape * 2)]
    elif mode == "constant" and random.maybe(0.3):
        pads = [-min(pad, (size - 1) // 2) for pad, size in zip(pads, shape * 2)]
    operands = [graph.operand(shape, dtype), graph.integers(*pads)]
    if mode == "constant" and random.maybe():
        operands.append(graph.operand([], dtype))
    return graph.add("Pad", operands, mode=mode)


@draws(2, ANY)
def gather(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.randrange(len(shape))
    rest = math.prod(shape) // shape[axis]
    places = random.sizes(random.randint(0, 2), max(1, 400_000 // rest))
    where = graph.operand(places, random.choice(["int32", "int64"]), random.below(shape[axis], low=-shape[axis]))
    return graph.add("Gather", [graph.operand(shape, dtype), where], axis=axis)


@draws(2, ANY)
def gather_elements(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.randrange(len(shape))
    places = [random.size(size) for size in shape]
    places[axis] = random.size(400_000 // max(1, math.prod(places) // places[axis]))
    where = graph.operand(places, random.choice(["int32", "int64"]), random.below(shape[axis], low=-shape[axis]))
    return graph.add("GatherElements", [graph.operand(shape, dtype), where], axis=axis)


@draws(2, ANY)
def gather_nd(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    batch = random.randint(0, len(shape) - 1) if random.maybe(0.4) else 0
    count = random.randint(1, len(shape) - batch)
    tail = math.prod(shape[batch + count:])
    most = max(1, 400_000 // (tail * math.prod(shape[:batch])))
    places = [*shape[:batch], *random.sizes(random.randint(1, 2), most), count]
    where = graph.operand(places, "int64", random.below(min(shape[batch:batch + count])))
    return graph.add("GatherND", [graph.operand(shape, dtype), where], batch_dims=batch)


@draws(2, "float32 float16 float64 int32 int64")
def scatter_elements(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    axis = random.randrange(len(shape))
    places = [random.size(size) for size in shape]
    reductions = ["none", "none", "add", "mul"] + ["max", "min"] * (graph.version >= 18)
    reduction = random.choice(reductions)
    if reduction == "none":  # each place once
        order = np.argsort(random.normal([*places[:axis], shape[axis], *places[axis + 1:]]), axis=axis)
        where = graph.constant(order.take(range(places[axis]), axis).astype(np.int64))
    else:
        where = graph.operand(places, "int64", random.below(shape[axis], low=-shape[axis]))
    make = None if reduction != "mul" else lambda size: 1 + random.normal(size) * 0.1 if dtype[0] == "f" else \
        random.below(2)(size)
    graph.deepen(places[axis])
    graph.looseness *= 4
    operands = [graph.operand(shape, dtype), where, graph.operand(places, dtype, make)]
    return graph.add("ScatterElements", operands, axis=axis, reduction=reduction)


@draws(2, "float32 float16 float64 int32 int64")
def scatter_nd(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    count = random.randint(1, len(shape))
    cells, tail = math.prod(shape[:count]), shape[count:]
    how_many = random.size(cells)
    flat = np.random.default_rng(random.getrandbits(63)).permutation(cells)[:how_many]
    where = graph.constant(np.stack(np.unravel_index(flat, shape[:count]), axis=-1).astype(np.int64))
    reduction = random.choice(["none", "add", "mul"] + ["max", "min"] * (graph.version >= 18))
    return graph.add("ScatterND", [graph.operand(shape, dtype), where, graph.operand([how_many, *tail], dtype)],
                     reduction=reduction)


@draws(1, "float32 float16 float64 int8 uint8")
def blocks(graph, dtype):
    random, size = graph.random, graph.random.choice([2, 3, 4])
    batch, channels = random.choice([1, 2]), random.size(65)
    height, width = random.sizes(2, 30_000 // channels)
    if random.maybe():
        x = graph.operand([batch, channels * size * size, height, width], dtype)
        return graph.add("DepthToSpace", [x], blocksize=size, mode=random.choice(["DCR", "CRD"]))
    x = graph.operand([batch, channels, height * size, width * size], dtype)
    return graph.add("SpaceToDepth", [x], blocksize=size)


@draws(1, "float32 int64 int32")
def one_hot(graph, dtype):
    random = graph.random
    shape, depth = random.tensor(1, 3, 3000), random.size(100)
    where = graph.operand(shape, "int64", random.below(depth, low=-depth))
    return graph.add("OneHot", [where, graph.constant(depth, "int64"), graph.operand([2], dtype)],
                     axis=random.randint(-1, len(shape)))


@draws(1, "float32 float64 int64")
def triangle(graph, dtype):
    shape = graph.random.tensor(2, 4)
    return graph.add("Trilu", [graph.operand(shape, dtype), graph.constant(graph.random.randint(-9, 9), "int64")],
                     upper=graph.random.randint(0, 1))


@draws(1, "float32 float16 int64")
def reversed_sequences(graph, dtype):
    random, shape = graph.random, graph.random.tensor(2, 4)
    time = random.randint(0, 1)
    lengths = graph.operand([shape[1 - time]], "int64", random.below(shape[time] + 1, low=1))
    return graph.add("ReverseSequence", [graph.operand(shape, dtype), lengths], time_axis=time, batch_axis=1 - time)


@draws(1, "float32 int32 bool")
def nonzero(graph, dtype):
    found = graph.add("NonZero", [graph.operand(graph.random.tensor(1, 4), dtype)])
    graph.add("Cast", [found], to=1)
