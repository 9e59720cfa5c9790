"""Makes frozen graphs, SavedModels, checkpoints and TFLite files from the published schemas, without TensorFlow."""

import struct

import flatbuffers
import numpy as np

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
             "u32": builder.PrependUint32Slot, "f32": builder.PrependFloat32Slot}[kind](number, value, 99)
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


# Graphs of layers.


def type_attribute(name, number=1):
    return attribute(name, field(6, number))


def integer_attribute(name, number):
    return attribute(name, field(3, number))


def flag_attribute(name, value):
    return attribute(name, field(5, int(value)))


def number_attribute(name, value):
    return attribute(name, varint(4 << 3 | 5) + struct.pack("<f", value))


def text_attribute(name, text):
    return attribute(name, field(2, text))


def list_attribute(name, numbers):
    return attribute(name, field(1, field(3, b"".join(varint(number) for number in numbers))))


def function_attribute(name, called):
    return attribute(name, field(10, field(1, called)))


def shape_attribute(name, dims):
    return attribute(name, field(7, shape(*dims)))


TYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int8": 6, "int64": 9, "bool": 10}


def tensor_proto(array):
    array = np.asarray(array)
    dims = b"".join(field(2, field(1, int(size))) for size in array.shape)
    return field(1, TYPES[str(array.dtype)]) + field(2, dims) + field(4, array.tobytes())


def const(name, array):
    return node(name, "Const", (), [type_attribute("dtype", TYPES[str(np.asarray(array).dtype)]),
                                    attribute("value", field(8, tensor_proto(array)))])


def placeholder(name, dims, dtype="float32"):
    return node(name, "Placeholder", (), [type_attribute("dtype", TYPES[dtype]), shape_attribute("shape", dims)])


def graph_def(nodes_of_graph, library=()):
    functions = b"".join(field(1, each) for each in library)
    return b"".join(field(1, each) for each in nodes_of_graph) + field(2, functions) + field(4, field(1, 1395))


def function_def(name, inputs, outputs, nodes_of_function, types=None):
    """`outputs`: name of the argument -> `node:output:0`; `types`: of arguments that are no float32."""
    types = types or {}

    def arguments(number, names):
        return b"".join(field(number, field(1, each) + field(3, types.get(each, 1))) for each in names)

    interface = field(1, name) + arguments(2, inputs) + arguments(3, outputs)
    returned = b"".join(field(4, field(1, key) + field(2, value)) for key, value in outputs.items())
    return field(1, interface) + b"".join(field(3, each) for each in nodes_of_function) + returned


def saved_model_of(graph, inputs, outputs, name="serving_default", restore=""):
    """`inputs`, `outputs`: name of the argument -> (value, dims)."""
    def arguments(number, named):
        rows = []
        for key, (value, dims) in named.items():
            info = field(1, value) + field(2, 1) + field(3, shape(*dims))
            rows.append(field(number, field(1, key) + field(2, info)))
        return b"".join(rows)

    signature = field(5, field(1, name) + field(2, arguments(1, inputs) + arguments(2, outputs)))
    saver = field(3, field(3, restore)) if restore else b""
    return field(1, 1) + field(2, field(1, field(4, "serve") + field(5, "2.21.0")) + field(2, graph) + saver + signature)


