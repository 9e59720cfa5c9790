"""The backend `tensorrt` of the program on TensorRT-RTX, for which stand_ins/ has a package with its ways."""

import json
import os
import pathlib

import checks
import onnx
import tensorrt_backend_test
from onnx import helper
from tensorrt_backend_test import save_model

STAND_INS = pathlib.Path(__file__).parent / "stand_ins"
SHAPES = ["--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes", "x:[2,3]", "--trt-max-shapes", "x:[4,3]"]


def assay(*words, status=0, **variables):
    variables = {"ASSAY_TENSORRT": str(STAND_INS), "ASSAY_USE_TENSORRT_RTX": "1", "ASSAY_TENSORRT_GENERATION": "11",
                 "PYTHONPATH": os.pathsep.join([str(STAND_INS), os.environ.get("PYTHONPATH", "")]),
                 "STAND_IN_LOG": os.path.abspath("log.txt"), **variables}
    return tensorrt_backend_test.assay(*words, status=status, **variables)


def noted():
    return pathlib.Path("log.txt").read_text()


def test_runs_typed_networks_of_the_package():
    save_model()
    told = assay("run", "model.onnx", "--ref", "--tensorrt")
    assert "TensorRT-RTX 1.7.1" in told and "[I] PASSED" in told
    assert "network 1\n" in noted()


def test_engines_are_built_without_a_driver():
    save_model()
    told = assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", STAND_IN_DRIVER="none")
    assert os.path.getsize("model.plan") > 0 and "Building engine" in told
    told = assay("run", "model.onnx", "--tensorrt", "--save-tensorrt-engine", "run.plan", STAND_IN_DRIVER="none")
    assert os.path.getsize("run.plan") > 0 and "was not run" in told and "PASSED" in told
    told = assay("run", "model.onnx", "--ref", "--tensorrt", "--save-tensorrt-engine", "both.plan", status=3,
                 STAND_IN_DRIVER="none")
    assert "cudaStreamCreate failed" in told and "Traceback" not in told
    assay("run", "model.onnx", "--tensorrt", status=3, STAND_IN_DRIVER="none")


def test_engines_are_for_capabilities():
    save_model()
    assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", "--compute-capabilities", "8.9", "12.0")
    assert "capability 0 of 2 is SM89\ncapability 1 of 2 is SM120\n" in noted()
    assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", "--use-gpu")
    assert "capability 0 of 1 is CURRENT\n" in noted()
    told = assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", "--compute-capabilities", "9.0", status=2)
    assert "no compute capability 9.0; it has 8.9 12.0" in told
    told = assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", "--use-gpu", "--compute-capabilities",
                 "8.9", status=2)
    assert "not both" in told
    told = assay("convert", "model.onnx", "-o", "ours.engine", "--compute-capabilities", "8.9")
    assert "`--compute-capabilities` is not used" in told


def test_precisions_are_the_models():
    save_model()
    for words, what in ((["--fp16"], "--fp-to-fp16"), (["--bf16"], "--fp-to-bf16"),
                        (["--layer-precisions", "*:fp16"], "--fp-to-fp16")):
        told = assay("run", "model.onnx", "--ref", "--tensorrt", *words, status=3)
        assert what in told and "types that the model has" in told, told
    told = assay("run", "model.onnx", "--ref", "--tensorrt", "--precision-constraints", "obey", status=3)
    assert "OBEY_PRECISION_CONSTRAINTS" in told
    assay("run", "model.onnx", "--ref", "--tensorrt", "--fp-to-fp16", "--atol", "0.1", "--rtol", "0.1")
    assay("convert", "model.onnx", "--fp-to-fp16", "--tensorrt", "-o", "half.plan")


def test_runtime_caches_take_the_place_of_timing_caches():
    save_model()
    told = assay("run", "model.onnx", "--ref", "--tensorrt", "--save-timing-cache", "cache")
    assert "no timing cache" in told and pathlib.Path("cache").read_bytes() == b"kernels"
    assert "kernels EAGER" in noted()
    told = assay("run", "model.onnx", "--ref", "--tensorrt", "--load-timing-cache", "cache")
    assert "runtime cache b'kernels'" in noted() and "is not used" not in told
    pathlib.Path("cache").write_bytes(b"others")
    assert "`cache` is not used" in assay("run", "model.onnx", "--tensorrt", "--load-timing-cache", "cache").replace(
        os.getcwd() + "/", "")


