#!/usr/bin/env python3
"""Models of your own on the engine beside ONNX Runtime and OpenVINO: whether the engine gives ONNX Runtime's numbers, least
milliseconds of a run, and the ratio of the better rival's to the engine's.

    files.py [--seconds N] FILE|FOLDER...

Inputs are those of NAME.npz beside NAME.onnx, or drawn. The backends run in turns, N seconds each (1), in processes of
their own. A model that differs by more than 1e-5 is compared again with tolerances computed from its arithmetic.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

from engine import ROOT, places

ASSAY = ROOT / "build" / "release" / "bin" / "assay"
RIVALS = ("onnxrt", "openvino")


def assay(command, model, *words):
    inputs = model.with_suffix(".npz")
    given = ["--load-inputs", str(inputs)] if inputs.exists() else []
    return subprocess.run([str(ASSAY), command, str(model), "--engine", "--onnxrt", *given, *words],
                          env=os.environ | places(), capture_output=True, text=True).returncode


def verdict(model):
    if assay("run", model) == 0:
        return "same"
    status = assay("run", model, "--tolerance", "auto")
    return {0: "within its tolerance", 1: "differs"}.get(status, "not run")


def times(model, seconds, threads=0):
    """Least and median milliseconds of a run on each backend that runs the model."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        assay("bench", model, "--openvino", "--duration", str(seconds), "--warm-up", "100", "--json", str(report),
              *(["--threads", str(threads)] if threads else []))
        sides = json.loads(report.read_text())["backends"] if report.exists() else []
    return {side["backend"]: {name: side["compute"][name] * 1000 for name in ("min", "median")}
            for side in sides if side.get("count")}


def row(model, seconds):
    least = {side: found["min"] for side, found in times(model, seconds).items()}
    best = min((least[rival] for rival in RIVALS if rival in least), default=math.nan)
    ratio = best / least["engine"] if "engine" in least else math.nan
    cells = [f"{least[side]:.4f}" if side in least else "-" for side in ("engine", *RIVALS)]
    return ratio, f"| {model.stem} | {verdict(model)} | {' | '.join(cells)} | {ratio:.2f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    models = [file for given in options.files for file in (sorted(given.glob("*.onnx")) if given.is_dir() else [given])]
    if not models:
        print("no models are named")
        return
    print("| model | numbers | engine | onnxrt | openvino | ratio |\n|---|---|---|---|---|---|")
    ratios = []
    for model in models:
        ratio, line = row(model, options.seconds)
        print(line, flush=True)
        ratios += [ratio] if not math.isnan(ratio) else []
    if ratios:
        print(f"| geometric mean | | | | | {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} |")


if __name__ == "__main__":
    main()
