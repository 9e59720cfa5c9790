"""assay.* in Polygraphy's shape: the same numbers, files that both read, and the same kinds of errors."""

import copy
import io
import pickle
import subprocess
import sys

import checks
import numpy as np
import onnx
import polygraphy.comparator as real
from assay import constants, func, mod, util
from assay.backend.base import BaseLoader, BaseRunner
from assay.backend.common import BytesFromPath, InvokeFromScript, SaveBytes, bytes_from_path, invoke_from_script
from assay.backend.onnx import (BytesFromOnnx, ConvertToFp16, ExtractSubgraph, FoldConstants, GsFromOnnx, InferShapes,
                                ModifyOutputs, OnnxFromBytes, OnnxFromPath, SaveOnnx, SetUpperBound, extract_subgraph,
                                fold_constants, infer_shapes, modify_outputs, onnx_from_path, save_onnx)
from assay.backend.onnxrt import OnnxrtRunner, SessionFromOnnx, session_from_onnx
from assay.backend.pluginref import PluginRefRunner
from assay.common import FormattedArray, TensorMetadata
from assay.comparator import (AccuracyResults, Comparator, CompareFunc, CosineSimilarityCompareFunc, DataLoader,
                              IndicesCompareFunc, IterationResult, L2CompareFunc, PostprocessFunc, PsnrCompareFunc,
                              RunResults, SimpleCompareFunc, SimpleThreshold, SnrCompareFunc, StreamingDataLoader)
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.json import Decoder, Encoder, from_json, load_json, save_json, to_json
from assay.logger import G_LOGGER
from assay.session import Session
from onnx import helper, numpy_helper
from polygraphy.logger import G_LOGGER as REAL_LOGGER

REAL_LOGGER.module_severity = REAL_LOGGER.CRITICAL


def results_of(package, *runs):
    made = package.RunResults()
    for number, outputs in enumerate(runs):
        made.append((f"r{number}", [package.IterationResult(each, 0.5, f"r{number}") for each in outputs]))
    return made


def both(function, options, a, b):
    """What Polygraphy and what we measure."""
    found = []
    for package in (real, __import__("assay.comparator").comparator):
        results = results_of(package, [{"y": a}], [{"y": b}])
        compared = package.Comparator.compare_accuracy(results, compare_func=getattr(package, function)(**options))
        found.append(compared[0][("r0", "r1")][0]["y"])
    return found


def test_simple_comparison_measures_what_the_peer_does():
    random = np.random.RandomState(0)
    a = random.standard_normal((40, 50)).astype(np.float32)
    b = a + random.standard_normal(a.shape).astype(np.float32) * 1e-4
    for statistic in ("elemwise", "max", "mean", "median", "quantile"):
        for atol in (1e-5, 1e-3):
            options = {"check_error_stat": statistic, "atol": atol, "rtol": 1e-6}
            expected, found = both("SimpleCompareFunc", options, a, b)
            assert bool(expected) == bool(found), (statistic, atol)
            for name in expected.metric_fields():
                values = getattr(expected, name), getattr(found, name)
                if values[0] is not None:
                    assert np.isclose(*values, rtol=1e-4), (name, values)


def test_other_comparisons_measure_what_the_peer_does():
    random = np.random.RandomState(1)
    a = random.standard_normal((40, 50)).astype(np.float32)
    b = a + random.standard_normal(a.shape).astype(np.float32) * 0.05
    for function, name in (("L2CompareFunc", "l2_norm"), ("CosineSimilarityCompareFunc", "cosine_similarity"),
                           ("PsnrCompareFunc", "psnr"), ("SnrCompareFunc", "snr")):
        expected, found = both(function, {}, a, b)
        assert np.isclose(getattr(expected, name), getattr(found, name), rtol=1e-4), function
        assert bool(expected) == bool(found), function
    first, second = np.array([[1, 2, 3]]), np.array([[2, 1, 3]])
    for tolerance in (0, 1):
        expected, found = both("IndicesCompareFunc", {"index_tolerance": tolerance}, first, second)
        assert bool(expected) == bool(found) == (tolerance == 1)


