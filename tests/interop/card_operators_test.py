"""Operators of com.microsoft that ONNX Runtime has for cards, or for one sequence at a time, in the reference: held against
those of its operators for processors that compute the same of parts, and against numpy."""

import os
import subprocess
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, run
from onnx import helper

ASSAY = os.environ["ASSAY"]
DICE = np.random.default_rng(11)
DOMAIN = "com.microsoft"


def normal(*shape, dtype=np.float32):
    return DICE.normal(size=shape).astype(dtype)


def ints(*items):
    return np.array(items, np.int32)


def number(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def model_of(op, inputs, types, attributes):
    """A node, and what it is fed by name; None: an operand that is left out. Saved arrays have no float8: it is constant."""
    feeds = {f"i{i}": value for i, value in enumerate(inputs) if value is not None}
    constants = [onnx.numpy_helper.from_array(feeds.pop(name), name) for name, value in [*feeds.items()]
                 if value.dtype == ml_dtypes.float8_e4m3fn]
    names = [f"i{i}" if value is not None else "" for i, value in enumerate(inputs)]
    outputs = [f"o{i}" for i in range(len(types))]
    infos = [helper.make_tensor_value_info(name, number(value.dtype), value.shape) for name, value in feeds.items()]
    results = [helper.make_tensor_value_info(name, number(dtype), None) for name, dtype in zip(outputs, types)]
    graph = helper.make_graph([helper.make_node(op, names, outputs, domain=DOMAIN, **attributes)], "g", infos, results, constants)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10), feeds


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def runtime(op, inputs, types, **attributes):
    model, feeds = model_of(op, inputs, types, attributes)
    return session_of(model).run(None, feeds)


def in_place(op, inputs, types, shared, **attributes):
    """Outputs that share memory with inputs, as the operator wants it."""
    model, feeds = model_of(op, inputs, types, attributes)
    session = session_of(model)
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(value.copy()) for name, value in feeds.items()}
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for i in range(len(types)):
        if i in shared:
            binding.bind_ortvalue_output(f"o{i}", values[f"i{shared[i]}"])
        else:
            binding.bind_output(f"o{i}")
    session.run_with_iobinding(binding)
    return [value.numpy().copy() for value in binding.get_outputs()]


def packed(lengths, width):
    """Ends of sequences, and offsets of their tokens among padded ones."""
    places = np.arange(len(lengths) * width).reshape(len(lengths), width)
    kept = np.concatenate([row[:length] for row, length in zip(places, lengths)])
    rest = np.setdiff1d(places, kept)
    return ints(0, *np.cumsum(lengths)), np.concatenate([kept, rest]).reshape(places.shape).astype(np.int32)


