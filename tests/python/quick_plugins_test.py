"""Quick plugins: functions that describe an operator and compute it, in engines of assay.tensorrt."""

import time
from typing import List, Tuple

import assay.tensorrt as trt
import assay.tensorrt.plugin as trtp
import checks
import numpy as np
import numpy.typing as npt
from assay.exception import PolygraphyException
from onnx import helper
from tensorrt_test import LOGGER, Recorder, check, floats, start

CALLS = []


@trtp.register("tests::add_number")
def add_number(inp0: trtp.TensorDesc, number: float, name: str, table: npt.NDArray[np.float16]) -> trtp.TensorDesc:
    return inp0.like()


@trtp.impl("tests::add_number")
def add_number_impl(inp0: trtp.Tensor, number: float, table: npt.NDArray[np.float16], outputs: Tuple[trtp.Tensor],
                    stream: int) -> None:
    assert isinstance(table, np.ndarray) and table.dtype == np.float16 and inp0.dtype == trt.float32
    np.asarray(outputs[0])[...] = np.asarray(inp0) + number + table.sum()


@trtp.register("tests::circ_pad")
def circ_pad(inp0: trtp.TensorDesc, pads: npt.NDArray[np.int32]) -> trtp.TensorDesc:
    out = inp0.like()
    for i in range(inp0.ndim):
        out.shape_expr[i] = inp0.shape_expr[i] + int(pads[2 * i] + pads[2 * i + 1])
    return out


@trtp.impl("tests::circ_pad")
def circ_pad_impl(inp0, pads, outputs, stream):
    widths = [tuple(pads[2 * i:2 * i + 2]) for i in range(inp0.ndim)]
    np.asarray(outputs[0])[...] = np.pad(np.asarray(inp0), widths, mode="wrap")


@trtp.register("tests::non_zero")
def non_zero(inp0: trtp.TensorDesc) -> Tuple[trtp.TensorDesc, trtp.TensorDesc]:
    most = inp0.shape_expr.numel()
    count = trtp.size_tensor(most // 2, most)
    return trtp.from_shape_expr((count.expr(), inp0.ndim), trt.int32), count


@trtp.impl("tests::non_zero")
def non_zero_impl(inp0, outputs, stream):
    assert outputs[0].is_data_dependent and tuple(outputs[0].shape) == (-1, 2)
    places = np.argwhere(np.asarray(inp0))
    np.asarray(outputs[0])[:len(places)] = places
    np.asarray(outputs[1])[...] = len(places)


@trtp.register("tests::tuned")
def tuned(inp0: trtp.TensorDesc, inp1: trtp.TensorDesc) -> Tuple[trtp.TensorDesc]:
    return inp0.like()


@trtp.autotune("tests::tuned")
def tuned_autotune(inp0: trtp.TensorDesc, inp1: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc]) -> List[trtp.AutoTuneCombination]:
    assert outputs[0].has_shape and inp0.dtype in (trt.float32, trt.float16)
    assert inp0.is_dynamic or tuple(inp0.shape) == (2, 3)
    return [trtp.AutoTuneCombination("FP32|FP16, FP32|FP16, FP32|FP16", "LINEAR", [1, 2]),
            trtp.AutoTuneCombination("FP32, FP32, FP32", "HWC", [3])]


@trtp.impl("tests::tuned")
def tuned_impl(inp0, inp1, outputs, stream, tactic):
    CALLS.append(tactic)
    time.sleep(0.01 if tactic == 1 else 0)
    np.asarray(outputs[0])[...] = np.asarray(inp0) * np.asarray(inp1)


@trtp.register("tests::in_place")
def in_place(inp0: trtp.TensorDesc) -> trtp.TensorDesc:
    return inp0.aliased()


@trtp.impl("tests::in_place")
def in_place_impl(inp0, outputs, stream):
    assert outputs[0].data_ptr == inp0.data_ptr and outputs[0].is_aliased
    np.asarray(outputs[0])[...] += 1


