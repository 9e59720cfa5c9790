"""`assay convert --weights` over a model with external data: one layer's weights are in memory at a time, the result is
that of a conversion in memory, and nothing is left of one that ends early."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

import numpy as np
import onnx
from in_folder import InFolder
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
SIZE = 1024
LAYER_BYTES = 4 * SIZE * SIZE
PROGRAM_BYTES = 24e6


def save(folder, layers, size=SIZE):
    """Products in a row; their weights lie in `m.data`, one after the other."""
    weight = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32) / np.float32(np.sqrt(size))
    graph = helper.make_graph([], "g", [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [4, size])],
                              [helper.make_tensor_value_info(f"v{layers}", TensorProto.FLOAT, [4, size])])
    with open(folder / "m.data", "wb") as data:
        for i in range(layers):
            graph.node.append(helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"], f"layer{i}"))
            tensor = graph.initializer.add(name=f"w{i}", data_type=TensorProto.FLOAT, dims=weight.shape,
                                           data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "m.data"), ("offset", data.tell()), ("length", weight.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            data.write(np.roll(weight, i))
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), folder / "m.onnx")


# A process begins with the peak of the one that starts it: this one is small.
WATCH = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))"""


class StreamedWeightsTest(InFolder):
    def start(self, *words, **options):
        return subprocess.Popen([ASSAY, "convert", "m.onnx", *words], cwd=self.path, stderr=subprocess.PIPE, **options)

    def peak(self, *words):
        """The most bytes that were resident while a command ran."""
        done = subprocess.run([sys.executable, "-S", "-c", WATCH, ASSAY, "convert", "m.onnx", *words, "-qq"],
                              cwd=self.path, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout)

    def names(self):
        return sorted(path.name for path in self.path.iterdir())

    def test_one_layer_is_in_memory(self):
        layers = 80
        save(self.path, layers)
        compressed = layers * SIZE * SIZE
        bound = PROGRAM_BYTES + 4 * LAYER_BYTES
        self.assertLess(bound, 0.6 * compressed)
        self.assertLess(self.peak("--weights", "int8", "-o", "one.onnx"), bound)
        self.assertLess(self.peak("--weights", "int8", "-o", "two.onnx", "--save-external-data", "two.data"), bound)
        self.assertEqual(self.names(), ["m.data", "m.onnx", "one.onnx", "two.data", "two.onnx"])
        self.assertGreater((self.path / "one.onnx").stat().st_size, compressed)
        self.assertGreater((self.path / "two.data").stat().st_size, compressed)
        one, two = onnx.load(self.path / "one.onnx"), onnx.load(self.path / "two.onnx")
        first, last = (np.roll(self.weight(), i) for i in (0, layers - 1))
        for model in (one, two):
            arrays = {tensor.name: tensor for tensor in model.graph.initializer}
            for name, weight in (("w0", first), (f"w{layers - 1}", last)):
                codes = numpy_helper.to_array(arrays[f"{name}_quantized"]).astype(np.float64)
                scale = numpy_helper.to_array(arrays[f"{name}_scale"]).astype(np.float64)
                self.assertLessEqual(np.abs(codes * scale - weight).max(), 0.2 * np.abs(weight).max())
                self.assertLess(np.abs(codes * scale - weight).mean(), 0.6 * scale.mean())

    def weight(self):
        return np.fromfile(self.path / "m.data", np.float32, SIZE * SIZE).reshape(SIZE, SIZE)

    def test_the_result_is_that_of_a_conversion_in_memory(self):
        save(self.path, 5, 512)
        np.savez(self.path / "i.npz", v0=np.random.default_rng(1).standard_normal((4, 512)).astype(np.float32))
        for words in (["int8"], ["int4"], ["int4", "--weights-form", "matmulnbits"], ["nf4"],
                      ["int4", "--algorithm", "awq", "--load-inputs", "i.npz"]):
            done = self.start("--weights", *words, "--convert-to", "onnx", "-o", "/dev/stdout", "-qq",
                              stdout=subprocess.PIPE)
            in_memory, said = done.communicate(timeout=600)
            self.assertEqual(done.returncode, 0, said)
            self.assertGreater(len(in_memory), 5 * 512 * 512 / 2)
            self.peak("--weights", *words, "-o", "c.onnx", "--force")
            self.assertEqual((self.path / "c.onnx").read_bytes(), in_memory)

    def own_peak(self, *words):
        """The most bytes of its own that a command was seen to have, without files that it has mapped."""
        process = self.start(*words, "-qq")
        most, status = 0, pathlib.Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            found = re.search(r"RssAnon:\s*(\d+) kB", status.read_text())
            most = max(most, int(found[1]) * 1024 if found else 0)
            time.sleep(0.002)
        _, said = process.communicate()
        self.assertEqual(process.returncode, 0, said)
        return most

    def test_codes_of_layers_that_compute_with_them_wait_on_the_disk(self):
        layers = 40
        save(self.path, layers)
        np.savez(self.path / "i.npz", v0=np.random.default_rng(1).standard_normal((4, SIZE)).astype(np.float32))
        inputs = ["--load-inputs", "i.npz", "--calibrate-with", "ref"]
        bound = PROGRAM_BYTES + 2 * LAYER_BYTES
        self.assertLess(bound, 0.8 * layers * SIZE * SIZE)
        for words in (["--fp8"], ["--int8", "--calibration", "minmax"]):
            with self.subTest(words):
                most = self.own_peak(*words, *inputs, "-o", "c.onnx", "--save-external-data", "c.data", "--force")
                self.assertLess(most, bound)
                self.assertGreater((self.path / "c.data").stat().st_size, layers * SIZE * SIZE)

    def test_nothing_is_left_of_what_ends_early(self):
        save(self.path, 40)
        done = self.start("--weights", "int4", "-o", "c.onnx", "--save-external-data", "c.data")
        time.sleep(0.5)
        done.send_signal(signal.SIGTERM)
        done.communicate(timeout=600)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.names(), ["m.data", "m.onnx"])
        limit = 20_000_000  # more than the first part takes, less than all
        done = self.start("--weights", "int8", "-o", "c.onnx", "-qq",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        _, said = done.communicate(timeout=600)
        self.assertEqual((done.returncode, said), (2, b"[!] error: cannot write `c.onnx`: file too large\n"))
        self.assertEqual(self.names(), ["m.data", "m.onnx"])


if __name__ == "__main__":
    unittest.main()
