"""Runs on a card: inputs and outputs by address, streams, and arrays of others. The card is one whose kernels the host
runs, or with CARD=real that of the machine."""

import ctypes
import os
import subprocess
import sys

import numpy as np

import checks
import host_card

MODEL = """<ir_version: 8, opset_import: ["" : 17]> g (float[4,8] x, float[8,4] w) => (float[4,4] z) {
  a = Exp(x) b = MatMul(a, w) z = Softmax(b) }"""


def drawn(seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(4, 8)).astype(np.float32), generator.normal(size=(8, 4)).astype(np.float32)


def expected(x, w):
    sums = np.exp(x.astype(np.float64)) @ w
    powers = np.exp(sums - sums.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def expect_close(seen, x, w):
    assert float(np.abs(seen - expected(x, w)).max()) < 1e-5, f"{seen} for {expected(x, w)}"


def built_engine():
    import onnx.parser

    import assay.tensorrt as trt

    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    assert trt.OnnxParser(network, logger).parse(onnx.parser.parse_model(MODEL).SerializeToString()), "parsed"
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


class Buffers:
    """Memory of the card for the tensors of the model."""

    def __init__(self, cudart):
        self.cudart = cudart
        self.sizes = {"x": 128, "w": 128, "z": 64}
        self.at = {name: self.asked(cudart.cudaMalloc(size)) for name, size in self.sizes.items()}

    def asked(self, answer):
        assert int(answer[0]) == 0, f"{answer}"
        return answer[1] if len(answer) > 1 else None

    def put(self, x, w):
        for name, array in (("x", x), ("w", w)):
            self.asked(self.cudart.cudaMemcpy(self.at[name], array.ctypes.data, array.nbytes,
                                              self.cudart.cudaMemcpyKind.cudaMemcpyHostToDevice))

    def taken(self):
        array = np.empty((4, 4), np.float32)
        self.asked(self.cudart.cudaMemcpy(array.ctypes.data, self.at["z"], array.nbytes,
                                          self.cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))
        return array


def test_enqueues_on_the_callers_stream():
    from assay.compat import cudart

    engine = built_engine()
    context = engine.create_execution_context()
    buffers = Buffers(cudart)
    stream = buffers.asked(cudart.cudaStreamCreate())
    for name, address in buffers.at.items():
        context.set_tensor_address(name, address)
    for seed in range(3):
        x, w = drawn(seed)
        buffers.put(x, w)
        assert context.execute_async_v3(stream), "enqueued"
        buffers.asked(cudart.cudaStreamSynchronize(stream))
        expect_close(buffers.taken(), x, w)
        assert context.execute_v2([buffers.at[name] for name in ("x", "w", "z")]), "run"
        expect_close(buffers.taken(), x, w)
    buffers.asked(cudart.cudaStreamDestroy(stream))


class Tensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("rank", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DlpackArray:
    """Floats on the card that only DLPack tells of."""

    def __init__(self, array):
        self.array = array
        self.shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
        self.tensor = Tensor(array.ptr, 2, 0, len(array.shape), 2, 32, 1, self.shape, None, 0, None, None)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **settings):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


def test_reads_arrays_of_others_where_they_lie():
    import onnx.parser

    from assay import cuda
    from assay.exception import PolygraphyException
    from assay.session import Session

    session = Session(onnx.parser.parse_model(MODEL), "engine")
    for seed in range(3):
        x, w = drawn(seed)
        array = cuda.DeviceArray(x.shape, x.dtype).copy_from(x)
        expect_close(session.run(None, {"x": array, "w": w})[0], x, w)
        expect_close(session.run(None, {"x": DlpackArray(array), "w": w})[0], x, w)
    with checks.raises(PolygraphyException, "elements of int32"):
        session.run(None, {"x": cuda.DeviceArray(x.shape, np.int32), "w": w})


def test_outputs_stay_on_the_card():
    import onnx.parser

    from assay.session import DeviceOutput, Session

    session = Session(onnx.parser.parse_model(MODEL), "engine")
    twice = Session(onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[4,4] z) => (float[4,4] y) {
      y = Add(z, z) }"""), "engine")
    kept = []
    for seed in range(4):
        x, w = drawn(seed)
        (z,) = session.run_on_device(None, {"x": x, "w": w})
        assert isinstance(z, DeviceOutput) and z.shape == (4, 4) and z.dtype == np.float32, repr(z)
        assert z.__dlpack_device__() == (2, 0) and z.__cuda_array_interface__["data"][0] == z.ptr
        assert type(z.__dlpack__()).__name__ == "PyCapsule"
        (y,) = twice.run(None, {"z": z})
        expect_close(y / 2, x, w)
        kept.append((z, x, w))
    del session  # arrays hold what they need
    for z, x, w in kept:
        expect_close(np.asarray(z), x, w)


def test_an_engine_on_the_processor_refuses_memory_of_the_card():
    import assay.tensorrt as trt

    os.environ["ASSAY_DEVICE"] = "cpu"  # of sessions from here on
    try:
        context = built_engine().create_execution_context()
        from assay.compat import cudart

        buffers = Buffers(cudart)
        recorder = []
        context.error_recorder = type("Recorder", (trt.IErrorRecorder,),
                                      {"report_error": lambda self, code, text: recorder.append(str(text))})()
        assert not context.execute_v2([buffers.at[name] for name in ("x", "w", "z")])
        assert any("is that of a card" in text for text in recorder), recorder
    finally:
        os.environ["ASSAY_DEVICE"] = "cuda"


def test_knows_the_card():
    from assay import cuda
    from assay.compat import cudart

    assert cuda.MEMORY.is_card, "a card"
    error, properties = cudart.cudaGetDeviceProperties(0)
    assert properties.major >= 8, f"{properties.major}"
    start, end = cudart.cudaEventCreate()[1], cudart.cudaEventCreate()[1]
    cudart.cudaEventRecord(start)
    cudart.cudaEventRecord(end)
    cudart.cudaEventSynchronize(end)
    error, between = cudart.cudaEventElapsedTime(start, end)
    assert int(error) == 0 and 0 <= between < 1e3, f"{between}"


def run_on_host_card():
    """This script again: the loader reads its path when a process begins."""
    with host_card.environment() as variables:
        return subprocess.run([sys.executable, __file__], env={**variables, "ASSAY_DEVICE": "cuda", "CARD": "host"},
                              check=False).returncode


if __name__ == "__main__":
    if "CARD" not in os.environ:
        sys.exit(run_on_host_card())
    checks.run_all(globals())
