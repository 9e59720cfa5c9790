"""assay.tensorrt: layers compute what numpy and ONNX Runtime do, in plans of both generations of the interface."""

import json
import os
import subprocess

import assay.tensorrt as trt
import checks
import numpy as np
import onnx
import onnxruntime
from assay import cuda
from assay.backend.trt import (Profile, TacticRecorder, TacticReplayData, TacticReplayer, TrtRunner, create_config,
                               engine_bytes_from_network, engine_from_network, modify_network_outputs,
                               network_from_onnx_bytes, network_from_onnx_path, onnx_like_from_network)
from assay.exception import PolygraphyException
from onnx import TensorProto, helper, numpy_helper

LOGGER = trt.Logger(trt.Logger.INTERNAL_ERROR)
RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def start(*inputs):
    """A builder, a network, and its inputs for arrays."""
    builder = trt.Builder(LOGGER)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    types = {np.dtype(np.float32): trt.float32, np.dtype(np.int32): trt.int32, np.dtype(np.bool_): trt.bool}
    tensors = [network.add_input(f"x{i}", types[each.dtype], each.shape) for i, each in enumerate(inputs)]
    return builder, network, tensors


def computed(draw, *inputs):
    """The outputs of the last layer of what `draw(network, *tensors)` draws."""
    builder, network, tensors = start(*inputs)
    layer = draw(network, *tensors)
    for i in range(layer.num_outputs):
        network.mark_output(layer.get_output(i))
        assert len(layer.get_output(i).shape) >= 0
    plan = builder._build(network, builder.create_builder_config())
    with TrtRunner(trt.Runtime(LOGGER).deserialize_cuda_engine(plan)) as runner:
        return list(runner.infer({f"x{i}": each for i, each in enumerate(inputs)}).values())


def check(draw, expected, *inputs, rtol=1e-5):
    found = computed(draw, *inputs)[0]
    assert found.shape == np.shape(expected), (found.shape, np.shape(expected))
    assert np.allclose(found, expected, rtol=rtol, atol=1e-5)


def test_elementwise_and_unary_layers():
    a, b = floats(2, 3), np.abs(floats(2, 3)) + 1
    ops = {"SUM": np.add, "PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum, "SUB": np.subtract,
           "DIV": np.divide, "FLOOR_DIV": np.floor_divide, "GREATER": np.greater, "LESS": np.less, "EQUAL": np.equal}
    for name, function in ops.items():
        check(lambda n, x, y, name=name: n.add_elementwise(x, y, trt.ElementWiseOperation[name]), function(a, b), a, b)
    check(lambda n, x, y: n.add_elementwise(x, y, op=trt.ElementWiseOperation.POW), b ** a, b, a, rtol=1e-4)
    p, q = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    check(lambda n, x, y: n.add_elementwise(x, y, trt.ElementWiseOperation.FLOOR_DIV), p // q, p, q)
    unary = {"EXP": np.exp, "SQRT": np.sqrt, "ABS": np.abs, "NEG": np.negative, "RECIP": np.reciprocal, "SIN": np.sin,
             "FLOOR": np.floor, "CEIL": np.ceil, "SIGN": np.sign, "LOG": np.log, "ATAN": np.arctan}
    for name, function in unary.items():
        check(lambda n, x, name=name: n.add_unary(x, trt.UnaryOperation[name]), function(b), b)


def test_activations():
    x = floats(3, 4)

    def with_numbers(name, alpha=0.0, beta=0.0):
        def draw(network, tensor):
            layer = network.add_activation(tensor, trt.ActivationType[name])
            layer.alpha, layer.beta = alpha, beta
            return layer

        return draw

    check(with_numbers("RELU"), np.maximum(x, 0), x)
    check(with_numbers("SIGMOID"), 1 / (1 + np.exp(-x)), x)
    check(with_numbers("LEAKY_RELU", 0.1), np.where(x < 0, 0.1 * x, x), x)
    check(with_numbers("CLIP", -0.5, 0.5), np.clip(x, -0.5, 0.5), x)
    check(with_numbers("SCALED_TANH", 2, 3), 2 * np.tanh(3 * x), x)
    check(with_numbers("SOFTPLUS", 2, 3), 2 * np.log1p(np.exp(3 * x)), x)
    check(with_numbers("GELU_TANH"), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), x)


def apart(layer, distance):
    """The layer, whose windows are so many elements apart."""
    layer.stride_nd = (distance, distance)
    return layer


