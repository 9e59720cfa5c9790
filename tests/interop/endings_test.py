"""How the program ends when something goes wrong around it: signals, limits, files that change under it. It leaves no
unfinished file, and says one line."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]


def make_model(path: pathlib.Path, size: int, layers: int, least_bytes: int = 0):
    nodes, weights = [], []
    for i in range(layers):
        weights.append(numpy_helper.from_array(np.full((size, size), 0.01, np.float32), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"], name=f"layer{i}"))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name in ("h0", f"h{layers}")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model.doc_string = "x" * max(0, least_bytes - model.ByteSize() - 10)
    while model.ByteSize() < least_bytes:
        model.doc_string += "x"
    path.write_bytes(model.SerializeToString())


class EndingsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *words: str, **options) -> subprocess.Popen:
        return subprocess.Popen([ASSAY, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, **options)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def start_waiting(self, **options) -> subprocess.Popen:
        """A command that waits in the middle of its work: its model comes through a pipe, and does not."""
        if not (self.folder / "pipe").exists():
            os.mkfifo(self.folder / "pipe")
        done = self.start("inspect", "model", "pipe", **options)
        writing = os.open(self.folder / "pipe", os.O_WRONLY)  # returns when the command has opened it
        self.addCleanup(os.close, writing)
        return done

    def test_libraries_in_the_current_folder_are_not_loaded(self):
        for name in "libassay.so.0", "libz.so.1", "libc.so.6":
            (self.folder / name).write_bytes(b"no library")
        done = self.start("help")
        _, err = done.communicate(timeout=600)
        self.assertEqual((done.returncode, err), (0, ""))

    def test_a_file_size_limit_is_a_failed_write(self):
        make_model(self.folder / "m.onnx", 300, 4)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        done = self.start("convert", "m.onnx", "--fp-to-fp16", "-o", "o.onnx", preexec_fn=limit)
        _, err = done.communicate(timeout=600)
        self.assertEqual((done.returncode, err), (2, "[!] error: cannot write `o.onnx`: file too large\n"))
        self.assertEqual(self.names(), ["m.onnx"])

    def test_too_few_descriptors_for_a_worker(self):
        make_model(self.folder / "m.onnx", 4, 1)

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))

        done = self.start("run", "m.onnx", "--ref", "--isolate", preexec_fn=limit)
        _, err = done.communicate(timeout=600)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(err, "cannot start `.*/assay`: too many open files")

    def test_an_empty_tmpdir_counts_as_none(self):
        make_model(self.folder / "m.onnx", 4, 1)
        done = self.start("run", "m.onnx", "--ref", "--ref-fp64", "--show-heatmaps",
                          env={**os.environ, "TMPDIR": ""})
        out, err = done.communicate(timeout=600)
        self.assertEqual(done.returncode, 0, err)
        folder = pathlib.Path(out.split("heatmap to: '")[1].split("'")[0]).parents[2]
        self.assertTrue(folder.is_relative_to("/tmp"))
        shutil.rmtree(folder)

    def progress_of(self, *words: str) -> str:
        """What a command shows on a terminal."""
        ours, theirs = os.openpty()
        done = subprocess.Popen([ASSAY, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        self.assertEqual(done.wait(timeout=600), 0)
        seen = os.read(ours, 100_000).decode()
        os.close(ours)
        return seen

    def test_progress_on_a_terminal_only(self):
        make_model(self.folder / "m.onnx", 4, 1)
        loader = ("import time, numpy as np\ndef load_data():\n    for i in range(6):\n        time.sleep(0.45)\n"
                  "        yield {'h0': np.ones((1, 4), np.float32)}\n")
        (self.folder / "loader.py").write_text(loader)
        words = ["run", "m.onnx", "--ref", "--data-loader-script", "loader.py", "--python", sys.executable]
        seen = self.progress_of(*words)
        self.assertRegex(seen, r"\r\x1b\[Kiterations: \d done, \d+ s")
        self.assertTrue(seen.endswith("\r\x1b[K"), seen)  # and is gone at the end
        done = subprocess.run([ASSAY, *words], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_signals_that_end_it(self):
        for number in signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGINT:
            done = self.start_waiting()
            done.send_signal(number)
            done.communicate(timeout=600)
            self.assertEqual(done.returncode, 128 + number)

    def test_a_hang_up_that_the_caller_ignores_is_ignored(self):
        done = self.start_waiting(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        done.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        self.assertIsNone(done.poll())
        done.kill()
        done.communicate()

    def test_a_model_that_is_overwritten_in_place(self):
        make_model(self.folder / "a.onnx", 200, 40)
        size = (self.folder / "a.onnx").stat().st_size
        make_model(self.folder / "b.onnx", 100, 20, size)
        old, new = (self.folder / "a.onnx").read_bytes(), (self.folder / "b.onnx").read_bytes()
        self.assertEqual(len(old), len(new))
        for words in (["--weights", "int8"], ["--int8", "--calibrate-with", "ref"]):
            for delay in 0.01, 0.02, 0.04:
                (self.folder / "m.onnx").write_bytes(old)
                done = self.start("convert", "m.onnx", *words, "-o", "o.onnx")
                time.sleep(delay)
                with open(self.folder / "m.onnx", "r+b") as file:
                    file.write(new)
                _, err = done.communicate(timeout=600)
                self.assertIn(done.returncode, (0, 2, 3), err)


if __name__ == "__main__":
    unittest.main()
