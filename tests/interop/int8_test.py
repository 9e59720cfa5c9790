#!/usr/bin/env python3
"""`convert --int8` and `--weights`, beside ONNX Runtime, its quantizer, onnx's checker and numpy.

    int8_test.py ASSAY

A network by hand, and random graphs; ASSAY_SEED repeats a run.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from random_ops.draw import Rng
from random_ops.graphs import Builder

ASSAY = sys.argv[1]
SEED = int(os.environ.get("ASSAY_SEED", "1"))
GRAPHS = 60
BINS = 4096
LEVELS = 128


def network(opset=17, seed=1):
    """Convolutions, a residual sum, pools and a product, as image classifiers have them."""
    rng = np.random.default_rng(seed)
    weights = {}

    def weight(name, *shape):
        weights[name] = (rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)
        return name

    def conv(source, result, filters, channels, size=3, **attributes):
        names = [source, weight(f"{result}_w", filters, channels, size, size), weight(f"{result}_b", filters)]
        return helper.make_node("Conv", names, [result], name=result, pads=[size // 2] * 4, **attributes)

    nodes = [
        conv("x", "c1", 16, 3, strides=[2, 2]), helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        conv("p1", "c2", 16, 16), helper.make_node("Clip", ["c2", "low", "high"], ["r2"]),
        conv("r2", "c3", 16, 16, 1), helper.make_node("Add", ["c3", "p1"], ["s"], name="sum"),
        helper.make_node("Relu", ["s"], ["r3"]), conv("r3", "c4", 32, 16), helper.make_node("Sigmoid", ["c4"], ["g"]),
        helper.make_node("Mul", ["c4", "g"], ["m"], name="gate"),
        helper.make_node("GlobalAveragePool", ["m"], ["a"], name="mean"), helper.make_node("Flatten", ["a"], ["f"]),
        helper.make_node("Gemm", ["f", weight("fc", 10, 32), weight("fc_b", 10)], ["y"], name="product", transB=1)]
    weights |= {"low": np.float32(0), "high": np.float32(6)}
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", 1, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", 1, [1, 10])],
                              [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


def session(model, optimized=True):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def outputs(model, inputs, optimized=True):
    runner = session(model, optimized)
    return np.stack([runner.run(None, feeds)[0] for feeds in inputs]).astype(np.float64)


def snr_db(seen, expected):
    return 10 * np.log10((expected**2).sum() / ((seen - expected) ** 2).sum())


class Folder:
    def __init__(self, path, model):
        self.path = path
        self.model = path / "model.onnx"
        onnx.save(model, self.model)

    def save_inputs(self, inputs):
        names = []
        for i, feeds in enumerate(inputs):
            names.append(str(self.path / f"inputs{i}.npz"))
            np.savez(names[-1], **feeds)
        return ["--load-inputs", *names]

    def run(self, *words, source=None, target="out.onnx"):
        command = [ASSAY, "convert", str(source or self.model), "-o", str(self.path / target), "--force", "-q",
                   "--python", sys.executable, *words]
        return subprocess.run(command, capture_output=True, text=True)

    def convert(self, *words, target="out.onnx"):
        """The converted model; that converting it again changes nothing is checked on the way."""
        for source, name in ((None, target), (self.path / target, "again.onnx")):
            done = self.run(*words, source=source, target=name)
            assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert (self.path / target).read_bytes() == (self.path / "again.onnx").read_bytes(), "a second time it changed"
        model = onnx.load(self.path / target)
        onnx.checker.check_model(model, full_check=True)
        return model


def rivals(folder, inputs, symmetric):
    class Reader(CalibrationDataReader):
        def __init__(self):
            self.items = iter(inputs)

        def get_next(self):
            return next(self.items, None)

    path = folder.path / "rival.onnx"
    quantize_static(str(folder.model), str(path), Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QInt8 if symmetric else QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod.MinMax, extra_options={"ActivationSymmetric": symmetric})
    return onnx.load(path)


def check_accuracy(folder, inputs, tests):
    """No way to calibrate is clearly worse than ONNX Runtime's quantizer on the same data."""
    expected = outputs(onnx.load(folder.model), tests)
    data = folder.save_inputs(inputs)
    for symmetric in (True, False):
        bar = snr_db(outputs(rivals(folder, inputs, symmetric), tests), expected)
        for how in ("auto", "minmax", "entropy", "percentile", "mse"):
            model = folder.convert("--int8", "--calibration", how, *data, *([] if symmetric else ["--asymmetric"]))
            seen = snr_db(outputs(model, tests), expected)
            plain = snr_db(outputs(model, tests, optimized=False), expected)
            name = f"{how} {'int8' if symmetric else 'uint8'}"
            print(f"{name}: {seen:.1f} dB, not optimized {plain:.1f} dB, rival {bar:.1f} dB")
            assert min(seen, plain) > bar - {"auto": 0.5, "entropy": 3}.get(how, 1.5), "clearly worse"


