"""The user's TensorRT, for host.py: its Python package, what it tells, its types, and memory of its device.

Knows TensorRT from 8.5 on and TensorRT-RTX, whose packages have names of their own.
"""

import ctypes
import importlib
import os
import re

from host_messages import UNSUPPORTED, Fault, summary

PLAIN = ("tensorrt", "tensorrt_bindings")
RTX = ("tensorrt_rtx", "tensorrt_rtx_bindings")
NUMBERS = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "INT32": 6, "INT64": 7, "BOOL": 9, "HALF": 10, "BF16": 16, "FP8": 17,
           "INT4": 22, "FP4": 23, "E8M0": 24}  # ONNX's numbers of types
BITS = {1: 32, 2: 8, 3: 8, 6: 32, 7: 64, 9: 8, 10: 16, 16: 16, 17: 8, 22: 4, 23: 4, 24: 8}
TYPES = {"fp32": "FLOAT", "float": "FLOAT", "float32": "FLOAT", "fp16": "HALF", "half": "HALF", "float16": "HALF",
         "bf16": "BF16", "bfloat16": "BF16", "int8": "INT8"}
NO_DRIVER = "there is no usable NVIDIA driver"


def wants_rtx():
    value = os.environ.get("ASSAY_USE_TENSORRT_RTX", os.environ.get("POLYGRAPHY_USE_TENSORRT_RTX", "0"))
    return value not in ("", "0")


def candidates(name):
    """The packages that may be the user's, in the order in which they are tried."""
    if name:
        return (name,)
    return RTX if wants_rtx() else PLAIN + RTX


class Package:
    """A package that could be imported, and the logger of all that it makes."""

    def __init__(self, name):
        self.module = load(candidates(name))
        self.is_rtx = "rtx" in self.module.__name__
        self.told = told = []
        module = self.module

        class Log(module.ILogger):
            def __init__(self):
                module.ILogger.__init__(self)

            def log(self, severity, msg):
                told.append((int(severity), msg))

        self.logger = Log()
        if hasattr(module, "init_libnvinfer_plugins"):
            module.init_libnvinfer_plugins(self.logger, "")

    @property
    def title(self):
        name = "TensorRT-RTX" if self.is_rtx else "TensorRT"
        return f"{name} {getattr(self.module, '__version__', '')}".strip()

    def made(self, work, message, remedy=""):
        """What a function of TensorRT gives. None and False are errors, of which the logger was told."""
        begin = len(self.told)
        try:
            what = work()
        except (RuntimeError, TypeError, ValueError) as error:
            raise Fault(UNSUPPORTED, f"TensorRT: {summary(error)}", remedy=remedy) from error
        if what is not None and what is not False:
            return what
        errors = [text for severity, text in self.told[begin:] if severity <= int(self.logger.ERROR)]
        raise Fault(UNSUPPORTED, f"TensorRT: {readable(errors[0]) if errors else message}", remedy=remedy)

    def warnings(self):
        return [text for severity, text in self.told if severity == int(self.logger.WARNING)]

    def member(self, kind, word):
        """A member of an enumeration, by a word of the user; a Fault names those that there are."""
        members = getattr(self.module, kind).__members__
        if word.upper() not in members:
            known = ", ".join(name.lower() for name in members)
            raise Fault(UNSUPPORTED, f"{self.title} has no {kind} {word}; it has {known}")
        return members[word.upper()]


def readable(text):
    """An error of TensorRT without the name of the call and the number that it begins with."""
    lines = re.sub(r"^(I?\w+::\w+|\[[^\]]*\]):? Error Code \d+: ", "", text.strip()).splitlines()
    if not lines:
        return "an error without a message"
    if "CUDA driver version is insufficient" in lines[0] or "no CUDA-capable device" in lines[0]:
        return NO_DRIVER
    if "CHECK(status == CUDA_SUCCESS) failed" in lines[0]:
        return f"an engine with these settings can be built only where a GPU is ({lines[0]})"
    return lines[0]


def load(names):
    reasons = []
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            reasons.append((name, error))
    # A package that is there, but cannot be imported, says more than those that are not there.
    there = [(name, error) for name, error in reasons if getattr(error, "name", None) != name]
    name, error = (there or reasons)[0]
    hint = ""
    if there and "cannot open shared object file" in str(error):
        hint = "; its libraries come in a package of their own, whose name ends in -libs"
    raise Fault(UNSUPPORTED, f"the Python package `{name}` cannot be imported: {summary(error)}{hint}") from error


def number_of(dtype):
    return NUMBERS.get(dtype.name, 0)


def byte_count(number, shape):
    count = 1
    for dim in shape:
        count *= max(dim, 0)
    return -(-count * BITS[number] // 8)


class Device:
    """Memory of a device, by way of cuda-python."""

    def __init__(self, module):
        names = ("cuda.bindings.runtime", "cuda.cudart")
        if module.__name__.startswith("assay"):
            names = ("assay.compat.cudart",)
        for name in names:
            try:
                self.cuda = importlib.import_module(name)
                break
            except ImportError:
                continue
        else:
            raise Fault(UNSUPPORTED, missing(), remedy="tensorrt_device")
        self.stream = self.call("cudaStreamCreate")

    def call(self, name, *words):
        error, *result = getattr(self.cuda, name)(*words)
        if int(error) != 0:
            raise Fault(UNSUPPORTED, f"{name} failed: {error}", remedy="tensorrt_device")
        return result[0] if result else None

    def take(self, size):
        return self.call("cudaMalloc", max(size, 1))

    def put(self, array):
        address = self.take(array.nbytes)
        self.call("cudaMemcpy", address, array.ctypes.data, array.nbytes,
                  self.cuda.cudaMemcpyKind.cudaMemcpyHostToDevice)
        return address

    def get(self, array, address):
        self.call("cudaMemcpy", array.ctypes.data, address, array.nbytes,
                  self.cuda.cudaMemcpyKind.cudaMemcpyDeviceToHost)
        return array

    def wait(self):
        self.call("cudaStreamSynchronize", self.stream)

    def free(self, addresses):
        for address in addresses:
            self.call("cudaFree", address)


def missing():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return NO_DRIVER + ", which running engines needs"
    return "the Python package cuda-python is needed for the memory of the device"
