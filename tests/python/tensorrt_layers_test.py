"""Every kind of layer as TensorRT documents it: its class, its type, the names, types and shapes of its outputs, the order
of its inputs, and the values that its attributes have until they are set."""

import assay.tensorrt as trt
import checks
import numpy as np

LOGGER = trt.Logger(trt.Logger.INTERNAL_ERROR)
ONE = np.ones(1, np.float32)
PAIR = {"padding_nd": (0, 0), "pre_padding": (0, 0), "post_padding": (0, 0), "stride_nd": (1, 1),
        "padding_mode": trt.PaddingMode.EXPLICIT_ROUND_DOWN}
CONVOLUTION = {**PAIR, "kernel_size_nd": (3, 3), "dilation_nd": (1, 1), "num_groups": 1, "num_output_maps": 4,
               "stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "kernel_size": (3, 3)}
UNUSED = tuple(range(8))  # the order of axes that they have


def constant(network, shape, dtype=np.float32, value=1):
    return network.add_constant(shape, np.full(shape, value, dtype)).get_output(0)


def tensors(network):
    """What layers are drawn on."""
    return {"x": network.add_input("x", trt.float32, (1, 4, 8, 8)), "m": network.add_input("m", trt.float32, (2, 3)),
            "i": network.add_input("i", trt.int32, (2, 3)), "b": network.add_input("b", trt.bool, (1, 4, 8, 8)),
            "q": network.add_input("q", trt.float32, (1, 2, 5, 4)), "n": network.add_input("n", trt.int32, (1, 2, 2)),
            "boxes": network.add_input("boxes", trt.float32, (1, 5, 4)),
            "scores": network.add_input("scores", trt.float32, (1, 5, 2)),
            "grid": network.add_input("grid", trt.float32, (1, 2, 2, 2)),
            "updates": network.add_input("updates", trt.float32, (2, 3, 8, 8)),
            "scalar": network.add_input("scalar", trt.int32, ()), "channels": network.add_input("c", trt.float32, (1, 4, 1, 1))}


# How it is drawn, its class, LayerType and the word in its name, outputs (type, shape), and attributes.
F, I32, I64 = trt.float32, trt.int32, trt.int64
ROWS = [
    (lambda n, t: n.add_convolution_nd(t["x"], 4, (3, 3), np.ones((4, 4, 3, 3), np.float32), np.ones(4, np.float32)),
     "IConvolutionLayer", "CONVOLUTION", "Convolution", [(F, (1, 4, 6, 6))], CONVOLUTION),
    (lambda n, t: n.add_deconvolution_nd(t["x"], 4, (3, 3), np.ones((4, 4, 3, 3), np.float32)),
     "IDeconvolutionLayer", "DECONVOLUTION", "Deconvolution", [(F, (1, 4, 10, 10))], CONVOLUTION),
    (lambda n, t: n.add_activation(t["x"], trt.ActivationType.RELU), "IActivationLayer", "ACTIVATION", "Activation",
     [(F, (1, 4, 8, 8))], {"type": trt.ActivationType.RELU, "alpha": 0, "beta": 0}),
    (lambda n, t: n.add_pooling_nd(t["x"], trt.PoolingType.MAX, (2, 2)), "IPoolingLayer", "POOLING", "Pooling",
     [(F, (1, 4, 7, 7))], {**PAIR, "type": trt.PoolingType.MAX, "window_size_nd": (2, 2), "blend_factor": 0,
                           "average_count_excludes_padding": True}),
    (lambda n, t: n.add_lrn(t["x"], 3, 1.0, 2.0, 3.0), "ILRNLayer", "LRN", "LRN", [(F, (1, 4, 8, 8))],
     {"window_size": 3, "alpha": 1, "beta": 2, "k": 3}),
    (lambda n, t: n.add_scale(t["x"], trt.ScaleMode.UNIFORM), "IScaleLayer", "SCALE", "Scale", [(F, (1, 4, 8, 8))],
     {"mode": trt.ScaleMode.UNIFORM, "channel_axis": 1}),
    (lambda n, t: n.add_softmax(t["x"]), "ISoftMaxLayer", "SOFTMAX", "Softmax", [(F, (1, 4, 8, 8))], {"axes": 2}),
    (lambda n, t: n.add_softmax(t["m"]), "ISoftMaxLayer", "SOFTMAX", "Softmax", [(F, (2, 3))], {"axes": 1}),
    (lambda n, t: n.add_concatenation([t["x"], t["x"]]), "IConcatenationLayer", "CONCATENATION", "Concatenation",
     [(F, (1, 8, 8, 8))], {"axis": 1}),
    (lambda n, t: n.add_concatenation([t["m"], t["m"]]), "IConcatenationLayer", "CONCATENATION", "Concatenation",
     [(F, (4, 3))], {"axis": 0}),
    (lambda n, t: n.add_elementwise(t["x"], t["x"], trt.ElementWiseOperation.SUM), "IElementWiseLayer", "ELEMENTWISE",
     "ElementWise", [(F, (1, 4, 8, 8))], {"op": trt.ElementWiseOperation.SUM}),
    (lambda n, t: n.add_unary(t["x"], trt.UnaryOperation.EXP), "IUnaryLayer", "UNARY", "Unary", [(F, (1, 4, 8, 8))],
     {"op": trt.UnaryOperation.EXP}),
    (lambda n, t: n.add_padding_nd(t["x"], (1, 2), (3, 4)), "IPaddingLayer", "PADDING", "Padding", [(F, (1, 4, 12, 14))],
     {"pre_padding_nd": (1, 2), "post_padding_nd": (3, 4), "pre_padding": (1, 2), "post_padding": (3, 4)}),
    (lambda n, t: n.add_shuffle(t["x"]), "IShuffleLayer", "SHUFFLE", "Shuffle", [(F, (1, 4, 8, 8))],
     {"first_transpose": UNUSED, "second_transpose": UNUSED, "reshape_dims": None, "zero_is_placeholder": True}),
    (lambda n, t: n.add_slice(t["m"], (0, 1), (2, 2), (1, 1)), "ISliceLayer", "SLICE", "Slice", [(F, (2, 2))],
     {"start": (0, 1), "shape": (2, 2), "stride": (1, 1), "mode": trt.SampleMode.STRICT_BOUNDS, "axes": None}),
    (lambda n, t: n.add_reduce(t["x"], trt.ReduceOperation.SUM, 1, False), "IReduceLayer", "REDUCE", "Reduce",
     [(F, (4, 8, 8))], {"op": trt.ReduceOperation.SUM, "axes": 1, "keep_dims": False}),
    (lambda n, t: n.add_topk(t["x"], trt.TopKOperation.MAX, 2, 8), "ITopKLayer", "TOPK", "TopK",
     [(F, (1, 4, 8, 2)), (I32, (1, 4, 8, 2))], {"op": trt.TopKOperation.MAX, "k": 2, "axes": 8, "indices_type": I32}),
    (lambda n, t: n.add_topk(t["m"], trt.TopKOperation.MIN, 1, 2, trt.int64), "ITopKLayer", "TOPK", "TopK",
     [(F, (2, 1)), (I64, (2, 1))], {"indices_type": I64}),
    (lambda n, t: n.add_gather(t["x"], t["i"], 1), "IGatherLayer", "GATHER", "Gather", [(F, (1, 2, 3, 8, 8))],
     {"axis": 1, "mode": trt.GatherMode.DEFAULT, "num_elementwise_dims": 0}),
    (lambda n, t: n.add_gather_v2(t["x"], t["i"], trt.GatherMode.ND), "IGatherLayer", "GATHER", "Gather", [(F, (2, 8))],
     {"axis": 0, "mode": trt.GatherMode.ND, "num_elementwise_dims": 0}),
    (lambda n, t: n.add_gather_v2(t["m"], t["i"], trt.GatherMode.ELEMENT), "IGatherLayer", "GATHER", "Gather",
     [(F, (2, 3))], {"mode": trt.GatherMode.ELEMENT}),
    (lambda n, t: n.add_scatter(t["x"], t["n"], constant(n, (1, 2, 8, 8)), trt.ScatterMode.ND), "IScatterLayer", "SCATTER",
     "Scatter", [(F, (1, 4, 8, 8))], {"axis": 0, "mode": trt.ScatterMode.ND}),
    (lambda n, t: n.add_ragged_softmax(t["boxes"], constant(n, (1, 5, 1), np.int32)), "IRaggedSoftMaxLayer",
     "RAGGED_SOFTMAX", "Ragged SoftMax", [(F, (1, 5, 4))], {}),
    (lambda n, t: n.add_matrix_multiply(t["x"], trt.MatrixOperation.NONE, t["x"], trt.MatrixOperation.TRANSPOSE),
     "IMatrixMultiplyLayer", "MATRIX_MULTIPLY", "Matrix Multiply", [(F, (1, 4, 8, 8))],
     {"op0": trt.MatrixOperation.NONE, "op1": trt.MatrixOperation.TRANSPOSE}),
    (lambda n, t: n.add_constant((2,), np.ones(2, np.float32)), "IConstantLayer", "CONSTANT", "Constant", [(F, (2,))],
     {"shape": (2,)}),
    (lambda n, t: n.add_identity(t["x"]), "IIdentityLayer", "IDENTITY", "Identity", [(F, (1, 4, 8, 8))], {}),
    (lambda n, t: n.add_cast(t["x"], trt.int32), "ICastLayer", "CAST", "Cast", [(I32, (1, 4, 8, 8))], {"to_type": I32}),
    (lambda n, t: n.add_parametric_relu(t["x"], t["channels"]), "IParametricReLULayer", "PARAMETRIC_RELU",
     "Parametric ReLU", [(F, (1, 4, 8, 8))], {}),
    (lambda n, t: n.add_resize(t["x"]), "IResizeLayer", "RESIZE", "Resize", [(F, (1, 4, 8, 8))],
     {"coordinate_transformation": trt.ResizeCoordinateTransformation.ASYMMETRIC, "cubic_coeff": -0.75, "scales": [],
      "exclude_outside": False, "nearest_rounding": trt.ResizeRoundMode.FLOOR, "shape": (1, 4, 8, 8),
      "resize_mode": trt.InterpolationMode.NEAREST, "selector_for_single_pixel": trt.ResizeSelector.FORMULA}),
    (lambda n, t: n.add_shape(t["x"]), "IShapeLayer", "SHAPE", "Shape", [(I64, (4,))], {}),
    (lambda n, t: n.add_select(t["b"], t["x"], t["x"]), "ISelectLayer", "SELECT", "Select", [(F, (1, 4, 8, 8))], {}),
    (lambda n, t: n.add_grid_sample(t["x"], t["grid"]), "IGridSampleLayer", "GRID_SAMPLE", "GridSample",
     [(F, (1, 4, 2, 2))], {"align_corners": False, "interpolation_mode": trt.InterpolationMode.LINEAR,
                           "sample_mode": trt.SampleMode.FILL}),
    (lambda n, t: n.add_nms(t["boxes"], t["scores"], t["scalar"]), "INMSLayer", "NMS", "NMS",
     [(I32, (-1, 3)), (I32, ())], {"bounding_box_format": trt.BoundingBoxFormat.CORNER_PAIRS, "topk_box_limit": 5000,
                                   "indices_type": I32}),
    (lambda n, t: n.add_fill((2, 3), trt.FillOperation.LINSPACE), "IFillLayer", "FILL", "Fill", [(F, (2, 3))],
     {"alpha": 0, "beta": 1, "operation": trt.FillOperation.LINSPACE, "shape": (2, 3), "to_type": F}),
    (lambda n, t: n.add_fill((2, 3), trt.FillOperation.LINSPACE, trt.int32), "IFillLayer", "FILL", "Fill",
     [(I32, (2, 3))], {"to_type": I32}),
    (lambda n, t: n.add_quantize(t["x"], constant(n, (1,)), trt.int8), "IQuantizeLayer", "QUANTIZE", "Quantize",
     [(trt.int8, (1, 4, 8, 8))], {"axis": -1, "to_type": trt.int8}),
    (lambda n, t: n.add_dequantize(n.add_quantize(t["x"], constant(n, ())).get_output(0), constant(n, ())),
     "IDequantizeLayer", "DEQUANTIZE", "Dequantize", [(F, (1, 4, 8, 8))], {"axis": -1, "to_type": F}),
    (lambda n, t: n.add_einsum([t["x"]], "abcd->ab"), "IEinsumLayer", "EINSUM", "Einsum", [(F, (1, 4))],
     {"equation": "abcd->ab"}),
    (lambda n, t: n.add_one_hot(t["i"], constant(n, (2,)), constant(n, (), np.int32, 7), -1), "IOneHotLayer", "ONE_HOT",
     "OneHot", [(F, (2, 3, 7))], {"axis": -1}),
    (lambda n, t: n.add_non_zero(t["x"]), "INonZeroLayer", "NON_ZERO", "NonZero", [(I32, (4, -1))], {"indices_type": I32}),
    (lambda n, t: n.add_non_zero(t["x"], trt.int64), "INonZeroLayer", "NON_ZERO", "NonZero", [(I64, (4, -1))],
     {"indices_type": I64}),
    (lambda n, t: n.add_reverse_sequence(t["m"], constant(n, (3,), np.int32)), "IReverseSequenceLayer",
     "REVERSE_SEQUENCE", "ReverseSequence", [(F, (2, 3))], {"batch_axis": 1, "sequence_axis": 0}),
    (lambda n, t: n.add_normalization(t["x"], t["channels"], t["channels"], 12), "INormalizationLayer", "NORMALIZATION",
     "Normalization", [(F, (1, 4, 8, 8))], {"axes": 12, "epsilon": 1e-5, "num_groups": 1, "is_v2": False}),
    (lambda n, t: n.add_normalization_v2(t["x"], t["channels"], t["channels"], 12), "INormalizationLayer",
     "NORMALIZATION", "NormalizationV2", [(F, (1, 4, 8, 8))], {"is_v2": True}),
    (lambda n, t: n.add_cumulative(t["m"], constant(n, (), np.int32, 0), trt.CumulativeOperation.SUM, False, True),
     "ICumulativeLayer", "CUMULATIVE", "Cumulative", [(F, (2, 3))], {"exclusive": False, "reverse": True,
                                                                    "op": trt.CumulativeOperation.SUM}),
    (lambda n, t: n.add_squeeze(t["x"], constant(n, (1,), np.int64, 0)), "ISqueezeLayer", "SQUEEZE", "Squeeze",
     [(F, (4, 8, 8))], {}),
    (lambda n, t: n.add_unsqueeze(t["m"], constant(n, (1,), np.int64, 0)), "IUnsqueezeLayer", "UNSQUEEZE", "Unsqueeze",
     [(F, (1, 2, 3))], {}),
    (lambda n, t: n.add_rotary_embedding(t["q"], constant(n, (1, 5, 2)), constant(n, (1, 5, 2)), False, 0),
     "IRotaryEmbeddingLayer", "ROTARY_EMBEDDING", "RotaryEmbedding", [(F, (1, 2, 5, 4))],
     {"interleaved": False, "rotary_embedding_dim": 0}),
    (lambda n, t: n.add_kv_cache_update(t["q"], constant(n, (1, 2, 1, 4)), constant(n, (1,), np.int32)),
     "IKVCacheUpdateLayer", "KV_CACHE_UPDATE", "KVCacheUpdate", [(F, (1, 2, 5, 4))],
     {"cache_mode": trt.KVCacheMode.LINEAR, "update_form": trt.AttentionIOForm.PADDED_BHND}),
    (lambda n, t: n.add_attention(t["q"], t["q"], t["q"], trt.AttentionNormalizationOp.SOFTMAX, False), "IAttention",
     "ATTENTION_OUTPUT", "Attention", [(F, (1, 2, 5, 4))],
     {"norm_op": trt.AttentionNormalizationOp.SOFTMAX, "causal": False, "causal_kind": trt.CausalMaskKind.NONE,
      "decomposable": False, "mask": None, "query_form": trt.AttentionIOForm.PADDED_BHND}),
]


def test_kinds_of_layers():
    for draw, kind, word, name, outputs, attributes in ROWS:
        network = trt.Builder(LOGGER).create_network()
        layer = draw(network, tensors(network))
        index = network.num_layers - 1
        full = f"(Unnamed Layer* {index}) [{name}]"
        assert type(layer) is getattr(trt, kind) and layer.name == full, (kind, layer.name)
        names = [f"{full}_output" + (f" ({i})" if i else "") for i in range(len(outputs))]
        made = [layer.get_output(i) for i in range(layer.num_outputs)]
        assert [each.name for each in made] == names, (kind, [each.name for each in made])
        assert [(each.dtype, tuple(each.shape)) for each in made] == outputs, (kind, [(e.dtype, e.shape) for e in made])
        for attribute, expected in attributes.items():
            found = getattr(layer, attribute)
            assert found == expected and attribute in dir(type(layer)), (kind, attribute, found)
        seen = network.get_layer(index)
        assert type(seen) is trt.ILayer and seen.type == trt.LayerType[word] and seen == layer, (kind, seen.type)
        assert str(seen.type)[10:] == word and type(network[index]) is trt.ILayer


def test_all_kinds_that_can_be_added_are_in_the_table():
    drawn = {row[2] for row in ROWS}
    refused = {"ASSERTION", "DYNAMIC_QUANTIZE", "MOE", "DIST_COLLECTIVE"}
    other = {"FULLY_CONNECTED", "PLUGIN", "PLUGIN_V2", "PLUGIN_V3", "ATTENTION_INPUT", "TRIP_LIMIT", "RECURRENCE",
             "ITERATOR", "LOOP_OUTPUT", "CONDITION", "CONDITIONAL_INPUT", "CONDITIONAL_OUTPUT"}
    assert drawn | refused | other == {each.name for each in trt.LayerType}


ACTIVATIONS = {"RELU": (0, 0), "SIGMOID": (0, 0), "TANH": (0, 0), "LEAKY_RELU": (0.01, 0), "ELU": (1, 0),
               "SELU": (1.67326324, 1.05070102), "SOFTSIGN": (0, 0), "SOFTPLUS": (1, 1), "CLIP": (-3.4028235e38, 3.4028235e38),
               "HARD_SIGMOID": (0.2, 0.5), "SCALED_TANH": (1, 1), "THRESHOLDED_RELU": (1, 0), "GELU_ERF": (0, 0),
               "GELU_TANH": (0, 0)}


def test_parameters_of_activations():
    assert set(ACTIVATIONS) == set(trt.ActivationType.__members__)
    for name, expected in ACTIVATIONS.items():
        network = trt.Builder(LOGGER).create_network()
        x = network.add_input("x", trt.float32, (2,))
        layer = network.add_activation(x, trt.ActivationType[name])
        assert np.allclose((layer.alpha, layer.beta), expected, rtol=1e-6), (name, layer.alpha, layer.beta)
        layer.alpha = 0.25
        layer.type = trt.ActivationType.ELU  # which leaves the parameters as they are
        assert (layer.type, layer.alpha) == (trt.ActivationType.ELU, 0.25)
        assert network[0].type == trt.LayerType.ACTIVATION


def test_layers_of_a_network_become_those_of_their_kind():
    network = trt.Builder(LOGGER).create_network()
    x = network.add_input("x", trt.float32, (1, 4, 8, 8))
    network.add_pooling_nd(x, trt.PoolingType.AVERAGE, (2, 2))
    layer = network.get_layer(0)
    assert layer == network[0] and layer is network.get_layer(0) and not hasattr(layer, "window_size_nd")
    layer.__class__ = trt.IPoolingLayer
    assert layer.type == trt.PoolingType.AVERAGE and layer.window_size_nd == (2, 2)
    layer.stride_nd = (2, 2)
    assert layer.get_output(0).shape == (1, 4, 4, 4)
    assert [type(each) for each in network] == [trt.ILayer] and network[0] == layer


def test_boundaries_of_loops_and_conditions():
    network = trt.Builder(LOGGER).create_network()
    x = network.add_input("x", trt.float32, (1, 4))
    count = constant(network, (), np.int32)
    loop, condition = network.add_loop(), network.add_if_conditional()
    assert (loop.name, condition.name) == ("(Unnamed Loop* 0)", "(Unnamed IfConditional* 1)")
    state = loop.add_recurrence(x)
    made = [loop.add_trip_limit(count, trt.TripLimit.COUNT), state, loop.add_iterator(x),
            loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE),
            condition.set_condition(constant(network, (), np.bool_)), condition.add_input(x)]
    made.append(condition.add_output(made[-1].get_output(0), x))
    words = ["TripLimit", "Recurrence", "Iterator", "LoopOutput", "IfCondition", "Input", "Output"]
    assert [each.name.partition("[")[2][:-1] for each in made] == words
    kinds = ["TRIP_LIMIT", "RECURRENCE", "ITERATOR", "LOOP_OUTPUT", "CONDITION", "CONDITIONAL_INPUT", "CONDITIONAL_OUTPUT"]
    assert [each.type for each in made] == [trt.LayerType[each] for each in kinds]
    assert isinstance(made[0], trt.ILoopBoundaryLayer) and isinstance(made[4], trt.IIfConditionalBoundaryLayer)
    assert (made[2].axis, made[2].reverse, made[3].axis, made[0].kind) == (0, False, 0, trt.TripLimit.COUNT)
    assert made[0].loop is loop and made[4].conditional is condition


