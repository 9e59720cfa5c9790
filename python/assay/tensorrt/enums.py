"""Enumerations with TensorRT's names. Their numbers are those of TensorRT 8, whose programs use them in masks."""

import enum


class _Enum(enum.Enum):
    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    @property
    def number(self):
        return self.value

    def __or__(self, other):
        return int(self) | int(other)


def _numbered(name, doc, words, **others):
    """`others`: further names of members."""
    numbers = {word: i for i, word in enumerate(words.split())}
    made = _Enum(name, [*numbers.items(), *((word, numbers[same]) for word, same in others.items())], module=__name__)
    made.__doc__ = doc
    return made


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

NetworkDefinitionCreationFlag = _numbered(
    "NetworkDefinitionCreationFlag", "How a network is made.",
    "EXPLICIT_BATCH EXPLICIT_PRECISION STRONGLY_TYPED PREFER_JIT_PYTHON_PLUGINS PREFER_AOT_PYTHON_PLUGINS")
BuilderFlag = _numbered(
    "BuilderFlag", "What a builder may or must do.",
    "FP16 INT8 DEBUG GPU_FALLBACK STRICT_TYPES REFIT DISABLE_TIMING_CACHE TF32 SPARSE_WEIGHTS "
    "SAFETY_SCOPE OBEY_PRECISION_CONSTRAINTS PREFER_PRECISION_CONSTRAINTS DIRECT_IO "
    "REJECT_EMPTY_ALGORITHMS VERSION_COMPATIBLE EXCLUDE_LEAN_RUNTIME FP8 ERROR_ON_TIMING_CACHE_MISS BF16 "
    "DISABLE_COMPILATION_CACHE WEIGHT_STREAMING STRIP_PLAN INT4 REFIT_INDIVIDUAL STRICT_NANS "
    "MONITOR_MEMORY FP4 EDITABLE_TIMING_CACHE REFIT_IDENTICAL DISTRIBUTIVE_INDEPENDENCE", WEIGHTLESS="STRIP_PLAN")
QuantizationFlag = _numbered("QuantizationFlag", "How calibration works.", "CALIBRATE_BEFORE_FUSION")
MemoryPoolType = _numbered(
    "MemoryPoolType", "Memory that has a limit.",
    "WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY")
ProfilingVerbosity = _numbered(
    "ProfilingVerbosity", "How much an engine tells of its layers.",
    "LAYER_NAMES_ONLY NONE DETAILED")
TacticSource = _numbered(
    "TacticSource", "Where tactics come from; accepted.",
    "CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS")
EngineCapability = _numbered(
    "EngineCapability", "What an engine is for.",
    "STANDARD SAFETY DLA_STANDALONE", DEFAULT="STANDARD")
DeviceType = _numbered("DeviceType", "What a layer runs on.", "GPU DLA")
TensorLocation = _numbered("TensorLocation", "Where elements are.", "DEVICE HOST")
TensorIOMode = _numbered("TensorIOMode", "Whether a tensor of an engine is an input.", "NONE INPUT OUTPUT")
TensorFormat = _numbered(
    "TensorFormat", "How elements lie in memory.",
    "LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16 DHWC")
HardwareCompatibilityLevel = _numbered(
    "HardwareCompatibilityLevel", "On what other machines an engine runs; accepted.",
    "NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY")
PreviewFeature = _numbered(
    "PreviewFeature", "Novelties; accepted.",
    "FASTER_DYNAMIC_SHAPES_0805 DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805 PROFILE_SHARING_0806 "
    "ALIASED_PLUGIN_IO_10_03 RUNTIME_ACTIVATION_RESIZE_10_10")
ExecutionContextAllocationStrategy = _numbered(
    "ExecutionContextAllocationStrategy", "When a context asks for memory; accepted.",
    "STATIC ON_PROFILE_CHANGE USER_MANAGED")
SerializationFlag = _numbered(
    "SerializationFlag", "What is written with an engine.",
    "EXCLUDE_WEIGHTS EXCLUDE_LEAN_RUNTIME INCLUDE_REFIT")