def test_descriptions_and_implementations():
    x = floats(2, 3)
    table = np.array([0.5, 0.25], np.float16)
    check(lambda network, tensor: network.add_plugin(trtp.op.tests.add_number(tensor, number=2.0, name="a", table=table)),
          x + 2.75, x)
    pads = np.array([1, 0, 2, 1], np.int32)
    wanted = np.pad(x, [(1, 0), (2, 1)], mode="wrap")

    def draw(network, tensor):
        layer = network.add_plugin(trtp.op.tests.circ_pad(tensor, pads=pads), aot=False)
        assert layer.type == trt.LayerType.PLUGIN_V3 and tuple(layer.get_output(0).shape) == wanted.shape
        return layer

    check(draw, wanted, x)
    assert trt.get_plugin_registry().get_creator("circ_pad", "1", "tests").plugin_namespace == "tests"


def test_plans_are_opened_again():
    x = floats(2, 3)
    builder, network, (tensor,) = start(x)
    table = np.zeros(1, np.float16)
    layer = network.add_plugin(trtp.op.tests.add_number(tensor, number=-1.5, name="b", table=table))
    network.mark_output(network.add_identity(layer.get_output(0)).get_output(0))
    plan = bytes(builder.build_serialized_network(network, builder.create_builder_config()))
    context = trt.Runtime(LOGGER).deserialize_cuda_engine(plan).create_execution_context()
    y = np.empty((2, 3), np.float32)
    assert context.execute_v2([x.ctypes.data, y.ctypes.data]) and np.array_equal(y, x - 1.5)


def test_sizes_that_a_plugin_decides():
    builder, network, (tensor,) = start(floats(3, 4))
    layer = network.add_plugin(trtp.op.tests.non_zero(tensor))
    assert tuple(layer.get_output(0).shape) == (-1, 2) and layer.get_output(1).dtype == trt.int32
    twice = network.add_elementwise(layer.get_output(0), layer.get_output(0), trt.ElementWiseOperation.SUM).get_output(0)
    twice.name = "y"
    network.mark_output(twice)
    context = builder.build_engine(network, builder.create_builder_config()).create_execution_context()
    for x in (np.eye(3, 4), np.zeros((3, 4)), np.ones((3, 4))):
        seen = context.infer({network.get_input(0).name: x.astype(np.float32)})["y"]
        assert np.array_equal(seen, 2 * np.argwhere(x)), seen


def test_the_fastest_tactic_is_kept():
    x, y = floats(2, 3), floats(2, 3)
    CALLS.clear()
    check(lambda network, a, b: network.add_plugin(trtp.op.tests.tuned(a, b)), x * y, x, y)
    assert set(CALLS[:8]) == {1, 2} and set(CALLS[8:]) == {2}, CALLS
    builder = trt.Builder(LOGGER)
    network = builder.create_network()
    tensors = [network.add_input(name, trt.float32, (-1, 3)) for name in "ab"]
    layer = network.add_plugin(trtp.op.tests.tuned(*tensors))
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    for name in "ab":
        profile.set_shape(name, (1, 3), (2, 3), (4, 3))
    config.add_optimization_profile(profile)
    CALLS.clear()
    context = builder.build_engine(network, config).create_execution_context()
    assert CALLS == [], "shapes are open: the first run measures"
    for _ in range(2):
        assert np.array_equal(context.infer({"a": x, "b": y})["y"], x * y)
    assert CALLS[-2:] == [2, 2] and 1 in CALLS


def test_types_that_are_not_offered():
    builder = trt.Builder(LOGGER)
    network = builder.create_network()
    tensors = [network.add_input(name, trt.int32, (2, 3)) for name in "ab"]
    network.mark_output(network.add_plugin(trtp.op.tests.tuned(*tensors)).get_output(0))
    with checks.raises(AssertionError):
        builder._build(network, builder.create_builder_config())
    for words in (("FP32|FP16*INT8, FP32", None), ("FP32|FP16, FP32|FP16|INT8", None), ("FP32, FP33", None),
                  ("FP32, FP32", "LINEAR, SQUARE")):
        with checks.raises(ValueError):
            list(trtp.AutoTuneCombination(*words)._spelled(2))
    made = trtp.AutoTuneCombination("FP32*FP16, FP32|FP16, FP32|FP16")._spelled(3)
    assert len(list(made)) == 4
    by_place = trtp.AutoTuneCombination()
    by_place.pos([0, 1], "FP32|FP16")
    by_place.pos(2, "INT8")
    assert [types for types, _ in by_place._spelled(3)] == [[trt.float32, trt.float32, trt.int8], [trt.float16, trt.float16, trt.int8]]
    with checks.raises(ValueError, "there already"):
        by_place.pos(1, "INT8")


