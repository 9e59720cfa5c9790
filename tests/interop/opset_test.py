"""Models written in other versions of ai.onnx: the reference gives the same bits, onnx's checker accepts them, and ONNX
Runtime gives what it gave.

    opset_test.py OPSET_CASES [--all] [-v]

ONNX's own tests go to the newest version, down to 13 and up again, and so do random graphs; models of old versions,
built here, go up. Each list says how many tests are at least changed, so that a pass which refuses everything fails. Of
models that became the same nodes with the same attributes, ONNX Runtime sees the first only, unless --all.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import make_node_tests  # noqa: E402
from random_ops.draw import Rng  # noqa: E402
from random_ops.graphs import Builder  # noqa: E402

NEWEST = onnx.defs.onnx_opset_version()
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
RNG = np.random.default_rng(7)

# Versions to go through, and how many of ONNX's own tests change at least on that way.
ROUTES = {(NEWEST,): 1600, (13,): 880, (13, NEWEST): 1180, (NEWEST, 18): 1450, (11, 14, 20): 950}
TOLERANCE = 1e-5
MEMORY = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None  # thousands of small files
SEED, GRAPHS = 31, 120
# Where ONNX Runtime is not as the specification says, before or after.
RUNTIME_DIFFERS = {
    "one_hot_9": "negative indices count from the end in its version 9 too",
    "one_hot_9_float": "negative indices count from the end in its version 9 too",
}
# Where onnx's own converter is not as the specification says.
HALF_PIXEL = "it becomes half_pixel, where the old version is asymmetric"
ONE_AXIS = "it stays one node over one axis, where the old version flattens"
CONVERTER_DIFFERS = {
    "upsample_9_linear": HALF_PIXEL, "resize_10_nearest_2": HALF_PIXEL, "resize_10_linear_2": HALF_PIXEL,
    "resize_10_linear_0.6": HALF_PIXEL, "Hardmax_11_-2": ONE_AXIS, "Hardmax_11_0": ONE_AXIS, "Hardmax_11_1": ONE_AXIS,
    "Hardmax_default": ONE_AXIS,
}


def data(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Old:
    """A model of one node of an old version, with its inputs; weights are constants."""

    def __init__(self, name, opset, op, inputs, outputs=1, weights=None, dims=None, **attributes):
        self.name, self.opset, self.inputs = name, opset, inputs
        names = [f"x{i}" for i in range(len(inputs))]
        weights = weights or {}
        places = list(names)
        for place, array in sorted(weights.items()):
            places.insert(place, f"w{place}" if array is not None else "")
        results = [f"y{i}" for i in range(outputs)]
        node = helper.make_node(op, places, results, name="n", **{k: v for k, v in attributes.items() if v != []})
        node.attribute.extend(helper.make_attribute(key, value, attr_type=onnx.AttributeProto.INTS)
                              for key, value in attributes.items() if value == [])
        kinds = [onnx.helper.np_dtype_to_tensor_dtype(array.dtype) for array in inputs]
        infos = [helper.make_tensor_value_info(n, kind, (dims or {}).get(n, array.shape))
                 for n, kind, array in zip(names, kinds, inputs)]
        tensors = [numpy_helper.from_array(array, f"w{place}") for place, array in weights.items() if array is not None]
        outs = [helper.make_tensor_value_info(name, FLOAT, None) for name in results]
        graph = helper.make_graph([node], "g", infos, outs, tensors)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=6)


def integer_outputs(model, *indices):
    for i in indices:
        model.model.graph.output[i].type.tensor_type.elem_type = INT64
    return model


def longs(*values):
    return np.array(values, np.int64)


def old_models():
    x = data(2, 3, 4)
    image = data(1, 2, 4, 5)
    infinite = np.array([-np.inf, -1, 0, 2, np.inf], np.float32)
    yield Old("clip_6", 7, "Clip", [infinite], min=-0.5)
    yield Old("clip_6_both", 10, "Clip", [infinite], min=-0.5, max=1.5)
    yield Old("clip_6_none", 9, "Clip", [infinite])
    yield Old("pad_2", 10, "Pad", [x], pads=[0, 1, 0, 2, 0, 1], value=1.5)
    yield Old("pad_2_edge", 9, "Pad", [x], pads=[0, 1, 0, 0, 0, 1], mode="edge")
    yield Old("slice_1", 9, "Slice", [x], starts=[0, -3], ends=[1, 100], axes=[1, 2])
    yield Old("slice_1_no_axes", 7, "Slice", [x], starts=[0, 1], ends=[1, 100])
    yield integer_outputs(Old("topk_1", 9, "TopK", [x], 2, k=2, axis=1), 1)
    yield Old("dropout_7", 7, "Dropout", [x], ratio=0.3)
    yield Old("dropout_10", 11, "Dropout", [x], ratio=0.3)
    yield Old("upsample_7", 7, "Upsample", [image], scales=[1.0, 1.0, 2.0, 1.5])
    yield Old("upsample_9_linear", 9, "Upsample", [image], weights={1: np.array([1, 1, 2, 1.5], np.float32)},
              mode="linear")
    for mode in ("nearest", "linear"):
        for scales in ((1, 1, 2, 1.3), (1, 1, 0.6, 0.5)):
            yield Old(f"resize_10_{mode}_{scales[2]}", 10, "Resize", [image],
                      weights={1: np.array(scales, np.float32)}, mode=mode)
    empty = np.zeros(0, np.float32)
    yield Old("resize_11_sizes", 11, "Resize", [image], weights={1: empty, 2: empty, 3: longs(1, 2, 7, 9)})
    yield Old("resize_11_cubic", 11, "Resize", [image], weights={1: empty, 2: np.array([1, 1, 2, 1.7], np.float32)},
              mode="cubic")
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (-2, 0, 1, 2):
            yield Old(f"{op}_11_{axis}", 11, op, [x], axis=axis)
        yield Old(f"{op}_default", 9, op, [x], dims={"x0": ("a", "b", "c")})
        yield Old(f"{op}_empty", 11, op, [data(2, 0, 4)], dims={"x0": ("a", "b", "c")})
    yield Old("scatter_9", 9, "Scatter", [x, longs(0, 1).reshape(1, 1, 2), data(1, 1, 2)], axis=2)
    indices = longs(-1, 0, 2, 3, 7, -4).reshape(2, 3)
    yield Old("one_hot_9", 9, "OneHot", [indices], weights={1: longs(3), 2: np.array([0, 1], np.float32)})
    yield Old("one_hot_9_float", 10, "OneHot", [indices.astype(np.float32)],
              weights={1: np.array([3], np.float32), 2: np.array([0, 1], np.float32)}, axis=0)
    for number, axes in enumerate((None, [], [1], [-1, 0])):
        given = {} if axes is None else {"axes": axes}
        for op in ("ReduceSum", "ReduceMax", "ReduceMean", "ReduceLogSumExp"):
            yield Old(f"{op}_{number}", 11, op, [x], **given)
            yield Old(f"{op}_{number}_flat", 11, op, [x], keepdims=0, **given)
    yield Old("squeeze_1", 11, "Squeeze", [data(1, 3, 1)], axes=[0])
    yield Old("squeeze_all", 9, "Squeeze", [data(1, 3, 1)])
    yield Old("unsqueeze_11", 11, "Unsqueeze", [x], axes=[-1, 0])
    yield Old("split_2", 9, "Split", [x], 2, axis=2)
    yield Old("split_11", 11, "Split", [x], 2, axis=2, split=[1, 3])
    stats = [np.abs(data(3)) + 1 for _ in range(4)]
    yield Old("bn_7", 7, "BatchNormalization", [x], weights={i + 1: a for i, a in enumerate(stats)}, spatial=1)
    yield Old("bn_9", 9, "BatchNormalization", [x], weights={i + 1: a for i, a in enumerate(stats)})
    yield Old("group_18", 18, "GroupNormalization", [data(2, 6, 3)],
              weights={1: data(3), 2: data(3)}, num_groups=3)
    yield Old("dft_17", 17, "DFT", [data(2, 5, 3, 1)], axis=1)
    yield Old("dft_17_axis", 17, "DFT", [data(2, 5, 3, 1)], axis=2, onesided=1)
    grid = RNG.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(np.float32)
    for mode in ("bilinear", "bicubic", "nearest"):
        yield Old(f"grid_sample_16_{mode}", 16, "GridSample", [image, grid], mode=mode)
    yield Old("roi_align_10", 10, "RoiAlign", [image], weights={1: np.array([[0, 0, 3, 3.5]], np.float32), 2: longs(0)},
              output_height=2, output_width=2)
    yield Old("average_pool_10", 10, "AveragePool", [image], kernel_shape=[2, 2], ceil_mode=1, strides=[2, 2])
    yield integer_outputs(Old("arg_max_11", 11, "ArgMax", [x], axis=1), 0)
    yield Old("gemm_9", 9, "Gemm", [data(2, 3), data(3, 4), data(4)])
    yield Old("mean_variance_9", 9, "MeanVarianceNormalization", [image])


def random_graphs():
    """Models with computed shapes, branches and a function, with their inputs."""
    for number in range(GRAPHS):
        builder = Builder(Rng(f"{SEED}:{number}"))
        builder.build()
        model = builder.model()
        yield f"graph_{number}", model, [builder.feeds[value.name] for value in model.graph.input]


def write_tests(folder, kind, models):
    """The models as tests in the form of ONNX's own."""
    entries = []
    for name, model, inputs in models:
        place = folder / name / "test_data_set_0"
        place.mkdir(parents=True)
        onnx.save(model, place.parent / "model.onnx")
        for i, array in enumerate(inputs):
            (place / f"input_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        entries.append({"kind": kind, "name": name, "folder": name, "rtol": 0, "atol": 0, "data_sets": 1})
    (folder / "index.json").write_text(json.dumps(entries))
    return entries


def convert(program, folder, out, versions):
    command = [program, folder, out, *map(str, versions)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return [line.split(" ", 2) for line in run.stdout.splitlines()]


def accepts(model):
    try:
        onnx.checker.check_model(model, full_check=False)
        return ""
    except Exception as error:  # the checker throws several types
        return str(error).splitlines()[0]


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # threads cost more than these models
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def outputs(model, folder):
    """What ONNX Runtime gives for the first data set; None where it cannot run the model, a path or bytes."""
    try:
        run = session(model)
        feeds = {}
        for i, info in enumerate(run.get_inputs()):
            with open(f"{folder}/test_data_set_0/input_{i}.pb", "rb") as file:
                feeds[info.name] = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
        return run.run(None, feeds)
    except Exception:  # not implemented, or no tensor
        return None


def signature(model):
    """What a model does, whatever its names and the values of its weights."""
    return tuple((node.op_type, tuple(map(bool, node.input)), *(a.SerializeToString() for a in node.attribute))
                 for node in model.graph.node)


def is_same(theirs, ours):
    for a, b in zip(theirs, ours):
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fiub":
            continue
        if a.shape == b.shape and a.tobytes() == b.tobytes():
            continue
        if a.shape != b.shape or not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return False
    return True


def converted(model, version):
    """The bytes of what onnx's own converter makes of it; None where it cannot."""
    try:
        return onnx.version_converter.convert_version(model, version).SerializeToString()
    except Exception:  # RuntimeError for most, but not all
        return None


def newest_of_runtime():
    """The newest version that ONNX Runtime knows."""
    node = helper.make_node("Relu", ["x"], ["y"])
    infos = [[helper.make_tensor_value_info(name, FLOAT, [1])] for name in "xy"]
    for version in range(NEWEST, 1, -1):
        model = helper.make_model(helper.make_graph([node], "g", *infos), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", version)])
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            return version
        except Exception:  # no type of its own
            continue
    return 1


class Judge:
    def __init__(self, program, verbose):
        self.program, self.verbose, self.faults = program, verbose, 0
        self.newest = newest_of_runtime()
        self.accepts, self.outputs = {}, {}

    def fault(self, line):
        self.faults += 1
        print("FAIL", line)

    def route(self, folder, entries, versions, least, runs_all):
        with tempfile.TemporaryDirectory(dir=MEMORY) as out:
            lines = convert(self.program, folder, out, versions)
            count = collections.Counter(word for word, *_ in lines)
            runtime = collections.Counter()
            folders = {entry["name"]: f"{folder}/{entry['folder']}" for entry in entries}
            seen = None if runs_all else set()
            for word, name, *rest in lines:
                if word == "different":
                    self.fault(f"{versions} {name}: {' '.join(rest)}")
                if word == "refused" and self.verbose:
                    print(f"     {versions} {name}: {' '.join(rest)}")
                if word == "same":
                    model = onnx.load(f"{out}/{name}.onnx", load_external_data=False)
                    runtime[self.check(versions, name, folders[name], model, seen)] += 1
        if count["same"] < least:
            self.fault(f"{versions}: {count['same']} changed, expected at least {least}")
        print(versions, dict(count), "ONNX Runtime:", dict(runtime))

    def accepted(self, folder):
        """Whether the checker accepts the model as it is."""
        if folder not in self.accepts:
            self.accepts[folder] = accepts(f"{folder}/model.onnx") == ""
        return self.accepts[folder]

    def outputs_before(self, folder):
        if folder not in self.outputs:
            self.outputs[folder] = outputs(f"{folder}/model.onnx", folder)
        return self.outputs[folder]

    def check(self, versions, name, folder, model, seen):
        message = accepts(model) if self.accepted(folder) else ""
        if message:
            self.fault(f"{versions} {name}: the checker says {message}")
        if versions[-1] > self.newest:
            return "too new"
        if seen is not None and signature(model) in seen:
            return "like another"
        if seen is not None:
            seen.add(signature(model))
        theirs = self.outputs_before(folder)
        ours = outputs(model.SerializeToString(), folder)
        if theirs is None:
            return "runs neither" if ours is None else "runs now"
        if ours is None:
            return "refused"
        if is_same(theirs, ours):
            return "same"
        if name not in RUNTIME_DIFFERS:
            self.fault(f"{versions} {name}: ONNX Runtime gives something else")
        return "differs"

    def converter(self, program, folder, entries, version, least):
        """What onnx's own converter makes of the models gives what ours give."""
        count = collections.Counter()
        with tempfile.TemporaryDirectory(dir=MEMORY) as out:
            lines = {name: word for word, name, *_ in convert(program, folder, out, (version,))}
            for name in (entry["name"] for entry in entries):
                peer = converted(onnx.load(folder / name / "model.onnx"), version)
                theirs = None if peer is None else outputs(peer, folder / name)
                if theirs is None or lines[name] != "same":
                    count["not both"] += 1
                    continue
                ours = outputs(f"{out}/{name}.onnx", folder / name)
                is_known = name in RUNTIME_DIFFERS or name in CONVERTER_DIFFERS
                word = "same" if ours is not None and is_same(theirs, ours) else "known" if is_known else "different"
                count[word] += 1
                if word == "different":
                    self.fault(f"({version},) {name}: onnx's converter makes something else of it")
        if count["same"] < least:
            self.fault(f"{count['same']} models as onnx's converter makes them, expected at least {least}")
        print("the converter of onnx to", version, dict(count))


def main():
    judge = Judge(sys.argv[1], "-v" in sys.argv)
    build = pathlib.Path(sys.argv[1]).parents[1]
    folder = build / f"onnx-tests-{onnx.__version__}"
    if not (folder / make_node_tests.INDEX).exists():
        make_node_tests.write_tests(folder, make_node_tests.KINDS)
    entries = json.loads((folder / make_node_tests.INDEX).read_text())
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        place = pathlib.Path(place)
        old = write_tests(place / "old", "old", ((item.name, item.model, item.inputs) for item in old_models()))
        for version in (NEWEST, 22, 14):
            judge.route(place / "old", old, (version,), 80, runs_all=True)
        judge.converter(sys.argv[1], place / "old", old, 22, 30)
        graphs = write_tests(place / "graphs", "graph", random_graphs())
        for versions in ((22,), (NEWEST, 20), (13, NEWEST), (11, 21)):
            judge.route(place / "graphs", graphs, versions, GRAPHS // 5, runs_all=True)
    for versions, least in (ROUTES | {(judge.newest,): 1500}).items():
        judge.route(folder, entries, versions, least, runs_all="--all" in sys.argv)
    return judge.faults > 0


if __name__ == "__main__":
    sys.exit(main())
