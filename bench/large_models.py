#!/usr/bin/env python3
"""What models of 100,000 to 1,000,000 nodes cost: `assay check lint --static`, from the start of the process to its
end, and a copy of a model in memory, by the program copy_bench.

    large_models.py [--runs N] [--only PART]

Minima of N runs. Exits 1 if a bar is missed.
"""

import subprocess
import sys

import measure
from inspect_model import ASSAY, ROOT, model_path

COPY_BENCH = str(ROOT / "build" / "release" / "tests" / "copy_bench")
MODELS = {"nodes_100k": 100_000, "nodes_300k": 300_000, "nodes_1m": 1_000_000}
BARS_MS = {("lint", "nodes_1m"): 4000, ("copy", "nodes_1m"): 500}


def lint_ms(model: str, runs: int) -> float:
    return measure.side_by_side([[ASSAY, "check", "lint", "--static", "-q", str(model_path(model))]], runs)[0].ms


def copy_ms(model: str, runs: int) -> float:
    done = subprocess.run([COPY_BENCH, str(model_path(model)), str(runs)], capture_output=True, text=True, check=True)
    print(f"copy_bench {model}: {done.stdout.strip()}")
    return float(done.stdout.split()[0]) * 1000


def main() -> int:
    options = measure.parse_options(5)
    fine = True
    for kind, function in (("lint", lint_ms), ("copy", copy_ms)):
        points = []
        for model, nodes in MODELS.items():
            name = f"{kind} {model}"
            if options.only not in name:
                continue
            ms, bar = function(model, options.runs), BARS_MS.get((kind, model))
            fine &= not bar or ms <= bar
            points.append((nodes, ms))
            print(f"{name:<18}{ms:9.0f} ms" + (f"  bar {bar} ms, {'met' if ms <= bar else 'MISSED'}" if bar else ""))
        if len(points) > 1:
            print(f"growth of {kind}: time ~ nodes^{measure.growth(points):.2f}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
