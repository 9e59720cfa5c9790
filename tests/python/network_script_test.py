"""Scripts that draw networks are models of the program."""

import os
import pathlib
import subprocess
import sys

import checks

SCRIPT = """
import numpy as np
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateNetwork


@func.extend(CreateNetwork())
def load_network(builder, network):
    print("drawing")
    x = network.add_input(name="x", shape=(2, 2), dtype=trt.float32)
    ones = network.add_constant(shape=(2, 2), weights=np.ones((2, 2), np.float32)).get_output(0)
    added = network.add_elementwise(x, ones, op=trt.ElementWiseOperation.SUM).get_output(0)
    added.name = "y"
    network.mark_output(added)


def native():
    builder = trt.Builder(trt.Logger())
    network = builder.create_network()
    network.mark_output(network.add_identity(network.add_input("a", trt.float32, (-1, 3))).get_output(0))
    return builder, network


def wrong():
    return 5


def failing():
    raise ValueError("no such\\nluck")
"""


def run(*words, status=0):
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    found = subprocess.run([os.environ["ASSAY"], *words], capture_output=True, text=True, env=environment, timeout=600,
                           check=False)
    assert found.returncode == status, f"{words}: {found.returncode}\n{found.stdout}{found.stderr}"
    return found.stdout + found.stderr


def test_networks_of_scripts_are_models():
    pathlib.Path("example.py").write_text(SCRIPT)
    listed = run("inspect", "model", "example.py", "--trt-network-func", "load_network", "--show", "layers", "weights")
    assert "Add" in listed and "y [dtype=float32, shape=(2, 2)]" in listed
    assert run("inspect", "model", "example.py:load_network", "--show", "layers") and "Identity" in run(
        "inspect", "model", "example.py:native", "--show", "layers")
    assert "PASSED" in run("run", "example.py", "--ref", "--engine")
    assert "PASSED" in run("run", "example.py:native", "--ref", "--onnxrt", "--input-shapes", "a:[2,3]")
    run("convert", "example.py", "-o", "drawn.onnx")
    assert "Add" in run("inspect", "model", "drawn.onnx", "--show", "layers")


CONFIG = """
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.trt import CreateConfig, Profile


@func.extend(CreateConfig(profiles=[Profile().add("x", min=(1, 3), opt=(2, 3), max=(4, 3))]))
def load_config(config):
    config.set_flag(trt.BuilderFlag.BF16)


def plain(builder, network):
    assert network.num_inputs == 1
    return builder.create_builder_config()


def wrong(builder, network):
    return network
"""


def test_the_python_that_is_named_runs_scripts():
    pathlib.Path("example.py").write_text(SCRIPT)
    pathlib.Path("config.py").write_text(CONFIG)
    run("convert", "example.py:native", "-o", "open.onnx")
    pathlib.Path("none").write_text("#!/bin/sh\nexit 5\n")
    pathlib.Path("none").chmod(0o755)
    for script in (["example.py"], ["open.onnx", "--trt-config-script", "config.py"]):
        assert "none ended with status 5" in run("run", *script, "--engine", "--python", "./none", status=2)


def test_scripts_make_configurations():
    pathlib.Path("config.py").write_text(CONFIG)
    made = checks.model([checks.helper.make_node("Relu", ["x"], ["y"])], [("x", 1, ["N", 3])], [("y", 1, ["N", 3])])
    checks.onnx.save(made, "open.onnx")
    run("convert", "open.onnx", "-o", "open.engine", "--trt-config-script", "config.py")
    assert "PASSED" in run("run", "open.engine", "--engine", "--input-shapes", "x:[4,3]")
    assert "[5,3]" in run("run", "open.engine", "--engine", "--input-shapes", "x:[5,3]", status=2)
    run("run", "open.onnx", "--engine", "--input-shapes", "x:[3,3]", "--trt-config-script", "config.py:load_config")
    for words, reason in ((["config.py:plain"], "optimisation profile"), (["config.py:wrong"], "configuration"),
                          (["nothere.py"], "nothere.py")):
        assert reason in run("run", "open.onnx", "--engine", "--trt-config-script", *words, status=2)
    assert "does not run" in run("run", "open.onnx", "--ref", "--trt-config-script", "config.py", status=2)


def test_faults_of_scripts_are_one_line():
    pathlib.Path("example.py").write_text(SCRIPT)
    for word, reason in (("example.py:nothing", "nothing"), ("example.py:wrong", "expected (builder, network)"),
                         ("example.py:failing", "no such luck"), ("nothere.py", "nothere.py")):
        found = run("inspect", "model", word, status=2)
        lines = [line for line in found.splitlines() if line.startswith("[!]")]
        assert len(lines) == 1 and reason in lines[0], found
    pathlib.Path("broken.py").write_text("import nothing_of_that_name\n")
    assert "nothing_of_that_name" in run("inspect", "model", "broken.py", status=2)


if __name__ == "__main__":
    checks.run_all(globals())
