"""Layers whose results follow from what TensorRT documents: defaults, inputs in their order, indices of several kinds."""

import assay.tensorrt as trt
import checks
import numpy as np
from assay.backend.trt import TrtRunner

LOGGER = trt.Logger(trt.Logger.INTERNAL_ERROR)
TYPES = {"f": trt.float32, "i": trt.int32, "l": trt.int64, "b": trt.bool}


def computed(draw, *arrays):
    """The outputs of the layer that `draw(network, *tensors)` gives."""
    builder = trt.Builder(LOGGER)
    network = builder.create_network()
    kinds = {np.float32: "f", np.int32: "i", np.int64: "l", np.bool_: "b"}
    inputs = [network.add_input(f"x{i}", TYPES[kinds[each.dtype.type]], each.shape) for i, each in enumerate(arrays)]
    layer = draw(network, *inputs)
    for i in range(layer.num_outputs):
        network.mark_output(layer.get_output(i))
    plan = builder._build(network, builder.create_builder_config())
    with TrtRunner(trt.Runtime(LOGGER).deserialize_cuda_engine(plan)) as runner:
        found = runner.infer({f"x{i}": each for i, each in enumerate(arrays)})
        return [found[layer.get_output(i).name] for i in range(layer.num_outputs)]


def constant(network, values, dtype):
    array = np.array(values, dtype)
    return network.add_constant(array.shape, array).get_output(0)


def same(found, expected):
    assert found.shape == expected.shape and np.allclose(found, expected, atol=1e-6), (found, expected)


def test_activations_with_their_defaults():
    x = np.array([-3, -0.5, 0, 0.5, 3], np.float32)
    expected = {"LEAKY_RELU": np.where(x > 0, x, 0.01 * x), "ELU": np.where(x > 0, x, np.exp(x) - 1),
                "SELU": 1.05070102 * np.where(x > 0, x, 1.67326324 * (np.exp(x) - 1)), "SOFTPLUS": np.log(np.exp(x) + 1),
                "CLIP": x, "HARD_SIGMOID": np.clip(0.2 * x + 0.5, 0, 1), "SCALED_TANH": np.tanh(x),
                "THRESHOLDED_RELU": np.where(x > 1, x, 0)}
    for name, each in expected.items():
        same(computed(lambda n, t, name=name: n.add_activation(t, trt.ActivationType[name]), x)[0], each)


def test_one_hot_takes_values_before_the_depth():
    indices = np.array([[0, 2]], np.int32)
    found, = computed(lambda n, t: n.add_one_hot(t, constant(n, [5, 7], np.float32), constant(n, 3, np.int32), -1), indices)
    same(found, np.array([[[7, 5, 5], [5, 5, 7]]], np.float32))


def test_gathers():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    indices = np.array([[0, 1], [1, 2]], np.int32)
    same(computed(lambda n, t, i: n.add_gather_v2(t, i, trt.GatherMode.ND), x, indices)[0], x[indices[:, 0], indices[:, 1]])

    def pairs(network, data, places):
        layer = network.add_gather_v2(data, places, trt.GatherMode.ND)
        layer.num_elementwise_dims = 1
        return layer

    rows = np.array([[[0], [2]], [[1], [1]]], np.int32)
    same(computed(pairs, x, rows)[0], np.stack([x[i][rows[i, :, 0]] for i in range(2)]))

    def by_row(axis):
        def draw(network, data, places):
            layer = network.add_gather(data, places, axis)
            layer.num_elementwise_dims = 1
            return layer

        return draw

    for axis in (1, 2):
        same(computed(by_row(axis), x, indices)[0], np.stack([np.take(x[i], indices[i], axis - 1) for i in range(2)]))


def test_scatter_of_slices():
    x = np.zeros((3, 2), np.float32)
    updates = np.array([[1, 2], [3, 4]], np.float32)
    found, = computed(lambda n, t, i, u: n.add_scatter(t, i, u, trt.ScatterMode.ND), x, np.array([[2], [0]], np.int32), updates)
    same(found, np.array([[3, 4], [0, 0], [1, 2]], np.float32))


def test_places_of_what_is_not_zero():
    x = np.array([[0, 1], [2, 0]], np.float32)
    for dtype, kind in ((trt.int32, np.int32), (trt.int64, np.int64)):
        found, = computed(lambda n, t, dtype=dtype: n.add_non_zero(t, dtype), x)
        assert found.dtype == kind and np.array_equal(found, np.nonzero(x))


def test_quantisers_of_one_scale():
    x = np.array([[-1, 0.3, 5]], np.float32)
    for shape in ((), (1,)):
        def draw(network, tensor, shape=shape):
            scale = network.add_constant(shape, np.full(shape, 0.5, np.float32)).get_output(0)
            return network.add_dequantize(network.add_quantize(tensor, scale).get_output(0), scale)

        same(computed(draw, x)[0], np.round(x / 0.5) * 0.5)


def test_fills_of_tensors():
    def draw(network, first):
        layer = network.add_fill((), trt.FillOperation.LINSPACE, trt.float32)
        layer.set_input(0, constant(network, [2, 3], np.int32))
        layer.set_input(1, first)
        layer.set_input(2, constant(network, [10, 1], np.float32))
        return layer

    same(computed(draw, np.array(5, np.float32))[0], np.array([[5, 6, 7], [15, 16, 17]], np.float32))