def test_verdicts_of_traps():
    nan, inf = np.array([np.nan], np.float32), np.array([np.inf], np.float32)
    assert not both("SimpleCompareFunc", {}, nan, nan)[1]
    assert not both("SimpleCompareFunc", {}, inf, inf)[1]
    assert both("SimpleCompareFunc", {"infinities_compare_equal": True}, inf, inf)[1]
    assert both("SimpleCompareFunc", {}, np.ones((2, 3)), np.ones((3, 2)))[1] is False
    assert both("SimpleCompareFunc", {"check_shapes": False}, np.ones((2, 3), "f4"), np.ones((3, 2), "f4"))[1]
    assert both("SimpleCompareFunc", {"atol": {"y": 10, "": 0}}, np.ones(2, "f4"), np.zeros(2, "f4"))[1]
    assert both("SimpleCompareFunc", {}, np.array([True]), np.array([False]))[1].max_absdiff == 1


def test_results_are_files_of_both():
    a = {"y": np.arange(6, dtype=np.float32).reshape(2, 3), "z": np.array([1, 2])}
    ours = results_of(__import__("assay.comparator").comparator, [a, a], [a, a])
    ours.save("ours.json")
    theirs = real.RunResults.load("ours.json")
    assert [name for name, _ in theirs] == ["r0", "r1"] and np.array_equal(theirs[0][1][1]["y"], a["y"])
    theirs.save("theirs.json")
    assert RunResults.load("theirs.json") == ours
    assert open("ours.json").read() == open("theirs.json").read()
    with open("theirs.json") as file:
        assert RunResults.load(file)["r1"][0].runtime == 0.5
    for name, [first, _] in ours.items():
        assert list(first.items())[0][0] == "y" and first.runner_name == name
    compared = Comparator.compare_accuracy(ours)
    compared.save("verdict.json")
    assert real.AccuracyResults.load("verdict.json")[0].stats()[0] == 2
    real.Comparator.compare_accuracy(theirs).save("verdict2.json")
    assert AccuracyResults.load("verdict2.json")[0].stats() == (2, 0, 2)


def test_any_object_is_json():
    feeds = [{"x": np.ones((1, 2), np.float32)}, {"x": np.zeros((1, 2), np.float32)}]
    save_json(feeds, "inputs.json")
    loaded = load_json("inputs.json")
    assert all(np.array_equal(a["x"], b["x"]) for a, b in zip(feeds, loaded))
    import polygraphy.json

    assert polygraphy.json.to_json(feeds) == to_json(feeds)
    formatted = FormattedArray(np.arange(4), (2, 2))
    assert from_json(to_json(formatted)) == formatted and FormattedArray.from_json(formatted.to_json()) == formatted
    buffer = io.StringIO()
    save_json({"a": [1, None, "b"]}, buffer)
    buffer.seek(0)
    assert load_json(buffer) == {"a": [1, None, "b"]}
    assert [each["x"].sum() for each in StreamingDataLoader("inputs.json")] == [2, 0]
    for text in ("{", '{"polygraphy_class": "Nothing"}', '{"polygraphy_class": "ndarray", "array": "AAAA"}'):
        with checks.raises(PolygraphyException):
            from_json(text)
    with checks.raises(PolygraphyException, "cannot be decoded into a RunResults"):
        RunResults.from_json(to_json(formatted))


def test_types_of_users_are_json():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    @Encoder.register(Pair)
    def encode(pair):
        return {"a": pair.a, "b": pair.b}

    @Decoder.register(Pair)
    def decode(dct):
        return Pair(dct["a"], dct["b"])

    made = from_json(to_json([Pair(1, np.arange(2))]))[0]
    assert made.a == 1 and made.b.tolist() == [0, 1]


def test_what_the_peer_pickles_is_pickled():
    results = results_of(__import__("assay.comparator").comparator, [{"y": np.arange(3)}], [{"y": np.arange(3)}])
    assert pickle.loads(pickle.dumps(results)) == results
    verdict = pickle.loads(pickle.dumps(Comparator.compare_accuracy(results)))
    assert bool(verdict) and verdict.stats() == (1, 0, 1)
    assert str(pickle.loads(pickle.dumps(TensorMetadata().add("x", np.float32, (1,))))) == \
        "{x [dtype=float32, shape=(1,)]}"
    two_layers()
    session = pickle.loads(pickle.dumps(SessionFromOnnx(OnnxFromPath("two.onnx"))))()
    assert session.run(None, {"x": np.zeros((1, 3), np.float32)})[0].tolist() == [[0, 0, 0]]


