"""Quantisers of assay.tensorrt: types, scales of axes and blocks, scales that are made in a run. Expected values are numpy's,
with the types of ml_dtypes."""

import assay.tensorrt as trt
import checks
import ml_dtypes
import numpy as np
from assay.exception import PolygraphyException
from tensorrt_newest_test import errors, experts, plan_of
from tensorrt_test import LOGGER, check, computed, floats, start

X = floats(4, 32) * 3
TYPES = {trt.fp8: (ml_dtypes.float8_e4m3fn, 448), trt.fp4: (ml_dtypes.float4_e2m1fn, 6)}


def rounded(x, dtype):
    """The nearest numbers of a type."""
    if dtype in (trt.int8, trt.int4):
        most = 127 if dtype == trt.int8 else 7
        return np.clip(np.rint(x), -most - 1, most).astype(np.float32)
    kind, most = TYPES[dtype]
    return np.clip(x, -most, most).astype(kind).astype(np.float32)


def there_and_back(scale, dtype, axis=-1, blocks=None):
    """A drawing of a quantiser and what undoes it, of the same scale."""
    def draw(network, tensor):
        scales = network.add_constant(scale.shape, scale).get_output(0)
        codes = network.add_quantize(tensor, scales, dtype)
        floats_again = network.add_dequantize(codes.get_output(0), scales, trt.float32)
        for layer in (codes, floats_again):
            layer.axis = axis
            if blocks is not None:
                layer.block_shape = blocks
                assert tuple(layer.block_shape) == blocks
        assert codes.get_output(0).dtype == dtype and tuple(codes.get_output(0).shape) == (4, 32)
        return floats_again

    return draw


def test_types():
    for dtype in (trt.int8, trt.fp8, trt.int4, trt.fp4):
        for factor in (0.5, 0.001):
            scale = np.float32(factor).reshape(())
            check(there_and_back(scale, dtype), rounded(X / scale, dtype) * scale, X)


def test_scales_of_an_axis():
    for dtype in (trt.int8, trt.fp8, trt.int4):
        scale = np.linspace(0.1, 1, 4, dtype=np.float32)
        check(there_and_back(scale, dtype, 0), rounded(X / scale[:, None], dtype) * scale[:, None], X)


def test_scales_of_blocks():
    rows, columns = np.linspace(0.1, 1, 8, dtype=np.float32).reshape(4, 2), np.linspace(0.1, 1, 64, dtype=np.float32).reshape(2, 32)
    for dtype in (trt.int4, trt.fp8, trt.fp4, trt.int8):
        wide = np.repeat(rows, 16, axis=1)
        check(there_and_back(rows, dtype, blocks=(1, 16)), rounded(X / wide, dtype) * wide, X)
        check(there_and_back(rows, dtype), rounded(X / wide, dtype) * wide, X)
        wide = np.repeat(columns, 2, axis=0)
        check(there_and_back(columns, dtype, blocks=(2, 1)), rounded(X / wide, dtype) * wide, X)


def test_scales_that_are_made_in_a_run():
    x = X.copy()
    x[1, 16:] = 0
    factor = np.float32(0.05)

    def draw(network, tensor):
        results = []
        for add, words in ((network.add_dynamic_quantize, (1, 16)), (network.add_dynamic_quantize_v2, ((1, 16),))):
            layer = add(tensor, *words, trt.fp4, trt.fp8)
            scale_of_scales = network.add_constant((), factor.reshape(())).get_output(0)
            layer.set_input(1, scale_of_scales)
            codes, scales = (layer.get_output(i) for i in range(2))
            assert (codes.dtype, scales.dtype, tuple(scales.shape)) == (trt.fp4, trt.fp8, (4, 2))
            known = network.add_dequantize(scales, scale_of_scales, trt.float32).get_output(0)
            results.append(network.add_dequantize(codes, known, trt.float32).get_output(0))
        return network.add_elementwise(*results, trt.ElementWiseOperation.SUM)

    scales = rounded(np.abs(x).reshape(4, 2, 16).max(2) / 6 / factor, trt.fp8) * factor
    wide = np.repeat(scales, 16, axis=1)
    expected = rounded(x / np.where(wide == 0, 1, wide), trt.fp4) * wide
    check(draw, 2 * expected, x)