def check_merged(folder, inputs):
    """ONNX Runtime merges what --asymmetric puts in: nothing computes with floats but the sigmoid's neighbours."""
    model = folder.convert("--int8", "--asymmetric", *folder.save_inputs(inputs))
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder.path / "merged.onnx")
    options.log_severity_level = 4
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ops = [node.op_type for node in onnx.load(folder.path / "merged.onnx").graph.node]
    assert ops.count("QLinearConv") == 4 and "Conv" not in ops and "Relu" not in ops, ops
    assert "QGemm" in ops and "QLinearAdd" in ops and "Gemm" not in ops, ops
    print("merged:", " ".join(ops))


def sums_are_exact():
    """Whether ONNX Runtime sums products of codes exactly: without VNNI, two of them saturate at 16 bits."""
    return "vnni" in pathlib.Path("/proc/cpuinfo").read_text()


def check_stacked(folder):
    """ONNX Runtime loads products of stacked matrices with a bias, at any operator set and with its optimizations."""
    rng = np.random.default_rng(6)
    weights = [numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
               for name, shape in (("w", (16, 16)), ("v", (16,)), ("w2", (16, 8)), ("v2", (1, 8)))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "v"], ["b"]),
             helper.make_node("Relu", ["b"], ["c"]), helper.make_node("MatMul", ["c", "w2"], ["d"]),
             helper.make_node("Add", ["v2", "d"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [2, 4, 16])],
                              [helper.make_tensor_value_info("y", 1, [2, 4, 8])], weights)
    inputs = [{"x": rng.normal(size=(2, 4, 16)).astype(np.float32)} for _ in range(4)]
    for version in (17, 21):
        folder = Folder(folder.path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)],
                                                       ir_version=10))
        expected = outputs(onnx.load(folder.model), inputs)
        for words in [], ["--asymmetric"]:
            model = folder.convert("--int8", *words, *folder.save_inputs(inputs))
            for optimized in (True, False):
                seen = snr_db(outputs(model, inputs, optimized), expected)
                assert seen > (12 if optimized and not sums_are_exact() else 25), f"operator set {version} {words}: {seen:.1f} dB"
    print("stacked: ok")


def magnitudes(folder, inputs):
    """Of the inputs and of all values, by a run of ONNX Runtime."""
    model = onnx.load(folder.model)
    names = [name for node in model.graph.node for name in node.output]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    runner = session(model)
    found = {}
    for feeds in inputs:
        for name, value in [*feeds.items(), *zip(names, runner.run(names, feeds))]:
            found.setdefault(name, []).append(np.abs(value.ravel()))
    return {name: np.concatenate(values) for name, values in found.items()}


