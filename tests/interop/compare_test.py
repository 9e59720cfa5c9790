"""`assay run --load-outputs` and `inspect diff` beside the real Polygraphy on the same files: the lines about tolerances,
differences and verdicts are the same, word for word, and so are the exit codes."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np
from peer import polygraphy
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.ERROR
ASSAY = os.environ["ASSAY"]
SHARED_LINES = ("Tolerance: [", "Minimum Required Tolerance:", "PASSED | Output", "FAILED | Output",
                "L2 Norm:", "Cosine Similarity:", "PSNR:", "SNR:")


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ASSAY, *words], capture_output=True, text=True)


def results(runner: str, iterations: list[dict[str, np.ndarray]]) -> RunResults:
    runs = RunResults()
    runs[runner] = [IterationResult(outputs=outputs, runtime=0.5, runner_name=runner) for outputs in iterations]
    return runs


def shared(text: str) -> list[str]:
    """The lines that both programs print, without prefix and indentation."""
    lines = [re.sub(r"^\[.\] *", "", line) for line in text.splitlines()]
    return sorted(line for line in lines if line.startswith(SHARED_LINES))


def pairs_of_arrays() -> list[tuple[str, np.ndarray, np.ndarray]]:
    random = np.random.RandomState(3)
    base = random.normal(size=(4, 50)).astype(np.float32)
    near = base + random.normal(scale=1e-6, size=base.shape).astype(np.float32)
    far = base + random.normal(scale=1e-2, size=base.shape).astype(np.float32)
    with_nan = base.copy()
    with_nan[1, 2] = np.nan
    return [("equal", base, base), ("near", base, near), ("far", base, far), ("nan", base, with_nan),
            ("double", base.astype(np.float64), near.astype(np.float64)), ("half", base.astype(np.float16), base),
            ("scalar", np.float32(3), np.float32(3.00001)), ("empty", base[:0], base[:0]),
            ("int", np.arange(1, 7), np.array([1, 2, 3, 4, 5, 9])), ("bool", base > 0, far > 0)]


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_both(self, a: RunResults, b: RunResults, *words: str) -> tuple[subprocess.CompletedProcess, ...]:
        paths = [str(pathlib.Path(self.folder.name) / name) for name in ("a.json", "b.json")]
        for results_of, path in zip((a, b), paths):
            results_of.save(path)
        words = ("run", *words, "--log-format", "no-colors", "--load-outputs", *paths)
        return assay(*words), polygraphy(*words)

    def expect_same(self, a: np.ndarray, b: np.ndarray, *words: str):
        ours, theirs = self.run_both(results("first", [{"y": np.asarray(a)}]), results("second", [{"y": np.asarray(b)}]),
                                     *words)
        self.assertEqual(shared(ours.stdout), shared(theirs.stdout), theirs.stdout)
        self.assertTrue(shared(ours.stdout), ours.stderr)
        self.assertEqual(ours.returncode, theirs.returncode, ours.stdout)

    def test_default_comparison(self):
        for name, a, b in pairs_of_arrays():
            if name != "bool":  # of booleans the peer divides by zero; see docs/differences.md
                with self.subTest(name):
                    self.expect_same(a, b)

    def test_statistics(self):
        for statistic in ("max", "mean", "median", "quantile"):
            for name, a, b in pairs_of_arrays():
                if name not in ("bool", "empty", "nan"):
                    with self.subTest(f"{statistic}, {name}"):
                        self.expect_same(a, b, "--check-error-stat", statistic, "--atol", "1e-6", "--rtol", "1e-6")

    def test_tolerances_of_one_output(self):
        _, a, b = pairs_of_arrays()[2]
        self.expect_same(a, b, "--atol", "y:0.1", "--rtol", "0")
        self.expect_same(a, b, "--atol", "z*:0.1", "--rtol", "0")

    def test_other_functions(self):
        for name, a, b in pairs_of_arrays():
            if name in ("equal", "near", "far", "double"):
                with self.subTest(name):
                    self.expect_same(a, b, "--compare", "l2", "cosine_similarity", "psnr", "snr")

    def test_statistics_lines(self):
        _, a, b = pairs_of_arrays()[2]
        ours, theirs = self.run_both(results("first", [{"y": a}]), results("second", [{"y": b}]))
        lines = [{re.sub(r"^\[.\] *", "", line) for line in done.stdout.splitlines() if "Stats:" in line}
                 for done in (ours, theirs)]
        self.assertEqual(len(lines[0]), 4)
        self.assertEqual(lines[0], lines[1])

    def test_histograms_of_failures(self):
        _, a, b = pairs_of_arrays()[2]
        ours, theirs = self.run_both(results("first", [{"y": a}]), results("second", [{"y": b}]))
        rows = [[line.strip() for line in done.stdout.splitlines() if re.match(r" +\(.*\) \| ", line)]
                for done in (ours, theirs)]
        self.assertEqual(len(rows[0]), 40)
        self.assertEqual(sorted(rows[0]), sorted(rows[1]))

    def test_missing_outputs_fail_here_only(self):
        data = np.ones(3, np.float32)
        ours, theirs = self.run_both(results("first", [{"x": data, "other": data}]), results("second", [{"x": data}]))
        self.assertEqual((ours.returncode, theirs.returncode), (1, 0))

    def test_extra_iterations_fail_here_only(self):
        data = {"x": np.ones(3, np.float32)}
        ours, theirs = self.run_both(results("first", [data, data]), results("second", [data]))
        self.assertEqual((ours.returncode, theirs.returncode), (1, 0))

    def test_integers_do_not_wrap(self):
        a, b = np.array([-2**31], np.int32), np.array([2**31 - 1], np.int32)
        ours, theirs = self.run_both(results("first", [{"x": a}]), results("second", [{"x": b}]))
        self.assertEqual((ours.returncode, theirs.returncode), (1, 0))

    def test_accuracy_results_are_read_by_the_peer(self):
        path = str(pathlib.Path(self.folder.name) / "accuracy.json")
        _, a, b = pairs_of_arrays()[1]
        ours, _ = self.run_both(results("first", [{"y": a}]), results("second", [{"y": b}]), "--compare", "simple", "l2",
                                "--check-error-stat", "max", "--l2-threshold", "1", "--save-accuracy-results", path)
        self.assertEqual(ours.returncode, 0, ours.stdout)
        for threshold, status in (("1", 0), ("1e-9", 1)):
            words = ["check", "accuracy", path, "--compare", "l2", "--l2-threshold", threshold]
            self.assertEqual(polygraphy(*words).returncode, status)
            self.assertEqual(assay(*words).returncode, status)

    def test_accuracy_results_are_listed_as_the_peer_lists_them(self):
        path = str(pathlib.Path(self.folder.name) / "accuracy.json")
        _, a, b = pairs_of_arrays()[2]
        iterations = [{"y": a, "z": a}] * 2
        _, theirs = self.run_both(results("first", iterations), results("second", [{"y": b, "z": a}] * 2), "--compare",
                                  "simple", "snr", "--save-accuracy-results", path)
        self.assertEqual(theirs.returncode, 1)
        words = ["inspect", "data", path, "--all", "--log-format", "no-colors"]
        lines = [[line.rstrip() for line in program(*words).stdout.splitlines()] for program in (assay, polygraphy)]
        self.assertEqual(lines[0], lines[1])


if __name__ == "__main__":
    unittest.main()