def test_inputs_have_the_documented_order():
    network = trt.Builder(LOGGER).create_network()
    given = tensors(network)
    values, depth = constant(network, (2,)), constant(network, (), np.int32, 7)
    layer = network.add_one_hot(given["i"], values, depth, 0)
    assert [layer.get_input(i) for i in range(3)] == [given["i"], values, depth]


def test_names_follow_the_layer_until_they_are_given():
    network = trt.Builder(LOGGER).create_network()
    x = network.add_input("x", trt.float32, (1, 4))
    layer = network.add_topk(x, trt.TopKOperation.MAX, 1, 2)
    layer.name = "best"
    assert [layer.get_output(i).name for i in range(2)] == ["best_output", "best_output (1)"]
    layer.get_output(0).name = "value"
    layer.name = "top"
    assert [layer.get_output(i).name for i in range(2)] == ["value", "top_output (1)"] and network[0].name == "top"


def test_weights_are_read_as_arrays():
    network = trt.Builder(LOGGER).create_network()
    x = network.add_input("x", trt.float32, (1, 1, 4, 4))
    kernel = np.arange(9, dtype=np.float32)
    layer = network.add_convolution_nd(x, 1, (3, 3), trt.Weights(kernel))
    assert np.array_equal(layer.kernel, kernel) and layer.bias.size == 0 and layer.bias.dtype == np.float32
    layer.bias = np.full(1, 2, np.float32)
    assert layer.bias.tolist() == [2] and network.add_constant((9,), kernel).weights.shape == (9,)


