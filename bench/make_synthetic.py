#!/usr/bin/env python3
"""Writes very large models, encoded by hand so that it takes seconds.

    make_synthetic.py FOLDER [NAME...]     default: external_10gb nodes_10k nodes_100k nodes_300k nodes_1m

external_10gb: 100 weights of 100 MB in a sparse file beside the model. nodes_*: that many nodes in residual blocks,
each with a unique name, attributes as exporters write them, small weights, and a value_info for every intermediate tensor.
shuffled_100k, shuffled_300k, shuffled_1m: a chain of so many nodes in random order.
"""

import pathlib
import random
import struct
import sys

FLOAT, INT64 = 1, 7
ATTRIBUTE_INT, ATTRIBUTE_INTS = 2, 7
CHANNELS = 8

SHUFFLED_COUNTS = {"shuffled_100k": 100_000, "shuffled_300k": 300_000, "shuffled_1m": 1_000_000}
NODE_COUNTS = {"nodes_10k": 10_000, "nodes_100k": 100_000, "nodes_300k": 300_000, "nodes_1m": 1_000_000}
EXTERNAL_WEIGHTS, EXTERNAL_BYTES = 100, 100_000_000


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor_type(dims: list[int]) -> bytes:
    shape = b"".join(data(1, number(1, dim)) for dim in dims)
    return data(1, number(1, FLOAT) + data(2, shape))


def value_info(field: int, name: str, encoded_type: bytes) -> bytes:
    return data(field, data(1, name) + data(2, encoded_type))


def tensor(name: str, dims: list[int], dtype: int, raw: bytes) -> bytes:
    head = b"".join(number(1, dim) for dim in dims) + number(2, dtype)
    return data(5, head + data(8, name) + data(9, raw))


def attribute(name: str, *values: int) -> bytes:
    if len(values) == 1:
        return data(5, data(1, name) + number(3, values[0]) + number(20, ATTRIBUTE_INT))
    return data(5, data(1, name) + b"".join(number(8, value) for value in values) + number(20, ATTRIBUTE_INTS))


CONV = b"".join([attribute("dilations", 1, 1), attribute("group", 1), attribute("kernel_shape", 1, 1),
                 attribute("pads", 0, 0, 0, 0), attribute("strides", 1, 1)])
IMAGE, ROWS = [1, CHANNELS, 4, 4], [1, CHANNELS, 16]
IMAGE_TYPE, ROWS_TYPE = tensor_type(IMAGE), tensor_type(ROWS)
WEIGHT = struct.pack("<f", 0.125) * CHANNELS * CHANNELS
BIAS = struct.pack("<f", 0.5) * CHANNELS
MATRIX = struct.pack("<f", 0.0625) * 16 * 16

# One block: operator, inputs besides the running value, attributes, type of the output. Inputs are the block's own
# weights, with @ those of all blocks, with ^ the block's entry.
BLOCK = [
    ("Conv", ["weight", "bias"], CONV, IMAGE_TYPE),
    ("Relu", [], b"", IMAGE_TYPE),
    ("Reshape", ["@rows"], attribute("allowzero", 0), ROWS_TYPE),
    ("MatMul", ["matrix"], b"", ROWS_TYPE),
    ("Add", ["@offset"], b"", ROWS_TYPE),
    ("Relu", [], b"", ROWS_TYPE),
    ("Reshape", ["@image"], attribute("allowzero", 0), IMAGE_TYPE),
    ("Add", ["^"], b"", IMAGE_TYPE),
]


class Nodes:
    """Collects encoded parts of a graph; protobuf lets the kinds of parts stand in any order."""

    def __init__(self):
        self.nodes: list[bytes] = []
        self.values: list[bytes] = []
        self.initializers = [
            tensor("rows", [3], INT64, struct.pack("<3q", *ROWS)),
            tensor("image", [4], INT64, struct.pack("<4q", *IMAGE)),
            tensor("offset", [16], FLOAT, struct.pack("<f", 0.25) * 16)]

    def block(self, index: int, current: str) -> str:
        """Adds a block behind the value `current` and returns its output."""
        path = f"/encoder/block.{index}"
        entry = current
        for step, (op, others, attributes, encoded_type) in enumerate(BLOCK):
            names = [entry if name == "^" else name[1:] if name[0] == "@" else f"{path}.{name}" for name in others]
            output = f"{path}/{op}_{step}_output_0"
            inputs = b"".join(data(1, name) for name in [current, *names])
            parts = inputs + data(2, output) + data(3, f"{path}/{op}_{step}") + data(4, op) + attributes
            self.nodes.append(data(1, parts))
            self.values.append(value_info(13, output, encoded_type))
            current = output
        self.initializers += [tensor(f"{path}.weight", [CHANNELS, CHANNELS, 1, 1], FLOAT, WEIGHT),
                              tensor(f"{path}.bias", [CHANNELS], FLOAT, BIAS),
                              tensor(f"{path}.matrix", [16, 16], FLOAT, MATRIX)]
        return current


