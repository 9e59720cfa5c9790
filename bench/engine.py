#!/usr/bin/env python3
"""The engine beside ONNX Runtime and OpenVINO: least milliseconds of a run, batch 1 on all cores unless
the mode says otherwise.

    engine.py [--seconds N] [--only PART] [--mode MODE...] [--threads N] [--memory] [--build] [--profile-cost]

Modes: `strict` and `default` in float32 with measured tactics, `guess` without measuring, `bf16` (so may OpenVINO; ONNX
Runtime stays in float32), `int8` for quantised models, `decode` for a step of decoding with compressed weights (the rivals
have those of float32), `llama` for one of a decoder of 1.1 B parameters whose weights are MatMulNBits on all sides, `batch`
for larger batches and `small` for small models, both with one thread.

Each backend has a process of its own and is run in turn, for N seconds in all and three times at least, by the program
engine_bench; only the computing counts, and not that of the first run. The ratio is that of the better rival's minimum to the engine's.

`--memory` shows in place of times the most memory that building takes, of a plan (`convert -o`) and of a run, beside the
size of the model; and what a process takes that loads a model and runs it a few times, beside the rivals.
`--build` shows how long building and loading a plan take.
`--profile-cost` shows what measuring the time of each layer costs: runs of one session with and without it, in turns.
"""

import argparse
import glob
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable

from measure import Result, run_once

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
PROGRAM = ROOT / "build" / "release" / "tests" / "engine_bench"
NAMES = ("resnet50", "mobilenetv2", "yolov5s", "bert_base_s128", "gpt2_s128", "gpt2_dec_p127")
CONVERTED = ("mobilenetv2", "bert_base_s128")  # to int8, calibrated on generated inputs
QUANTISED = ("resnet50_qdq", *(f"{name}_qdq" for name in CONVERTED), "bert_base_s128_dynq")
BATCHES = ("resnet50_b8", "resnet50_b32", "bert_base_s128_b8", "bert_base_s128_b32")
SMALL = ("small_perceptron", "small_lstm", "small_trees")
LLAMA = ("llama_1b_dec_p127_int4",)
DECODER = "gpt2_dec_p127"
MEMORY = ("resnet50", "bert_base_s128", "gpt2_s128")  # small ones take what the program and its libraries take
BUILT = ("resnet50", "bert_base_s128")
PROFILED = ("resnet50", "mobilenetv2")
COMPRESSED = {f"{DECODER}_int8": ("--weights", "int8"),
              f"{DECODER}_int4": ("--weights", "int4", "--weights-form", "matmulnbits")}
A_FEW_RUNS = ("--duration", "0", "--iterations", "5", "--warm-up", "0")
MEASURED = ("+measure-tactics",)
MODES = {"strict": (NAMES, ("+strict", *MEASURED)), "default": (NAMES, MEASURED), "guess": (NAMES, ()),
         "bf16": (NAMES, ("+bf16", "+openvino-mode=PERFORMANCE", *MEASURED)), "int8": (QUANTISED, MEASURED),
         "decode": (tuple(COMPRESSED), MEASURED), "llama": (LLAMA, MEASURED), "batch": (BATCHES, (*MEASURED, "threads=1")),
         "small": (SMALL, (*MEASURED, "threads=1"))}
WITHOUT_OPENVINO = ("small_trees",)  # it has no operators for words


def packages() -> str:
    return glob.glob(str(ROOT / ".venv" / "lib" / "python3*" / "site-packages"))[0]


def places() -> dict[str, str]:
    """Where the backends' libraries are."""
    return {name: packages() for name in ("ASSAY_ONNXRUNTIME", "ASSAY_OPENVINO", "ASSAY_ONEDNN")}


def assay(*words: str) -> Result:
    """What a run of the program takes."""
    os.environ |= places()
    result = Result()
    run_once([str(ROOT / "build" / "release" / "bin" / "assay"), *words], result)
    if result.status != 0:
        raise RuntimeError(f"assay {' '.join(words)}: exit {result.status}")
    return result


def megabytes(*words: str) -> float:
    return assay(*words).mb * 2**20 / 1e6


