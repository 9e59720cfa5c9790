"""Runs whose iterations come, are kept in files, and are compared one at a time, and several runs side by side."""

import os

import checks
import numpy as np
from assay.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
from assay.comparator import (Comparator, CompareFunc, DataLoader, IterationResult, PostprocessFunc, RunResults,
                              StreamingDataLoader)
from assay.exception import PolygraphyException
from assay.json import IterationWriter, is_single_file, list_iteration_files, load_json
from assay.session import BackendRunner


def runners():
    checks.save_identity()
    return [OnnxrtRunner(SessionFromOnnx("identity.onnx"), "first"), BackendRunner("identity.onnx", "ref", "second")]


def run_of(name, *values):
    return RunResults([(name, [IterationResult({"y": np.array(each, np.float32)}, 0.1, name) for each in values])])


def test_iterations_are_written_each_to_its_file():
    results = Comparator.run(runners(), data_loader=DataLoader(iterations=3), save_inputs_path="inputs",
                             save_outputs_path="outputs", save_input_blob_path="blobs")
    assert [os.path.basename(each) for each in list_iteration_files("outputs")] == [f"000000000{i}.json" for i in range(3)]
    assert RunResults.concat(RunResults.load_streaming("outputs")) == results
    feeds = list(StreamingDataLoader(["inputs", "inputs/0000000001.json"]))
    assert len(feeds) == 4 and np.array_equal(feeds[1]["x"], feeds[3]["x"])
    assert np.array_equal(np.fromfile("blobs/0000000002/x.bin", np.float32), feeds[2]["x"].ravel())
    with checks.raises(PolygraphyException, "is not empty"):
        Comparator.run(runners(), save_outputs_path="outputs")
    with checks.raises(PolygraphyException, "is a folder"):
        list(StreamingDataLoader("inputs", allow_dirs=False))


def test_a_stream_runs_only_as_far_as_it_is_read():
    loaded = []

    def feeds():
        for i in range(5):
            loaded.append(i)
            yield {"x": np.full((1, 1, 2, 2), i, np.float32)}

    stream = Comparator.run(runners(), data_loader=feeds(), streaming=True, save_inputs_path="in.json",
                            save_outputs_path="out.json")
    assert loaded == [] and next(stream)["first"][0]["y"].max() == 0 and loaded == [0]
    assert next(stream).keys() == ["first", "second"]
    stream.close()
    assert loaded == [0, 1] and len(load_json("in.json")) == 2 and len(RunResults.load("out.json")["second"]) == 2


def test_streams_are_changed_checked_and_compared_as_they_come():
    def stream(**options):
        return Comparator.run(runners(), data_loader=DataLoader(iterations=4), streaming=True, **options)

    found = Comparator.compare_accuracy(Comparator.validate(Comparator.postprocess(stream(), PostprocessFunc.top_k(1))),
                                        compare_func=[CompareFunc.indices(), CompareFunc.simple()])
    assert bool(found) and len(found) == 2 and found[0].stats() == (4, 0, 4)
    judged = []

    def refuse(a, b):
        judged.append(a)
        return {"y": False}

    assert not Comparator.compare_accuracy(stream(), compare_func=refuse, fail_fast=True) and len(judged) == 1
    bad = iter([run_of("a", [1.0]), run_of("a", [np.nan])])
    with checks.raises(PolygraphyException, "no numbers"):
        list(Comparator.validate(bad))


def test_runs_of_a_list_are_compared_with_each_other():
    first, second = run_of("same", [1.0], [2.0]), run_of("same", [1.0], [3.0])
    found = Comparator.compare_accuracy([first, second])
    assert found[0].stats(("same", "same")) == (1, 1, 2)
    assert Comparator.compare_accuracy([first, first.split()])[0].stats() == (2, 0, 2)
    assert Comparator.compare_accuracy([first, run_of("short", [1.0])])[0].stats() == (1, 0, 1)
    assert Comparator.validate([first, run_of("bad", [np.nan])]) == [True, False]
    assert Comparator.postprocess([first], lambda each: each)[0] is first
    with checks.raises(PolygraphyException, "expected RunResults"):
        Comparator.validate(5)


def test_averages_are_of_what_is_measured():
    results = run_of("a", [1.0], [2.0]) + run_of("b", [1.0], [2.5])
    assert Comparator.compare_accuracy(results, compare_func=CompareFunc.simple(check_error_stat="mean", atol=0.3),
                                       check_average=True)
    for options, word in (({}, "elemwise"), ({"compare_func": CompareFunc.indices()}, "measures nothing"),
                          ({"compare_func": lambda a, b: {}}, "measures nothing"), ({"fail_fast": True}, "together")):
        with checks.raises(PolygraphyException, word):
            Comparator.compare_accuracy(results, check_average=True, **options)


def test_writers_of_iterations():
    assert is_single_file("a.json") and not is_single_file("folder") and not is_single_file(None)
    with IterationWriter("all.json", combine=lambda items: {"items": items}) as writer:
        values = [1]
        writer.append(values)
        values.append(2)
    assert load_json("all.json") == {"items": [[1, 2]]}
    with IterationWriter(None) as nowhere:
        nowhere.append(1)
    with open("file", "w", encoding="utf-8"), checks.raises(PolygraphyException, "is a file"):
        IterationWriter("file")


if __name__ == "__main__":
    checks.run_all(globals())
