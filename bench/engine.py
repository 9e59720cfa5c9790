#!/usr/bin/env python3
"""The engine beside ONNX Runtime and OpenVINO: least milliseconds of a run, batch 1 on all cores unless
the mode says otherwise.

    engine.py [--seconds N] [--only PART] [--mode MODE...]

Modes: `strict` and `default` in float32 with measured tactics, `guess` without measuring, `bf16` (the rivals stay in
float32), `int8` for quantised models, `batch` for larger batches and `small` for small models, both with one thread.

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
CONVERTED = ("mobilenetv2", "bert_base_s128")  # to int8, calibrated on generated inputs
QUANTISED = ("resnet50_qdq", *(f"{name}_qdq" for name in CONVERTED), "bert_base_s128_dynq")
BATCHES = ("resnet50_b8", "resnet50_b32", "bert_base_s128_b8", "bert_base_s128_b32")
SMALL = ("small_perceptron", "small_lstm", "small_trees")
MEASURED = ("+measure-tactics",)
MODES = {"strict": (NAMES, ("+strict", *MEASURED)), "default": (NAMES, MEASURED), "guess": (NAMES, ()),
         "bf16": (NAMES, ("+bf16", *MEASURED)), "int8": (QUANTISED, MEASURED),
         "batch": (BATCHES, (*MEASURED, "threads=1")), "small": (SMALL, (*MEASURED, "threads=1"))}
WITHOUT_OPENVINO = ("small_trees",)  # it has no operators for words


def measure(model: pathlib.Path, seconds: float, settings: tuple[str, ...]) -> dict[str, float]:
    packages = glob.glob(str(ROOT / ".venv" / "lib" / "python3*" / "site-packages"))[0]
    places = {name: packages for name in ("ASSAY_ONNXRUNTIME", "ASSAY_OPENVINO", "ASSAY_ONEDNN")}
    sides = ("engine", "onnxrt") if model.stem in WITHOUT_OPENVINO else ("engine", "onnxrt", "openvino")
    done = subprocess.run([str(PROGRAM), str(model), str(seconds), *sides, *settings], env=os.environ | places,
                          capture_output=True, check=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def print_mode(mode: str, names: list[str], seconds: float) -> None:
    print(f"{mode:<18} {'engine':>10} {'onnxrt':>10} {'openvino':>10}  ratio")
    ratios = []
    for name in names:
        best = measure(MODELS / f"{name}.onnx", seconds, MODES[mode][1])
        ratios.append(min(best["onnxrt"], best.get("openvino", math.inf)) / best["engine"])
        rival = f"{best['openvino']:10.4f}" if "openvino" in best else f"{'-':>10}"
        print(f"{name:<18} {best['engine']:10.4f} {best['onnxrt']:10.4f} {rival}  {ratios[-1]:.2f}", flush=True)
    if ratios:
        print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


def make(names: list[str]) -> None:
    """Writes the models that are not there yet."""
    converted = [name for name in CONVERTED if f"{name}_qdq" in names]
    made = sorted({*names, *converted} - {f"{name}_qdq" for name in CONVERTED})
    subprocess.run([sys.executable, str(ROOT / "bench" / "make_models.py"), str(MODELS), *made], check=True,
                   stdout=subprocess.DEVNULL)
    for name in converted:
        target = MODELS / f"{name}_qdq.onnx"
        if not target.exists():
            subprocess.run([str(ROOT / "build" / "release" / "bin" / "assay"), "convert", str(MODELS / f"{name}.onnx"),
                            "--int8", "--asymmetric", "-o", str(target)], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--mode", nargs="+", choices=MODES, default=["strict", "default"])
    options = parser.parse_args()
    modes = {mode: [name for name in MODES[mode][0] if options.only in name] for mode in options.mode}
    subprocess.run([str(ROOT / "tools" / "build.sh"), "release", "engine_bench", "assay"], check=True,
                   stdout=subprocess.DEVNULL)
    make(sorted({name for chosen in modes.values() for name in chosen}))
    for mode, chosen in modes.items():
        print_mode(mode, chosen, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
