"""What scripts import of the modules beside the runners: loggers, versions, JSON of their own classes, shapes, tensors of torch."""

import contextlib
import io
import logging
import os
import subprocess
import sys
import types
import warnings

import checks
import ml_dtypes
import numpy as np
from assay import config, func, mod, util
from assay._arrays import to_array, to_numpy
from assay.backend.base import BaseLoader
from assay.backend.common import InvokeFromScript
from assay.backend.onnx import bytes_from_onnx, fold_constants, modify_outputs, onnx_from_path
from assay.backend.onnx import util as onnx_util
from assay.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
from assay.backend.pluginref import PluginRefRunner, references
from assay.backend.pyt import PytRunner
from assay.backend.tf import GraphFromFrozen
from assay.common import TensorMetadata
from assay.common.interface import TypedDict, TypedList
from assay.comparator import (Comparator, CompareFunc, DataLoader, DataLoaderCache, IterationResult, LazyArray, PostprocessFunc,
                              RunResults)
from assay.comparator import util as comparator_util
from assay.datatype import DataType
from assay.exception import PolygraphyException, PolygraphyInternalException
from assay.graphsurgeon import import_onnx
from assay.json import Decoder, Encoder, from_json, load_json, to_json
from assay.logger import Logger, SeverityTrie
from assay.session import BackendRunner
from onnx import TensorProto, helper, numpy_helper


def printed(logger, work):
    stream, before = io.StringIO(), sys.stdout
    sys.stdout = stream
    try:
        work(logger)
    finally:
        sys.stdout = before
    return stream.getvalue()


def test_severities_go_by_folders():
    trie = SeverityTrie({"": 30, "backend/trt": 20, "backend//trt/runner.py": 50})
    asked = {"backend": 30, "/backend/trt": 20, "backend/trt/runner.py": 50, "backend/trtfoo": 30, None: 30}
    assert {path: trie.get(path) for path in asked} == asked
    assert SeverityTrie({"mod": 10}).get() == Logger.INFO


def test_messages_have_letters_and_lines():
    for severity, letter in Logger.SEVERITY_LETTER_MAPPING.items():
        if severity < Logger.CRITICAL:
            logger = Logger(severity=Logger.ULTRA_VERBOSE)
            assert printed(logger, lambda it, level=severity: it.log("word", level)) == f"{letter} word\n"
    line = sys._getframe().f_lineno + 1
    assert f"helpers_test.py:{line}] word" in printed(Logger(line_info=True), lambda it: it.info("word"))
    with checks.raises(ZeroDivisionError, "words"):
        Logger().critical("words", ZeroDivisionError)


