"""Mistakes are answered as TensorRT's package answers them: what is of a wrong type is a TypeError, the rest is told to the
logger (and the recorder), and the answer is None, False or -1."""

import assay.tensorrt as trt
import checks
import numpy as np
from onnx import helper


class Log(trt.ILogger):
    def __init__(self):
        super().__init__()
        self.told = []

    def log(self, severity, msg):
        if severity.value <= trt.Logger.ERROR.value:
            self.told.append(msg)


class Recorder(trt.IErrorRecorder):
    def __init__(self):
        super().__init__()
        self.errors = []

    def report_error(self, code, description):
        self.errors.append((code, description))


def start():
    log = Log()
    network = trt.Builder(log).create_network()
    x = network.add_input("x", trt.float32, (1, 4, 8, 8))
    return log, network, x


def answers(log, call, expected, word):
    """The call gives that, and tells the logger of it once or more."""
    before = len(log.told)
    assert call() == expected, word
    assert len(log.told) > before and word in " ".join(log.told[before:]), (word, log.told[before:])


def test_wrong_types_are_refused():
    log, network, x = start()
    network.add_input("i", trt.int32, (2,))
    kernel = np.ones((4, 4, 3, 3), np.float32)
    max_pooling = trt.PoolingType.MAX
    wrong = [lambda: network.add_input("z", 0, (1,)), lambda: network.add_input("z", np.float32, (1,)),
             lambda: network.add_input("z", trt.float32, (1,) * 9), lambda: network.add_input(3, trt.float32, (1,)),
             lambda: network.add_identity(None), lambda: network.add_identity("x"), lambda: network.add_activation(x, 0),
             lambda: network.add_activation(x), lambda: network.add_activation(x, trt.PoolingType.MAX),
             lambda: network.add_convolution_nd(x, 4, (3, 3), None), lambda: network.add_convolution_nd(x, 4.5, (3, 3), kernel),
             lambda: network.add_convolution_nd(x, 4, 3, kernel), lambda: network.add_pooling_nd(x, max_pooling, 2),
             lambda: network.add_constant((2,), [1, 2]), lambda: network.add_constant((2,), np.ones(2, np.float64)),
             lambda: network.add_concatenation(x), lambda: network.add_gather(x, x, 1.0), lambda: network.add_cast(x, 3),
             lambda: network.mark_output(None), lambda: network.mark_output("x")]
    for call in wrong:
        with checks.raises(TypeError, "incompatible function arguments"):
            call()
    layer = network.add_shuffle(x)
    for name, value in (("zero_is_placeholder", "x"), ("reshape_dims", 3), ("first_transpose", "ab"), ("name", 3)):
        with checks.raises(TypeError, "incompatible function arguments"):
            setattr(layer, name, value)
    with checks.raises(TypeError):
        layer.set_input(0, None)
    with checks.raises(AttributeError, "foo"):
        layer.foo = 1
    config = trt.Builder(log).create_builder_config()
    for call in (lambda: config.set_flag(3), lambda: config.set_memory_pool_limit(0, 1), lambda: config.get_flag("FP16")):
        with checks.raises(TypeError):
            call()
    for name, value in (("builder_optimization_level", "x"), ("profiling_verbosity", 1), ("max_aux_streams", None)):
        with checks.raises(TypeError):
            setattr(config, name, value)
    assert network.num_layers == 1 and network.num_inputs == 2 and not log.told


def test_what_cannot_be_added_is_none():
    log, network, x = start()
    other = trt.Builder(log).create_network()
    answers(log, lambda: network.add_input("x", trt.float32, (1,)), None, "`x` already")
    answers(log, lambda: network.add_input("z", trt.float32, (-2,)), None, "(-2,)")
    answers(log, lambda: other.add_identity(x), None, "another network")
    answers(log, lambda: network.add_concatenation([]), None, "no inputs")
    answers(log, lambda: network.add_concatenation([x, None]), None, "None")
    answers(log, lambda: network.add_pooling_nd(x, trt.PoolingType.MAX, (0, 2)), None, "(0, 2)")
    assert network.num_layers == other.num_layers == 0 and network.num_inputs == 1
    recorder = network.error_recorder = Recorder()
    network.add_concatenation([])
    assert recorder.errors and network.add_identity(x).get_output(0).name == "(Unnamed Layer* 0) [Identity]_output"


