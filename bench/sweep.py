#!/usr/bin/env python3
"""Cost of a sweep beside that of its units, and its memory over many units.

    sweep.py [--models N] [--units N] [--on BACKEND...] [--python FILE]

N tiny models (default 1,000) are run by one worker: the wall time of the sweep beside the sum of what `assay run` takes
for the same models one by one, by the same backends, from 50 of them, and beside the sum of the seconds that the units
tell, which are spent on loading, preparing, running and comparing alone. Then the greatest resident memory of the sweep
and of its worker over a tenth of the units and over all (default 10,000). Exits 1 if a bar is missed: 1.3 times what the
models take one by one, 1.1 times the memory of the worker, and 4 KB of the sweep for each unit, which its report holds.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASSAY = ROOT / "build" / "release" / "bin" / "assay"
BAR_TIME, BAR_MEMORY, BAR_UNIT_BYTES = 1.3, 1.1, 4000
SAMPLED = 50


def save_models(folder: pathlib.Path, count: int) -> None:
    random = np.random.default_rng(1)
    for number in range(count):
        nodes, weights = [], []
        for layer in range(4):
            weights.append(numpy_helper.from_array(random.standard_normal((64, 64)).astype("f4"), f"w{layer}"))
            nodes.append(helper.make_node("MatMul", [f"h{layer}", f"w{layer}"], [f"m{layer}"]))
            nodes.append(helper.make_node("Tanh", [f"m{layer}"], [f"h{layer + 1}"]))
        info = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "g", [info("h0", TensorProto.FLOAT, [8, 64])], [info("h4", TensorProto.FLOAT, [8, 64])], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"m{number:05}.onnx")


def seconds_of(words: list) -> float:
    begin = time.monotonic()
    subprocess.run([str(word) for word in words], check=False, capture_output=True)
    return time.monotonic() - begin


def peak_bytes(process: subprocess.Popen) -> dict[str, int]:
    """Greatest resident memory of a process and of its children, looked at until it ends."""
    peaks = {"sweep": 0, "worker": 0}
    while process.poll() is None:
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                status = (entry / "status").read_text()
            except OSError:
                continue
            facts = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
            owner = {str(process.pid): "sweep"}.get(entry.name) or {str(process.pid): "worker"}.get(facts["PPid"].strip())
            if owner and "VmHWM" in facts:
                peaks[owner] = max(peaks[owner], int(facts["VmHWM"].split()[0]) * 1024)
        time.sleep(0.05)
    return peaks


def sweep_words(folder: pathlib.Path, models: str, backends: list[str], python: str, *more) -> list:
    return [ASSAY, "sweep", "--models", models, "--run", *backends, "--python", python, "--jobs", "1", *more, "-o", folder]


def measure_time(folder: pathlib.Path, arguments) -> bool:
    save_models(folder, arguments.models)
    wall = seconds_of(sweep_words(folder / "out", str(folder / "*.onnx"), arguments.on, arguments.python, "--json", folder / "r.json"))
    report = json.loads((folder / "r.json").read_text())
    own = sum(unit["seconds"] for unit in report["units"])
    flags = [f"--{backend}" for backend in arguments.on]
    alone = [seconds_of([ASSAY, "run", folder / f"m{number:05}.onnx", *flags, "--threads", "1", "--python", arguments.python, "-q"])
             for number in range(min(SAMPLED, arguments.models))]
    one_by_one = sum(alone) / len(alone) * arguments.models
    print(f"{arguments.models} models on {', '.join(arguments.on)}: {wall:.2f} s; plan {report['timings']['plan_seconds']:.2f} s; "
          f"{dict(report['by_status'])}")
    print(f"  {wall / own:.2f} x the {own:.2f} s that the units tell; {wall / one_by_one:.2f} x the {one_by_one:.2f} s of as many `assay run`")
    return wall <= BAR_TIME * one_by_one


def measure_memory(folder: pathlib.Path, arguments) -> bool:
    save_models(folder, 10)
    peaks = []
    for share in (10, 1):
        samples = arguments.units // share // 20
        words = sweep_words(folder / f"out{share}", str(folder / "*.onnx"), arguments.on, arguments.python, "--iterations", samples,
                            "--shard-size", "1")
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peaks.append(peak_bytes(process))
        print(f"{samples * 20} units: " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in peaks[-1].items()))
    return peaks[1]["worker"] <= BAR_MEMORY * peaks[0]["worker"] and peaks[1]["sweep"] - peaks[0]["sweep"] <= BAR_UNIT_BYTES * arguments.units


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--on", nargs="+", default=["onnxrt", "engine"])
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as times, tempfile.TemporaryDirectory() as memory:
        is_quick = measure_time(pathlib.Path(times), arguments)
        is_flat = measure_memory(pathlib.Path(memory), arguments)
    return 0 if is_quick and is_flat else 1


if __name__ == "__main__":
    sys.exit(main())