def test_a_message_that_fails_is_no_end():
    logger = Logger(severity=Logger.VERBOSE)
    assert "could not be made" in printed(logger, lambda it: it.verbose(lambda: 1 // 0))
    with checks.raises(ZeroDivisionError):
        logger.info(lambda: 1 // 0)


def test_messages_go_to_logging_and_to_warnings():
    kept = []
    handler = logging.Handler(level=1)
    handler.emit = lambda record: kept.append((record.levelno, record.getMessage()))
    target = logging.getLogger("Polygraphy")
    target.setLevel(1)
    target.addHandler(handler)
    logger = Logger(severity=Logger.ULTRA_VERBOSE)
    logger.use_python_logging_system = True
    for method in ("ultra_verbose", "verbose", "finish", "warning"):
        getattr(logger, method)(method)
    target.removeHandler(handler)
    assert kept == [(2, "[U] ultra_verbose"), (10, "[V] verbose"), (28, "[I] finish"), (30, "[W] warning")]
    with util.TempAttrChange(config, {"INTERNAL_CORRECTNESS_CHECKS": True}), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        printed(Logger(), lambda it: it.warning("beware"))
    assert [str(each.message) for each in found] == ["beware"]


def test_a_log_file_has_the_messages():
    logger = Logger(severity={"backend": 10})
    logger.log_file = "made/here/log.txt"
    assert logger.module_severity.get("backend/x.py") == 10
    printed(logger, lambda it: it.info("word"))
    with open("made/here/log.txt", encoding="utf-8") as file:
        assert file.read() == "[I] word\n"


def test_versions_know_what_comes_before_a_release():
    order = ["0.9", "1.0.dev3", "1.0a0", "1.0b0", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.0.10"]
    versions = [mod.version(each) for each in order]
    assert all(a < b for a, b in zip(versions, versions[1:])) and versions == sorted(versions)
    assert mod.version("1.13.1+cu117") == mod.version("1.13.1") == (1, 13, 1) and mod.version("1.0") == mod.version("1")
    from assay.mod.importer import _version_ok

    assert _version_ok("1.2", ">= 1.1") and not _version_ok("1.2", "<1.2") and _version_ok("1.2", "==1.2.0")
    assert mod.has_mod("onnx") and not mod.has_mod("no_such_module")


def test_lists_and_dictionaries_of_types():
    names = TypedDict(lambda: str, lambda: (int, float))()
    names["a"] = 1
    names.update({"b": 2.5})
    assert dict(names) == {"a": 1, "b": 2.5}
    for work in (lambda: names.update({3: 1}), lambda: names.__setitem__("c", "x")):
        with checks.raises(PolygraphyException, "Unsupported"):
            work()
    numbers = TypedList(lambda: int)()
    numbers += [1, 2]
    with checks.raises(PolygraphyException, "Unsupported element type"):
        numbers.extend([3, "x"])
    assert list(numbers) == [1, 2]


class Point:
    def __init__(self, x):
        self.x = x


def test_json_of_registered_classes():
    @Encoder.register(Point)
    def encode(point):
        return {"x": point.x}

    assert encode(Point(1)) == {"x": 1, "polygraphy_class": "Point"}
    with checks.raises(PolygraphyException, "Could not decode serialized type: Point"):
        from_json(to_json(Point(2)))
    seen = []

    @Decoder.register(Point, alias="OldPoint")
    def decode(dct):
        seen.append(dict(dct))
        return Point(dct["x"])

    assert from_json(to_json([Point(3)]))[0].x == 3 and seen == [{"x": 3}]
    assert from_json('{"x": 4, "polygraphy_class": "OldPoint"}').x == 4
    legacy = '{"x": 5, "__polygraphy_encoded_Point": "polygraphy_serialized_json_type"}'
    assert from_json(legacy).x == 5
    with checks.raises(PolygraphyException, "Duplicate"):
        Decoder.register(Point)(decode)


def test_arrays_of_all_types_are_json():
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float4_e2m1fn"):
        values = np.array([[1, 0, 2], [1, 2, 0]]).astype(getattr(ml_dtypes, name))
        found = from_json(to_json(values))
        assert found.dtype == values.dtype and np.array_equal(found.astype(float), values.astype(float)), name
    assert from_json(to_json(np.array(["a", "bc"], dtype=object))).tolist() == ["a", "bc"]
    text = to_json(np.ones(2, ml_dtypes.bfloat16))
    for wrong in (text.replace('"bfloat16"', '"float99"'), text.replace('"bfloat16"', "5"),
                  text.replace('"assay_dtype"', '"assay_shape": 3, "assay_dtype"'),
                  text.replace('"assay_dtype"', '"assay_shape": [9], "assay_dtype"')):
        with checks.raises(PolygraphyException):
            from_json(wrong)


def test_tensors_in_json_need_torch():
    if mod.has_mod("torch"):
        return
    with checks.raises(PolygraphyException, "torch.Tensor", "required module is missing"):
        from_json('{"tensor": "AAAA", "polygraphy_class": "Tensor"}')


def test_the_program_and_the_package_read_each_other():
    made = checks.model([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)], [("x", 1, [3])],
                        [("y", TensorProto.BFLOAT16, [3])])
    import onnx

    onnx.save(made, "cast.onnx")
    words = [sys.executable, "-m", "assay", "run", "cast.onnx", "--ref", "--save-outputs", "out.json"]
    subprocess.run(words, check=True, capture_output=True)
    results = RunResults.load("out.json")
    assert results[0][1][0]["y"].dtype == ml_dtypes.bfloat16
    results.save("again.json")
    with open("out.json", encoding="utf-8") as first, open("again.json", encoding="utf-8") as second:
        assert first.read() == second.read()


def test_what_is_not_there_is_of_two_kinds():
    for kind in (PolygraphyException, ValueError):
        with checks.raises(kind, "not the JSON of saved data"):
            from_json("{nothing")
    results = RunResults([("r", [IterationResult({"y": np.ones(2)}, runner_name="r")])])
    for kind in (PolygraphyException, KeyError):
        with checks.raises(kind, "`s` does not exist in this RunResults"):
            results["s"]
    with checks.raises(IndexError):
        results[1]
    with checks.raises(PolygraphyException, "a list is no array"):
        util.array.dtype([1, 2])


def test_metadata_as_text():
    meta = TensorMetadata().add("x", np.float32, (1, "N", -1), docstring="an image").add("y", None, None)
    assert str(meta) == "{x [dtype=float32, shape=(1, 'N', -1), an image],\n y}"


def test_comparisons_say_what_they_compared():
    a, b = (IterationResult({name: np.ones(2, np.float32)}, runner_name="r") for name in ("y", "z"))
    result = CompareFunc.simple()(a, b)["y"]
    assert (result.output0_name, result.output1_name) == ("y", "z")
    c, d = (IterationResult({"y": np.array(values, np.float32)}, runner_name="r")
            for values in ((0, 1, 2, 3), (0.15, 1.25, 2.5, 3.75)))
    assert CompareFunc.simple(atol=0.4125, rtol=0, check_error_stat="mean")(c, d)["y"]
    assert not CompareFunc.simple(atol=0.4124, rtol=0, check_error_stat="mean")(c, d)["y"]


def test_files_that_are_not_there():
    for work in (lambda: load_json("nothere.json"), lambda: RunResults.load("nothere.json"), lambda: util.load_file("no"),
                 lambda: onnx_from_path("nothere.onnx"), SessionFromOnnx("nothere.onnx")):
        for kind in (FileNotFoundError, PolygraphyException):
            with checks.raises(kind, "no"):
                work()
    try:
        onnx_from_path("nothere.onnx")
    except PolygraphyException as error:
        assert error.code == "io"


def test_outputs_are_changed_where_they_are():
    made = checks.model([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])],
                        [("x", 1, [3])], [("y", 1, [3])])
    kept = modify_outputs(made, outputs=["r"], copy=True)
    assert [each.graph.output[0].name for each in (kept, made)] == ["r", "y"]
    assert modify_outputs(made, outputs=["r"]) is made and made.graph.output[0].name == "r"
    ours = onnx_from_path(checks.save_identity() and "identity.onnx")
    assert modify_outputs(ours, outputs=["y"]) is ours and [each.name for each in ours.graph.output] == ["y"]
    assert bytes_from_onnx(import_onnx(made)) == bytes_from_onnx(import_onnx(made.SerializeToString()))


def test_open_files_are_read_from_the_beginning():
    results = RunResults([("r", [IterationResult({"y": np.ones(2)}, 0.5, "r")])])
    with util.NamedTemporaryFile("w+") as file:
        results.save(file)
        assert RunResults.load(file) == results and file.read() == ""
    with util.NamedTemporaryFile("w+") as file:
        results.save(file.name)
        assert file.read() == results.to_json()


def test_large_arrays_go_to_files():
    small, large = np.zeros(1 << 19, np.uint8), np.ones(3 << 20, np.uint8)
    with util.TempAttrChange(config, {"ARRAY_SWAP_THRESHOLD_MB": 2}):
        assert LazyArray(small).arr is small and LazyArray(small).tmpfile is None
        lazy = LazyArray(large)
        results = IterationResult({"y": large}, runner_name="r")
        assert results.dct["y"].arr is None and np.array_equal(results["y"], large)
    assert lazy.arr is None and np.array_equal(lazy.load(), large) and np.array_equal(lazy.numpy(), large)
    os.unlink(lazy.tmpfile.name)
    with checks.raises(FileNotFoundError, "not there any more"):
        lazy.load()


def test_shapes_are_fitted():
    values = np.arange(12)
    assert util.try_match_shape(values, (None, 3, 2, 2)).shape == (1, 3, 2, 2)
    assert np.array_equal(util.try_match_shape(values.reshape(1, 3, 2, 2), (1, 2, 2, 3)),
                          values.reshape(1, 3, 2, 2).transpose(0, 2, 3, 1))
    assert util.try_match_shape(values, (5, 5)).shape == (12,)


def test_constructors_as_texts():
    assert util.make_repr("T", None, x=2) == ("T(None, x=2)", True, False)
    assert util.make_repr("T", {"a": [float("-inf")]}, y=None) == ("T({'a': [float('-inf')]})", False, True)


def test_work_of_loaders_and_runners_is_not_called_directly():
    checks.save_identity()
    with OnnxrtRunner(SessionFromOnnx("identity.onnx")) as runner:
        feeds = {"x": np.ones((1, 1, 2, 2), np.float32)}
        assert runner.get_input_metadata()["x"].dtype is np.dtype("float32")
        assert runner.get_input_metadata(use_numpy_dtypes=False)["x"].dtype is DataType.FLOAT32
        with checks.capture_log() as log:
            runner.infer(feeds)
            assert log.getvalue() == ""
            runner.infer_impl(feeds)
            assert "'OnnxrtRunner.infer_impl()' directly" in log.getvalue() and "'infer()'" in log.getvalue()
            SessionFromOnnx("identity.onnx").call_impl()
            assert "'SessionFromOnnx.call_impl()' directly" in log.getvalue()


def test_providers_have_their_whole_names():
    checks.save_identity()
    assert SessionFromOnnx("identity.onnx", providers=["cpu"])().get_providers() == ["CPUExecutionProvider"]
    with checks.raises(PolygraphyException, "Could not find specified ONNX-Runtime execution provider", "imagined"):
        SessionFromOnnx("identity.onnx", providers=["cpu", "imagined"])()


def test_extended_functions_and_what_can_be_exported():
    @func.extend(lambda a, b: a + b)
    def extended(a, b, total):
        return [a, b, total]

    assert extended(1, 2) == extended(1, b=2) == [1, 2, 3]
    with checks.raises(AssertionError, "must be a loader"):
        mod.export(funcify=True)(test_shapes_are_fitted)
    with checks.raises(AssertionError, "must derive from BaseLoader"):
        mod.export(funcify=True)(Point)

    class Shared(BaseLoader):
        def __init__(self, x) -> None:
            self.x = x

        def call_impl(self, x):
            return x

    with checks.raises(AssertionError, "same argument names"):
        mod.export(funcify=True)(Shared)

    class Changing(BaseLoader):
        def call_impl(self) -> None:
            self.x = 1

    with util.TempAttrChange(config, {"INTERNAL_CORRECTNESS_CHECKS": True}), checks.raises(PolygraphyInternalException):
        Changing()()


def test_ranges_and_shapes_of_made_up_inputs():
    meta = TensorMetadata().add("x", np.float32, (2, 2)).add("y", np.float32, (2,))
    made = DataLoader(input_metadata=meta, val_range={"x": (0, float("inf"))})[0]
    assert np.all(np.isposinf(made["x"])) and np.all(made["y"] <= 1)
    assert np.array_equal(made["y"], DataLoader(input_metadata=meta)[0]["y"])
    with checks.raises(PolygraphyException, "cannot be infinite"):
        DataLoader(input_metadata=TensorMetadata().add("x", np.int32, (2,)), val_range=(0, float("inf")))[0]

    def made_for(dtype, shape, wanted, **bounds):
        loader = DataLoader(input_metadata=TensorMetadata().add("x", dtype, wanted) if wanted else None)
        loader.input_metadata = TensorMetadata().add("x", dtype, shape, **bounds)
        return loader[0]["x"]

    assert made_for(np.int32, (3,), (1, 2, 3)).tolist() == [1, 2, 3]
    assert made_for(np.int32, (3,), (-1, 2, 3)).shape == made_for(np.float32, (3,), (4, 5, 6)).shape == (3,)
    assert made_for(np.float32, (-1, 3), None, max_shape=(4, 3)).shape == (4, 3)


def test_inputs_that_do_not_fit_are_loaded_again():
    class Loader(list):
        pass

    meta = TensorMetadata().add("x", np.float32, (2,)).add("y", np.float32, (2,))
    cache = DataLoaderCache(Loader([{"x": np.zeros(2, np.float32), "y": np.zeros(2, np.float32)}]))
    cache.set_input_metadata(meta)
    cache.cache[0] = {"x": np.ones(5, np.float32), "y": np.ones(2, np.float32)}
    assert cache[0]["x"].tolist() == [0, 0] and cache[0]["y"].tolist() == [1, 1]
    cache.data_loader = iter(())
    with checks.raises(PolygraphyException, "`x` has the shape (5,)"):
        cache[0]


class Tensor:
    """What a tensor of torch can be asked, over an array; `bridge`: whether it can be made one of numpy directly."""

    def __init__(self, array, bridge=True, dtype=None, requires_grad=False, device="cpu"):
        self.array, self.bridge, self.requires_grad = array, bridge, requires_grad
        self.device = types.SimpleNamespace(type=device)
        self.dtype, self.shape = dtype or f"torch.{array.dtype}", array.shape

    def detach(self):
        return Tensor(self.array, self.bridge, self.dtype, False, self.device.type)

    def cpu(self):
        return Tensor(self.array, self.bridge, self.dtype, self.requires_grad)

    def contiguous(self):
        return self

    def view(self, dtype):
        return Tensor(self.array, self.bridge, f"torch.{dtype}")

    def numpy(self):
        if self.device.type != "cpu":
            raise TypeError("can't convert a device's tensor")
        if self.requires_grad or not self.bridge:
            raise RuntimeError("Numpy is not available")
        return self.array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize


Tensor.__module__ = "torch"


@contextlib.contextmanager
def torch_in_place(**names):
    """A module torch that has these names and that class of tensors."""
    before = sys.modules.get("torch")
    sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor, **names)
    try:
        yield
    finally:
        del sys.modules["torch"]
        if before is not None:
            sys.modules["torch"] = before