def measure(model: pathlib.Path, seconds: float, settings: tuple[str, ...],
            wanted: tuple[str, ...] = ("engine", "onnxrt", "openvino")) -> dict[str, float]:
    sides = [side for side in wanted if side != "openvino" or model.stem not in WITHOUT_OPENVINO]
    if model.stem in COMPRESSED:
        sides[0] = f"engine={model}"
        model = MODELS / f"{DECODER}.onnx"
    done = subprocess.run([str(PROGRAM), str(model), str(seconds), *sides, *settings], env=os.environ | places(),
                          capture_output=True, check=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def table(mode: str, names: list[str], seconds: float, threads: int = 0,
          show: Callable[[str], None] = lambda line: None) -> list[str]:
    """The lines of a table, each shown as soon as it is there."""
    lines: list[str] = []

    def add(line: str) -> None:
        lines.append(line)
        show(line)

    add(f"| {mode} | engine | onnxrt | openvino | ratio |")
    add("|---|---|---|---|---|")
    ratios = []
    settings = (*MODES[mode][1], *([f"threads={threads}"] if threads else []))
    for name in names:
        best = measure(MODELS / f"{name}.onnx", seconds, settings)
        ratios.append(min(best["onnxrt"], best.get("openvino", math.inf)) / best["engine"])
        rival = f"{best['openvino']:.4f}" if "openvino" in best else "-"
        add(f"| {name} | {best['engine']:.4f} | {best['onnxrt']:.4f} | {rival} | {ratios[-1]:.2f} |")
    if ratios:
        add(f"| geometric mean | | | | {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} |")
    return lines


def memory_table(names: list[str]) -> list[str]:
    """The resident memory at its most; pages of mapped files count while they are there."""
    lines = ["| memory | model, MB | `convert -o`, MB | of the model | `run`, MB | of the model |", "|---|---|---|---|---|---|"]
    for name in names:
        model = MODELS / f"{name}.onnx"
        size = model.stat().st_size / 1e6
        cells = [name, f"{size:.0f}"]
        with tempfile.TemporaryDirectory(dir=MODELS) as folder:
            for words in (("convert", str(model), "-o", f"{folder}/x.engine"), ("run", str(model), "--engine")):
                taken = megabytes(*words)
                cells += [f"{taken:.0f}", f"{taken / size:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def session_table(names: list[str]) -> list[str]:
    """The same of processes that load a model, or a plan that was built of it before, and run it a few times."""
    lines = ["| memory of a session, MB | from a plan | from the model | onnxrt | openvino | of the lesser rival |",
             "|---|---|---|---|---|---|"]
    for name in names:
        model = str(MODELS / f"{name}.onnx")
        with tempfile.TemporaryDirectory(dir=MODELS) as folder:
            plan = f"{folder}/x.engine"
            assay("convert", model, "-o", plan)
            taken = [megabytes("bench", "--load-engine", plan, *A_FEW_RUNS),
                     *(megabytes("bench", model, f"--{side}", *A_FEW_RUNS) for side in ("engine", "onnxrt", "openvino"))]
        lines.append(f"| {name} | {' | '.join(f'{each:.0f}' for each in taken)} | {taken[0] / min(taken[2:]):.2f} |")
    return lines


def build_table(names: list[str]) -> list[str]:
    """Seconds from the start of a process to its end, which is where the engine is there."""
    lines = ["| building, s | without a timing cache | with one | loading the plan |", "|---|---|---|---|"]
    for name in names:
        words = ("convert", str(MODELS / f"{name}.onnx"), "--force")
        with tempfile.TemporaryDirectory(dir=MODELS) as folder:
            plan, cache = f"{folder}/x.engine", f"{folder}/x.cache"
            taken = [assay(*words, "-o", plan, "--save-timing-cache", cache),
                     assay(*words, "-o", plan, "--load-timing-cache", cache),
                     min((assay("bench", "--load-engine", plan, "--skip-inference") for _ in range(5)),
                         key=lambda result: result.ms)]
        lines.append(f"| {name} | {' | '.join(f'{each.ms / 1e3:.3f}' for each in taken)} |")
    return lines


def profile_table(names: list[str], seconds: float) -> list[str]:
    """Least milliseconds of a run, and the ratio of both; on all cores, and with one thread, where clocks are dearer."""
    lines = ["| a profile by layer | threads | without, ms | with it, ms | ratio |", "|---|---|---|---|---|"]
    for name in names:
        for threads in ("all", "1"):
            words = () if threads == "all" else (f"threads={threads}",)
            best = measure(MODELS / f"{name}.onnx", seconds, words, ("engine", "profiled"))
            ratio = best["profiled"] / best["engine"]
            lines.append(f"| {name} | {threads} | {best['engine']:.4f} | {best['profiled']:.4f} | {ratio:.4f} |")
    return lines


def make(names: list[str]) -> None:
    """Writes the models that are not there yet."""
    converted = [name for name in CONVERTED if f"{name}_qdq" in names]
    compressed = [name for name in COMPRESSED if name in names]
    sources = {*names, *converted, *([DECODER] if compressed else [])}
    made = sorted(sources - {f"{name}_qdq" for name in CONVERTED} - set(compressed))
    subprocess.run([sys.executable, str(ROOT / "bench" / "make_models.py"), str(MODELS), *made], check=True,
                   stdout=subprocess.DEVNULL)
    for name in converted:
        convert(name, f"{name}_qdq", "--int8", "--asymmetric")
    for name in compressed:
        convert(DECODER, name, *COMPRESSED[name])


def convert(source: str, name: str, *words: str) -> None:
    target = MODELS / f"{name}.onnx"
    if not target.exists():
        subprocess.run([str(ROOT / "build" / "release" / "bin" / "assay"), "convert", str(MODELS / f"{source}.onnx"),
                        *words, "-o", str(target)], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=0, help="0: those of the mode")
    parser.add_argument("--mode", nargs="+", choices=MODES, default=["strict", "default"])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--profile-cost", action="store_true")
    options = parser.parse_args()
    modes = {mode: [name for name in MODES[mode][0] if options.only in name] for mode in options.mode}
    subprocess.run([str(ROOT / "tools" / "build.sh"), "release", "engine_bench", "assay"], check=True,
                   stdout=subprocess.DEVNULL)
    others = {*(NAMES if options.memory else BUILT), *(PROFILED if options.profile_cost else ())}
    make(sorted({name for chosen in modes.values() for name in chosen} | others))
    if options.memory:
        print("\n".join([*memory_table([name for name in MEMORY if options.only in name]), "",
                         *session_table([name for name in NAMES if options.only in name])]))
    if options.build:
        print("\n".join(build_table([name for name in BUILT if options.only in name])))
    if options.profile_cost:
        print("\n".join(profile_table([name for name in PROFILED if options.only in name], options.seconds)))
    if options.memory or options.build or options.profile_cost:
        return 0
    for mode, chosen in modes.items():
        table(mode, chosen, options.seconds, options.threads, lambda line: print(line, flush=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