def test_convolutions_and_pooling():
    x, kernel, bias = floats(1, 4, 9, 9), floats(6, 2, 3, 3), floats(6)
    node = helper.make_node("Conv", ["x", "k", "b"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1], group=2)
    model = checks.model([node], [("x", 1, list(x.shape))], [("y", 1, None)],
                         [numpy_helper.from_array(kernel, "k"), numpy_helper.from_array(bias, "b")])
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]

    def draw(network, tensor):
        layer = network.add_convolution_nd(tensor, 6, (3, 3), trt.Weights(kernel), bias)
        layer.stride_nd, layer.padding_nd, layer.num_groups = (2, 2), (1, 1), 2
        return layer

    check(draw, expected, x, rtol=1e-4)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::3, ::3]
    check(lambda n, t: apart(n.add_pooling_nd(t, trt.PoolingType.MAX, (3, 3)), 3), windows.max((4, 5)), x)
    check(lambda n, t: apart(n.add_pooling(t, trt.PoolingType.AVERAGE, (3, 3)), 3), windows.mean((4, 5)), x)
    each = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    check(lambda n, t: n.add_pooling_nd(t, trt.PoolingType.MAX, (3, 3)), each.max((4, 5)), x)

    def blend(network, tensor):
        layer = network.add_pooling_nd(tensor, trt.PoolingType.MAX_AVERAGE_BLEND, (3, 3))
        layer.blend_factor = 0.25
        return layer

    check(blend, 0.75 * each.max((4, 5)) + 0.25 * each.mean((4, 5)), x)
    matrix = floats(5, 4 * 81)
    check(lambda n, t: n.add_fully_connected(t, 5, matrix, bias[:5]),
          (x.reshape(1, -1) @ matrix.T + bias[:5]).reshape(1, 5, 1, 1), x, rtol=1e-4)


def test_shapes():
    x = floats(2, 3, 4)

    def shuffled(network, tensor):
        layer = network.add_shuffle(tensor)
        layer.first_transpose, layer.reshape_dims, layer.second_transpose = (2, 0, 1), (4, -1), (1, 0)
        return layer

    check(shuffled, x.transpose(2, 0, 1).reshape(4, 6).T, x)
    check(lambda n, t: n.add_slice(t, (0, 1, 0), (2, 2, 2), (1, 1, 2)), x[:, 1:3, ::2], x)
    check(lambda n, t: n.add_slice(t, (1, 2, 3), (2, 2, 4), (-1, -1, -1)), x[::-1, 2:0:-1, ::-1], x)
    check(lambda n, t: n.add_shape(t), [2, 3, 4], x)
    check(lambda n, t: n.add_concatenation([t, t]), np.concatenate([x, x]), x)
    check(lambda n, t: n.add_gather(t, n.add_constant((2,), np.array([2, 0], np.int32)).get_output(0), 1), x[:, [2, 0]], x)
    check(lambda n, t: n.add_padding_nd(t, (1, 0), (0, 2)), np.pad(x, ((0, 0), (1, 0), (0, 2))), x)
    check(lambda n, t: n.add_reduce(t, trt.ReduceOperation.SUM, 1 << 1, True), x.sum(1, keepdims=True), x, rtol=1e-4)
    check(lambda n, t: n.add_reduce(t, op=trt.ReduceOperation.AVG, axes=0b110, keep_dims=False), x.mean((1, 2)), x)
    values, places = computed(lambda n, t: n.add_topk(t, trt.TopKOperation.MAX, 2, 1 << 2), x)
    assert np.array_equal(values, -np.sort(-x)[..., :2]) and places.dtype == np.int32
    softmax = np.exp(x) / np.exp(x).sum(0)

    def along_first(network, tensor):
        layer = network.add_softmax(tensor)
        layer.axes = 1 << 0
        return layer

    check(along_first, softmax, x)
    check(lambda n, t: n.add_einsum([t], "abc->ca"), np.einsum("abc->ca", x), x, rtol=1e-4)


