"""Verdicts at their edges: garbage behind quantisers, wrong modes of Resize, small faults in narrow types and masks of
float16 are found by `run --tolerance auto` and by `debug accuracy`; sound layers that seven equal runs would accuse are
not: short means, float64, positions in buckets, long sums, scattered sums, spectra, `--bf16`."""

import os
import subprocess
import sys
import pathlib

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder, unittest
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from models.networks import Network, cnn, draw, fp8_chain, masks

ASSAY = os.environ["ASSAY"]
SIZES = (48, 72, 36, 55, 20)


def values_of(model, feeds):
    """What ONNX Runtime gives for all values, without merging any."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for node in shown.graph.node for name in node.output)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    session = onnxruntime.InferenceSession(shown.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def with_weight(model, index, change):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    weight = copy.graph.initializer[index]
    weight.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(weight)), weight.name))
    return copy


class VerdictEdges(InFolder):
    def codes(self, model, feeds, values, everything=True):
        """Exit codes of both commands on these values beside the reference."""
        path = self.save(model)
        np.savez(self.path / "feeds.npz", **feeds)
        np.savez(self.path / "values.npz", **values)
        data = ["--load-inputs", self.path / "feeds.npz", "--load-outputs", self.path / "values.npz"]
        marked = ["--onnx-outputs", "mark", "all"] if everything else []
        run = subprocess.run([ASSAY, "run", path, "--ref", *data, "--tolerance", "auto", *marked], capture_output=True)
        accuracy = subprocess.run([ASSAY, "debug", "accuracy", path, *data], capture_output=True)
        return run.returncode, accuracy.returncode

    def assert_found(self, *given, **facts):
        self.assertEqual(self.codes(*given, **facts), (1, 1))

    def test_sound_orders_and_steps(self):
        """ONNX Runtime does not sort what it need not, and adds up a Range's steps; a fault behind both is found."""
        nodes = [helper.make_node("TopK", ["x", "k"], ["found", "places"], sorted=0),
                 helper.make_node("ReduceSum", ["found"], ["sum"]),
                 helper.make_node("Range", ["from", "to", "step"], ["steps"]),
                 helper.make_node("Mul", ["steps", "sum"], ["y"])]
        constants = [numpy_helper.from_array(np.array([7]), "k"),
                     *(numpy_helper.from_array(np.float32(value), name)
                       for name, value in (("from", 0.1), ("to", 1000), ("step", 0.1)))]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [3, 50])],
                                  [helper.make_tensor_value_info("y", 1, None)], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        feeds = {"x": np.random.default_rng(5).standard_normal((3, 50)).astype(np.float32)}
        values = values_of(model, feeds)
        self.assertFalse(np.array_equal(values["found"], -np.sort(-feeds["x"], axis=-1)[:, :7]))
        self.assertEqual(self.codes(model, feeds, values), (0, 0))
        self.assert_found(model, feeds, values | {"sum": values["sum"] * np.float32(1.001)})

    def test_garbage_behind_quantisers(self):
        for count in (1, 2, 10, 50):
            with self.subTest(count=count):
                net = Network(np.random.default_rng(count), [1, 16])
                for width in (16, count):
                    net.add("QuantizeLinear", net.constant(0.02), net.constant(128, np.uint8))
                    net.add("DequantizeLinear", *net.nodes[-1].input[1:])
                    net.linear(16, width)
                values = {net.last: values_of(net.model(), net.feeds)[net.last].copy()}
                values[net.last][0, 0] += 1000
                self.assert_found(net.model(), net.feeds, values, everything=False)

    def test_modes_of_resize(self):
        def model(mode, rounding, size):
            node = helper.make_node("Resize", ["x", "", "", "s"], ["r"], mode="nearest", coordinate_transformation_mode=mode,
                                    nearest_mode=rounding)
            graph = helper.make_graph([node, helper.make_node("Relu", ["r"], ["y"])], "g",
                                      [helper.make_tensor_value_info("x", 1, [1, 3, 24, 24])],
                                      [helper.make_tensor_value_info("y", 1, None)],
                                      [numpy_helper.from_array(np.array([1, 3, size, size]), "s")])
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)

        right = ("asymmetric", "floor")
        wrong = [("half_pixel", "round_prefer_floor"), ("align_corners", "round_prefer_floor"), ("half_pixel", "ceil")]
        feeds = {"x": np.random.default_rng(0).uniform(0, 255, (1, 3, 24, 24)).astype(np.float32)}
        for size in SIZES:
            sound = model(*right, size)
            for mode in wrong:
                values = values_of(model(*mode, size), feeds)
                if (values["y"] == values_of(sound, feeds)["y"]).all():
                    continue  # at this size the modes are the same
                with self.subTest(mode, size=size):
                    self.assert_found(sound, feeds, values)

    def test_small_faults_in_narrow_types(self):
        net = cnn(np.random.default_rng(3), np.float16)
        index = next(i for i, w in enumerate(net.model().graph.initializer) if len(w.dims) == 4)
        faulty = with_weight(net.model(), index, lambda a: (a * np.float16(1.01)).astype(np.float16))
        self.assert_found(net.model(), net.feeds, values_of(faulty, net.feeds))

        net = fp8_chain(np.random.default_rng(1))
        faulty = net.model()
        faulty.graph.initializer.append(numpy_helper.from_array(np.float32(0.011), "other"))
        faulty.graph.node[0].input[1] = "other"
        self.assertEqual(self.values_code(net, faulty), (1, 1))

    def values_code(self, net, faulty):
        """Of types that numpy files do not hold."""
        np.savez(self.path / "feeds.npz", **net.feeds)
        saved = self.path / "values.json"
        data = ["--load-inputs", self.path / "feeds.npz"]
        subprocess.run([ASSAY, "run", self.save(faulty, "faulty.onnx"), "--onnxrt", *data, "--onnx-outputs", "mark", "all",
                        "--save-outputs", saved], check=True, capture_output=True)
        path = self.save(net.model())
        run = subprocess.run([ASSAY, "run", path, "--ref", *data, "--load-outputs", saved, "--tolerance", "auto",
                              "--onnx-outputs", "mark", "all"], capture_output=True)
        accuracy = subprocess.run([ASSAY, "debug", "accuracy", path, *data, "--load-outputs", saved], capture_output=True)
        return run.returncode, accuracy.returncode

    def test_masks_of_float16(self):
        for value in (-65504, -1e4, -np.inf):
            with self.subTest(value=value):
                sound, faulty = (masks(np.random.default_rng(1), np.float16, mask) for mask in (value, -1))
                self.assertEqual(self.codes(sound.model(), sound.feeds, values_of(sound.model(), sound.feeds)), (0, 0))
                self.assert_found(sound.model(), sound.feeds, values_of(faulty.model(), sound.feeds))

    def test_nobody_is_accused(self):
        sides = {"doubles": ["--engine"], "spectrum": ["--onnxrt"], "cnn": ["--engine", "--bf16"], "half_cnn": ["--openvino"]}
        kinds = ("short_reductions", "long_reductions", "many_operands", "buckets", "graph_network", "far_means", "doubles", "dynamic_lstm",
                 "spectrum", "cnn", "half_cnn")
        for kind in kinds:
            for number in range(4):
                with self.subTest(kind, number=number):
                    net = draw(kind, number, seed=2)
                    path = self.save(net.model())
                    np.savez(self.path / "feeds.npz", **net.feeds)
                    words = [path, *sides.get(kind, ["--onnxrt"]), "--load-inputs", self.path / "feeds.npz"]
                    run = subprocess.run([ASSAY, "run", *words, "--ref", "--tolerance", "auto", "--onnx-outputs", "mark", "all"],
                                         capture_output=True, text=True)
                    self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                    accuracy = subprocess.run([ASSAY, "debug", "accuracy", *words], capture_output=True, text=True)
                    self.assertEqual(accuracy.returncode, 0, accuracy.stdout + accuracy.stderr)


if __name__ == "__main__":
    unittest.main()
