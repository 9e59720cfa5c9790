#!/usr/bin/env python3
"""What `assay run MODEL --onnxrt` takes beyond ONNX Runtime's own work, beside Polygraphy.

    run_onnxrt.py [--runs N] [--only PART]

Own work: opening the library, making the session from the file, one run, measured inside one Python process. The rest
of a command's wall time is its overhead. Minima of N interleaved runs. Exits 1 if a bar is missed.
"""

import argparse
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
NAMES = ("mobilenetv2", "resnet50", "bert_base_s128")
BAR_SECONDS = 0.015

OWN_WORK = """
import ctypes, pathlib, sys, time, importlib.util
folder = pathlib.Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi"
begin = time.perf_counter()
ctypes.CDLL(str(next(folder.glob("libonnxruntime.so*"))))
opened = time.perf_counter() - begin
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
options.intra_op_num_threads = 2
options.inter_op_num_threads = 1
begin = time.perf_counter()
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
made = time.perf_counter() - begin
random = numpy.random.RandomState(1)
feeds = {}
for value in session.get_inputs():
    shape = [dim if isinstance(dim, int) else 1 for dim in value.shape]
    feeds[value.name] = (random.random_sample(shape).astype(numpy.float32) if "float" in value.type
                         else random.randint(0, 2, size=shape).astype(numpy.int64))
begin = time.perf_counter()
session.run(None, feeds)
print(opened + made + time.perf_counter() - begin)
"""


def wall_seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begin


def own_seconds(model: pathlib.Path) -> float:
    done = subprocess.run([sys.executable, "-c", OWN_WORK, str(model)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    peer = str(pathlib.Path(sys.executable).parent / "polygraphy")
    missed = []
    print(f"{'model':18} {'own work':>10} {'assay':>10} {'overhead':>10} {'polygraphy':>11} {'overhead':>10}")
    for name in NAMES:
        if options.only not in name:
            continue
        subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True,
                       stdout=subprocess.DEVNULL)
        model = MODELS / f"{name}.onnx"
        best = [float("inf")] * 3
        for _ in range(options.runs):
            seen = (own_seconds(model), wall_seconds([ASSAY, "run", str(model), "--onnxrt"]),
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
