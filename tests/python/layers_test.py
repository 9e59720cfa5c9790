"""Layers of assay.tensorrt that work on rows, boxes and groups, and slices beyond bounds, beside numpy and ONNX Runtime."""

import assay.tensorrt as trt
import checks
import numpy as np
import onnxruntime
from assay.exception import PolygraphyException
from onnx import helper, numpy_helper
from tensorrt_test import check, computed, floats, start


def constant(network, values, dtype=np.float32):
    array = np.array(values, dtype)
    return network.add_constant(array.shape, array).get_output(0)


def test_slices_beyond_the_bounds():
    x = floats(3, 4)

    def of_mode(mode, start, shape, stride, filling=None):
        def draw(network, tensor):
            layer = network.add_slice(tensor, start, shape, stride)
            layer.mode = trt.SampleMode[mode]
            if filling is not None:
                layer.set_input(4, constant(network, filling))
            return layer
        return draw

    around = ((-2, -3), (7, 10), (1, 1))
    check(of_mode("CLAMP", *around), np.pad(x, ((2, 2), (3, 3)), "edge"), x)
    check(of_mode("WRAP", *around), np.pad(x, ((2, 2), (3, 3)), "wrap"), x)
    check(of_mode("REFLECT", *around), np.pad(x, ((2, 2), (3, 3)), "reflect"), x)
    check(of_mode("REFLECT", (-9, -9), (21, 22), (1, 1)), np.pad(x, 9, "reflect"), x)
    check(of_mode("FILL", *around), np.pad(x, ((2, 2), (3, 3))), x)
    check(of_mode("FILL", *around, filling=7), np.pad(x, ((2, 2), (3, 3)), constant_values=7), x)
    check(of_mode("CLAMP", (3, 4), (3, 3), (-2, -2)), x[[2, 1, 0]][:, [3, 2, 0]], x)
    check(of_mode("WRAP", (0, 1), (1, 3), (1, 3)), x[[0]][:, [1, 0, 3]], x)


def test_slices_of_some_axes():
    x = floats(3, 4, 5)

    def of_axes(axes, mode, *places):
        def draw(network, tensor):
            layer = network.add_slice(tensor, *places)
            layer.mode, layer.axes = trt.SampleMode[mode], axes
            return layer
        return draw

    check(of_axes((2, 0), "STRICT_BOUNDS", (1, 0), (2, 2), (2, 1)), x[:2, :, 1:4:2], x)
    check(of_axes((-1,), "STRICT_BOUNDS", (3,), (2,), (-1,)), x[..., 3:1:-1], x)
    check(of_axes((1,), "CLAMP", (-2,), (7,), (1,)), np.pad(x, ((0, 0), (2, 1), (0, 0)), "edge"), x)
    check(of_axes((2, 1), "FILL", (-1, 0), (7, 5), (1, 1)), np.pad(x, ((0, 0), (0, 1), (1, 1))), x)
    with checks.raises(PolygraphyException, "2 starts for the axes [1]"):
        computed(of_axes((1,), "STRICT_BOUNDS", (0, 0), (1, 1), (1, 1)), x)


def test_softmax_of_rows_of_several_lengths():
    x, bounds = floats(2, 3, 5), np.array([[[1], [5], [3]], [[2], [4], [5]]], np.int32)
    shares = np.where(np.arange(5) < bounds, np.exp(x), 0)
    check(lambda network, *tensors: network.add_ragged_softmax(*tensors), shares / shares.sum(-1, keepdims=True), x, bounds)


def group_norm(x, groups):
    parts = x.reshape(x.shape[0], groups, -1)
    parts = parts - parts.mean(2, keepdims=True)
    return (parts / np.sqrt((parts ** 2).mean(2, keepdims=True) + 1e-5)).reshape(x.shape)


