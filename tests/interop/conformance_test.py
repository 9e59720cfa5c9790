"""ONNX's own backend tests through our backends, beside ONNX Runtime and onnx's ReferenceEvaluator themselves.

    conformance_test.py ONNX_CASES [--backend NAME ...] [--ask-rivals]

ONNX_CASES is the program built from tests/runners/onnx_cases.cpp. The tests are made from the installed package onnx
into the build folder and kept for its version. All sides get the same files and are judged alike: element types and
shapes must be equal, elements within the test's own tolerances (our integers exactly). What the Python packages fail is
read from conformance_rivals.json, and every 20th test is asked of them to see that it still holds; --ask-rivals asks
all and writes the file, as it has to be done for new versions. The table goes to standard output and to conformance.txt
in the build folder. Fails when ours fails a test that is not listed in EXCEPTIONS, or passes one that is; when our way
to ONNX Runtime gives another result than its Python package; and when OpenVINO fails what conformance_openvino.txt does
not list, or passes what it does.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

import onnx
import onnxruntime
from conformance_backends import judge_by_list, judge_by_package
from conformance_exceptions import EXCEPTIONS
from conformance_rivals import ORT, WORKERS, differences, read_record, run_rivals, write_record
from patience import Patience

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import make_node_tests  # noqa: E402

ON_DEVICES = ["engine-far", "engine-turns"]  # the engine on the far device of tests/support
BACKENDS = ["openvino", "ref", "engine", *ON_DEVICES, "onnxrt"]  # the slowest first
ASKED = 20  # one of so many tests is asked of the rivals
MOST_LISTED = 40


def tests_of_package(build):
    """The folder of the tests and their index; made if it is not there yet."""
    folder = build / f"onnx-tests-{onnx.__version__}"
    if not (folder / make_node_tests.INDEX).exists():
        make_node_tests.write_tests(folder, make_node_tests.KINDS)
    return folder, json.loads((folder / make_node_tests.INDEX).read_text())


class OurRun:
    """Runs our program on one core, as the libraries behind it spend more on threads than on such small models; where a
    test kills it or hangs, notes that and goes on behind it."""

    def __init__(self, program, backend, folder, index, report, core):
        self.core = core
        self.command = [program, folder, "--backend", backend, "--json", report]
        self.names = [entry["name"] for entry in index]
        self.report = report
        self.reasons = {}

    def run(self):
        while len(self.reasons) < len(self.names):
            died = self.run_from(self.names[len(self.reasons)])
            self.collect()
            if died is None:
                break
            if len(self.reasons) < len(self.names):
                self.reasons[self.names[len(self.reasons)]] = died
        missing = len(self.names) - len(self.reasons)
        assert missing == 0, f"{missing} tests of the index were not run"
        return self.reasons

    def collect(self):
        for line in self.report.read_text().splitlines():
            if line.endswith("}"):
                entry = json.loads(line)
                self.reasons[entry["name"]] = entry["reason"] if not entry["passed"] else ""

    def run_from(self, name):
        """None if the run reached its end, otherwise how it died."""
        self.report.write_text("")
        process = subprocess.Popen([*map(str, self.command), "--from", name], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        os.sched_setaffinity(process.pid, {self.core})
        size, patience = 0, Patience(process.pid)
        while process.poll() is None:
            if self.report.stat().st_size != size:
                size = self.report.stat().st_size
                patience.renew()
            if fault := patience.fault():
                process.kill()
                process.wait()
                return fault
            time.sleep(0.05)
        message = process.stderr.read().strip()
        assert process.returncode <= 0, message  # wrong usage
        return None if process.returncode == 0 else f"ends the process with signal {-process.returncode}"


def table(index, columns):
    """Passed of total, by kind."""
    kinds = list(dict.fromkeys(entry["kind"] for entry in index))
    rows = [["", *columns]]
    for kind in [*kinds, "all"]:
        names = [entry["name"] for entry in index if kind in (entry["kind"], "all")]
        passed = [sum(not reasons[name] for name in names) for reasons in columns.values()]
        rows.append([kind, *(f"{count:,} of {len(names):,}" for count in passed)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)


# What the engine fails and passes beyond that, because operators of a layer are computed and rounded together.
ENGINE_FAILS = {}
ENGINE_PASSES = set()


def judge(backend, reasons):
    """The lines about what is not as EXCEPTIONS says."""
    exceptions = dict(EXCEPTIONS)
    if backend != "ref":
        exceptions = {name: why for name, why in exceptions.items() if name not in ENGINE_PASSES} | ENGINE_FAILS
    lines = [f"FAIL {backend} {name}: {reason}" for name, reason in reasons.items() if reason and name not in exceptions]
    for name, why in exceptions.items():
        if name not in reasons:
            lines.append(f"listed exception {name}: there is no such test")
        elif not reasons[name]:
            lines.append(f"listed exception {name}: it passes; take it from the list ({why})")
    return lines


def faults_of(columns):
    lines = [line for backend in ("ref", "engine", *ON_DEVICES) if backend in columns for line in judge(backend, columns[backend])]
    if "openvino" in columns:
        lines += judge_by_list("openvino", columns["openvino"])
    if "onnxrt" in columns and ORT in columns:
        lines += judge_by_package(columns["onnxrt"], columns)
    return lines


def ask_rivals(folder, index):
    """Their columns and the lines about where the record is wrong."""
    recorded = read_record(index)
    if not recorded:
        return {}, ["conformance_rivals.json is for other versions or tests: call conformance_test.py with --ask-rivals"]
    return recorded, differences(recorded, run_rivals(folder, index[::ASKED]))


def text_of(index, columns, faults, seconds):
    lines = [f"ONNX's backend tests (onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}), passed of total; "
             f"{seconds:.0f} s", table(index, columns), ""]
    if "ref" in columns:
        exceptions = [name for name, reason in columns["ref"].items() if reason and name in EXCEPTIONS]
        lines.append(f"ref fails {len(exceptions)} listed exceptions: {', '.join(exceptions) or 'none'}")
    lines += faults[:MOST_LISTED]
    if len(faults) > MOST_LISTED:
        lines.append(f"… and {len(faults) - MOST_LISTED} more")
    return "\n".join(lines) + "\n"


def run_ours(program, backends, folder, index):
    build = program.resolve().parents[1]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        runs = {backend: OurRun(program, backend, folder, index, build / f"conformance_{backend}.jsonl", core)
                for backend, core in zip(backends, itertools.cycle(sorted(os.sched_getaffinity(0), reverse=True)))}
        jobs = {backend: pool.submit(run.run) for backend, run in runs.items()}
        return {backend: job.result() for backend, job in jobs.items()}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program", type=pathlib.Path)
    options.add_argument("--backend", nargs="+", default=BACKENDS)
    options.add_argument("--ask-rivals", action="store_true")
    options = options.parse_args()
    start = time.monotonic()
    build = options.program.resolve().parents[1]
    folder, index = tests_of_package(build)
    columns = dict(sorted(run_ours(options.program, options.backend, folder, index).items(), reverse=True))
    rivals, stale = (run_rivals(folder, index), []) if options.ask_rivals else ask_rivals(folder, index)
    if options.ask_rivals:
        write_record(rivals)
    columns |= rivals
    faults = faults_of(columns) + stale
    text = text_of(index, columns, faults, time.monotonic() - start)
    print(text, end="")
    if options.backend == BACKENDS:
        (build / "conformance.txt").write_text(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
