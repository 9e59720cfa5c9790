"""Random one-node models through our reference and our inference, beside ONNX Runtime.

    random_ops_test.py INFER_TOOL [--seed N|random] [--count K] [--only OP,OP] [--draw I] [--processes P]

INFER_TOOL (and RUN_TOOL beside it) are the programs built from tests/support. Generators in random_ops/ draw operator
version, element types, shapes, attributes and left-out operands. For each draw ours must give what ONNX Runtime gives
(random_ops/draw.py says how near), and what is inferred, from the shapes as they are and from a symbol for each dim,
must hold for ONNX Runtime's outputs. A draw that ONNX Runtime refuses must only not crash ours. random_ops/known.py
lists the known differences with their reasons. A failing draw is saved below the build folder, and the command that
repeats it is printed.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

from random_ops import arguments, draw, known, models, sides
from random_ops import control, elementwise, images, indexing, ml, movement, nn, quantized, reduction  # noqa: F401
from random_ops.judge import DimCount, contradiction, difference

DEFAULT_SEED = 20
DEFAULT_COUNT = 20  # of each operator, times its weight


def plan(options):
    """The draws of a run: (domain, operator, number)."""
    wanted = set(options.only.split(",")) if options.only else None
    jobs = []
    for (domain, op), (_, weight) in sorted(draw.GENERATORS.items()):
        if wanted is None or op in wanted:
            numbers = [options.draw] if options.draw is not None else range(options.count * weight)
            jobs += [(domain, op, number) for number in numbers]
    return jobs


class Worker:
    """Makes, runs and judges draws one by one."""

    def __init__(self, infer_tool, seed, folder):
        self.infer_tool = sides.Tool(infer_tool)
        self.run_tool = sides.Tool(infer_tool.parent / "run_tool")
        self.seed, self.folder = seed, folder

    def judge(self, domain, op, number):
        """{"state": same, refused, known or failed; what; counts of dims}."""
        try:
            made = draw.make_draw(domain, op, self.seed, number)
        except draw.Skip as reason:
            return {"state": "skipped", "what": str(reason)}
        model, feeds = models.model_of(made), models.feeds_of(made)
        path = models.save(model, feeds, self.folder)
        theirs, refusal = sides.run_ort(model, feeds)
        static, symbolic = DimCount(), DimCount()
        faults = self.run_ours(made, path, theirs)
        faults += self.infer(made, path, feeds, theirs, (static, symbolic))
        state, what = self.verdict(made, theirs, faults)
        return {"state": state, "what": what or refusal, "version": made.version,
                "static": (static.known, static.all), "symbolic": (symbolic.known, symbolic.all)}

    @staticmethod
    def verdict(made, theirs, faults):
        left = [fault for fault in faults if known.reason_of(made, fault) is None]
        if left:
            return "failed", "; ".join(left)
        if faults:
            return "known", "; ".join(faults)
        return ("refused" if theirs is None else "same"), ""

    def run_ours(self, made, path, theirs):
        try:
            answer = self.run_tool.ask("\t".join(map(str, (path, self.folder, self.folder, "ref"))))
        except sides.Died as died:
            return [f"run: {died}"]
        if not answer.startswith("ok"):
            return [f"run: {answer}"] if answer.startswith("bug") or theirs is not None else []
        if theirs is None:
            return []
        faults = []
        for i, kind in enumerate(answer.split()[1:]):
            ours = models.read_output(self.folder / f"output_{i}.pb", kind)
            if i in made.ignored:
                ours, theirs[i] = draw.np.zeros_like(ours), draw.np.zeros_like(theirs[i])
            found = difference(made, ours, theirs[i])
            faults += [f"run: output {i}: {found}"] if found else []
        return faults

    def infer(self, made, path, feeds, theirs, counts):
        symbols, sizes = [], {}
        for name, value in feeds.items():
            if isinstance(value, draw.np.ndarray):
                names = [f"{name}_{i}" for i in range(value.ndim)]
                sizes |= dict(zip(names, value.shape))
                symbols.append(f"{name}={','.join(names)}")
        faults = []
        for kind, line, known_sizes, count in (("static", [str(path)], {}, counts[0]),
                                               ("symbolic", [str(path), *symbols], sizes, counts[1])):
            try:
                answer = self.infer_tool.ask("\t".join(line))
            except sides.Died as died:
                answer = f"bug: {died}"
            if not answer.startswith("{"):
                faults += [f"infer {kind}: {answer}"] if theirs is not None or answer.startswith("bug") else []
            elif theirs is not None:
                faults += self.check_inferred(kind, json.loads(answer), theirs, known_sizes, count)
        return faults

    @staticmethod
    def check_inferred(kind, answer, theirs, sizes, count):
        faults = [f"infer {kind}: finding: {finding['message']}" for finding in answer["findings"]]
        values = {value["name"]: value for value in answer["values"]}
        for i, real in enumerate(theirs):
            found = contradiction(values[f"y{i}"], real, sizes, count)
            faults += [f"infer {kind}: output {i}: {found}"] if found else []
        return faults


def serve(options):
    """Judges the draws that standard input names, one JSON line each."""
    warnings.simplefilter("ignore")
    draw.np.seterr(all="ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what ONNX Runtime prints is no answer
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        worker = Worker(options.infer_tool, options.seed, pathlib.Path(folder))
        for line in sys.stdin:
            try:
                result = worker.judge(*json.loads(line))
            except Exception:  # of this test: the draw is reported as failed
                result = {"state": "failed", "what": "the test itself: " + traceback.format_exc()}
            print(json.dumps(result, default=str), file=answers, flush=True)


class Pool:
    """Processes that judge; one that ONNX Runtime takes down is started again."""

    def __init__(self, options, jobs):
        self.command = [sys.executable, __file__, str(options.infer_tool), "--seed", str(options.seed), "--serve"]
        self.quiet = subprocess.DEVNULL
        parts = [jobs[i::options.processes] for i in range(options.processes)]
        self.parts = [part for part in parts if part]

    def run(self):
        """Yields (job, result)."""
        import concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(len(self.parts) or 1) as threads:
            for results in threads.map(self.run_part, self.parts):
                yield from results

    def run_part(self, jobs):
        results, at = [], 0
        while at < len(jobs):
            process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.quiet,
                                       text=True)
            for job in jobs[at:]:
                answer = self.ask(process, job)
                at += 1
                results.append((job, json.loads(answer) if answer else {
                    "state": "refused", "what": "ONNX Runtime crashes"}))
                if not answer:
                    break
            process.stdin.close()
            process.wait()
        return results

    @staticmethod
    def ask(process, job):
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            return process.stdout.readline()
        except BrokenPipeError:
            return ""


def report_failure(options, job, result):
    domain, op, number = job
    made = draw.make_draw(domain, op, options.seed, number)
    folder = options.infer_tool.resolve().parents[1] / "random_ops" / f"{op}-{options.seed}-{number}"
    models.save(models.model_of(made), models.feeds_of(made), folder)
    print(f"FAIL {domain or 'ai.onnx'}.{op} @{made.version}: {result['what']}\n"
          f"  repeat: {pathlib.Path(__file__).name} {options.infer_tool} --seed {options.seed} --only {op} "
          f"--draw {number}\n  saved: {folder}")


def summary(results, options, seconds):
    states = collections.Counter(result["state"] for _, result in results)
    covered = {(domain, op) for (domain, op, _), result in results if result["state"] in ("same", "known", "failed")}
    shares = []
    for kind in ("static", "symbolic"):
        pairs = [result[kind] for _, result in results if kind in result]
        total = sum(pair[1] for pair in pairs)
        shares.append(f"{kind} {sum(pair[0] for pair in pairs) / max(total, 1):.1%} of {total}")
    print(f"dims known by inference: {', '.join(shares)}")
    print(f"seed {options.seed}: {len(covered)} operators covered, {len(results)} draws, "
          f"{states['same'] + states['known'] + states['failed']} compared, {states['refused']} refused by ORT, "
          f"{states['known']} known differences, {states['failed']} failed; {seconds:.0f} s")


def parse_arguments():
    options = arguments.parser("infer_tool", DEFAULT_SEED, DEFAULT_COUNT)
    options.add_argument("--only")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--verbose", action="store_true", help="a line for each draw that is not the same")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return arguments.parse(options)


def main():
    options = parse_arguments()
    if options.serve:
        return serve(options)
    start = time.monotonic()
    results = list(Pool(options, plan(options)).run())
    for job, result in results:
        if result["state"] == "failed":
            report_failure(options, job, result)
        elif options.verbose and result["state"] != "same":
            print(f"{result['state']} {job[1]} #{job[2]}: {result['what'][:300]}")
    summary(results, options, time.monotonic() - start)
    return 1 if any(result["state"] == "failed" for _, result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
