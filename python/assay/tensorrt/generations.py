"""What is left of the names where a script is to be tried with one generation of TensorRT: ASSAY_TENSORRT_GENERATION=11.

What that generation has removed raises AttributeErrors, as there, and its flags have its numbers.
"""

from assay.config import TENSORRT_GENERATION
from assay.exception import PolygraphyException

IS_STRICT = TENSORRT_GENERATION == 11
if TENSORRT_GENERATION not in (0, 11):
    raise PolygraphyException(f"ASSAY_TENSORRT_GENERATION is {TENSORRT_GENERATION}; what can be asked for is 11")

NAMES = """CalibrationAlgoType IAlgorithm IAlgorithmContext IAlgorithmIOInfo IAlgorithmSelector IAlgorithmVariant
    IFullyConnectedLayer IInt8Calibrator IInt8EntropyCalibrator IInt8EntropyCalibrator2 IInt8LegacyCalibrator
    IInt8MinMaxCalibrator IStreamReader QuantizationFlag ResizeMode SliceMode"""
ATTRIBUTES = {
    "Builder": """build_cuda_engine build_engine max_batch_size max_workspace_size platform_has_fast_fp16
        platform_has_fast_int8 platform_has_tf32 strict_type_constraints""",
    "IBuilderConfig": """algorithm_selector clear_quantization_flag get_calibration_profile get_quantization_flag
        int8_calibrator max_batch_size max_workspace_size min_timing_iterations quantization_flags
        set_calibration_profile set_quantization_flag""",
    "IConvolutionLayer": "dilation kernel_size padding stride",
    "IPoolingLayer": "window_size",
    "IPaddingLayer": "post_padding pre_padding",
    "INormalizationLayer": "compute_precision",
    "ICudaEngine": """binding_is_input create_execution_context_without_device_memory device_memory_size
        get_binding_bytes_per_component get_binding_components_per_element get_binding_dtype get_binding_format
        get_binding_format_desc get_binding_index get_binding_name get_binding_shape get_binding_vectorized_dim
        get_device_memory_size_for_profile get_location get_profile_shape get_profile_shape_input
        has_implicit_batch_dimension is_execution_binding is_shape_binding max_batch_size max_workspace_size
        minimum_weight_streaming_budget num_bindings weight_streaming_budget""",
    "IExecutionContext": """all_shape_inputs_specified execute execute_async execute_async_v2 get_binding_shape get_shape
        get_strides set_binding_shape set_input_tensor_address set_optimization_profile set_output_tensor_address
        set_shape_input""",
    "ILayer": """output_type_is_set precision precision_is_set reset_output_type reset_precision set_output_type""",
    "INetworkDefinition": """add_convolution add_deconvolution add_fully_connected add_padding add_pooling
        has_explicit_precision""",
    "IPluginRegistry": "get_plugin_creator plugin_creator_list",
    "ITensor": "dynamic_range reset_dynamic_range set_dynamic_range",
    "OnnxParser": "parse_with_weight_descriptors supports_model",
    "Refitter": "get_dynamic_range get_tensors_with_dynamic_range set_dynamic_range",
}
NUMBERS = {
    "BuilderFlag": """DEBUG=2 GPU_FALLBACK=3 REFIT=4 DISABLE_TIMING_CACHE=5 TF32=6 SPARSE_WEIGHTS=7 SAFETY_SCOPE=8
        DIRECT_IO=11 VERSION_COMPATIBLE=12 EXCLUDE_LEAN_RUNTIME=13 ERROR_ON_TIMING_CACHE_MISS=15
        DISABLE_COMPILATION_CACHE=17 STRIP_PLAN=18 REFIT_IDENTICAL=19 WEIGHT_STREAMING=20 REFIT_INDIVIDUAL=22
        STRICT_NANS=23 MONITOR_MEMORY=24 EDITABLE_TIMING_CACHE=26 DISTRIBUTIVE_INDEPENDENCE=27""",
    "EngineCapability": "STANDARD=0 SAFETY=1 DLA_STANDALONE=2",
    "LayerType": """CONVOLUTION=0 CAST=1 ACTIVATION=2 POOLING=3 LRN=4 SCALE=5 SOFTMAX=6 DECONVOLUTION=7 CONCATENATION=8
        ELEMENTWISE=9 PLUGIN=10 UNARY=11 PADDING=12 SHUFFLE=13 REDUCE=14 TOPK=15 GATHER=16 MATRIX_MULTIPLY=17
        RAGGED_SOFTMAX=18 CONSTANT=19 IDENTITY=20 PLUGIN_V2=21 SLICE=22 SHAPE=23 PARAMETRIC_RELU=24 RESIZE=25
        TRIP_LIMIT=26 RECURRENCE=27 ITERATOR=28 LOOP_OUTPUT=29 SELECT=30 FILL=31 QUANTIZE=32 DEQUANTIZE=33 CONDITION=34
        CONDITIONAL_INPUT=35 CONDITIONAL_OUTPUT=36 SCATTER=37 EINSUM=38 ASSERTION=39 ONE_HOT=40 NON_ZERO=41
        GRID_SAMPLE=42 NMS=43 REVERSE_SEQUENCE=44 NORMALIZATION=45 PLUGIN_V3=46 SQUEEZE=47 UNSQUEEZE=48 CUMULATIVE=49
        DYNAMIC_QUANTIZE=50 ATTENTION_INPUT=51 ATTENTION_OUTPUT=52 ROTARY_EMBEDDING=53 KV_CACHE_UPDATE=54 MOE=55
        DIST_COLLECTIVE=56""",
    "NetworkDefinitionCreationFlag": "STRONGLY_TYPED=0 PREFER_JIT_PYTHON_PLUGINS=1 PREFER_AOT_PYTHON_PLUGINS=2",
    "PreviewFeature": "ALIASED_PLUGIN_IO_10_03=0 RUNTIME_ACTIVATION_RESIZE_10_10=1",
    "TacticSource": "EDGE_MASK_CONVOLUTIONS=0 JIT_CONVOLUTIONS=1",
}


def restrict(names) -> None:
    """Takes from the names of a module, and from their classes, what the generation does not have."""
    for name, attributes in ATTRIBUTES.items():
        for attribute in attributes.split():
            owner = next(each for each in names[name].__mro__ if attribute in vars(each))
            delattr(owner, attribute)
    for name, rows in NUMBERS.items():
        _renumber(names[name], {word: int(number) for word, number in (row.split("=") for row in rows.split())})
    names["ITensor"].dtype = property(names["ITensor"].dtype.fget, doc=names["ITensor"].dtype.__doc__)
    for name in NAMES.split():
        del names[name]


def _renumber(kind, numbers):
    """The enumeration has these members only."""
    kept = {name: kind.__members__[name] for name in numbers}
    for name in set(kind.__members__) - set(numbers):
        if name in vars(kind):
            type.__delattr__(kind, name)
    for name, member in kept.items():
        member._name_, member._value_ = name, numbers[name]
    kind._member_map_.clear()
    kind._member_map_.update(kept)
    kind._member_names_[:] = list(kept)
    kind._value2member_map_.clear()
    kind._value2member_map_.update((numbers[name], member) for name, member in kept.items())
