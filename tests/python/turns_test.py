"""The engine's kernels, oneDNN and OpenVINO in turns in one process. Each may multiply on tiles (AMX), whose configuration
belongs to a thread: none may find, or leave, that of another."""

import importlib.util
import threading

import checks
import numpy as np
import onnx
from assay.session import Session

CODES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,14,14] x) => (float[1,96,14,14] y)
  <float s = {0.02}, uint8 z = {119}, float t = {0.01}, float u = {0.9}> {
  q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  e = DequantizeLinear(w, t)
  c = Conv<pads = [1,1,1,1]>(d, e)  r = QuantizeLinear(c, u, z)  y = DequantizeLinear(r, u, z) }"""
FLOATS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,14,14] x) => (float[1,96,14,14] y, float[196,80] k) <int64[2] to = {196,64}> {
  y = Conv<pads = [1,1,1,1]>(x, w)  h = Transpose<perm = [0,2,3,1]>(x)  i = Reshape(h, to)  k = MatMul(i, v) }"""
OURS = {"exclude-tactics": ["conv.onednn", "conv.winograd", "product.onednn"]}
ONEDNN = {"exclude-tactics": ["conv.codes", "conv.winograd", "conv.windows", "product.tiles"]}


def models():
    rng = np.random.default_rng(1)
    codes, floats = onnx.parser.parse_model(CODES), onnx.parser.parse_model(FLOATS)
    codes.graph.initializer.append(onnx.numpy_helper.from_array(rng.integers(-128, 128, (96, 64, 3, 3)).astype(np.int8), "w"))
    for name, shape in (("w", (96, 64, 3, 3)), ("v", (64, 80))):
        floats.graph.initializer.append(onnx.numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name))
    return codes, floats, {"x": rng.normal(size=(1, 64, 14, 14)).astype(np.float32)}


def sessions(codes, floats):
    for settings in (OURS, ONEDNN):
        yield Session(codes, "engine", settings, threads=2)
        yield Session(floats, "engine", {**settings, "bf16": []}, threads=2)
    if importlib.util.find_spec("openvino"):
        for model in (codes, floats):
            yield Session(model, "openvino", {"openvino-mode": ["PERFORMANCE"]}, threads=2)


def test_results_stay_the_same_in_turns():
    codes, floats, feeds = models()
    made = list(sessions(codes, floats))
    first = [each.run(None, feeds) for each in made]
    for _ in range(20):
        for each, expected in zip(made, first):
            for found, wanted in zip(each.run(None, feeds), expected):
                np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(first[0][0], first[2][0], atol=1.0)  # a code
    for found, wanted in zip(first[1], first[3]):
        np.testing.assert_allclose(found, wanted, atol=0.02 * np.abs(wanted).max())


def test_threads_take_turns():
    codes, floats, feeds = models()
    made = list(sessions(codes, floats))
    first = [each.run(None, feeds) for each in made]
    wrong = []

    def run(each, expected):
        for _ in range(20):
            wrong.extend(1 for found, wanted in zip(each.run(None, feeds), expected) if not np.array_equal(found, wanted))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(made, first)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


if __name__ == "__main__":
    checks.run_all(globals())
