#!/usr/bin/env python3
"""The programs of two builds side by side: the commands of other benchmarks, by this build's program and an older one's.

    older.py OLDER [--runs N] [--only PART]

OLDER is a folder like build/release, with bin/assay, tests/data_tool and tests/measure_bench. What is compared: of
processes the wall time from start to end; of `reference` the time of the run that the report names; of `engine`
the least time of a run on one thread; of `data` and `compare` what the tools print. Minima of N interleaved runs, either
build first by turns. Exits 1 where this build takes 5% more.
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import convert
import data
import inspect_model
import layers
import measure
import reference
import run_onnxrt
import sanitize
from inspect_model import MODEL, Case

NEWER = inspect_model.ROOT / "build" / "release"
OUT = "OUT"  # stands for a file in a case's words
WORSE = 1.05
COUNT = 16_000_000  # elements that measure_bench compares
ENGINE_MODELS = ("small_perceptron", "small_lstm", "mobilenetv2", "resnet50", "resnet50_qdq", "yolov5s", "bert_base_s128",
                 "bert_base_s128_dynq", "gpt2_s128")


def cases() -> list[Case]:
    found = [Case(f"inspect {case.name}", case.words, case.model) for case in inspect_model.cases()]
    found += [Case(f"convert {name}", ["convert", MODEL, "--fp-to-fp16", "-o", OUT], name) for name in convert.NAMES]
    found += [Case(f"sanitize {case.name}", ["surgeon", "sanitize", MODEL, *case.words, "-o", OUT], case.model)
              for case in sanitize.CASES]
    found += [Case(f"lint {name}", ["check", "lint", "--static", "-q", MODEL], name) for name in ("nodes_100k", "nodes_1m")]
    found += [Case(f"reference {name} {backend}", ["run", MODEL, backend, "--json", "-"], name)
              for name in reference.BAR_SECONDS for backend in ("--ref", "--ref-fp64")]
    found += [Case(f"run {name}", ["run", MODEL, "--onnxrt"], name) for name in run_onnxrt.NAMES]
    found += [Case(f"layers {name} {' '.join(pair)}", ["run", MODEL, *pair, "--onnx-outputs", "mark", "all", "-qq"], name)
              for name in layers.NAMES for pair in layers.PAIRS]
    found += [Case(f"engine {name}", ["bench", MODEL, "--engine", "--threads", "1", "--duration", "1", "--json", "-"], name)
              for name in ENGINE_MODELS]
    return found


def milliseconds(build: pathlib.Path, words: list[str]) -> float:
    command = [str(build / "bin" / "assay"), *words]
    if "--json" in words:
        done = subprocess.run(command, capture_output=True, check=True)
        report = json.loads(done.stdout)
        return 1e3 * (report["backends"][0]["latency"]["min"] if "backends" in report
                      else report["runs"][0]["timings"]["run_seconds"])
    result = measure.Result()
    measure.run_once(command, result)
    if result.status not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {result.status}")
    return result.ms


def loaded_ms(build: pathlib.Path, path: pathlib.Path) -> float:
    return data.seconds(str(build / "tests" / "data_tool"), str(path), "3") * 1e3


def compared(build: pathlib.Path, dtype: str) -> dict[str, float]:
    """Milliseconds of each way to compare."""
    done = subprocess.run([build / "tests" / "measure_bench", dtype, str(COUNT), "2"], capture_output=True, text=True,
                          check=True)
    return {f"compare {dtype} {words[0]}": float(words[1]) * 1e3 for words in map(str.split, done.stdout.splitlines())}


class Table:
    """Interleaved runs of both builds; a row is printed when it is complete."""

    def __init__(self, older: pathlib.Path, runs: int):
        self.builds = (older, NEWER)
        self.runs = runs
        self.worse = []

    def measure(self, run) -> None:
        """`run` gives the times of one build by name."""
        best = collections.defaultdict(lambda: [math.inf, math.inf])
        for run_number in range(self.runs):
            for side, build in (sorted(enumerate(self.builds), reverse=run_number % 2 == 1)):
                for name, ms in run(build).items():
                    best[name][side] = min(best[name][side], ms)
        for name, (older, newer) in best.items():
            is_worse = newer > WORSE * older
            self.worse += [name] * is_worse
            print(f"{name:<44}{older:10.4g} ms{newer:10.4g} ms{newer / older:7.2f}{'  worse' * is_worse}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("older", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    table = Table(options.older.resolve(), options.runs)
    print(f"{'':<44}{'older':>10}   {'newer':>10}     ratio")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        for case in cases():
            if options.only in case.name:
                places = {MODEL: str(case.model and sanitize.path_of(case.model)), OUT: str(folder / "out.onnx")}
                words = [places.get(word, word) for word in case.words]
                table.measure(lambda build: {case.name: milliseconds(build, words)})
        for _, path in data.write_files(folder, 10) if options.only in "data" else ():
            table.measure(lambda build: {f"data {path.name}": loaded_ms(build, path)})
    for dtype in ("float32", "float16", "float64", "int8") if options.only in "compare" else ():
        table.measure(lambda build: compared(build, dtype))
    return 1 if table.worse else 0


if __name__ == "__main__":
    sys.exit(main())