def test_tensors_of_torch_are_arrays():
    values = np.array([[3.0, 1.0], [2.0, 4.0]], np.float32)
    kinds = [Tensor(values), Tensor(values, bridge=False), Tensor(values, requires_grad=True), Tensor(values, device="cuda")]
    for tensor in kinds:
        assert np.array_equal(util.array.to_numpy(tensor), values) and np.array_equal(to_numpy(to_array(tensor)), values)
        a, b = (IterationResult({"y": each}, runner_name="r") for each in (tensor, values))
        assert CompareFunc.simple()(a, b)["y"] and CompareFunc.indices()(a, b)["y"] and a == b
        assert TensorMetadata.from_feed_dict({"x": tensor})["x"].dtype == DataType.FLOAT32


def test_tensors_of_types_that_numpy_lacks():
    halves = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    with torch_in_place(int16="int16"):
        tensor = Tensor(halves.view(np.int16), dtype="torch.bfloat16")
        assert util.array.to_numpy(tensor).tolist() == [1.5, -2.0]
        assert to_numpy(to_array(tensor)).tolist() == [1.5, -2.0] and DataType.from_dtype("torch.bfloat16").number == 16
        assert DataType.from_dtype("torch.float8_e4m3fn") is DataType.FLOAT8E4M3FN


