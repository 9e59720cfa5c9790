#!/usr/bin/env python3
"""Networks that nobody tuned the engine for, beside ONNX Runtime and OpenVINO: least milliseconds of a run, the ratio of the
better rival's to the engine's, that of medians (which say more where others use the machine), and for each model below 1 the
layers that cost it.

    strangers.py FOLDER [--make PYTHON] [--only WORD...] [--seconds N] [--threads N] [--layers N] [--all-layers]

FOLDER holds the models; --make writes those that are not there yet by make_strangers.py, with a Python that has the
packages which that script names. The backends run in turns, N seconds each (1). Of a model that is slower than a rival,
layers of one kernel that merge the same operators are a row. At the end the rows of all models, by their shares of what
is lost: of what a model takes longer than the better rival.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
from engine import ROOT, places
from files import ASSAY, RIVALS, times

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")


def row_name(layer: dict, operators: dict[str, str]) -> str:
    """The kernel and the operators that it merges."""
    merged = [operators.get(name, "") for name in layer.get("origins", [])]
    shown = [op for op in merged if op not in QUANTIZERS] or merged[:1]
    return " ".join([layer["op"].split(":")[0], *dict.fromkeys(filter(None, shown))])


def profile(model: pathlib.Path, threads: int) -> list[tuple[float, float, str]]:
    """Seconds, billions of operations in a second and names of rows, longest first."""
    inputs = model.with_suffix(".npz")
    given = ["--load-inputs", str(inputs)] if inputs.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "profile.json"
        subprocess.run([str(ASSAY), "profile", str(model), "--engine", *given, "--threads", str(threads), "--json",
                        str(report)], env=os.environ | places(), check=True, capture_output=True)
        layers = json.loads(report.read_text())["backends"][0]["layers"]
    operators = {node.name: node.op_type for node in onnx.load(model, load_external_data=False).graph.node}
    rows: dict[str, list[float]] = {}
    for layer in layers:
        row = rows.setdefault(row_name(layer, operators), [0, 0])
        row[0] += layer["seconds"]
        row[1] += layer.get("flops", 0)
    return sorted(((seconds, flops / max(seconds, 1e-9) / 1e9, name) for name, (seconds, flops) in rows.items()), reverse=True)


class Table:
    """Prints a row for each model, and keeps what is lost."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.ratios: list[float] = []
        self.medians: list[float] = []
        self.lost: dict[str, float] = {}
        print("| model | engine | onnxrt | openvino | ratio | of medians | layers |\n|---|---|---|---|---|---|---|")

    def add(self, model: pathlib.Path) -> None:
        found = times(model, self.options.seconds, self.options.threads)
        rivals = [found[side] for side in RIVALS if side in found]
        if "engine" not in found or not rivals:
            print(f"| {model.stem} | {' | '.join(sorted(found))} | not measured | | | | |", flush=True)
            return
        ratio, median = (min(rival[name] for rival in rivals) / found["engine"][name] for name in ("min", "median"))
        self.ratios.append(ratio)
        self.medians.append(median)
        said = self.layers(model, ratio) if ratio < 1 or self.options.all_layers else ""
        cells = [f"{found[side]['min']:.3f}" if side in found else "-" for side in ("engine", *RIVALS)]
        print(f"| {model.stem} | {' | '.join(cells)} | {ratio:.2f} | {median:.2f} | {said} |", flush=True)

    def layers(self, model: pathlib.Path, ratio: float) -> str:
        rows = profile(model, self.options.threads)
        total = sum(seconds for seconds, _, _ in rows)
        for seconds, _, name in rows:
            self.lost[name] = self.lost.get(name, 0) + max(1 - ratio, 0) * seconds / total
        return "; ".join(f"{seconds / total:.0%} {name} ({speed:.0f} GFLOP/s)"
                         for seconds, speed, name in rows[:self.options.layers])

    def end(self) -> None:
        mean, of_medians = (math.exp(sum(map(math.log, all_of)) / len(all_of)) for all_of in (self.ratios, self.medians))
        below = sum(ratio < 1 for ratio in self.ratios)
        print(f"| geometric mean of {len(self.ratios)}, {below} below 1 | | | | {mean:.2f} | {of_medians:.2f} | |")
        whole = sum(self.lost.values())
        print("\n| lost | share |\n|---|---|")
        for name, share in sorted(self.lost.items(), key=lambda item: -item[1])[:25]:
            print(f"| {name} | {share / whole:.0%} |")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--make", metavar="PYTHON")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layers", type=int, default=3, help="rows for each model")
    parser.add_argument("--all-layers", action="store_true", help="of models that are not slower, too")
    options = parser.parse_args()
    if options.make:
        subprocess.run([options.make, str(ROOT / "bench" / "make_strangers.py"), str(options.folder), "--only", *options.only],
                       check=False, stdout=subprocess.DEVNULL)
    models = [path for path in sorted(options.folder.glob("*.onnx")) if any(word in path.stem for word in options.only)]
    table = Table(options)
    for model in models:
        table.add(model)
    if table.ratios:
        table.end()
    return 0 if table.ratios else 1


if __name__ == "__main__":
    sys.exit(main())
