"""The package and a user's script are as their types say, by mypy."""

import os
import pathlib
import subprocess
import sys

import assay
import checks

PACKAGE = os.path.dirname(os.path.abspath(assay.__file__))
CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "pyproject.toml"

SCRIPT = """
import assay
import assay.graphsurgeon as gs
import assay.tensorrt as trt
import numpy as np
from assay.backend.onnx import fold_constants
from assay.backend.trt import TrtRunner, create_config
from assay.comparator import Comparator
from assay.exception import PolygraphyException
from assay.session import BackendRunner, Session

model: assay.Model = assay.load("model.onnx")
graph: gs.Graph = gs.import_onnx(model).cleanup().toposort()
names: list[str] = [tensor.name for tensor in graph.inputs]
gs.save(graph, "copy.onnx")
with BackendRunner(model, "engine") as runner:
    outputs = runner.infer({"x": np.zeros((1, 3), np.float32)})
results = Comparator.run([runner])
results.save("results.json")
verdict: bool = bool(Comparator.compare_accuracy(results, fail_fast=True))
values = Session(model, "ref").run(None, {"x": 1})
try:
    trt.Builder(trt.Logger()).create_network(0)
except PolygraphyException as error:
    code: str = error.code
"""
TYPICAL = pathlib.Path(__file__).parent / "typed_script.py"
MISTAKES = {
    "gs.Node(3)": 'Argument 1 to "Node" has incompatible type "int"',
    "assay.load(3)": 'Argument 1 to "load" has incompatible type "int"',
    "BackendRunner(model, 3)": 'Argument 2 to "BackendRunner" has incompatible type "int"',
    "trt.Builder(None).create_network('')": 'Argument 1 to "create_network" of "Builder" has incompatible type "str"',
    "trt.Builder(None).create_network().add_softmax(3)": 'Argument 1 to "add_softmax" of "Additions" has incompatible type "int"',
    "Comparator.validate(3)": 'has incompatible type "int"; expected "RunResults"',
}


def mypy(*words):
    os.makedirs("types", exist_ok=True)
    if not os.path.exists("types/assay"):
        os.symlink(PACKAGE, "types/assay")
    environment = {**os.environ, "MYPYPATH": os.path.abspath("types")}
    environment.pop("PYTHONPATH", None)
    words = [sys.executable, "-m", "mypy", "--config-file", str(CONFIGURATION), *words]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


def test_package():
    found = mypy("-p", "assay")
    assert found.returncode == 0, found.stdout + found.stderr


def test_scripts():
    pathlib.Path("script.py").write_text(SCRIPT)
    found = mypy("script.py")
    assert found.returncode == 0, found.stdout + found.stderr
    for line, message in MISTAKES.items():
        pathlib.Path("script.py").write_text(SCRIPT + line + "\n")
        found = mypy("script.py")
        assert found.returncode == 1 and message in found.stdout, found.stdout + found.stderr


def test_typical_scripts_are_strictly_typed():
    # Of an installed package, only the script is looked at.
    found = mypy("--strict", "--follow-imports=silent", str(TYPICAL))
    faults = [line for line in found.stdout.splitlines() if TYPICAL.name in line]
    assert "Success" in found.stdout or "Found" in found.stdout, found.stderr
    assert not faults, faults


if __name__ == "__main__":
    checks.run_all(globals())
