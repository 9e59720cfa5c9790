"""A draw: one node with inputs and attributes, and the random choices that generators share."""

import math
import random

import ml_dtypes
import numpy as np

from . import kernels

GENERATORS = {}  # (domain, operator) -> (function, weight)
FLOATS = ("float32", "float64", "float16", "bfloat16")
DIMS = (1, 2, 3, 4, 5, 7)
SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-45, 3e38, -3e38)
FLOAT8 = {"float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2", "float8e4m3fnuz": "float8_e4m3fnuz",
          "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu"}
MANTISSA = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}


class Skip(Exception):
    """A draw that makes no sense, such as an operator version without the needed input."""


def generator(names, domain="", weight=1):
    """Registers a function (Rng, Draw) for the operators named in a text."""
    def register(function):
        for name in names.split():
            GENERATORS[domain, name] = (function, weight)
        return function
    return register


def np_dtype(name):
    if name == "string":
        return np.dtype(object)
    name = FLOAT8.get(name, name)
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


class Rng(random.Random):
    def maybe(self, chance=0.5):
        return self.random() < chance

    def dim(self, zero=0.06):
        return 0 if self.maybe(zero) else self.choice(DIMS)

    def shape(self, least=0, most=5, zero=0.06):
        rank = self.choice([rank for rank in (0, 1, 1, 2, 2, 2, 3, 3, 4, 5) if least <= rank <= most] or [least])
        return [self.dim(zero) for _ in range(rank)]

    def axis(self, rank):
        return self.randrange(-rank, rank) if rank else 0

    def axes(self, rank, least=0):
        count = self.randint(min(least, rank), rank)
        return [axis - rank if self.maybe(0.4) else axis for axis in self.sample(range(rank), count)]

    def broadcast_shapes(self, count, most=4):
        """Shapes that broadcast to one another."""
        whole = self.shape(0, most)
        return [self.shrunk(whole) for _ in range(count)]

    def shrunk(self, whole):
        shape = [1 if self.maybe(0.2) else dim for dim in whole]
        return shape[self.randint(0, len(shape)):] if self.maybe(0.3) else shape

    def numbers(self, count, low, high):
        source = np.random.default_rng(self.getrandbits(63))
        return source.uniform(low, high, count)

    def array(self, dtype, shape, low=-4.0, high=4.0, special=False):
        shape = tuple(shape)
        count = math.prod(shape)
        kind = np_dtype(dtype)
        if dtype == "bool":
            values = self.numbers(count, 0, 1) < 0.5
        elif dtype == "string":
            values = np.array([self.word() for _ in range(count)] + [None], object)[:-1]
        elif dtype.startswith(("int", "uint")):
            values = np.floor(self.numbers(count, 0 if dtype[0] == "u" else low, high + 1)).astype(np.int64)
        else:
            values = self.numbers(count, low, high).astype(np.float32)
            if special and count and self.maybe(0.3):
                with np.errstate(all="ignore"):
                    for _ in range(self.randint(1, 3)):
                        values[self.randrange(count)] = self.choice(SPECIAL)
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(kind).reshape(shape)

    def integers(self, shape, low, high, dtype="int64"):
        """Each from low to high, both included."""
        flat = [self.randint(low, high) for _ in range(math.prod(shape))]
        return np.array(flat, np_dtype(dtype)).reshape(tuple(shape))

    def word(self):
        return "".join(self.choice("ab cAB1.é") for _ in range(self.randint(0, 4)))


class Draw:
    """One node. A generator calls input(), attribute() and near() and may set `outputs`."""

    def __init__(self, domain, op, rng):
        self.domain, self.op, self.rng = domain, op, rng
        ranges = kernels.versions(domain, op)
        if not ranges:
            raise Skip(f"{op} has no kernel")
        self.version = rng.choice(rng.choice([*ranges, ranges[-1]]))
        self.inputs = []       # arrays, lists of arrays (sequences), None (left out), Optional
        self.constants = set()  # inputs that are initializers
        self.attributes = {}
        self.outputs = 1
        self.operands = None  # how many inputs belong to the node; the others are captured by its bodies
        self.companion = 17 if domain else None  # version of ONNX's own operators beside another domain
        self.ulps, self.terms, self.scale, self.steps, self.coarse = 4, 0, 0.0, 0, False
        self.ignored = set()  # outputs whose elements are not defined

    def dtypes(self, variable="T"):
        return kernels.dtypes(self.domain, self.op, self.version, variable)

    def dtype(self, variable="T", only=None, floats_first=0.3):
        names = [name for name in self.dtypes(variable) if only is None or name in only]
        if not names:
            raise Skip(f"{self.op}: no type for {variable}")
        if "float32" in names and self.rng.maybe(floats_first):
            return "float32"
        return self.rng.choice(names)

    def input(self, value, shape_like=False):
        """Shape-like inputs are initializers more often than not."""
        if value is not None and not isinstance(value, list):
            value = np.asarray(value)
            if self.rng.maybe(0.7 if shape_like else 0.05):
                self.constants.add(len(self.inputs))
        self.inputs.append(value)

    def integers(self, values, dtype="int64"):
        self.input(np.array(values, np_dtype(dtype)), shape_like=True)

    def optional(self, value, chance=0.5, shape_like=False):
        """An input that may be left out."""
        self.input(value if self.rng.maybe(chance) else None, shape_like)

    def attribute(self, **values):
        self.attributes.update(values)

    def maybe_attribute(self, chance=0.6, **values):
        for name, value in values.items():
            if self.rng.maybe(chance):
                self.attributes[name] = value

    def near(self, ulps=4, terms=0, scale=0.0, steps=0, coarse=False):
        """How far floats may be off: eps * (ulps * |value| + terms * scale); quantized integers: `steps`.

        eps is that of the output's type, but float32's for shorter types, for which ONNX Runtime computes in float32;
        these may then differ by one unit more. `coarse`: float32's for float64 too, where ONNX Runtime computes with
        float32 constants or attributes.

        ONNX Runtime accumulates in that type where we use double: a sum of `terms` products, none larger than `scale`,
        is off by at most terms * eps * scale / 2 for the rounding of products and as much for that of additions.
        """
        self.ulps, self.terms, self.scale, self.steps, self.coarse = ulps, terms, float(scale), steps, coarse

    def finish(self):
        while self.inputs and self.inputs[-1] is None:
            self.inputs.pop()


def make_draw(domain, op, seed, number):
    rng = Rng(f"{seed}:{domain}:{op}:{number}")
    for _ in range(20):
        try:
            draw = Draw(domain, op, rng)
            GENERATORS[domain, op][0](rng, draw)
        except Skip as reason:
            last = reason
            continue
        draw.finish()
        return draw
    raise last