def test_outputs_and_names():
    log, network, x = start()
    first, second = network.add_identity(x), network.add_identity(x)
    network.mark_output(first.get_output(0))
    answers(log, lambda: network.mark_output(first.get_output(0)), None, "output already")
    answers(log, lambda: network.mark_output(x), None, "is an input")
    answers(log, lambda: network.unmark_output(x), None, "is no output")
    assert network.num_outputs == 1
    for call, word in ((lambda: network.get_layer(9), "layers"), (lambda: network.get_input(9), "inputs"),
                       (lambda: network.get_output(-1), "outputs"), (lambda: first.get_output(5), "outputs")):
        answers(log, call, None, word)
    assert first.get_input(5) is None and network[-1] == second
    with checks.raises(IndexError):
        network[9]
    answers(log, lambda: setattr(second, "name", first.name), None, "not renamed")
    answers(log, lambda: setattr(first.get_output(0), "name", "x"), None, "not renamed")
    assert second.name == "(Unnamed Layer* 1) [Identity]" and first.get_output(0).name.endswith("[Identity]_output")
    answers(log, lambda: network.remove_tensor(x), None, "reads it")
    answers(log, lambda: network.add_shuffle(x).set_input(5, x), None, "no input of the number 5")


def test_shapes_that_cannot_be_told():
    log, network, x = start()
    layer = network.add_elementwise(x, network.add_input("y", trt.float32, (2, 5)), trt.ElementWiseOperation.SUM)
    with checks.raises(RuntimeError, "Could not get tensor shape"):
        layer.get_output(0).shape
    assert log.told and network.num_layers == 1


def test_profiles():
    log = Log()
    builder = trt.Builder(log)
    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    assert profile and profile.get_shape("x") == [] and config.add_optimization_profile(profile) == 0
    profile.set_shape("x", (3,), (2,), (1,))
    assert profile.get_shape("x") == [(3,), (2,), (1,)]
    answers(log, lambda: bool(profile), False, "not valid")
    answers(log, lambda: config.add_optimization_profile(profile), -1, "not added")
    assert config.num_optimization_profiles == 1
    ranks = builder.create_optimization_profile()
    ranks.set_shape("x", (3,), (2, 2), (1,))
    assert not ranks
    with checks.raises(RuntimeError, "Shape provided for min is inconsistent"):
        ranks.set_shape("y", (-3,), (2,), (4,))
    with checks.raises(RuntimeError, "opt input provided"):
        ranks.set_shape_input("v", (3,), (2,), (1,))
    answers(log, lambda: setattr(ranks, "extra_memory_target", 2.0), None, "extra memory target")
    assert ranks.extra_memory_target == 1
    with checks.raises(TypeError):
        config.add_optimization_profile(None)


def test_profiles_that_do_not_fit_are_told_by_the_build():
    log, network, x = start()
    network.mark_output(network.add_identity(x).get_output(0))
    config, profile = network.builder.create_builder_config(), network.builder.create_optimization_profile()
    profile.set_shape("x", (1, 2, 1, 1), (1, 2, 2, 2), (1, 2, 4, 4))
    assert config.add_optimization_profile(profile) == 0
    answers(log, lambda: network.builder.build_serialized_network(network, config), None, "does not fit")


def test_devices_and_formats_that_are_not_there():
    log, network, x = start()
    y = network.add_identity(x).get_output(0)
    network.mark_output(y)
    builder = network.builder
    config = builder.create_builder_config()
    config.default_device_type, config.DLA_core = trt.DeviceType.DLA, 0
    assert config.DLA_core == -1 and config.default_device_type == trt.DeviceType.DLA
    answers(log, lambda: builder.build_serialized_network(network, config), None, "no DLA")
    config.set_flag(trt.BuilderFlag.GPU_FALLBACK)
    assert builder.build_serialized_network(network, config)
    y.allowed_formats = 1 << int(trt.TensorFormat.CHW32)
    answers(log, lambda: builder.build_serialized_network(network, config), None, "CHW32")