class CardOperators(InFolder):
    def reference(self, op, inputs, types, **attributes):
        model, feeds = model_of(op, inputs, types, attributes)
        path = self.path / "node.onnx"
        onnx.save(model, path)
        np.savez(self.path / "in.npz", **feeds)
        run(ASSAY, "run", path, "--ref", "--load-inputs", self.path / "in.npz", "--save-outputs", self.path / "out.npz")
        found = np.load(self.path / "out.npz")
        return [found[f"o{i}"] for i in range(len(types))]

    def refused(self, reason, op, inputs, types, **attributes):
        """One line, with the reason, and the exit status of bad input."""
        model, feeds = model_of(op, inputs, types, attributes)
        onnx.save(model, self.path / "bad.onnx")
        np.savez(self.path / "in.npz", **feeds)
        words = [ASSAY, "run", str(self.path / "bad.onnx"), "--ref", "--load-inputs", str(self.path / "in.npz")]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600)
        lines = [line for line in result.stderr.splitlines() if "error:" in line]
        self.assertEqual((result.returncode, len(lines)), (2, 1), result.stderr)
        self.assertIn(reason, lines[0])

    def near(self, found, expected, tolerance=1e-5):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)

    def test_packed_multi_head_attention(self):
        lengths, heads, width, value_width, longest = (3, 5, 1), 2, 8, 6, 5
        ends, offsets = packed(lengths, longest)
        q, k, v = normal(9, width), normal(9, width), normal(9, value_width)
        bias, addend = normal(2 * width + value_width), normal(1, heads, longest, longest)
        found, = self.reference("PackedMultiHeadAttention", [q, k, v, bias, offsets, ends, addend], [np.float32],
                                num_heads=heads, scale=0.4)
        parts = [each + part for each, part in zip((q, k, v), np.split(bias, [width, 2 * width]))]
        for first, end in zip(ends, ends[1:]):
            own = [each[None, first:end] for each in parts]
            shared = np.ascontiguousarray(addend[:, :, : end - first, : end - first])
            expected = runtime("MultiHeadAttention", [*own, None, None, shared], [np.float32], num_heads=heads, scale=0.4)[0]
            self.near(found[first:end], expected[0])
        together = np.stack([each.reshape(9, heads, 4) for each in (q, k, k)], 2)
        found, = self.reference("PackedMultiHeadAttention", [together, None, None, None, offsets, ends], [np.float32], num_heads=heads)
        expected, = self.reference("PackedMultiHeadAttention", [q, k, k, None, offsets, ends], [np.float32], num_heads=heads)
        np.testing.assert_array_equal(found, expected)

    def test_packed_attention(self):
        lengths, heads, width = (2, 4), 2, 8
        ends, offsets = packed(lengths, 4)
        x, weights, bias = normal(6, 5), normal(5, 3 * width), normal(3 * width)
        found, = self.reference("PackedAttention", [x, weights, bias, offsets, ends], [np.float32], num_heads=heads)
        for first, end in zip(ends, ends[1:]):
            expected = runtime("Attention", [x[None, first:end], weights, bias], [np.float32], num_heads=heads)[0]
            self.near(found[first:end], expected[0])

    def paged(self, lengths, past, attributes, extra=(), window=-1):
        """Sequences in blocks of caches, against the same in caches of their own."""
        heads, kv_heads, size, block, blocks = 4, 2, 16, 4, 24
        count = sum(lengths)
        ends = ints(0, *np.cumsum(lengths))
        q, k, v = (normal(count, width * size, dtype=np.float16) for width in (heads, kv_heads, kv_heads))
        caches = [normal(blocks, block, kv_heads, size, dtype=np.float16) for _ in range(2)]
        table = DICE.permutation(blocks)[: len(lengths) * 5].reshape(len(lengths), 5).astype(np.int32)
        angles = np.arange(20)[:, None] / 10.0 ** (np.arange(size // 2) / 4)
        turns = [np.cos(angles).astype(np.float16), np.sin(angles).astype(np.float16)]
        attributes = {"num_heads": heads, "kv_num_heads": kv_heads, "do_rotary": 1, **attributes}
        inputs = [q, k, v, *caches, ends, ints(*past), table, *turns, *extra]
        found = self.reference("PagedAttention", inputs, [np.float16] * 3, local_window_size=window, **attributes)
        for b, (first, end) in enumerate(zip(ends, ends[1:])):
            total = past[b] + lengths[b]
            places = [table[b, at // block] * block + at % block for at in range(total)]
            old = [cache.reshape(-1, kv_heads, size)[places[: past[b]]].transpose(1, 0, 2)[None] for cache in caches]
            own = [each[None, first:end].astype(np.float32) for each in (q, k, v)]
            grouped = [*own, *(each.astype(np.float32) for each in old), ints(total - 1), np.array(total, np.int32),
                       *(each.astype(np.float32) for each in turns)]
            expected = runtime("GroupQueryAttention", grouped, [np.float32] * 3, local_window_size=window, **attributes)
            self.near(found[0][first:end].astype(np.float32), expected[0][0], 3e-3)
            for cache, present in zip(found[1:], expected[1:]):
                self.near(cache.reshape(-1, kv_heads, size)[places].transpose(1, 0, 2).astype(np.float32), present[0], 2e-3)

    def test_paged_attention(self):
        self.paged((5, 3), (0, 0), {})
        self.paged((1, 1, 1), (7, 0, 13), {"scale": 0.3})
        self.paged((1, 1), (9, 12), {"softcap": 5.0, "rotary_interleaved": 1}, window=4)

    def test_slots_of_paged_attention(self):
        """A token whose slot is -1 is not written."""
        caches = [np.zeros((2, 2, 1, 8), np.float16) for _ in range(2)]
        q = normal(2, 8, dtype=np.float16)
        inputs = [q, q, q, *caches, ints(0, 2), ints(0), ints(1, 0).reshape(1, 2), None, None, ints(-1, 3)]
        found = self.reference("PagedAttention", inputs, [np.float16] * 3, num_heads=1, kv_num_heads=1)
        np.testing.assert_array_equal(found[1].reshape(4, 8), np.stack([np.zeros(8), np.zeros(8), np.zeros(8), q[1]]))

    def test_caches_of_codes(self):
        """Keys and values of 8 and of 4 bits, with one scale and with one for each place of a head."""
        heads, kv_heads, size, batch, old = 4, 2, 8, 2, 5
        for bits, dtype, width in ((8, np.int8, size), (4, np.uint8, size // 2)):
            for kind, shape in (("PER_TENSOR", (1,)), ("PER_CHANNEL", (1, kv_heads, 1, size))):
                scales = [((abs(DICE.normal(size=shape)) + 0.5) * 4.0 ** (2 - bits / 2)).astype(np.float32) for _ in range(2)]
                for length, past, ends in ((3, 0, (3, 3)), (1, old, (old + 1, 3))):
                    q, k, v = (normal(batch, length, each * size) for each in (heads, kv_heads, kv_heads))
                    caches = [DICE.integers(0, 256, (batch, kv_heads, past, width)).astype(np.uint8).view(dtype) for _ in range(2)]
                    total = np.array(max(ends), np.int32)
                    inputs = [q, k, v, *caches, ints(*ends) - 1, total, None, None, None, None, None, *scales]
                    attributes = {"num_heads": heads, "kv_num_heads": kv_heads, "kv_cache_bit_width": bits,
                                  "k_quant_type": kind, "v_quant_type": kind}
                    types = [np.float32, dtype, dtype]
                    found = self.reference("GroupQueryAttention", inputs, types, **attributes)
                    expected = runtime("GroupQueryAttention", inputs, types, **attributes)
                    self.near(found[0], expected[0], 2e-5)
                    for one, other in zip(found[1:], expected[1:]):
                        for b, end in enumerate(ends):
                            np.testing.assert_array_equal(one[b, :, :end], other[b, :, :end], err_msg=f"{bits} {kind} {length}")

    def test_sparse_attention(self):
        """Each sequence alone: batches of several lengths read each other's places in ONNX Runtime 1.31."""
        heads, kv_heads, size, block, room = 4, 2, 16, 16, 64
        masks = [[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]], [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]]]
        rows = np.array([[0, *np.cumsum([sum(row) for row in mask])] for mask in masks], np.int32)
        columns = [[place for row in mask for place in np.flatnonzero(row)] for mask in masks]
        columns = np.array([each + [-1] * (9 - len(each)) for each in columns], np.int32)
        angles = np.arange(room)[:, None] / 10.0 ** (np.arange(size // 2) / 4)
        turns = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
        attributes = {"num_heads": heads, "kv_num_heads": kv_heads, "sparse_block_size": block, "do_rotary": 1}
        for length, ends in ((50, (50, 33)), (1, (37, 21)), (1, (64, 3))):
            q, k, v = (normal(2, length, width * size) for width in (heads, kv_heads, kv_heads))
            past = [normal(2, kv_heads, room, size) for _ in range(2)]
            inputs = [q, k, v, *past, rows, columns, ints(max(ends)), ints(*ends), *turns]
            found = self.reference("SparseAttention", inputs, [np.float32] * 3, **attributes)
            for b, end in enumerate(ends):
                own = [each[b : b + 1, : min(length, end)] for each in (q, k, v)]
                alone = [*own, *(each[b : b + 1] for each in past), rows, columns, ints(end), ints(end), *turns]
                expected = in_place("SparseAttention", alone, [np.float32] * 3, {1: 3, 2: 4}, **attributes)
                self.near(found[0][b, : min(length, end)], expected[0][0])
                for present, other in zip(found[1:], expected[1:]):
                    self.near(present[b, :, :end], other[0, :, :end])

    def test_embeddings_of_codes(self):
        tables = [DICE.integers(0, 256, shape).astype(np.uint8) for shape in ((9, 4), (6, 4), (2, 4), (4,), (4,))]
        ids, segments = DICE.integers(0, 9, (2, 5)).astype(np.int32), DICE.integers(0, 2, (2, 5)).astype(np.int32)
        mask = ints(1, 1, 1, 0, 0, 1, 1, 1, 1, 0).reshape(2, 5)
        scales = [np.array(each, np.float32) for each in (0.02, 0.01, 0.03, 0.015, 0.02)]
        zeros = [np.array(each, np.uint8) for each in (120, 130, 128, 100, 126)]
        inputs = [ids, segments, *tables, mask, *scales, *zeros]
        for given in (inputs, [value if i not in (1, 4, 7, 10, 15) else None for i, value in enumerate(inputs)]):
            found = self.reference("QEmbedLayerNormalization", given, [np.float32, np.int32], epsilon=1e-5)
            expected = runtime("QEmbedLayerNormalization", given, [np.float32, np.int32], epsilon=1e-5)
            self.near(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])

    def test_time_warping(self):
        for shape in ((4, 7), (1, 6, 6), (5, 1), (1, 8)):
            for costs in (normal(*shape), DICE.integers(0, 3, shape).astype(np.float32)):
                found, = self.reference("DynamicTimeWarping", [costs], [np.int32])
                np.testing.assert_array_equal(found, runtime("DynamicTimeWarping", [costs], [np.int32])[0])

    def test_bifurcation(self):
        for trial in range(20):
            source, current = (DICE.integers(0, 4, size).astype(np.int64) for size in (8, 5))
            match = np.array(DICE.integers(0, 8), np.int64)
            guessed = np.append(source[match:], 9).astype(np.int64)
            guessed[DICE.integers(0, len(guessed)) :] = 3
            for inputs in ([source, current, match], [source, current, match, guessed]):
                found = self.reference("BifurcationDetector", inputs, [np.int64] * 2, min_ngram_size=1 + trial % 2, max_ngram_size=3)
                expected = runtime("BifurcationDetector", inputs, [np.int64] * 2, min_ngram_size=1 + trial % 2, max_ngram_size=3)
                for one, other in zip(found, expected):
                    np.testing.assert_array_equal(one, other, err_msg=f"{inputs}")

    def test_hashes_of_sequences(self):
        ends = ints(0, 1, 5, 9)
        ids, past = DICE.integers(0, 9, 9).astype(np.int64), DICE.integers(0, 9, (3, 2)).astype(np.int64)
        factors, sizes, offsets = (np.array(each, np.int64) for each in ([3, 7, 11], [5, 7, 11, 13], [0, 5, 12, 23]))
        segments, old = ints(1, 0, 0, 1, 1, 2, 2, 3, 3), ints(1, 1, 5, 0, 2, 2).reshape(3, 2)
        stop, counts = np.array(4, np.int64), ints(2, 1, 3)
        given = [ids, factors, sizes, ends]
        for rest, outputs, attributes in (([], 2, {}), ([past, offsets], 2, {}), ([past, None, stop], 2, {"reset_on_eos": 1}),
                                          ([past, None, None, segments], 3, {}), ([past, None, stop, segments, old], 3, {}),
                                          ([None, None, None, segments, old, counts], 4, {"state_update_capacity": 2})):
            types = [np.int64, np.int64, np.int32, np.int64][:outputs]
            attributes = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 1, **attributes}
            found = self.reference("VarlenNGramHashMapping", [*given, *rest], types, **attributes)
            expected = runtime("VarlenNGramHashMapping", [*given, *rest], types, **attributes)
            for number, (one, other) in enumerate(zip(found, expected)):
                np.testing.assert_array_equal(one, other, err_msg=f"output {number} {rest} {attributes}")

    def test_products_of_float8_in_blocks(self):
        a, codes = normal(2, 3, 20, dtype=np.float16), normal(5, 20).astype(ml_dtypes.float8_e4m3fn)
        scales, bias = abs(normal(5, 3)), normal(5, dtype=np.float16)
        weights = codes.astype(np.float32) * np.repeat(scales, 8, 1)[:, :20]
        for scale in (None, np.array(0.02, np.float32)):
            found, = self.reference("MatMulBlockQuantizedFp8Weight", [a, codes, scales, scale, bias], [np.float16], block_size=8)
            used = a.astype(np.float32)
            if scale is not None:
                used = np.clip(used / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale
            self.near(found.astype(np.float32), used @ weights.T + bias.astype(np.float32), 2e-3)

    def test_products_of_float4_in_blocks(self):
        a, bias = normal(3, 32, dtype=np.float16), normal(5, dtype=np.float16)
        codes = DICE.integers(0, 256, (5, 16)).astype(np.uint8)
        scales = abs(normal(5, 2)).astype(ml_dtypes.float8_e4m3fn)
        scale = np.array(0.5, np.float32)
        both = np.stack([codes & 15, codes >> 4], -1).reshape(5, 32)
        numbers = both.astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        weights = (numbers * scale * np.repeat(scales.astype(np.float32), 16, 1)).astype(np.float16).astype(np.float32)
        found, = self.reference("MatMulBlockQuantizedFp4Weight", [a, codes, scales.view(np.uint8), scale, None, bias], [np.float16])
        self.near(found.astype(np.float32), a.astype(np.float32) @ weights.T + bias.astype(np.float32), 2e-3)

    def test_convolutions_of_sequences(self):
        lengths, channels, dilation = (3, 1, 6), 4, 2
        ends = ints(0, *np.cumsum(lengths))
        x, weight, bias, state = normal(10, channels), normal(channels, 1, 3), normal(channels), normal(3, channels, 4)
        found = self.reference("VarlenCausalConvWithState", [x, weight, ends, bias, state, ints(2, 9, 0)], [np.float32] * 3,
                               dilation=dilation, activation="silu", state_update_capacity=2)
        for b, (first, end) in enumerate(zip(ends, ends[1:])):
            own = np.ascontiguousarray(x[first:end].T[None])
            expected = runtime("CausalConvWithState", [own, weight, bias, state[b : b + 1]], [np.float32] * 2,
                               dilation=dilation, activation="silu")
            self.near(found[0][first:end], expected[0][0].T)
            self.near(found[1][b], expected[1][0])
        updates = np.zeros((3, 2, channels), np.float32)
        updates[0], updates[1, 0] = x[:2], x[3]
        np.testing.assert_array_equal(found[2], updates)

    def test_paddings(self):
        x, counts = normal(3, 4, 2), ints(1, 4, 2)
        ends, offsets = packed(counts, 4)
        kept = np.concatenate([row[:count] for row, count in zip(x, counts)])
        found = self.reference("RemovePadding", [x, counts], [np.float32, np.int32, np.int32, np.int32])
        for one, other in zip(found, (kept, offsets, ends, ints(4))):
            np.testing.assert_array_equal(one, other)
        restored, = self.reference("RestorePadding", [kept, offsets], [np.float32])
        np.testing.assert_array_equal(restored, np.where(np.arange(4)[None, :, None] < counts[:, None, None], x, 0))

    def test_small_ones(self):
        table, indices = normal(5, 3), np.array([[4, 0], [1, 1]], np.int64)
        found, = self.reference("TorchEmbedding", [table, indices], [np.float32])
        np.testing.assert_array_equal(found, table[indices])
        for bad, flags, expected in ((np.nan, {}, False), (np.inf, {}, False), (1, {}, True),
                                     (np.nan, {"isinf_only": 1}, True), (-np.inf, {"isnan_only": 1}, True)):
            values = [normal(3), np.array([0, bad], np.float32)]
            self.assertEqual(bool(self.reference("IsAllFinite", values, [bool], **flags)[0]), expected)


    def test_refusals(self):
        x, caches, sizes = normal(1, 1, 4), [normal(1, 1, 4, 4)] * 2, {"num_heads": 1, "kv_num_heads": 1, "sparse_block_size": 2}
        for rows, end, reason in ((ints(0, 5), 1, "from 0 to 5"), (ints(0, 1), 3, "position 2 lies behind")):
            inputs = [x, x, x, *caches, rows[None], ints(0)[None], ints(end), ints(end)]
            self.refused(reason, "SparseAttention", inputs, [np.float32] * 3, **sizes)
        self.refused("is said to have 3", "RemovePadding", [normal(1, 2, 2), ints(3)], [np.float32, np.int32, np.int32, np.int32])
        tokens = [np.array(each, np.int64) for each in ([1, 2, 3], [1], 1, [2, 3])]
        self.refused("2 tokens are predicted, expected 3", "BifurcationDetector", tokens, [np.int64] * 2)
        inputs = [normal(2, 1), normal(1, 1, 2), ints(0, 2), None, normal(1, 1, 1)]
        self.refused("capture_count", "VarlenCausalConvWithState", inputs, [np.float32] * 2, state_update_capacity=1)
        codes, scale, zero = np.zeros((2, 2), np.uint8), np.float32(1).reshape(()), np.array(0, np.uint8)
        inputs = [ints(0)[None], ints(0)[None], codes, codes, None, codes[0], codes[0], None, scale, scale, None, scale, scale,
                  zero, zero, None, zero, zero]
        self.refused("segments", "QEmbedLayerNormalization", inputs, [np.float32, np.int32])


if __name__ == "__main__":
    unittest.main()
