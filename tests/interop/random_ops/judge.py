"""Whether two results are the same, and whether what was inferred holds."""

import math
import re

import numpy as np

from .draw import MANTISSA

SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022, "float16": 2.0**-14, "bfloat16": 2.0**-126}


def difference(draw, ours, theirs):
    """Empty if equal, by kind: sequences and maps item by item."""
    if theirs is None or ours is None:
        return "" if theirs is ours else f"ours {describe(ours)}, ORT {describe(theirs)}"
    if isinstance(theirs, list) or isinstance(ours, list):
        if not isinstance(theirs, list) or not isinstance(ours, list) or len(ours) != len(theirs):
            return f"ours {describe(ours)}, ORT {describe(theirs)}"
        return next((found for a, b in zip(ours, theirs) if (found := difference(draw, a, b))), "")
    if isinstance(theirs, dict):
        if not isinstance(ours, dict) or sorted(ours) != sorted(theirs):
            return f"keys: ours {ours}, ORT {theirs}"
        return next((found for key in theirs if (found := difference(draw, np.float64(ours[key]), np.float64(
            theirs[key])))), "")
    return array_difference(draw, np.asarray(ours), np.asarray(theirs))


def array_difference(draw, ours, theirs):
    if theirs.dtype.kind in "US":
        theirs = theirs.astype(object)
    if ours.dtype.kind in "US":
        ours = ours.astype(object)
    if ours.dtype != theirs.dtype:
        return f"dtype: ours {ours.dtype}, ORT {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shape: ours {list(ours.shape)}, ORT {list(theirs.shape)}"
    wrong = ~is_near(draw, ours, theirs)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (f"{int(wrong.sum())} of {wrong.size} elements of {ours.dtype}{list(ours.shape)}, first at {list(at)}: "
            f"ours {ours[at]!r}, ORT {theirs[at]!r}")


def is_near(draw, ours, theirs):
    """See Draw.near."""
    name = ours.dtype.name
    if name in MANTISSA:
        a, b = ours.astype(np.float64), theirs.astype(np.float64)
        computed = 2.0**-(min(MANTISSA[name], MANTISSA["float32"]) if draw.coarse else max(MANTISSA[name], 23))
        allowed = computed * (draw.ulps * np.abs(b) + draw.terms * draw.scale) + SMALLEST[name]
        if MANTISSA[name] < MANTISSA["float32"]:
            allowed += 2.0**-MANTISSA[name] * np.abs(b)  # both round once more, perhaps to neighbours
        with np.errstate(invalid="ignore"):
            return (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
    if draw.steps and ours.dtype.kind in "iu":
        return np.abs(ours.astype(np.int64) - theirs.astype(np.int64)) <= draw.steps
    if ours.dtype.kind == "V" or name.startswith(("float", "int4", "uint4")):
        a, b = ours.astype(np.float32), theirs.astype(np.float32)
        return (a == b) | (np.isnan(a) & np.isnan(b))
    return ours == theirs


def describe(value):
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    if value is None:
        return "nothing"
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else f"{value}"


FUNCTIONS = {"floor": math.floor, "min": min, "max": max}
NUMPY_NAMES = {"boolean": "bool", "object": "string"}


def value_of(text, sizes):
    """The value of a dim's text (`2*n + 1`, `floor(n/2)`, `max(n, 2)`), or None if it has a size that data decides."""
    if re.search(r"[^\w\s*+\-/(),]", text) or re.search(r"unk__\d", text):
        return None
    try:
        return eval(text.replace("/", "//"), {"__builtins__": {}}, FUNCTIONS | sizes)
    except NameError:
        return None


class DimCount:
    def __init__(self):
        self.known = self.all = 0

    def share(self):
        return f"{self.known / max(self.all, 1):.1%} of {self.all}"


def contradiction(inferred, real, sizes, count):
    """What inference says of a value against the array that ONNX Runtime gave; empty if it holds."""
    if not isinstance(real, np.ndarray):
        return ""
    count.all += real.ndim
    dtype = "string" if real.dtype.kind in "OUS" else real.dtype.name.replace("float8_e", "float8e")
    dtype = {"bool": "bool"}.get(dtype, dtype)
    seen = NUMPY_NAMES.get(inferred["dtype"], inferred["dtype"])
    if seen not in (None, "undefined", dtype):
        return f"inferred {seen}, ORT gives {dtype}"
    dims = inferred["dims"]
    if dims is None:
        return ""
    if len(dims) != real.ndim:
        return f"inferred {dims}, ORT gives {list(real.shape)}"
    for dim, size in zip(dims, real.shape):
        value = dim if isinstance(dim, int) else value_of(dim, sizes)
        if isinstance(dim, str) and re.fullmatch(r"unk__\d+", dim):
            sizes.setdefault(dim, size)  # one name, one size
            if sizes[dim] != size:
                return f"inferred {dims}, ORT gives {list(real.shape)}, and {dim} was {sizes[dim]} elsewhere"
        count.known += value is not None
        if value is not None and value != size:
            return f"inferred {dims}, ORT gives {list(real.shape)} ({sizes})"
    return ""