def test_outputs_that_lie_on_inputs():
    x = floats(2, 3)

    def draw(network, tensor):
        positive = network.add_activation(tensor, trt.ActivationType.RELU).get_output(0)
        more = network.add_plugin(trtp.op.tests.in_place(positive)).get_output(0)
        return network.add_elementwise(more, positive, trt.ElementWiseOperation.PROD)

    check(draw, np.maximum(x, 0) * (np.maximum(x, 0) + 1), x)


def test_nodes_of_models_become_quick_plugins():
    x = floats(2, 3)
    nodes = [helper.make_node("circ_pad", ["x"], ["y"], pads=[0, 0, 1, 1], plugin_namespace="tests")]
    model = checks.model(nodes, [("x", 1, [2, 3])], [("y", 1, [2, 5])]).SerializeToString()
    builder, network, _ = start()
    parser = trt.OnnxParser(network, LOGGER)
    assert parser.parse(model), [parser.get_error(i).desc() for i in range(parser.num_errors)]
    context = builder.build_engine(network, builder.create_builder_config()).create_execution_context()
    assert np.array_equal(context.infer({"x": x})["y"], np.pad(x, [(0, 0), (1, 1)], mode="wrap"))


class Doubled(trt.IPluginV3, trt.IPluginV3QuickCore, trt.IPluginV3QuickBuild, trt.IPluginV3QuickRuntime):
    plugin_name, plugin_version, plugin_namespace, num_outputs = "Doubled", "1", "tests", 1

    def get_output_data_types(self, input_types, ranks):
        assert ranks == [2]
        return input_types

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        return [inputs[0]]

    def enqueue(self, input_desc, output_desc, inputs, outputs, in_strides, out_strides, stream):
        assert in_strides == [(3, 1)]
        read, made = trtp.Tensor(inputs[0], input_desc[0]), trtp.Tensor(outputs[0], output_desc[0])
        np.asarray(made)[...] = 2 * np.asarray(read)


class DoubledCreator(trt.IPluginCreatorV3Quick):
    name, plugin_version, plugin_namespace, field_names = "Doubled", "1", "tests", trt.PluginFieldCollection([])

    def create_plugin(self, name, namespace, field_collection, phase, quick_plugin_creation_request=None):
        return Doubled()


def test_classes_of_quick_plugins():
    assert trt.get_plugin_registry().register_creator(DoubledCreator())
    x = floats(2, 3)
    check(lambda network, tensor: network.add_plugin_v3([tensor], [], Doubled()), 2 * x, x)


class Evens(trt.IPluginV3, trt.IPluginV3OneCore, trt.IPluginV3OneBuild, trt.IPluginV3OneRuntime):
    """Every second element, and their number."""

    plugin_name, plugin_version, plugin_namespace, num_outputs = "Evens", "1", "", 2

    def get_output_data_types(self, input_types):
        return [input_types[0], trt.int32]

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        half = expr_builder.operation(trt.DimensionOperation.FLOOR_DIV, inputs[0][0], expr_builder.constant(2))
        return [trt.DimsExprs([expr_builder.declare_size_tensor(1, half, inputs[0][0])]), trt.DimsExprs(0)]

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        x = np.asarray(trtp.Tensor(inputs[0], input_desc[0]))[::2]
        np.asarray(trtp.Tensor(outputs[0], trt.PluginTensorDesc([len(x)], trt.float32)))[...] = x
        np.asarray(trtp.Tensor(outputs[1], output_desc[1]))[...] = len(x)


class EvensCreator(trt.IPluginCreatorV3One):
    name, plugin_version = "Evens", "1"

    def create_plugin(self, name, field_collection, phase):
        return Evens()


def test_sizes_of_other_plugins():
    trt.get_plugin_registry().register_creator(EvensCreator())
    x = floats(5)
    check(lambda network, tensor: network.add_plugin_v3([tensor], [], Evens()), x[::2], x)


