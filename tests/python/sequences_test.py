"""Layers of language models in assay.tensorrt, beside numpy and onnx's reference of the operators that do the same."""

import assay.tensorrt as trt
import checks
import ml_dtypes
import numpy as np
from assay.exception import PolygraphyException
from onnx import helper
from onnx.reference import ReferenceEvaluator
from tensorrt_test import LOGGER, check, computed, floats, start

NONE, SOFTMAX = trt.AttentionNormalizationOp.NONE, trt.AttentionNormalizationOp.SOFTMAX


def attention(query, key, value, bias=0.0):
    groups = query.shape[1] // key.shape[1]
    products = query @ np.repeat(key, groups, 1).swapaxes(2, 3) + bias
    shares = np.exp(products - products.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True) @ np.repeat(value, groups, 1)


def test_attention():
    query, key, value = floats(2, 4, 5, 8), floats(2, 4, 7, 8), floats(2, 4, 7, 6)
    given = (query, key, value)
    check(lambda n, *t: n.add_attention(*t, SOFTMAX, False), attention(*given), *given)
    later = np.where(np.arange(7) <= np.arange(5)[:, None], 0, -np.inf)
    check(lambda n, *t: n.add_attention(*t, SOFTMAX, True), attention(*given, later), *given)
    shared = (query, key[:, :2], value[:, :2])
    check(lambda n, *t: n.add_attention(*t, SOFTMAX, False), attention(*shared), *shared)
    check(lambda n, *t: n.add_attention(*t, NONE, False), query @ key.swapaxes(2, 3) @ value, *given, rtol=1e-4)


def test_attention_with_masks():
    given = floats(2, 4, 5, 8), floats(2, 4, 7, 8), floats(2, 4, 7, 6)

    def masked(network, *tensors):
        layer = network.add_attention(*tensors[:3], SOFTMAX, False)
        layer.mask = tensors[3]
        assert layer.mask is tensors[3] and layer.num_inputs == 4 and not layer.causal and layer.norm_op == SOFTMAX
        return layer

    bias = floats(2, 1, 5, 7)
    check(masked, attention(*given, bias), *given, bias)
    taken = np.random.RandomState(3).uniform(size=(1, 1, 5, 7)) < 0.6
    taken[..., 0] = True
    check(masked, attention(*given, np.where(taken, 0, -np.inf)), *given, taken)
    with checks.raises(PolygraphyException, "4 heads of queries do not share 3 heads"):
        computed(lambda n, *t: n.add_attention(*t, SOFTMAX, False), given[0], given[1][:, [0, 1, 2]], given[2])
    with checks.raises(PolygraphyException, "the key has the shape (2, 4)", "4 dims"):
        computed(lambda n, *t: n.add_attention(*t, SOFTMAX, False), given[0], floats(2, 4), given[2])


def test_attention_of_padded_sequences():
    given, lengths = (floats(2, 4, 5, 8), floats(2, 4, 7, 8), floats(2, 4, 7, 6)), np.array([3, 7], np.int32)

    def draw(network, *tensors):
        layer = network.add_attention(*tensors[:3], SOFTMAX, False)
        layer.key_value_lengths = tensors[3]
        assert layer.num_inputs == 7 and layer.key_value_lengths is tensors[3] and layer.mask is None
        return layer

    beyond = np.where(np.arange(7) < lengths[:, None, None, None], 0, -np.inf)
    check(draw, attention(*given, beyond), *given, lengths)


def test_attention_of_sequences_one_behind_the_other():
    query, key, value = floats(9, 4, 8), floats(12, 2, 8), floats(12, 2, 6)
    rows, columns = np.array([0, 3, 9], np.int32), np.array([0, 5, 12], np.int32)
    for kind in trt.CausalMaskKind.__members__.values():
        def draw(network, *tensors, kind=kind):
            layer = network.add_attention_v2(*tensors[:3], SOFTMAX, kind)
            layer.query_form = layer.key_value_form = trt.AttentionIOForm.PACKED_NHD
            layer.query_lengths, layer.key_value_lengths = tensors[3:]
            return layer

        expected = np.zeros((9, 4, 6))
        for i in range(2):
            q, (k, v) = query[rows[i]:rows[i + 1]], (each[columns[i]:columns[i + 1]] for each in (key, value))
            shift = len(k) - len(q) if kind.name == "LOWER_RIGHT" else 0
            later = np.arange(len(k)) > np.arange(len(q))[:, None] + shift
            bias = np.where(later & (kind.name != "NONE"), -np.inf, 0)
            made = attention(*(each.swapaxes(0, 1)[None] for each in (q, k, v)), bias)
            expected[rows[i]:rows[i + 1]] = made[0].swapaxes(0, 1)
        check(draw, expected, query, key, value, rows, columns)


