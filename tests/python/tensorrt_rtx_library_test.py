"""The backend `tensorrt` on NVIDIA's TensorRT-RTX, as far as that goes without a GPU. Needs the Python of an environment
that has it, by ASSAY_TEST_TENSORRT_RTX: `./dev test --with tensorrt-rtx` makes one."""

import json
import os
import pathlib
import subprocess
import sys

import checks
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PROGRAM = os.environ.get("ASSAY", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/assay"))
PYTHON = os.environ.get("ASSAY_TEST_TENSORRT_RTX", "")
HAS_DRIVER = os.path.exists("/dev/nvidiactl")


def assay(*words, status=0):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run([PROGRAM, *words, "--python", PYTHON], env=environment, capture_output=True, text=True)
    assert found.returncode == status, f"{words}: {found.returncode}\n{found.stdout}{found.stderr}"
    assert "Traceback" not in found.stderr
    return found.stdout + found.stderr


def save(nodes, inputs, outputs, weights=(), path="model.onnx"):
    infos = [[helper.make_tensor_value_info(*each) for each in infos] for infos in (inputs, outputs)]
    graph = helper.make_graph(nodes, "net", *infos, list(weights))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def save_product(batch="batch"):
    weights = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) / 7, "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"], name="multiply"),
             helper.make_node("Relu", ["product"], ["y"], name="cut")]
    save(nodes, [("x", TensorProto.FLOAT, [batch, 3])], [("y", TensorProto.FLOAT, [batch, 4])], [weights])


def listing(path):
    told = assay("inspect", "model", path, "--json", "-")
    return json.loads(told[told.index("{"):told.rindex("}") + 1])


def test_engines_are_built():
    save_product()
    shapes = ["--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes", "x:[2,3]", "--trt-max-shapes", "x:[4,3]"]
    assay("convert", "model.onnx", "--tensorrt", "-o", "a.plan", *shapes)
    found = listing("a.plan")
    assert found["machine"].startswith("TensorRT-RTX 1.") and "8.9" in found["capabilities"], found
    assay("convert", "model.onnx", "--tensorrt", "-o", "b.plan", "--compute-capabilities", "8.9", "12.0")
    assert listing("b.plan")["capabilities"] == ["8.9", "12.0"]
    told = assay("convert", "model.onnx", "--tensorrt", "-o", "c.plan", "--compute-capabilities", "9.0", status=2)
    assert "no compute capability 9.0; it has 7.5 8.0" in told


def test_what_the_parser_says():
    save_product()
    told = assay("inspect", "model", "model.onnx", "--convert-to", "trt", "--tensorrt", "--show", "layers", "attrs")
    assert "multiply [Op: MATRIX_MULTIPLY]" in told and "cut.Origin = cut" in told, told
    assert "tensorrt | COMPATIBLE" in assay("check", "compatibility", "model.onnx", "--tensorrt")
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="r"), helper.make_node("Foo", ["a"], ["b"], domain="my"),
             helper.make_node("Sigmoid", ["a"], ["y"], name="s")]
    save(nodes, [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2]), ("b", TensorProto.FLOAT, [2])])
    told = assay("check", "compatibility", "model.onnx", "--tensorrt", status=1)
    assert "Foo" in told and "2 of 3 nodes" in told, told
    assert "Foo" in assay("inspect", "capability", "model.onnx", "--tensorrt")
    assert "Foo" in assay("convert", "model.onnx", "--tensorrt", "-o", "a.plan", status=3)


def test_types_are_the_models():
    save_product(2)
    told = assay("convert", "model.onnx", "--tensorrt", "--fp16", "-o", "a.plan", status=3)
    assert "--fp-to-fp16" in told
    assay("convert", "model.onnx", "--tensorrt", "--fp-to-fp16", "-o", "a.plan")
    assert "layers in the types" in assay("run", "model.onnx", "--tensorrt", "--layer-precisions", "*:fp16", status=3)


def test_running_needs_a_gpu():
    if HAS_DRIVER:
        return
    save_product(2)
    told = assay("run", "model.onnx", "--tensorrt", status=3)
    assert "there is no usable NVIDIA driver" in told
    told = assay("run", "model.onnx", "--tensorrt", "--save-tensorrt-engine", "a.plan")
    assert "was not run" in told and os.path.getsize("a.plan") > 0
    assert "NVIDIA driver" in assay("run", "model.onnx", "--tensorrt", "--tensorrt-engine", "a.plan", status=3)
    assert "NVIDIA driver" in assay("inspect", "model", "a.plan", "--tensorrt", status=3)
    assert "NVIDIA driver" in assay("run", "a.plan", "--tensorrt", status=3)
    assert "NVIDIA driver" in assay("bench", "--loadEngine=a.plan", "--tensorrt", status=3)


def test_choices_of_the_compiler():
    save_product(2)
    told = assay("bench", "--onnx=model.onnx", "--tensorrt", "--setBuildRoute=-tile=2", status=3)
    assert "no choices of its compiler" in told


PROGRAMS = pathlib.Path(__file__).parent / "network_programs.py"


def save_pictures(path, number, dtype):
    weights = numpy_helper.from_array(np.ones((4, 3, 3, 3), dtype), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"], name="cut"),
             helper.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
             helper.make_node("Flatten", ["p"], ["y"], name="flat")]
    save(nodes, [("x", number, ["n", 3, 8, 8])], [("y", number, ["n", 4])], [weights], path)


def printed(python, module, **variables):
    """What each program prints, by its name."""
    found = subprocess.run([python, PROGRAMS, module, "."], env=os.environ | variables, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    programs = {}
    for line in found.stdout.splitlines():
        if not line.startswith(" "):
            lines = programs.setdefault(line, [])
        else:
            lines.append(line)
    return programs


def test_programs_print_the_same():
    save_pictures("net.onnx", TensorProto.FLOAT, np.float32)
    save_pictures("half.onnx", TensorProto.FLOAT16, np.float16)
    theirs = printed(PYTHON, "tensorrt_rtx_bindings", PYTHONPATH="")
    ours = printed(sys.executable, "assay.tensorrt", ASSAY_TENSORRT_GENERATION="11")
    assert len(theirs) >= 30, len(theirs)
    wrong = [f"{name}:\n" + "\n".join(["theirs", *theirs[name], "ours", *ours.get(name, [])])
             for name in theirs if theirs[name] != ours.get(name)]
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: ASSAY_TEST_TENSORRT_RTX names no Python")
        sys.exit(0)
    checks.run_all(globals())
