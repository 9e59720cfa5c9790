"""Frozen graphs, SavedModels and TFLite files: listed by `inspect model`, run by OpenVINO, and one network in three
formats with one result. Files are made here, from the published schemas; TensorFlow is not needed."""

import json
import os
import random
import struct
import unittest

import flatbuffers
import numpy as np
import onnx
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
WEIGHTS = (np.arange(12, dtype=np.float32) / 7).reshape(3, 4)


# Protocol buffers.


def varint(number):
    number &= (1 << 64) - 1
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def shape(*dims):
    return b"".join(field(2, field(1, dim)) for dim in dims)


def attribute(name, value):
    return field(5, field(1, name) + field(2, value))


def node(name, op, inputs=(), attributes=()):
    return field(1, name) + field(2, op) + b"".join(field(3, each) for each in inputs) + b"".join(attributes)


FLOAT = attribute("T", field(6, 1))


def nodes():
    values = field(1, 1) + field(2, shape(3, 4)) + field(4, WEIGHTS.tobytes())
    flags = [attribute("transpose_a", field(5, 0)), attribute("transpose_b", field(5, 0))]
    return [node("x", "Placeholder", (), [attribute("dtype", field(6, 1)), attribute("shape", field(7, shape(2, 3)))]),
            node("w", "Const", (), [attribute("dtype", field(6, 1)), attribute("value", field(8, values))]),
            node("product", "MatMul", ["x", "w"], [FLOAT, *flags]), node("y", "Relu", ["product"], [FLOAT])]


def frozen_graph(library=b""):
    return b"".join(field(1, each) for each in nodes()) + library + field(4, field(1, 1395))


def function(name):
    argument = field(1, "v") + field(3, 1)
    interface = field(1, name) + field(2, argument) + field(3, argument)
    return field(2, field(1, field(1, interface) + field(3, node("twice", name, ["v"]))))


def saved_model(library=b""):
    def info(name, *dims):
        return field(1, name) + field(2, 1) + field(3, shape(*dims))

    signature = field(1, field(1, "x") + field(2, info("x:0", 2, 3)))
    signature += field(2, field(1, "y") + field(2, info("y:0", 2, 4)))
    meta = field(1, field(4, "serve") + field(5, "2.21.0")) + field(2, frozen_graph(library))
    return field(1, 1) + field(2, meta + field(5, field(1, "serving_default") + field(2, signature)))


def variables_index(shards=2):
    """A table with one block of two entries, and one index block."""
    entry = field(1, 1) + field(2, shape(3, 4)) + field(3, 1) + field(5, 48)
    rows = [(b"", field(1, shards)), (b"layer/kernel", entry)]
    block = b"".join(varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in rows)
    block += struct.pack("<II", 0, 1)
    handle = varint(0) + varint(len(block))
    index = varint(0) + varint(1) + varint(len(handle)) + b"z" + handle + struct.pack("<II", 0, 1)
    data = block + bytes(5) + index + bytes(5)
    footer = varint(0) + varint(0) + varint(len(block) + 5) + varint(len(index))
    return data + footer.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


# TFLite.


def table(builder, fields):
    """A table with fields of the form (number, kind, value); zeros are written too."""
    builder.StartObject(max([number for number, *_ in fields], default=-1) + 1)
    for number, kind, value in fields:
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(number, value, 0)
        else:
            {"u8": builder.PrependUint8Slot, "i8": builder.PrependInt8Slot, "i32": builder.PrependInt32Slot,
             "u32": builder.PrependUint32Slot}[kind](number, value, 99)
    return builder.EndObject()


def vector(builder, values, size=4):
    builder.StartVector(size, len(values), size)
    for value in reversed(values):
        builder.PrependUOffsetTRelative(value)
    return builder.EndVector()


def tflite():
    builder = flatbuffers.Builder(1024)
    numbers = {key: builder.CreateNumpyVector(np.array(value, np.int32))
               for key, value in {"x": [2, 3], "w": [4, 3], "y": [2, 4], "in": [0], "out": [2], "operands": [0, 1, -1]}.items()}
    data = builder.CreateNumpyVector(np.frombuffer(np.ascontiguousarray(WEIGHTS.T).tobytes(), np.uint8))
    buffers = [table(builder, []), table(builder, [(0, "offset", data)])]
    tensors = []
    for name, buffer in (("x", 0), ("w", 1), ("y", 0)):
        text = builder.CreateString(name)
        tensors.append(table(builder, [(0, "offset", numbers[name]), (1, "u8", 0), (2, "u32", buffer), (3, "offset", text)]))
    options = table(builder, [(0, "i8", 1)])  # FullyConnectedOptions: RELU
    op = table(builder, [(0, "u32", 0), (1, "offset", numbers["operands"]), (2, "offset", numbers["out"]),
                         (3, "u8", 8), (4, "offset", options)])
    graph = table(builder, [(0, "offset", vector(builder, tensors)), (1, "offset", numbers["in"]),
                            (2, "offset", numbers["out"]), (3, "offset", vector(builder, [op]))])
    code = table(builder, [(0, "i8", 9), (2, "i32", 1), (3, "i32", 9)])
    lists = [vector(builder, [code]), vector(builder, [graph]), vector(builder, buffers)]
    text = builder.CreateString("made by a test")
    root = table(builder, [(0, "u32", 3), (1, "offset", lists[0]), (2, "offset", lists[1]), (3, "offset", text),
                           (4, "offset", lists[2])])
    builder.Finish(root, b"TFL3")
    return bytes(builder.Output())


