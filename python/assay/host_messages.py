"""What src/remote/message.h says, in Python: messages, and arrays as values of ONNX. A part of host.py.

A frame, a body of numbers (8 bytes each, little-endian) and texts (length and bytes), and one shared memory with the
elements of all tensors.
"""

import collections.abc
import fcntl
import mmap
import os
import socket
import struct
import sys

MAGIC, VERSION = 0x59415341, 1
FRAME = struct.Struct("<IHHQQ")
ALIGNMENT = 64
MOST_BODY_BYTES = 1 << 30
FAILED, DONE, END, LOAD_DATA, NEXT_DATA, POSTPROCESS, COMPARE = 0, 1, 2, 6, 7, 8, 9
PREPARE, RUN, PREPARED, VALUE, MAKE_EXECUTION, RAN = 4, 5, 11, 12, 19, 20
DATA, VERDICTS, MATCH, MATCHED, REPLACE, REPLACED = 13, 14, 15, 16, 17, 18
LIST, LISTED, REFUSE, REFUSED, SCORE, SCORED = 21, 22, 23, 24, 25, 26
NONE, TENSOR, SEQUENCE, MAP = range(4)
USAGE, UNSUPPORTED = 0, 3
STRING = 8
ADD_SEALS, SEALS = 1033, 0x2 | 0x4 | 0x8  # no shrinking, growing or writing

# ONNX's number of an element type -> name of its numpy type, and its bits where elements are packed. The types behind
# float64 but for the complex ones are those of the package ml_dtypes.
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn",
    24: "float8_e8m0fnu", 25: "uint2", 26: "int2", 27: "float6_e2m3fn", 28: "float6_e3m2fn",
}
NUMBERS = {name: number for number, name in DTYPES.items()}
PACKED_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}


class Fault(Exception):
    """What is answered instead of a result: one line, the text to show before it, and what may help."""

    def __init__(self, code, line, text="", remedy=""):
        super().__init__(line)
        self.code, self.line, self.text, self.remedy = code, line, text, remedy


class IterationResult(dict):
    """Outputs by name, with the name of their runner and the seconds that it took (None: not known)."""

    def __init__(self, outputs, runner_name, runtime):
        super().__init__(outputs)
        self.runner_name, self.runtime = runner_name, runtime


def load_numpy():
    try:
        import numpy
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise Fault(USAGE, f"the Python `{sys.executable}` has no package numpy, which scripts need "
                    "(see `--python`)") from None
    return numpy


def summary(error):
    lines = str(error).strip().splitlines()
    return f"{type_name(error)}: {lines[0]}" if lines else type_name(error)


def type_name(value):
    return type(value).__name__


def failure(fault):
    return Writer(FAILED).number(fault.code).text(fault.line).text(fault.text).text(fault.remedy)


# Messages.