def entropy_cut(numbers):
    """By its definition, bin by bin; the bins end at a power of two."""
    counts, edges = np.histogram(numbers.astype(np.float64), bins=BINS, range=(0, 2.0 ** np.frexp(numbers.max())[1]))
    used = np.flatnonzero(counts)[-1] + 1
    counts = counts[:used].astype(np.float64)
    counts[0] = counts[1]
    best, chosen = np.inf, used
    for bins in range(LEVELS, used + 1):
        p = counts[:bins].copy()
        q = np.zeros(bins)
        for level in range(LEVELS):
            part = slice(level * bins // LEVELS, (level + 1) * bins // LEVELS)
            filled = p[part] > 0
            q[part][filled] = p[part].sum() / max(filled.sum(), 1)
        p[-1] += counts[bins:].sum()
        if p[-1] > 0 and q[-1] == 0:
            continue
        some = p > 0
        divergence = (p[some] / p.sum() * np.log((p[some] / p.sum()) / (q[some] / q.sum()))).sum()
        if divergence <= best + 1e-12:
            best, chosen = divergence, bins
    return edges[chosen]


def read_cache(path):
    head, *lines = path.read_text().splitlines()
    pairs = [line.rsplit(": ", 1) for line in lines]
    return head, {name: struct.unpack(">f", bytes.fromhex(digits))[0] for name, digits in pairs}


def check_cache(folder, inputs):
    data = folder.save_inputs(inputs)
    numbers = magnitudes(folder, inputs)
    cache = folder.path / "cache"
    for how in ("minmax", "entropy", "percentile"):
        cache.unlink(missing_ok=True)
        first = folder.convert("--int8", "--calibration", how, "--calibration-cache", str(cache), *data)
        _, scales = read_cache(cache)
        assert len(scales) >= 7, scales
        for name, scale in scales.items():
            largest = float(numbers[name].max())
            if how == "minmax":
                assert np.isclose(scale * 127, largest, rtol=1e-5), f"{name}: {scale * 127}, numpy {largest}"
            elif how == "entropy":
                cut = entropy_cut(numbers[name])
                assert abs(scale * 127 - cut) <= 2 * largest / BINS * 1.1, f"{name}: {scale * 127}, numpy {cut}"
            else:
                cut = np.quantile(numbers[name], 0.9999, method="inverted_cdf")
                assert abs(scale * 127 - cut) <= 2 * largest / BINS * 1.1, f"{name}: {scale * 127}, numpy {cut}"
        assert folder.convert("--int8", "--calibration-cache", str(cache)) == first, "the cache gives another model"
    print(f"cache: {len(scales)} scales ok")


def check_script(folder, inputs):
    script = folder.path / "loader.py"
    script.write_text(f"import numpy as np\n\ndef load_data():\n    for i in range({len(inputs)}):\n"
                      f"        yield dict(np.load(r'{folder.path}/inputs' + str(i) + '.npz'))\n")
    by_files = folder.convert("--int8", *folder.save_inputs(inputs))
    by_script = folder.convert("--int8", "--data-loader-script", str(script))
    assert by_files == by_script, "a script and files with the same inputs differ"
    print("script: ok")


def check_bad_data(folder, inputs):
    bad = [dict(feeds) for feeds in inputs[:2]]
    bad[1]["x"] = np.full_like(bad[1]["x"], np.inf)
    done = folder.run("--int8", *folder.save_inputs(bad))
    assert done.returncode == 2 and "value `x` has infinity in batch 1" in done.stderr, done.stderr
    empty = folder.path / "empty.json"
    empty.write_text("[]")
    done = folder.run("--int8", "--load-inputs", str(empty))
    assert done.returncode == 2 and "the loaded files hold no inputs" in done.stderr, done.stderr
    print("bad data: ok")


def check_bound(folder, inputs):
    """Layers that lose too much stay float, and the model gets better. Its quantisers are computed as they stand: without
    VNNI, what ONNX Runtime makes of them saturates, which no choice of layers mends."""
    data = folder.save_inputs(inputs)
    expected = outputs(onnx.load(folder.model), inputs)
    full = snr_db(outputs(folder.convert("--int8", *data), inputs, optimized=False), expected)
    part = folder.convert("--int8", "--max-error", "snr:42", *data)
    none = folder.convert("--int8", "--max-error", "snr:200", *data)
    assert not any(node.op_type == "QuantizeLinear" for node in none.graph.node)
    better = snr_db(outputs(part, inputs, optimized=False), expected)
    print(f"bound: {full:.1f} dB, with a bound {better:.1f} dB")
    assert better > full + 5 and any(node.op_type == "QuantizeLinear" for node in part.graph.node)


def rounded_blocks(weight, symmetric):
    """int4 in blocks of 32, each from its lowest number to its highest, or, symmetric, with the lowest code for its
    largest number, as ONNX Runtime's quantizer does."""
    blocks = weight.astype(np.float64).reshape(-1, 32, weight.shape[1])
    if symmetric:
        scale = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1) / -8
        return (np.rint(blocks / scale).clip(-8, 7) * scale).reshape(weight.shape)
    low, high = blocks.min(1, keepdims=True).clip(max=0), blocks.max(1, keepdims=True).clip(min=0)
    scale = (high - low) / 15
    zero = np.rint(-low / scale)
    return ((np.rint(blocks / scale + zero).clip(0, 15) - zero) * scale).reshape(weight.shape)