def test_products_and_others():
    a, b, v = floats(2, 3, 4), floats(2, 5, 4), floats(2, 4)
    none, turned, vector = trt.MatrixOperation.NONE, trt.MatrixOperation.TRANSPOSE, trt.MatrixOperation.VECTOR
    check(lambda n, x, y: n.add_matrix_multiply(x, none, y, turned), a @ b.transpose(0, 2, 1), a, b, rtol=1e-4)
    check(lambda n, x, y: n.add_matrix_multiply(x, none, y, vector), np.einsum("abc,ac->ab", a, v), a, v, rtol=1e-4)
    check(lambda n, x, y, z: n.add_select(x, y, z), np.where(a > 0, a, -a), a > 0, a, -a)
    check(lambda n, t: n.add_cast(t, trt.int32), a.astype(np.int32), a)
    scale, shift = floats(3), floats(3)
    check(lambda n, t: n.add_scale(t, trt.ScaleMode.CHANNEL, shift, scale, None),
          a * scale[:, None] + shift[:, None], a)
    ones, zeros = np.ones((1, 1, 4), np.float32), np.zeros((1, 1, 4), np.float32)

    def normalised(network, tensor):
        constants = [network.add_constant(each.shape, each).get_output(0) for each in (ones, zeros)]
        return network.add_normalization(tensor, *constants, 1 << 2)

    centred = a - a.mean(2, keepdims=True)
    check(normalised, centred / np.sqrt((centred ** 2).mean(2, keepdims=True) + 1e-5), a, rtol=1e-4)
    filled = computed(lambda n, t: n.add_elementwise(t, n.add_fill((3,), trt.FillOperation.LINSPACE).get_output(0),
                                                     trt.ElementWiseOperation.SUM), np.zeros(3, np.float32))
    assert filled[0].tolist() == [0, 1, 2]


def dynamic():
    weight = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "w")
    return checks.model([helper.make_node("MatMul", ["x", "w"], ["m"], name="mul"),
                         helper.make_node("Relu", ["m"], ["y"], name="relu")],
                        [("x", 1, ["N", 3])], [("y", 1, ["N", 4])], [weight])


def test_layers_may_ask_for_shapes_that_are_computed():
    x, factors = floats(2, 3, 4, 4), floats(3)

    def draw(network, tensor):
        positive = network.add_activation(tensor, trt.ActivationType.RELU).get_output(0)
        scaled = network.add_scale(positive, trt.ScaleMode.CHANNEL, None, factors, None).get_output(0)
        return network.add_scale(scaled, trt.ScaleMode.CHANNEL, factors, None, None)

    check(draw, np.maximum(x, 0) * factors.reshape(3, 1, 1) + factors.reshape(3, 1, 1), x)
    constant = start()[1].add_constant((3,), factors).get_output(0)
    assert tuple(constant.shape) == (3,) and constant.dtype == trt.float32


def scalar(network, value, dtype):
    return network.add_constant((), np.array(value, dtype)).get_output(0)


def test_loops_that_count():
    x = floats(4, 3)

    def sums(network, tensor):
        loop = network.add_loop()
        loop.add_trip_limit(scalar(network, 4, np.int32), trt.TripLimit.COUNT)
        row = loop.add_iterator(tensor).get_output(0)
        state = loop.add_recurrence(network.add_constant((3,), np.zeros(3, np.float32)).get_output(0))
        total = network.add_elementwise(state.get_output(0), row, trt.ElementWiseOperation.SUM).get_output(0)
        assert tuple(total.shape) == (3,)
        state.set_input(1, total)
        return loop.add_loop_output(total, trt.LoopOutput.CONCATENATE)

    def products(network, tensor):
        outer, inner = network.add_loop(), network.add_loop()
        outer.add_trip_limit(scalar(network, 4, np.int32), trt.TripLimit.COUNT)
        row = outer.add_iterator(tensor, 0, True).get_output(0)
        inner.add_trip_limit(scalar(network, 3, np.int32), trt.TripLimit.COUNT)
        state = inner.add_recurrence(scalar(network, 1, np.float32))
        element = inner.add_iterator(row).get_output(0)
        state.set_input(1, network.add_elementwise(state.get_output(0), element, trt.ElementWiseOperation.PROD).get_output(0))
        product = network.add_shuffle(inner.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0))
        product.reshape_dims = (1,)
        total = network.add_elementwise(row, product.get_output(0), trt.ElementWiseOperation.SUM).get_output(0)
        return outer.add_loop_output(total, trt.LoopOutput.CONCATENATE, 1)

    check(sums, np.cumsum(x, 0), x)
    check(products, (x + x.prod(1, keepdims=True))[::-1].T, x)


