"""The backend `tensorrt` of the program, with assay.tensorrt in the place of the user's package."""

import json
import os
import pathlib
import subprocess
import sys

import assay.tensorrt
import checks
import numpy as np
import onnx
from onnx import helper, numpy_helper

PROGRAM = os.environ.get("ASSAY", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/assay"))
PACKAGE = ["--tensorrt", "--trt-package", "assay.tensorrt"]


def assay(*words, status=0, **variables):
    environment = {**os.environ, "ASSAY_TENSORRT": os.path.dirname(assay_tensorrt()), **variables}
    words = [PROGRAM, *words]
    if words[1] != "doctor":
        words += ["--python", sys.executable]
    found = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert found.returncode == status, f"{words}: {found.returncode}\n{found.stdout}{found.stderr}"
    return found.stdout + found.stderr


def assay_tensorrt():
    return sys.modules["assay.tensorrt"].__file__


def save_model(batch=2):
    weights = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) / 7, "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Relu", ["product"], ["y"])]
    onnx.save(checks.model(nodes, [("x", 1, [batch, 3])], [("y", 1, [batch, 4])], [weights]), "model.onnx")


def test_runs_and_compares_with_the_reference():
    save_model()
    told = assay("run", "model.onnx", "--ref", *PACKAGE)
    assert "tensorrt-runner" in told and "[I] PASSED" in told and "TensorRT 8.6.1" in told


def test_values_inside_are_outputs():
    save_model()
    assay("run", "model.onnx", "--ref", *PACKAGE, "--onnx-outputs", "product", "y", "--json", "report.json")
    pair, = json.loads(pathlib.Path("report.json").read_text())["pairs"]
    outputs = {each["name"]: each["max_abs"] for each in pair["iterations"][0]["outputs"]}
    assert set(outputs) == {"product", "y"} and max(outputs.values()) < 1e-6


def test_engines_are_saved_and_loaded():
    save_model()
    assay("run", "model.onnx", *PACKAGE, "--save-tensorrt-engine", "model.plan")
    assert os.path.getsize("model.plan") > 0
    assay("run", "model.onnx", "--ref", *PACKAGE, "--tensorrt-engine", "model.plan")
    told = assay("run", "model.onnx", *PACKAGE, "--tensorrt-engine", "none.plan", status=2)
    assert "none.plan" in told


def test_engines_are_run_without_their_models():
    save_model()
    assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", "--trt-package", "assay.tensorrt")
    assay("run", "model.onnx", "--ref", "--save-inputs", "x.json", "--save-outputs", "y.json")
    told = assay("run", "model.plan", *PACKAGE, "--load-inputs", "x.json", "--load-outputs", "y.json")
    assert "Loading plan" in told and "PASSED" in told
    told = assay("run", "model.plan", "--onnxrt", *PACKAGE, status=3)
    assert "`model.plan` is an engine: onnxrt cannot run it" in told
    quick = ["--iterations=3", "--duration=0", "--warmUp=0"]
    told = assay("bench", "--loadEngine=model.plan", *PACKAGE, *quick)
    assert "Throughput" in told and "PASSED" in told
    assay("bench", "--onnx=model.onnx", "--saveEngine=saved.plan", *PACKAGE, *quick)
    assay("run", "saved.plan", *PACKAGE, "--load-inputs", "x.json", "--load-outputs", "y.json")


def test_choices_of_the_compiler_are_passed_on():
    save_model()
    quick = ["--onnx=model.onnx", "--iterations=3", "--duration=0", "--warmUp=0"]
    told = assay("bench", *quick, *PACKAGE, "--setBuildRoute=-level=5 -strict=on")
    assert "PASSED" in told
    told = assay("bench", *quick, *PACKAGE, "--setBuildRoute=-nothing=1", status=2)
    assert "`-nothing=1` is no choice of a build" in told
    told = assay("bench", *quick, *PACKAGE, "--tuneBuildRoutes=-bf16=[on] -strict=[off|on] -no=[1|2]",
                 "--tuningSearch=fast", "--tuningCacheFile=routes.json")
    assert "-strict=on" in told and "failed  -no=2" in told, told
    told = assay("bench", "--helpBuildRoute", *PACKAGE)
    assert "-level=[3|0" in told and "-KNOB=" in told and "tactics=" not in told


def test_profiles_bound_shapes():
    save_model("batch")
    shapes = ["--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes", "x:[2,3]", "--trt-max-shapes", "x:[4,3]"]
    assay("run", "model.onnx", "--ref", *PACKAGE, *shapes, "--input-shapes", "x:[4,3]")
    told = assay("run", "model.onnx", *PACKAGE, *shapes, "--input-shapes", "x:[5,3]", status=3)
    assert "(5, 3)" in told or "[5, 3]" in told, told


def test_flags_are_passed_on():
    save_model()
    told = assay("run", "model.onnx", "--ref", *PACKAGE, "--bf16", "--atol", "1e-6", "--rtol", "1e-6", status=1)
    assert "FAILED" in told and "is not used" not in told
    assay("run", "model.onnx", *PACKAGE, "--layer-precisions", "*:fp32", "--precision-constraints", "obey")


def test_packages_that_are_not_there():
    save_model()
    told = assay("run", "model.onnx", "--tensorrt", "--trt-package", "no_such_package", status=3)
    assert "no_such_package" in told and "Traceback" not in told
    told = assay("run", "model.onnx", "--tensorrt", status=3, ASSAY_TENSORRT="/nowhere")
    assert "pip install tensorrt" in told


if __name__ == "__main__":
    checks.run_all(globals())
