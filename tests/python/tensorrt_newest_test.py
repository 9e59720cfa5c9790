"""What the newest generation of TensorRT, and TensorRT-RTX, have beyond the others: mixtures of experts, caches of a runtime,
validity of engines, compute capabilities, build routes, quick plugins."""

import json

import assay.tensorrt as trt
import checks
import numpy as np
from assay.exception import PolygraphyException

TOLD = []


class Logger(trt.ILogger):
    def log(self, severity, message):
        TOLD.append((severity, message))


LOGGER = Logger()


def errors():
    found = [text for severity, text in TOLD if severity in (trt.ILogger.ERROR, trt.ILogger.INTERNAL_ERROR)]
    TOLD.clear()
    return found


def plan_of(network, config=None):
    return network.builder.build_serialized_network(network, config or network.builder.create_builder_config())


def relu_network(shape=(-1, 3)):
    network = trt.Builder(LOGGER).create_network(0)
    layer = network.add_activation(network.add_input("x", trt.float32, shape), trt.ActivationType.RELU)
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))
    return network


def relu_plan(config=None, network=None):
    network = network or relu_network()
    config = config or network.builder.create_builder_config()
    profile = network.builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (8, 3))
    config.add_optimization_profile(profile)
    return plan_of(network, config)


def experts(params=None, with_biases=False):
    """A network of 4 experts, of which 2 are chosen, with its weights."""
    random = np.random.default_rng(0)
    network = trt.Builder(LOGGER).create_network(0)
    x = network.add_input("x", trt.float32, (2, 3, 8))
    chosen, scores = network.add_input("chosen", trt.int32, (2, 3, 2)), network.add_input("scores", trt.float32, (2, 3, 2))
    layer = network.add_moe(x, chosen, scores)
    arrays = [random.normal(size=shape).astype(np.float32) for shape in ((4, 8, 16), (4, 8, 16), (4, 16, 8))]
    biases = [random.normal(size=shape).astype(np.float32) for shape in ((4, 16), (4, 16), (4, 8))]
    constant = lambda array: network.add_constant(array.shape, array).get_output(0)  # noqa: E731
    layer.set_gated_weights(*map(constant, arrays), trt.MoEActType.SILU)
    if with_biases:
        layer.set_gated_biases(*map(constant, biases))
    if params:
        layer.set_swiglu_params(*params)
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))
    return network, layer, arrays, biases if with_biases else [np.zeros_like(each) for each in biases]


def mixed(x, chosen, scores, arrays, biases, limit=np.inf, alpha=1.0, beta=0.0):
    """The same in numpy, token by token."""
    gate, up, down = arrays
    result = np.zeros_like(x)
    for place in np.ndindex(chosen.shape):
        expert, token = chosen[place], x[place[:2]].astype(np.float64)
        g = np.minimum(token @ gate[expert] + biases[0][expert], limit)
        u = np.clip(token @ up[expert] + biases[1][expert], -limit, limit)
        made = (g / (1 + np.exp(-alpha * g)) * (u + beta)) @ down[expert] + biases[2][expert]
        result[place[:2]] += scores[place] * made
    return result


def test_experts():
    random = np.random.default_rng(1)
    feeds = {"x": random.normal(size=(2, 3, 8)).astype(np.float32), "chosen": random.integers(0, 4, (2, 3, 2)).astype(np.int32),
             "scores": random.random((2, 3, 2)).astype(np.float32)}
    for params, with_biases in ((None, False), ((1.5, 1.702, 1.0), True)):
        network, layer, arrays, biases = experts(params, with_biases)
        assert layer.type == trt.LayerType.MOE and layer.num_inputs == (9 if with_biases else 6)
        assert tuple(layer.get_output(0).shape) == (2, 3, 8) and layer.get_output(0).dtype == trt.float32
        engine = trt.Runtime(LOGGER).deserialize_cuda_engine(plan_of(network))
        seen = engine.create_execution_context().infer(feeds)["y"]
        wanted = mixed(feeds["x"], feeds["chosen"], feeds["scores"], arrays, biases, *(params or ()))
        np.testing.assert_allclose(seen, wanted, rtol=1e-4, atol=1e-4)
    assert errors() == []


def test_experts_as_the_library_has_them():
    layer = experts()[1]
    assert (layer.activation_type, layer.swiglu_param_limit, layer.swiglu_param_alpha, layer.swiglu_param_beta) == \
        (trt.MoEActType.SILU, float("inf"), 1.0, 0.0)
    assert layer.dyn_q_output_scale_type == trt.DataType.FP8 and tuple(layer.quantization_block_shape) == ()


def test_mistakes_about_experts():
    network = trt.Builder(LOGGER).create_network(0)
    x, flat = network.add_input("x", trt.float32, (2, 3, 8)), network.add_input("f", trt.float32, (6, 8))
    chosen, scores = network.add_input("chosen", trt.int32, (2, 3, 2)), network.add_input("scores", trt.float32, (2, 3, 2))
    assert network.add_moe(flat, chosen, scores) is None and "3 dims" in errors()[0]
    layer = network.add_moe(x, chosen, scores)
    with checks.raises(TypeError):
        layer.set_gated_weights(1, 2, 3, trt.MoEActType.SILU)
    network.mark_output(layer.get_output(0))
    assert plan_of(network) is None and "set_gated_weights" in errors()[0]