def test_loops_while_a_condition_holds():
    def doubled(kind):
        def draw(network, tensor):
            loop = network.add_loop()
            state = loop.add_recurrence(tensor)
            limit = network.add_constant((1,), np.array([100], np.float32)).get_output(0)
            small = network.add_elementwise(state.get_output(0), limit, trt.ElementWiseOperation.LESS).get_output(0)
            loop.add_trip_limit(small, trt.TripLimit.WHILE)
            twice = network.add_elementwise(state.get_output(0), state.get_output(0), trt.ElementWiseOperation.SUM)
            state.set_input(1, twice.get_output(0))
            return loop.add_loop_output(state.get_output(0), kind)
        return draw

    x = np.array([3], np.float32)
    check(doubled(trt.LoopOutput.LAST_VALUE), np.array([192], np.float32), x)
    check(doubled(trt.LoopOutput.REVERSE), np.array([[96], [48], [24], [12], [6], [3]], np.float32), x)
    check(doubled(trt.LoopOutput.CONCATENATE), np.zeros((0, 1), np.float32), x * 100)


def test_conditions():
    def draw(network, tensor, condition):
        conditional = network.add_if_conditional()
        conditional.set_condition(condition)
        inner = conditional.add_input(tensor).get_output(0)
        two = network.add_constant((1, 1), np.full((1, 1), 2, np.float32)).get_output(0)
        product = network.add_elementwise(inner, two, trt.ElementWiseOperation.PROD).get_output(0)
        positive = network.add_activation(product, trt.ActivationType.RELU).get_output(0)
        less = network.add_elementwise(positive, two, trt.ElementWiseOperation.SUB).get_output(0)
        return conditional.add_output(positive, less)

    x = floats(2, 3)
    for is_true in (True, False):
        check(draw, np.maximum(2 * x, 0) - (0 if is_true else 2), x, np.array(is_true))


def test_loops_and_conditions_that_are_not_whole_are_refused():
    builder, network, (x,) = start(floats(2))
    loop = network.add_loop()
    state = loop.add_recurrence(x)
    network.mark_output(loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0))
    with checks.raises(PolygraphyException, "trip limit"):
        builder._build(network, builder.create_builder_config())
    loop.add_trip_limit(scalar(network, 2, np.int32), trt.TripLimit.COUNT)
    with checks.raises(PolygraphyException, "next value"):
        builder._build(network, builder.create_builder_config())
    assert loop.add_trip_limit(scalar(network, 2, np.int32), trt.TripLimit.COUNT) is None
    network.add_if_conditional()
    state.set_input(1, x)
    with checks.raises(PolygraphyException, "no condition"):
        builder._build(network, builder.create_builder_config())


class Recorder(trt.IErrorRecorder):
    def __init__(self):
        super().__init__()
        self.errors = []

    def report_error(self, code, description):
        self.errors.append((code, description))


def convolution(kernel, bias):
    """The bytes of a model of one convolution."""
    model = checks.model([helper.make_node("Conv", ["x0", "k", "b"], ["y"], name="conv")], [("x0", 1, [1, 30, 5, 5])],
                         [("y", 1, [1, 40, 3, 3])], [numpy_helper.from_array(kernel, "k"), numpy_helper.from_array(bias, "b")])
    return model.SerializeToString()


def reference(kernel, bias, x):
    return onnxruntime.InferenceSession(convolution(kernel, bias)).run(None, {"x0": x})[0]


def test_weights_of_engines_are_replaced():
    x, kernel, bias = floats(1, 30, 5, 5), floats(40, 30, 3, 3), floats(40)
    builder, network, (tensor,) = start(x)
    builder.error_recorder = recorder = Recorder()
    layer = network.add_convolution_nd(tensor, 40, (3, 3), kernel, bias)
    layer.name = "conv"
    assert network.set_weights_name(bias, "the bias")
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    with checks.raises(PolygraphyException, "REFIT"):
        trt.Refitter(builder.build_engine(network, config), LOGGER)
    config.set_flag(trt.BuilderFlag.REFIT)
    engine = builder.build_engine(network, config)
    context = engine.create_execution_context()

    def agrees(kernel, bias):
        found = next(iter(context.infer({"x0": x}).values()))
        return np.allclose(found, reference(kernel, bias, x), rtol=1e-4, atol=1e-4)

    assert engine.refittable and agrees(kernel, bias)
    refitter = trt.Refitter(engine, LOGGER)
    assert refitter.get_all() == (["conv", "conv"], [trt.WeightsRole.KERNEL, trt.WeightsRole.BIAS])
    assert refitter.get_all_weights() == ["conv KERNEL", "the bias"] and refitter.get_missing() == ([], [])
    assert refitter.get_weights_prototype("the bias").size == 40
    assert refitter.set_weights("conv", trt.WeightsRole.KERNEL, -kernel) and refitter.refit_cuda_engine()
    assert agrees(-kernel, bias)
    assert refitter.set_named_weights("the bias", trt.Weights(2 * bias)) and refitter.refit_cuda_engine()
    assert agrees(-kernel, 2 * bias)
    assert not refitter.set_named_weights("the bias", bias[1:]) and not refitter.set_named_weights("none", bias)
    assert not refitter.set_weights("conv", trt.WeightsRole.SHIFT, bias)
    assert [code for code, _ in recorder.errors] == [trt.ErrorCodeTRT.INVALID_ARGUMENT] * 3
    assert "39 of float32" in recorder.errors[0][1]