def test_how_many_elements_a_tensor_tells():
    def draw(network, tensor):
        layer = network.add_topk(tensor, trt.TopKOperation.MAX, 1, 1)
        layer.set_input(1, constant(network, 2, np.int32))
        return layer

    values, places = computed(draw, np.array([3, 9, 5], np.float32))
    same(values, np.array([9, 5], np.float32))
    assert places.dtype == np.int32 and places.tolist() == [1, 2]


def test_attention_whose_last_query_sees_all_keys():
    random = np.random.RandomState(0)
    query, key, value = (random.standard_normal((1, 1, rows, 2)).astype(np.float32) for rows in (2, 4, 4))
    for kind, first in ((trt.CausalMaskKind.UPPER_LEFT, 1), (trt.CausalMaskKind.LOWER_RIGHT, 3)):
        products = query[0, 0] @ key[0, 0].T
        for row in range(2):
            products[row, first + row:] = -np.inf
        shares = np.exp(products - products.max(1, keepdims=True))
        expected = (shares / shares.sum(1, keepdims=True)) @ value[0, 0]
        softmax = trt.AttentionNormalizationOp.SOFTMAX
        found, = computed(lambda n, q, k, v, kind=kind: n.add_attention_v2(q, k, v, softmax, kind), query, key, value)
        same(found[0, 0], expected)


def test_resizing_by_nothing_and_by_factors():
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    same(computed(lambda n, t: n.add_resize(t), x)[0], x)

    def doubled(network, tensor):
        layer = network.add_resize(tensor)
        layer.scales = [1, 1, 2, 2]
        assert layer.shape is None and layer.get_output(0).shape == (1, 1, 4, 4)
        return layer

    same(computed(doubled, x)[0], x.repeat(2, 2).repeat(2, 3))


def test_orders_of_axes():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

    def draw(network, tensor):
        layer = network.add_shuffle(tensor)
        layer.first_transpose, layer.reshape_dims, layer.second_transpose = (2, 0, 1), (4, -1), trt.Permutation((1, 0))
        return layer

    same(computed(draw, x)[0], x.transpose(2, 0, 1).reshape(4, 6).T)

    def told(network, tensor, shape):
        layer = network.add_shuffle(tensor)
        layer.set_input(1, shape)
        layer.second_transpose = (1, 0)
        return layer

    same(computed(told, x, np.array([4, 6], np.int32))[0], x.reshape(4, 6).T)


def test_channels_that_are_last_in_memory():
    x = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)
    last = x.transpose(0, 2, 3, 1).copy()
    for first, second in ((True, True), (True, False), (False, True)):
        builder = trt.Builder(LOGGER)
        network = builder.create_network()
        tensor = network.add_input("x", trt.float32, (1, 3, -1, 4))
        layer = network.add_scale(tensor, trt.ScaleMode.CHANNEL, np.array([0, 1, 2], np.float32))
        layer.get_output(0).name = "y"
        network.mark_output(layer.get_output(0))
        for each, is_last in ((tensor, first), (layer.get_output(0), second)):
            if is_last:
                each.allowed_formats = 1 << int(trt.TensorFormat.HWC)
        config, profile = builder.create_builder_config(), builder.create_optimization_profile()
        profile.set_shape("x", (1, 3, 1, 4), (1, 3, 2, 4), (1, 3, 8, 4))
        config.add_optimization_profile(profile)
        engine = trt.Runtime(LOGGER).deserialize_cuda_engine(builder._build(network, config))
        context = engine.create_execution_context()
        formats = {name: trt.TensorFormat.HWC if is_last else trt.TensorFormat.LINEAR
                   for name, is_last in (("x", first), ("y", second))}
        assert {name: engine.get_tensor_format(name) for name in formats} == formats
        assert engine.get_tensor_shape("x") == (1, 3, -1, 4) and "kHWC" in engine.get_tensor_format_desc("xy"[not first])
        assert engine.get_tensor_profile_shape("x", 0)[2] == (1, 3, 8, 4) and context.set_input_shape("x", (1, 3, 4, 4))
        assert context.get_tensor_shape("y") == (1, 3, 4, 4)
        assert context.get_tensor_strides("x") == ((48, 1, 12, 3) if first else (48, 16, 4, 1))
        expected = x + np.array([0, 1, 2], np.float32).reshape(3, 1, 1)
        memory = {"x": last if first else x, "y": np.empty((1, 4, 4, 3) if second else (1, 3, 4, 4), np.float32)}
        for name, array in memory.items():
            context.set_tensor_address(name, array.ctypes.data)
        assert context.execute_async_v3(0)
        assert np.array_equal(memory["y"].transpose(0, 3, 1, 2) if second else memory["y"], expected)
        with TrtRunner(engine) as runner:
            found = runner.infer({"x": memory["x"]})["y"]
            assert np.array_equal(found, memory["y"])


if __name__ == "__main__":
    checks.run_all(globals())