def test_made_up_inputs_are_the_peers():
    rows = {"x": (np.float32, (2, 3)), "i": (np.int64, (4,)), "b": (np.bool_, (3,)), "h": (np.float16, (2,))}
    from polygraphy.common import TensorMetadata as RealMetadata

    ours, theirs = TensorMetadata(), RealMetadata()
    for name, (dtype, shape) in rows.items():
        ours.add(name, dtype, shape)
        theirs.add(name, dtype, shape)
    for options in ({}, {"seed": 7, "iterations": 3}, {"val_range": (-2, 5)}, {"val_range": {"i": (3, 9), "": (0, 4)}}):
        expected = real.DataLoader(input_metadata=theirs, **options)
        found = DataLoader(input_metadata=ours, **options)
        assert len(list(found)) == options.get("iterations", 1)
        for first, second in zip(expected, found):
            for name in rows:
                assert first[name].dtype == second[name].dtype
                assert np.array_equal(first[name], second[name]), (options, name)


def two_layers():
    weight = numpy_helper.from_array(np.arange(9, dtype=np.float32).reshape(3, 3), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], name="m"), helper.make_node("Relu", ["m"], ["y"], name="r")]
    made = checks.model(nodes, [("x", 1, ["N", 3])], [("y", 1, ["N", 3])], [weight])
    onnx.save(made, "two.onnx")
    return made


def test_runners_and_comparisons():
    two_layers()
    x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    with OnnxrtRunner(SessionFromOnnx("two.onnx")) as runner:
        assert str(runner.get_input_metadata()) == "{x [dtype=float32, shape=('N', 3)]}"
        outputs = runner.infer(feed_dict={"x": x})
        assert np.array_equal(outputs["y"], np.maximum(x @ np.arange(9, dtype=np.float32).reshape(3, 3), 0))
        assert runner.last_inference_time() > 0
        for feeds, words in (({}, "not found"), ({"x": x, "z": x}, "Extra inputs"), ({"x": x.astype("f8")}, "float64"),
                             ({"x": x[:, :2]}, "(2, 2)")):
            with checks.raises(PolygraphyException, words):
                runner.infer(feeds)
    with checks.raises(PolygraphyException, "activated"):
        runner.infer({"x": x})
    feeds = [{"x": x}, {"x": -x}]
    results = Comparator.run([OnnxrtRunner(session_from_onnx("two.onnx")), PluginRefRunner(OnnxFromPath("two.onnx"))],
                             data_loader=feeds, warm_up=1, save_inputs_path="inputs.json")
    assert len(results) == 2 and len(results[0][1]) == 2 and len(load_json("inputs.json")) == 2
    assert bool(Comparator.compare_accuracy(results, compare_func=CompareFunc.simple(atol=1e-8)))
    assert Comparator.validate(results, check_inf=True)
    expected = np.argsort(-results[0][1][0]["y"], axis=1, kind="stable")[:, :2]
    top = Comparator.postprocess(results, PostprocessFunc.top_k(k=(2, 1)))
    assert top is results and np.array_equal(top[0][1][0]["y"], expected)
    results[1][1][1]["y"] = copy.deepcopy(results[1][1][1]["y"]) + 1
    verdict = Comparator.compare_accuracy(results)
    assert not verdict and verdict.stats() == (1, 1, 2) and verdict.percentage() == 0.5
    results[0][1][0]["y"] = np.array([np.nan], np.float32)
    assert not Comparator.validate(results)
    streamed = list(Comparator.run([OnnxrtRunner(SessionFromOnnx("two.onnx"))], data_loader=feeds, streaming=True))
    assert len(streamed) == 2 and len(streamed[0][0][1]) == 1
    alone = Comparator.run([OnnxrtRunner(SessionFromOnnx("two.onnx"))], data_loader=feeds, use_subprocess=True)
    assert np.array_equal(alone[0][1][0]["y"], streamed[0][0][1][0]["y"])
    import onnxruntime

    theirs = OnnxrtRunner(onnxruntime.InferenceSession("two.onnx"))
    with theirs:
        assert np.array_equal(theirs.infer({"x": x})["y"], outputs["y"])


