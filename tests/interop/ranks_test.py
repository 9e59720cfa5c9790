#!/usr/bin/env python3
"""Shards that run, beside the whole model in ONNX Runtime, within tolerances computed for it: ranks_test.py ASSAY"""

import json
import subprocess
import unittest

import numpy
import onnx
import onnxruntime
import shard_test
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper
from shard_test import BLOCK, PROGRAM, QKV, encoder, model_of, quantized, tensor, weight


def block(hidden=32):
    weights = [weight("gate", hidden, 2 * hidden), weight("up", hidden, 2 * hidden), weight("down", 2 * hidden, hidden)]
    return model_of(BLOCK, [tensor("h", (2, 3, hidden))], [tensor("y", (2, 3, hidden))], weights)


def attention(heads=8, hidden=64):
    """A layer with ONNX's Attention, a bias that is added once, and a gated block."""
    weights = [weight("wq", hidden, hidden), weight("wk", hidden, hidden), weight("wv", hidden, hidden),
               weight("wo", hidden, hidden), weight("bias", hidden), weight("gate", hidden, 2 * hidden),
               weight("up", hidden, 2 * hidden), weight("down", 2 * hidden, hidden)]
    core = [("Attention", ["q", "k", "v"], ["z"], {"q_num_heads": heads, "kv_num_heads": heads, "is_causal": 1}),
            ("MatMul", ["z", "wo"], ["a0"], {}), ("Add", ["a0", "bias"], ["a1"], {}), ("Add", ["x", "a1"], ["h"], {})]
    model = model_of(QKV + core + BLOCK, [tensor("x", (1, 6, hidden))], [tensor("y", (1, 6, hidden))], weights)
    model.opset_import[0].version = 23
    model.ir_version = 10
    return model


def cached(heads=8, size=8):
    """Grouped attention of ONNX Runtime, whose caches each rank has its heads of."""
    hidden = heads * size
    past = (1, heads, 4, size)
    inputs = [tensor("x", (1, 1, hidden)), tensor("pk", past), tensor("pv", past),
              tensor("seqlens", (1,), TensorProto.INT32), tensor("total", (1,), TensorProto.INT32)]
    now = (1, heads, 5, size)
    outputs = [tensor("y", (1, 1, hidden)), tensor("nk", now), tensor("nv", now)]
    core = [("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "seqlens", "total"], ["z", "nk", "nv"],
             {"num_heads": heads, "kv_num_heads": heads, "domain": "com.microsoft"})]
    return model_of(QKV + core + [("MatMul", ["z", "wo"], ["h"], {})] + BLOCK, inputs, outputs,
                    shard_test.projections(hidden, hidden), "com.microsoft")