def write_model(path: pathlib.Path, graph: list[bytes]) -> None:
    """Writes the parts of a graph as a model without joining them in memory."""
    opset = data(8, data(1, "") + number(2, 17))
    with path.open("wb") as file:
        file.write(number(1, 8) + data(2, "synthetic") + opset)
        file.write(varint(7 << 3 | 2) + varint(sum(map(len, graph))))
        file.writelines(graph)


def write_nodes(path: pathlib.Path, count: int) -> None:
    parts = Nodes()
    current = "x"
    for index in range(count // len(BLOCK)):
        current = parts.block(index, current)
    parts.values[-1] = value_info(12, current, IMAGE_TYPE)  # the last value is the graph's output
    graph = [data(2, "main")] + parts.nodes + parts.initializers
    write_model(path, graph + [value_info(11, "x", IMAGE_TYPE)] + parts.values)


def write_shuffled(path: pathlib.Path, count: int) -> None:
    """A chain whose nodes stand in random order, the same in each run."""
    vector = tensor_type([4])
    nodes = [data(1, data(1, f"v{at}") + data(2, f"v{at + 1}") + data(3, f"n{at}") + data(4, "Neg"))
             for at in range(count)]
    random.Random(1).shuffle(nodes)
    write_model(path, [data(2, "main"), *nodes, value_info(11, "v0", vector), value_info(12, f"v{count}", vector)])


def external_tensor(index: int) -> bytes:
    entries = {"location": "external_10gb.data", "offset": index * EXTERNAL_BYTES, "length": EXTERNAL_BYTES}
    pairs = b"".join(data(13, data(1, key) + data(2, str(value))) for key, value in entries.items())
    dims = number(1, 5000) + number(1, EXTERNAL_BYTES // 4 // 5000)
    return data(5, dims + number(2, FLOAT) + data(8, f"weight_{index}") + pairs + number(14, 1))


def write_external(path: pathlib.Path) -> None:
    with path.with_name("external_10gb.data").open("wb") as file:
        file.truncate(EXTERNAL_WEIGHTS * EXTERNAL_BYTES)
    graph, current = [data(2, "main")], "x"
    encoded_type = tensor_type([5000, 5000])
    for index in range(EXTERNAL_WEIGHTS):
        output = "y" if index == EXTERNAL_WEIGHTS - 1 else f"sum_{index}"
        inputs = data(1, current) + data(1, f"weight_{index}")
        graph.append(data(1, inputs + data(2, output) + data(3, f"add_{index}") + data(4, "Add")))
        graph.append(external_tensor(index))
        current = output
    write_model(path, graph + [value_info(11, "x", encoded_type), value_info(12, "y", encoded_type)])


def make(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Writes the model unless it is there, and returns its path."""
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        if name == "external_10gb":
            write_external(unfinished)
        elif name in SHUFFLED_COUNTS:
            write_shuffled(unfinished, SHUFFLED_COUNTS[name])
        else:
            write_nodes(unfinished, NODE_COUNTS[name])
        unfinished.rename(path)
    return path


def main() -> int:
    default = ["external_10gb", *NODE_COUNTS]
    names = [*default, *SHUFFLED_COUNTS]
    if len(sys.argv) < 2 or set(sys.argv[2:]) - set(names):
        print(f"usage: make_synthetic.py FOLDER [NAME...]; names: {' '.join(names)}", file=sys.stderr)
        return 2
    for name in sys.argv[2:] or default:
        print(make(pathlib.Path(sys.argv[1]), name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