def test_messages_go_to_the_logging_system():
    import logging

    from assay.logger.logger import Logger
    from polygraphy.logger.logger import Logger as Real

    class Keeper(logging.Handler):
        def emit(self, record):
            kept.append((record.levelno, record.getMessage()))

    system, keeper = logging.getLogger("Polygraphy"), Keeper()
    system.setLevel(1)
    system.addHandler(keeper)
    system.propagate = False
    try:
        rows = []
        for kind in (Logger, Real):
            kept = []
            logger = kind(severity=kind.ULTRA_VERBOSE, letter=False, colors=False)
            logger.use_python_logging_system = True
            for say in (logger.ultra_verbose, logger.super_verbose, logger.extra_verbose, logger.verbose, logger.info,
                        logger.start, logger.finish, logger.warning, logger.error):
                say("told")
            rows.append(kept)
        assert rows[0] == rows[1] and len(rows[0]) == 9, rows
    finally:
        system.removeHandler(keeper)
    told = []
    logger = Logger()
    logger.error = told.append
    with checks.raises(ValueError, "no luck"):
        logger.log_exception(lambda: (_ for _ in ()).throw(ValueError("no luck")))()
    assert str(told[0]) == "no luck"


def test_users_own_functions_compare():
    def compare(a, b):
        return {"y": a["y"].sum() == b["y"].sum()}

    results = results_of(__import__("assay.comparator").comparator, [{"y": np.ones(3)}], [{"y": np.ones(3)}])
    assert Comparator.compare_accuracy(results, compare_func=compare)
    with checks.raises(PolygraphyException, "no output"):
        one = RunResults([("a", [IterationResult({"left": np.ones(1)})]), ("b", [IterationResult({})])])
        Comparator.compare_accuracy(one)


def test_comparisons_are_judged_again_and_on_average_as_the_peer_does():
    import polygraphy.comparator as real

    import assay.comparator as ours

    def judged(package):
        outputs = [{"y": np.full(3, each, np.float32)} for each in (1.0, 1.0, 1.0)]
        others = [{"y": np.full(3, each, np.float32)} for each in (1.0, 1.2, 1.1)]
        functions = [package.SimpleCompareFunc(atol=0.15, rtol=0, check_error_stat="max"),
                     package.L2CompareFunc(l2_threshold=0.01)]
        compared = package.Comparator.compare_accuracy(results_of(package, outputs, others), compare_func=functions,
                                                       check_average=True)
        facts = [[each.aggregation, bool(each), each.stats()[:2], each.output_names()] for each in compared]
        facts.append(round(list(compared[0].average_results().values())[0].max_absdiff, 6))
        compared.save(f"{package.__name__}.json")
        compared[0].reevaluate({"": package.SimpleThreshold("max", 0.15, 0)}, aggregation="per_sample")
        facts += [bool(compared[0]), compared.output_names()]
        compared.reevaluate([package.L2Threshold(10)])
        return facts + [len(compared), bool(compared), len(compared[0].average_results())]

    found = judged(ours)
    assert found == judged(real) and found[0][:2] == ["average", True] and found[1][1] is False
    for package in (ours, real):
        for file in ("assay.comparator.json", "polygraphy.comparator.json"):
            loaded = package.AccuracyResults.load(file)
            assert [bool(each) for each in loaded] == [True, False] and loaded[0].stats()[1] == 1, (package, file)
    with checks.raises(PolygraphyException, "psnr"):
        ours.AccuracyResults.load("polygraphy.comparator.json").reevaluate(ours.PsnrThreshold(3))
    verdicts = ours.AccuracyResult([(("a", "b"), [{"y": True}])])
    for call in (verdicts.average_results, lambda: verdicts.reevaluate(ours.L2Threshold(1))):
        with checks.raises(PolygraphyException, "`y`"):
            call()


def test_runners_and_loaders_of_users():
    class Doubling(BaseRunner):
        def __init__(self):
            super().__init__(prefix="doubling")

        def get_input_metadata_impl(self):
            return TensorMetadata().add("x", np.float32, ("N", 3))

        def infer_impl(self, feed_dict):
            self.inference_time = 0.25
            return {"y": 2 * feed_dict["x"]}

    class Loader(BaseLoader):
        def call_impl(self):
            return "two.onnx"

    two_layers()
    assert SessionFromOnnx(Loader())().get_inputs()[0].name == "x"
    results = Comparator.run([Doubling(), Doubling()], DataLoader(iterations=2))
    assert bool(Comparator.compare_accuracy(results)) and results[0][1][1].runtime == 0.25
    assert results[0][1][0]["y"].shape == (1, 3) and results[0][0].startswith("doubling-N0")
    runner = Doubling()
    with runner:
        meta = runner.get_input_metadata()["x"]
        assert np.zeros(2, dtype=meta.dtype).dtype == np.float32 and meta.dtype == np.float32
    runner.deactivate()
    assert not runner.is_active


