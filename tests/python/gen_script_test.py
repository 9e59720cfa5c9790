"""Scripts that `run --gen-script` writes do what the command does."""

import os
import pathlib
import subprocess
import sys

import checks
import numpy as np
import onnx
from assay.comparator import RunResults
from onnx import helper, numpy_helper


def save_model():
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    onnx.save(checks.model(nodes, [("x", 1, ["N", 3])], [("y", 1, ["N", 3])], [weight]), "model.onnx")


def run(*words):
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=600)


def both(*words, status=0):
    """The status of the command, and of the script that it writes instead; both save their outputs."""
    found = run(os.environ["ASSAY"], "run", *words, "--save-outputs", "command.json")
    assert found.returncode == status, found.stdout + found.stderr
    written = run(os.environ["ASSAY"], "run", *words, "--save-outputs", "script.json", "--gen-script", "script.py")
    assert written.returncode == 0 and not pathlib.Path("script.json").exists(), written.stdout + written.stderr
    ran = run(sys.executable, "script.py")
    assert ran.returncode == status, pathlib.Path("script.py").read_text() + ran.stdout + ran.stderr
    expected, made = RunResults.load("command.json"), RunResults.load("script.json")
    assert len(expected) == len(made)
    for (_, first), (_, second) in zip(expected, made):
        assert len(first) == len(second)
        for a, b in zip(first, second):
            assert list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)
    pathlib.Path("script.json").unlink()


def test_scripts_do_what_commands_do():
    save_model()
    both("model.onnx", "--ref", "--engine", "--seed", "3", "--iterations", "2", "--input-shapes", "x:[4,3]",
         "--val-range", "[-2,2]")
    both("model.onnx", "--onnxrt", "--ref-fp64", "--input-shapes", "x:[2,3]", "--atol", "y:1e-3", "1e-4",
         "--compare-func", "simple", "l2", "--l2-threshold", "1e-3", "--onnx-outputs", "mark", "all", "--validate",
         "--graph-optimization-level", "ORT_DISABLE_ALL", "--warm-up", "1")
    with open("loader.py", "w") as file:
        file.write("import numpy as np\n\ndef load_data():\n    yield {'x': np.full((1, 3), 5, np.float32)}\n")
    both("model.onnx", "--ref", "--data-loader-script", "loader.py")
    other = RunResults.load("command.json")
    other[0][1][0]["y"] = other[0][1][0]["y"] + 1
    other.save("golden.json")
    both("model.onnx", "--ref", "--data-loader-script", "loader.py", "--load-outputs", "golden.json", "--fail-fast",
         status=1)


if __name__ == "__main__":
    checks.run_all(globals())