def test_weights_of_stripped_engines_come_from_models():
    x, kernel, bias = floats(1, 30, 5, 5), floats(40, 30, 3, 3), floats(40)
    builder, network, _ = start()
    assert trt.OnnxParser(network, LOGGER).parse(convolution(kernel, bias))
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.STRIP_PLAN)
    engine = builder.build_engine(network, config)
    assert engine.create_execution_context() is None and tuple(engine.get_tensor_shape("y")) == (1, 40, 3, 3)
    refitter = trt.Refitter(engine, LOGGER)
    assert refitter.get_missing() == (["conv"], [trt.WeightsRole.KERNEL])
    assert not refitter.refit_cuda_engine()
    parser = trt.OnnxParserRefitter(refitter, LOGGER)
    assert not parser.refit_from_bytes(b"no model") and parser.num_errors == 1
    onnx.save(onnx.load_from_string(convolution(2 * kernel, bias)), "other.onnx")
    assert parser.refit_from_file("other.onnx") and refitter.refit_cuda_engine()
    found = engine.create_execution_context().infer({"x0": x})["y"]
    assert np.allclose(found, reference(2 * kernel, bias, x), rtol=1e-4, atol=1e-4)


def test_plans_of_the_program_are_refitted():
    x, kernel, bias = floats(1, 30, 5, 5), floats(40, 30, 3, 3), floats(40)
    onnx.save(onnx.load_from_string(convolution(kernel, bias)), "conv.onnx")
    for words in ([], ["--refittable"], ["--strip-plan"]):
        subprocess.run([os.environ["ASSAY"], "convert", "conv.onnx", *words, "-o", "conv.engine", "--force", "-q"], check=True)
        engine = trt.Runtime(LOGGER).deserialize_cuda_engine(open("conv.engine", "rb").read())
        assert engine.refittable == bool(words)
        if not words:
            continue
        refitter = trt.Refitter(engine, LOGGER)
        assert refitter.get_all() == (["conv", "conv"], [trt.WeightsRole.KERNEL, trt.WeightsRole.BIAS])
        assert refitter.set_weights("conv", trt.WeightsRole.KERNEL, -kernel)
        assert refitter.set_weights("conv", trt.WeightsRole.BIAS, 2 * bias) and refitter.refit_cuda_engine()
        found = engine.create_execution_context().infer({"x0": x})["y"]
        assert np.allclose(found, reference(-kernel, 2 * bias, x), rtol=1e-4, atol=1e-4)


def test_layers_are_told_their_precision():
    x, kernel, bias = floats(1, 30, 5, 5), floats(40, 30, 3, 3), floats(40)

    def error(dtype, flag, kernel=kernel):
        builder, network, (tensor,) = start(x)
        builder.error_recorder = Recorder()
        layer = network.add_convolution_nd(tensor, 40, (3, 3), kernel, bias)
        layer.precision = dtype
        network.mark_output(layer.get_output(0))
        config = builder.create_builder_config()
        if flag is not None:
            config.set_flag(flag)
        engine = builder.build_engine(network, config)
        if engine is None:
            return builder.error_recorder.errors
        found = next(iter(engine.create_execution_context().infer({"x0": x}).values()))
        return np.abs(found - reference(kernel, bias, x)).max()

    flags = trt.BuilderFlag
    assert error(trt.bfloat16, None) < 1e-4
    assert 1e-3 < error(trt.bfloat16, flags.PREFER_PRECISION_CONSTRAINTS) < 1
    assert 1e-3 < error(trt.bfloat16, flags.OBEY_PRECISION_CONSTRAINTS) < 1
    assert error(trt.float16, flags.PREFER_PRECISION_CONSTRAINTS) < 1e-4
    assert 1e-3 < error(trt.float16, flags.OBEY_PRECISION_CONSTRAINTS) < 0.1
    (code, text), = error(trt.float16, flags.OBEY_PRECISION_CONSTRAINTS, 1e6 * kernel)
    assert code == trt.ErrorCodeTRT.UNSUPPORTED_STATE and "float16" in text


