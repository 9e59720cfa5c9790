"""Enumerations that TensorRT-RTX has beyond TensorRT, with its names and numbers."""

from assay.tensorrt.layer_enums import _Enum


class ComputeCapability(_Enum):
    """GPUs that an engine is for; CURRENT is the one at hand."""

    NONE, CURRENT, SM75, SM80, SM86, SM89, SM120, SM121 = 0, 1, 75, 80, 86, 89, 120, 121


class EngineValidity(_Enum):
    """Whether an engine can be opened."""

    VALID, SUBOPTIMAL, INVALID = range(3)


class EngineInvalidityDiagnostics(_Enum):
    """Why it cannot; bits of a mask."""

    (VERSION_MISMATCH, UNSUPPORTED_CC, OLD_CUDA_DRIVER, OLD_CUDA_RUNTIME, INSUFFICIENT_GPU_MEMORY, MALFORMED_ENGINE,
     CUDA_ERROR) = (1 << bit for bit in range(7))


class DynamicShapesKernelSpecializationStrategy(_Enum):
    """When kernels for the shapes of a run are made; accepted."""

    LAZY, EAGER, NONE = range(3)


class CudaGraphStrategy(_Enum):
    """Whether runs are captured; accepted."""

    DISABLED, WHOLE_GRAPH_CAPTURE = range(2)


class DLAWorkspaceAllocationStrategy(_Enum):
    """How memory of a DLA is had; there is none."""

    DEFAULT, SHARED_STATIC = range(2)


class PluginArgType(_Enum):
    """Kinds of arguments of kernels that plugins bring."""

    INT = 0


class PluginArgDataType(_Enum):
    """Their types."""

    INT8, INT16, INT32 = range(3)
