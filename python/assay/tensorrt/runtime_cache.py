"""Caches of a runtime, and whether an engine is one for this machine: TensorRT-RTX's, in the terms of plans."""

import json

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Attribute
from assay.tensorrt.dims import IHostMemory, NoOpContext, in_memory
from assay.tensorrt.enums import (CudaGraphStrategy, DynamicShapesKernelSpecializationStrategy, EngineInvalidityDiagnostics,
                                  EngineValidity, ExecutionContextAllocationStrategy)
from assay.tensorrt.pipeline import is_pipeline

HEAD = b"assay runtime cache 1\n"
FOREIGN = (b"ftrt", b"trtf")  # as engines of TensorRT begin
HEADER_SIZE = 64
PLAN = b"ASSAYPLN"


class IRuntimeCache(NoOpContext):
    """The shapes that runs of contexts had. A context whose configuration has the cache of an earlier process plans for them
    when it is made, instead of in the first run of each."""

    def __init__(self) -> None:
        self._shapes: list = []

    def serialize(self) -> IHostMemory:
        return IHostMemory(HEAD + json.dumps(self._shapes).encode())

    def deserialize(self, blob) -> bool:
        """Whether the bytes are those of such a cache, which is then this one's."""
        data = bytes(blob)
        try:
            if not data.startswith(HEAD):
                return False
            self._shapes = [{str(name): [int(dim) for dim in dims] for name, dims in each.items()}
                            for each in json.loads(data[len(HEAD):])]
        except (ValueError, AttributeError, TypeError):
            return False
        return True

    def reset(self) -> bool:
        self._shapes = []
        return True

    def _note(self, shapes):
        if shapes not in self._shapes:
            self._shapes.append(shapes)


class IRuntimeConfig(NoOpContext):
    """How contexts are made. Memory is the process's, whatever is said of it."""

    cuda_graph_strategy = Attribute(CudaGraphStrategy, CudaGraphStrategy.DISABLED, "Accepted.")
    dynamic_shapes_kernel_specialization_strategy = Attribute(
        DynamicShapesKernelSpecializationStrategy, DynamicShapesKernelSpecializationStrategy.LAZY,
        "Accepted: the engine plans for the shapes of a run, and keeps that.")

    def __init__(self, strategy=None) -> None:
        self._strategy = strategy or ExecutionContextAllocationStrategy.STATIC
        self._cache: IRuntimeCache | None = None

    def set_execution_context_allocation_strategy(self, strategy=ExecutionContextAllocationStrategy.STATIC) -> None:
        self._strategy = ExecutionContextAllocationStrategy(strategy)

    def get_execution_context_allocation_strategy(self):
        return self._strategy

    def create_runtime_cache(self) -> IRuntimeCache:
        return IRuntimeCache()

    def set_runtime_cache(self, cache=None) -> bool:
        if cache is not None and not isinstance(cache, IRuntimeCache):
            raise TypeError(f"set_runtime_cache(): incompatible function arguments: `cache` is {cache!r}, expected is an "
                            "IRuntimeCache")
        self._cache = cache
        return True

    def get_runtime_cache(self):
        """None as long as none was set."""
        return self._cache


def validity_of(data):
    """(EngineValidity, mask of EngineInvalidityDiagnostics) of a plan, or of its header alone."""
    def invalid(reason):
        return EngineValidity.INVALID, int(reason)

    if is_pipeline(data):
        return EngineValidity.VALID, 0
    if data[:4] in FOREIGN:
        return invalid(EngineInvalidityDiagnostics.VERSION_MISMATCH)
    try:
        with in_memory(data) as path:
            _native.read_plan(path)
    except PolygraphyException as error:
        other = "has format" in str(error) or "built by version" in str(error)
        if not other and len(data) == HEADER_SIZE and data.startswith(PLAN):
            return EngineValidity.VALID, 0
        return invalid(EngineInvalidityDiagnostics.VERSION_MISMATCH if other else EngineInvalidityDiagnostics.MALFORMED_ENGINE)
    return EngineValidity.VALID, 0
