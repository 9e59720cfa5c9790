"""Single operators, short chains and pieces of networks at the sizes of real models, on the engine beside ONNX Runtime.

    engine_sizes_test.py RUN_TOOL [--seed N|random] [--count K] [--draw I] [--only NAME,NAME] [--device far|turns]
        [--verbose]

Small tensors seldom reach what divides work among threads, goes block by block, or begins beyond a size. Operands are
inputs, constants or computed (sized_ops/views.py), and draws run with 1 to 3 threads, some with `--strict`, measured
tactics, fewer kernels, bfloat16, open shapes, or a plan that was saved and loaded. Tolerances grow with the magnitude
of results and the length of sums. Where the two differ, the reference in float64 says who is right; what ONNX Runtime
does otherwise is in sized_ops/known.py, with a reason. What it refuses is compared with the reference. `--only` takes
names of functions that draw. `--device` runs them on the far device of tests/support, alone or by turns with the host.
"""

import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np
from random_ops import arguments, models, sides
from sized_ops import draw, judge, known
from sized_ops.graph import EPSILON

DEFAULT_SEED = 20
DEFAULT_COUNT = 700


class Judge:
    """Runs draws on all sides."""

    def __init__(self, run_tool, folder):
        self.tool, self.folder = sides.Tool(run_tool), folder
        self.states = {"same": 0, "as the reference": 0, "refused": 0, "known": 0, "failed": 0}

    def ask(self, backend, count):
        answer = self.tool.ask("\t".join(map(str, (self.folder / "model.onnx", self.folder, self.folder, backend))))
        if not answer.startswith("ok"):
            return None, answer
        return [models.read_output(self.folder / f"output_{i}.pb", "tensor") for i in range(count)], ""

    def judge(self, made):
        """(state, what)"""
        model = made.graph.model()
        models.save(model, made.graph.feeds, self.folder)
        theirs, refusal = sides.run_ort(model, made.graph.feeds)
        count = len(model.graph.output)
        if theirs is None:
            theirs, reason = self.ask("ref", count)
            if theirs is None:
                return "refused", f"{refusal}; {reason}"
        try:
            ours, reason = self.ask(made.backend, count)
        except sides.Died as died:
            ours, reason = None, str(died)
        if ours is None:
            return "failed", reason
        fault = judge.difference(made.graph, ours, theirs)
        if not fault:
            return ("as the reference" if refusal else "same"), refusal
        exact, _ = self.ask("ref-fp64", count)
        if exact is not None and not judge.difference(made.graph, ours, exact):
            rough = not judge.difference(made.graph, ours, theirs, EPSILON["float32"], 100)
            expected = "rounds more than the engine" if rough else known.reason_of(made, model)
            return ("known", expected) if expected else ("failed", f"only ONNX Runtime: {fault}")
        return "failed", fault


def report(options, number, made, what, source):
    folder = options.run_tool.resolve().parents[1] / "engine_sizes" / f"{options.seed}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("output_*", "*.engine"))
    print(f"FAIL {made.name} ({made.backend}): {what}\n  {made}\n  repeat: {pathlib.Path(__file__).name} "
          f"{options.run_tool} --seed {options.seed} --draw {number}\n  saved: {folder}", flush=True)


def parse_arguments(words):
    options = arguments.parser("run_tool", DEFAULT_SEED, DEFAULT_COUNT)
    options.add_argument("--only")
    options.add_argument("--device", choices=["far", "turns"])
    options.add_argument("--verbose", action="store_true", help="a line for each draw that is not the same")
    return arguments.parse(options, words)


def run(options, judge_, number):
    made = draw.make(options.seed, number, options.only.split(",") if options.only else None)
    if made is None:
        return
    if options.device:
        made.backend = made.backend.replace("engine", f"engine-{options.device}", 1)
    state, what = judge_.judge(made)
    judge_.states[state] += 1
    if state == "failed":
        report(options, number, made, what, judge_.folder)
    elif options.verbose and state != "same":
        print(f"{state} {number} {made.name}: {what[:300]}")


def main(words=None):
    options = parse_arguments(words)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as folder:
        judge_ = Judge(options.run_tool, pathlib.Path(folder))
        for number in [options.draw] if options.draw is not None else range(options.count):
            try:
                run(options, judge_, number)
            except Exception:
                judge_.states["failed"] += 1
                print(f"FAIL draw {number}: the test itself: {traceback.format_exc()}", flush=True)
    states = ", ".join(f"{count} {state}" for state, count in judge_.states.items())
    print(f"seed {options.seed}: {states}; {time.monotonic() - start:.0f} s")
    return 1 if judge_.states["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
