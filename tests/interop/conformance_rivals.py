"""Runs ONNX's own backend tests (tools/make_node_tests.py) through ONNX Runtime and onnx's ReferenceEvaluator.

    conformance_rivals.py FOLDER RIVAL       (for conformance_test.py)

reads a line of the index at a time and answers with a line: a JSON object from column to reason, empty where the test
passes. A worker may die or hang; another one is started and goes on after the test.

What they fail is recorded for the pinned versions, as asking takes most of a minute on all cores.
"""

import concurrent.futures
import json
import os
import pathlib
import queue
import re
import select
import subprocess
import sys
import warnings

from patience import Patience

ORT, LOWERED, REFERENCE = "ONNX Runtime", "ONNX Runtime, versions lowered", "ReferenceEvaluator"
COLUMNS = {"ort": [ORT, LOWERED], "reference": [REFERENCE]}
RECORD = pathlib.Path(__file__).with_name("conformance_rivals.json")
WORKERS = 2
TWO_BFLOAT16_ULPS = 2**-6  # as ONNX's own runner allows


class Different(Exception):
    pass


def compare(seen, expected, rtol, atol):
    """What ONNX's own runner compares (onnx/backend/test/runner), and optionals, maps and element types beyond numpy."""
    import numpy as np
    if expected is None or seen is None:
        if seen is not expected:
            raise Different("one of both is nothing")
    elif isinstance(expected, (list, tuple)):
        if not isinstance(seen, (list, tuple)) or len(seen) != len(expected):
            raise Different("another sequence")
        for item, expected_item in zip(seen, expected):
            compare(item, expected_item, rtol, atol)
    elif isinstance(expected, dict):
        if not isinstance(seen, dict) or seen.keys() != expected.keys():
            raise Different("another map")
        for key, value in expected.items():
            compare(np.asarray(seen[key]), np.asarray(value), rtol, atol)
    else:
        compare_arrays(np.asarray(seen), np.asarray(expected), rtol, atol)


def compare_arrays(seen, expected, rtol, atol):
    import numpy as np
    np.testing.assert_array_equal(seen.shape, expected.shape)
    if expected.dtype == object or expected.dtype.kind in "US":
        np.testing.assert_array_equal(seen.astype(object), expected.astype(object))
        return
    np.testing.assert_equal(seen.dtype, expected.dtype)
    if expected.dtype.name == "bfloat16":
        rtol = max(rtol, TWO_BFLOAT16_ULPS)
    if expected.dtype.kind == "V" or expected.dtype.name == "bfloat16":
        seen, expected = seen.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(seen, expected, rtol=rtol, atol=atol)


def read_value(path, type_proto):
    import onnx
    from onnx import numpy_helper
    kind = type_proto.WhichOneof("value")
    readers = {"sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
               "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
               "map_type": (onnx.MapProto, numpy_helper.to_dict)}
    message, convert = readers.get(kind, (onnx.TensorProto, numpy_helper.to_array))
    return convert(message.FromString(path.read_bytes()))


def numbered(folder, word):
    paths = []
    while (path := folder / f"{word}_{len(paths)}.pb").exists():
        paths.append(path)
    return paths


def data_sets(model, folder, count):
    """(feeds, expected outputs) of each data set."""
    constants = {tensor.name for tensor in model.graph.initializer}
    for i in range(count):
        data = folder / f"test_data_set_{i}"
        files = numbered(data, "input")
        infos = list(model.graph.input)
        if len(files) != len(infos):
            infos = [info for info in infos if info.name not in constants]
        feeds = {info.name: read_value(path, info.type) for info, path in zip(infos, files)}
        outputs = [read_value(path, info.type) for info, path in zip(model.graph.output, numbered(data, "output"))]
        yield feeds, outputs


def reason_of(entry, run, sets):
    """Empty if all outputs are as expected. `run` gives a function from feeds to outputs."""
    try:
        call = run()
        for feeds, expected in sets:
            compare(list(call(feeds)), expected, entry["rtol"], entry["atol"])
    except Exception as error:  # whatever a foreign program throws
        return " ".join(str(error).split()) or type(error).__name__
    return ""


def is_foreign(array):
    """Whether numpy itself does not have the element type: bfloat16, float8, int4, …"""
    return array.dtype.type.__module__ == "ml_dtypes"


def to_ort_value(array):
    import numpy as np
    import onnx
    import onnxruntime
    if not is_foreign(array):
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    width = np.uint16 if array.dtype.itemsize == 2 else np.uint8
    packed = np.frombuffer(onnx.numpy_helper.from_array(array).raw_data, width)
    codes = np.zeros(array.size, width)  # it wants as many as there are elements, and reads the packed ones
    codes[:len(packed)] = packed
    number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(codes.reshape(array.shape), number)


def from_ort_value(value):
    import ctypes

    import onnx
    if not value.is_tensor() or value.data_type() == "tensor(string)":
        return value.numpy()
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    tensor = onnx.TensorProto(data_type=value.element_type(), dims=value.shape(), raw_data=raw)
    return onnx.numpy_helper.to_array(tensor)