def test_what_networks_are_told_of_configurations_by_default():
    builder = trt.Builder(LOGGER)
    config = builder.create_builder_config()
    expected = {"DLA_core": -1, "avg_timing_iterations": 1, "builder_optimization_level": 3, "max_aux_streams": -1,
                "default_device_type": trt.DeviceType.GPU, "engine_capability": trt.EngineCapability.STANDARD,
                "hardware_compatibility_level": trt.HardwareCompatibilityLevel.NONE, "max_num_tactics": -1,
                "num_optimization_profiles": 0, "plugins_to_serialize": [], "profile_stream": 0,
                "profiling_verbosity": trt.ProfilingVerbosity.LAYER_NAMES_ONLY, "progress_monitor": None,
                "runtime_platform": trt.RuntimePlatform.SAME_AS_BUILD, "int8_calibrator": None, "algorithm_selector": None,
                "tiling_optimization_level": trt.TilingOptimizationLevel.NONE, "flags": 1 << int(trt.BuilderFlag.TF32)}
    assert {name: getattr(config, name) for name in expected} == expected
    limits = {each.name: config.get_memory_pool_limit(each) >> 20 for each in trt.MemoryPoolType}
    assert limits["DLA_LOCAL_DRAM"] == 1024 and limits["DLA_GLOBAL_DRAM"] == 512 and not limits["DLA_MANAGED_SRAM"]
    assert limits["WORKSPACE"] == limits["TACTIC_DRAM"] > 0
    config.builder_optimization_level = 9
    assert config.builder_optimization_level == 5 and config.get_preview_feature(trt.PreviewFeature.FASTER_DYNAMIC_SHAPES_0805)
    assert (builder.max_threads, builder.num_DLA_cores, builder.logger) == (1, 0, LOGGER)
    x = builder.create_network().add_input("x", trt.float32, (1, -1))
    assert x.allowed_formats == (1 << 13) - 1 and x.get_dimension_name(0) is None and not x.is_shape_tensor


if __name__ == "__main__":
    checks.run_all(globals())
