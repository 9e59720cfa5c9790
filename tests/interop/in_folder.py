"""Tests that run programs on the models of a folder of their own."""

import pathlib
import subprocess
import tempfile
import unittest

import onnx


def run(*words, status=0):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600)
    if status is not None and result.returncode != status:
        raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def saturates():
    """Whether ONNX Runtime's sums of codes of 8 bits may saturate here: they do on x86 without VNNI, unless weights have 7 bits."""
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    return "avx2" in facts and "avx512_vnni" not in facts and "avx_vnni" not in facts


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def save(self, model, name="m.onnx"):
        onnx.save(model, self.path / name)
        return self.path / name
