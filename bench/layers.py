#!/usr/bin/env python3
"""Comparing all layers of a model between two backends: time and memory beside those of the backends alone.

    layers.py [--runs N] [--only PART]

The backends' own time is that of the same commands with the same values marked, one backend each and no comparison:
loading and running as the report says. Memory is the peak of the process. Minima of N interleaved runs. Exits 1 if a
bar is missed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
NAMES = ("resnet50", "bert_base_s128")
PAIRS = (("--onnxrt", "--openvino"), ("--onnxrt", "--ref"))
BAR_TIME = 1.3
BAR_MEMORY = 1.5


def run(words: list[str]) -> tuple[float, int, dict]:
    """Wall seconds, peak bytes and report of `assay run` with these words."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        begin = time.perf_counter()
        process = subprocess.Popen([ASSAY, "run", *words, "--onnx-outputs", "mark", "all", "--json", report.name, "-qq"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"assay run {' '.join(words)} ended with {status}")
        return seconds, usage.ru_maxrss * 1024, json.loads(pathlib.Path(report.name).read_text())


def measure(model: str, pair: tuple[str, str], runs: int) -> tuple[float, float, int, int, int]:
    own = [float("inf"), float("inf")]
    both = float("inf")
    memory = [0, 0]
    both_memory = 0
    for _ in range(runs):
        for side in range(2):
            seconds, memory[side], _ = run([model, pair[side]])
            own[side] = min(own[side], seconds)
        seconds, both_memory, report = run([model, *pair])
        both = min(both, seconds)
    compared = sum(len(iteration["outputs"]) for iteration in report["pairs"][0]["iterations"])
    return sum(own), both, max(memory), both_memory, compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    missed = []
    print(f"{'model':16} {'backends':22} {'layers':>6} {'alone':>8} {'compared':>9} {'ratio':>6} {'memory':>9} {'larger':>9}"
          f" {'ratio':>6}")
    for name in NAMES:
        subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True,
                       stdout=subprocess.DEVNULL)
        for pair in PAIRS:
            words = " ".join(pair)
            if options.only not in f"{name} {words}":
                continue
            own, both, larger, memory, compared = measure(str(MODELS / f"{name}.onnx"), pair, options.runs)
            print(f"{name:16} {words:22} {compared:6} {own:6.2f} s {both:7.2f} s {both / own:6.2f} {memory / 1e6:6.0f} MB"
                  f" {larger / 1e6:6.0f} MB {memory / larger:6.2f}", flush=True)
            if both / own > BAR_TIME:
                missed.append(f"{name} {words}: {both / own:.2f} times the backends' own time, the bar is {BAR_TIME}")
            if memory / larger > BAR_MEMORY:
                missed.append(f"{name} {words}: {memory / larger:.2f} times the memory, the bar is {BAR_MEMORY}")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
