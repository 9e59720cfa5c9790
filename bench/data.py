#!/usr/bin/env python3
"""Loading of saved inputs and outputs, all elements decoded: GB/s of file bytes, beside what the user has today.

    data.py [--runs N] [--mb SIZE]

JSON beside polygraphy's own load, .npz beside numpy's, .safetensors beside safetensors'. Stored .npz and .safetensors
are only mapped on our side, no element of them is read; the peers read them. Minima of interleaved runs of one process
each, with as many repeats on both sides, warm. Exits 1 where JSON is read with less than 1 GB/s.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import save_json
from polygraphy.logger import G_LOGGER
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = str(ROOT / "build" / "release" / "tests" / "data_tool")
BAR = 1.0  # GB/s
REPEATS = 5  # in one process

PEER = """
import sys, time, warnings
kind, path, repeats = sys.argv[1:]
from polygraphy.logger import G_LOGGER
G_LOGGER.module_severity = G_LOGGER.ERROR
def inputs():
    from polygraphy.json import load_json
    return [sum(a.nbytes for a in arrays.values()) for arrays in load_json(path)]
def results():
    from polygraphy.comparator import RunResults
    return [sum(a.nbytes for a in it.values()) for _, its in RunResults.load(path) for it in its]
def npz():
    import numpy
    with numpy.load(path) as loaded:
        return sum(loaded[name].nbytes for name in loaded)
def safetensors():
    from safetensors.numpy import load_file
    return sum(a.nbytes for a in load_file(path).values())
load = globals()[kind]
best = 1e9
for _ in range(int(repeats)):
    begin = time.perf_counter()
    load()
    best = min(best, time.perf_counter() - begin)
print(best)
"""


def seconds(*command: str) -> float:
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0])


def write_files(folder: pathlib.Path, megabytes: int) -> list[tuple[str, pathlib.Path]]:
    random = np.random.default_rng(1)
    one = {"x": random.random((megabytes, 250_000), dtype="f4")}
    many = {f"layer_{i}": random.random((64, 64), dtype="f4") for i in range(60 * megabytes)}
    G_LOGGER.module_severity = G_LOGGER.ERROR
    save_json([one], folder / "inputs.json")
    results = RunResults()
    results.append(("a", [IterationResult(outputs=many, runtime=0.1, runner_name="a")]))
    results.save(folder / "outputs.json")
    np.savez(folder / "stored.npz", **many)
    np.savez_compressed(folder / "deflated.npz", **one)
    save_file(many, folder / "many.safetensors")
    return [("inputs", folder / "inputs.json"), ("results", folder / "outputs.json"), ("npz", folder / "stored.npz"),
            ("npz", folder / "deflated.npz"), ("safetensors", folder / "many.safetensors")]


def measure(kind: str, path: pathlib.Path, runs: int) -> tuple[float, float]:
    ours = theirs = float("inf")
    for _ in range(runs):
        ours = min(ours, seconds(TOOL, str(path), str(REPEATS)))
        theirs = min(theirs, seconds(sys.executable, "-c", PEER, kind, str(path), str(REPEATS)))
    return ours, theirs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--mb", type=int, default=40)
    options = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        print(f"{'file':20} {'MB':>6} {'ours GB/s':>10} {'theirs':>8} {'ratio':>7}")
        for kind, path in write_files(pathlib.Path(name), options.mb):
            ours, theirs = measure(kind, path, options.runs)
            size = path.stat().st_size / 1e9
            print(f"{path.name:20} {size * 1e3:6.0f} {size / ours:10.2f} {size / theirs:8.2f} {theirs / ours:6.1f}x")
            missed += path.suffix == ".json" and size / ours < BAR
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
