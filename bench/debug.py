#!/usr/bin/env python3
"""What the search for a culprit costs.

    debug.py [--runs N] [--only PART]

accuracy: `debug accuracy` of two backends beside the runs that it needs at least, which are one of each backend and
one of the reference in float64; least wall times and greatest memory of N runs in turns. reduce: the processor time that
a check takes beside the program that checks, at 2,000 nodes on average, and a model of 100,000 nodes with a check of
50 ms. Exits 1 if a bar is missed.
"""

import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import measure
import onnx
from convert import ASSAY, model_path
from onnx import TensorProto, helper

SIDES = ["onnxrt", "engine"]
BAR_TIME, BAR_MEMORY = 3, 2
BAR_OVERHEAD_MS, BAR_LARGE_SECONDS = 3, 60
AVERAGE, LARGE = 2_000, 100_000


def accuracy(name, options):
    model = str(model_path(name))
    commands = [[ASSAY, "debug", "accuracy", model, f"--{SIDES[0]}", "--against", SIDES[1]],
                *([ASSAY, "run", model, f"--{side}"] for side in [*SIDES, "ref-fp64"])]
    hunt, *parts = measure.side_by_side(commands, options.runs)
    if any(result.status not in (0, 1) for result in (hunt, *parts)):
        return False, "a command failed"
    time_ratio = hunt.ms / sum(part.ms for part in parts)
    memory_ratio = hunt.mb / max(part.mb for part in parts[:2])
    return (time_ratio <= BAR_TIME and memory_ratio <= BAR_MEMORY,
            f"{hunt.ms:.0f} ms, {time_ratio:.2f} of the runs' {sum(part.ms for part in parts):.0f} (bar {BAR_TIME}); "
            f"{hunt.mb:.0f} MB, {memory_ratio:.2f} of the larger backend's (bar {BAR_MEMORY})")


def save_chain(count, path):
    nodes = [helper.make_node("Neg", [f"v{i}" if i else "x"], [f"v{i + 1}"], f"link_{i:06}_") for i in range(count)]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    last = helper.make_tensor_value_info(f"v{count}", TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, "chain", [given], [last])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def processor_seconds(command, **options):
    """Of a program and those that it runs; and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def reduce(folder, *words):
    """The processor's seconds, and how many checks there were."""
    seconds, done = processor_seconds([ASSAY, "debug", "reduce", "chain.onnx", "-o", "reduced.onnx", *words], cwd=folder)
    found = re.search(r"Finished (\d+) iteration", done.stdout)
    if done.returncode != 0 or found is None:
        raise RuntimeError(done.stdout[-500:] + done.stderr)
    return seconds, int(found.group(1))


def overhead(folder, options):
    """Every part fails, so that one node after the other goes."""
    save_chain(2 * AVERAGE, folder / "chain.onnx")
    check = processor_seconds(["sh", "-c", "for i in $(seq 1000); do /bin/false; done"])[0]
    least = min((seconds * 1000 / count - check, count) for seconds, count in
                (reduce(folder, "--mode", "linear", "--check", "false") for _ in range(options.runs)))
    return least[0] <= BAR_OVERHEAD_MS, (f"{least[0]:.2f} ms for each of {least[1]} checks, beside the check's {check:.2f} ms "
                                         f"(bar {BAR_OVERHEAD_MS})")


def large(folder, _options):
    save_chain(LARGE, folder / "chain.onnx")
    (folder / "check.sh").write_text(f"sleep 0.05; ! grep -aq link_{LARGE // 3:06}_ polygraphy_debug.onnx\n")
    start = time.perf_counter()
    _, count = reduce(folder, "--check", "sh", "check.sh")
    seconds = time.perf_counter() - start
    left = len(onnx.load(folder / "reduced.onnx").graph.node)
    return seconds <= BAR_LARGE_SECONDS and left == 1, f"{seconds:.1f} s, {count} checks, {left} node left (bar {BAR_LARGE_SECONDS})"


def main():
    options = measure.parse_options(3)
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    rows = {"accuracy resnet50": lambda: accuracy("resnet50", options),
            "accuracy bert_base_s128": lambda: accuracy("bert_base_s128", options),
            "reduce overhead": lambda: overhead(folder, options),
            "reduce 100,000 nodes": lambda: large(folder, options)}
    missed = 0
    try:
        for name, row in rows.items():
            if options.only not in name:
                continue
            is_met, text = row()
            missed += not is_met
            print(f"{name}: {text}  {'ok' if is_met else 'MISS'}", flush=True)
    finally:
        shutil.rmtree(folder)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
