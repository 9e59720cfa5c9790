#!/usr/bin/env python3
"""`assay run --decode` of a decoder of 12 layers on three backends, beside each of them alone: the time of the
comparison is at most 1.5 times the sum of the runs. The tokens are those of ONNX Runtime's own loop."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "interop"))

import decoders  # noqa: E402  (its folder is put on the path above)

PROMPT = np.arange(16, dtype=np.int64)[None] * 7
GOAL = 1.5


def seconds_of(words, folder):
    begin = time.perf_counter()
    subprocess.run([str(ROOT / "build/release/bin/assay"), "run", "m.onnx", *words], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    sides = ["--onnxrt", "--engine", "--openvino"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = decoders.save(folder / "m.onnx", layers=12, width=options.width, heads=8, vocab=8000, room=128)
        np.savez(folder / "ids.npz", input_ids=PROMPT)
        common = ["--decode", str(options.steps), "--load-inputs", "ids.npz"]
        alone, together = [], []
        for _ in range(options.runs):
            alone.append(sum(seconds_of([side, *common], folder) for side in sides))
            together.append(seconds_of([*sides, *common, "--json", "report.json"], folder))
        report = json.loads((folder / "report.json").read_text())
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        tokens, _ = decoders.loop(session, model, PROMPT, options.steps)
    same = [step["token"][0] for step in report["steps"]] == tokens[:, 0].tolist()
    ratio = min(together) / min(alone)
    for run in report["runs"]:
        print(f"{run['runner'].split('-runner')[0]}: {run['timings']['run_seconds']:.3f} s in {run['iterations']} steps")
    print(f"comparing: {report['timings']['compare_seconds']:.3f} s; the tokens of ONNX Runtime's loop: {same}")
    print(f"three backends together {min(together):.2f} s, one by one {min(alone):.2f} s: {ratio:.2f} (goal {GOAL})")
    return 0 if ratio <= GOAL and same else 1


if __name__ == "__main__":
    sys.exit(main())
