#!/usr/bin/env python3
"""What `assay run MODEL --onnxrt` takes beyond ONNX Runtime's own work, beside Polygraphy.

    run_onnxrt.py [--runs N] [--only PART]

Own work: a C++ program that opens the library, makes a session from the file and runs it once by the same calls
(ort_baseline.cpp), from its start to its end. What a command takes beyond that is its overhead. Minima of N interleaved
runs. Exits 1 if a bar is missed.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
NAMES = ("mobilenetv2", "resnet50", "bert_base_s128")
BAR_SECONDS = 0.005

BASELINE = ROOT / "build" / "bench" / "ort_baseline"
TYPES = {"float32": 1, "int64": 7}


def make_baseline() -> None:
    BASELINE.parent.mkdir(exist_ok=True)
    subprocess.run(["c++", "-std=c++20", "-O2", str(ROOT / "bench" / "ort_baseline.cpp"), "-o", str(BASELINE), "-ldl"],
                   check=True)


def baseline_command(model: pathlib.Path) -> list[str]:
    folder = pathlib.Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi"
    listing = json.loads(subprocess.run([ASSAY, "inspect", "model", str(model), "--json", "-"], capture_output=True,
                                        check=True).stdout)
    words = [str(BASELINE), str(next(folder.glob("libonnxruntime.so*"))), str(model), str(len(os.sched_getaffinity(0)))]
    words += [output["name"] for output in listing["outputs"]] + ["--"]
    for value in listing["inputs"]:
        dims = [str(dim) if isinstance(dim, int) else "1" for dim in value["shape"]]
        words += [value["name"], str(TYPES[value["dtype"]]), ",".join(dims)]
    return words


def wall_seconds(command: list[str]) -> float:
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    begin = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True, env=environment)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    peer = str(pathlib.Path(sys.executable).parent / "polygraphy")
    make_baseline()
    missed = []
    print(f"{'model':18} {'own work':>10} {'assay':>10} {'overhead':>10} {'polygraphy':>11} {'overhead':>10}")
    for name in NAMES:
        if options.only not in name:
            continue
        subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True,
                       stdout=subprocess.DEVNULL)
        model = MODELS / f"{name}.onnx"
        baseline = baseline_command(model)
        best = [float("inf")] * 3
        for _ in range(options.runs):
            seen = (wall_seconds(baseline), wall_seconds([ASSAY, "run", str(model), "--onnxrt"]),
                    wall_seconds([sys.executable, peer, "run", str(model), "--onnxrt"]))
            best = [min(pair) for pair in zip(best, seen)]
        own, ours, theirs = best
        print(f"{name:18} {own * 1e3:7.1f} ms {ours * 1e3:7.1f} ms {(ours - own) * 1e3:7.1f} ms"
              f" {theirs * 1e3:8.1f} ms {(theirs - own) * 1e3:7.1f} ms", flush=True)
        if ours - own > BAR_SECONDS:
            missed.append(f"{name}: {(ours - own) * 1e3:.1f} ms, the bar is {BAR_SECONDS * 1e3:.0f} ms")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
