#!/usr/bin/env python3
"""Speed of comparing two arrays: GB/s of both arrays together in memory, and beside Polygraphy's CompareFunc.simple().

    compare.py [--count N] [--runs N] [--no-peer]

The first part is the program measure_bench: float32 pairs of N elements, with all statistics and with percentiles (in
memory, and mapped from files) or histograms too, and the other types that outputs have; by wall time, and by processor time of one core in brackets. The second compares 10 million elements here and there in turn:
measure_tool reads two files, measures everything with percentiles and judges, as a process of its own; Polygraphy gets
the arrays in memory and prints its usual lines, with statistics and histograms, to nowhere. Minima of
interleaved runs. Exits 1 if a bar is missed in wall time.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / "build" / "release" / "tests"
PEER_COUNT = 10_000_000
BAR_GB_PER_SECOND = {"plain": 8.0, "percentiles": 4.0, "mapped": 4.0}
BAR_RATIO = 50.0


def speeds(dtype: str, count: int, runs: int) -> dict[str, tuple[float, float]]:
    """GB/s in wall time and in processor time of one core."""
    done = subprocess.run([TOOLS / "measure_bench", dtype, str(count), str(runs)], capture_output=True, text=True,
                          check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: (float(words[3]), float(words[5])) for words in lines}


def print_speeds(count: int, runs: int) -> bool:
    missed = False
    for dtype in ("float32", "float16", "bfloat16", "float64", "int8", "int64"):
        found = speeds(dtype, count, runs)
        print(f"{dtype:9}", "  ".join(f"{what} {wall:.2f} ({core:.2f}) GB/s" for what, (wall, core) in found.items()))
        for what, bar in BAR_GB_PER_SECOND.items() if dtype == "float32" else ():
            wall, core = found[what]
            print(f"  bar of {what}: {bar} GB/s; wall time {wall / bar:.2f} of it, two cores' time {2 * core / bar:.2f}")
            missed |= wall < bar
    return missed


def beside_peer(runs: int) -> bool:
    import numpy as np
    from polygraphy.comparator import CompareFunc
    from polygraphy.comparator.struct import IterationResult
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = G_LOGGER.INFO
    random = np.random.default_rng(1)
    b = random.standard_normal(PEER_COUNT, np.float32)
    a = b * (1 + np.float32(1e-6) * random.standard_normal(PEER_COUNT, np.float32))
    results = [IterationResult({"y": array}, runner_name=name) for name, array in (("a", a), ("b", b))]
    best = {"assay": float("inf"), "polygraphy": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, side) for side in "ab"]
        a.tofile(paths[0])
        b.tofile(paths[1])
        command = [TOOLS / "measure_tool", "float32", paths[0], "float32", paths[1], str(PEER_COUNT)]
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            middle = time.perf_counter()
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                CompareFunc.simple()(*results)
            end = time.perf_counter()
            best["assay"] = min(best["assay"], middle - start)
            best["polygraphy"] = min(best["polygraphy"], end - middle)
    ratio = best["polygraphy"] / best["assay"]
    print(f"{PEER_COUNT} float32: assay {best['assay']:.3f} s, polygraphy {best['polygraphy']:.3f} s, ratio {ratio:.1f}")
    return ratio < BAR_RATIO


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=64_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    missed = print_speeds(options.count, options.runs)
    if not options.no_peer:
        missed |= beside_peer(options.runs)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
