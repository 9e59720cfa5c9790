#!/usr/bin/env python3
"""Writes ONNX's own backend tests, as the installed Python package onnx holds them; nothing is downloaded.

    make_node_tests.py FOLDER [--kinds node,simple,pytorch-converted,pytorch-operator,light] [--only PART]

  FOLDER/<kind>/<test>/model.onnx
  FOLDER/<kind>/<test>/test_data_set_<i>/input_<j>.pb, output_<j>.pb
  FOLDER/index.json     one line a test: kind, name, folder, operators, domains, opset, IR version, tolerances, categories

The .pb files are serialized TensorProto, SequenceProto, OptionalProto or MapProto: which one follows from the type of
the graph's input or output of that number. An optional that is empty has elem_type 0 and no value.
Kinds: node (made by the package's test case functions at this moment: their random inputs follow the seed set here),
simple and pytorch-* (stored in the package), light (real architectures with constant-filled weights; the input follows
the recipe of the package's runner; one stored output). The kind "real" of the package is these same nine models.
"""

import argparse
import collections
import json
import pathlib
import shutil
import sys
import time
import warnings

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

INDEX = "index.json"
KINDS = ["node", "simple", "pytorch-converted", "pytorch-operator", "light"]
FLOAT8 = {"FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0"}
SUB_BYTE = {"INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2", "FLOAT6E2M3", "FLOAT6E3M2"}
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
CONTROL_FLOW = {"If", "Loop", "Scan", "SequenceMap"}
OF_TYPE = {"STRING": "string", "BFLOAT16": "bfloat16", "COMPLEX64": "complex", "COMPLEX128": "complex",
           "FLOAT16": "float16"}