def test_normalisation_in_groups():
    x, by_group, by_channel = floats(2, 6, 4, 5), floats(1, 3, 1, 1), floats(1, 6, 1, 1)

    def of_groups(add, numbers, groups):
        def draw(network, tensor):
            layer = getattr(network, add)(tensor, constant(network, numbers), constant(network, -numbers), 0b1100)
            layer.num_groups = groups
            return layer
        return draw

    repeated = np.repeat(by_group, 2, 1)
    check(of_groups("add_normalization", by_group, 3), group_norm(x, 3) * repeated - repeated, x, rtol=1e-4)
    check(of_groups("add_normalization_v2", by_channel, 3), group_norm(x, 3) * by_channel - by_channel, x, rtol=1e-4)
    with checks.raises(PolygraphyException, "3 numbers", "6 channels"):
        computed(of_groups("add_normalization", by_group, 2), x)


def test_boxes_that_overlap_are_dropped():
    corners = np.random.RandomState(1).uniform(0, 4, (2, 12, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 3], 2)
    scores = np.random.RandomState(2).uniform(0, 1, (2, 12, 3)).astype(np.float32)

    def expected(boxes, is_centred):
        inputs = {"c": np.array([4], np.int64), "i": np.array([0.3], np.float32), "s": np.array([0.4], np.float32)}
        node = helper.make_node("NonMaxSuppression", ["b", "p", "c", "i", "s"], ["y"], center_point_box=is_centred)
        model = checks.model([node], [("b", 1, None), ("p", 1, None)], [("y", 7, None)],
                             [numpy_helper.from_array(each, name) for name, each in inputs.items()])
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return session.run(None, {"b": boxes, "p": scores.transpose(0, 2, 1)})[0]

    def drawn(box_format):
        def draw(network, boxes, scores):
            layer = network.add_nms(boxes, scores, constant(network, 4, np.int32))
            layer.bounding_box_format = box_format
            layer.set_input(3, constant(network, 0.3))
            layer.set_input(4, constant(network, 0.4))
            return layer
        return draw

    found, number = computed(drawn(trt.BoundingBoxFormat.CORNER_PAIRS), boxes, scores)
    rows = expected(boxes, 0)
    assert found.dtype == np.int32 and 3 < len(rows) < 24 and np.array_equal(found, rows) and number == len(rows)
    found, number = computed(drawn(trt.BoundingBoxFormat.CENTER_SIZES), boxes, scores)
    assert np.array_equal(found, expected(boxes, 1)) and number == len(found)


def test_inputs_may_come_from_later_layers():
    x = floats(3, 4)

    def draw(network, tensor):
        first = network.add_identity(tensor)
        shuffle = network.add_shuffle(tensor)
        positive = network.add_activation(first.get_output(0), trt.ActivationType.RELU)
        total = network.add_elementwise(shuffle.get_output(0), first.get_output(0), trt.ElementWiseOperation.SUM)
        shape = network.add_concatenation([constant(network, [2], np.int32), constant(network, [6], np.int32)])
        shuffle.set_input(1, shape.get_output(0))
        doubled = network.add_elementwise(tensor, tensor, trt.ElementWiseOperation.SUM).get_output(0)
        shuffle.set_input(0, positive.get_output(0))
        first.set_input(0, doubled)
        again = network.add_shuffle(first.get_output(0))
        again.reshape_dims = (2, 6)
        total.set_input(1, again.get_output(0))
        assert tuple(total.get_output(0).shape) == (2, 6) and [each.type.name for each in network][:2] == ["IDENTITY", "SHUFFLE"]
        return total

    check(draw, (np.maximum(2 * x, 0) + 2 * x).reshape(2, 6), x)
    builder, network, (tensor,) = start(x)
    first = network.add_identity(tensor)
    first.set_input(0, network.add_identity(first.get_output(0)).get_output(0))
    network.mark_output(first.get_output(0))
    with checks.raises(PolygraphyException, "cycle"):
        builder._build(network, builder.create_builder_config())


if __name__ == "__main__":
    checks.run_all(globals())