def test_other_layers_beside_them():
    """The version of ONNX's operators is a later one then, in which other operators have other words."""
    pictures, grid = floats(1, 1, 4, 4), np.zeros((1, 2, 2, 2), np.float32)

    def draw(network, tensor, places):
        sampled = network.add_grid_sample(tensor, places).get_output(0)
        scale = network.add_constant((), np.array(0.25, np.float32)).get_output(0)
        return network.add_dequantize(network.add_quantize(sampled, scale, trt.fp8).get_output(0), scale, trt.float32)

    middle = pictures[0, 0, 1:3, 1:3].mean()
    check(draw, np.full((1, 1, 2, 2), rounded(middle / 0.25, trt.fp8) * 0.25), pictures, grid)


def test_experts_that_are_rounded():
    random = np.random.default_rng(2)
    x, chosen = random.normal(size=(2, 3, 8)).astype(np.float32), random.integers(0, 4, (2, 3, 2)).astype(np.int32)
    scores = random.random((2, 3, 2)).astype(np.float32)
    for with_biases in (False, True):
        network, layer, (gate, up, down), biases = experts(with_biases=with_biases)
        layer.set_quantization_static(network.add_constant((1,), np.array([0.125], np.float32)).get_output(0), trt.fp8)
        assert layer.quantization_to_type == trt.fp8 and layer.num_inputs == 10
        plan = plan_of(network)
        assert plan is not None, errors()
        seen = trt.Runtime(LOGGER).deserialize_cuda_engine(plan).create_execution_context().infer(
            {"x": x, "chosen": chosen, "scores": scores})["y"]
        wanted = np.zeros_like(x)
        for place in np.ndindex(chosen.shape):
            e, token = chosen[place], x[place[:2]].astype(np.float64)
            g, u = token @ gate[e] + biases[0][e], token @ up[e] + biases[1][e]
            inner = rounded((g / (1 + np.exp(-g)) * u) / 0.125, trt.fp8) * 0.125
            wanted[place[:2]] += scores[place] * (inner @ down[e] + biases[2][e])
        np.testing.assert_allclose(seen, wanted, rtol=1e-3, atol=1e-3)


def test_mistakes():
    _, network, (tensor,) = start(X)
    scale = network.add_constant((2, 2), np.ones((2, 2), np.float32)).get_output(0)
    layer = network.add_quantize(tensor, scale, trt.fp8)
    layer.block_shape = (2, 16)
    network.mark_output(layer.get_output(0))
    assert plan_of(network) is None
    with checks.raises(PolygraphyException, "blocks of (2, 16)"):
        computed(there_and_back(np.ones((2, 2), np.float32), trt.fp8, blocks=(2, 16)), X)
    for kind, scales, axis, size in ((trt.fp8, trt.e8m0, 1, 32), (trt.fp4, trt.fp8, 1, 5), (trt.fp4, trt.fp8, 2, 16)):
        def draw(network, tensor, words=(axis, size, kind, scales)):
            layer = network.add_dynamic_quantize(tensor, *words)
            layer.set_input(1, network.add_constant((), np.array(1, np.float32)).get_output(0))
            return layer

        with checks.raises(PolygraphyException):
            computed(draw, X)
    with checks.raises(PolygraphyException, "nor in TensorRT 11"):
        experts()[1].set_quantization_dynamic_dbl_q(tensor, trt.fp4, (1, 16), trt.fp8)
    network, layer, *_ = experts()
    layer.set_quantization_static(network.add_constant((1,), np.ones(1, np.float32)).get_output(0), trt.fp4)
    assert plan_of(network) is None and "FP8 is there" in errors()[0]


if __name__ == "__main__":
    checks.run_all(globals())
