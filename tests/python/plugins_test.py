"""Plugins written in Python, in engines of assay.tensorrt."""

import ctypes

import assay.tensorrt as trt
import checks
import numpy as np
from assay.exception import PolygraphyException
from onnx import helper
from tensorrt_test import LOGGER, Recorder, check, floats, start


def at(address, desc):
    """Memory of the process as an array."""
    shape = tuple(desc.dims)
    return np.ctypeslib.as_array((ctypes.c_float * int(np.prod(shape))).from_address(address)).reshape(shape)


class Scaled(trt.IPluginV2DynamicExt):
    """Its input by a factor, and twice its input, one below the other."""

    plugin_type, plugin_version, plugin_namespace, num_outputs = "Scaled", "1", "tests", 2

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def get_output_dimensions(self, output_index, inputs, expr_builder):
        if output_index == 0:
            return inputs[0]
        two = expr_builder.constant(2)
        rows = expr_builder.operation(trt.DimensionOperation.PROD, inputs[0][0], two)
        return trt.DimsExprs([rows, *inputs[0][1:]])

    def serialize(self):
        return np.float32(self.factor).tobytes()

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        x = at(inputs[0], input_desc[0])
        at(outputs[0], output_desc[0])[...] = self.factor * x
        at(outputs[1], output_desc[1])[...] = np.concatenate([x, x])


class ScaledCreator(trt.IPluginCreator):
    name, plugin_version, plugin_namespace = "Scaled", "1", "tests"
    field_names = trt.PluginFieldCollection([trt.PluginField("factor", np.array([]), trt.PluginFieldType.FLOAT32)])

    def create_plugin(self, name, field_collection):
        return Scaled(float(field_collection[0].data[0]))

    def deserialize_plugin(self, name, data):
        return Scaled(float(np.frombuffer(data, np.float32)[0]))


