"""The package itself: what importing it costs, arrays of all types, errors, threads, memory."""

import pathlib
import pickle
import subprocess
import sys
import threading
import time

import assay
import checks
import ml_dtypes
import numpy as np
import onnx
from assay import _native, load
from assay._arrays import to_array, to_numpy
from assay.backend.trt import TrtRunner, engine_from_network, network_from_onnx_bytes
from assay.exception import PolygraphyException
from assay.session import BackendRunner, Session
from onnx import TensorProto, helper


def test_importing_is_light():
    heavy = {"numpy", "onnx", "onnxruntime", "ml_dtypes", "asyncio", "inspect"}
    code = f"import sys, assay; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def run_identity(array, number):
    made = checks.model([helper.make_node("Identity", ["x"], ["y"])], [("x", number, list(array.shape))],
                        [("y", number, list(array.shape))], opset=21)
    made.ir_version = 10
    return Session(made, "ref").run(None, {"x": array})[0]


def test_arrays_of_all_types_go_there_and_back():
    types = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.FLOAT16: np.float16,
             TensorProto.INT8: np.int8, TensorProto.UINT8: np.uint8, TensorProto.INT16: np.int16,
             TensorProto.UINT16: np.uint16, TensorProto.INT32: np.int32, TensorProto.UINT32: np.uint32,
             TensorProto.INT64: np.int64, TensorProto.UINT64: np.uint64, TensorProto.BOOL: np.bool_,
             TensorProto.BFLOAT16: ml_dtypes.bfloat16, TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
             TensorProto.INT4: ml_dtypes.int4, TensorProto.UINT4: ml_dtypes.uint4}
    for number, dtype in types.items():
        values = np.array([[1, 0, 3], [1, 2, 5]]).astype(dtype)
        found = run_identity(values, number)
        assert found.dtype == values.dtype and np.array_equal(found.astype(np.float64), values.astype(np.float64)), dtype
    negative = np.array([-8, 7, -1], ml_dtypes.int4)
    assert to_numpy(to_array(negative)).tolist() == negative.tolist()


def test_arrays_that_lie_otherwise_are_taken():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (values.T, values[::2], values[:, ::-1], values.astype(">f4"), np.float32(5), np.zeros((0, 3), "f4")):
        found = run_identity(np.asarray(array), TensorProto.FLOAT)
        assert np.array_equal(found, np.asarray(array)) and found.flags.writeable
    words = np.array([["a", "b\u00e9"], ["", "d"]])
    assert run_identity(words, TensorProto.STRING).tolist() == words.tolist()
    locked = values.copy()
    locked.setflags(write=False)
    assert np.array_equal(run_identity(locked, TensorProto.FLOAT), values)


def test_arrays_of_others_come_by_dlpack():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = checks.model([helper.make_node("Identity", ["x"], ["y"])], [("x", 1, [2, 3])], [("y", 1, [2, 3])])
    assert np.array_equal(Session(made, "ref").run(None, {"x": Foreign(values)})[0], values)
    assert np.shares_memory(to_array(Foreign(values)), values)


def test_elements_are_shared_and_outputs_are_not():
    values = np.arange(4, dtype=np.float32)
    made = checks.model([helper.make_node("Identity", ["x"], ["y"])], [("x", 1, [4])], [("y", 1, [4])])
    found = Session(made, "engine").run(None, {"x": values})[0]
    found += 1
    assert values.tolist() == [0, 1, 2, 3]
    weights = checks.model([helper.make_node("Identity", ["w"], ["y"])], [], [("y", 1, [4])],
                           [onnx.numpy_helper.from_array(values, "w")])
    read = _native.read_graph(_native.model_from_bytes(weights.SerializeToString()))
    array = read["values"][read["graph"][4][0]][2]
    assert np.shares_memory(to_numpy(array), to_numpy(array)) and not to_numpy(array).flags.writeable