AllocatorFlag = _numbered("AllocatorFlag", "What is asked of an allocator.", "RESIZABLE")
OptProfileSelector = _numbered("OptProfileSelector", "Shapes of a profile.", "MIN OPT MAX")
RuntimePlatform = _numbered("RuntimePlatform", "Where an engine runs; accepted.", "SAME_AS_BUILD WINDOWS_AMD64")
TilingOptimizationLevel = _numbered(
    "TilingOptimizationLevel", "How hard tiles are looked for; accepted.",
    "NONE FAST MODERATE FULL")
LayerInformationFormat = _numbered("LayerInformationFormat", "How an inspector writes.", "ONELINE JSON")
OnnxParserFlag = _numbered(
    "OnnxParserFlag", "How a parser reads.",
    "NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA REPORT_CAPABILITY_DLA "
    "ENABLE_PLUGIN_OVERRIDE ADJUST_FOR_DLA")
CalibrationAlgoType = _numbered(
    "CalibrationAlgoType", "How calibration finds scales.",
    "LEGACY_CALIBRATION ENTROPY_CALIBRATION ENTROPY_CALIBRATION_2 MINMAX_CALIBRATION")
ErrorCode = _numbered(
    "ErrorCode", "What is wrong with a model.",
    "SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH "
    "INVALID_NODE UNSUPPORTED_GRAPH UNSUPPORTED_NODE UNSUPPORTED_NODE_ATTR UNSUPPORTED_NODE_INPUT "
    "UNSUPPORTED_NODE_DATATYPE UNSUPPORTED_NODE_DYNAMIC UNSUPPORTED_NODE_SHAPE REFIT_FAILED")
ErrorCodeTRT = _numbered(
    "ErrorCodeTRT", "What an error recorder is told.",
    "SUCCESS UNSPECIFIED_ERROR INTERNAL_ERROR INVALID_ARGUMENT INVALID_CONFIG FAILED_ALLOCATION "
    "FAILED_INITIALIZATION FAILED_EXECUTION FAILED_COMPUTATION INVALID_STATE UNSUPPORTED_STATE")
WeightsRole = _numbered("WeightsRole", "What weights are to their layer.", "KERNEL BIAS SHIFT SCALE CONSTANT ANY")

LayerType = _numbered(
    "LayerType", "Kinds of layers.",
    "CONVOLUTION FULLY_CONNECTED ACTIVATION POOLING LRN SCALE SOFTMAX DECONVOLUTION CONCATENATION "
    "ELEMENTWISE PLUGIN UNARY PADDING SHUFFLE REDUCE TOPK GATHER MATRIX_MULTIPLY RAGGED_SOFTMAX CONSTANT "
    "IDENTITY CAST PLUGIN_V2 SLICE SHAPE PARAMETRIC_RELU RESIZE TRIP_LIMIT RECURRENCE ITERATOR "
    "LOOP_OUTPUT SELECT FILL QUANTIZE DEQUANTIZE CONDITION CONDITIONAL_INPUT CONDITIONAL_OUTPUT SCATTER "
    "EINSUM ASSERTION ONE_HOT NON_ZERO GRID_SAMPLE NMS REVERSE_SEQUENCE NORMALIZATION PLUGIN_V3 SQUEEZE "
    "UNSQUEEZE CUMULATIVE DYNAMIC_QUANTIZE ATTENTION_INPUT ATTENTION_OUTPUT ROTARY_EMBEDDING "
    "KVCACHE_UPDATE")
ActivationType = _numbered(
    "ActivationType", "Functions of activation layers.",
    "RELU SIGMOID TANH LEAKY_RELU ELU SELU SOFTSIGN SOFTPLUS CLIP HARD_SIGMOID SCALED_TANH "
    "THRESHOLDED_RELU GELU_ERF GELU_TANH")
PoolingType = _numbered("PoolingType", "What pooling takes of a window.", "MAX AVERAGE MAX_AVERAGE_BLEND")
ElementWiseOperation = _numbered(
    "ElementWiseOperation", "Functions of two elements.",
    "SUM PROD MAX MIN SUB DIV POW FLOOR_DIV AND OR XOR EQUAL GREATER LESS")