def test_tensors_of_engines_that_are_not_there():
    log, network, x = start()
    network.mark_output(network.add_identity(x).get_output(0))
    builder = network.builder
    engine = trt.Runtime(log).deserialize_cuda_engine(builder.build_serialized_network(network, builder.create_builder_config()))
    context = engine.create_execution_context()
    for call, expected in ((lambda: engine.get_tensor_shape("z"), None), (lambda: engine.get_tensor_dtype("z"), trt.float32),
                           (lambda: engine.get_tensor_mode("z"), trt.TensorIOMode.NONE),
                           (lambda: engine.get_tensor_location("z"), trt.TensorLocation.DEVICE),
                           (lambda: engine.is_shape_inference_io("z"), False), (lambda: context.get_tensor_shape("z"), None),
                           (lambda: context.set_input_shape("z", (1,)), False),
                           (lambda: context.set_tensor_address("z", 1 << 20), False),
                           (lambda: context.set_output_allocator("z", None), False)):
        answers(log, call, expected, "`z`")
    answers(log, lambda: engine.get_tensor_name(9), None, "number 9")
    answers(log, lambda: engine.get_tensor_profile_shape("x", 3), [None] * 3, "number 3")
    answers(log, lambda: context.set_input_shape("x", (2, 4, 8, 8)), False, "(2, 4, 8, 8)")
    assert not context.set_output_allocator("x", None) and context.get_tensor_address("z") == 0
    with checks.raises(TypeError, "incompatible function arguments"):
        engine.get_tensor_shape(0)
    with checks.raises(RuntimeError, "optimization profile"):
        context.set_optimization_profile_async(3, 0)
    with checks.raises(TypeError):
        trt.Runtime(log).deserialize_cuda_engine(None)
    answers(log, lambda: trt.Runtime(log).deserialize_cuda_engine(b"junk"), None, "plan")


def test_parsers():
    log, network, _ = start()
    parser = trt.OnnxParser(network, log)
    assert not parser.parse(b"junk") and parser.num_errors == 1
    assert parser.get_error(0).code() == trt.ErrorCode.MODEL_DESERIALIZE_FAILED
    answers(log, lambda: parser.get_error(9), None, "errors")
    assert not parser.parse_from_file("nothere.onnx") and parser.num_errors == 2
    assert parser.get_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM) and parser.flags == 1


def test_parsers_name_layers_after_nodes():
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Relu", ["r"], ["s"], name="again"),
             helper.make_node("Neg", ["s"], ["t"], name="again"), helper.make_node("Exp", ["t"], ["y"])]
    model = checks.model(nodes, [("x", 1, [2])], [("y", 1, [2])]).SerializeToString()
    network = trt.Builder(None).create_network()
    assert trt.OnnxParser(network, None).parse(model)
    assert [each.name for each in network] == ["node_of_r", "again", "again_0", "node_of_y"]
    assert network[0].metadata == "[ONNX Layer: node_of_r]" and network[2].metadata == "[ONNX Layer: again]"
    assert [str(each.type)[10:] for each in network] == ["ACTIVATION", "ACTIVATION", "UNARY", "UNARY"]


def test_layers_of_parsed_models_tell_their_attributes():
    from onnx import numpy_helper

    kernel = np.arange(12, dtype=np.float32).reshape(4, 3, 1, 1)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], strides=[2, 1], group=1),
             helper.make_node("LeakyRelu", ["c"], ["r"], alpha=0.5),
             helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2]),
             helper.make_node("ReduceMean", ["p"], ["m"], keepdims=0, axes=[2]),
             helper.make_node("Softmax", ["m"], ["s"], axis=-1), helper.make_node("Concat", ["s", "s"], ["y"], axis=1)]
    model = checks.model(nodes, [("x", 1, [1, 3, 8, 8])], [("y", 1, None)], [numpy_helper.from_array(kernel, "w")])
    network = trt.Builder(None).create_network()
    assert trt.OnnxParser(network, None).parse(model.SerializeToString())
    kinds = [trt.IConvolutionLayer, trt.IActivationLayer, trt.IPoolingLayer, trt.IReduceLayer, trt.ISoftMaxLayer,
             trt.IConcatenationLayer]
    layers = list(network)
    for layer, kind in zip(layers, kinds):
        layer.__class__ = kind
    conv, relu, pool, mean, softmax, concat = layers
    assert (conv.num_output_maps, conv.kernel_size_nd, conv.stride_nd, conv.padding_nd) == (4, (1, 1), (2, 1), (0, 0))
    assert np.array_equal(conv.kernel, kernel.reshape(-1)) and conv.bias.size == 0
    assert (relu.type, relu.alpha) == (trt.ActivationType.LEAKY_RELU, 0.5)
    assert (pool.type, pool.window_size_nd, pool.stride_nd) == (trt.PoolingType.MAX, (2, 2), (1, 1))
    assert (mean.op, mean.axes, mean.keep_dims) == (trt.ReduceOperation.AVG, 4, False)
    assert (softmax.axes, concat.axis) == (4, 1)
    with checks.raises(Exception, "cannot be changed"):
        conv.stride_nd = (1, 1)
    assert conv.stride_nd == (2, 1)


if __name__ == "__main__":
    checks.run_all(globals())