def test_loaders_of_models():
    two_layers()
    model = OnnxFromPath("two.onnx")()
    assert OnnxFromBytes(BytesFromOnnx(model))().graph.node[0].op_type == "MatMul"
    assert [each.name for each in modify_outputs(model, outputs=["m"], copy=True).graph.output] == ["m"]
    marked = ModifyOutputs(onnx_from_path("two.onnx"), outputs=constants.MARK_ALL)()
    assert [each.name for each in marked.graph.output] == ["m", "y"]
    with checks.raises(PolygraphyException, "nothing"):
        modify_outputs(model, outputs=["nothing"])
    assert "m" in [each.name for each in infer_shapes("two.onnx").graph.value_info]
    assert "m" in [each.name for each in InferShapes(model)().graph.value_info]
    part = extract_subgraph(model, input_metadata=TensorMetadata().add("m", np.float32, ("N", 3)))
    assert [each.op_type for each in part.graph.node] == ["Relu"]
    graph = ExtractSubgraph(GsFromOnnx(model), None, TensorMetadata().add("m", None, None))()
    assert [each.op for each in graph.nodes] == ["MatMul"]
    half = ConvertToFp16(model)()
    assert any(each.data_type == onnx.TensorProto.FLOAT16 for each in half.graph.initializer)
    save_onnx(model, "saved.onnx", external_data_path="weights.bin", size_threshold=0)
    SaveOnnx(model, "folder/plain.onnx")()
    feeds = {"x": np.ones((1, 3), np.float32)}
    expected = session_from_onnx("two.onnx").run(None, feeds)[0]
    for path in ("saved.onnx", "folder/plain.onnx"):
        onnx.checker.check_model(path)
        assert np.array_equal(session_from_onnx(path).run(None, feeds)[0], expected)


def test_folding_and_bounds():
    two = numpy_helper.from_array(np.full(2, 2, np.float32), "two")
    nodes = [helper.make_node("Add", ["two", "two"], ["four"]), helper.make_node("Mul", ["x", "four"], ["y"])]
    model = checks.model(nodes, [("x", 1, [2])], [("y", 1, [2])], [two])
    folded = fold_constants(model)
    assert [each.op_type for each in folded.graph.node] == ["Mul"]
    assert len(FoldConstants(model, size_threshold=1)().graph.node) == 2
    places = checks.model([helper.make_node("NonZero", ["x"], ["p"]), helper.make_node("Identity", ["p"], ["y"])],
                          [("x", 1, ["N"])], [("y", 7, [1, "K"])])
    bounded = SetUpperBound(places, upper_bounds={"p": 100})()
    assert "Min" in [each.op_type for each in bounded.graph.node] or len(bounded.graph.node) >= 2


def test_common_loaders():
    SaveBytes(b"abc", "folder/file.bin")()
    assert BytesFromPath("folder/file.bin")() == bytes_from_path("folder/file.bin") == b"abc"
    with open("script.py", "w") as file:
        file.write("def add(a, b=1):\n    return a + b\n")
    assert InvokeFromScript("script.py", "add")(2) == 3 and invoke_from_script("script.py", "add", 2, b=5) == 7
    for path, name, words in (("script.py", "nothing", "nothing"), ("nothere.py", "add", "nothere.py")):
        with checks.raises(PolygraphyException, words):
            invoke_from_script(path, name)
    with checks.raises(PolygraphyException, "nothere"):
        bytes_from_path("nothere")


def test_functions_about_functions():
    @func.extend(lambda: (1, 2))
    def added(a, b):
        assert (a, b) == (1, 2)

    assert added() == (1, 2)

    @func.extend(lambda x: x + 1)
    def with_arguments(x, y):
        return x, y

    assert with_arguments(3) == (3, 4)

    @func.extend(lambda: (1, 2))
    def wrong(a, b, c):
        pass

    with checks.raises(PolygraphyException, "wrong accepts 3 parameter(s)"):
        wrong()

    @func.invoke(2, b=3)
    def product(a, b):
        return a * b

    assert product == 6
    lazy = mod.lazy_import("json>=1.0")
    assert lazy.loads("[1]") == [1]
    with checks.raises(PolygraphyException, "no_such_module"):
        mod.lazy_import("no_such_module").anything
    assert mod.version("1.10.2") > mod.version("1.9")


