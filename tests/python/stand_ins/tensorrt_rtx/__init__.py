"""TensorRT-RTX as far as the program asks it for something: assay.tensorrt in the words of the newest generation, with
what only that library has. What it is told goes into the file STAND_IN_LOG; STAND_IN_VALIDITY says what it thinks of
engines."""

import enum
import os

import assay.tensorrt as base
from assay.tensorrt import *  # noqa: F403

__version__ = "1.7.1"


def note(text):
    if os.environ.get("STAND_IN_LOG"):
        with open(os.environ["STAND_IN_LOG"], "a") as file:
            file.write(text + "\n")


class ComputeCapability(enum.IntEnum):
    NONE, CURRENT, SM89, SM120 = 0, 1, 89, 120


class EngineValidity(enum.IntEnum):
    VALID, SUBOPTIMAL, INVALID = range(3)


class EngineInvalidityDiagnostics(enum.IntFlag):
    VERSION_MISMATCH, UNSUPPORTED_CC, MALFORMED_ENGINE = 1, 2, 32


class DynamicShapesKernelSpecializationStrategy(enum.IntEnum):
    LAZY, EAGER, NONE = range(3)


class IBuilderConfig(base.IBuilderConfig):
    num_compute_capabilities = 0

    def set_compute_capability(self, capability, index):
        note(f"capability {index} of {self.num_compute_capabilities} is {capability.name}")
        return True

    def create_timing_cache(self, data):
        raise RuntimeError("a timing cache needs a GPU")


class Builder(base.Builder):
    def create_network(self, flags=0):
        note(f"network {flags}")
        return super().create_network(flags)

    def create_builder_config(self):
        return IBuilderConfig(self.logger)


class Cache:
    def deserialize(self, data):
        note(f"runtime cache {data!r}")
        return data == b"kernels"

    def serialize(self):
        return b"kernels"


class RuntimeConfig(base.IRuntimeConfig):
    dynamic_shapes_kernel_specialization_strategy = DynamicShapesKernelSpecializationStrategy.LAZY

    def create_runtime_cache(self):
        return Cache()

    def set_runtime_cache(self, cache):
        note(f"kernels {self.dynamic_shapes_kernel_specialization_strategy.name}")


class ICudaEngine(base.ICudaEngine):
    def create_runtime_config(self):
        return RuntimeConfig()


class Runtime(base.Runtime):
    engine_header_size = 64

    def get_engine_validity(self, header):
        assert len(header) == 64, len(header)
        name, _, reason = os.environ.get("STAND_IN_VALIDITY", "VALID").partition(":")
        return EngineValidity[name], int(EngineInvalidityDiagnostics[reason]) if reason else 0

    def deserialize_cuda_engine(self, data):
        engine = super().deserialize_cuda_engine(data)
        if engine is not None:
            engine.__class__ = ICudaEngine
        return engine
