"""What compare::measure() finds, beside NumPy in float64 and beside Polygraphy's CompareFunc.simple() on the same arrays."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from polygraphy.comparator import CompareFunc
from polygraphy.comparator.struct import IterationResult
from polygraphy.logger import G_LOGGER

from tensor_tool import seeded

G_LOGGER.module_severity = G_LOGGER.CRITICAL
TOOL = os.path.join(os.environ["ASSAY_BIN_DIR"], "measure_tool")
TYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
STATISTICS = ["elemwise", "max", "mean", "median", "quantile"]
SHAPES = [(), (1,), (7,), (3, 5), (2, 300), (511,), (512,), (40, 50, 33)]


class Tool:
    """One process that answers all cases."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.folder.cleanup()

    def measure(self, a: np.ndarray, b: np.ndarray, *words: float) -> dict[str, float]:
        paths = [os.path.join(self.folder.name, side) for side in "ab"]
        for path, array in zip(paths, (a, b)):
            pathlib.Path(path).write_bytes(np.ascontiguousarray(array).tobytes())
        dims = ",".join(map(str, a.shape)) or "-"
        print(a.dtype.name, paths[0], b.dtype.name, paths[1], dims, *map(repr, words), file=self.process.stdin, flush=True)
        found = {}
        while (line := self.process.stdout.readline()) != "\n":
            name, value = line.split()  # fails when the process has ended
            found[name] = float.fromhex(value)
        return found


def whole_differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Modulo 2^64 where that is exact, else in Python's integers."""
    if {a.dtype.name, b.dtype.name} == {"int64", "uint64"}:
        return np.abs(np.array(a.astype(object) - b.astype(object), dtype=object, ndmin=1)).reshape(a.shape)
    x, y = (side if side.dtype == np.uint64 else side.astype(np.int64).view(np.uint64) for side in (a, b))
    return np.where(a > b, x - y, y - x)