def call_ort(session, feeds):
    """Through OrtValues where numpy's arrays cannot carry the types."""
    import numpy as np
    plain = all(re.search(r"float8|bfloat16|int4|uint4|float4|int2", value.type) is None
                for value in [*session.get_inputs(), *session.get_outputs()])
    if plain or not all(isinstance(value, np.ndarray) for value in feeds.values()):
        return session.run(None, feeds)
    values = session.run_with_ort_values(None, {name: to_ort_value(value) for name, value in feeds.items()})
    return [from_ort_value(value) for value in values]


def run_ort(entry, model, sets):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1

    def prepare():
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda feeds: call_ort(session, feeds)

    reason = reason_of(entry, prepare, sets)
    lowered = reason
    while lower_version(model, lowered):
        lowered = reason_of(entry, prepare, sets)
    return {ORT: reason, LOWERED: lowered}


def lower_version(model, reason):
    """Whether the model was too new, by what ONNX Runtime says; then the IR version or the operator set is lowered."""
    ir_version = re.search(r"max supported IR version: (\d+)", reason)
    opset = re.search(r"Current official support for domain ai.onnx is till opset (\d+)", reason)
    if ir_version:
        model.ir_version = int(ir_version[1])
    if opset:
        for imported in model.opset_import:
            if imported.domain in ("", "ai.onnx"):
                imported.version = int(opset[1])
    return ir_version or opset


def run_reference(entry, model, sets):
    from onnx.reference import ReferenceEvaluator

    def prepare():
        evaluator = ReferenceEvaluator(model)
        return lambda feeds: evaluator.run(None, feeds)

    return {REFERENCE: reason_of(entry, prepare, sets)}


def serve(folder, rival):
    import numpy as np
    import onnx
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the rivals print is no answer
    runner = {"ort": run_ort, "reference": run_reference}[rival]
    for line in sys.stdin:
        entry = json.loads(line)
        test = folder / entry["folder"]
        model = onnx.load(test / "model.onnx")
        sets = list(data_sets(model, test, entry["data_sets"]))
        print(json.dumps(runner(entry, model, sets)), file=answers, flush=True)


class Worker:
    """A process that runs tests of one rival; started again when a test ends it or takes too long."""

    def __init__(self, folder, rival):
        self.folder, self.rival = folder, rival
        self.process = None

    def start(self):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen([sys.executable, __file__, str(self.folder), self.rival], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def run(self, entry):
        if self.process is None:
            self.start()
        print(json.dumps(entry), file=self.process.stdin, flush=True)
        patience, fault = Patience(self.process.pid), ""
        while not fault and not select.select([self.process.stdout], [], [], 0.5)[0]:
            fault = patience.fault()
        line = "" if fault else self.process.stdout.readline()
        if line:
            return json.loads(line)
        reason = fault or "ends the process"
        self.stop()
        return dict.fromkeys(COLUMNS[self.rival], reason)


def run_rivals(folder, index):
    """Column to test to reason."""
    results = {column: {} for columns in COLUMNS.values() for column in columns}
    tasks = queue.SimpleQueue()
    for entry in reversed(index):  # the large models stand last and take longest
        for rival in COLUMNS:
            tasks.put((rival, entry))

    def work():
        workers = {rival: Worker(folder, rival) for rival in COLUMNS}
        try:
            while True:
                rival, entry = tasks.get_nowait()
                for column, reason in workers[rival].run(entry).items():
                    results[column][entry["name"]] = reason
        except queue.Empty:
            for worker in workers.values():
                worker.stop()

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for job in [pool.submit(work) for _ in range(WORKERS)]:
            job.result()
    return results


def versions():
    import onnx
    import onnxruntime
    return {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}


def write_record(columns):
    failures = {column: [name for name, reason in reasons.items() if reason] for column, reasons in columns.items()}
    RECORD.write_text(json.dumps({"versions": versions(), "fails": failures}, indent=0) + "\n")


def read_record(index):
    """Column to test to reason, as recorded; nothing if it was for other versions or tests."""
    record = json.loads(RECORD.read_text())
    names = [entry["name"] for entry in index]
    if record["versions"] != versions() or not set().union(*record["fails"].values()) <= set(names):
        return {}
    failures = {column: set(failed) for column, failed in record["fails"].items()}
    return {column: {name: "as recorded" if name in failed else "" for name in names}
            for column, failed in failures.items()}


def differences(recorded, asked):
    """The lines about where the record is wrong, for the tests that were asked."""
    return [f"{column}: {name} {'fails: ' + reason if reason else 'passes'}; the record says otherwise"
            for column, reasons in asked.items() for name, reason in reasons.items()
            if bool(reason) != bool(recorded[column][name])]


if __name__ == "__main__":
    serve(pathlib.Path(sys.argv[1]), sys.argv[2])
