"""Names of TensorRT's Python package, of version 8 and later ones, are there, but for a known few; what is behind them."""

import pathlib

import assay.tensorrt as trt
import checks
import numpy as np
from assay.exception import PolygraphyException
from onnx import TensorProto, helper, numpy_helper

# What is only of use on a device, or is not here.
ABSENT = {"PaddingMode.CAFFE_ROUND_DOWN", "PaddingMode.CAFFE_ROUND_UP"}


def test_names_are_there_on_the_classes():
    missing = set()
    for line in (pathlib.Path(__file__).parent / "tensorrt_names.txt").read_text().splitlines():
        head, _, names = line.partition(": ")
        owner = trt if head == "module" else getattr(trt, head)
        known = {*dir(owner), *getattr(owner, "__members__", ())}
        missing |= {name if head == "module" else f"{head}.{name}" for name in names.split() if name not in known}
    assert missing == ABSENT, (sorted(missing - ABSENT), sorted(ABSENT - missing))


def test_shapes_are_equal_to_tuples_and_lists():
    dims = trt.Dims((1, 2))
    assert dims == (1, 2) and dims == [1, 2] and dims != [1, 3] and not dims != [1, 2] and {dims: 1}[(1, 2)] == 1
    assert str(trt.TimingCacheKey.parse("0x0aff")) == "0x0aff"
    with checks.raises(ValueError, "prefix"):
        trt.TimingCacheKey.parse("0aff")


def network_of_identity():
    builder = trt.Builder(None)
    network = builder.create_network()
    network.mark_output(network.add_identity(network.add_input("x", trt.float32, (2,))).get_output(0))
    return builder, network


def test_plans_go_through_streams():
    class Pipe(trt.IStreamReader, trt.IStreamWriter):
        def __init__(self):
            self.data = b""

        def write(self, data):
            self.data += bytes(data)
            return len(data)

        def read(self, size):
            piece, self.data = self.data[:100], self.data[100:]
            return piece

    builder, network = network_of_identity()
    pipe = Pipe()
    assert builder.build_serialized_network_to_stream(network, builder.create_builder_config(), pipe)
    engine = trt.Runtime(None).deserialize_cuda_engine(pipe)
    x = np.array([3, 4], np.float32)
    assert next(iter(engine.create_execution_context().infer({"x": x}).values())).tolist() == [3, 4]
    config = engine.create_serialization_config()
    assert config.set_flag(trt.SerializationFlag.EXCLUDE_LEAN_RUNTIME) and config.flags == 2
    assert engine.serialize_with_config(config) == engine.serialize()
    with checks.raises(PolygraphyException, "STRIP_PLAN"):
        config.set_flag(trt.SerializationFlag.EXCLUDE_WEIGHTS)
    with checks.raises(PolygraphyException, "`plugins.so`"):
        trt.get_plugin_registry().load_library("plugins.so")


def test_plans_are_read_by_streams_of_both_kinds():
    class Reader(trt.IStreamReaderV2):
        def __init__(self, data):
            self.data = data

        def read(self, num_bytes, stream):
            piece, self.data = self.data[:100], self.data[100:]
            return piece

    builder, network = network_of_identity()
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(None).deserialize_cuda_engine(Reader(bytes(plan)))
    config = engine.create_runtime_config()
    config.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
    context = engine.create_execution_context(config)
    assert context.get_runtime_config() is config and context.infer({"x": np.ones(2, np.float32)})
    strategy = engine.create_execution_context().get_runtime_config().get_execution_context_allocation_strategy()
    assert strategy == trt.ExecutionContextAllocationStrategy.STATIC


def test_only_weights_that_are_marked_can_be_refitted():
    builder = trt.Builder(None)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (2,))
    for name in ("kept", "free"):
        weights = trt.Weights(np.ones(2, np.float32))
        constant = network.add_constant((2,), weights)
        constant.get_output(0).name = name
        x = network.add_elementwise(x, constant.get_output(0), trt.ElementWiseOperation.SUM).get_output(0)
    network.mark_output(x)
    assert network.mark_weights_refittable("kept") and network.mark_weights_refittable("free")
    assert network.unmark_weights_refittable("kept") and not network.are_weights_marked_refittable("kept")
    assert network.are_weights_marked_refittable("free")
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.REFIT_INDIVIDUAL)
    engine = builder.build_engine(network, config)
    refitter = trt.Refitter(engine, None)
    assert refitter.get_all_weights() == ["free"] and refitter.get_all()[1] == [trt.WeightsRole.CONSTANT]
    assert not refitter.set_named_weights("kept", np.zeros(2, np.float32))
    assert refitter.set_named_weights("free", np.array([5, 6], np.float32)) and refitter.refit_cuda_engine()
    found = engine.create_execution_context().infer({"x": np.zeros(2, np.float32)})
    assert next(iter(found.values())).tolist() == [6, 7]


