#!/usr/bin/env python3
"""The engine beside ONNX Runtime and OpenVINO: least milliseconds of a run in float32, batch 1, on all cores.

    engine.py [--seconds N] [--only PART]

Each backend has a process of its own and is run in turn, for N seconds in all, by the program engine_bench; only the
computing counts. The ratio is that of the better rival's minimum to the engine's.
"""

import argparse
import glob
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
PROGRAM = ROOT / "build" / "release" / "tests" / "engine_bench"
NAMES = ("resnet50", "mobilenetv2", "yolov5s", "bert_base_s128", "gpt2_s128", "gpt2_dec_p127")


def measure(model: pathlib.Path, seconds: float) -> dict[str, float]:
    packages = glob.glob(str(ROOT / ".venv" / "lib" / "python3*" / "site-packages"))[0]
    places = {name: packages for name in ("ASSAY_ONNXRUNTIME", "ASSAY_OPENVINO", "ASSAY_ONEDNN")}
    done = subprocess.run([str(PROGRAM), str(model), str(seconds)], env=os.environ | places, capture_output=True,
                          check=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    names = [name for name in NAMES if options.only in name]
    subprocess.run([str(ROOT / "tools" / "build.sh"), "release", "engine_bench"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, str(ROOT / "bench" / "make_models.py"), str(MODELS), *names], check=True,
                   stdout=subprocess.DEVNULL)
    print(f"{'model':<16} {'engine':>9} {'onnxrt':>9} {'openvino':>9}  ratio")
    ratios = []
    for name in names:
        best = measure(MODELS / f"{name}.onnx", options.seconds)
        ratios.append(min(best["onnxrt"], best["openvino"]) / best["engine"])
        print(f"{name:<16} {best['engine']:9.2f} {best['onnxrt']:9.2f} {best['openvino']:9.2f}  {ratios[-1]:.2f}", flush=True)
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