def test_scalars_of_torch_stay_scalars():
    with torch_in_place(from_numpy=Tensor):
        found = util.array.abs(Tensor(np.array(-2.0, np.float32)))
        assert isinstance(found, Tensor) and found.shape == () and found.array == 2
        top = PostprocessFunc.top_k(1)(IterationResult({"y": Tensor(np.array([[3.0, 1.0], [2.0, 4.0]]))}))["y"]
        assert isinstance(top, Tensor) and top.array.tolist() == [[0], [1]]


def test_functions_of_scripts_have_their_attributes():
    with open("script.py", "w", encoding="utf-8") as file:
        file.write("class Compare:\n    limit = 3\n    def __call__(self, a):\n        return a + self.limit\n")
    found = InvokeFromScript("script.py", "Compare")
    assert found.limit == 3 and found(4) == 7 and found.__name__ == "Compare"
    with checks.raises(PolygraphyException, "Could not import symbol: Nothing from script"):
        InvokeFromScript("script.py", "Nothing")()


class FailingRunner:
    name = "failing"


class Counting(OnnxrtRunner):
    activations = 0

    def activate_impl(self):
        Counting.activations += 1
        super().activate_impl()


def test_runs_in_processes_of_their_own_load_nothing_here():
    checks.save_identity()
    runner = Counting(SessionFromOnnx("identity.onnx"))
    loader = DataLoader(iterations=2)
    results = Comparator.run([runner, BackendRunner("identity.onnx", "ref")], data_loader=loader, use_subprocess=True,
                             save_inputs_path="inputs.json")
    assert Counting.activations == 0 and bool(Comparator.compare_accuracy(results)) and len(load_json("inputs.json")) == 2
    with checks.raises(PolygraphyException, "failing"):
        Comparator.run([FailingRunner()], use_subprocess=True)