class Shifted(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """The sum of its inputs and a number; a negative number fails."""

    plugin_name, plugin_version, plugin_namespace = "Shifted", "2", ""
    num_outputs = 1

    def __init__(self, shift):
        trt.IPluginV3.__init__(self)
        self.shift = shift

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return [inputs[0]]

    def get_fields_to_serialize(self):
        return trt.PluginFieldCollection([trt.PluginField("shift", np.array([self.shift], np.float32),
                                                          trt.PluginFieldType.FLOAT32)])

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        a, b = (at(address, desc) for address, desc in zip(inputs, input_desc))
        at(outputs[0], output_desc[0])[...] = a + b + self.shift
        return 0 if self.shift >= 0 else -1


class ShiftedCreator(trt.IPluginCreatorV3One):
    name, plugin_version, plugin_namespace = "Shifted", "2", ""
    phases = []

    def create_plugin(self, name, field_collection, phase):
        self.phases.append(phase)
        return Shifted(float(field_collection[0].data[0]))


REGISTRY = trt.get_plugin_registry()


def test_plugins_of_the_second_version():
    creator = ScaledCreator()
    assert REGISTRY.register_creator(creator) and not REGISTRY.register_creator(ScaledCreator())
    found = REGISTRY.get_plugin_creator("Scaled", "1", "tests")
    factor = trt.PluginField("factor", np.array([3], np.float32), trt.PluginFieldType.FLOAT32)
    plugin = found.create_plugin("three", trt.PluginFieldCollection([factor]))
    x = floats(2, 3)

    def draw(network, tensor):
        positive = network.add_activation(tensor, trt.ActivationType.RELU).get_output(0)
        first = network.add_plugin_v2([positive], plugin)
        assert tuple(first.get_output(1).shape) == (4, 3) and first.type == trt.LayerType.PLUGIN_V2
        negative = network.add_unary(first.get_output(0), trt.UnaryOperation.NEG).get_output(0)
        second = network.add_plugin_v2([negative], plugin)
        return network.add_elementwise(second.get_output(0), positive, trt.ElementWiseOperation.SUM)

    check(draw, -8 * np.maximum(x, 0), x)
    check(lambda network, tensor: network.add_plugin_v2([tensor], plugin), 3 * x, x)
    builder, network, (tensor,) = start(x)
    network.mark_output(draw(network, tensor).get_output(0))
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    context = trt.Runtime(LOGGER).deserialize_cuda_engine(bytes(plan)).create_execution_context()
    y = np.empty((2, 3), np.float32)
    assert context.execute_v2([x.ctypes.data, y.ctypes.data]) and np.allclose(y, -8 * np.maximum(x, 0))
    assert REGISTRY.deregister_creator(creator)
    runtime = trt.Runtime(LOGGER)
    runtime.error_recorder = recorder = Recorder()
    assert runtime.deserialize_cuda_engine(plan) is None and "`Scaled`" in recorder.errors[0][1]


def test_plugins_of_the_third_version():
    creator = ShiftedCreator()
    assert REGISTRY.register_creator(creator)
    x = floats(2, 3)

    def draw(shift):
        def add(network, tensor):
            ones = network.add_constant((2, 3), np.ones((2, 3), np.float32)).get_output(0)
            return network.add_plugin_v3([tensor, ones], [], Shifted(shift))
        return add

    check(draw(4), x + 5, x)
    assert creator.phases == [trt.TensorRTPhase.RUNTIME]
    with checks.raises(PolygraphyException, "`Shifted`", "-1"):
        check(draw(-4), x, x)
    REGISTRY.deregister_creator(creator)


def test_shapes_that_runs_bring():
    REGISTRY.register_creator(ScaledCreator())
    builder = trt.Builder(LOGGER)
    network = builder.create_network()
    tensor = network.add_input("x", trt.float32, (-1, 3))
    layer = network.add_plugin_v2([tensor], Scaled(2))
    total = network.add_activation(layer.get_output(1), trt.ActivationType.RELU).get_output(0)
    total.name = "y"
    network.mark_output(total)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    config = builder.create_builder_config()
    config.add_optimization_profile(profile)
    context = builder.build_engine(network, config).create_execution_context()
    for rows in (1, 4):
        x = floats(rows, 3)
        assert np.array_equal(context.infer({"x": x})["y"], np.maximum(np.concatenate([x, x]), 0))
    with checks.raises(PolygraphyException, "(5, 3)"):
        context.infer({"x": floats(5, 3)})


def test_nodes_of_models_become_plugins():
    x = floats(2, 3)
    nodes = [helper.make_node("Relu", ["x"], ["r"]),
             helper.make_node("Scaled", ["r"], ["s", "t"], name="scaled", factor=5.0, plugin_namespace="tests"),
             helper.make_node("Neg", ["s"], ["y"])]
    model = checks.model(nodes, [("x", 1, [2, 3])], [("y", 1, [2, 3])]).SerializeToString()
    creator = REGISTRY.get_plugin_creator("Scaled", "1", "tests")
    if creator is not None:
        REGISTRY.deregister_creator(creator)
    parser = trt.OnnxParser(start()[1], LOGGER)
    assert not parser.parse(model) and "`Scaled`" in parser.get_error(0).desc()
    REGISTRY.register_creator(ScaledCreator())
    builder, network, _ = start()
    assert trt.OnnxParser(network, LOGGER).parse(model) and network[1].name == "scaled"
    layer = network[1]
    assert layer.type == trt.LayerType.PLUGIN_V2
    layer.__class__ = trt.IPluginV2Layer
    assert isinstance(layer.plugin, Scaled) and layer.plugin.factor == 5
    context = builder.build_engine(network, builder.create_builder_config()).create_execution_context()
    assert np.allclose(context.infer({"x": x})["y"], -5 * np.maximum(x, 0))


def test_plugins_inside_of_loops_are_refused():
    builder, network, (x,) = start(floats(2))
    loop = network.add_loop()
    loop.add_trip_limit(network.add_constant((), np.array(2, np.int32)).get_output(0), trt.TripLimit.COUNT)
    state = loop.add_recurrence(x)
    state.set_input(1, network.add_plugin_v2([state.get_output(0)], Scaled(2)).get_output(0))
    network.mark_output(loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0))
    with checks.raises(PolygraphyException, "plugins inside"):
        builder._build(network, builder.create_builder_config())


def test_damaged_engines_are_refused():
    REGISTRY.register_creator(ScaledCreator())
    builder, network, (tensor,) = start(floats(2, 3))
    layer = network.add_plugin_v2([network.add_identity(tensor).get_output(0)], Scaled(2))
    network.mark_output(layer.get_output(0))
    plan = bytes(builder.build_serialized_network(network, builder.create_builder_config()))
    runtime = trt.Runtime(LOGGER)
    assert runtime.deserialize_cuda_engine(plan) is not None
    damaged = [plan[:length] for length in (8, 12, 19, 20, 21, 300, len(plan) - 1)]
    damaged += [plan[:at] + bytes([plan[at] ^ 1]) + plan[at + 1:] for at in [*range(16, 600), len(plan) - 5]]
    for each in damaged:
        runtime.error_recorder = recorder = Recorder()
        assert runtime.deserialize_cuda_engine(each) is None and "damaged" in recorder.errors[0][1]


def test_memory_stays_flat():
    REGISTRY.register_creator(ScaledCreator())
    x = floats(64, 64)

    checks.stays_flat(lambda: check(lambda network, tensor: network.add_plugin_v2([tensor], Scaled(2)), 2 * x, x), 30)


if __name__ == "__main__":
    checks.run_all(globals())