def test_wrong_input_raises_one_line():
    made = checks.model([helper.make_node("Add", ["x", "x"], ["y"])], [("x", 1, ["N", 3])], [("y", 1, ["N", 3])])
    session = Session(made, "ref")
    with checks.raises(PolygraphyException, "input `x`", "float32", "float64"):
        session.run(None, {"x": np.ones((2, 3))})
    with checks.raises(PolygraphyException, "[N,3]", "[2,4]"):
        session.run(None, {"x": np.ones((2, 4), np.float32)})
    with checks.raises(PolygraphyException, "`x` of the model is not given"):
        session.run(None, {})
    with checks.raises(PolygraphyException, "nothere.onnx"):
        load("nothere.onnx")
    with checks.raises(PolygraphyException):
        _native.model_from_bytes(b"this is no model")
    with checks.raises(PolygraphyException, "nobackend"):
        Session(made, "nobackend")
    try:
        load("nothere.onnx")
    except PolygraphyException as error:
        assert error.code == "io"


def test_models_have_the_attributes_of_protobuf():
    made = checks.save_identity()
    model = load("identity.onnx")
    assert model.graph.node[0].op_type == "Identity" and isinstance(model, onnx.ModelProto)
    onnx.checker.check_model(model)
    model.graph.node[0].op_type = "Relu"
    assert "Relu" in str(model.native.text())
    onnx.save(model, "relu.onnx")
    assert onnx.load("relu.onnx").graph.node[0].op_type == "Relu"
    assert pickle.loads(pickle.dumps(model)).graph.node[0].op_type == "Relu"
    assert load("identity.onnx").SerializeToString() == made.SerializeToString()