def value_proto(value, info):
    """The message of a value for this input or output. One that is a TensorProto already only gets the name."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if isinstance(value, TensorProto):
        named = TensorProto()
        named.CopyFrom(value)
        named.name = info.name
        return named
    return numpy_helper.from_array(np.asarray(value), info.name)


def bodies(node):
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs


def all_graphs(graph):
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from all_graphs(body)


class Types:
    """The element types of a model, and which of its values are no tensors."""

    def __init__(self, model):
        self.elements, self.containers = set(), set()
        for graph in all_graphs(model.graph):
            for value in [*graph.input, *graph.output, *graph.value_info]:
                self.add_type(value.type)
            for tensor in graph.initializer:
                self.add_element(tensor.data_type)
            for node in graph.node:
                self.add_attributes(node)

    def add_element(self, number):
        self.elements.add(TensorProto.DataType.Name(number))

    def add_type(self, type_proto):
        kind = type_proto.WhichOneof("value")
        if kind == "tensor_type":
            self.add_element(type_proto.tensor_type.elem_type)
        elif kind in ("sequence_type", "optional_type"):
            self.containers.add(kind.removesuffix("_type"))
            self.add_type(getattr(type_proto, kind).elem_type)
        elif kind:
            self.containers.add(kind)

    def add_attributes(self, node):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                self.add_element(attribute.t.data_type)
            if attribute.name == "to" and node.op_type in ("Cast", "BitCast"):
                self.add_element(attribute.i)


def is_random(node):
    return node.op_type in RANDOM or (node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] != "")


def categories(name, model, nodes):
    types = Types(model)
    found = set(types.containers) | {OF_TYPE[e] for e in types.elements if e in OF_TYPE}
    found |= {node.domain for node in nodes if node.domain not in ("", "ai.onnx")}
    conditions = {
        "float8": types.elements & FLOAT8, "sub-byte": types.elements & SUB_BYTE,
        "random": any(map(is_random, nodes)), "control-flow": any(node.op_type in CONTROL_FLOW for node in nodes),
        "function-expanded": "_expanded" in name, "local-functions": len(model.functions)}
    found |= {category for category, holds in conditions.items() if holds}
    return sorted(found), sorted(types.elements)


class Writer:
    def __init__(self, out, only):
        self.out, self.only = out, only
        self.index = []

    def wants(self, name):
        return self.only in name

    def folder(self, kind, name):
        path = self.out / kind / name
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True)
        return path

    def describe(self, kind, name, model, tolerance):
        folder = self.out / kind / name
        nodes = [node for graph in all_graphs(model.graph) for node in graph.node]
        found, types = categories(name, model, nodes)
        self.index.append({
            "kind": kind, "name": name, "folder": f"{kind}/{name}", "ops": sorted({node.op_type for node in nodes}),
            "domains": sorted({node.domain or "ai.onnx" for node in nodes}),
            "opset": {opset.domain or "ai.onnx": opset.version for opset in model.opset_import},
            "ir": model.ir_version, "rtol": tolerance[0], "atol": tolerance[1],
            "data_sets": len(list(folder.glob("test_data_set_*"))), "types": types, "categories": found})

    def write_made(self):
        """The cases that the package's test functions make."""
        import onnx.backend.test.case.node as case_node
        np.random.seed(0)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            cases = list(case_node.collect_testcases(None))
        for case in cases:
            if self.wants(case.name):
                self.write_case(case)
                self.describe("node", case.name, case.model, (case.rtol, case.atol))

    def write_case(self, case):
        folder = self.folder("node", case.name)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir()
            for word, values, infos in (("input", inputs, case.model.graph.input),
                                        ("output", outputs, case.model.graph.output)):
                for j, value in enumerate(values):
                    (data / f"{word}_{j}.pb").write_bytes(value_proto(value, infos[j]).SerializeToString())

    def write_stored(self, kind):
        import onnx.backend.test.loader as loader
        for case in sorted(loader.load_model_tests(kind=kind), key=lambda case: case.name):
            if case.model_dir is None or not self.wants(case.name):
                continue
            folder = self.folder(kind, case.name)
            shutil.copytree(case.model_dir, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
            self.describe(kind, case.name, onnx.load(folder / "model.onnx"), (case.rtol, case.atol))

    def write_light(self):
        """Real architectures with constant-filled weights: the input is an arithmetic ramp, one output is stored."""
        stored = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
        for path in sorted(stored.glob("*.onnx")):
            name = "test_" + path.stem
            if not self.wants(name):
                continue
            model = onnx.load(path)
            folder = self.folder("light", name)
            data = folder / "test_data_set_0"
            data.mkdir()
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            constants = {tensor.name for tensor in model.graph.initializer}
            inputs = [value for value in model.graph.input if value.name not in constants]
            for j, value in enumerate(inputs):
                (data / f"input_{j}.pb").write_bytes(ramp(value).SerializeToString())
            for j, output in enumerate(sorted(stored.glob(path.stem + "_output_*.pb"))):
                shutil.copyfile(output, data / f"output_{j}.pb")
            self.describe("light", name, model, (2e-3 if "densenet" in name else 1e-3, 1e-7))


def ramp(value):
    shape = tuple(dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim)
    count = int(np.prod(shape))
    return numpy_helper.from_array((np.arange(count).astype(np.float32) / count).reshape(shape), value.name)


def write_tests(out, kinds, only=""):
    """Writes the tests and the index; gives the index."""
    out.mkdir(parents=True, exist_ok=True)
    writer = Writer(out, only)
    for kind in kinds:
        if kind == "node":
            writer.write_made()
        elif kind == "light":
            writer.write_light()
        else:
            writer.write_stored(kind)
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in writer.index)
    (out / INDEX).write_text(f"[\n{lines}\n]\n")
    return writer.index


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--kinds", default=",".join(KINDS))
    options.add_argument("--only", default="", help="only tests with this in their name")
    options = options.parse_args()
    start = time.perf_counter()
    index = write_tests(options.folder, options.kinds.split(","), options.only)
    size = sum(path.stat().st_size for path in options.folder.rglob("*") if path.is_file())
    kinds = collections.Counter(entry["kind"] for entry in index)
    found = collections.Counter(category for entry in index for category in entry["categories"])
    print(", ".join(f"{kind} {count}" for kind, count in kinds.items()))
    print(f"{len(index)} tests, {size / 1e6:.1f} MB, {time.perf_counter() - start:.1f} s, "
          f"{len({op for entry in index for op in entry['ops']})} operator types")
    print("categories: " + ", ".join(f"{category} {count}" for category, count in found.most_common()))


if __name__ == "__main__":
    sys.exit(main())