def check_search(folder):
    """The scale of a block is searched: it loses less than one that is taken from the block's extremes."""
    weight = np.random.default_rng(4).normal(size=(256, 24)).astype(np.float32)
    product = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [256, 256])],
        [helper.make_tensor_value_info("y", 1, [256, 24])], [numpy_helper.from_array(weight, "w")]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    folder = Folder(folder.path, product)
    for words in [], ["--asymmetric"]:
        model = folder.convert("--weights", "int4", *words)
        seen = snr_db(outputs(model, [{"x": np.eye(256, dtype=np.float32)}])[0], weight)
        plain = snr_db(rounded_blocks(weight, not words), weight)
        print(f"int4 {words}: {seen:.2f} dB, without a search {plain:.2f} dB")
        assert seen > plain + 0.3


def check_asymmetric(folder):
    """Zero points keep more of weights that are not even around 0, in either form; all backends compute the same."""
    weight = (np.random.default_rng(12).normal(size=(256, 24)) + 0.7).astype(np.float32)
    folder = Folder(folder.path, product_of(weight))
    rows = [{"x": np.eye(256, dtype=np.float32)}]
    data = folder.save_inputs(rows)
    for form in ("dequantize", "matmulnbits"):
        kept = []
        for words in [], ["--asymmetric"]:
            model = folder.convert("--weights", "int4", "--weights-form", form, *words)
            made = outputs(model, rows)[0]
            kept.append(snr_db(made, weight))
            for backend in ("ref", "engine"):
                saved = folder.path / "own.npz"
                done = subprocess.run([ASSAY, "run", str(folder.path / "out.onnx"), f"--{backend}", "--save-outputs",
                                       str(saved), "-q", *data], capture_output=True, text=True)
                assert done.returncode == 0, done.stdout + done.stderr
                np.testing.assert_allclose(np.load(saved)["y"], made, rtol=1e-5, atol=1e-5)
        print(f"int4 {form}: {kept[0]:.2f} dB, asymmetric {kept[1]:.2f} dB")
        assert kept[1] > kept[0] + 1.5 and kept[1] > snr_db(rounded_blocks(weight, False), weight) + 0.3
    for words in ["--asymmetric"], ["--asymmetric", "--fp-to-fp16"]:
        done = folder.run(*words, target="none.onnx")
        assert done.returncode == 2 and "--asymmetric needs --int8 or --weights" in done.stderr, done.stderr


def product_of(weight):
    rows, columns = weight.shape
    return helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [rows, rows])],
        [helper.make_tensor_value_info("y", 1, [rows, columns])], [numpy_helper.from_array(weight, "w")]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def rounded_by_channel(weight, share=1.0):
    scale = np.abs(weight).max(0) * share / 127
    return np.rint(weight / scale).clip(-127, 127) * scale