def test_builds_are_watched():
    seen = []

    class Monitor(trt.IProgressMonitor):
        def phase_start(self, phase_name, parent_phase, num_steps):
            seen.append((phase_name, parent_phase, num_steps))

        def step_complete(self, phase_name, step):
            seen.append(step)
            return True

        def phase_finish(self, phase_name):
            seen.append(phase_name)

    builder, network, (x,) = start(floats(2))
    total = network.add_elementwise(x, x, trt.ElementWiseOperation.SUM).get_output(0)
    network.mark_output(network.add_einsum([total, total], "a,b->ab").get_output(0))
    config = builder.create_builder_config()
    config.progress_monitor = Monitor()
    whole, plan = "Building the engine", "Planning layers"
    assert builder.build_serialized_network(network, config)
    planned = next(event for event in seen if isinstance(event, tuple) and event[0] == plan)
    assert planned[1] == whole and planned[2] >= 2, planned
    layers = [planned, *range(planned[2]), plan]
    assert seen == [(whole, None, 3), 0, 1, *layers, 2, whole]
    Monitor.step_complete = lambda self, name, step: name == whole
    seen.clear()
    assert builder.build_serialized_network(network, config) is None
    assert seen == [(whole, None, 3), planned, plan, whole]
    Monitor.step_complete = lambda self, name, step: False
    assert builder.build_serialized_network(network, config) is None


def test_engines_by_names_of_tensors():
    onnx.save(dynamic(), "m.onnx")
    builder, network, parser = network_from_onnx_path("m.onnx")
    assert parser.num_errors == 0 and network.num_layers == 2 and network[0].name == "mul"
    assert [str(each.type) for each in network] == ["LayerType.MATRIX_MULTIPLY", "LayerType.ACTIVATION"]
    assert tuple(network.get_layer(0).get_output(0).shape) == (-1, 4)
    profile = Profile().add("x", min=(1, 3), opt=(2, 3), max=(8, 3))
    config = create_config(builder, network, profiles=[profile])
    engine = trt.Runtime(LOGGER).deserialize_cuda_engine(builder.build_serialized_network(network, config))
    assert engine.num_io_tensors == 2 and [engine.get_tensor_name(i) for i in range(2)] == ["x", "y"]
    assert engine.get_tensor_mode("x") == trt.TensorIOMode.INPUT and engine.get_tensor_dtype("y") == trt.float32
    assert engine.num_layers >= 1
    inspector = engine.create_engine_inspector()
    layers = json.loads(inspector.get_engine_information(trt.LayerInformationFormat.JSON))["Layers"]
    assert len(layers) == engine.num_layers and layers[0]["TacticName"]
    assert layers[0]["LayerType"].startswith("MatMul") and layers[0]["Inputs"][0]["Name"] == "x"
    assert layers[0]["Inputs"][0]["Dimensions"][1] == 3 and "float32" in layers[0]["Inputs"][0]["Format/Datatype"]
    context = engine.create_execution_context()
    x = floats(5, 3)
    assert context.set_input_shape("x", x.shape) and not context.set_input_shape("x", (9, 3))
    assert tuple(context.get_tensor_shape("y")) == (5, 4) and context.infer_shapes() == []
    memory = [cuda.DeviceArray(x.shape, x.dtype).copy_from(x), cuda.DeviceArray((5, 4), np.float32)]
    assert not context.execute_async_v3(0), "nothing has an address yet"
    for name, each in zip(("x", "y"), memory):
        context.set_tensor_address(name, each.ptr)
    assert context.execute_async_v3(0)
    expected = np.maximum(x @ np.arange(12, dtype=np.float32).reshape(3, 4), 0)
    assert np.allclose(memory[1].numpy(), expected, rtol=1e-5)
    assert not context.execute_v2([1, 2, 3]), "three addresses are no two"
    times = {}

    class Profiler(trt.IProfiler):
        def report_layer_time(self, layer_name, ms):
            times[layer_name] = ms

    context.profiler = Profiler()
    assert context.execute_async_v3(0) and times and all(each >= 0 for each in times.values())


