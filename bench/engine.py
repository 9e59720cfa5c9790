#!/usr/bin/env python3
"""The engine beside ONNX Runtime and OpenVINO: least milliseconds of a run, batch 1, on all cores.

    engine.py [--seconds N] [--only PART] [--mode MODE...]

Modes: `strict` and `default` in float32 with measured tactics, `guess` without measuring, `bf16` (the rivals stay in
float32), `int8` for quantised models.

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
QUANTISED = ("resnet50_qdq",)
SETTINGS = {"strict": ("+strict", "+measure-tactics"), "default": ("+measure-tactics",), "guess": (),
            "bf16": ("+bf16", "+measure-tactics"), "int8": ("+measure-tactics",)}


def measure(model: pathlib.Path, seconds: float, settings: tuple[str, ...]) -> dict[str, float]:
    packages = glob.glob(str(ROOT / ".venv" / "lib" / "python3*" / "site-packages"))[0]
    places = {name: packages for name in ("ASSAY_ONNXRUNTIME", "ASSAY_OPENVINO", "ASSAY_ONEDNN")}
    done = subprocess.run([str(PROGRAM), str(model), str(seconds), *settings], env=os.environ | places, capture_output=True,
                          check=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def print_mode(mode: str, names: list[str], seconds: float) -> None:
    print(f"{mode:<16} {'engine':>9} {'onnxrt':>9} {'openvino':>9}  ratio")
    ratios = []
    for name in names:
        best = measure(MODELS / f"{name}.onnx", seconds, SETTINGS[mode])
        ratios.append(min(best["onnxrt"], best["openvino"]) / best["engine"])
        print(f"{name:<16} {best['engine']:9.2f} {best['onnxrt']:9.2f} {best['openvino']:9.2f}  {ratios[-1]:.2f}", flush=True)
    if ratios:
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", nargs="+", choices=SETTINGS, default=["strict", "default"])
    options = parser.parse_args()
    modes = {mode: [name for name in (QUANTISED if mode == "int8" else NAMES) if options.only in name]
             for mode in options.mode}
    names = sorted({name for chosen in modes.values() for name in chosen})
    subprocess.run([str(ROOT / "tools" / "build.sh"), "release", "engine_bench"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, str(ROOT / "bench" / "make_models.py"), str(MODELS), *names], check=True,
                   stdout=subprocess.DEVNULL)
    for mode, chosen in modes.items():
        print_mode(mode, chosen, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