def check_optimum(folder):
    """Scales of int8 weights alone are those of the least square error: together they are as good as the best of a
    thousand. No scale is worse than that of the greatest number, which --int8 leaves only where outputs gain by it."""
    rng = np.random.default_rng(8)
    sparse = rng.normal(size=(256, 48)) * (rng.random((256, 48)) < 0.03) + 1e-3 * np.eye(256, 48)
    for name, drawn in (("normal", rng.normal(size=(256, 48))), ("heavy", rng.standard_t(3, size=(256, 48))),
                        ("sparse", sparse)):
        weight = drawn.astype(np.float32)
        exact = weight.astype(np.float64)
        plain = ((rounded_by_channel(exact) - exact) ** 2).sum(0)
        best = np.min([((rounded_by_channel(exact, share) - exact) ** 2).sum(0) for share in np.geomspace(1, 0.2, 1000)], 0)
        product = Folder(folder.path, product_of(weight))
        data = product.save_inputs([{"x": np.eye(256, dtype=np.float32)}])
        for words in (["--int8", *data], ["--weights", "int8"]):
            model = product.convert(*words)
            kept = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
            codes = kept["w_quantized"].astype(np.float64)
            errors = ((codes * kept["w_scale"].astype(np.float64) - exact) ** 2).sum(0)
            print(f"optimum {name} {words[0]}: {10 * np.log10(plain.sum() / errors.sum()):.2f} dB gained, "
                  f"{10 * np.log10(plain.sum() / best.sum()):.2f} by a thousand scales")
            assert (errors <= plain * (1 + 1e-6)).all(), "worse than the scale of the greatest number"
            assert words[0] == "--int8" or errors.sum() <= best.sum() * 1.01, "the best scale is missed"
            assert words[0] == "--weights" or codes.min() >= -127


def check_told(folder, inputs):
    """What the report says of errors and of what outputs keep is what numpy finds; the original is the signal."""
    report = folder.path / "report.json"
    data = folder.save_inputs(inputs)
    expected = outputs(onnx.load(folder.model), inputs)
    done = folder.run("--int8", "--calibration", "minmax", "--calibrate-with", "ref", "--json", str(report), *data)
    assert done.returncode == 0, done.stderr
    made = outputs(onnx.load(folder.path / "out.onnx"), inputs, optimized=False)
    least = min(snr_db(made[i], expected[i]) for i in range(len(inputs)))
    told = json.loads(report.read_text())["output_snr_db"]
    print(f"outputs keep {told:.2f} dB, numpy {least:.2f}")
    assert abs(told - least) < 0.3
    product = Folder(folder.path, product_of(np.random.default_rng(9).normal(size=(32, 8)).astype(np.float32)))
    rows = [{"x": np.random.default_rng(10).normal(size=(32, 32)).astype(np.float32)}]
    done = product.run("--weights", "int4", "--block-size", "0", "--report-error", "--calibrate-with", "ref",
                       "--json", str(report), *product.save_inputs(rows))
    assert done.returncode == 0, done.stderr
    expected = outputs(onnx.load(product.model), rows)
    made = outputs(onnx.load(product.path / "out.onnx"), rows, optimized=False)
    told = json.loads(report.read_text())["layers"][0]["error"]["snr_db"]
    assert abs(told - snr_db(made, expected)) < 1e-3, (told, snr_db(made, expected), snr_db(expected, made))


def check_weights(folder, tests):
    expected = outputs(onnx.load(folder.model), tests)
    rng = np.random.default_rng(3)
    weight = rng.normal(size=(100, 24)).astype(np.float32)
    product = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [4, 100])],
        [helper.make_tensor_value_info("y", 1, [4, 24])], [numpy_helper.from_array(weight, "w")]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    model = folder.convert("--weights", "int8")
    assert snr_db(outputs(model, tests), expected) > 35
    folder = Folder(folder.path, product)
    feeds = [{"x": rng.normal(size=(4, 100)).astype(np.float32)}]
    expected = outputs(product, feeds)
    for words, least in ((["int8"], 40), (["int8", "--block-size", "16"], 40), (["int8", "--asymmetric"], 40),
                         (["int4"], 15), (["int4", "--asymmetric"], 15), (["int4", "--block-size", "0"], 14),
                         (["int4", "--weights-form", "matmulnbits"], 15),
                         (["int4", "--weights-form", "matmulnbits", "--asymmetric", "--block-size", "16"], 18),
                         (["int8", "--weights-form", "matmulnbits"], 40)):
        model = folder.convert("--weights", *words)
        for optimized in (True, False):
            seen = snr_db(outputs(model, feeds, optimized), expected)
            assert seen > least, f"{words}: {seen:.1f} dB"
    print("weights: ok")


def loads(model):
    try:
        session(model)
    except Exception:  # of many classes without a common base
        return False
    return True


def check_loads(model):
    """From operator set 21 on, ONNX Runtime 1.31 refuses the quantizers that it puts behind a Reshape or Unsqueeze of
    signed codes itself (also in the smallest such model): then the model must load as it stands."""
    try:
        session(model)
    except Exception as error:
        assert "output_dtype INT8 does not match y_zero_point type UINT8" in str(error), error
        session(model, optimized=False)


