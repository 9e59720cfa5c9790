#!/usr/bin/env python3
"""`assay convert --int8 --asymmetric` beside ONNX Runtime's quantize_static, on the same made-up inputs.

    quantize.py [--runs N] [--only PART]

Of each: the time to convert, how far the output of a further input is from the float model's (SNR in dB), and the time
of a run in ONNX Runtime with two threads; times are minima of N interleaved runs. Exits 1 if ours is clearly worse.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from convert import ASSAY, model_path

NAMES = ["resnet50", "mobilenetv2", "bert_base_s128"]
INPUTS = 2
WORSE_DB = 1.0
WORSE_TIME = 1.2


class Reader(CalibrationDataReader):
    def __init__(self, inputs):
        self.items = iter(inputs)

    def get_next(self):
        return next(self.items, None)


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def draw(rng, inputs):
    feeds = {}
    for item in inputs:
        shape = [dim if isinstance(dim, int) else 1 for dim in item.shape]
        if item.type == "tensor(float)":
            feeds[item.name] = rng.random(shape, dtype=np.float32)
        else:
            limit = 1000 if item.name.endswith("ids") and "type" not in item.name else 2
            feeds[item.name] = rng.integers(0, limit, shape).astype(item.type[7:-1])
    return feeds


def best_times(sessions, feeds, runs):
    times = [float("inf")] * len(sessions)
    for _ in range(runs):
        for i, runner in enumerate(sessions):
            start = time.perf_counter()
            runner.run(None, feeds)
            times[i] = min(times[i], time.perf_counter() - start)
    return times


def run_case(name: str, runs: int, folder: pathlib.Path) -> bool:
    path, ours, rival = model_path(name), folder / "ours.onnx", folder / "rival.onnx"
    plain = session(path)
    rng = np.random.default_rng(1)
    inputs = [draw(rng, plain.get_inputs()) for _ in range(INPUTS)]
    feeds = draw(rng, plain.get_inputs())
    for i, item in enumerate(inputs):
        np.savez(folder / f"inputs{i}.npz", **item)
    start = time.perf_counter()
    subprocess.run([ASSAY, "convert", path, "--int8", "--asymmetric", "-o", ours, "--force", "-qq", "--python",
                    sys.executable, "--load-inputs", *(folder / f"inputs{i}.npz" for i in range(INPUTS))], check=True)
    middle = time.perf_counter()
    quantize_static(str(path), str(rival), Reader(inputs), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod.MinMax)
    end = time.perf_counter()
    sessions = [plain, session(ours), session(rival)]
    expected, *seen = [runner.run(None, feeds)[0].astype(np.float64) for runner in sessions]
    ours_db, rival_db = (10 * np.log10((expected**2).sum() / ((value - expected) ** 2).sum()) for value in seen)
    times = best_times(sessions, feeds, runs)
    missed = ours_db < rival_db - WORSE_DB or times[1] > WORSE_TIME * times[2]
    print(f"{name}: float {times[0] * 1e3:.1f} ms; ours {ours_db:.1f} dB, {times[1] * 1e3:.1f} ms, made in "
          f"{middle - start:.1f} s; rival {rival_db:.1f} dB, {times[2] * 1e3:.1f} ms, made in {end - middle:.1f} s; "
          f"ratio to make {(end - middle) / (middle - start):.1f}" + ("  MISS" if missed else "  ok"), flush=True)
    return missed


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--only", default="")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        return int(any([run_case(case, options.runs, pathlib.Path(name)) for case in NAMES if options.only in case]))


if __name__ == "__main__":
    sys.exit(main())
