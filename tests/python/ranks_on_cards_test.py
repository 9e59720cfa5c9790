"""Ranks of the program on two cards, both of which the host runs: shards, copies, refusals."""

import json
import os
import subprocess

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import checks
import host_card


def assay(*arguments, expected=0, cards="2", **changed):
    """What the program prints."""
    with host_card.environment() as variables:
        done = subprocess.run([os.environ["ASSAY"], *arguments], capture_output=True, text=True, check=False,
                              env={**variables, "ASSAY_HOST_CARDS": cards, **changed})
    assert done.returncode == expected, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def saved_model():
    random = numpy.random.default_rng(3)
    weights = [numpy_helper.from_array(random.standard_normal(shape, numpy.float32) / 4, name)
               for name, shape in (("up", (16, 32)), ("down", (32, 16)), ("bias", (16,)))]
    nodes = [helper.make_node("MatMul", ["x", "up"], ["u"]), helper.make_node("Relu", ["u"], ["r"]),
             helper.make_node("Gemm", ["r", "down", "bias"], ["y"])]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 16])] for name in "xy"]
    graph = helper.make_graph(nodes, "g", *ports, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    return "net.onnx", "--input-shapes", "x:[6,16]"


def test_shards_on_two_cards_and_on_one():
    model, *shapes = saved_model()
    for devices in ("cuda:0,cuda:1", "cuda:1,cuda:0", "cuda:0,cuda:0", "cuda"):
        for words in ((), ("--fp16",)):
            text = assay("run", model, "--shard", "tp:2", "--engine", "--device", devices, "--ref", "--tolerance", "auto",
                         *shapes, *words)
            assert "engine-cuda-tp2" in text and "PASSED" in text, text
    text = assay("run", model, "--shard", "tp:2", "--engine", "--engine", "--device", "cuda:0,cuda:1", "--tolerance", "auto",
                 *shapes)
    assert "engine-cuda-tp2-runner" in text and "engine-cuda-runner" in text, text


def test_nccl_where_it_is_asked_for():
    """Cards that cannot read each other's memory exchange elements by NCCL, which a library of the tests stands in for."""
    model, *shapes = saved_model()
    words = ["run", model, "--shard", "tp:2", "--engine", "--ref", "--tolerance", "auto", *shapes, "--rank-transport", "nccl"]
    nccl = {"ASSAY_NCCL": os.path.join(os.environ["ASSAY_BIN_DIR"], "libhost_nccl.so"), "ASSAY_HOST_NO_PEERS": "1"}
    assert "PASSED" in assay(*words, "--device", "cuda:0,cuda:1", **nccl)
    assert "PASSED" in assay(*words, "--device", "cuda:0,cuda:1", ASSAY_NCCL=nccl["ASSAY_NCCL"])  # small sums of cards that can
    text = assay(*words, "--device", "cuda:0,cuda:1", expected=3, ASSAY_NCCL="/nowhere", PATH="")  # also where none would use it
    assert "rank 0: node `" in text and "no NCCL library was found" in text, text
    assert "PASSED" in assay(*words, "--device", "cuda:0,cuda:0", **nccl)  # one card reads its own memory
    text = assay(*words, "--device", "cuda:0,cuda:1", expected=3, **{**nccl, "ASSAY_HOST_NCCL_VERSION": "21205"})
    assert "is NCCL 2.12.5; from 2.18 on and before 3 is needed" in text and "rank 0" in text, text
    text = assay(*words, "--device", "cuda:0,cuda:1", expected=3, **{**nccl, "ASSAY_NCCL": "/nowhere/libnccl.so.2"})
    assert "rank 0" in text and "NCCL" in text, text
    line = assay(*words[:-2], "--device", "cuda:0,cuda:1", expected=3, ASSAY_HOST_NO_PEERS="1")
    assert "(--rank-transport)" in line, line


def large_sums():
    """The rows of each rank, added up, and put together again: 600 KB each."""
    def node(name, given, made, reduction="none"):
        return helper.make_node("DistCollective", [given], [made], collective_operation=name, reduce_op=reduction, nb_rank=2)

    nodes = [node("reduce_scatter", "x", "p", "sum"), node("all_reduce", "p", "s", "sum"), node("all_gather", "s", "y")]
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in (("x", (300, 1000)), ("y", None))]
    graph = helper.make_graph(nodes, "g", *ports)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "sums.onnx")
    return "sums.onnx"


def test_large_sums_by_nccl():
    words = ["run", large_sums(), "--shard", "ranks:2", "--engine"]
    assay(*words, "--device", "cpu", "--save-outputs", "cpu.json", "--save-inputs", "inputs.json")
    library = os.path.join(os.environ["ASSAY_BIN_DIR"], "libhost_nccl.so")
    for transport in ("peers", "nccl"):
        assay(*words, "--device", "cuda:0,cuda:1", "--rank-transport", transport, "--load-inputs", "inputs.json",
              "--load-outputs", "cpu.json", "--atol", "0", "--rtol", "0", ASSAY_NCCL=library)
    text = assay(*words, "--device", "cuda:0,cuda:0", "--rank-transport", "nccl", expected=3, ASSAY_NCCL=library)
    assert "NCCL needs a card for each rank, and cuda:0 has several" in text, text


def test_runs_have_the_same_bits():
    model, *shapes = saved_model()
    assay("debug", "repeat", model, "--same", "--until", "8", "--shard", "tp:2", "--engine", "--device", "cuda:0,cuda:1", *shapes)


def test_copies():
    model, *shapes = saved_model()
    assay("run", model, "--shard", "copies:2", "--engine", "--device", "cuda:0,cuda:1", "--ref", "--tolerance", "auto", *shapes)
    for devices in ("cuda:0,cuda:1", "cpu,cpu", "cpu,cuda:0"):
        assay("bench", model, "--devices", devices, "--duration", "0.05", "--streams", "2", "--json", "bench.json",
              "--with-samples", *shapes)
        with open("bench.json", encoding="utf-8") as file:
            bench = json.load(file)
        assert bench["devices"] == devices.split(",") and bench["streams"] == 4, bench
        assert {sample["stream"] for sample in bench["backends"][0]["samples"]} == {0, 1, 2, 3}
    for words in (["--devices", "cuda:0,cuda:1"], ["--devices", "cpu,cuda:0"], ["--shard", "tp:2", "--device", "cuda:0,cuda:1"]):
        assay("bench", model, "--engine", *words, "--no-transfers", "--duration", "0.05", *shapes)
    assert "expected two at least" in assay("bench", model, "--devices", "cpu", *shapes, expected=2)
    assert "one of them" in assay("bench", model, "--devices", "cpu,cpu", "--device", "cpu", *shapes, expected=2)


def test_refusals_are_one_line():
    model, *shapes = saved_model()
    words = ["run", model, "--shard", "tp:2", "--engine", *shapes, "--device"]

    def refused(devices, **changed):
        text = assay(*words, devices, expected=3, **changed)
        return next(line for line in text.splitlines() if "error:" in line)

    assert "rank 1: there is no card 2: the driver finds 2" in refused("cuda:0,cuda:2")
    assert "rank 1: there is no card 1: the driver finds 1" in refused("cuda:0,cuda:1", cards="1")
    assert "2 ranks need as many devices, or one for all; 3 are named" in refused("cuda:0,cuda:1,cuda:0")
    line = refused("cuda:0,cuda:1", ASSAY_HOST_NO_PEERS="1")
    assert "no peer access between them" in line and "rank" in line, line
    assert "on another kind of device than rank 0" in refused("cuda:0,cpu")


if __name__ == "__main__":
    checks.run_all(globals())