def check_random(path):
    """What ONNX Runtime loads, it loads when it is converted, and runs."""
    changed = 0
    for number in range(GRAPHS):
        builder = Builder(Rng(SEED * 1000 + number))
        builder.build()
        model = onnx.shape_inference.infer_shapes(builder.model())  # the checker wants types of outputs
        if not loads(model):
            continue
        folder = Folder(path, model)
        for words in (["--int8", "--asymmetric", "--calibration", "mse"],
                      ["--int8", "--max-error", "snr:5", "--calibration", "minmax"], ["--weights", "int8"]):
            done = folder.run(*words, *folder.save_inputs([builder.feeds]))
            # Values of random graphs may be infinite, and their operator sets old.
            assert done.returncode in (0, 2, 3), f"{number} of seed {SEED}: {done.returncode}\n{done.stderr}"
            if done.returncode != 0:
                continue
            converted = onnx.load(folder.path / "out.onnx")
            if converted == model:
                continue
            changed += 1
            onnx.checker.check_model(converted, full_check=True)
            check_loads(converted)
    print(f"random: {changed} converted graphs ok")
    assert changed > 0


def check_engine(folder, inputs):
    """The engine that is asked for integers computes what the converted model says, in `run` and in `bench`."""
    data = folder.save_inputs(inputs)
    cache = str(folder.path / "engine.cache")
    model = folder.convert("--int8", "--calibration-cache", cache, *data)
    exact = outputs(onnx.load(folder.model), inputs[:1])
    expected = outputs(model, inputs[:1], optimized=False)
    for isolate in ([], ["--isolate"]):
        saved = folder.path / "engine.npz"
        done = subprocess.run([ASSAY, "run", str(folder.model), "--engine", "--int8", "--calibration-cache", cache,
                               "--save-outputs", str(saved), *data[:2], *isolate], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        seen = np.load(saved)["y"][None].astype(np.float64)
        loss = snr_db(expected, exact)
        near = snr_db(seen, expected)
        print(f"engine: {near:.1f} dB beside the converted model, which is {loss:.1f} dB beside the original")
        assert near > loss + 10, "it computes something else"
        assert snr_db(seen, exact) < loss + 10, "it does not round"
    done = subprocess.run([ASSAY, "bench", str(folder.model), "--calibration", "minmax", "--against", "engine:int8",
                           "--duration", "0.05", "--warm-up", "0"], capture_output=True, text=True)
    assert done.returncode == 0 and "Converted" in done.stdout and "engine:int8 / engine" in done.stdout, done.stdout


def check_foreign(folder, inputs):
    """What another program quantized is left as it is."""
    rivals(folder, inputs, symmetric=True)
    done = folder.run("--int8", *folder.save_inputs(inputs), source=folder.path / "rival.onnx", target="foreign.onnx")
    assert done.returncode == 0, done.stderr
    assert (folder.path / "rival.onnx").read_bytes() == (folder.path / "foreign.onnx").read_bytes()
    print("foreign: ok")


def main():
    with tempfile.TemporaryDirectory() as name:
        rng = np.random.default_rng(2)
        inputs, tests = ([{"x": rng.normal(size=(1, 3, 32, 32)).astype(np.float32)} for _ in range(8)] for _ in "ab")
        folder = Folder(pathlib.Path(name), network())
        check_optimum(folder)
        folder = Folder(folder.path, network())
        check_told(folder, inputs)
        folder = Folder(folder.path, network())
        check_accuracy(folder, inputs, tests)
        check_merged(folder, inputs)
        check_cache(folder, inputs[:1])
        check_script(folder, inputs)
        check_bad_data(folder, inputs)
        check_bound(folder, inputs)
        check_engine(folder, inputs)
        check_foreign(folder, inputs)
        check_random(pathlib.Path(name))
        folder = Folder(pathlib.Path(name), network())
        check_weights(folder, tests)
        check_search(folder)
        check_asymmetric(folder)
        check_stacked(folder)


if __name__ == "__main__":
    main()