def differences(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In float64; those of integers are exact before."""
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        absolute = whole_differences(a, b).astype(np.float64)
        zero = 0.0
    else:
        absolute = np.abs(a.astype(np.float64) - b.astype(np.float64))
        zero = 2.220446049250313e-16 if b.dtype.kind == "f" else 0.0
    reference = np.abs(b.astype(np.float64))
    reference = np.where(reference == 0, zero, reference)
    return absolute, np.where(absolute == 0, 0, absolute / reference)


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool = Tool()
        cls.addClassCleanup(cls.tool.close)

    def setUp(self):
        self.random = np.random.default_rng(seeded())
        np.seterr(all="ignore")

    def array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        kind = np.dtype(dtype).kind
        if kind == "f":
            return np.asarray(self.random.standard_normal(shape) * 3).astype(dtype)
        if kind == "b":
            return np.asarray(self.random.integers(0, 2, shape)).astype(dtype)
        limits = np.iinfo(dtype)
        return np.asarray(self.random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True))

    def near(self, got: float, expected: float, what: str, scale: float = 0.0):
        same = got == expected or (np.isnan(got) and np.isnan(expected))
        self.assertTrue(same or abs(got - expected) <= 1e-12 * max(abs(expected), scale), f"{what}: {got} {expected}")

    def check_stats(self, found: dict[str, float], name: str, x: np.ndarray):
        x = x.astype(np.float64)
        scale = float(np.abs(x).mean())
        self.near(found[f"{name}.mean"], x.mean(), f"{name}.mean", scale)
        self.near(found[f"{name}.variance"], x.var(), f"{name}.variance", scale**2)
        self.near(found[f"{name}.mean_magnitude"], scale, f"{name}.mean_magnitude")
        for key, value in (("least", x.min()), ("greatest", x.max()), ("least_at", x.argmin()), ("greatest_at", x.argmax())):
            self.assertTrue(found[f"{name}.{key}"] == value or np.isnan(value), f"{name}.{key}")
        for key, expected in zip(("median", "p90", "p95", "p99"), np.percentile(x, [50, 90, 95, 99])):
            self.near(found[f"{name}.{key}"], expected, f"{name}.{key}")

    def check_histogram(self, found: dict[str, float], name: str, x: np.ndarray, span: tuple[float, float]):
        bins = [found[f"{name}.bin{i}"] for i in range(10) if f"{name}.bin{i}" in found]
        try:
            counts = np.histogram(x.astype(np.float64), bins=10, range=span)[0]
        except ValueError:  # NumPy cannot divide so small a range
            counts = []
        self.assertEqual(bins, list(counts))

    def test_numpy(self):
        for dtype_a in TYPES:
            for dtype_b in TYPES:
                for shape in SHAPES:
                    a, b = self.array(dtype_a, shape), self.array(dtype_b, shape)
                    with self.subTest(a=dtype_a, b=dtype_b, shape=shape):
                        self.check_pair(a, b)

    def check_pair(self, a: np.ndarray, b: np.ndarray):
        found = self.tool.measure(a, b, 0.5, 0.25, 0.75)
        absolute, relative = differences(a, b)
        for name, x in (("a", a), ("b", b), ("absolute", absolute)):
            self.check_stats(found, name, x)
        if np.isfinite(relative).all():
            self.check_stats(found, "relative", relative)
            self.near(found["quantile_relative"], np.quantile(relative, 0.75), "quantile_relative")
            self.check_histogram(found, "relative", relative, (relative.min(), relative.max()))
        self.near(found["quantile_absolute"], np.quantile(absolute, 0.75), "quantile_absolute")
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        self.check_histogram(found, "a", a, (min(wide_a.min(), wide_b.min()), max(wide_a.max(), wide_b.max())))
        self.assertEqual(found["failed_count"], np.sum(~(absolute <= 0.5) & ~(relative <= 0.25)))
        self.near(found["l2"], np.sqrt(np.sum(absolute**2)), "l2")
        norms = np.sqrt(np.sum(wide_a**2)) * np.sqrt(np.sum(wide_b**2))
        if norms > 0:
            self.assertAlmostEqual(found["cosine"], np.sum(wide_a * wide_b) / norms, 11)

    def test_nan_and_infinity(self):
        for dtype in ("float16", "float32", "float64"):
            a, b = self.array(dtype, (3000,)), self.array(dtype, (3000,))
            a[1700], b[2500], b[2999] = np.nan, np.inf, -np.inf
            found = self.tool.measure(a, b)
            self.assertEqual(found["a.greatest_at"], 1700)
            self.assertEqual(found["b.greatest_at"], 2500)
            self.assertEqual(found["b.inf_count"], 2)
            self.assertEqual(found["absolute.nan_count"], 1)
            self.assertEqual(found["absolute.greatest_at"], np.argmax(differences(a, b)[0]))

    # Beside the wider long double, in which no square of a double overflows or underflows.
    def test_extreme_magnitudes(self):
        for count in (3, 511, 512, 70000):
            normal, signs = self.random.standard_normal(count), self.random.choice([-1.0, 1.0], count)
            for x in (normal * 1e200, normal * 1e-200, normal * 1e-290, 1e15 + normal, 1.7e308 * self.random.uniform(0.99, 1.0, count),
                      1.7e308 * signs, np.where(signs > 0, 1e200, 1e-200)):
                with self.subTest(count=count, first=x[0]):
                    self.check_moments(x)

    def check_moments(self, x: np.ndarray):
        found = self.tool.measure(x, np.zeros_like(x))
        for name, series in (("a", x), ("absolute", np.abs(x))):
            wide = series.astype(np.longdouble)
            moved = wide - wide[0]  # exact for large numbers, whose mean would be rounded
            magnitude = float(np.abs(wide).mean())
            self.near(found[f"{name}.mean"], float(wide[0] + moved.mean()), f"{name}.mean", magnitude)
            self.near(found[f"{name}.mean_magnitude"], magnitude, f"{name}.mean_magnitude")
            self.near(found[f"{name}.standard_deviation"], float(moved.std()), f"{name}.standard_deviation")
            self.near(found[f"{name}.variance"], float(moved.var()), f"{name}.variance")

    def test_cosine_of_nan_with_zeros(self):
        self.assertTrue(np.isnan(self.tool.measure(np.array([np.nan, -0.0]), np.zeros(2))["cosine"]))

    # NumPy's percentile is NaN at some shares beside an infinity; ours is the infinity there.
    def test_percentiles_beside_infinities(self):
        inf = np.inf
        for elements in ([1, inf], [-inf, 1], [-inf, inf], [inf, inf], [1, 2, inf], [1, 2, 3, inf], [-inf, -inf, 1],
                         [-inf, *range(9)], [-inf, *range(30), inf], [*range(1000), inf, inf]):
            a = np.array(elements, np.float64)
            found = self.tool.measure(a, np.zeros_like(a))
            with self.subTest(elements=elements[:5]):
                self.near(found["a.median"], np.median(a), "median")
                for key, percent in (("p90", 90), ("p95", 95), ("p99", 99)):
                    expected = np.percentile(a, percent)
                    if not np.isnan(expected):
                        self.near(found[f"a.{key}"], expected, key)

    # Polygraphy sums means in float32, and integers wrap around in it: small ones are compared.
    def test_polygraphy(self):
        for dtype in ("float32", "float64", "int8", "int32"):
            for noise in (0.0, 1e-6, 3e-5, 0.1):
                b = self.array(dtype, (37, 41))
                if dtype == "int32":
                    b //= 2**20
                b = np.where(b == 0, b.dtype.type(1), b)
                a = (b * (1 + noise * self.random.standard_normal(b.shape))).astype(dtype)
                with self.subTest(dtype=dtype, noise=noise):
                    self.check_against_polygraphy(a, b)

    def check_against_polygraphy(self, a: np.ndarray, b: np.ndarray):
        found = self.tool.measure(a, b)
        results = [IterationResult({"y": array}, runner_name=name) for name, array in (("a", a), ("b", b))]
        for statistic in STATISTICS:
            peer = CompareFunc.simple(check_error_stat=statistic)(*results)["y"]
            self.assertEqual(bool(peer), bool(found[f"passed.{statistic}"]), statistic)
            for ours, theirs in (("absolute.greatest", peer.max_absdiff), ("relative.greatest", peer.max_reldiff),
                                 ("absolute.mean", peer.mean_absdiff), ("relative.mean", peer.mean_reldiff),
                                 ("absolute.median", peer.median_absdiff), ("relative.median", peer.median_reldiff)):
                self.assertLessEqual(abs(found[ours] - theirs), 1e-5 * abs(theirs), f"{statistic} {ours}")
        self.assertLessEqual(abs(found["quantile_absolute"] - peer.quantile_absdiff), 1e-5 * abs(peer.quantile_absdiff))


if __name__ == "__main__":
    unittest.main()
