"""What the tests of the Python package share."""

import contextlib
import io
import os
import resource
import tempfile
import traceback

import onnx
from assay.logger import G_LOGGER
from onnx import TensorProto, helper

G_LOGGER.severity = G_LOGGER.CRITICAL


def run_all(names):
    """Calls every function `test_…` in a folder of its own; exits 1 if one fails."""
    failed = 0
    for name, test in list(names.items()):
        if not name.startswith("test_") or not callable(test):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
            except BaseException:
                failed += 1
                print(f"FAILED {name}")
                traceback.print_exc()
            os.chdir("/")
    raise SystemExit(failed != 0)


@contextlib.contextmanager
def raises(kind, *words):
    """Something of the block raises that kind of exception, whose text has the words."""
    try:
        yield
    except kind as error:
        for word in words:
            assert word in str(error), f"`{word}` is not in: {error}"
        return
    raise AssertionError(f"expected {kind.__name__}")


@contextlib.contextmanager
def capture_log():
    """What the package writes meanwhile, from warnings on."""
    with G_LOGGER.verbosity(G_LOGGER.WARNING), contextlib.redirect_stdout(io.StringIO()) as stream:
        yield stream


def stays_flat(work, warm=50, kilobytes=10_000):
    """The process does not grow while the work is done 200 times."""
    for _ in range(warm):
        work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        work()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < kilobytes, f"200 times took {grown} kB"


def model(nodes, inputs, outputs, initializers=(), opset=17, **kwargs):
    """A model of rows: inputs and outputs are (name, type, shape)."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*each) for each in inputs],
                              [helper.make_tensor_value_info(*each) for each in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **kwargs)


def save_identity(path="identity.onnx", shape=(1, 1, 2, 2), names=("x", "y")):
    made = model([helper.make_node("Identity", [names[0]], [names[1]], name="identity")],
                 [(names[0], TensorProto.FLOAT, list(shape))], [(names[1], TensorProto.FLOAT, list(shape))])
    onnx.save(made, path)
    return made
