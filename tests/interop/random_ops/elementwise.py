"""Generators of operators that work element by element."""

import numpy as np

from .draw import FLOATS, Skip, generator

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
RANGES = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.95, 0.95), "Acosh": (1, 9), "Log": (0.01, 9), "Sqrt": (0, 9),
          "Tan": (-1.4, 1.4), "Reciprocal": (0.1, 9), "Sinh": (-3, 3), "Cosh": (-3, 3)}


@generator("Abs Neg Sign Ceil Floor Round Sqrt Exp Log Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh "
           "Reciprocal Relu Sigmoid Softplus Softsign Tanh Identity Not BitwiseNot Mish HardSwish")
def unary(r, d):
    variable = next(iter(v for v in ("T", "V", "T1") if d.dtypes(v)), "T")
    dtype = "bool" if d.op == "Not" else d.dtype(variable)
    low, high = RANGES.get(d.op, (-4, 4))
    exact = d.op in ("Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Relu", "Identity", "Sqrt", "Reciprocal")
    d.input(r.array(dtype, r.shape(), low, high, special=exact))
    d.near(1 if exact else 16, terms=0 if exact else 2, scale=1, coarse=d.op == "HardSwish")


@generator("Elu Selu LeakyRelu HardSigmoid Celu ThresholdedRelu Shrink Swish Gelu")
def activation(r, d):
    dtype = d.dtype("T1" if d.op == "LeakyRelu" and not d.dtypes("T") else "T")
    d.input(r.array(dtype, r.shape()))
    names = {"Elu": "alpha", "Selu": "alpha gamma", "LeakyRelu": "alpha", "HardSigmoid": "alpha beta", "Celu": "alpha",
             "ThresholdedRelu": "alpha", "Shrink": "bias lambd", "Swish": "alpha"}
    for name in names.get(d.op, "").split():
        d.maybe_attribute(**{name: round(r.uniform(0.1, 2), 3)})
    if d.op == "Shrink" and dtype not in FLOATS:
        d.attributes = {name: float(r.randint(0, 2)) for name in d.attributes}
    if d.op == "Gelu":
        d.maybe_attribute(approximate=r.choice(["none", "tanh"]))
    d.near(16, terms=4, scale=2, coarse=True)


@generator("Add Sub Mul Div", weight=2)
def arithmetic(r, d):
    dtype = d.dtype()
    a, b = r.broadcast_shapes(2)
    d.input(r.array(dtype, a, special=True))
    low = 1 if d.op == "Div" and dtype not in FLOATS else -4
    divisor = r.array(dtype, b, low, special=True)
    if d.op == "Div" and dtype not in FLOATS:
        divisor = np.maximum(divisor, 1)
    d.input(divisor)
    d.near(1)


@generator("Pow")
def power(r, d):
    base, exponent = d.dtype("T"), d.dtype("T1" if d.dtypes("T1") else "T")
    if not d.dtypes("T1"):
        exponent = base
    a, b = r.broadcast_shapes(2)
    d.input(r.array(base, a, 0.25 if exponent in FLOATS else 1, 4))
    d.input(r.array(exponent, b, 0, 3))
    d.near(16)


@generator("Mod")
def modulo(r, d):
    dtype = d.dtype()
    a, b = r.broadcast_shapes(2)
    d.input(r.array(dtype, a, -9, 9))
    divisor = r.array(dtype, b, 1, 5)
    d.input(-divisor if dtype not in UNSIGNED and r.maybe(0.4) else np.maximum(divisor, 1).astype(divisor.dtype))
    if dtype in FLOATS or r.maybe(0.4):
        d.attribute(fmod=1)
    d.near(1, terms=1, scale=9)


@generator("BitShift BitwiseAnd BitwiseOr BitwiseXor")
def bits(r, d):
    dtype = d.dtype()
    a, b = r.broadcast_shapes(2)
    d.input(r.array(dtype, a, -100, 100))
    d.input(r.array(dtype, b, 0, 7))
    if d.op == "BitShift":
        d.attribute(direction=r.choice(["LEFT", "RIGHT"]))


@generator("And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual")
def comparison(r, d):
    dtype = d.dtype("T")
    a, b = r.broadcast_shapes(2)
    special = dtype in FLOATS
    d.input(np.asarray(r.array(dtype, a, -2, 2, special)))
    d.input(np.asarray(r.array(dtype, b, -2, 2, special)))


@generator("Max Min Mean Sum")
def variadic(r, d):
    dtype = d.dtype()
    for shape in r.broadcast_shapes(r.randint(1, 4)):
        d.input(r.array(dtype, shape, special=d.op in ("Max", "Min")))
    d.near(4, terms=4, scale=4)


@generator("Where")
def where(r, d):
    dtype = d.dtype()
    shapes = r.broadcast_shapes(3)
    d.input(r.array("bool", shapes[0]))
    d.input(r.array(dtype, shapes[1], special=True))
    d.input(r.array(dtype, shapes[2], special=True))


@generator("PRelu")
def prelu(r, d):
    dtype = d.dtype()
    shape = r.shape(1, 4)
    d.input(r.array(dtype, shape))
    d.input(r.array(dtype, r.shrunk(shape)))
    d.near(1)


