#!/usr/bin/env python3
"""How many dims shape inference knows, beside onnx.shape_inference, on real models with fixed and with named dims.

    inference.py [--only PART]

A dim counts as known where it is a number or an expression in the names of input dims (`batch`, `2*batch + 1`). The
dims of all results of nodes are counted; declared types of intermediate values are taken away before. Exits 1 where the
peer knows more.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

import onnx

import make_shapes

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
NAMES = ["resnet50", "mobilenetv2", "yolov5s", "bert_base_s128", "gpt2_s128"]


def result_names(model: onnx.ModelProto) -> set[str]:
    return {name for node in model.graph.node for name in node.output if name}


def count(dims_by_name: dict[str, list], names: set[str], inputs: set[str]) -> tuple[int, int, int]:
    """Numbers, expressions in input names, and values of unknown rank."""
    numbers = expressions = unranked = 0
    for name in names:
        dims = dims_by_name.get(name)
        if dims is None:
            unranked += 1
            continue
        for dim in dims:
            if isinstance(dim, int):
                numbers += 1
            elif dim and set(re.findall(r"[A-Za-z_]\w*", dim)) - {"floor", "min", "max"} <= inputs:
                expressions += 1
    return numbers, expressions, unranked


def ours(path: pathlib.Path) -> tuple[dict[str, list], float]:
    begin = time.perf_counter()
    done = subprocess.run([ASSAY, "inspect", "model", str(path), "--shape-inference", "--show", "layers", "--json", "-"],
                          capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    dims = {}
    for node in json.loads(done.stdout)["nodes"]:
        for value in node["outputs"]:
            if value.get("shape") is not None:
                dims[value["name"]] = value["shape"]
    return dims, seconds


def theirs(model: onnx.ModelProto) -> tuple[dict[str, list], float]:
    begin = time.perf_counter()
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    seconds = time.perf_counter() - begin
    dims = {}
    for value in [*inferred.graph.value_info, *inferred.graph.output]:
        if value.type.tensor_type.HasField("shape"):
            dims[value.name] = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param
                                for dim in value.type.tensor_type.shape.dim]
    return dims, seconds


def named_inputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """The first dim of each input, and sequence lengths or image sides, given names instead of numbers."""
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if axis != 1 or len(value.type.tensor_type.shape.dim) == 2:
                dim.dim_param = ["batch", "sequence", "height", "width"][axis]
    return model


def variants(name: str) -> list[tuple[str, onnx.ModelProto]]:
    if name == "shape_subgraphs":
        return [(name, make_shapes.transformer(blocks=12))]
    subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True,
                   stdout=subprocess.DEVNULL)
    found = []
    for suffix, change in (("", lambda model: model), (" named dims", named_inputs)):
        model = onnx.load(MODELS / f"{name}.onnx")
        del model.graph.value_info[:]
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        found.append((name + suffix, change(model)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    worse = 0
    print(f"{'model':28} {'values':>6} | {'numbers':>8} {'expr':>5} {'unranked':>8} {'ms':>6} | onnx: same")
    for name in [*NAMES, "shape_subgraphs"]:
        if options.only not in name:
            continue
        for title, model in variants(name):
            path = MODELS / "inference.onnx"
            onnx.save(model, path)
            names = result_names(model)
            inputs = {dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim}
            own, own_seconds = ours(path)
            peer, peer_seconds = theirs(model)
            mine, other = count(own, names, inputs), count(peer, names, inputs)
            print(f"{title:28} {len(names):6} | {mine[0]:8} {mine[1]:5} {mine[2]:8} {own_seconds * 1e3:6.0f} | "
                  f"{other[0]:8} {other[1]:5} {other[2]:8} {peer_seconds * 1e3:6.0f}")
            worse += mine[0] + mine[1] < other[0] + other[1]
            path.unlink()
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
