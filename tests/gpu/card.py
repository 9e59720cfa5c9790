"""The engine on a card: operator cases, ONNX's own tests, random graphs and benchmark models, in one report.

    card.py BUILD [--report FILE] [--models NAME...] [--only PART...]

BUILD is the folder of a build, with bin/assay and tests/. Every part says how many passed; the status is 1 if one part
failed something that the engine on the processor does not fail.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench"), str(ROOT / "tests" / "interop")]
import make_models  # noqa: E402
import make_node_tests  # noqa: E402
import lives  # noqa: E402
import tiles  # noqa: E402
from conformance_exceptions import EXCEPTIONS  # noqa: E402

WORKERS = min(12, os.cpu_count() or 1)
MODELS = ["resnet50", "mobilenetv2", "yolov5s", "bert_base_s128", "gpt2_s128", "resnet50_qdq"]
DECODER = "llama_dec_p127"  # whose launches begin before the one before them has waited
GRAPHS = 300


class Report:
    def __init__(self, path):
        self.file = path.open("w") if path else None
        self.failed = False

    def add(self, line):
        print(line, flush=True)
        if self.file:
            print(line, file=self.file, flush=True)

    def part(self, name, seconds, passed, total, faults):
        self.failed |= passed < total
        self.add(f"{name:<28} {passed:>6,} of {total:>6,}   {seconds:6.1f} s")
        for fault in faults[:20]:
            self.add(f"    {fault[:200]}")


def run(*command, seconds=900, **variables):
    """Status and output of a command that has the card."""
    environment = os.environ | {"ASSAY_DEVICE": "cuda"} | variables
    done = subprocess.run([str(word) for word in command], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=seconds, errors="replace")
    return done.returncode, done.stdout


def each(fn, items):
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(fn, items))


def operator_cases(build):
    files = sorted((ROOT / "tests" / "cases").glob("*/*.case"))
    outputs = each(lambda file: run(build / "tests" / "op_cases", "--backend", "engine", file)[1], files)
    passed = failed = 0
    faults = []
    for file, output in zip(files, outputs):
        counts = re.search(r"(\d+) passed, (\d+) failed", output)
        passed += int(counts[1]) if counts else 0
        failed += int(counts[2]) if counts else 1
        faults += [line for line in output.splitlines() if line.startswith("FAIL")] if counts else [f"{file}: {output}"]
    return passed, passed + failed, faults


def onnx_tests(build, folder):
    make_node_tests.write_tests(folder, make_node_tests.KINDS)
    patterns = [f"test_{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz"] + ["[!t]*", "test_[!a-z]*"]
    outputs = each(lambda pattern: run(build / "tests" / "onnx_cases", folder, "--backend", "engine", "--only",
                                       pattern)[1], patterns)
    passed = total = 0
    faults = []
    for output in outputs:
        counts = re.search(r"all ([\d,]+)/([\d,]+)", output)
        if counts:
            passed += int(counts[1].replace(",", ""))
            total += int(counts[2].replace(",", ""))
        faults += [line for line in output.splitlines() if line.startswith("FAIL")]
    known = [fault for fault in faults if fault.split()[1].rstrip(":") in EXCEPTIONS]
    return passed + len(known), total, [fault for fault in faults if fault not in known]


def random_graphs(build):
    status, output = run(sys.executable, ROOT / "tests" / "interop" / "random_graphs_test.py",
                         build / "tests" / "infer_tool", "--count", GRAPHS, "--backends", "engine")
    return (GRAPHS if status == 0 else 0), GRAPHS, [] if status == 0 else output.splitlines()[-20:]


# Operands that begin in the middle of other values, whose neighbours cannot be read at once.
VIEWS = [
    "(float[4,33] x) => (float[4,32] y) <int64[1] b = {1}, int64[1] e = {33}, int64[1] a = {1}> "
    "{ s = Slice(x, b, e, a) y = Relu(s) }",
    "(float16[65,64] x, float16[64,32] w) => (float16[64,32] y) <int64[1] b = {1}, int64[1] e = {65}, int64[1] a = {0}> "
    "{ t = Reshape(x, n) s = Slice(t, f, l, a) r = Reshape(s, m) y = MatMul(r, w) }",
]
SHAPES = "<int64[1] n = {4160}, int64[1] f = {3}, int64[1] l = {4099}, int64[2] m = {64,64}, "


def views(build, folder):
    folder.mkdir(parents=True, exist_ok=True)
    passed, faults = 0, []
    for number, text in enumerate(VIEWS):
        path = folder / f"view{number}.onnxtxt"
        path.write_text('<ir_version: 8, opset_import: ["" : 17]>\ng ' + text.replace("<", SHAPES, 1))
        status, output = run(build / "bin" / "assay", "run", path, "--engine", "--onnxrt", "--tolerance", "auto")
        passed += status == 0
        if status:
            faults.append(f"{path}: status {status}: {output.strip().splitlines()[-1]}")
    return passed, len(VIEWS), faults


def ranks(build, folder):
    """Shards on two contexts of the card (ranks.py)."""
    done = subprocess.run([sys.executable, ROOT / "tests" / "gpu" / "ranks.py", build, "--folder", folder],
                          capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("good", "BAD"))]
    faults = [line for line in lines if line.startswith("BAD")]
    return len(lines) - len(faults), max(1, len(lines)), faults


def models(build, folder, names):
    """Each model in float32, TF32, float16 and bfloat16 beside ONNX Runtime, with tolerances computed for it."""
    passed, faults = 0, []
    runs = [(name, flags) for name in names for flags in ([], ["--tf32"], ["--fp16"], ["--bf16"])]
    for name, flags in runs:
        path = make_models.make(folder, name)
        status, output = run(build / "bin" / "assay", "run", path, "--engine", "--device", "cuda", *flags, "--onnxrt",
                             "--tolerance", "auto")
        passed += status == 0
        if status:
            faults.append(f"{name} {' '.join(flags)}: status {status}: {output.strip().splitlines()[-1]}")
    return passed, len(runs), faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="parts whose names have one of these words")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/gpu"))
    options = parser.parse_args()
    report = Report(options.report)
    options.folder.mkdir(parents=True, exist_ok=True)
    status, output = run(options.build / "bin" / "assay", "doctor", "--engine")
    report.add("\n".join(line for line in output.splitlines() if "cuda" in line))
    if "cuda:0   | usable" not in output:
        report.add("there is no card to test on")
        return 3
    folder = options.folder / "models"
    made = [make_models.make(folder, name) for name in (*options.models[:2], DECODER)]
    parts = [("operator cases", lambda: operator_cases(options.build)),
             ("tests of ONNX", lambda: onnx_tests(options.build, options.folder / "onnx")),
             ("random graphs", lambda: random_graphs(options.build)),
             ("views", lambda: views(options.build, options.folder / "views")),
             ("shapes of tiles", lambda: tiles.tiles(run, each, options.build, options.folder / "tiles")),
             ("ranks", lambda: ranks(options.build, options.folder / "ranks")),
             ("benchmark models", lambda: models(options.build, folder, options.models)),
             ("launches that begin early", lambda: lives.delays(run, options.build, options.folder, made)),
             ("plans in other processes", lambda: lives.plans(run, options.build, options.folder, made)),
             ("compute-sanitizer", lambda: lives.sanitizer(run, each, options.build, ROOT / "tests" / "cases")),
             ("accidents", lambda: lives.accidents(run, options.build, options.folder, made[0])),
             ("lifetimes", lambda: lives.lifetimes(run, options.build, options.folder))]
    for name, part in parts:
        if options.only and not any(word in name for word in options.only):
            continue
        begin = time.monotonic()
        passed, total, faults = part()
        report.part(name, time.monotonic() - begin, passed, total, faults)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