UnaryOperation = _numbered(
    "UnaryOperation", "Functions of one element.",
    "EXP LOG SQRT RECIP ABS NEG SIN COS TAN SINH COSH ASIN ACOS ATAN ASINH ACOSH ATANH CEIL FLOOR ERF NOT "
    "SIGN ROUND ISINF ISNAN")
ReduceOperation = _numbered("ReduceOperation", "Statistics along axes.", "SUM PROD MAX MIN AVG NONE")
TopKOperation = _numbered("TopKOperation", "Which elements are taken.", "MAX MIN")
MatrixOperation = _numbered("MatrixOperation", "What is done with a factor of a product.", "NONE TRANSPOSE VECTOR")
ScaleMode = _numbered("ScaleMode", "For what there is one scale each.", "UNIFORM CHANNEL ELEMENTWISE")
PaddingMode = _numbered(
    "PaddingMode", "How sizes of windows are rounded.",
    "EXPLICIT_ROUND_DOWN EXPLICIT_ROUND_UP SAME_UPPER SAME_LOWER")
GatherMode = _numbered("GatherMode", "What indices mean.", "DEFAULT ELEMENT ND")
ScatterMode = _numbered("ScatterMode", "What indices mean.", "ELEMENT ND")
SampleMode = _numbered("SampleMode", "What is beyond the bounds.", "STRICT_BOUNDS WRAP CLAMP FILL REFLECT")
SliceMode = SampleMode
FillOperation = _numbered("FillOperation", "What a tensor is filled with.", "LINSPACE RANDOM_UNIFORM RANDOM_NORMAL")
InterpolationMode = _numbered("InterpolationMode", "What is taken between elements.", "NEAREST LINEAR CUBIC")
ResizeMode = InterpolationMode
ResizeCoordinateTransformation = _numbered(
    "ResizeCoordinateTransformation", "Which place of the input belongs to one of the output.",
    "ALIGN_CORNERS ASYMMETRIC HALF_PIXEL")
ResizeSelector = _numbered("ResizeSelector", "Which place a single element is taken from.", "FORMULA UPPER")
BoundingBoxFormat = _numbered("BoundingBoxFormat", "How boxes are written.", "CORNER_PAIRS CENTER_SIZES")
ResizeRoundMode = _numbered("ResizeRoundMode", "How places are rounded.", "HALF_UP HALF_DOWN FLOOR CEIL")
CumulativeOperation = _numbered("CumulativeOperation", "What is accumulated.", "SUM")
AttentionNormalizationOp = _numbered(
    "AttentionNormalizationOp", "What is made of products of queries and keys.",
    "NONE SOFTMAX")
KVCacheMode = _numbered("KVCacheMode", "Where new rows of a cache go.", "LINEAR")
LoopOutput = _numbered("LoopOutput", "What is left of a loop.", "LAST_VALUE CONCATENATE REVERSE")
TripLimit = _numbered("TripLimit", "What ends a loop.", "COUNT WHILE")
PluginFieldType = _numbered(
    "PluginFieldType", "Types of attributes of plugins.",
    "FLOAT16 FLOAT32 FLOAT64 INT8 INT16 INT32 CHAR DIMS UNKNOWN BF16 INT64 FP8 INT4 FP4")

DimensionOperation = _numbered(
    "DimensionOperation", "Functions of dims.",
    "SUM PROD MAX MIN SUB EQUAL LESS FLOOR_DIV CEIL_DIV")
PluginCapabilityType = _numbered("PluginCapabilityType", "What a plugin can be asked for.", "CORE BUILD RUNTIME")
TensorRTPhase = _numbered("TensorRTPhase", "When a plugin is made.", "BUILD RUNTIME")
PluginCreatorVersion = _numbered("PluginCreatorVersion", "Generations of creators.", "V1 V1_PYTHON")
TempfileControlFlag = _numbered(
    "TempfileControlFlag", "What files a runtime may make; accepted.",
    "ALLOW_IN_MEMORY_FILES ALLOW_TEMPORARY_FILES")

ENUMS = {name: value for name, value in list(globals().items())
         if isinstance(value, type) and issubclass(value, _Enum) and value is not _Enum}
