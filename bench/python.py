#!/usr/bin/env python3
"""The Python package beside the packages whose shapes it has, in one process, in turns.

    python.py [--runs N] [--only PART] [--no-peer]

Graphs are written beside the model, as users do. Times are minima. Exits 1 if a bar is missed.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import measure
from inspect_model import ROOT, model_path

sys.path.insert(0, str(ROOT / "build/release/python"))

COMPARED = 64 << 20  # elements: 256 MB
GRAPH = """
import os, resource, sys, time
import numpy
kind, path, out = sys.argv[1:]
if kind == "ours":
    import assay.graphsurgeon as gs
    before, start = time.process_time(), time.perf_counter()
    graph = gs.import_onnx(path)
    graph.cleanup().toposort()
    gs.save(graph, out)
else:
    import onnx
    import onnx_graphsurgeon as gs
    before, start = time.process_time(), time.perf_counter()
    graph = gs.import_onnx(onnx.load(path))
    graph.cleanup().toposort()
    onnx.save(gs.export_onnx(graph), out)
seconds = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_SELF)
os.remove(out)
print(seconds, usage.ru_utime + usage.ru_stime - before, usage.ru_maxrss / 1024)
"""


def best(call, count=1, runs=5):
    """The least seconds of a call, taken over `count` of them."""
    least = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(count):
            call()
        least = min(least, (time.perf_counter() - start) / count)
    return least


def show(name, value, unit, bar, is_least=False):
    passed = value >= bar if is_least else value <= bar
    print(f"{name:48} {value:10.3g} {unit:5} {'>=' if is_least else '<='} {bar:g}  {'ok' if passed else 'MISSED'}",
          flush=True)
    return passed


def importing(options):
    code = "import time; t = time.perf_counter(); import assay; print(time.perf_counter() - t)"
    environment = {"PYTHONPATH": sys.path[0]}
    seconds = [float(subprocess.check_output([sys.executable, "-c", code], env=environment)) for _ in range(10)]
    return show("import assay", 1e3 * min(seconds), "ms", 30)


def comparing(options):
    import numpy as np
    from assay import comparator as ours
    from polygraphy import comparator as theirs

    a = np.random.RandomState(0).random_sample(COMPARED).astype(np.float32)
    b = a + np.float32(1e-6)

    def compare(package):
        results = package.RunResults()
        for name, values in (("a", a), ("b", b)):
            results.append((name, [package.IterationResult({"y": values}, runner_name=name)]))
        return bool(package.Comparator.compare_accuracy(results))

    seconds = best(lambda: compare(ours), runs=options.runs)
    passed = show("compare_accuracy of 256 MB of float32", seconds, "s", 5)
    if options.no_peer:
        return passed
    return show("  of Polygraphy, as many times", best(lambda: compare(theirs), runs=1) / seconds, "x", 50, True) and passed


def graphs(options):
    path = model_path("bert_base_s128")
    with tempfile.TemporaryDirectory(dir=pathlib.Path(path).resolve().parent) as folder:
        found = {}
        for kind in ("ours", "theirs") * options.runs:
            if kind == "theirs" and options.no_peer:
                continue
            words = [sys.executable, "-c", GRAPH, kind, str(path), str(pathlib.Path(folder) / "out.onnx")]
            printed = subprocess.check_output(words, env={"PYTHONPATH": sys.path[0]}, stderr=subprocess.DEVNULL)
            row = [float(each) for each in printed.split()[-3:]]
            found[kind] = [min(*pair) for pair in zip(row, found.get(kind, row))]
    passed = show("graph of BERT read, cleaned, sorted, written", found["ours"][0], "s", 5)
    if options.no_peer:
        return passed
    ours, theirs = found["ours"], found["theirs"]
    passed = show("  of onnx_graphsurgeon, as many times", theirs[0] / ours[0], "x", 10, True) and passed
    passed = show("  its processor time, as many times", theirs[1] / ours[1], "x", 10, True) and passed
    return show("  memory, of onnx_graphsurgeon's", ours[2] / theirs[2], "x", 1 / 3) and passed


def calls(options):
    import numpy as np
    import onnx
    import onnxruntime
    from assay.backend.onnxrt import OnnxrtRunner
    from assay.backend.trt import engine_from_network, network_from_onnx_bytes
    from onnx import helper

    info = [helper.make_tensor_value_info(name, 1, [1, 1, 2, 2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert isinstance(model, onnx.ModelProto)
    x, y = np.ones((1, 1, 2, 2), np.float32), np.empty((1, 1, 2, 2), np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    with OnnxrtRunner(session) as runner:
        times = [best(lambda: session.run(["y"], {"x": x}), 2000), best(lambda: runner.infer({"x": x}), 2000)]
    passed = show("OnnxrtRunner.infer beyond onnxruntime's call", 1e6 * (times[1] - times[0]), "us", 15)
    context = engine_from_network(network_from_onnx_bytes(model.SerializeToString())).create_execution_context()
    addresses = [x.ctypes.data, y.ctypes.data]
    assert context.execute_v2(addresses)
    seconds = best(lambda: context.execute_v2(addresses), 5000)
    return show("execute_v2 beyond the engine's run", 1e6 * (seconds - context.seconds), "us", 5) and passed


def main():
    options = measure.parse_options(3)
    sys.argv = sys.argv[:1]
    from assay.logger import G_LOGGER
    from polygraphy.logger import G_LOGGER as PEER_LOGGER

    G_LOGGER.severity = G_LOGGER.CRITICAL
    PEER_LOGGER.module_severity = PEER_LOGGER.CRITICAL
    parts = {"import": importing, "calls": calls, "graphs": graphs, "compare": comparing}
    passed = [part(options) for name, part in parts.items() if options.only in name]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
