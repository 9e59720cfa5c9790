"""array_text against str() of numpy arrays of random dtypes, shapes and magnitudes."""

import numpy as np
from tensor_tool import Tally, Tool, seeded

CASES = 6000
FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEXES = ["complex64", "complex128"]


def random_shape(rng):
    rank = rng.choice([0, 1, 1, 1, 2, 2, 3, 4, 5])
    small = rng.integers(0 if rng.random() < 0.02 else 1, 9, rank)
    if rank and rng.random() < 0.3:
        small[rng.integers(rank)] = rng.integers(1, 80)
    return tuple(int(dim) for dim in small)


def random_bits(rng, dtype, count):
    return np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype)


def powers_of_two(rng, count):
    return np.ldexp(1.0, rng.integers(*rng.choice([[-24, 16], [-140, 120], [-1070, 1020]]), count))


def random_doubles(rng, count):
    kind = rng.integers(8)
    if kind == 0:
        return rng.standard_normal(count)
    if kind == 1:
        return rng.integers(-20, 20, count) / rng.choice([1, 2, 4, 10, 1000])
    if kind == 2:
        return rng.standard_normal(count) * 10.0 ** rng.integers(-12, 12)
    if kind == 3:
        return 10.0 ** rng.uniform(*rng.choice([[-4, -1], [0, 3], [-2, 8], [-300, 300]]), count)
    if kind == 4:
        return powers_of_two(rng, count)
    if kind == 5:
        return np.round(rng.uniform(-1000, 1000, count), rng.integers(0, 10))
    if kind == 6:
        return rng.choice([1e-4, 9.9999e-5, 99999999.0, 1e8, 999.0, 1000.0, 1001.0, 1e6, 999999.0, 1.0, 0.0], count)
    return rng.choice([0.0, 1.0, -1.0, 0.5], count)


def random_floats(rng, dtype, count):
    if rng.random() < 0.1:
        return random_bits(rng, dtype, count)
    with np.errstate(over="ignore"):
        values = random_doubles(rng, count).astype(dtype)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        if rng.random() < 0.15:
            values[rng.random(count) < rng.choice([0.1, 0.5, 1.0])] = special
    return values


def random_array(rng, dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "bool":
        values = rng.random(count) < rng.random()
    elif dtype in INTS:
        values = random_bits(rng, dtype, count) >> np.dtype(dtype).type(rng.integers(np.dtype(dtype).itemsize * 8))
    elif dtype in COMPLEXES:
        part = "float32" if dtype == "complex64" else "float64"
        values = np.empty(count, dtype)
        values.real, values.imag = random_floats(rng, part, count), random_floats(rng, part, count)
    else:
        values = random_floats(rng, dtype, count)
    return values.reshape(shape)


def expected_text(array, threshold):
    if array.ndim == 0:
        return str(array)
    return np.array2string(array, threshold=threshold)


def check_numbers(tool, tally, rng):
    dtype = str(rng.choice(FLOATS * 4 + INTS + COMPLEXES * 2 + ["bool"]))
    array = random_array(rng, dtype, random_shape(rng))
    threshold = int(rng.choice([0, 10, 100, 1000]))
    expected = expected_text(array, threshold)
    seen = tool.text(dtype, array.shape, array.tobytes(), threshold)
    tally.check(seen == expected, lambda: f"{dtype}{array.shape} threshold {threshold}\n{seen}\nexpected\n{expected}")


def check_strings(tool, tally, rng):
    alphabet = list("ab '\"\\\n\té€漢") + ["long word "]
    shape = random_shape(rng)
    count = int(np.prod(shape, dtype=np.int64))
    strings = ["".join(rng.choice(alphabet, rng.integers(0, 12))) for _ in range(count)]
    if len(shape) == 0:
        strings = ["plain text"]
    array = np.array(strings, object).reshape(shape)
    expected = expected_text(array, 100)
    seen = tool.strings_text(shape, strings, 100)
    tally.check(seen == expected, lambda: f"strings{shape}\n{seen}\nexpected\n{expected}")


def check_all_halves(tool, tally):
    """Every finite float16 as a scalar of its own, which shows the shortest digits."""
    for code in range(0x7C00):
        value = np.array(code, np.uint16).view(np.float16)
        seen = tool.text("float16", (), value.tobytes())
        tally.check(seen == str(value), lambda: f"float16 {code:#06x}: {seen}, expected {value}")


def check_powers_of_two(tool, tally):
    """Their neighbours are not equally far, which decides last digits."""
    for dtype, lowest, highest in (("float32", -149, 128), ("float64", -1074, 1024)):
        for exponent in range(lowest, highest):
            array = np.array([np.ldexp(1.0, exponent), 1.0], dtype)
            expected = str(array) + " " + str(array[0])
            seen = tool.text(dtype, (2,), array.tobytes()) + " " + tool.text(dtype, (), array[:1].tobytes())
            tally.check(seen == expected, lambda: f"{dtype} 2^{exponent}: {seen}, expected {expected}")


def check_notation_limits(tool, tally, rng):
    """Numbers around those at which the notation changes; numpy compares in the array's own type."""
    for dtype in FLOATS:
        kind = np.dtype(dtype).type
        limits = [kind(limit) for limit in (1e-4, 1e3, 1e6, 1e8) if limit < float(np.finfo(kind).max)]
        pairs = [(limit, limit) for limit in limits]
        for small in rng.uniform(1e-3, 10, 300).astype(kind):
            pairs.append((small, small * kind(1000)))
        for limit, other in pairs:
            beside = [limit, np.nextafter(limit, kind(0)), np.nextafter(limit, kind(np.inf))]
            for value in beside:
                array = np.array([value, other], kind)
                seen = tool.text(dtype, (2,), array.tobytes())
                tally.check(seen == str(array), lambda: f"{dtype}: {seen}, expected {array}")


def check_narrow_types(tool, tally):
    """What numpy does not have is printed as float32, narrow integers as integers."""
    values = np.array([[1.5, -2.0], [0.0, 6.0]], np.float32)
    for dtype in ("bfloat16", "float8e4m3fn", "float8e5m2", "float6e3m2", "float4e2m1"):
        seen = tool.text(dtype, (2, 2), tool.encode(dtype, values.astype(np.float64)))
        tally.check(seen == str(values), lambda: f"{dtype}: {seen}, expected {values}")
    for dtype, numbers in (("int4", [-8, 7, 0]), ("uint4", [15, 0, 1]), ("int2", [-2, 1, 0]), ("uint2", [3, 0, 1])):
        seen = tool.text(dtype, (3,), tool.encode(dtype, np.array(numbers, np.int64)))
        tally.check(seen == str(np.array(numbers)), lambda: f"{dtype}: {seen}, expected {np.array(numbers)}")


def main():
    rng = np.random.default_rng(seeded())
    tool, tally = Tool(), Tally()
    for case in range(CASES):
        (check_strings if case % 12 == 0 else check_numbers)(tool, tally, rng)
    check_all_halves(tool, tally)
    check_powers_of_two(tool, tally)
    check_notation_limits(tool, tally, rng)
    check_narrow_types(tool, tally)
    tally.finish()


main()