def test_kernels_for_a_card_are_refused():
    @trtp.register("tests::kernel")
    def kernel(inp0: trtp.TensorDesc) -> trtp.TensorDesc:
        return inp0.like()

    @trtp.aot_impl("tests::kernel")
    def kernel_aot(inp0: trtp.TensorDesc, outputs: Tuple[trtp.TensorDesc], tactic: int):
        params = trtp.KernelLaunchParams(block_x=64)
        params.grid_x = trtp.cdiv(inp0.shape_expr.numel(), 64)
        return "kernel", "ptx", params, trtp.SymIntExprs.from_tuple([trtp.SymInt32(1)])

    _, network, (tensor,) = start(floats(2, 3))
    with checks.raises(PolygraphyException, "kernels are for a card"):
        network.add_plugin(trtp.op.tests.kernel(tensor))
    trtp.impl("tests::kernel")(lambda inp0, outputs, stream: None)
    assert network.add_plugin(trtp.op.tests.kernel(tensor)) is not None
    with checks.raises(PolygraphyException, "kernels are for a card"):
        network.add_plugin(trtp.op.tests.kernel(tensor), aot=True)


def test_mistakes():
    def describe(plugin_id="tests::new", **hints):
        def new(inp0, number):
            return inp0.like()

        new.__annotations__ = {"inp0": trtp.TensorDesc, "number": int, "return": trtp.TensorDesc, **hints}
        return trtp.register(plugin_id)(new)

    for words, hints in (({}, {"number": list}), ({}, {"return": int}), ({}, {"inp0": int}), ({"plugin_id": "new"}, {}),
                         ({"plugin_id": "trt::new"}, {}), ({"plugin_id": "a.b::new"}, {}), ({"plugin_id": "tests::tuned"}, {})):
        with checks.raises(ValueError):
            describe(**words, **hints)
    describe()
    with checks.raises(ValueError, "expected are ['inp0', 'number', 'outputs', 'stream']"):
        trtp.impl("tests::new")(lambda inp0, number, stream: None)
    with checks.raises(ValueError, "no plugin `tests::none`"):
        trtp.impl("tests::none")(non_zero_impl)
    with checks.raises(AttributeError, "no plugin or name space `none`"):
        trtp.op.tests.none
    _, network, (tensor,) = start(floats(2, 3))
    with checks.raises(ValueError, "has no implementation"):
        network.add_plugin(trtp.op.tests.new(tensor, number=1))
    with checks.raises(ValueError, "expected are"):
        trtp.op.tests.new(tensor)
    with checks.raises(ValueError, "of type <class 'float'>"):
        trtp.op.tests.new(tensor, number=1.0)
    with checks.raises(ValueError, "cannot be changed"):
        trtp.register("tests::wrong")(_changes)
        trtp.impl("tests::wrong")(lambda inp0, outputs, stream: None)
        network.add_plugin(trtp.op.tests.wrong(tensor)).get_output(0).shape


def _changes(inp0: trtp.TensorDesc) -> trtp.TensorDesc:
    inp0.dtype = trt.int8
    return inp0


def test_dims():
    a = trtp.ShapeExpr(7)
    values = (a + 2, a - 2, a * 2, a // 2, a == 7, a < 7, trtp.cdiv(a, 2), trtp.max(a, 9), trtp.min(a, 9))
    assert [each.constant_value() for each in values] == [9, 5, 14, 3, 1, 0, 4, 9, 7]
    fake = trtp.ShapeExpr()
    assert fake.is_fake and (fake + 1).is_fake and trtp.ShapeExprs.from_tuple((2, 3)).numel().constant_value() == 6
    with checks.raises(RuntimeError):
        fake.is_constant
    count = trtp.size_tensor(a, a)
    with checks.raises(ValueError, "size tensor"):
        count.expr() + 1
    assert count.is_size_tensor and count.expr().is_size_tensor and not a.is_size_tensor
    shape = trtp.Shape((2, -1))
    assert shape.is_dynamic and str(shape) == "Shape(2, -1)" and trtp.Shape((2, 3)).numel() == 6
    with checks.raises(ValueError):
        shape.numel()


if __name__ == "__main__":
    checks.run_all(globals())