def test_validity_of_plans():
    runtime = trt.Runtime(LOGGER)
    plan = bytes(relu_plan())
    assert runtime.get_engine_validity(plan) == (trt.EngineValidity.VALID, 0)
    malformed = int(trt.EngineInvalidityDiagnostics.MALFORMED_ENGINE)
    assert runtime.get_engine_validity(b"abc" * 100) == (trt.EngineValidity.INVALID, malformed) == \
        runtime.get_engine_validity(plan[:200])
    assert runtime.get_engine_validity(plan[:runtime.engine_header_size]) == (trt.EngineValidity.VALID, 0)
    other = bytearray(plan)
    other[8:12] = (99).to_bytes(4, "little")  # the version of the format
    mismatch = int(trt.EngineInvalidityDiagnostics.VERSION_MISMATCH)
    assert runtime.get_engine_validity(bytes(other)) == (trt.EngineValidity.INVALID, mismatch)
    assert runtime.engine_header_size == 64


def test_a_runtime_cache_keeps_the_shapes_of_runs():
    engine = trt.Runtime(LOGGER).deserialize_cuda_engine(relu_plan())
    config = engine.create_runtime_config()
    assert config.get_runtime_cache() is None
    assert config.dynamic_shapes_kernel_specialization_strategy == trt.DynamicShapesKernelSpecializationStrategy.LAZY
    assert config.cuda_graph_strategy == trt.CudaGraphStrategy.DISABLED
    config.cuda_graph_strategy = trt.CudaGraphStrategy.WHOLE_GRAPH_CAPTURE
    cache = config.create_runtime_cache()
    assert config.set_runtime_cache(cache) and config.get_runtime_cache() is cache
    context = engine.create_execution_context(config)
    x, y = np.array([[-1, 0, 2]] * 4, np.float32), np.zeros((4, 3), np.float32)
    context.set_input_shape("x", (4, 3))
    context.set_tensor_address("x", x.ctypes.data)
    context.set_tensor_address("y", y.ctypes.data)
    assert context.execute_async_v3(0) and y.tolist() == [[0, 0, 2]] * 4
    data = bytes(cache.serialize())

    later = config.create_runtime_cache()
    assert later.deserialize(data) and bytes(later.serialize()) == data and later._shapes == [{"x": [4, 3]}]
    assert not later.deserialize(b"something else") and not later.deserialize(data[:-3])
    assert later._shapes == [{"x": [4, 3]}], "bytes that are refused change nothing"
    again = engine.create_runtime_config()
    again.set_runtime_cache(later)
    assert engine.create_execution_context(again).infer({"x": x})["y"].tolist() == y.tolist()
    assert later.reset() and b"4" not in bytes(later.serialize()).partition(b"\n")[2]
    with checks.raises(TypeError):
        config.set_runtime_cache(3)


def test_compute_capabilities_are_kept_and_said_not_to_matter():
    config = trt.Builder(LOGGER).create_builder_config()
    assert config.num_compute_capabilities == 0
    config.num_compute_capabilities = 2
    assert config.get_compute_capability(1) == trt.ComputeCapability.NONE
    TOLD.clear()
    assert config.set_compute_capability(trt.ComputeCapability.SM89, 1)
    assert config.get_compute_capability(1) == trt.ComputeCapability.SM89
    assert any("plans are of the processor" in text for _, text in TOLD) and errors() == []
    for capability, index in ((trt.ComputeCapability.NONE, 0), (trt.ComputeCapability.CURRENT, 0), (trt.ComputeCapability.SM89, 2)):
        assert not config.set_compute_capability(capability, index) and errors()
    config.num_compute_capabilities = 1
    assert config.set_compute_capability(trt.ComputeCapability.CURRENT, 0)
    with checks.raises(TypeError):
        config.set_compute_capability(89, 0)


def test_build_routes():
    network = relu_network()
    config = network.builder.create_builder_config()
    known = {each["option"]: each for each in json.loads(config.all_build_routes)["tuner_options"]}
    assert known["-bf16"]["allowed_values"] == ["off", "on"] and known["-bf16"]["default_value"] == "off"
    assert config.build_route == ""
    config.build_route = "-strict=on -tactics=first -without=conv.onednn"
    assert config.build_route == "-strict=on -tactics=first -without=conv.onednn"
    profile = network.builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (8, 3))
    config.add_optimization_profile(profile)
    settings = network.builder.settings(network, config)
    assert settings["strict"] == [] and settings["builder-optimization-level"] == ["0"]
    assert settings["exclude-tactics"] == ["conv.onednn"]
    assert plan_of(network, config) is not None
    for wrong in ("-nothing=1", "bf16=on", "-bf16", "-bf16=maybe"):
        config.build_route = wrong
        assert errors() and config.build_route.startswith("-strict=on"), wrong
    with checks.raises(TypeError):
        config.build_route = 5


def test_names_that_only_a_card_gives_a_meaning():
    engine = trt.Runtime(LOGGER).deserialize_cuda_engine(relu_plan())
    TOLD.clear()
    assert engine.weights_loaded and engine.load_weights(b"") and engine.create_weights_manager() is None and errors()
    assert engine.unload_weights() is False and errors()
    context = engine.create_execution_context()
    assert context.is_stream_capturable(0) is False
    with checks.raises(NotImplementedError):
        trt.IPluginCreatorV3Quick().create_plugin("a", "", None, trt.TensorRTPhase.BUILD)
    assert issubclass(trt.IPluginV3QuickCore, trt.IPluginCapability)
    assert trt.get_builder_plugin_registry(trt.EngineCapability.STANDARD) is trt.get_plugin_registry()
    assert trt.PluginArgDataType.INT32.value == 2 and int(trt.EngineInvalidityDiagnostics.CUDA_ERROR) == 64


if __name__ == "__main__":
    checks.run_all(globals())
