#!/usr/bin/env python3
"""What computed tolerances accuse, over models and backends, and which planted faults they let through.

    tolerances.py [MODEL...] [--random N] [--faults N] [--noise SHARE] [--backends NAME...]
    tolerances.py --cost MODEL...

Clean: every layer of each model, and of N random graphs, on each backend beside the reference, `--tolerance auto`;
nobody may be accused. Faulty: one weight tensor (a matrix or more) of a model without quantizers, drawn, with noise of SHARE of each
element (1e-4; 1e-2 if it is float16), run by ONNX Runtime; the first layer beyond its tolerance must be the one that
uses it. Exits 1 if a layer is accused or a fault is let through. Cost: `run --onnxrt --engine` with and without a computed
tolerance, in turns: the least time and processor time of each, and their ratio.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import numpy_helper

from convert import ASSAY, ROOT

sys.path.insert(0, str(ROOT / "tests" / "interop"))
from random_ops.draw import Rng
from random_ops.graphs import Builder

NOISE = {onnx.TensorProto.FLOAT: 1e-4, onnx.TensorProto.FLOAT16: 1e-2}


def compare(folder, model, *words):
    report = pathlib.Path(folder, "report.json")
    command = [ASSAY, "run", model, *words, "--tolerance", "auto", "--onnx-outputs", "mark", "all", "--json", report]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1, 3) or not report.exists():
        raise RuntimeError(run.stderr)
    pairs = json.loads(report.read_text())["pairs"]
    if not pairs or not pairs[0]["iterations"]:
        return None, None
    return pairs[0], pairs[0]["iterations"][0]["outputs"]


def clean(folder, model, backend, *words):
    """How many layers there are, are accused and are undecided; nothing if the backend refuses the model."""
    report = pathlib.Path(folder, "report.json")
    report.unlink(missing_ok=True)
    _, outputs = compare(folder, model, f"--{backend}", "--ref", *words)
    if outputs is None:
        return collections.Counter(refused=1)
    failed = [output for output in outputs if not output["passed"]]
    undecided = sum(output.get("fault") == "undecided" for output in failed)
    for output in failed:
        if output.get("fault") != "undecided":
            print(f"    {backend} accused: {output['name']}", flush=True)
    return collections.Counter(layers=len(outputs), accused=len(failed) - undecided, undecided=undecided)


def show(name, backend, counts):
    print(f"{name:28} {backend:9} {counts['layers']:5} layers, {counts['accused']} accused, {counts['undecided']} "
          f"undecided{', %d refused' % counts['refused'] if counts['refused'] else ''}", flush=True)
    return counts["accused"]


def clean_random(folder, count, backends):
    """Random graphs that ONNX Runtime runs; the layers of all of them together."""
    totals = {backend: collections.Counter() for backend in backends}
    path, inputs = pathlib.Path(folder, "random.onnx"), pathlib.Path(folder, "random.npz")
    for number in range(count):
        builder = Builder(Rng(f"20:{number}"))
        builder.build()
        onnx.save(builder.model(), path)
        np.savez(inputs, **builder.feeds)
        for backend in backends:
            totals[backend] += clean(folder, path, backend, "--load-inputs", inputs)
    return sum(show(f"{count} random graphs", backend, counts) for backend, counts in totals.items())


def with_noise(path, share, rng, faulty):
    """Writes the model with one noisy weight; the names of the values that use it first."""
    model = onnx.load(path)
    users = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, node)
    weights = [w for w in model.graph.initializer
               if w.data_type in NOISE and len(w.dims) >= 2 and w.name in users]
    weight = weights[rng.integers(len(weights))]
    values = numpy_helper.to_array(weight)
    noisy = values * (1 + (share or NOISE[weight.data_type]) * rng.normal(size=values.shape))
    weight.CopyFrom(numpy_helper.from_array(noisy.astype(values.dtype), weight.name))
    onnx.save(model, faulty)
    return weight.name, list(users[weight.name].output)


def is_quantised(path):
    """Whose steps hide what is small."""
    return any("QuantizeLinear" in node.op_type for node in onnx.load(path, load_external_data=False).graph.node)


def faulty(folder, model, share, rng):
    other, results = str(pathlib.Path(folder, "faulty.onnx")), str(pathlib.Path(folder, "faulty.json"))
    weight, guilty = with_noise(model, share, rng, other)
    subprocess.run([ASSAY, "run", other, "--onnxrt", "--onnx-outputs", "mark", "all", "--save-outputs", results],
                   capture_output=True, check=True)
    pair, _ = compare(folder, model, "--ref", "--load-outputs", results)
    is_hit = pair.get("first_failed") in guilty
    print(f"{pathlib.Path(model).name:28} noise in {weight}: "
          f"{'the right layer' if is_hit else 'first: ' + str(pair.get('first_failed')) + ', not ' + guilty[0]}", flush=True)
    return is_hit


def timed(words):
    before, start = os.times(), time.perf_counter()
    subprocess.run(words, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[2:4]) - sum(before[2:4])


def cost(models, rounds=5):
    for model in models:
        words = [ASSAY, "run", model, "--onnxrt", "--engine"]
        plain, computed = [], []
        for _ in range(rounds):
            plain.append(timed(words))
            computed.append(timed([*words, "--tolerance", "auto"]))
        least = [[min(run[i] for run in runs) for runs in (plain, computed)] for i in (0, 1)]
        print(f"{pathlib.Path(model).name:28} wall {least[0][0]:.2f} and {least[0][1]:.2f} s: {least[0][1] / least[0][0]:.1f}; "
              f"processor {least[1][0]:.2f} and {least[1][1]:.2f} s: {least[1][1] / least[1][0]:.1f}", flush=True)
    return 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("models", nargs="*")
    options.add_argument("--random", type=int, default=0)
    options.add_argument("--faults", type=int, default=3)
    options.add_argument("--noise", type=float)
    options.add_argument("--backends", nargs="*", default=["onnxrt", "openvino", "engine"])
    options.add_argument("--cost", nargs="+", metavar="MODEL")
    options = options.parse_args()
    if options.cost:
        return cost(options.cost)
    rng = np.random.default_rng(1)
    missed = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        accused = clean_random(folder, options.random, options.backends) if options.random else 0
        for model in options.models:
            name = pathlib.Path(model).name
            accused += sum(show(name, backend, clean(folder, model, backend)) for backend in options.backends)
            count = 0 if is_quantised(model) else options.faults
            tried += count
            missed += sum(not faulty(folder, model, options.noise, rng) for _ in range(count))
    print(f"{accused} layers accused, {missed} of {tried} faults not found")
    return 1 if accused + missed else 0


if __name__ == "__main__":
    sys.exit(main())