def test_figures_of_outputs():
    values = np.array([[60000, 60000], [0, 60000]], np.float16)
    assert comparator_util.compute_max(values) == 60000 and comparator_util.compute_mean(values) == 45000
    assert comparator_util.compute_argmin(values) == (1, 0)
    assert "mean=45000" in comparator_util.str_output_stats(values, "r") and "r | " in comparator_util.str_output_stats(values, "r")
    assert comparator_util.str_histogram(values).count("\n") == 11


def test_models_can_be_asked():
    made = checks.model([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])],
                        [("x", TensorProto.FLOAT, ["N", 3])], [("y", TensorProto.FLOAT, ["N", 3])])
    assert onnx_util.get_num_nodes(made) == 2 and onnx_util.all_tensor_names(made, True) == ["r", "y", "x"]
    assert onnx_util.get_input_metadata(made.graph)["x"].shape == ["N", 3]
    assert [each.name for each in onnx_util.mark_outputs(made, ["r*"]).graph.output] == ["r"]
    assert [each.name for each in onnx_util.mark_by_op_type(made, ["neg"]).graph.output] == ["y"]
    with checks.raises(PolygraphyException, "not found", "z"):
        onnx_util.mark_outputs(made, ["z"])
    assert [each.name for each in onnx_util.mark_layerwise(made).graph.output] == ["r", "y"]
    assert [each.name for each in onnx_util.unmark_outputs(made, ["y"]).graph.output] == ["r"]


