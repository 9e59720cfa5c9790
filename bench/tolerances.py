#!/usr/bin/env python3
"""What computed tolerances accuse, over models and backends, and which planted faults they let through.

    tolerances.py MODEL... [--faults N] [--noise SHARE] [--backends NAME...]

Clean: every layer of each model on each backend beside the reference, `--tolerance auto`; nobody may be accused.
Faulty: one weight tensor (a matrix or more), drawn, with noise of SHARE of each element, run by ONNX Runtime; the first layer beyond its
tolerance must be the one that uses it. Exits 1 if a layer is accused or a fault is let through.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

from convert import ASSAY

FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)


def compare(folder, model, *words):
    report = pathlib.Path(folder, "report.json")
    command = [ASSAY, "run", model, *words, "--tolerance", "auto", "--onnx-outputs", "mark", "all", "--json", report]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1, 3) or not report.exists():
        raise RuntimeError(run.stderr)
    pair = json.loads(report.read_text())["pairs"][0]
    return pair, pair["iterations"][0]["outputs"]


def clean(folder, model, backend):
    _, outputs = compare(folder, model, f"--{backend}", "--ref")
    failed = [output for output in outputs if not output["passed"]]
    undecided = sum(output.get("fault") == "undecided" for output in failed)
    accused = len(failed) - undecided
    print(f"{pathlib.Path(model).name:28} {backend:9} {len(outputs):5} layers, {accused} accused, {undecided} undecided",
          flush=True)
    return accused


def with_noise(path, share, rng, faulty):
    """Writes the model with one noisy weight; the names of the values that use it first."""
    model = onnx.load(path)
    users = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, node)
    weights = [w for w in model.graph.initializer
               if w.data_type in FLOATS and len(w.dims) >= 2 and w.name in users]
    weight = weights[rng.integers(len(weights))]
    values = numpy_helper.to_array(weight)
    noisy = values * (1 + share * rng.normal(size=values.shape))
    weight.CopyFrom(numpy_helper.from_array(noisy.astype(values.dtype), weight.name))
    onnx.save(model, faulty)
    return weight.name, list(users[weight.name].output)


def faulty(folder, model, share, rng):
    other, results = str(pathlib.Path(folder, "faulty.onnx")), str(pathlib.Path(folder, "faulty.json"))
    weight, guilty = with_noise(model, share, rng, other)
    subprocess.run([ASSAY, "run", other, "--onnxrt", "--onnx-outputs", "mark", "all", "--save-outputs", results],
                   capture_output=True, check=True)
    pair, _ = compare(folder, model, "--ref", "--load-outputs", results)
    is_hit = pair.get("first_failed") in guilty
    print(f"{pathlib.Path(model).name:28} noise of {share:g} in {weight}: "
          f"{'the right layer' if is_hit else 'first: ' + str(pair.get('first_failed')) + ', not ' + guilty[0]}", flush=True)
    return is_hit


def main():
    options = argparse.ArgumentParser()
    options.add_argument("models", nargs="+")
    options.add_argument("--faults", type=int, default=3)
    options.add_argument("--noise", type=float, default=1e-4)
    options.add_argument("--backends", nargs="*", default=["onnxrt", "openvino", "engine"])
    options = options.parse_args()
    rng = np.random.default_rng(1)
    accused = missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            accused += sum(clean(folder, model, backend) for backend in options.backends)
            missed += sum(not faulty(folder, model, options.noise, rng) for _ in range(options.faults))
    print(f"{accused} layers accused, {missed} of {options.faults * len(options.models)} faults not found")
    return 1 if accused + missed else 0


if __name__ == "__main__":
    sys.exit(main())