def checkpoint(folder, arrays, shards=1):
    """The files of a checkpoint; arrays lie in the shards in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    data = [b""] * shards
    rows = [(b"", field(1, shards) + field(3, field(1, 1)))]
    for number, (key, array) in enumerate(sorted(arrays.items())):
        shard = number % shards
        entry = field(1, TYPES[str(array.dtype)]) + field(2, shape(*array.shape)) + field(3, shard)
        rows.append((key.encode(), entry + field(4, len(data[shard])) + field(5, array.nbytes)))
        data[shard] += array.tobytes()
    block = b"".join(varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in rows)
    block += struct.pack("<II", 0, 1)
    handle = varint(0) + varint(len(block))
    index = varint(0) + varint(1) + varint(len(handle)) + b"z" + handle + struct.pack("<II", 0, 1)
    of_blocks = struct.pack("<II", 0, 1)  # facts about the table: none
    places = (len(block) + len(index) + 10, len(of_blocks), len(block) + 5, len(index))
    footer = b"".join(varint(place) for place in places)
    whole = block + bytes(5) + index + bytes(5) + of_blocks + bytes(5) + footer.ljust(40, b"\0")
    whole += struct.pack("<Q", 0xDB4775248B80FB57)
    (folder / "variables.index").write_bytes(whole)
    for number, part in enumerate(data):
        (folder / f"variables.data-{number:05}-of-{shards:05}").write_bytes(part)


# TFLite files of layers.

LITE_TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}


class Lite:
    """A TFLite file, put together tensor by tensor and operator by operator."""

    def __init__(self):
        self.builder = flatbuffers.Builder(4096)
        self.buffers, self.tensors, self.operators, self.codes = [None], [], [], []

    def tensor(self, name, dims, dtype="float32", scale=None, zero=0, axis=0, data=None, is_state=False):
        """The number of a new tensor."""
        if data is not None:
            dtype, dims = str(data.dtype), data.shape
            self.buffers.append(np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8))
        self.tensors.append((name, list(dims), dtype, scale, zero, axis, len(self.buffers) - 1 if data is not None else 0,
                             is_state))
        return len(self.tensors) - 1

    def constant(self, name, data, **quantization):
        return self.tensor(name, (), data=np.asarray(data), **quantization)

    def add(self, code, inputs, outputs, options=(), kind=0):
        """`code`: of the operator; `options`: fields of its table, as table() takes them, and `kind` its number."""
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append((self.codes.index(code), inputs, outputs, list(options), kind))

    def made_tensor(self, name, dims, dtype, scale, zero, axis, buffer, is_state):
        builder = self.builder
        text = builder.CreateString(name)
        fields = [(0, "offset", builder.CreateNumpyVector(np.array(dims, np.int32))), (1, "u8", LITE_TYPES[dtype]),
                  (2, "u32", buffer), (3, "offset", text)]
        if is_state:
            fields.append((5, "u8", 1))
        if scale is not None:
            scales = builder.CreateNumpyVector(np.atleast_1d(np.array(scale, np.float32)))
            zeros = builder.CreateNumpyVector(np.atleast_1d(np.array(zero, np.int64)))
            fields.append((4, "offset", table(builder, [(2, "offset", scales), (3, "offset", zeros), (6, "i32", axis)])))
        return table(builder, fields)

    def made_operator(self, code, inputs, outputs, options, kind):
        lists = [self.builder.CreateNumpyVector(np.array(each, np.int32)) for each in (inputs, outputs)]
        fields = [(0, "u32", code), (1, "offset", lists[0]), (2, "offset", lists[1])]
        if options:
            fields += [(3, "u8", kind), (4, "offset", table(self.builder, options))]
        return table(self.builder, fields)

    def finish(self, inputs, outputs):
        builder = self.builder
        buffers = []
        for data in self.buffers:
            buffers.append(table(builder, [] if data is None else [(0, "offset", builder.CreateNumpyVector(data))]))
        tensors = vector(builder, [self.made_tensor(*each) for each in self.tensors])
        operators = vector(builder, [self.made_operator(*each) for each in self.operators])
        ends = [builder.CreateNumpyVector(np.array(each, np.int32)) for each in (inputs, outputs)]
        graph = table(builder, [(0, "offset", tensors), (1, "offset", ends[0]), (2, "offset", ends[1]),
                                (3, "offset", operators)])
        codes = [table(builder, [(0, "i8", min(code, 127)), (2, "i32", 1), (3, "i32", code)]) for code in self.codes]
        lists = [vector(builder, each) for each in (codes, [graph], buffers)]
        builder.Finish(table(builder, [(0, "u32", 3), (1, "offset", lists[0]), (2, "offset", lists[1]),
                                       (4, "offset", lists[2])]), b"TFL3")
        return bytes(builder.Output())
