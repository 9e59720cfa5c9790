#!/usr/bin/env python3
"""The engine as processors with fewer instructions have it: the same codes, and floats of the same quality as ONNX Runtime's.

    instructions_test.py ASSAY
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from in_folder import InFolder

ASSAY = sys.argv.pop(1)
LEVELS = ("base", "avx2", "avx512", "vnni", "amx", "all")
NO_FILTER = 77
CODES = """<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,32,20,21] x, float[7,64] r) => (uint8[1,48,20,21] y, float[7,40] k) <float s = {0.02}, uint8 z = {119}, float t = {0.01},
  float u = {0.9}> { d = DequantizeLinear(x, s, z)  e = DequantizeLinear(w, t)  c = Conv<pads = [1,1,1,1]>(d, e)
  y = QuantizeLinear(c, u, z)  m = MatMul(r, v)  q = Sigmoid(m)  p = Mul(m, q)  k = Softmax(p) }"""


def model():
    rng = np.random.default_rng(1)
    made = onnx.parser.parse_model(CODES)
    made.graph.initializer.append(onnx.numpy_helper.from_array(rng.integers(-128, 128, (48, 32, 3, 3)).astype(np.int8), "w"))
    made.graph.initializer.append(onnx.numpy_helper.from_array(rng.normal(size=(64, 40)).astype(np.float32), "v"))
    return made, {"x": rng.integers(0, 256, (1, 32, 20, 21)).astype(np.uint8), "r": rng.normal(size=(7, 64)).astype(np.float32)}


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction))]


def refuse_tiles():
    """Makes the kernel refuse this process the registers of tiles, as old ones and some containers do."""
    load, equals, leave = 0x20, 0x15, 0x06
    arch_prctl, request, allow, refuse = 158, 0x1023, 0x7FFF0000, 0x00050001  # ARCH_REQ_XCOMP_PERM, EPERM
    steps = [(load, 0, 0, 0), (equals, 0, 3, arch_prctl), (load, 0, 0, 16), (equals, 0, 1, request), (leave, 0, 0, refuse),
             (leave, 0, 0, allow)]
    program = Program(len(steps), (Instruction * len(steps))(*steps))
    libc = ctypes.CDLL(None)
    no_new_privileges, seccomp, filtered = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(seccomp, filtered, ctypes.byref(program)) != 0:
        os._exit(NO_FILTER)


def has_amx():
    return "amx_int8" in pathlib.Path("/proc/cpuinfo").read_text()


class InstructionsTest(InFolder):
    def assay(self, level, *words, status=0, **options):
        done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True,
                              env=os.environ | {"ASSAY_INSTRUCTIONS": level}, **options)
        if done.returncode == NO_FILTER:
            self.skipTest("filters of system calls are not allowed here")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def outputs(self, level, file, *words):
        saved = self.path / "out.npz"
        self.assay(level, "run", file, "--engine", "--load-inputs", self.path / "in.npz", "--save-outputs", saved, *words)
        with np.load(saved) as arrays:
            return dict(arrays)

    def setUp(self):
        super().setUp()
        self.made, self.feeds = model()
        self.file = self.save(self.made)
        np.savez(self.path / "in.npz", **self.feeds)

    def test_levels_agree(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # sums of floats
        session = onnxruntime.InferenceSession(str(self.file), options, providers=["CPUExecutionProvider"])
        codes, numbers = session.run(None, self.feeds)
        found = {level: self.outputs(level, self.file) for level in LEVELS}
        for level, outputs in found.items():
            np.testing.assert_array_equal(outputs["y"], found["all"]["y"], err_msg=level)
            self.assertLessEqual(np.abs(outputs["y"].astype(int) - codes).max(), 1, level)
            np.testing.assert_allclose(outputs["k"], numbers, rtol=2e-5, atol=1e-7, err_msg=level)

    def test_plans_belong_to_a_level(self):
        plan = self.path / "m.engine"
        self.assay("base", "convert", self.file, "-o", plan)
        self.outputs("base", plan)
        self.file.unlink()
        if "avx2" in pathlib.Path("/proc/cpuinfo").read_text():
            self.assertIn("machine", self.assay("all", "run", plan, "--engine", status=2))

    def test_plans_with_tiles_need_them(self):
        if not has_amx():
            self.skipTest("this processor has no AMX")
        plan = self.path / "m.engine"
        self.assay("amx", "convert", self.file, "-o", plan)
        self.assay("all", "run", plan, "--engine")
        self.file.unlink()
        self.assertIn("machine", self.assay("vnni", "run", plan, "--engine", status=2))
        self.assertIn("machine", self.assay("amx", "run", plan, "--engine", status=2, preexec_fn=refuse_tiles))

    def test_without_permission_vectors_multiply(self):
        if not has_amx():
            self.skipTest("this processor has no AMX")
        plan = self.path / "m.engine"
        self.assay("amx", "convert", self.file, "-o", plan, preexec_fn=refuse_tiles)
        found = self.outputs("vnni", plan)
        np.testing.assert_array_equal(found["y"], self.outputs("amx", self.file)["y"])

    def test_bfloat16_is_used_where_it_is_fast(self):
        if not has_amx():
            self.skipTest("this processor has no AMX")
        made = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[7,64] r) => (float[49,40] k) {
          e = Expand(r, to)  f = Reshape(e, rows)  k = MatMul(f, v) }""")
        made.graph.initializer.extend([*(each for each in self.made.graph.initializer if each.name == "v"),
                                       onnx.numpy_helper.from_array(np.array([7, 7, 64]), "to"),
                                       onnx.numpy_helper.from_array(np.array([49, 64]), "rows")])
        file = self.save(made)
        np.savez(self.path / "in.npz", r=self.feeds["r"])
        exact, rounded = (self.outputs("vnni", file, *words)["k"] for words in ((), ("--bf16",)))
        np.testing.assert_array_equal(exact, rounded)
        self.assertTrue(np.any(self.outputs("amx", file, "--bf16")["k"] != exact))

    def test_other_words_are_refused(self):
        self.assertIn("ASSAY_INSTRUCTIONS: expected base, avx2, avx512, vnni, amx or all, seen `sse`",
                      self.assay("sse", "run", self.file, "--engine", status=2))


if __name__ == "__main__":
    unittest.main()
