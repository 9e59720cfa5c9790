"""What sessions of the engine keep in memory: not that of every set of shapes, and within `--max-memory`.

    engine_memory_test.py
"""

import os
import subprocess
import sys
import unittest

import numpy as np
from in_folder import InFolder
from onnx import numpy_helper, parser

ASSAY = os.environ["ASSAY"]
HEADER = '<ir_version: 8, opset_import: ["" : 17]> '
PROGRAM_BYTES = 100e6  # of the program, its libraries and what is planned
CONVOLUTIONS = HEADER + """net (float[1,3,h,w] x) => (float[1,16,h,w] y) {
  a = Conv<pads = [1,1,1,1]>(x, w1)
  b = Relu(a)
  y = Conv<pads = [1,1,1,1]>(b, w2)
}"""
GROWING = HEADER + """net (float[64,64] x) => (float[m,64] y) <int64 n = {30}> {
  y = Loop (n, , x) <body = again (int64 i, bool go, float v) => (bool goes, float u) {
    m = MatMul(v, w1)
    r = Relu(m)
    u = Concat<axis = 0>(v, r)
    goes = Identity(go)
  }>
}"""
PADDED = HEADER + """net (float[1,64,256,256] x) => (float[1,64,258,258] y) <int64[8] p = {0,0,1,1,0,0,1,1}> {
  a = Pad(x, p)
  b = Sigmoid(a)
  y = Tanh(b)
}"""
SIZES = """import numpy as np
def load_data():
    for i in range(500):
        yield {"x": np.ones((1, 3, 64 + i % 50, 64 + i // 3), np.float32)}
"""


class EngineMemoryTest(InFolder):
    def save(self, text, **weights):
        model = parser.parse_model(text)
        model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
        (self.path / "m.onnx").write_bytes(model.SerializeToString())
        return str(self.path / "m.onnx")

    def run_model(self, *words):
        """(exit code, what it says, the most bytes that were resident)"""
        with subprocess.Popen([ASSAY, "run", "--python", sys.executable, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            said = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, said, usage.ru_maxrss * 1024

    def test_five_hundred_sizes(self):
        random = np.random.default_rng(1)
        path = self.save(CONVOLUTIONS, w1=random.normal(size=(16, 3, 3, 3)).astype(np.float32),
                         w2=random.normal(size=(16, 16, 3, 3)).astype(np.float32))
        (self.path / "sizes.py").write_text(SIZES)
        code, said, resident = self.run_model(path, "--engine", "--data-loader-script", self.path / "sizes.py",
                                              "--max-memory", "100M")
        self.assertEqual(code, 0, said)
        self.assertLess(resident, 100e6 + 2 * PROGRAM_BYTES)

    def test_growing_loops(self):
        path = self.save(GROWING, w1=np.eye(64, dtype=np.float32))
        for limit in (50, 200):
            code, said, resident = self.run_model(path, "--engine", "--max-memory", f"{limit}M")
            self.assertEqual(code, 3, said)
            self.assertIn("(--max-memory)", said)
            self.assertLess(resident, limit * 1e6 + PROGRAM_BYTES)

    def test_computed_tolerances(self):
        path = self.save(PADDED)
        words = [path, "--engine", "--ref", "--tolerance", "auto", "--max-memory"]
        code, said, _ = self.run_model(*words, "80M")
        self.assertEqual(code, 3, said)
        self.assertEqual(said.count("take more memory than is allowed"), 1, said)
        code, said, _ = self.run_model(*words, "500M")
        self.assertEqual(code, 0, said)

    def test_work_of_computed_tolerances(self):
        path = self.save(PADDED)
        words = [path, "--engine", "--ref", "--tolerance", "auto", "--max-work"]
        code, said, _ = self.run_model(*words, "40000000")
        self.assertEqual(code, 3, said)
        self.assertIn("No tolerance can be computed: the reference cannot say: it needs", said)


if __name__ == "__main__":
    unittest.main()
