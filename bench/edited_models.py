#!/usr/bin/env python3
"""Whether edited benchmark models still compute the same: each is run on ONNX Runtime before and after every edit, on the
same inputs, and the largest difference is printed beside what the edit may cost.

    edited_models.py [--only PART]

Exits 1 where an edit costs more. Exact edits may change bits on ONNX Runtime, which merges other operators then.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from inspect_model import ASSAY, ROOT, model_path

MODELS = ["mobilenetv2", "resnet50", "resnet50_qdq", "yolov5s", "bert_base_s128", "bert_base_s128_dynq", "gpt2_s128",
          "gpt2_dec_p127"]
# Name, words, and the largest difference that is allowed, relative to the largest element.
EDITS = [
    ("folded", ["surgeon", "sanitize", "--fold-constants", "--cleanup", "--toposort"], 1e-5),
    ("simplified", ["surgeon", "sanitize", "--simplify"], 1e-5),
    ("fused", ["surgeon", "sanitize", "--simplify", "--fuse"], 1e-4),
    ("extracted", ["surgeon", "extract"], 0),
    ("float16", ["convert", "--fp-to-fp16"], 2e-2),
]
DYNAMIC_QUANTISED = 5e-2  # a last bit of an activation may move its rounding to 8 bits


def call(*words) -> str:
    environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{words}: exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def difference(edited: pathlib.Path, inputs: pathlib.Path, outputs: pathlib.Path) -> float:
    """The largest absolute difference of any output over the largest element of that output."""
    report = json.loads(call("run", edited, "--onnxrt", "--load-inputs", inputs, "--load-outputs", outputs, "--json", "-"))
    worst = 0.0
    compared = [output for pair in report["pairs"] for step in pair["iterations"] for output in step["outputs"]]
    if not compared:
        raise RuntimeError(f"nothing of {edited} was compared")
    for output in compared:
        largest = max(abs(float(output["b"]["min"])), abs(float(output["b"]["max"])), 1e-30)
        worst = max(worst, float(output["max_abs"]) / largest)
    return worst


def check_model(name: str, folder: pathlib.Path) -> bool:
    model, inputs, outputs = model_path(name), folder / "inputs.json", folder / "outputs.json"
    call("run", model, "--onnxrt", "--sensible-inputs", "--save-inputs", inputs, "--save-outputs", outputs)
    fine = True
    for edit, words, bound in EDITS:
        edited = folder / "edited.onnx"
        call(*words, model, "-o", edited)
        allowed = max(bound, DYNAMIC_QUANTISED) if name.endswith(("dynq", "qdq")) and bound else bound
        worst = difference(edited, inputs, outputs)
        fine &= worst <= allowed
        print(f"  {edit:<11}{worst:12.2e}  allowed {allowed:.0e}  {'ok' if worst <= allowed else 'MISSED'}")
    return fine


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options = options.parse_args()
    fine = True
    for name in MODELS:
        if options.only not in name:
            continue
        print(name, flush=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            fine &= check_model(name, pathlib.Path(folder))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
