"""Enumerations of assay.tensorrt have the members and numbers that TensorRT documents; the generation that a script may be
tried with has its own, and what it has removed is not there."""

import os
import subprocess
import sys

import assay.tensorrt as trt
import checks

# Members in the order of their numbers from 0 on, or with their numbers.
SAME = {
    "APILanguage": "CPP PYTHON",
    "ActivationType": """RELU SIGMOID TANH LEAKY_RELU ELU SELU SOFTSIGN SOFTPLUS CLIP HARD_SIGMOID SCALED_TANH THRESHOLDED_RELU
        GELU_ERF GELU_TANH""",
    "AllocatorFlag": "RESIZABLE",
    "AttentionIOForm": "PADDED_BHND PACKED_NHD",
    "AttentionNormalizationOp": "NONE SOFTMAX",
    "BoundingBoxFormat": "CORNER_PAIRS CENTER_SIZES",
    "CausalMaskKind": "NONE UPPER_LEFT LOWER_RIGHT",
    "CollectiveOperation": "ALL_REDUCE ALL_GATHER BROADCAST REDUCE REDUCE_SCATTER ALL_TO_ALL GATHER SCATTER",
    "CumulativeOperation": "SUM",
    "DataType": "FLOAT HALF INT8 INT32 BOOL UINT8 FP8 BF16 INT64 INT4 FP4 E8M0",
    "DeviceType": "GPU DLA",
    "DimensionOperation": "SUM PROD MAX MIN SUB EQUAL LESS FLOOR_DIV CEIL_DIV",
    "ElementWiseOperation": "SUM PROD MAX MIN SUB DIV POW FLOOR_DIV AND OR XOR EQUAL GREATER LESS",
    "EngineCapability": "STANDARD SAFETY DLA_STANDALONE",
    "EngineStat": "TOTAL_WEIGHTS_SIZE STRIPPED_WEIGHTS_SIZE",
    "ExecutionContextAllocationStrategy": "STATIC ON_PROFILE_CHANGE USER_MANAGED",
    "FillOperation": "LINSPACE RANDOM_UNIFORM RANDOM_NORMAL",
    "GatherMode": "DEFAULT ELEMENT ND",
    "HardwareCompatibilityLevel": "NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY",
    "InterpolationMode": "NEAREST LINEAR CUBIC",
    "KVCacheMode": "LINEAR",
    "LayerInformationFormat": "ONELINE JSON",
    "LoopOutput": "LAST_VALUE CONCATENATE REVERSE",
    "MatrixOperation": "NONE TRANSPOSE VECTOR",
    "MemoryPoolType": "WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY",
    "MoEActType": "NONE SILU",
    "OptProfileSelector": "MIN OPT MAX",
    "PaddingMode": "EXPLICIT_ROUND_DOWN EXPLICIT_ROUND_UP SAME_UPPER SAME_LOWER",
    "PoolingType": "MAX AVERAGE MAX_AVERAGE_BLEND",
    "ProfilingVerbosity": "LAYER_NAMES_ONLY NONE DETAILED",
    "ReduceOperation": "SUM PROD MAX MIN AVG NONE",
    "ResizeCoordinateTransformation": "ALIGN_CORNERS ASYMMETRIC HALF_PIXEL",
    "ResizeRoundMode": "HALF_UP HALF_DOWN FLOOR CEIL",
    "ResizeSelector": "FORMULA UPPER",
    "RuntimePlatform": "SAME_AS_BUILD WINDOWS_AMD64",
    "SampleMode": "STRICT_BOUNDS WRAP CLAMP FILL REFLECT",
    "ScaleMode": "UNIFORM CHANNEL ELEMENTWISE",
    "ScatterMode": "ELEMENT ND",
    "SeekPosition": "SET CUR END",
    "SerializationFlag": "EXCLUDE_WEIGHTS EXCLUDE_LEAN_RUNTIME INCLUDE_REFIT",
    "TempfileControlFlag": "ALLOW_IN_MEMORY_FILES ALLOW_TEMPORARY_FILES",
    "TensorFormat": "LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16 DHWC",
    "TensorIOMode": "NONE INPUT OUTPUT",
    "TensorLocation": "DEVICE HOST",
    "TilingOptimizationLevel": "NONE FAST MODERATE FULL",
    "TopKOperation": "MAX MIN",
    "TripLimit": "COUNT WHILE",
    "UnaryOperation": """EXP LOG SQRT RECIP ABS NEG SIN COS TAN SINH COSH ASIN ACOS ATAN ASINH ACOSH ATANH CEIL FLOOR ERF NOT
        SIGN ROUND ISINF ISNAN""",
    "WeightsRole": "KERNEL BIAS SHIFT SCALE CONSTANT ANY",
    "PluginFieldType": "FLOAT16 FLOAT32 FLOAT64 INT8 INT16 INT32 CHAR DIMS UNKNOWN BF16 INT64 FP8 INT4 FP4",
    "ErrorCodeTRT": """SUCCESS UNSPECIFIED_ERROR INTERNAL_ERROR INVALID_ARGUMENT INVALID_CONFIG FAILED_ALLOCATION
        FAILED_INITIALIZATION FAILED_EXECUTION FAILED_COMPUTATION INVALID_STATE UNSUPPORTED_STATE""",
    "OnnxParserFlag": """NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA REPORT_CAPABILITY_DLA
        ENABLE_PLUGIN_OVERRIDE ADJUST_FOR_DLA""",
    "ErrorCode": """SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH
        INVALID_NODE UNSUPPORTED_GRAPH UNSUPPORTED_NODE UNSUPPORTED_NODE_ATTR UNSUPPORTED_NODE_INPUT
        UNSUPPORTED_NODE_DATATYPE UNSUPPORTED_NODE_DYNAMIC UNSUPPORTED_NODE_SHAPE REFIT_FAILED""",
}
# Of the generation 11; others have further ones, with other numbers.
ELEVEN = {
    "BuilderFlag": """DEBUG=2 GPU_FALLBACK=3 REFIT=4 DISABLE_TIMING_CACHE=5 TF32=6 SPARSE_WEIGHTS=7 SAFETY_SCOPE=8
        DIRECT_IO=11 VERSION_COMPATIBLE=12 EXCLUDE_LEAN_RUNTIME=13 ERROR_ON_TIMING_CACHE_MISS=15
        DISABLE_COMPILATION_CACHE=17 STRIP_PLAN=18 REFIT_IDENTICAL=19 WEIGHT_STREAMING=20 REFIT_INDIVIDUAL=22
        STRICT_NANS=23 MONITOR_MEMORY=24 EDITABLE_TIMING_CACHE=26 DISTRIBUTIVE_INDEPENDENCE=27""",
    "LayerType": """CONVOLUTION CAST ACTIVATION POOLING LRN SCALE SOFTMAX DECONVOLUTION CONCATENATION ELEMENTWISE PLUGIN
        UNARY PADDING SHUFFLE REDUCE TOPK GATHER MATRIX_MULTIPLY RAGGED_SOFTMAX CONSTANT IDENTITY PLUGIN_V2
        SLICE SHAPE PARAMETRIC_RELU RESIZE TRIP_LIMIT RECURRENCE ITERATOR LOOP_OUTPUT SELECT FILL QUANTIZE
        DEQUANTIZE CONDITION CONDITIONAL_INPUT CONDITIONAL_OUTPUT SCATTER EINSUM ASSERTION ONE_HOT NON_ZERO
        GRID_SAMPLE NMS REVERSE_SEQUENCE NORMALIZATION PLUGIN_V3 SQUEEZE UNSQUEEZE CUMULATIVE DYNAMIC_QUANTIZE
        ATTENTION_INPUT ATTENTION_OUTPUT ROTARY_EMBEDDING KV_CACHE_UPDATE MOE DIST_COLLECTIVE""",
    "NetworkDefinitionCreationFlag": "STRONGLY_TYPED PREFER_JIT_PYTHON_PLUGINS PREFER_AOT_PYTHON_PLUGINS",
    "PreviewFeature": "ALIASED_PLUGIN_IO_10_03 RUNTIME_ACTIVATION_RESIZE_10_10",
    "TacticSource": "EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS",
    "EngineCapability": "STANDARD SAFETY DLA_STANDALONE",
}