def test_metadata_and_types():
    meta = TensorMetadata().add("X", np.float32, (64, 64)).add("Y", DataType.INT64, ("N", -1)).add("Z", None, None)
    assert str(meta) == "{X [dtype=float32, shape=(64, 64)],\n Y [dtype=int64, shape=('N', -1)],\n Z}"
    assert DataType.from_dtype(np.float16) == DataType.FLOAT16 and DataType.FLOAT16.numpy() == np.float16
    assert DataType.from_dtype("tensor(float)") == DataType.FLOAT32 and DataType.FLOAT32.onnxrt() == "tensor(float)"
    assert DataType.from_dtype(onnx.TensorProto.BFLOAT16) == DataType.BFLOAT16 and DataType.INT4.itemsize == 0.5
    assert util.is_shape_dynamic((1, "N")) and not util.is_shape_dynamic((1, 2)) and util.volume((2, 3)) == 6


def test_the_log():
    seen = []
    G_LOGGER.register_callback(lambda severity: seen.append(severity.get()))
    with G_LOGGER.verbosity(G_LOGGER.VERBOSE):
        assert seen[-1] == G_LOGGER.VERBOSE
    assert seen[-1] == G_LOGGER.CRITICAL
    G_LOGGER.log_file = "log.txt"
    with G_LOGGER.verbosity(G_LOGGER.WARNING), G_LOGGER.indent():
        G_LOGGER.warning("one\ntwo")
        G_LOGGER.info("three")
    G_LOGGER.log_file = None
    assert open("log.txt").read() == "[W]     one\n        two\n"


def test_values_of_other_types_are_type_errors():
    session = Session(checks.save_identity(), "ref")
    for wrong in ("\ud800", slice(1), (each for each in ()), int):
        with checks.raises((TypeError, PolygraphyException)):
            session.run(None, {wrong: np.ones((1, 1, 2, 2), np.float32)})
    for wrong in ("\ud800", "results", b"results", None, 5):
        with checks.raises(PolygraphyException, "expected RunResults"):
            Comparator.validate(wrong)
    with checks.raises((TypeError, PolygraphyException)):
        L2CompareFunc.compare_output("mlp", "mlp", -5)


ENDS_WHILE_IT_RUNS = """
import sys, threading, time
import numpy as np
from assay.session import Session

session = Session(sys.argv[1], sys.argv[2])
feeds = {"x": np.ones((1, 1, 2, 2), np.float32)}
begun = threading.Event()


def work():
    while True:
        session.run(None, feeds)
        begun.set()


threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.001 * int(sys.argv[3]))
print("the end")
"""


def test_daemon_threads_do_not_crash_the_end():
    open("ends.py", "w").write(ENDS_WHILE_IT_RUNS)
    onnx.save(checks.save_identity(), "m.onnx")
    for backend in ("ref", "ref-fp64", "onnxrt", "engine"):
        for delay in range(4):
            done = subprocess.run([sys.executable, "ends.py", "m.onnx", backend, str(delay)], capture_output=True, text=True)
            assert done.returncode == 0 and done.stdout.endswith("the end\n"), (backend, delay, done)


FORKS_WHILE_IT_RUNS = ENDS_WHILE_IT_RUNS.replace('print("the end")', """
import os
for _ in range(20):
    child = os.fork()
    if child == 0:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("the end")
""")


def test_children_of_threads_end():
    open("forks.py", "w").write(FORKS_WHILE_IT_RUNS)
    onnx.save(checks.save_identity(), "m.onnx")
    done = subprocess.run([sys.executable, "forks.py", "m.onnx", "ref", "1"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stdout.endswith("the end\n"), done


if __name__ == "__main__":
    for each in (BytesFromOnnx, IndicesCompareFunc, L2CompareFunc, CosineSimilarityCompareFunc, PsnrCompareFunc,
                 SnrCompareFunc, SimpleCompareFunc):
        assert each.__doc__
    checks.run_all(globals())
