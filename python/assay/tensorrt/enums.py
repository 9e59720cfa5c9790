"""Enumerations with TensorRT's names. Their numbers are those of TensorRT 8, whose programs use them in masks."""

from assay.tensorrt.layer_enums import *  # noqa: F403
from assay.tensorrt.layer_enums import _Enum
from assay.tensorrt.rtx_enums import *  # noqa: F403


class DataType(_Enum):
    """Element types."""

    FLOAT = 0
    HALF = 1
    INT8 = 2
    INT32 = 3
    BOOL = 4
    UINT8 = 5
    FP8 = 6
    BF16 = 7
    INT64 = 8
    INT4 = 9
    FP4 = 10
    E8M0 = 11

    @property
    def native(self):
        """The name in native code."""
        return _NATIVE[self.name]

    @property
    def onnx_number(self):
        """ONNX's number."""
        from assay.datatype import DataType as Shared

        return Shared.from_native(self.native).number

    @property
    def itemsize(self):
        """Bytes of an element."""
        from assay.datatype import DataType as Shared

        return Shared.from_native(self.native).itemsize

    @staticmethod
    def of_number(number):
        """By ONNX's number; float64 has none. None: there is no such type."""
        return next((each for each in DataType if each.onnx_number == number), None)

    @staticmethod
    def of_native(name):
        """By the name in native code; None: there is no such type."""
        return next((each for each in DataType if each.native == name), None)


_NATIVE = {"FLOAT": "float32", "HALF": "float16", "INT8": "int8", "INT32": "int32", "BOOL": "bool", "UINT8": "uint8",
           "FP8": "float8e4m3fn", "BF16": "bfloat16", "INT64": "int64", "INT4": "int4", "FP4": "float4e2m1",
           "E8M0": "float8e8m0"}

class NetworkDefinitionCreationFlag(_Enum):
    """How a network is made."""

    EXPLICIT_BATCH, EXPLICIT_PRECISION, STRONGLY_TYPED, PREFER_JIT_PYTHON_PLUGINS, PREFER_AOT_PYTHON_PLUGINS = range(5)


class BuilderFlag(_Enum):
    """What a builder may or must do."""

    (FP16, INT8, DEBUG, GPU_FALLBACK, STRICT_TYPES, REFIT, DISABLE_TIMING_CACHE, TF32, SPARSE_WEIGHTS, SAFETY_SCOPE,
     OBEY_PRECISION_CONSTRAINTS, PREFER_PRECISION_CONSTRAINTS, DIRECT_IO, REJECT_EMPTY_ALGORITHMS, VERSION_COMPATIBLE,
     EXCLUDE_LEAN_RUNTIME, FP8, ERROR_ON_TIMING_CACHE_MISS, BF16, DISABLE_COMPILATION_CACHE, WEIGHT_STREAMING, STRIP_PLAN,
     INT4, REFIT_INDIVIDUAL, STRICT_NANS, MONITOR_MEMORY, FP4, EDITABLE_TIMING_CACHE, REFIT_IDENTICAL,
     DISTRIBUTIVE_INDEPENDENCE, ENABLE_TACTIC_HEURISTIC) = range(31)
    WEIGHTLESS = STRIP_PLAN


class QuantizationFlag(_Enum):
    """How calibration works."""

    CALIBRATE_BEFORE_FUSION = 0


class MemoryPoolType(_Enum):
    """Memory that has a limit."""

    WORKSPACE, DLA_MANAGED_SRAM, DLA_LOCAL_DRAM, DLA_GLOBAL_DRAM, TACTIC_DRAM, TACTIC_SHARED_MEMORY = range(6)


class ProfilingVerbosity(_Enum):
    """How much an engine tells of its layers."""

    LAYER_NAMES_ONLY, NONE, DETAILED = range(3)


class TacticSource(_Enum):
    """Where tactics come from; accepted."""

    CUBLAS, CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS = range(5)


class EngineCapability(_Enum):
    """What an engine is for."""

    DEFAULT, SAFETY, DLA_STANDALONE = range(3)
    STANDARD = DEFAULT


class DeviceType(_Enum):
    """What a layer runs on."""

    GPU, DLA = range(2)


class TensorLocation(_Enum):
    """Where elements are."""

    DEVICE, HOST = range(2)


class TensorIOMode(_Enum):
    """Whether a tensor of an engine is an input."""

    NONE, INPUT, OUTPUT = range(3)


class TensorFormat(_Enum):
    """How elements lie in memory."""

    LINEAR, CHW2, HWC8, CHW4, CHW16, CHW32, DHWC8, CDHW32, HWC, DLA_LINEAR, DLA_HWC4, HWC16, DHWC = range(13)


class HardwareCompatibilityLevel(_Enum):
    """On what other machines an engine runs; accepted."""

    NONE, AMPERE_PLUS, SAME_COMPUTE_CAPABILITY = range(3)


