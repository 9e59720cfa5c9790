"""Random graphs through the passes: the rewritten model computes what the model computed.

    random_passes_test.py PASS_TOOL [--seed N|random] [--count K] [--draw I]

Exact passes, each alone and as the sequence `simplify`, must keep every bit of every output on the reference, for
inputs with NaN, infinity and -0, also when they are stopped after any step. Fusion must stay within a bound that is
computed from the magnitude of the terms and the number of roundings. The rewritten model is written and loaded again;
ONNX Runtime gives for a share of them what it gives for the model as it was.
"""

import collections
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import onnx
from random_graphs_test import array_fault
from random_ops import arguments, models, sides
from random_ops.draw import Rng
from random_ops.patterns import FusionCase, PatternBuilder

DEFAULT_SEED = 4
DEFAULT_COUNT = 120
FUSIONS_PER_GRAPH = 4
ORT_SHARE = 0.25
IDLE = {"sort", "remove-zero-sums"}  # graphs are in order, and weights not all zeros


class Judge:
    def __init__(self, pass_tool, folder):
        self.tool = sides.Tool(pass_tool)
        self.folder = folder
        classes = dict(entry.rsplit(":", 1) for entry in self.tool.ask("list").split()[1:])
        self.exact = [name for name, kind in classes.items() if kind == "exact"]
        self.rounding = [name for name, kind in classes.items() if kind == "rounding"]
        self.steps = collections.Counter()
        self.refused = 0

    def rewrite(self, path, passes, stop="-"):
        """(steps, whether all is equal, fault)"""
        answer = self.tool.ask("\t".join(map(str, (path, path.parent, self.folder, passes, stop))))
        words = answer.split()
        if words[0] != "ok":
            return 0, True, answer
        steps, again = int(words[1]), int(words[2])
        self.steps[passes] += steps
        fault = f"a second run takes {again} steps" if again and stop == "-" else ""
        return steps, words[3] == "equal", fault

    def differences(self, count):
        """Outputs that are not the same, NaN being NaN."""
        for i in range(count):
            before = self.folder / f"before_{i}.pb"
            after = self.folder / f"after_{i}.pb"
            if before.exists():
                pair = [models.read_output(path, "tensor") for path in (before, after)]
                before.unlink()
                after.unlink()
                if not is_same(*pair):
                    yield i, *pair

    def exactly(self, path, count, passes, stop="-"):
        steps, equal, fault = self.rewrite(path, passes, stop)
        faults = [f"{passes}: {fault}"] if fault else []
        if not equal:
            faults += [f"{passes} (stop {stop}): output {i} {a.reshape(-1)[:6]} became {b.reshape(-1)[:6]}"
                       for i, a, b in self.differences(count)]
        return steps, faults

    def judge_graph(self, builder, rng):
        model = builder.model()
        path = models.save(model, builder.feeds, self.folder / "graph")
        count = len(model.graph.output)
        faults = []
        for name in self.exact:
            faults += self.exactly(path, count, name)[1]
        steps, found = self.exactly(path, count, "simplify")
        faults += found
        if rng.maybe(ORT_SHARE):
            faults += self.compare_ort(model, onnx.load(self.folder / "model.onnx"), builder.feeds)
        for stop in rng.sample(range(steps), min(steps, 2)):
            faults += self.exactly(path, count, "simplify", stop)[1]
        return faults

    def compare_ort(self, model, rewritten, feeds):
        before, refusal = sides.run_ort(model, feeds)
        if before is None:
            self.refused += 1
            return []
        after, refusal = sides.run_ort(rewritten, feeds)
        if after is None:
            return [f"ONNX Runtime refuses what was rewritten: {refusal}"]
        pairs = zip(before, after)
        return [f"ONNX Runtime: {fault}" for a, b in pairs if b.dtype.kind in "fiub" and (fault := array_fault(a, b))]

    def judge_fusion(self, case):
        path = models.save(case.model(), case.feeds(), self.folder / "fusion")
        magnitude, refusal = sides.run_ort(case.model(magnitude=True), case.feeds(magnitude=True))
        if magnitude is None:
            return [f"magnitude: {refusal}"]
        faults = []
        for name in (*self.rounding, "fuse"):
            _, equal, fault = self.rewrite(path, name)
            faults += [f"{name}: {fault}"] if fault else []
            for _, before, after in [] if equal else self.differences(1):
                faults += bound_faults(name, before, after, case.bound(magnitude[0]))
        before, after = (sides.run_ort(model, case.feeds())[0]
                         for model in (case.model(), onnx.load(self.folder / "model.onnx")))
        if before and after:  # it convolves no float64
            bound = case.bound(magnitude[0], sums_are_exact=False)
            faults += bound_faults("ONNX Runtime", before[0], after[0], bound)
        return faults


def bound_faults(name, before, after, bound):
    if before.shape != after.shape or before.dtype != after.dtype:
        return [f"{name}: {before.dtype}{before.shape} became {after.dtype}{after.shape}"]
    off = np.abs(before.astype(np.float64) - after.astype(np.float64))
    worst = float((off / bound).max(initial=0))
    return [f"{name}: off by {worst:.3g} times the bound"] if not worst <= 1 else []


def is_same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        both_nan = np.isnan(a) & np.isnan(b)
        return bool((both_nan | ((a == b) & (np.signbit(a) == np.signbit(b)))).all())
    return a.tobytes() == b.tobytes()


def save_failure(options, number, model, feeds):
    folder = options.pass_tool.resolve().parents[1] / "random_passes" / f"{options.seed}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    return models.save(model, feeds, folder).parent


def judge_number(judge, options, number):
    """Whether all went well."""
    rng = Rng(f"{options.seed}:{number}")
    builder = PatternBuilder(rng)
    builder.build()
    outcomes = [(judge.judge_graph(builder, rng), builder.model, lambda: builder.feeds)]
    for _ in range(FUSIONS_PER_GRAPH):
        case = FusionCase(rng)
        outcomes.append((judge.judge_fusion(case), case.model, case.feeds))
    for faults, model, feeds in outcomes:
        for fault in faults:
            print(f"FAIL draw {number}: {fault}")
        if faults:
            print(f"  repeat: {pathlib.Path(__file__).name} {options.pass_tool} --seed {options.seed} --draw {number}\n"
                  f"  saved: {save_failure(options, number, model(), feeds())}")
    return not any(faults for faults, _, _ in outcomes)


def main():
    options = arguments.parse(arguments.parser("pass_tool", DEFAULT_SEED, DEFAULT_COUNT))
    start = time.monotonic()
    numbers = [options.draw] if options.draw is not None else range(options.count)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.pass_tool, pathlib.Path(folder))
        failed = sum(not judge_number(judge, options, number) for number in numbers)
    print("steps: " + ", ".join(f"{name} {count}" for name, count in sorted(judge.steps.items())))
    idle = [name for name in (*judge.exact, *judge.rounding) if not judge.steps[name] and name not in IDLE]
    if (options.seed, len(numbers)) != (DEFAULT_SEED, DEFAULT_COUNT):
        idle = []  # the usual draws have work for every pass, others need not
    for name in idle:
        print(f"FAIL {name} was never at work")
    print(f"seed {options.seed}: {len(numbers)} graphs, {judge.refused} refused by ONNX Runtime, {failed} failed; "
          f"{time.monotonic() - start:.0f} s")
    return 1 if failed or idle else 0


if __name__ == "__main__":
    sys.exit(main())