class Ranks(InFolder):
    def check(self, model, shard, *words, sides=("--engine", "--onnxrt")):
        path = self.save(model)
        report = self.path / "report.json"
        done = subprocess.run([PROGRAM, "run", path, "--shard", shard, *sides, "--tolerance", "auto", "--seed", "3",
                               "--json", report, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{shard} {sides}: {done.stdout}{done.stderr}")
        pair = json.loads(report.read_text())["pairs"][0]
        self.assertIn("-" + shard.replace(":", ""), pair["runner_a"])
        outputs = pair["iterations"][0]["outputs"]
        self.assertEqual(len(outputs), len(model.graph.output))
        return outputs

    def test_weights(self):
        for sides in (("--engine", "--onnxrt"), ("--ref", "--onnxrt")):
            for ranks in (2, 4, 8):
                for model in (block(), attention(), quantized(block())):
                    self.check(model, f"tp:{ranks}", sides=sides)

    def test_caches_are_shared(self):
        inputs = self.path / "inputs.json"
        random = numpy.random.default_rng(4)
        model = cached()
        feeds = {value.name: random.standard_normal([dim.dim_value for dim in value.type.tensor_type.shape.dim],
                                                    numpy.float32) for value in model.graph.input[:3]}
        feeds |= {"seqlens": numpy.array([4], numpy.int32), "total": numpy.array([5], numpy.int32)}
        numpy.savez(inputs.with_suffix(".npz"), **feeds)
        for side in ("--engine", "--ref"):
            for ranks in (2, 4):
                outputs = self.check(model, f"tp:{ranks}", "--load-inputs", inputs.with_suffix(".npz"),
                                     sides=(side, "--onnxrt"))
                self.assertEqual({output["name"] for output in outputs}, {"y", "nk", "nv"})

    def test_sequence(self):
        for sides in (("--engine", "--onnxrt"), ("--ref", "--onnxrt")):
            for ranks in (2, 4):
                for model in (encoder(1), encoder(2, "input")):
                    self.check(model, f"cp:{ranks}", "--int-max", "7", sides=sides)

    def test_all_values(self):
        """Values between are put together from those of the ranks."""
        for model, shard in ((attention(), "tp:2"), (encoder(2), "cp:2")):
            path = self.save(model)
            report = self.path / "report.json"
            run(PROGRAM, "run", path, "--shard", shard, "--ref", "--onnxrt", "--onnx-outputs", "mark", "all",
                "--tolerance", "auto", "--int-max", "7", "--json", report)
            pair = json.loads(report.read_text())["pairs"][0]
            self.assertGreater(len(pair["iterations"][0]["outputs"]), 0.6 * len(model.graph.node))

    def test_files_of_ranks(self):
        for model, words, count in ((attention(), ("--parallelism", "TP", "--nb-rank", "2"), 2),
                                    (encoder(2), ("--gpus", "2"), 1)):
            path = self.save(model)
            run(PROGRAM, "multi-device", "shard", path, "--one-shot", *words, "-o", self.path / "s.onnx")
            files = [self.path / f"s_tp2_rank{i}.onnx" for i in range(2)] if count == 2 else [self.path / "s.onnx"]
            shard = "ranks" if count == 2 else "ranks:2"
            feeds = {value.name: numpy.random.default_rng(7).integers(0, 2, [
                dim.dim_value for dim in value.type.tensor_type.shape.dim]).astype(
                    helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)) for value in model.graph.input}
            numpy.savez(self.path / "feeds.npz", **feeds)
            whole = onnxruntime.InferenceSession(path).run(None, feeds)[0]
            for side in ("--engine", "--ref"):
                run(PROGRAM, "run", *files, "--shard", shard, side, "--load-inputs", self.path / "feeds.npz",
                    "--save-outputs", self.path / "outputs.npz")
                found = [array for array in numpy.load(self.path / "outputs.npz").values() if array.shape == whole.shape]
                self.assertEqual(len(found), 1)
                numpy.testing.assert_allclose(found[0], whole, rtol=1e-4, atol=1e-5)

    def test_fused_layers(self):
        """TensorRT's Attention of several ranks is spelled out."""
        path = self.save(shard_test.attention([("q", "k", "v", "h"), ("h", "k2", "v2", "o")]))
        random = numpy.random.default_rng(9)
        feeds = {value.name: random.standard_normal((8, 8, 8), numpy.float32) for value in onnx.load(path).graph.input}
        numpy.savez(self.path / "feeds.npz", **feeds)
        whole = onnxruntime.InferenceSession(path).run(None, feeds)[0]
        for ranks in (2, 4):
            run(PROGRAM, "multi-device", "shard", path, "--one-shot", "--cp-type", "fused", "--gpus", ranks, "--nb-rank",
                ranks, "--k-shuffle", "0", "2", "1", "-o", self.path / "s.onnx")
            for side in ("--engine", "--ref"):
                run(PROGRAM, "run", self.path / "s.onnx", "--shard", f"ranks:{ranks}", side, "--load-inputs",
                    self.path / "feeds.npz", "--save-outputs", self.path / "outputs.npz")
                found = [array for array in numpy.load(self.path / "outputs.npz").values() if array.shape == whole.shape]
                numpy.testing.assert_allclose(found[0], whole, rtol=1e-4, atol=1e-5)

    def test_copies(self):
        model = block()
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
        for ranks in (2, 4):
            for side in ("--engine", "--ref", "--onnxrt"):
                self.check(model, f"copies:{ranks}", "--input-shapes", "h:[8,3,32]", sides=(side, "--onnxrt"))

    def test_debug_accuracy(self):
        """The layers of ranks are judged as those of the whole model."""
        path = self.save(attention())
        report = self.path / "report.json"
        run(PROGRAM, "debug", "accuracy", path, "--shard", "tp:2", "--engine", "--json", report)
        hunt = json.loads(report.read_text())
        self.assertIsNone(hunt["first_guilty"])
        self.assertGreater(len(hunt["layers"]), 7)

    def test_same_bits(self):
        path = self.save(attention())
        for shard in ("tp:2", "tp:4"):
            run(PROGRAM, "debug", "repeat", path, "--same", "--until", "5", "--shard", shard, "--engine")


class Refusals(InFolder):
    def fails(self, *words, status=3):
        done = subprocess.run([PROGRAM, "run", *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_one_line(self):
        path = self.save(block())
        self.assertIn("no collectives", self.fails(path, "--shard", "tp:2", "--onnxrt"))
        self.assertIn("expected tp:N", self.fails(path, "--shard", "tp", "--engine", status=2))
        self.assertIn("needs a backend", self.fails(path, "--shard", "tp:2", status=2))
        self.assertIn("the model has no attention layer", self.fails(path, "--shard", "cp:2", "--ref", status=2))
        self.assertIn("2 ranks need as many devices",
                      self.fails(path, "--shard", "tp:2", "--engine", "--device", "cpu,cpu,cpu"))
        run(PROGRAM, "convert", path, "-o", self.path / "m.engine")
        self.assertIn("engine:tp:2 cannot run it", self.fails(self.path / "m.engine", "--shard", "tp:2", "--engine"))
        self.assertIn("open first dim", self.fails(path, "--shard", "copies:2", "--engine", status=2))
        nccl = ("--rank-transport", "nccl")
        for side in ("--engine", "--ref"):
            self.assertIn("these ranks are on none", self.fails(path, "--shard", "tp:2", side, *nccl))
        self.assertIn("copies exchange nothing", self.fails(path, "--shard", "copies:2", "--engine", *nccl))

    def test_files_that_do_not_belong_together(self):
        run(PROGRAM, "multi-device", "shard", self.save(block()), "--one-shot", "--parallelism", "TP", "--nb-rank", "2",
            "-o", self.path / "s.onnx")
        rank0, rank1 = (self.path / f"s_tp2_rank{i}.onnx" for i in range(2))
        self.assertIn("is made for 2 ranks, and 3 run", self.fails(rank0, rank1, rank1, "--shard", "ranks", "--engine", status=2))
        other = onnx.load(rank1)
        del other.graph.node[-1]
        other.graph.output[0].name = other.graph.node[-1].output[0]
        onnx.save(other, self.path / "other.onnx")
        self.assertIn("rank 1 has another model: its outputs are `shard_0`",
                      self.fails(rank0, self.path / "other.onnx", "--shard", "ranks", "--engine", status=2))
        other = onnx.load(rank1)
        other.graph.node[-1].name = "elsewhere"
        onnx.save(other, self.path / "other.onnx")
        for side in ("--engine", "--ref"):
            self.assertIn("rank 1 has come to `elsewhere` (all_reduce, sum) with float32[2, 3, 32], rank 0 to `shard_1`",
                          self.fails(rank0, self.path / "other.onnx", "--shard", "ranks", side, status=2))


if __name__ == "__main__":
    unittest.main()
