"""Programs of networks that print what TensorRT says of them: network_programs.py MODULE FOLDER. Run on assay.tensorrt and on
NVIDIA's library they print the same. FOLDER has the models that are parsed."""

import importlib
import os
import sys

import numpy as np

trt = importlib.import_module(sys.argv[1])
FOLDER = sys.argv[2]
PROGRAMS = []


class Logger(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.errors = 0

    def log(self, severity, message):
        if int(severity) <= int(trt.ILogger.Severity.ERROR):
            self.errors += 1


LOGGER = Logger()


def program(function):
    PROGRAMS.append(function)
    return function


def new():
    builder = trt.Builder(LOGGER)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    return builder, network


def show(tensor, note=""):
    if tensor is None:
        return print("   None", note)
    print("  ", tensor.name, tuple(tensor.shape), str(tensor.dtype).rpartition(".")[2], note)


def tell(layer):
    """The layer with its outputs; whether an error was told, not its words."""
    told, LOGGER.errors = LOGGER.errors, 0
    if layer is None:
        return print("   no layer", "told" if told else "silent")
    print("  ", layer.name, str(layer.type).rpartition(".")[2], layer.num_inputs, layer.num_outputs)
    for i in range(layer.num_outputs):
        show(layer.get_output(i))


def inputs(network, *shapes, dtype=None):
    return [network.add_input(f"x{i}", dtype or trt.float32, shape) for i, shape in enumerate(shapes)]


def ones(network, *shape, dtype=np.float32):
    return network.add_constant(shape, np.ones(shape, dtype)).get_output(0)


def attempt(action):
    try:
        print("  ", action())
    except Exception as error:
        print("  ", "raises", type(error).__name__)


@program
def activations():
    _, network = new()
    (x,) = inputs(network, (2, 3))
    for kind in ("RELU", "SIGMOID", "TANH", "CLIP", "GELU_ERF"):
        tell(network.add_activation(x, getattr(trt.ActivationType, kind)))


@program
def broadcasts():
    _, network = new()
    x, y = inputs(network, (2, 1, 4), (1, 3, 4))
    for op in ("SUM", "PROD", "MAX", "POW"):
        tell(network.add_elementwise(x, y, getattr(trt.ElementWiseOperation, op)))


@program
def comparisons():
    _, network = new()
    x, y = inputs(network, (2, 3), (2, 3))
    for op in ("EQUAL", "GREATER", "LESS"):
        tell(network.add_elementwise(x, y, getattr(trt.ElementWiseOperation, op)))


@program
def unaries():
    _, network = new()
    (x,) = inputs(network, (5,))
    for op in ("EXP", "SQRT", "NEG", "ERF", "ISNAN"):
        tell(network.add_unary(x, getattr(trt.UnaryOperation, op)))


@program
def reductions():
    _, network = new()
    (x,) = inputs(network, (2, 3, 4))
    for op, axes, keeps in (("SUM", 2, True), ("AVG", 6, False), ("MAX", 7, True), ("PROD", 1, False)):
        tell(network.add_reduce(x, getattr(trt.ReduceOperation, op), axes, keeps))


@program
def products():
    _, network = new()
    x, y, v = inputs(network, (2, 3, 4), (2, 4, 5), (4,))
    op = trt.MatrixOperation
    tell(network.add_matrix_multiply(x, op.NONE, y, op.NONE))
    tell(network.add_matrix_multiply(y, op.TRANSPOSE, x, op.TRANSPOSE))
    tell(network.add_matrix_multiply(x, op.NONE, v, op.VECTOR))


@program
def einsums():
    _, network = new()
    x, y = inputs(network, (2, 3, 4), (2, 4, 5))
    tell(network.add_einsum([x, y], "bij,bjk->bik"))
    tell(network.add_einsum([x], "bij->ji"))


@program
def convolutions():
    _, network = new()
    (x,) = inputs(network, (1, 3, 16, 16))
    layer = network.add_convolution_nd(x, 8, (3, 3), np.ones((8, 3, 3, 3), np.float32), np.ones(8, np.float32))
    tell(layer)
    layer.stride_nd, layer.padding_nd = (2, 2), (1, 1)
    show(layer.get_output(0))
    layer.dilation_nd = (2, 2)
    show(layer.get_output(0))
    print("  ", layer.num_output_maps, tuple(layer.kernel_size_nd), tuple(layer.stride_nd), layer.num_groups)


@program
def deconvolutions():
    _, network = new()
    (x,) = inputs(network, (1, 4, 5, 5))
    layer = network.add_deconvolution_nd(x, 2, (3, 3), np.ones((4, 2, 3, 3), np.float32), trt.Weights())
    tell(layer)
    layer.stride_nd = (2, 2)
    show(layer.get_output(0))


@program
def pools():
    _, network = new()
    (x,) = inputs(network, (1, 3, 9, 9))
    layer = network.add_pooling_nd(x, trt.PoolingType.MAX, (2, 2))
    tell(layer)
    layer.stride_nd = (2, 2)
    show(layer.get_output(0))
    layer.padding_mode = trt.PaddingMode.EXPLICIT_ROUND_UP
    show(layer.get_output(0))


@program
def shuffles():
    _, network = new()
    (x,) = inputs(network, (2, 3, 4))
    layer = network.add_shuffle(x)
    tell(layer)
    layer.first_transpose = trt.Permutation([2, 0, 1])
    show(layer.get_output(0))
    layer.reshape_dims = (0, -1)
    show(layer.get_output(0))


@program
def slices():
    _, network = new()
    (x,) = inputs(network, (4, 6))
    tell(network.add_slice(x, (1, 0), (2, 3), (1, 2)))
    layer = network.add_slice(x, (0, 0), (4, 8), (1, 1))
    layer.mode = trt.SampleMode.FILL
    tell(layer)


@program
def gathers():
    _, network = new()
    x = network.add_input("x", trt.float32, (5, 6))
    i = network.add_input("i", trt.int32, (2, 3))
    tell(network.add_gather(x, i, 0))
    tell(network.add_gather(x, i, 1))
    tell(network.add_gather_v2(x, i, trt.GatherMode.ELEMENT))


@program
def concatenations():
    _, network = new()
    x, y = inputs(network, (2, 3), (2, 4))
    layer = network.add_concatenation([x, y])
    layer.axis = 1
    tell(layer)


@program
def selections():
    _, network = new()
    c = network.add_input("c", trt.bool, (2, 1))
    x, y = inputs(network, (2, 3), (1, 3))
    tell(network.add_select(c, x, y))
    layer = network.add_topk(x, trt.TopKOperation.MAX, 2, 2)
    tell(layer)
    print("  ", layer.k, layer.axes)


@program
def softmaxes():
    _, network = new()
    (x,) = inputs(network, (2, 3, 4))
    layer = network.add_softmax(x)
    tell(layer)
    print("  ", layer.axes)


@program
def normalizations():
    _, network = new()
    (x,) = inputs(network, (2, 4, 5, 5))
    tell(network.add_normalization_v2(x, ones(network, 1, 4, 1, 1), ones(network, 1, 4, 1, 1), 0b1100))


@program
def casts():
    _, network = new()
    (x,) = inputs(network, (2, 3))
    for kind in (trt.float16, trt.int32, trt.bool, trt.int64):
        tell(network.add_cast(x, kind))


@program
def shapes():
    _, network = new()
    (x,) = inputs(network, (-1, 3, 4))
    tell(network.add_shape(x))
    tell(network.add_activation(x, trt.ActivationType.RELU))
    tell(network.add_reduce(x, trt.ReduceOperation.SUM, 2, False))


@program
def squeezes():
    _, network = new()
    (x,) = inputs(network, (2, 1, 4))
    axes = network.add_constant((1,), np.array([1], np.int64)).get_output(0)
    tell(network.add_squeeze(x, axes))
    tell(network.add_unsqueeze(x, axes))


@program
def sizes():
    _, network = new()
    (x,) = inputs(network, (1, 3, 4, 4))
    layer = network.add_resize(x)
    layer.scales = (1, 1, 2, 2)
    tell(layer)
    layer = network.add_resize(x)
    layer.shape = (1, 3, 7, 9)
    layer.resize_mode = trt.InterpolationMode.LINEAR
    tell(layer)


@program
def cumulations():
    _, network = new()
    (x,) = inputs(network, (2, 3))
    axis = network.add_constant((), np.array(1, np.int32)).get_output(0)
    tell(network.add_cumulative(x, axis, trt.CumulativeOperation.SUM, False, False))
    tell(network.add_non_zero(x))


@program
def experts():
    _, network = new()
    (x,) = inputs(network, (2, 3, 8))
    chosen, scores = network.add_input("i", trt.int32, (2, 3, 2)), network.add_input("s", trt.float32, (2, 3, 2))
    layer = network.add_moe(x, chosen, scores)
    layer.set_gated_weights(ones(network, 4, 8, 16), ones(network, 4, 8, 16), ones(network, 4, 16, 8), trt.MoEActType.SILU)
    tell(layer)
    print("  ", layer.swiglu_param_limit, layer.swiglu_param_alpha, layer.swiglu_param_beta)
    tell(network.add_moe(network.add_input("flat", trt.float32, (6, 8)), chosen, scores))


@program
def names():
    _, network = new()
    (x,) = inputs(network, (2, 3))
    layer = network.add_activation(x, trt.ActivationType.RELU)
    layer.name = "cut"
    show(layer.get_output(0))
    layer.get_output(0).name = "y"
    layer.name = "again"
    show(layer.get_output(0))
    network.mark_output(layer.get_output(0))
    network.name = "net"
    print("  ", network.name, network.num_layers, network.num_inputs, network.num_outputs, network[0].name)
    print("  ", layer.get_output(0).is_network_output, x.is_network_input, x.is_execution_tensor)


@program
def profiles():
    builder, network = new()
    inputs(network, (-1, 3))
    profile = builder.create_optimization_profile()
    profile.set_shape("x0", (1, 3), (2, 3), (4, 3))
    print("  ", [tuple(each) for each in profile.get_shape("x0")], bool(profile))
    config = builder.create_builder_config()
    print("  ", config.add_optimization_profile(profile), config.num_optimization_profiles)
    wrong = builder.create_optimization_profile()
    attempt(lambda: wrong.set_shape("x0", (4, 3), (2, 3), (1, 3)))
    print("  ", profile.extra_memory_target, [tuple(each) for each in profile.get_shape("other")])


@program
def flags():
    builder, network = new()
    config = builder.create_builder_config()
    print("  ", config.get_flag(trt.BuilderFlag.TF32), config.get_flag(trt.BuilderFlag.REFIT))
    config.set_flag(trt.BuilderFlag.REFIT)
    config.clear_flag(trt.BuilderFlag.TF32)
    print("  ", config.get_flag(trt.BuilderFlag.TF32), config.get_flag(trt.BuilderFlag.REFIT))
    print("  ", network.get_flag(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    print("  ", config.builder_optimization_level, config.num_optimization_profiles)


@program
def wrong_arguments():
    _, network = new()
    (x,) = inputs(network, (2, 3))
    attempt(lambda: network.add_activation(x, 0))
    attempt(lambda: network.add_activation("x", trt.ActivationType.RELU))
    attempt(lambda: network.add_elementwise(x, None, trt.ElementWiseOperation.SUM))
    attempt(lambda: network.add_input("y", 3, (2,)))
    attempt(lambda: x.nothing)
    attempt(lambda: network.get_input(5))
    attempt(lambda: network.add_nothing(x))


@program
def wrong_shapes():
    _, network = new()
    x, y = inputs(network, (2, 3), (4, 5))
    layer = network.add_elementwise(x, y, trt.ElementWiseOperation.SUM)
    print("  ", layer is None or len(tuple(layer.get_output(0).shape)))
    LOGGER.errors = 0
    tell(network.add_input("x0", trt.float32, (2,)) and None)


@program
def parsed():
    _, network = new()
    parser = trt.OnnxParser(network, LOGGER)
    print("  ", parser.parse_from_file(os.path.join(FOLDER, "net.onnx")), parser.num_errors)
    for i in range(network.num_inputs):
        show(network.get_input(i))
    for i in range(network.num_outputs):
        show(network.get_output(i))
    print("  ", network.name)


@program
def parsed_types():
    _, network = new()
    parser = trt.OnnxParser(network, LOGGER)
    with open(os.path.join(FOLDER, "half.onnx"), "rb") as file:
        print("  ", parser.parse(file.read()), parser.num_errors)
    show(network.get_output(0))
    show(network.get_input(0))


@program
def parse_faults():
    _, network = new()
    parser = trt.OnnxParser(network, LOGGER)
    print("  ", parser.parse(b"no model"), parser.num_errors > 0)
    print("  ", parser.parse_from_file(os.path.join(FOLDER, "nothere.onnx")))
    parser.clear_errors()
    print("  ", parser.num_errors, parser.supports_operator("Relu"), parser.supports_operator("Nothing"))


@program
def validity():
    runtime = trt.Runtime(LOGGER)
    status, reasons = runtime.get_engine_validity(b"abc" * 100)
    print("  ", str(status).rpartition(".")[2], int(reasons), runtime.engine_header_size)


@program
def capabilities():
    config = trt.Builder(LOGGER).create_builder_config()
    print("  ", config.num_compute_capabilities)
    config.num_compute_capabilities = 2
    print("  ", config.set_compute_capability(trt.ComputeCapability.SM89, 0),
          config.set_compute_capability(trt.ComputeCapability.SM120, 1))
    print("  ", str(config.get_compute_capability(1)).rpartition(".")[2], config.num_compute_capabilities)
    print("  ", config.set_compute_capability(trt.ComputeCapability.NONE, 0))



@program
def quantisers_of_small_types():
    _, network = new()
    x, = inputs(network, (4, 32))
    for dtype in (trt.int8, trt.fp8, trt.int4, trt.fp4):
        codes = network.add_quantize(x, ones(network), dtype)
        tell(codes)
        tell(network.add_dequantize(codes.get_output(0), ones(network), trt.float32))
    blocks = network.add_quantize(x, ones(network, 4, 2), trt.fp4)
    blocks.block_shape = trt.Dims((1, 16))
    tell(blocks)
    print("  ", tuple(blocks.block_shape), blocks.axis)
    tell(network.add_dequantize(blocks.get_output(0), ones(network, 4, 2), trt.float32))


@program
def quantisers_whose_scales_a_run_makes():
    _, network = new()
    x, = inputs(network, (4, 32))
    layer = network.add_dynamic_quantize(x, 1, 16, trt.fp4, trt.fp8)
    layer.set_input(1, ones(network))
    tell(layer)
    print("  ", layer.axis, layer.block_size, tuple(layer.block_shape))
    scales = network.add_dequantize(layer.get_output(1), ones(network), trt.float32)
    tell(scales)
    tell(network.add_dequantize(layer.get_output(0), scales.get_output(0), trt.float32))


for each in PROGRAMS:
    LOGGER.errors = 0
    print(each.__name__)
    try:
        each()
    except Exception as error:
        print("   program raises", type(error).__name__)
