"""Networks whose ranks, threads of this process, compute collectives together."""

import threading

import numpy as np

import assay.tensorrt as trt
import checks
from assay.exception import PolygraphyException
from assay.tensorrt.ranks import communicators

ERRORS = []


class Logger(trt.ILogger):
    def log(self, severity, message):
        if severity in (trt.ILogger.Severity.INTERNAL_ERROR, trt.ILogger.Severity.ERROR):
            ERRORS.append(message)


LOGGER = Logger()
RANKS = 2
OPS, REDUCE = trt.CollectiveOperation, trt.ReduceOperation


def built(operation, reduction, root=-1, groups=None, factor=None, shape=(4, 3), ranks=RANKS):
    builder = trt.Builder(LOGGER)
    network = builder.create_network(0)
    x = network.add_input("x", trt.float32, shape)
    if factor is not None:
        constant = network.add_constant((1, 1), np.full((1, 1), factor, np.float32)).get_output(0)
        x = network.add_elementwise(x, constant, trt.ElementWiseOperation.PROD).get_output(0)
    layer = network.add_dist_collective(x, operation, reduction, root, groups)
    if layer is None:
        return None
    layer.num_ranks = ranks
    assert layer.type == trt.LayerType.DIST_COLLECTIVE and isinstance(layer, trt.IDistCollectiveLayer), layer
    y = layer.get_output(0)
    y.name = "y"
    network.mark_output(y)
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    return trt.Runtime(LOGGER).deserialize_cuda_engine(plan)


def run(engines, inputs, given=None):
    """What each rank gives; None where its run failed."""
    outputs = [None] * len(engines)
    given = given or communicators(len(engines))
    contexts = []
    for engine, communicator in zip(engines, given):
        contexts.append(engine.create_execution_context())
        assert contexts[-1].set_communicator(communicator)

    def work(rank):
        output = np.zeros(tuple(engines[rank].get_tensor_shape("y")), np.float32)
        contexts[rank].set_tensor_address("x", inputs[rank].ctypes.data)
        contexts[rank].set_tensor_address("y", output.ctypes.data)
        if contexts[rank].execute_async_v3(0):
            outputs[rank] = output

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(engines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rank hangs"
    return outputs


def test_every_operation():
    a, b = (np.random.default_rng(seed).normal(size=(4, 3)).astype(np.float32) for seed in (1, 2))
    rows = [((OPS.ALL_REDUCE, REDUCE.SUM), a + b, a + b), ((OPS.ALL_REDUCE, REDUCE.MAX), np.maximum(a, b), np.maximum(a, b)),
            ((OPS.ALL_REDUCE, REDUCE.AVG), (a + b) / 2, (a + b) / 2), ((OPS.REDUCE, REDUCE.PROD, 0), a * b, None),
            ((OPS.REDUCE_SCATTER, REDUCE.SUM), (a + b)[:2], (a + b)[2:]),
            ((OPS.ALL_GATHER, REDUCE.NONE), np.concatenate([a, b]), np.concatenate([a, b])),
            ((OPS.GATHER, REDUCE.NONE, 1), None, np.concatenate([a, b])), ((OPS.BROADCAST, REDUCE.NONE, 1), b, b),
            ((OPS.SCATTER, REDUCE.NONE, 1), b[:2], b[2:]),
            ((OPS.ALL_TO_ALL, REDUCE.NONE), np.concatenate([a[:2], b[:2]]), np.concatenate([a[2:], b[2:]]))]
    for words, *expected in rows:
        for seen, wanted in zip(run([built(*words)] * RANKS, [a, b]), expected):
            assert wanted is None or np.array_equal(seen, wanted), (words, seen, wanted)


def test_ranks_with_weights_of_their_own():
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for _ in range(3):
        seen = run([built(OPS.ALL_REDUCE, REDUCE.SUM, factor=factor) for factor in (2, 5)], [x, x])
        assert all(np.array_equal(each, 7 * x) for each in seen), seen
    four = [built(OPS.ALL_REDUCE, REDUCE.SUM, groups=[0, 1, 2, 3], factor=factor, ranks=4) for factor in (1, 2, 3, 4)]
    assert all(np.array_equal(each, 10 * x) for each in run(four, [x] * 4))


def test_mistakes_name_the_rank():
    x, y = np.ones((4, 3), np.float32), np.ones((4, 5), np.float32)
    ERRORS.clear()
    engines = [built(OPS.ALL_REDUCE, REDUCE.SUM), built(OPS.ALL_REDUCE, REDUCE.SUM, shape=(4, 5))]
    assert run(engines, [x, y]) == [None, None]
    assert any("rank 1 has come to" in error and "float32[4, 5]" in error for error in ERRORS), ERRORS

    ERRORS.clear()
    context = built(OPS.ALL_REDUCE, REDUCE.SUM).create_execution_context()
    output = np.zeros_like(x)
    context.set_tensor_address("x", x.ctypes.data)
    context.set_tensor_address("y", output.ctypes.data)
    assert not context.execute_async_v3(0) and "the other ranks do not run" in ERRORS[-1], ERRORS
    assert context.set_communicator(communicators(2, 0.2)[0])
    assert not context.execute_async_v3(0) and "rank 1 did not come to" in ERRORS[-1], ERRORS
    assert context.set_communicator(None)
    assert not context.set_communicator(1234) and "none of NCCL" in ERRORS[-1], ERRORS
    for words in ((OPS.ALL_REDUCE, REDUCE.NONE), (OPS.ALL_GATHER, REDUCE.SUM), (OPS.BROADCAST, REDUCE.NONE, -1)):
        ERRORS.clear()
        assert built(*words) is None and ERRORS, words
    for words in ((1,), (300,), (2, 0)):
        try:
            communicators(*words)
        except PolygraphyException as error:
            assert "expected" in str(error)
        else:
            raise AssertionError(words)


if __name__ == "__main__":
    checks.run_all(globals())
