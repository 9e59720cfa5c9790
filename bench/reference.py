#!/usr/bin/env python3
"""Time of `assay run MODEL --ref` and `--ref-fp64` on real models, beside onnx's ReferenceEvaluator where that ends.

    reference.py [--runs N] [--only PART] [--no-peer]

The time is that of the run alone, as the report says it: the minimum of N interleaved runs on all cores. Exits 1 if a
bar is missed, or if the output's bits depend on the number of threads.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
PEER_SECONDS = 300
BAR_SECONDS = {"resnet50": 2.0, "bert_base_s128": 4.0, "mobilenetv2": None, "gpt2_s128": None, "yolov5s": None}

PEER = """
import sys, time, numpy, onnx
from onnx.reference import ReferenceEvaluator
model = onnx.load(sys.argv[1])
random = numpy.random.RandomState(1)
feeds = {}
for value in model.graph.input:
    shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    feeds[value.name] = random.random_sample(shape).astype(dtype)
evaluator = ReferenceEvaluator(model)
begin = time.perf_counter()
evaluator.run(None, feeds)
print(time.perf_counter() - begin)
"""


def report(model: pathlib.Path, backend: str, *words: str) -> dict:
    command = [ASSAY, "run", str(model), backend, "--json", "-", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["runs"][0]


def peer_seconds(model: pathlib.Path) -> float | None:
    try:
        done = subprocess.run([sys.executable, "-c", PEER, str(model)], capture_output=True, text=True,
                              timeout=PEER_SECONDS, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    return float(done.stdout.split()[-1])


def measure(model: pathlib.Path, runs: int) -> dict[str, float]:
    best = {}
    for _ in range(runs):
        for backend in ("--ref", "--ref-fp64"):
            seconds = report(model, backend)["timings"]["run_seconds"]
            best[backend] = min(best.get(backend, seconds), seconds)
    return best


def depends_on_threads(model: pathlib.Path) -> bool:
    outputs = [report(model, "--ref", "--threads", str(count))["outputs"] for count in (1, 2, 3)]
    return any(other != outputs[0] for other in outputs)


def main() -> int:
    options = measure.parse_options(5)
    missed = []
    print(f"{'model':18} {'ref':>8} {'bar':>5} {'ref-fp64':>9} {'ratio':>6} {'ReferenceEvaluator':>20}")
    for name, bar in BAR_SECONDS.items():
        if options.only not in name:
            continue
        subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True,
                       stdout=subprocess.DEVNULL)
        model = MODELS / f"{name}.onnx"
        best = measure(model, options.runs)
        peer = None if options.no_peer else peer_seconds(model)
        ratio = best["--ref-fp64"] / best["--ref"]
        beside = f"{peer:.2f} s, {peer / best['--ref']:.0f}x" if peer else "-"
        print(f"{name:18} {best['--ref']:6.2f} s {bar or '-':>5} {best['--ref-fp64']:7.2f} s {ratio:6.2f} {beside:>20}",
              flush=True)
        if bar and best["--ref"] > bar:
            missed.append(f"{name}: {best['--ref']:.2f} s, the bar is {bar} s")
        if bar and ratio > 2:
            missed.append(f"{name}: float64 takes {ratio:.2f} times the time of float32, the bar is 2")
        if depends_on_threads(model):
            missed.append(f"{name}: the output depends on the number of threads")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
