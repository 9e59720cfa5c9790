"""Signals at random moments: a command that writes leaves its target as it was, or whole and new, and nothing beside
it; whoever is killed under `run --isolate`, the others end soon, and the command says one line.

    signals_test.py [ROUNDS [SEED]]   each command is interrupted ROUNDS (3) times; a failure names its seed
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2,
           signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF]
SECONDS = 600  # what is not over by then hangs
OLD = b"what was there before"


def make_model(path, size=160, layers=6):
    weights, nodes = [], []
    for i in range(layers):
        values = np.random.default_rng(i).normal(size=(size, size)).astype(np.float32) / size
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"], name=f"layer{i}"))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, size]) for name in ("h0", f"h{layers}")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def check_onnx(path):
    onnx.checker.check_model(str(path))


def check_json(path):
    json.loads(path.read_bytes())


def check_html(path):
    text = path.read_text()
    assert text.startswith("<!") and text.rstrip().endswith("</html>"), text[-80:]


def check_external(path):
    onnx.load(path)


# The words behind `assay`, and what each file that they write must be.
WRITERS = [
    ("surgeon sanitize m.onnx --fold-constants -o OUT", {"o.onnx": check_onnx}),
    ("surgeon sanitize m.onnx --save-external-data -o OUT", {"o.onnx": check_external, "o.onnx.data": None}),
    ("convert m.onnx --fp-to-fp16 -o OUT --json REPORT", {"o.onnx": check_onnx, "r.json": check_json}),
    ("convert m.onnx --int8 --calibrate-with ref -o OUT", {"o.onnx": check_onnx}),
    ("data convert i.json -o c.json", {"c.json": check_json}),
    ("data convert i.json -o folder/", {"folder": None}),
    ("run m.onnx --ref --iterations 6 --save-outputs o.json --save-inputs i2.json",
     {"o.json": check_json, "i2.json": check_json}),
    ("run m.onnx --ref --ref-fp64 --onnx-outputs mark all --json r.json --junit r.xml --report r.html",
     {"r.json": check_json, "r.xml": ElementTree.parse, "r.html": check_html}),
    ("run m.onnx --ref --iterations 6 --save-outputs folder/", {"folder": None}),
]
ISOLATED = "run m.onnx --ref --ref-fp64 --ref --isolate --jobs 2 --iterations 20 --onnx-outputs mark all".split()


class Trials:
    """A folder of its own for each trial, and what went wrong in any."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.failures = []
        self.count = 0

    def start(self, words, folder):
        (folder / "tmp").mkdir()
        return subprocess.Popen([ASSAY, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                env={**os.environ, "TMPDIR": str(folder / "tmp")})

    def require(self, condition, what):
        if not condition:
            self.failures.append(what)

    def finish(self, process, what):
        """Waits for the end; its error output."""
        try:
            return process.communicate(timeout=SECONDS)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.failures.append(f"{what}: it hangs")
            return ""


def seconds_of(trials, words, source):
    """How long the command takes that nothing interrupts."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "f"
        shutil.copytree(source, folder)
        begin = time.monotonic()
        process = trials.start(words, folder)
        error = trials.finish(process, " ".join(words))
        trials.require(process.returncode in (0, 1), f"{' '.join(words)}: {error}")
        return time.monotonic() - begin


def interrupt(trials, words, files, source, longest):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "f"
        shutil.copytree(source, folder)
        before = {path.name for path in folder.iterdir()}
        has_old = trials.random.random() < 0.5
        for file in files if has_old else []:
            if file != "folder":
                (folder / file).write_bytes(OLD)
        number = trials.random.choice(SIGNALS)
        delay = trials.random.uniform(0, longest)
        what = f"{' '.join(words)}: signal {number} after {delay:.4f} s"
        process = trials.start(words, folder)
        time.sleep(delay)
        process.send_signal(number)
        error = trials.finish(process, what)
        ended = process.returncode in (-number, 128 + number)  # -number: before there was a handler
        trials.require(ended or process.returncode in (0, 1), f"{what}: status {process.returncode}: {error}")
        left = {path.name for path in folder.iterdir()} - before - {"tmp"}
        trials.require(left <= set(files), f"{what}: left over: {left - set(files)}")
        trials.require(not any((folder / "tmp").iterdir()), f"{what}: temporary files are left")
        for file, check in files.items():
            check_target(trials, folder / file, check, has_old, ended, what)


def check_target(trials, path, check, has_old, ended, what):
    if not path.exists():
        return trials.require(ended and (not has_old or path.name == "folder"), f"{what}: `{path.name}` is gone")
    if path.is_dir():
        return trials.require(len(list(path.iterdir())) == 6, f"{what}: `{path.name}` is not complete")
    if path.read_bytes() == OLD:
        return trials.require(ended, f"{what}: `{path.name}` is the old one")
    try:
        if check:
            check(path)
    except Exception as error:
        trials.require(False, f"{what}: `{path.name}` is damaged: {error}")


def children_of(pid):
    try:
        tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill_one(trials, source, longest):
    """Kills the command or one of its workers."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "f"
        shutil.copytree(source, folder)
        process = trials.start(ISOLATED, folder)
        delay = trials.random.uniform(0, longest)
        time.sleep(delay)
        workers = children_of(process.pid)
        victim = trials.random.choice([process.pid, *workers, *workers])
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
        who = "the command" if victim == process.pid else "a worker"
        what = f"{who} is killed after {delay:.4f} s"
        error = trials.finish(process, what)
        if victim != process.pid:
            lines = [line for line in error.splitlines() if "error:" in line]
            trials.require(process.returncode == 0 or (process.returncode == 3 and lines),
                           f"{what}: status {process.returncode}: {error}")
        until = time.monotonic() + SECONDS
        while any(map(is_running, workers)) and time.monotonic() < until:
            time.sleep(0.01)
        trials.require(not any(map(is_running, workers)), f"{what}: workers live on")
        trials.require(not any((folder / "tmp").iterdir()), f"{what}: temporary files are left")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    trials = Trials(seed)
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name)
        make_model(source / "m.onnx")
        values = np.random.default_rng(0).normal(size=(4, 160)).astype(np.float32)
        subprocess.run([ASSAY, "run", "m.onnx", "--ref", "--iterations", "6", "--save-inputs", "i.json"], cwd=source,
                       check=True, stdout=subprocess.DEVNULL)
        for text, files in WRITERS:
            words = text.replace("OUT", "o.onnx").replace("REPORT", "r.json").split()
            longest = 1.1 * seconds_of(trials, words, source)
            for _ in range(rounds):
                interrupt(trials, words, files, source, longest)
        longest = 1.1 * seconds_of(trials, ISOLATED, source)
        for _ in range(4 * rounds):
            kill_one(trials, source, longest)
    for failure in trials.failures:
        print(failure)
    total = rounds * (len(WRITERS) + 4)
    print(f"{total} interruptions, seed {seed}, {len(trials.failures)} failures")
    return 1 if trials.failures else 0


if __name__ == "__main__":
    sys.exit(main())