def test_selectors_are_told_the_tactics_of_a_plan():
    class Selector(trt.IAlgorithmSelector):
        def report_algorithms(self, contexts, choices):
            self.told = list(zip(contexts, choices))

    builder = trt.Builder(None)
    network = builder.create_network()
    x = network.add_input("x", trt.float32, (1, 4, 8, 6))
    layer = network.add_convolution_nd(x, 5, (3, 3), np.ones((5, 4, 3, 3), np.float32))
    layer.name = "conv"
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    config.algorithm_selector = Selector()
    engine = builder.build_engine(network, config)
    (context, algorithm), = config.algorithm_selector.told
    assert context.name == "conv" and context.num_inputs == algorithm.num_inputs >= 2 and context.num_outputs == 1
    assert context.get_shape(0) == [(1, 4, 8, 6)] * 3 and context.get_shape(context.num_inputs)[1] == (1, 5, 6, 4)
    assert context.get_shape(9) == [] and algorithm.get_algorithm_io_info(9) is None
    variant = algorithm.algorithm_variant
    assert variant.tactic == next(each["tactic"] for each in engine._layers if each["origins"])
    assert variant.tactic.startswith(variant.implementation) and algorithm.timing_msec != algorithm.timing_msec
    info = algorithm.get_algorithm_io_info(0)
    strides = {trt.TensorFormat.LINEAR: (192, 48, 6, 1), trt.TensorFormat.HWC: (192, 1, 24, 4)}
    assert info.dtype == trt.float32 and info.strides == strides[info.tensor_format]


def model_of_external(values):
    """The bytes of y = x + w, where w is in a file that is not there."""
    made = checks.model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", 1, [2])], [("y", 1, [2])],
                        [numpy_helper.from_array(np.asarray(values, np.float32), "w")])
    weights = made.graph.initializer[0]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="nothere.bin")
    return made.SerializeToString()


def test_initializers_come_from_memory():
    builder = trt.Builder(None)
    network = builder.create_network()
    parser = trt.OnnxParser(network, None)
    weights = np.array([3, 4], np.float32)
    assert not parser.load_initializer("w", weights.ctypes.data, 8) and not parser.parse_model_proto()
    assert parser.num_errors == 2 and "load_model_proto()" in parser.get_error(1).desc()
    parser.clear_errors()
    assert parser.load_model_proto(model_of_external([0, 0]))
    assert not parser.load_initializer("w", weights.ctypes.data, 4) and "8 bytes, seen 4" in parser.get_error(0).desc()
    assert not parser.load_initializer("y", weights.ctypes.data, 8)
    assert parser.load_initializer("w", weights.ctypes.data, 8)
    weights[:] = 0
    assert parser.parse_model_proto()
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.REFIT)
    engine = builder.build_engine(network, config)
    context, x = engine.create_execution_context(), np.array([1, 1], np.float32)
    assert context.infer({"x": x})["y"].tolist() == [4, 5]
    refitter = trt.Refitter(engine, None)
    parser, weights = trt.OnnxParserRefitter(refitter, None), np.array([7, 8], np.float32)
    assert parser.load_model_proto(model_of_external([0, 0])) and parser.load_initializer("w", weights.ctypes.data, 8)
    assert parser.refit_model_proto() and refitter.refit_cuda_engine()
    assert context.infer({"x": x})["y"].tolist() == [8, 9]
    assert not parser.load_model_proto(b"no model") and parser.num_errors == 1


def test_plugins_share_resources():
    class Resource:
        released = []

        def clone(self):
            return Resource()

        def release(self):
            self.released.append(self)

    registry, given = trt.get_plugin_registry(), Resource()
    first = registry.acquire_plugin_resource("memory", given)
    assert registry.acquire_plugin_resource("memory", Resource()) is first is not given
    assert registry.release_plugin_resource("memory") and Resource.released == []
    assert registry.release_plugin_resource("memory") and Resource.released == [first]
    assert not registry.release_plugin_resource("memory")
    with checks.raises(PolygraphyException, "no library of plugins is loaded"):
        registry.deregister_library(None)


def test_names_that_stand_for_others():
    assert trt.BuilderFlag.WEIGHTLESS is trt.BuilderFlag.STRIP_PLAN
    assert trt.EngineCapability.DEFAULT is trt.EngineCapability.STANDARD
    builder, network = network_of_identity()
    x = network.get_input(0)
    x.dynamic_range = (-1, 1)
    x.reset_dynamic_range()
    assert x.dynamic_range is None and not x.broadcast_across_batch
    layer = network.add_topk(x, trt.TopKOperation.MAX, 1, 1, trt.int64)
    assert layer.get_output(1).dtype == layer.indices_type == trt.int64


def test_parts_of_models_that_are_supported():
    ops = ["Relu", "Unheard", "Unheard", "Neg", "Relu", "Unheard"]
    nodes = [helper.make_node(op, [f"v{i}"], [f"v{i + 1}"], name=f"n{i}") for i, op in enumerate(ops)]
    model = checks.model(nodes, [("v0", 1, [2])], [("v6", 1, [2])]).SerializeToString()
    _, network = network_of_identity()
    parser = trt.OnnxParser(network, None)
    is_whole, parts = parser.supports_model(model)
    assert not is_whole and parts == [([0], True), ([1, 2], False), ([3, 4], True), ([5], False)]
    assert parser.num_subgraphs == 4 and parser.get_subgraph_nodes(2) == [3, 4] and not parser.is_subgraph_supported(1)
    assert parser.num_errors == 1 and parser.get_error(0).node() == 1 and parser.get_error(0).node_operator() == "Unheard"
    assert network.num_layers == 1 and not parser.supports_model_v2(b"no model") and parser.num_subgraphs == 0
    whole = checks.model(nodes[:1], [("v0", 1, [2])], [("v1", 1, [2])]).SerializeToString()
    assert parser.supports_model(whole) == (True, [([0], True)])
    other = trt.Builder(None).create_network()
    parser = trt.OnnxParser(other, None)
    assert parser.parse(whole) and parser.get_layer_output_tensor("n0", 0).name == "v1"
    assert parser.get_layer_output_tensor("n1", 0) is None


if __name__ == "__main__":
    checks.run_all(globals())