class TensorFlow(InFolder):
    def write(self, name, data):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def write_all(self):
        self.write("saved/saved_model.pb", saved_model())
        return [self.write("net.pb", frozen_graph()), self.path / "saved", self.write("net.tflite", tflite())]

    def listing(self, path, *words):
        told = run(ASSAY, "inspect", "model", path, "--json", "-", *words)
        return json.loads(told[told.index("{"):told.rindex("}") + 1])

    def test_listings(self):
        graph, saved, lite = self.write_all()
        found = self.listing(graph, "--show", "layers")
        self.assertEqual((found["kind"], found["version"]), ("frozen graph", "graph 1395"))
        self.assertEqual(found["op_histogram"], {"Const": 1, "MatMul": 1, "Placeholder": 1, "Relu": 1})
        self.assertEqual(found["graphs"][0]["inputs"], [{"name": "x", "dtype": "float32", "shape": [2, 3]}])
        self.assertEqual(found["graphs"][0]["nodes"][2]["inputs"], ["x", "w"])
        found = self.listing(saved)
        self.assertEqual((found["kind"], found["version"]), ("SavedModel", "TensorFlow 2.21.0"))
        self.assertEqual(found["signatures"][0]["outputs"]["y"]["shape"], [2, 4])
        found = self.listing(lite, "--show", "layers")
        self.assertEqual((found["kind"], found["description"]), ("TFLite", "made by a test"))
        self.assertEqual(found["op_histogram"], {"FULLY_CONNECTED": 1})
        self.assertEqual((found["constant_count"], found["constant_bytes"]), (1, 48))
        self.assertEqual(found["graphs"][0]["nodes"][0]["inputs"], ["x", "w"])
        told = run(ASSAY, "inspect", "model", lite, "--show", "layers")
        self.assertIn("Node 0    | y [Op: FULLY_CONNECTED]", told)

    def test_variables_and_functions(self):
        self.write("saved/saved_model.pb", saved_model(function("loop")))
        self.write("saved/variables/variables.index", variables_index())
        self.write("saved/variables/variables.data-00001-of-00002", bytes(48))
        found = self.listing(self.path / "saved")
        self.assertEqual(found["variables"], [{"name": "layer/kernel", "dtype": "float32", "shape": [3, 4]}])
        self.assertEqual((found["variable_bytes"], found["functions"][0]["name"]), (48, "loop"))
        self.assertIn("variables.data-00000-of-00002", found["findings"][0]["message"])

    def test_three_formats_have_one_result(self):
        infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
                 helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])]
        layers = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
        graph = helper.make_graph(layers, "net", infos[:1], infos[1:], [numpy_helper.from_array(WEIGHTS, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), self.path / "m.onnx")
        results = []
        run(ASSAY, "run", self.path / "m.onnx", "--ref", "--save-inputs", self.path / "in.npz")
        values = dict(np.load(self.path / "in.npz"))
        for path in [self.path / "m.onnx", *self.write_all()]:
            found = self.listing_of_run(path, values)
            results.append(next(iter(found.values())))
        for result in results[1:]:
            np.testing.assert_allclose(result, results[0], rtol=1e-6)

    def listing_of_run(self, path, values):
        name = "x:0" if path.suffix == ".pb" else "x"
        np.savez(self.path / "given.npz", **{name: next(iter(values.values()))})
        out = self.path / "out.npz"
        run(ASSAY, "run", path, "--openvino", "--load-inputs", self.path / "given.npz", "--save-outputs", out)
        return dict(np.load(out))

    def test_others_refuse(self):
        for path in self.write_all():
            run(ASSAY, "run", path, "--onnxrt", "--openvino", status=3)
        run(ASSAY, "inspect", "model", self.path / "net.tflite", "--shape-inference", status=3)
        text = self.write("text/saved_model.pbtxt", b"saved_model_schema_version: 1")
        run(ASSAY, "inspect", "model", text.parent, status=3)

    def test_damaged_files(self):
        dice = random.Random(7)
        index = variables_index()
        self.write("saved/saved_model.pb", saved_model())
        for name, data in (("a.pb", frozen_graph()), ("a.tflite", tflite()), ("saved/variables/variables.index", index)):
            for cut in range(0, len(data), max(len(data) // 12, 1)):
                self.try_listing(self.write(name, data[:cut]))
            for _ in range(12):
                changed = bytearray(data)
                for _ in range(3):
                    changed[dice.randrange(len(data))] = dice.randrange(256)
                self.try_listing(self.write(name, bytes(changed)))

    def try_listing(self, path):
        target = self.path / "saved" if path.name == "variables.index" else path
        result = run(ASSAY, "inspect", "model", target, status=None)
        self.assertNotIn("internal", result)


if __name__ == "__main__":
    unittest.main()