def numbers(row):
    words = [each.partition("=") for each in row.split()]
    return {word: int(number) if number else place for place, (word, _, number) in enumerate(words)}


def members(name):
    return {each.name: int(each) for each in getattr(trt, name)}


def test_members_and_numbers():
    for name, row in SAME.items():
        if name != "EngineCapability":
            assert members(name) == numbers(row), (name, members(name))
    assert {each.name: each.value for each in trt.Logger.Severity} == numbers("INTERNAL_ERROR ERROR WARNING INFO VERBOSE")
    assert trt.EngineCapability.STANDARD == trt.EngineCapability.DEFAULT and int(trt.EngineCapability.DLA_STANDALONE) == 2


def test_members_of_generations_that_differ():
    for name, row in ELEVEN.items():
        assert set(numbers(row)) <= set(getattr(trt, name).__members__), name
    assert (str(trt.LayerType.CAST), repr(trt.PoolingType.MAX)) == ("LayerType.CAST", "<PoolingType.MAX: 0>")
    assert trt.LayerType.KVCACHE_UPDATE == trt.LayerType.KV_CACHE_UPDATE and trt.float32 is trt.DataType.FLOAT


STRICT = """
import assay.tensorrt as trt
import tensorrt_enums_test as tables

assert trt.__version__.startswith("11.") and trt.volume(()) == 1
for name, row in {**tables.SAME, **tables.ELEVEN}.items():
    assert tables.members(name) == tables.numbers(row), (name, tables.members(name))
    assert all(getattr(trt, name)(number).name == word for word, number in tables.numbers(row).items()), name
for name in ("IInt8Calibrator", "IAlgorithmSelector", "QuantizationFlag", "IFullyConnectedLayer", "CalibrationAlgoType"):
    assert not hasattr(trt, name) and name not in dir(trt), name
logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
assert network.get_flag(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
x = network.add_input("x", trt.float32, (2, 3))
layer = network.add_activation(x, trt.ActivationType.RELU)
network.mark_output(layer.get_output(0))
config = builder.create_builder_config()
gone = [(builder, "build_engine"), (config, "int8_calibrator"), (config, "max_workspace_size"), (layer, "precision"),
        (layer, "set_output_type"), (x, "dynamic_range"), (network, "add_fully_connected"), (network, "add_pooling"),
        (trt.BuilderFlag, "FP16"), (trt.TacticSource, "CUDNN"), (trt.LayerType, "FULLY_CONNECTED")]
engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
context = engine.create_execution_context()
gone += [(engine, "num_bindings"), (engine, "get_binding_shape"), (context, "set_binding_shape"),
         (context, "execute_async_v2")]
for owner, name in gone:
    try:
        getattr(owner, name)
    except AttributeError:
        assert name not in dir(owner), name
    else:
        raise AssertionError(name)
for owner, name, value in ((config, "max_workspace_size", 1), (x, "dtype", trt.float16), (layer, "precision", trt.int8)):
    try:
        setattr(owner, name, value)
    except AttributeError:
        continue
    raise AssertionError(name)
import numpy as np
from assay.backend.trt import CreateConfig, EngineFromNetwork, TrtRunner
from assay.exception import PolygraphyException

given, result = np.array([[-1, 0, 1], [2, -3, 4]], np.float32), np.empty((2, 3), np.float32)
for name, array in zip((engine.get_tensor_name(i) for i in range(engine.num_io_tensors)), (given, result)):
    assert context.set_tensor_address(name, array.ctypes.data)
assert context.execute_async_v3(0) and np.array_equal(result, np.maximum(given, 0))
with TrtRunner(EngineFromNetwork((builder, network), CreateConfig())) as runner:
    assert np.array_equal(next(iter(runner.infer({"x": given}).values())), result)
try:
    CreateConfig(fp16=True)(builder, network)
except PolygraphyException as error:
    assert "fp16" in str(error)
else:
    raise AssertionError("fp16")
"""


def test_the_generation_11_alone():
    def run(**variables):
        environment = {**os.environ, **variables}
        environment["PYTHONPATH"] = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), environment.get("PYTHONPATH", "")])
        return subprocess.run([sys.executable, "-c", STRICT], env=environment, capture_output=True, text=True)

    found = run(ASSAY_TENSORRT_GENERATION="11")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "ASSAY_TENSORRT_GENERATION is 7" in run(ASSAY_TENSORRT_GENERATION="7").stderr
    assert run(ASSAY_TENSORRT_GENERATION="").returncode == 1


if __name__ == "__main__":
    checks.run_all(globals())