def test_outputs_whose_sizes_data_decides():
    places = checks.model([helper.make_node("NonZero", ["x"], ["y"])], [("x", 1, [6])], [("y", 7, [1, "K"])])
    x = np.array([0, 1, 0, 2, 3, 0], np.float32)
    engine = engine_from_network(network_from_onnx_bytes(places.SerializeToString()))
    with TrtRunner(engine) as runner:
        assert runner.infer({"x": x})["y"].tolist() == [[1, 3, 4]]
    held = []

    class Allocator(trt.IOutputAllocator):
        def reallocate_output(self, tensor_name, memory, size, alignment):
            held.append(cuda.DeviceArray((size,), np.uint8))
            return held[-1].ptr

        def notify_shape(self, tensor_name, shape):
            self.shape = shape

    context, allocator = engine.create_execution_context(), Allocator()
    given = cuda.DeviceArray(x.shape, x.dtype).copy_from(x)
    context.set_tensor_address("x", given.ptr)
    context.set_output_allocator("y", allocator)
    assert context.execute_async_v3(0) and tuple(allocator.shape) == (1, 3)
    assert cuda.DeviceView(held[-1].ptr, (1, 3), np.int64).numpy().tolist() == [[1, 3, 4]]
    layers = []

    class Profiler(trt.IProfiler):
        def report_layer_time(self, layer_name, ms):
            layers.append(layer_name)

    context.profiler = Profiler()
    assert context.execute_async_v3(0) and len(layers) == 1


class Batches(trt.IInt8MinMaxCalibrator):
    """Four batches in memory of a device."""

    def __init__(self):
        super().__init__()
        self.left = [floats(2, 3) for _ in range(4)]
        self.memory = cuda.DeviceArray((2, 3), np.float32)
        self.cache = None

    def get_batch(self, names):
        if names != ["x"] or not self.left:
            return None
        return [self.memory.copy_from(self.left.pop()).ptr]

    def read_calibration_cache(self):
        return self.cache

    def write_calibration_cache(self, cache):
        self.cache = bytes(cache)


def quantised(calibrator):
    builder, network, _ = network_from_onnx_bytes(dynamic().SerializeToString())
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = calibrator
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (8, 3))
    config.add_optimization_profile(profile)
    config.set_calibration_profile(profile)
    return engine_from_network((builder, network), config)


def test_calibrators_decide_scales():
    calibrator = Batches()
    engine = quantised(calibrator)
    assert calibrator.left == [] and calibrator.cache and b"x" in calibrator.cache
    again = quantised(calibrator)
    x = np.clip(floats(2, 3), -1, 1)  # within what was seen
    expected = np.maximum(x @ np.arange(12, dtype=np.float32).reshape(3, 4), 0)
    results = []
    for each in (engine, again):
        with TrtRunner(each) as runner:
            results.append(runner.infer({"x": x})["y"])
    assert np.array_equal(*results) and np.allclose(results[0], expected, atol=0.6)
    assert not np.array_equal(results[0], expected), "nothing was rounded to 8 bits"


def test_tactics_and_timing_caches_repeat_a_build():
    load = network_from_onnx_bytes(checks.save_identity().SerializeToString())
    builder, network, _ = load
    recorded = TacticReplayData()
    config = create_config(builder, network, algorithm_selector=TacticRecorder(recorded))
    first = engine_bytes_from_network((builder, network), config)
    recorded.save("replay.json")
    config = create_config(builder, network, algorithm_selector=TacticReplayer("replay.json"))
    assert engine_bytes_from_network((builder, network), config) == first
    loaded = TacticReplayData.load("replay.json")
    assert list(loaded) == list(recorded)


def test_levels_say_whether_tactics_are_measured():
    weights = onnx.numpy_helper.from_array(np.ones((32, 32), np.float32), "w")
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [16, 32]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weights])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    sizes = {}
    for level, most in ((0, -1), (3, -1), (3, 1)):
        builder, network, _ = network_from_onnx_bytes(model)
        config = create_config(builder, network)
        config.builder_optimization_level, config.max_num_tactics = level, most
        config.set_timing_cache(config.create_timing_cache(b""), False)
        engine_bytes_from_network((builder, network), config)
        sizes[level, most] = len(bytes(config.get_timing_cache().serialize()))
    assert sizes[0, -1] == sizes[3, 1] < sizes[3, -1], sizes


