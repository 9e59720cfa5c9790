"""Decoding and encoding of every element type against numpy, ml_dtypes and exact arithmetic.

Decoding: every bit pattern of the types of at most 16 bits. Encoding: every number of the type, every halfway point and
its neighbours, random doubles, against an exact oracle that picks the nearest of the decoded numbers; and against
ml_dtypes where both have the same rule. ml_dtypes does not saturate: numbers beyond the range become NaN in the
float8 types without infinity, NaN becomes zero in float6 and float4, and zero becomes NaN in float8e8m0; below 2^-126
its float8e8m0 is not the nearest one. What we do there is written down in `BEYOND` and tested by hand.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np
from tensor_tool import Tally, Tool, pack, seeded, unpack

RANDOM_VALUES = 20000

# our name: numpy's type, bits of one element
SMALL_FLOATS = {
    "float16": (np.float16, 16),
    "bfloat16": (ml_dtypes.bfloat16, 16),
    "float8e4m3fn": (ml_dtypes.float8_e4m3fn, 8),
    "float8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8),
    "float8e5m2": (ml_dtypes.float8_e5m2, 8),
    "float8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8),
    "float6e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "float6e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "float4e2m1": (ml_dtypes.float4_e2m1fn, 4),
}
SMALL_INTS = {
    "int4": (ml_dtypes.int4, 4),
    "uint4": (ml_dtypes.uint4, 4),
    "int2": (ml_dtypes.int2, 2),
    "uint2": (ml_dtypes.uint2, 2),
}
PLAIN = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]

# codes of: a number beyond the range, infinity, NaN, minus a number beyond the range, minus zero, a tiny number
BEYOND = {
    "float16": (0x7C00, 0x7C00, 0x7E00, 0xFC00, 0x8000, 0),
    "bfloat16": (0x7F80, 0x7F80, 0x7FC0, 0xFF80, 0x8000, 0),
    "float8e4m3fn": (0x7E, 0x7E, 0x7F, 0xFE, 0x80, 0),
    "float8e4m3fnuz": (0x7F, 0x7F, 0x80, 0xFF, 0, 0),
    "float8e5m2": (0x7C, 0x7C, 0x7E, 0xFC, 0x80, 0),
    "float8e5m2fnuz": (0x7F, 0x7F, 0x80, 0xFF, 0, 0),
    "float6e2m3": (0x1F, 0x1F, 0x1F, 0x3F, 0x20, 0),
    "float6e3m2": (0x1F, 0x1F, 0x1F, 0x3F, 0x20, 0),
    "float4e2m1": (0x7, 0x7, 0x7, 0xF, 0x8, 0),
    "float8e8m0": (254, 255, 255, 255, 0, 0),
}


def same_numbers(a, b):
    """Bit for bit, but any NaN is like any other."""
    return (a.view(np.uint64) == b.view(np.uint64)) | (np.isnan(a) & np.isnan(b))


def all_values(dtype, bits):
    codes = np.arange(2**bits)
    if dtype == np.float16 or dtype == ml_dtypes.bfloat16:
        array = codes.astype(np.uint16).view(dtype)
    else:
        array = codes.astype(np.uint8).view(dtype)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def code_of(array):
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8).astype(np.uint32)


def check_decoding(tool, tally):
    types = {**SMALL_FLOATS, **SMALL_INTS, "float8e8m0": (ml_dtypes.float8_e8m0fnu, 8)}
    for name, (dtype, bits) in types.items():
        expected = all_values(dtype, bits)
        seen = tool.decode(name, pack(np.arange(2**bits), bits), 2**bits)
        for code in np.flatnonzero(~same_numbers(seen, expected)):
            tally.check(False, f"{name} {code:#x} decoded as {seen[code]}, expected {expected[code]}")
        tally.passed += int(same_numbers(seen, expected).sum())


def positive_numbers(name, bits):
    """The finite numbers of the type by code, decoded by the other side."""
    values = all_values(SMALL_FLOATS[name][0], bits)[: 2 ** (bits - 1)]
    return values[np.isfinite(values)]


def nearest_codes(numbers, values):
    """Exact: halfway points of two narrow numbers are doubles."""
    upper = np.searchsorted(numbers, values)
    lower = np.maximum(upper - 1, 0)
    upper = np.minimum(upper, len(numbers) - 1)
    middle = (numbers[lower] + numbers[upper]) / 2
    to_upper = (values > middle) | ((values == middle) & (upper % 2 == 0))
    return np.where(to_upper, upper, lower)


def interesting_values(rng, numbers):
    middles = (numbers[1:] + numbers[:-1]) / 2
    exact = np.concatenate([numbers, middles])
    beside = np.concatenate([np.nextafter(exact, np.inf), np.nextafter(exact, 0.0)])
    logarithms = rng.uniform(np.log2(numbers[1]) - 3, np.log2(numbers[-1]), RANDOM_VALUES)
    values = np.concatenate([exact, beside, np.exp2(logarithms)])
    return values[(values >= 0) & (values <= numbers[-1])]


def check_encoding(tool, tally, rng):
    for name, (_, bits) in SMALL_FLOATS.items():
        numbers = positive_numbers(name, bits)
        values = interesting_values(rng, numbers)
        for sign in (1.0, -1.0):
            seen = unpack(tool.encode(name, sign * values), bits, len(values))
            codes = nearest_codes(numbers, values)
            has_sign = (sign < 0) & ((codes != 0) | (not name.endswith("fnuz")))
            expected = codes + has_sign * 2 ** (bits - 1)
            for at in np.flatnonzero(seen != expected)[:5]:
                tally.check(False, f"{name}: {sign * values[at].hex()} is {seen[at]:#x}, expected {expected[at]:#x}")
            tally.passed += int((seen == expected).sum())


def check_against_ml_dtypes(tool, tally, rng):
    """With float32 values, because ml_dtypes rounds a double to float32 first."""
    for name, (dtype, bits) in SMALL_FLOATS.items():
        numbers = positive_numbers(name, bits)
        values = interesting_values(rng, numbers).astype(np.float32)
        values = np.concatenate([values, -values])
        values = values[np.abs(values) <= numbers[-1]]
        seen = unpack(tool.encode(name, values.astype(np.float64)), bits, len(values))
        expected = code_of(values.astype(dtype))
        for at in np.flatnonzero(seen != expected)[:5]:
            tally.check(False, f"{name}: {values[at]} is {seen[at]:#x}, ml_dtypes says {expected[at]:#x}")
        tally.passed += int((seen == expected).sum())


def check_e8m0(tool, tally, rng):
    values = np.exp2(rng.uniform(-126, 127, RANDOM_VALUES)).astype(np.float32)
    ties = np.ldexp(np.float32(1.5), np.arange(-126, 127)).astype(np.float32)
    values = np.concatenate([values, ties, np.nextafter(ties, np.float32(0)), [np.float32(-1), np.float32(np.nan)]])
    seen = unpack(tool.encode("float8e8m0", values.astype(np.float64)), 8, len(values))
    expected = code_of(values.astype(ml_dtypes.float8_e8m0fnu))
    for at in np.flatnonzero(seen != expected)[:5]:
        tally.check(False, f"float8e8m0: {values[at]} is {seen[at]}, ml_dtypes says {expected[at]}")
    tally.passed += int((seen == expected).sum())


def check_beyond(tool, tally):
    """The rule of casts.h where types have no room for a value."""
    values = np.array([1e300, np.inf, np.nan, -1e300, -0.0, 1e-300])
    for name, expected in BEYOND.items():
        bits = SMALL_FLOATS.get(name, (None, 8))[1]
        seen = tuple(int(code) for code in unpack(tool.encode(name, values), bits, len(values)))
        tally.check(seen == expected, f"{name}: {values} are {seen}, expected {expected}")


def check_first_beyond(tool, tally):
    """The first double that no longer rounds to the largest number, and the last one that does."""
    for name, (_, bits) in SMALL_FLOATS.items():
        largest, before = positive_numbers(name, bits)[[-1, -2]]
        limit = largest + (largest - before) / 2
        expected = [BEYOND[name][0], len(positive_numbers(name, bits)) - 1]
        seen = list(unpack(tool.encode(name, np.array([limit, np.nextafter(limit, 0)])), bits, 2))
        tally.check(seen == expected, f"{name}: around {limit} are {seen}, expected {expected}")


def check_round_trips(tool, tally):
    """Encoding what was decoded gives the code back, NaN included where there is one code for it."""
    for name, (_, bits) in {**SMALL_FLOATS, "float8e8m0": (None, 8)}.items():
        codes = np.arange(2**bits)
        values = tool.decode(name, pack(codes, bits), 2**bits)
        back = unpack(tool.encode(name, values), bits, 2**bits)
        same = (back == codes) | np.isnan(values)
        tally.check(same.all(), f"{name}: codes {codes[~same][:5]} come back as {back[~same][:5]}")


def check_plain_types(tool, tally, rng):
    for name in PLAIN:
        dtype = np.dtype(name)
        array = np.frombuffer(rng.bytes(1000 * dtype.itemsize), dtype)
        with np.errstate(invalid="ignore"):
            expected = array.astype(np.float64)
        seen = tool.decode(name, array.tobytes(), len(array))
        tally.check(same_numbers(seen, expected).all(), f"{name} as double")
        if dtype.kind == "f":
            continue
        for carrier in (np.int64, np.uint64):
            seen = tool.decode(name, array.tobytes(), len(array), carrier)
            tally.check((seen == array.astype(carrier)).all(), f"{name} as {carrier.__name__}")
            values = np.frombuffer(rng.bytes(8000), carrier)
            packed = tool.encode(name, values)
            tally.check(packed == values.astype(dtype).tobytes(), f"{name} from {carrier.__name__}")
        limits = np.iinfo(dtype)
        values = np.trunc(rng.uniform(float(limits.min) / 2, float(limits.max) / 2, 1000)) + 0.75
        tally.check(tool.encode(name, values) == values.astype(dtype).tobytes(), f"{name} from double")


def check_float32(tool, tally, rng):
    values = np.frombuffer(rng.bytes(8 * RANDOM_VALUES), np.float64)
    values = np.concatenate([values, rng.standard_normal(RANDOM_VALUES), [1e39, 3.4028235677973366e38, 1e-45, 7e-46]])
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(np.float32)
    seen = np.frombuffer(tool.encode("float32", values), np.float32)
    same = (seen.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(seen) & np.isnan(expected))
    tally.check(same.all(), f"float32 of {values[~same][:3]}")


def nearest_float(value, significant_bits):
    """The integer rounded to nearest even, exactly."""
    size = max(abs(value).bit_length() - significant_bits, 0)
    return round(Fraction(value, 2**size)) * 2**size


def check_integers_as_floats(tool, tally, rng):
    """Rounded once: halfway points plus one, which are lost if a double comes in between."""
    for name, bits in (("bfloat16", 8), ("float32", 24), ("float64", 53), ("float8e5m2", 3), ("float16", 11)):
        top = 15 if name in ("float16", "float8e5m2") else 62
        values = []
        for _ in range(300):
            length = int(rng.integers(bits + 1, max(top, bits + 2)))
            middle = ((int(rng.integers(2 ** (bits - 1), 2**bits - 1)) << 1) | 1) << (length - bits - 1)
            values += [sign * (middle + beside) for beside in (-1, 0, 1) for sign in (1, -1)]
        packed = tool.encode(name, np.array(values, np.int64))
        seen = tool.decode(name, packed, len(values))
        for value, number in zip(values, seen):
            tally.check(int(number) == nearest_float(value, bits), lambda: f"{name} of {value} is {number}")


def main():
    rng = np.random.default_rng(seeded())
    tool, tally = Tool(), Tally()
    check_decoding(tool, tally)
    check_encoding(tool, tally, rng)
    check_against_ml_dtypes(tool, tally, rng)
    check_e8m0(tool, tally, rng)
    check_beyond(tool, tally)
    check_first_beyond(tool, tally)
    check_round_trips(tool, tally)
    check_plain_types(tool, tally, rng)
    check_float32(tool, tally, rng)
    check_integers_as_floats(tool, tally, rng)
    tally.finish()


main()