class PreviewFeature(_Enum):
    """Novelties; accepted."""

    (FASTER_DYNAMIC_SHAPES_0805, DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805, PROFILE_SHARING_0806,
     ALIASED_PLUGIN_IO_10_03, RUNTIME_ACTIVATION_RESIZE_10_10) = range(5)


class ExecutionContextAllocationStrategy(_Enum):
    """When a context asks for memory; accepted."""

    STATIC, ON_PROFILE_CHANGE, USER_MANAGED = range(3)


class SerializationFlag(_Enum):
    """What is written with an engine."""

    EXCLUDE_WEIGHTS, EXCLUDE_LEAN_RUNTIME, INCLUDE_REFIT = range(3)


class AllocatorFlag(_Enum):
    """What is asked of an allocator."""

    RESIZABLE = 0


class OptProfileSelector(_Enum):
    """Shapes of a profile."""

    MIN, OPT, MAX = range(3)


class RuntimePlatform(_Enum):
    """Where an engine runs; accepted."""

    SAME_AS_BUILD, WINDOWS_AMD64 = range(2)


class TilingOptimizationLevel(_Enum):
    """How hard tiles are looked for; accepted."""

    NONE, FAST, MODERATE, FULL = range(4)


class LayerInformationFormat(_Enum):
    """How an inspector writes."""

    ONELINE, JSON = range(2)


class OnnxParserFlag(_Enum):
    """How a parser reads."""

    (NATIVE_INSTANCENORM, ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA, REPORT_CAPABILITY_DLA, ENABLE_PLUGIN_OVERRIDE,
     ADJUST_FOR_DLA) = range(5)


class CalibrationAlgoType(_Enum):
    """How calibration finds scales."""

    LEGACY_CALIBRATION, ENTROPY_CALIBRATION, ENTROPY_CALIBRATION_2, MINMAX_CALIBRATION = range(4)


class ErrorCode(_Enum):
    """What is wrong with a model."""

    (SUCCESS, INTERNAL_ERROR, MEM_ALLOC_FAILED, MODEL_DESERIALIZE_FAILED, INVALID_VALUE, INVALID_GRAPH, INVALID_NODE,
     UNSUPPORTED_GRAPH, UNSUPPORTED_NODE, UNSUPPORTED_NODE_ATTR, UNSUPPORTED_NODE_INPUT, UNSUPPORTED_NODE_DATATYPE,
     UNSUPPORTED_NODE_DYNAMIC, UNSUPPORTED_NODE_SHAPE, REFIT_FAILED) = range(15)


class ErrorCodeTRT(_Enum):
    """What an error recorder is told."""

    (SUCCESS, UNSPECIFIED_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_CONFIG, FAILED_ALLOCATION,
     FAILED_INITIALIZATION, FAILED_EXECUTION, FAILED_COMPUTATION, INVALID_STATE, UNSUPPORTED_STATE) = range(11)


class WeightsRole(_Enum):
    """What weights are to their layer."""

    KERNEL, BIAS, SHIFT, SCALE, CONSTANT, ANY = range(6)


class PluginFieldType(_Enum):
    """Types of attributes of plugins."""

    FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, CHAR, DIMS, UNKNOWN, BF16, INT64, FP8, INT4, FP4 = range(14)


class DimensionOperation(_Enum):
    """Functions of dims."""

    SUM, PROD, MAX, MIN, SUB, EQUAL, LESS, FLOOR_DIV, CEIL_DIV = range(9)


class PluginCapabilityType(_Enum):
    """What a plugin can be asked for."""

    CORE, BUILD, RUNTIME = range(3)


class QuickPluginCreationRequest(_Enum):
    """Which implementation of a quick plugin is wanted: Python that runs, or kernels for a card, compiled before."""

    UNKNOWN, PREFER_JIT, PREFER_AOT, STRICT_JIT, STRICT_AOT = range(5)


class TensorRTPhase(_Enum):
    """When a plugin is made."""

    BUILD, RUNTIME = range(2)


class PluginCreatorVersion(_Enum):
    """Generations of creators."""

    V1, V1_PYTHON = range(2)


class TempfileControlFlag(_Enum):
    """What files a runtime may make; accepted."""

    ALLOW_IN_MEMORY_FILES, ALLOW_TEMPORARY_FILES = range(2)


class SeekPosition(_Enum):
    """From where a place in a stream is counted."""

    SET, CUR, END = range(3)


class EngineStat(_Enum):
    """Numbers of an engine."""

    TOTAL_WEIGHTS_SIZE, STRIPPED_WEIGHTS_SIZE = range(2)


class APILanguage(_Enum):
    """What an interface is written in."""

    CPP, PYTHON = range(2)


ENUMS = {name: value for name, value in list(globals().items())
         if isinstance(value, type) and issubclass(value, _Enum) and value is not _Enum}