def test_validity_of_engines():
    save_model()
    assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan")
    run = ["run", "model.onnx", "--tensorrt", "--tensorrt-engine", "model.plan"]
    told = assay(*run, status=3, STAND_IN_VALIDITY="INVALID:VERSION_MISMATCH")
    assert "another version of TensorRT-RTX has built it" in told
    assert "built for other GPUs" in assay(*run, status=3, STAND_IN_VALIDITY="INVALID:UNSUPPORTED_CC")
    assert "may be faster" in assay(*run, STAND_IN_VALIDITY="SUBOPTIMAL")


def test_outputs_of_all_types_are_bytes():
    for number in (16, 10, 7):
        nodes = [helper.make_node("Cast", ["x"], ["y"], to=number)]
        onnx.save(checks.model(nodes, [("x", 1, [2, 3])], [("y", number, [2, 3])], []), "model.onnx")
        assay("run", "model.onnx", "--ref", "--tensorrt")


def test_listings_are_the_librarys():
    save_model("batch")
    told = assay("inspect", "model", "model.onnx", "--convert-to", "trt", "--tensorrt", "--show", "layers")
    assert "MATRIX_MULTIPLY" in told and "ACTIVATION" in told, told
    assay("convert", "model.onnx", "--tensorrt", "-o", "model.plan", *SHAPES)
    told = assay("inspect", "capability", "model.onnx", "--tensorrt")
    assert "fully supported" in told
    told = assay("check", "compatibility", "model.onnx", "--tensorrt")
    assert "tensorrt | COMPATIBLE" in told


def test_headers_of_engines():
    header = b"vtrt" + bytes(12) + (80).to_bytes(8, "little") + bytes([1, 7, 1, 116]) + b"vtrt"
    header += (0x18).to_bytes(4, "little") + bytes(28) + bytes(16)
    pathlib.Path("a.plan").write_bytes(header)
    told = assay("inspect", "model", "a.plan", "--json", "-")
    found = json.loads(told[told.index("{"):told.rindex("}") + 1])
    assert found["machine"] == "TensorRT-RTX 1.7.1.116" and found["capabilities"] == ["8.9", "12.0"], found
    pathlib.Path("a.plan").write_bytes(header[:70])
    assert "cut off: it has 70 of 80 bytes" in assay("inspect", "model", "a.plan", status=2)
    pathlib.Path("a.plan").write_bytes(b"ftrt" + bytes(20) + bytes([10, 9, 0, 34]) + bytes(40))
    assert "Built by: TensorRT 10.9.0.34" in assay("inspect", "model", "a.plan")
    assay("run", "a.plan", "--tensorrt", status=3)
    told = assay("run", "a.plan", "--engine", "--tensorrt", status=2)
    assert "a plan of TensorRT, which only TensorRT runs" in told


def test_packages():
    save_model()
    folder = pathlib.Path("packages/tensorrt_rtx_bindings")
    folder.mkdir(parents=True)
    broken = 'raise ImportError("libtensorrt_rtx.so.1: cannot open shared object file: No such file or directory")'
    (folder / "__init__.py").write_text(broken)
    alone = {"ASSAY_TENSORRT": os.path.abspath("packages"), "PYTHONPATH": os.path.abspath("packages")}
    told = assay("run", "model.onnx", "--tensorrt", status=3, **alone)
    assert "tensorrt_rtx_bindings" in told and "whose name ends in -libs" in told, told
    two = pathlib.Path("packages/tensorrt")
    two.mkdir()
    (two / "__init__.py").write_text("raise ImportError('this is the other one')")
    path = os.pathsep.join([os.path.abspath("packages"), str(STAND_INS), os.environ.get("PYTHONPATH", "")])
    told = assay("run", "model.onnx", "--ref", "--tensorrt", PYTHONPATH=path, ASSAY_USE_TENSORRT_RTX="0")
    assert "TensorRT-RTX 1.7.1" in told, "the package that can be imported is taken"


if __name__ == "__main__":
    checks.run_all(globals())
