"""Models that onnxruntime.quantization makes with uint8 weights, on the engine, beside ONNX Runtime: with quantisers, as
operators of integers, and quantised while they run. Their plans have the bits of the models.

    engine_uint8_weights_test.py ASSAY
"""

import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, run, saturates
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

ASSAY = sys.argv.pop(1)


def network(seed):
    """Convolutions of all kinds, sums and products; ranges of weights lie on both sides of zero, or nearly on one."""
    rng = np.random.default_rng(seed)
    weights = {}

    def weight(name, *shape, axis=0):
        shifts = rng.choice([-2, -0.5, 0, 0, 0.5, 2], [n if i == axis else 1 for i, n in enumerate(shape)])
        numbers = (rng.normal(size=shape) + shifts) / np.sqrt(2 * np.prod(shape) / shape[axis])
        weights[name] = numbers.astype(np.float32)
        return name

    def conv(source, result, filters, channels, size, **attributes):
        names = [source, weight(f"{result}_w", filters, channels, size, size), weight(f"{result}_b", filters)]
        return helper.make_node("Conv", names, [result], result, pads=[size // 2] * 4, **attributes)

    nodes = [conv("x", "c1", 17, 3, 3, strides=[2, 2]), helper.make_node("Relu", ["c1"], ["r1"]),
             conv("r1", "c2", 17, 1, 3, group=17), helper.make_node("Relu", ["c2"], ["r2"]),
             conv("r2", "c3", 24, 17, 1), conv("c3", "c4", 24, 12, 3, group=2),
             helper.make_node("Add", ["c3", "c4"], ["s"], "sum"), helper.make_node("Relu", ["s"], ["y"]),
             helper.make_node("MatMul", ["m", weight("w1", 33, 40, axis=1)], ["p1"], "p1"),
             helper.make_node("Add", ["p1", weight("b1", 40)], ["a1"], "a1"),
             helper.make_node("Relu", ["a1"], ["r3"]),
             helper.make_node("MatMul", ["r3", weight("w2", 40, 21, axis=1)], ["z"], "p2")]
    shapes = {"x": [2, 3, 17, 14], "m": [30, 33], "y": [2, 24, 9, 7], "z": [30, 21]}
    values = {name: helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()}
    graph = helper.make_graph(nodes, "net", [values["x"], values["m"]], [values["y"], values["z"]],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def feeds_of(seed):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in (("x", (2, 3, 17, 14)), ("m", (30, 33)))}


def recurrent(seed):
    """Two LSTMs, of which the first goes both ways, for batches of two."""
    rng = np.random.default_rng(seed)

    def weights(name, *shape):
        return numpy_helper.from_array((rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32), name)

    tensors = [weights("w1", 2, 4 * 40, 21), weights("r1", 2, 4 * 40, 40), weights("b1", 2, 8 * 40),
               weights("w2", 1, 4 * 17, 80), weights("r2", 1, 4 * 17, 17), numpy_helper.from_array(np.int64([0, 0, -1]), "rows")]
    nodes = [helper.make_node("LSTM", ["m", "w1", "r1", "b1"], ["h"], "first", hidden_size=40, direction="bidirectional"),
             helper.make_node("Transpose", ["h"], ["t"], perm=[0, 2, 1, 3]), helper.make_node("Reshape", ["t", "rows"], ["s"]),
             helper.make_node("LSTM", ["s", "w2", "r2"], ["y", "yh", "yc"], "second", hidden_size=17)]
    shapes = {"m": [9, 2, 21], "y": [9, 1, 2, 17], "yh": [1, 2, 17], "yc": [1, 2, 17]}
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "net", values[:1], values[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


class Reader(CalibrationDataReader):
    def __init__(self):
        self.feeds = iter([feeds_of(1), feeds_of(2)])

    def get_next(self):
        return next(self.feeds, None)


class Uint8WeightsTest(InFolder):
    def expect(self, path, feeds):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # of more, each makes codes of its own part of a batch
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return dict(zip((output.name for output in session.get_outputs()), session.run(None, feeds), strict=True))

    def outputs(self, file, *words):
        saved = self.path / "out.npz"
        run(ASSAY, "run", file, "--engine", *words, "--save-outputs", saved)
        with np.load(saved) as arrays:
            return dict(arrays)

    def check(self, path, feeds):
        """What may be a code apart somewhere moves few of the results, by little."""
        np.savez(self.path / "in.npz", **feeds)
        words = ("--load-inputs", self.path / "in.npz")
        plan = self.path / "m.engine"
        mine, of_plan = [self.outputs(file, *words, *more)
                         for file, more in ((path, ("--save-engine", plan)), (plan, ()))]
        for name, expected in self.expect(path, feeds).items():
            difference = np.abs(mine[name] - expected) / np.max(np.abs(expected))
            self.assertLess(np.max(difference), 0.02, name)
            self.assertLess(np.mean(difference > 1e-5), 0.02, name)
            np.testing.assert_array_equal(of_plan[name], mine[name])

    def test_static(self):
        for form in (QuantFormat.QDQ, QuantFormat.QOperator):
            for per_channel in (False, True):
                with self.subTest(form=form, per_channel=per_channel):
                    path = self.path / "quantised.onnx"
                    quantize_static(str(self.save(network(1))), str(path), Reader(), quant_format=form,
                                    per_channel=per_channel, activation_type=QuantType.QUInt8,
                                    weight_type=QuantType.QUInt8, reduce_range=saturates())
                    onnx.checker.check_model(str(path))
                    self.check(path, feeds_of(3))

    def test_dynamic(self):
        for per_channel in (False, True):
            with self.subTest(per_channel=per_channel):
                path = self.path / "quantised.onnx"
                quantize_dynamic(str(self.save(network(2))), str(path), per_channel=per_channel,
                                 weight_type=QuantType.QUInt8, reduce_range=saturates())
                self.check(path, feeds_of(3))

    def test_lstm(self):
        feeds = {"m": np.random.default_rng(4).normal(size=(9, 2, 21)).astype(np.float32)}
        for weight_type in (QuantType.QUInt8, QuantType.QInt8):
            for per_channel in (False, True):
                with self.subTest(weight_type=weight_type, per_channel=per_channel):
                    path = self.path / "quantised.onnx"
                    quantize_dynamic(str(self.save(recurrent(3))), str(path), per_channel=per_channel,
                                     weight_type=weight_type, reduce_range=saturates())
                    self.assertEqual([node.op_type for node in onnx.load(path).graph.node].count("DynamicQuantizeLSTM"), 2)
                    self.check(path, feeds)


if __name__ == "__main__":
    unittest.main()