def test_threads_run_at_once_and_one_runner_is_for_one_thread():
    size = 400
    made = checks.model([helper.make_node("MatMul", ["x", "x"], ["a"]), helper.make_node("MatMul", ["a", "x"], ["y"])],
                        [("x", 1, [size, size])], [("y", 1, [size, size])])
    values = np.eye(size, dtype=np.float32)
    results = []

    def work():
        with BackendRunner(made, "ref") as runner:
            results.append(np.array_equal(runner.infer({"x": values})["y"], values))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    ticks = 0
    while any(each.is_alive() for each in threads):
        ticks += 1
        time.sleep(0.001)
    assert results == [True] * 4 and ticks > 3, "the interpreter was locked while native code ran"

    faults = []
    with BackendRunner(made, "ref") as runner:
        def share():
            try:
                runner.infer({"x": values})
            except PolygraphyException as error:
                faults.append(str(error))

        threads = [threading.Thread(target=share) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert all("another thread" in each for each in faults)


def test_the_program_is_beside_the_package():
    found = subprocess.run([sys.executable, "-m", "assay", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith(f"assay {assay.__version__}\n")
    project = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    assert f'version = "{assay.__version__}"\n' in project.read_text()


def test_memory_stays_flat():
    made = checks.model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", 1, [256, 256])], [("y", 1, [256, 256])],
                        [onnx.numpy_helper.from_array(np.ones((256, 256), np.float32), "w")])
    values = np.ones((256, 256), np.float32)

    load = network_from_onnx_bytes(made.SerializeToString())

    def build_and_run():
        with BackendRunner(made, "engine") as runner:
            runner.infer({"x": values})
        with TrtRunner(engine_from_network(load)) as runner:
            runner.infer({"x": values})

    checks.stays_flat(build_and_run, kilobytes=20_000)


def test_what_others_hold_to_the_end_is_no_news():
    code = """if True:
        import ctypes
        import numpy as np
        from assay import _native
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_native.make_array(np.ones(2, np.uint8), "uint8", [2])))
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout + found.stderr == ""


def test_interrupts_end_long_calls():
    code = """if True:
        import os, signal, threading
        from assay import _native
        signal.signal(signal.SIGINT, signal.default_int_handler)
        text = '<ir_version: 8, opset_import: ["": 17]> g (float[8] x) => (float[8] y) <float[8] w = {1,1,1,1,1,1,1,1}> {'
        text += "".join(f"c{i + 1} = Add(c{i}, w)" for i in range(60000)).replace("c0,", "w,") + "y = Add(x, c60000) }"
        model = _native.model_from_text(text)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            _native.sanitize(model, {"fold_constants": True, "simplify": True}, None)
            print("over")
        except KeyboardInterrupt:
            print("interrupted")
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert found.stdout.strip() == "interrupted", found.stdout + found.stderr


INTERRUPTED = """if True:
    import os, signal, sys, threading, time
    import numpy as np
    from assay import _native
    from assay.exception import PolygraphyException
    from assay.model import Model
    from assay.session import Session
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
    backend, layers, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[N,N] x) => (float[N,N] y) {'
    text += "".join(f"v{i + 1} = MatMul(v{i}, x)" for i in range(layers)).replace("v0,", "x,") + f"y = Relu(v{layers}) }}"
    session = Session(Model(_native.model_from_text(text)), backend)
    small, large = (np.zeros((each, each), np.float32) for each in (2, size))
    main = threading.main_thread().ident
    DEED
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    start = time.process_time()
    try:
        run()
        print("over")
    except KeyboardInterrupt:
        print((time.process_time() - start) / len(os.sched_getaffinity(0)) < 3, _native.abandoned_runs())
    try:
        session.run(None, {"x": small})
    except PolygraphyException as error:
        print(error)
    while _native.abandoned_runs():
        time.sleep(0.01)
    print(session.run(None, {"x": small})[0].tolist())
"""
BY_SESSION = "run = lambda: session.execution.run({'x': large}, ['y'])"
BY_ADDRESS = """
    place = np.empty_like(large)
    session.execution.bind_at([("x", large.ctypes.data, large.shape)], [("y", place.ctypes.data, place.shape)])
    run = session.execution.run_bound
"""


def interrupted(deed, *words):
    found = subprocess.run([sys.executable, "-c", INTERRUPTED.replace("DEED", deed.strip()), *map(str, words)],
                           capture_output=True, text=True, timeout=600, check=False)
    return found.stdout.splitlines() or found.stderr


def test_interrupts_end_runs_at_the_next_layer():
    zeros = "[[0.0, 0.0], [0.0, 0.0]]"
    for backend, size in (("ref", 700), ("engine", 1500), ("onnxrt", 1500)):
        assert interrupted(BY_SESSION, backend, 200, size) == ["True 0", zeros], backend
    found = interrupted(BY_ADDRESS, "engine", 200, 1500)
    assert found == ["True 0", zeros], found


def test_what_cannot_be_interrupted_is_left_alone():
    found = interrupted(BY_SESSION, "ref", 1, 7000)  # seconds of one layer, also on fast machines
    assert found == ["True 1", "another thread is using this runner", "[[0.0, 0.0], [0.0, 0.0]]"], found


def test_interrupts_end_builds():
    code = """if True:
        import os, signal, threading, time
        from assay import _native
        text = '<ir_version: 8, opset_import: ["": 17]> g (float[64,64] x) => (float[64,64] y) {'
        text += "".join(f"v{i + 1} = MatMul(v{i}, x)" for i in range(20000)).replace("v0,", "x,") + "y = Relu(v20000) }"
        model = _native.model_from_text(text)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        seen = []
        try:
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            _native.build_plan(model, "plan", _native.Wanted("engine", {}), None, lambda done, total: seen.append(done))
            print("over")
        except KeyboardInterrupt:
            print("interrupted", len(seen) < 20000, os.path.exists("plan"))
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert found.stdout.strip() == "interrupted True False", found.stdout + found.stderr


def test_sub_interpreters_are_refused():
    code = """if True:
        import sys, _xxsubinterpreters
        IMPORT
        try:
            _xxsubinterpreters.run_string(_xxsubinterpreters.create(), f"import sys; sys.path[:] = {sys.path}; import assay")
        except Exception as error:
            print(error)
    """
    if sys.version_info >= (3, 13):
        return  # that module has another name there
    for first in ("pass", "import assay"):
        found = subprocess.run([sys.executable, "-c", code.replace("IMPORT", first)], capture_output=True, text=True)
        assert "not in a sub-interpreter" in found.stdout, found.stdout + found.stderr


if __name__ == "__main__":
    checks.run_all(globals())