def test_networks_can_be_changed():
    loaded = network_from_onnx_bytes(checks.save_identity().SerializeToString())
    builder, network, _ = loaded
    network.get_input(0).name = "given"
    modify_network_outputs(loaded, outputs=["y"])
    output = network.get_output(0)
    output.name = "result"
    with TrtRunner(engine_from_network(loaded)) as runner:
        assert list(runner.infer({"given": np.ones((1, 1, 2, 2), np.float32)})) == ["result"]
    assert [each.op_type for each in onnx_like_from_network(loaded).graph.node] == ["Identity"]
    assert network.num_inputs == network.num_outputs == 1


def test_plans_are_those_of_the_program():
    program = os.environ.get("ASSAY")
    if program is None:
        return
    onnx.save(dynamic(), "m.onnx")
    loaded = network_from_onnx_path("m.onnx")
    profile = Profile().add("x", min=(1, 3), opt=(2, 3), max=(8, 3))
    with open("m.engine", "wb") as file:
        file.write(engine_bytes_from_network(loaded, create_config(loaded[0], loaded[1], profiles=[profile])))
    found = subprocess.run([program, "run", "m.onnx", "--ref", "--trt-engine", "m.engine", "--input-shapes", "x:[2,3]"],
                           capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stdout + found.stderr


def test_wrong_use_gives_a_line_and_no_crash():
    told = []

    class Log(trt.ILogger):
        def log(self, severity, msg):
            told.append((severity, msg))

    builder = trt.Builder(Log())
    network = builder.create_network()
    assert builder.build_serialized_network(network, builder.create_builder_config()) is None
    assert "no outputs" in told[-1][1] and told[-1][0] == trt.Logger.ERROR
    x = network.add_input("x", trt.float32, (-1, 2))
    network.mark_output(network.add_identity(x).get_output(0))
    assert builder.build_serialized_network(network, builder.create_builder_config()) is None
    assert "profile" in told[-1][1]
    assert network.add_input("x", trt.float32, (1,)) is None and "`x` already" in told[-1][1]
    assert builder.create_network().add_identity(x) is None and "another network" in told[-1][1]
    with checks.raises(TypeError):
        network.add_identity("x")
    with checks.raises(AttributeError, "add_nothing"):
        network.add_nothing(x)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (3, 2), (2, 2), (1, 2))
    assert not profile and "ascend" in told[-1][1]
    assert trt.Runtime(Log()).deserialize_cuda_engine(b"no plan") is None and "plan" in told[-1][1]
    parser = trt.OnnxParser(builder.create_network(), Log())
    assert not parser.parse(b"no model") and parser.num_errors == 1 and parser.get_error(0).desc()
    assert not trt.OnnxParser(builder.create_network(), Log()).parse_from_file("nothere.onnx")
    engine = engine_from_network(network_from_onnx_bytes(checks.save_identity().SerializeToString()))
    with checks.raises(AttributeError, "create_execution_context"):
        engine.create_execute_context()
    assert engine.get_tensor_shape("z") is None and engine.get_tensor_mode("z") == trt.TensorIOMode.NONE
    with checks.raises(PolygraphyException, "profile"):
        TrtRunner(engine, optimization_profile=5).activate()
    with TrtRunner(engine) as runner, checks.raises(PolygraphyException, "(2, 2)"):
        runner.infer({"x": np.ones((2, 2), np.float32)})
    assert trt.init_libnvinfer_plugins(None, "") and trt.nptype(trt.float16) == np.float16 and trt.volume((2, 3)) == 6
    assert (str(trt.DataType.FLOAT), str(trt.LayerType.CONVOLUTION)) == ("DataType.FLOAT", "LayerType.CONVOLUTION")


def test_memory_stays_flat():
    x, k = floats(1, 3, 8, 8), floats(4, 3, 3, 3)

    def build_refit_and_run():
        builder, network, (tensor,) = start(x)
        convolution = network.add_convolution_nd(tensor, 4, (3, 3), k)
        network.mark_output(network.add_activation(convolution.get_output(0), trt.ActivationType.RELU).get_output(0))
        config = builder.create_builder_config()
        config.set_flag(trt.BuilderFlag.REFIT)
        engine = builder.build_engine(network, config)
        context = engine.create_execution_context()
        refitter = trt.Refitter(engine, LOGGER)
        assert refitter.set_weights(convolution.name, trt.WeightsRole.KERNEL, -k) and refitter.refit_cuda_engine()
        y = np.empty((1, 4, 6, 6), np.float32)
        assert context.execute_v2([x.ctypes.data, y.ctypes.data]) and y.max() > 0

    checks.stays_flat(build_refit_and_run)


if __name__ == "__main__":
    assert TensorProto.FLOAT == trt.float32.onnx_number
    checks.run_all(globals())