def test_attention_that_is_rounded():
    given = floats(2, 4, 5, 8), floats(2, 4, 7, 8), floats(2, 4, 7, 6)
    for dtype, kind in ((trt.fp8, ml_dtypes.float8_e4m3fn), (trt.int8, None)):
        def draw(network, *tensors, dtype=dtype):
            layer = network.add_attention(*tensors, SOFTMAX, False)
            layer.normalization_quantize_scale = network.add_constant((), np.array(0.01, np.float32)).get_output(0)
            layer.normalization_quantize_to_type = trt.float16
            assert layer.normalization_quantize_to_type == trt.float32, "neither FP8 nor INT8"
            layer.normalization_quantize_to_type = dtype
            assert layer.num_inputs == 5 and layer.normalization_quantize_to_type == dtype
            return layer

        products = given[0] @ given[1].swapaxes(2, 3)
        shares = np.exp(products - products.max(-1, keepdims=True))
        shares = shares / shares.sum(-1, keepdims=True) / 0.01
        shares = np.rint(shares) if kind is None else shares.astype(np.float32).astype(kind).astype(np.float32)
        check(draw, shares * 0.01 @ given[2], *given, rtol=2e-2)


def test_mistakes_about_attention():
    given = floats(5, 4, 8), floats(7, 4, 8), floats(7, 4, 6)

    def draw(network, *tensors, both):
        layer = network.add_attention(*tensors, SOFTMAX, False)
        layer.query_form = trt.AttentionIOForm.PACKED_NHD
        if both:
            layer.key_value_form = trt.AttentionIOForm.PACKED_NHD
        return layer

    with checks.raises(PolygraphyException, "one form of both"):
        computed(lambda n, *t: draw(n, *t, both=False), *given)
    with checks.raises(PolygraphyException, "need query_lengths"):
        computed(lambda n, *t: draw(n, *t, both=True), *given)


def rotated(x, cos, sin, places=None, **attributes):
    """By onnx's reference of RotaryEmbedding."""
    inputs = {"x": x, "c": cos, "s": sin, **({} if places is None else {"p": places})}
    node = helper.make_node("RotaryEmbedding", list(inputs), ["y"], **attributes)
    types = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(name, types[each.dtype], None)
                                            for name, each in inputs.items()], [helper.make_tensor_value_info("y", 1, None)])
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])).run(None, inputs)[0]


def test_rotary_embedding():
    x = floats(2, 3, 5, 8)
    for pairs, size in ((False, 0), (True, 0), (False, 4), (True, 6)):
        angles = floats(2, 5, (size or 8) // 2)
        expected = rotated(x, np.cos(angles), np.sin(angles), interleaved=int(pairs), rotary_embedding_dim=size)
        check(lambda n, *t, p=pairs, s=size: n.add_rotary_embedding(*t, p, s), expected, x, np.cos(angles), np.sin(angles))
    angles, places = floats(9, 4), np.array([[3, 4, 5, 6, 7], [0, 2, 4, 6, 8]])

    def of_places(network, *tensors):
        layer = network.add_rotary_embedding(*tensors[:3], interleaved=False, rotary_embedding_dim=0)
        layer.set_input(3, tensors[3])
        return layer

    expected = rotated(x, np.cos(angles), np.sin(angles), places)
    check(of_places, expected, x, np.cos(angles), np.sin(angles), places.astype(np.int32))
    with checks.raises(PolygraphyException, "3 of 8 elements"):
        computed(lambda n, *t: n.add_rotary_embedding(*t, False, 3), x, angles, angles)


def updated(cache, rows, starts):
    expected = cache.copy()
    for each, new, place in zip(expected, rows, starts):
        each[:, place:place + new.shape[1]] = new
    return expected


def test_caches_of_keys_and_values():
    cache, rows, starts = floats(2, 3, 8, 4), floats(2, 3, 2, 4), np.array([5, 1], np.int32)
    check(lambda n, *t: n.add_kv_cache_update(*t, trt.KVCacheMode.LINEAR), updated(cache, rows, starts), cache, rows, starts)


def test_caches_are_updated_in_place():
    cache, rows, starts = floats(2, 3, 8, 4), floats(2, 3, 2, 4), np.array([5, 1], np.int32)
    builder, network, tensors = start(cache, rows, starts)
    made = network.add_kv_cache_update(*tensors, trt.KVCacheMode.LINEAR).get_output(0)
    made.name = "present"
    network.mark_output(made)
    engine = trt.Runtime(LOGGER).deserialize_cuda_engine(builder._build(network, builder.create_builder_config()))
    expected = updated(cache, rows, starts)
    context = engine.create_execution_context()
    for name, array in zip(("x0", "x1", "x2", "present"), (cache, rows, starts, cache)):
        context.set_tensor_address(name, array.ctypes.data)
    assert context.execute_async_v3(0) and np.array_equal(cache, expected)


def test_layers_that_are_not_there_say_why():
    _, network, (tensor,) = start(floats(2, 16))
    with checks.raises(PolygraphyException, "add_assertion() is not there", "mark the condition as an output"):
        network.add_assertion(tensor, "never")
    assert not hasattr(network, "add_nothing") and not hasattr(network, "assertion")


if __name__ == "__main__":
    checks.run_all(globals())