@generator("Clip")
def clip(r, d):
    dtype = d.dtype()
    d.input(r.array(dtype, r.shape(), special=dtype in FLOATS))
    low, high = sorted(r.uniform(-4, 4) for _ in range(2))
    if d.version < 11:
        return d.maybe_attribute(min=low, max=high)
    if dtype in UNSIGNED:
        low, high = abs(low), abs(low) + 2
    for bound in (low, high):
        d.optional(r.array(dtype, [], bound, bound), 0.7)


@generator("IsInf IsNaN")
def classify(r, d):
    d.input(r.array(d.dtype("T1"), r.shape(), special=True))
    if d.op == "IsInf":
        d.maybe_attribute(detect_negative=r.randint(0, 1), detect_positive=r.randint(0, 1))


CASTS = ("bool", "string", *FLOATS, *INTS, "float8e4m3fn", "float8e5m2", "float8e4m3fnuz", "float8e5m2fnuz", "int4",
         "uint4", "int2", "uint2")


def castable(r, dtype, shape):
    if dtype == "string":
        words = [r.choice(["1", "-2.5", "3e2", "0", "NaN", "-inf", "7"]) for _ in range(int(np.prod(shape)))]
        return np.array([*words, None], object)[:-1].reshape(tuple(shape))
    bound = {"int2": 1, "uint2": 3, "int4": 7, "uint4": 15}.get(dtype, 100)
    return r.array(dtype, shape, -bound, bound, special=r.maybe(0.3))


@generator("Cast CastLike", weight=4)
def cast(r, d):
    import onnx
    names = [name for name in d.dtypes("T1") if name in CASTS]
    source, target = r.choice(names), r.choice([name for name in d.dtypes("T2") if name in CASTS])
    if source == "string" and target.startswith(("bool", "int", "uint", "float8")):
        target = r.choice(["float32", "float64", "int64"])
    array = castable(r, source, r.shape())
    integral = target.startswith(("int", "uint", "bool"))
    if integral and array.dtype != object and source not in INTS + ("bool",):  # beyond the range: not defined
        wide = array.astype(np.float64)
        limit = {"int2": 1, "uint2": 3, "int4": 7, "uint4": 15, "int8": 127}.get(target, 200)
        low = 0 if target[0] == "u" else -limit
        array = np.clip(np.nan_to_num(wide, nan=1, posinf=2, neginf=0), low, limit).astype(array.dtype)
    if source == "string" and target == "int64":
        array = np.array([*["12", "-7", "0"] * array.size, None], object)[:array.size].reshape(array.shape)
    d.input(array)
    if d.op == "Cast":
        word = {"float32": "float", "float64": "double"}.get(target, target)
        d.attribute(to=onnx.TensorProto.DataType.Value(word.upper()))
    else:
        d.input(castable(r, target, r.shape()))
    if target.startswith("float8") and r.maybe(0.4):
        d.attribute(saturate=r.randint(0, 1))
    d.near(1)


@generator("BitCast")
def bit_cast(r, d):
    import onnx
    widths = {"float32": ["int32", "uint32"], "float64": ["int64", "uint64"], "float16": ["int16", "uint16"],
              "int8": ["uint8"], "int32": ["float32", "uint32"], "int64": ["float64"]}
    source = r.choice(sorted(widths))
    target = {"float32": "float", "float64": "double"}.get(t := r.choice(widths[source]), t)
    if source not in d.dtypes("T1"):
        raise Skip(source)
    d.input(r.array(source, r.shape(), -1000, 1000))
    d.attribute(to=onnx.TensorProto.DataType.Value(target.upper()))
    d.near(0)


@generator("Dropout")
def dropout(r, d):
    dtype = d.dtype()
    d.input(r.array(dtype, r.shape()))
    d.outputs = r.randint(1, 2)
    if d.version < 12:
        return d.maybe_attribute(ratio=0.5)
    d.optional(r.array(d.dtype("T1", only=FLOATS), [], 0.1, 0.9), 0.5)
    d.optional(np.array(False), 0.5)
    d.maybe_attribute(seed=7)


@generator("Bernoulli RandomNormalLike RandomUniformLike RandomNormal RandomUniform Multinomial")
def random_values(r, d):
    d.ignored.add(0)
    dtype = d.dtype("T1" if d.op != "RandomNormal" and d.op != "RandomUniform" else "T", only=("float32", "float64"))
    number = {"float32": 1, "float64": 11}
    d.maybe_attribute(seed=float(r.randint(0, 9)))
    if d.op in ("RandomNormal", "RandomUniform"):
        d.attribute(shape=r.shape(1))
        return d.maybe_attribute(dtype=number[dtype])
    if d.op == "Multinomial":
        d.input(r.array("float32", [r.choice([1, 2, 3]), r.choice([2, 5])]))
        d.maybe_attribute(sample_size=r.randint(1, 4), dtype=r.choice([6, 7]))
        return None
    d.input(r.array(dtype, r.shape(), 0, 1))
    return d.maybe_attribute(dtype=number[r.choice(sorted(number))])