class Writer:
    def __init__(self, kind):
        self.kind, self.body, self.placed, self.memory_bytes = kind, bytearray(), [], 0

    def number(self, value):
        self.body += struct.pack("<Q", value)
        return self

    def real(self, value):
        self.body += struct.pack("<d", value)
        return self

    def text(self, value):
        data = value.encode("utf-8", "surrogateescape")
        self.number(len(data)).body.extend(data)
        return self

    def tensor(self, dtype, shape, content):
        self.number(dtype).number(len(shape))
        for dim in shape:
            self.number(dim)
        offset = -(-self.memory_bytes // ALIGNMENT) * ALIGNMENT if len(content) else 0
        self.number(offset).number(len(content))
        if len(content):
            self.memory_bytes = offset + len(content)
            self.placed.append((offset, content))

    def datum(self, value, name):
        if value is None:
            return self.number(NONE)
        if isinstance(value, collections.abc.Mapping):
            return self.map(value, name)
        if isinstance(value, (list, tuple)) and (not value or any(is_sequence_item(item) for item in value)):
            self.number(SEQUENCE).number(len(value))
            for item in value:
                self.datum(item, name)
            return self
        dtype, shape, content = elements(to_array(value, name), name)
        self.number(TENSOR).tensor(dtype, shape, content)
        return self.number(dtype)

    def map(self, value, name):
        self.number(MAP)
        keys = sorted(value, key=lambda key: key.encode("utf-8") if isinstance(key, str) else key)
        for items in (keys, [value[key] for key in keys]):
            self.tensor(*elements(to_array(items, name), name))
        return self

    def data(self, values):
        self.number(len(values))
        for name, value in values.items():
            if not isinstance(name, str):
                raise Fault(USAGE, f"the name of an array is a `{type_name(name)}`, expected a string")
            self.text(name).datum(value, name)
        return self


class Reader:
    def __init__(self, body, memory):
        self.body, self.memory, self.offset = body, memory, 0

    def number(self):
        self.offset += 8
        return struct.unpack_from("<Q", self.body, self.offset - 8)[0]

    def real(self):
        return struct.unpack("<d", struct.pack("<Q", self.number()))[0]

    def text(self):
        size = self.number()
        self.offset += size
        return self.body[self.offset - size : self.offset].decode("utf-8", "surrogateescape")

    def texts(self):
        return [self.text() for _ in range(self.number())]

    def tensor(self):
        dtype = self.number()
        shape = [self.number() for _ in range(self.number())]
        offset, size = self.number(), self.number()
        return to_numpy(dtype, shape, self.memory, offset, size)

    def datum(self):
        kind = self.number()
        if kind == NONE:
            return None
        if kind == SEQUENCE:
            return [self.datum() for _ in range(self.number())]
        value = self.tensor()
        if kind == MAP:
            return dict(zip(value.tolist(), self.tensor().tolist()))
        self.number()  # the declared type
        return value

    def data(self):
        return {self.text(): self.datum() for _ in range(self.number())}

    def raw_data(self):
        """Arrays by name as their type's number, their shape, and their bytes as assay stores them."""
        return {self.text(): self.raw() for _ in range(self.number())}

    def raw(self):
        numpy = load_numpy()
        if self.number() != TENSOR:
            raise Fault(UNSUPPORTED, "an input is no tensor, and only tensors can be given")
        dtype = self.number()
        shape = [self.number() for _ in range(self.number())]
        offset, size = self.number(), self.number()
        self.number()  # the declared type
        return dtype, shape, numpy.frombuffer(self.memory, numpy.uint8, size, offset) if size else numpy.empty(0, "u1")

    def result(self):
        runner_name, is_timed, runtime = self.text(), self.number(), self.real()
        return IterationResult(self.data(), runner_name, runtime if is_timed else None)


# Arrays.


def is_sequence_item(item):
    return item is None or isinstance(item, collections.abc.Mapping) or hasattr(item, "__array__") and item.ndim > 0


def to_array(value, name):
    numpy = load_numpy()
    if not (isinstance(value, (list, tuple, str, bytes, int, float, complex)) or hasattr(value, "__array__")
            or hasattr(value, "__array_interface__")):
        raise Fault(USAGE, f"`{name}` is a `{type_name(value)}`, expected a numpy array")
    try:
        return numpy.asarray(value)
    except (TypeError, ValueError) as error:
        raise Fault(USAGE, f"`{name}` is a `{type_name(value)}` that makes no array: {summary(error)}") from error


def elements(array, name):
    """ONNX's element type, the shape, and the bytes of the elements as assay stores them."""
    numpy = load_numpy()
    if array.dtype.kind in "OSUT":
        return STRING, array.shape, string_bytes(array, name)
    dtype = NUMBERS.get(array.dtype.name)
    if dtype is None:
        raise Fault(UNSUPPORTED, f"`{name}` is an array of `{array.dtype}`, which ONNX does not have")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    flat = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
    if dtype in PACKED_BITS:
        bits = numpy.unpackbits(flat[:, None], axis=1, bitorder="little")[:, : PACKED_BITS[dtype]]
        flat = numpy.packbits(bits.reshape(-1), bitorder="little")
    return dtype, array.shape, memoryview(flat)


def string_bytes(array, name):
    content = bytearray()
    for item in array.reshape(-1).tolist():
        if not isinstance(item, (str, bytes)):
            raise Fault(USAGE, f"`{name}` is an array of Python objects (`{type_name(item)}`), expected numbers or "
                        "strings")
        data = item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape")
        content += struct.pack("<I", len(data)) + data
    return memoryview(bytes(content))


def to_numpy(dtype, shape, memory, offset, size):
    numpy = load_numpy()
    if dtype == STRING:
        return to_strings(shape, memory[offset : offset + size] if size else b"")
    count = 1
    for dim in shape:
        count *= dim
    name = DTYPES[dtype]
    element = numpy.dtype(name if dtype < 16 else extension_type(name))
    flat = numpy.frombuffer(memory, numpy.uint8, size, offset) if size else numpy.empty(0, numpy.uint8)
    if dtype in PACKED_BITS:
        flat = unpacked(flat, PACKED_BITS[dtype], count)
        if name in ("int4", "int2"):  # the sign, up to the top of the byte
            sign = 1 << (PACKED_BITS[dtype] - 1)
            flat = ((flat ^ sign).astype(numpy.int8) - sign).view(numpy.uint8)
    return flat.view(element).reshape(shape)


def unpacked(flat, width, count):
    numpy = load_numpy()
    bits = numpy.unpackbits(flat, bitorder="little")[: count * width].reshape(-1, width)
    return numpy.packbits(bits, axis=1, bitorder="little").reshape(-1)


def extension_type(name):
    try:
        import ml_dtypes
        return getattr(ml_dtypes, name)
    except (ImportError, AttributeError):
        raise Fault(UNSUPPORTED, f"arrays of {name} need the Python package ml_dtypes, in a version that has this "
                    "type") from None


def to_strings(shape, content):
    numpy = load_numpy()
    strings, offset = [], 0
    while offset < len(content):
        size = struct.unpack_from("<I", content, offset)[0]
        offset += 4 + size
        strings.append(content[offset - size : offset].decode("utf-8", "surrogateescape"))
    array = numpy.empty(len(strings), object)
    array[:] = strings
    return array.reshape(shape)


# The connection.


class Connection:
    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)
        self.socket = socket.socket(fileno=descriptor)
        os.register_at_fork(after_in_child=self.socket.close)

    def receive(self):
        """The kind of the next message and its reader; None at the end."""
        room = socket.CMSG_SPACE(4)
        head, control, _, _ = self.socket.recvmsg(FRAME.size, room, socket.MSG_WAITALL | socket.MSG_CMSG_CLOEXEC)
        if not head:
            return None
        magic, version, kind, body_bytes, memory_bytes = FRAME.unpack(head)
        if magic != MAGIC or version != VERSION:
            raise SystemExit("assay: this is not the protocol of scripts")
        memory = b""
        if memory_bytes:
            descriptor = struct.unpack("i", control[0][2][:4])[0]
            memory = mmap.mmap(descriptor, memory_bytes, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
            os.close(descriptor)
        body = bytearray(body_bytes)
        view = memoryview(body)
        while len(view):
            view = view[self.socket.recv_into(view) or exit_quietly() :]
        return kind, Reader(body, memory)

    def send(self, message):
        if len(message.body) > MOST_BODY_BYTES:
            raise Fault(USAGE, "the script gave too many values")
        frame = FRAME.pack(MAGIC, VERSION, message.kind, len(message.body), message.memory_bytes)
        if message.memory_bytes:
            memory = shared_memory(message)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", memory))
            sent = self.socket.sendmsg([frame], [rights])
            os.close(memory)
            frame = frame[sent:]
        self.socket.sendall(frame)
        self.socket.sendall(message.body)


def exit_quietly():
    raise SystemExit(0)


def shared_memory(message):
    memory = os.memfd_create("assay", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, message.memory_bytes)
        for offset, content in message.placed:
            while len(content):
                count = os.pwrite(memory, content, offset)
                offset, content = offset + count, content[count:]
        fcntl.fcntl(memory, ADD_SEALS, SEALS)
    except OSError:
        os.close(memory)
        raise
    return memory