def test_weights_that_are_left_in_their_files():
    weights = numpy_helper.from_array(np.ones(3, np.float32), "w")
    made = checks.model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", 1, [3])], [("y", 1, [3])], [weights])
    import onnx

    onnx.save(made, "outside.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    os.unlink("weights.bin")
    kept = onnx_from_path("outside.onnx", ignore_external_data=True).graph.initializer[0]
    assert kept.data_location == TensorProto.EXTERNAL and not kept.raw_data


def test_folding_has_no_bound_unless_one_is_given():
    tile = helper.make_node("Tile", ["c", "n"], ["t"])
    constants = [numpy_helper.from_array(np.ones(1, np.int8), "c"), numpy_helper.from_array(np.array([3 << 20]), "n")]
    made = checks.model([tile, helper.make_node("Identity", ["t"], ["y"])], [], [("y", TensorProto.INT8, [3 << 20])], constants)
    assert not [node for node in fold_constants(made).graph.node if node.op_type == "Tile"]
    assert [node for node in fold_constants(made, size_threshold=100).graph.node if node.op_type == "Tile"]


def test_references_of_the_users_own():
    doubled = helper.make_node("Doubled", ["r"], ["d"], domain="mine", by=2.0)
    made = checks.model([helper.make_node("Relu", ["x"], ["r"]), doubled, helper.make_node("Neg", ["d"], ["y"])],
                        [("x", 1, [2])], [("y", 1, [2])])

    @references.register("Doubled")
    def compute(attrs, x):
        return [x * attrs["by"]]

    try:
        with PluginRefRunner(import_onnx(made)) as runner:
            assert runner.infer({"x": np.array([-1, 3], np.float32)})["y"].tolist() == [0, -6]
    finally:
        del references.OP_REGISTRY["Doubled"]


def test_models_of_other_frameworks():
    with checks.raises(PolygraphyException, "models of TensorFlow are no objects here"):
        GraphFromFrozen("model.pb")()
    assert PytRunner(lambda: None, TensorMetadata(), [], name="p").name == "p"


if __name__ == "__main__":
    checks.run_all(globals())
