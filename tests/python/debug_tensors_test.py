"""Tensors that are marked for debugging: listeners get their values, engines do not have them as outputs."""

import assay.tensorrt as trt
import checks
import numpy as np
from assay.backend.trt import MarkDebug, NetworkFromOnnxBytes, TrtRunner, engine_from_network, get_trt_logger
from assay.compat import cudart
from assay.exception import PolygraphyException
from onnx import helper
from plugins_test import REGISTRY, Scaled, ScaledCreator
from tensorrt_test import LOGGER, Recorder, floats, start


class Listener(trt.IDebugListener):
    def __init__(self, answer=True):
        super().__init__()
        self.seen = {}
        self.answer = answer

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        values = np.empty(shape, trt.nptype(type))
        kind = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
        assert location == trt.TensorLocation.DEVICE and cudart.cudaMemcpy(values.ctypes.data, addr, values.nbytes, kind)[0] == 0
        self.seen[name] = values
        return self.answer


def drawn(x):
    """A builder and a network y = (relu(x) - 1) < 0, whose relu is marked, and whose difference is."""
    builder, network, (tensor,) = start(x)
    positive = network.add_activation(tensor, trt.ActivationType.RELU).get_output(0)
    one = network.add_constant((1, 1), np.ones((1, 1), np.float32)).get_output(0)
    less = network.add_elementwise(positive, one, trt.ElementWiseOperation.SUB).get_output(0)
    below = network.add_elementwise(less, one, trt.ElementWiseOperation.LESS).get_output(0)
    for tensor, name in ((positive, "positive"), (less, "less"), (below, "y")):
        tensor.name = name
    network.mark_output(below)
    return builder, network, (positive, less, below)


def test_listeners_are_told():
    x = floats(2, 3)
    builder, network, (positive, less, below) = drawn(x)
    assert network.mark_debug(positive) and network.mark_debug(less) and network.mark_debug(below)
    assert network.unmark_debug(less) and not network.unmark_debug(less) and network.is_debug_tensor(positive)
    assert not network.mark_debug(network.get_input(0)) and network.num_outputs == 1
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(LOGGER).deserialize_cuda_engine(plan)
    assert [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)] == ["x0", "y"]
    assert engine.is_debug_tensor("positive") and engine.is_debug_tensor("y") and not engine.is_debug_tensor("less")
    context = engine.create_execution_context()
    listener, y = Listener(), np.empty((2, 3), np.bool_)
    bindings = [x.ctypes.data, y.ctypes.data]
    expected = {"positive": np.maximum(x, 0), "y": np.maximum(x, 0) - 1 < 1}

    def told(*names):
        y[...], listener.seen = False, {}
        assert context.execute_v2(bindings) and np.array_equal(y, expected["y"])
        assert listener.seen.keys() == set(names)
        assert all(np.array_equal(values, expected[name]) for name, values in listener.seen.items())

    told()
    assert context.set_debug_listener(listener) and context.get_debug_listener() is listener
    told()
    assert context.set_tensor_debug_state("positive", True) and context.get_debug_state("positive")
    told("positive")
    assert context.set_all_tensors_debug_state(True)
    told("positive", "y")
    assert context.set_tensor_debug_state("positive", False) and not context.set_tensor_debug_state("less", True)
    told("y")
    context.set_debug_listener(None)
    told()
    context.set_debug_listener(Listener(answer=False))
    context.error_recorder = recorder = Recorder()
    assert not context.execute_v2(bindings) and "`y`" in recorder.errors[0][1]


def test_runners_give_them_beside_the_outputs():
    model = checks.model([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["n"]),
                          helper.make_node("Abs", ["n"], ["y"])], [("x", 1, ["N", 3])], [("y", 1, ["N", 3])])
    engine = engine_from_network(MarkDebug(NetworkFromOnnxBytes(model.SerializeToString()), ["r", "n"]))
    x = floats(1, 3)
    listener = Listener()
    with TrtRunner(engine) as runner:
        outputs = runner.infer({"x": x})
        assert list(outputs) == ["y", "r", "n"] and np.array_equal(outputs["n"], -np.maximum(x, 0))
        runner.set_debug_listener(listener)
        assert list(runner.infer({"x": x})) == ["y"] and list(listener.seen) == ["r", "n"]
        runner.context.set_tensor_debug_state("r", False)
    with TrtRunner(engine, debug_listener=listener) as runner:
        listener.seen = {}
        assert list(runner.infer({"x": x})) == ["y"] and np.array_equal(listener.seen["r"], np.maximum(x, 0))
    with checks.raises(PolygraphyException, "nothing"):
        engine_from_network(MarkDebug(NetworkFromOnnxBytes(model.SerializeToString()), ["nothing"]))


def test_engines_with_plugins_and_refits_have_them():
    REGISTRY.register_creator(ScaledCreator())
    x = floats(2, 3)
    builder, network, (tensor,) = start(x)
    layer = network.add_plugin_v2([tensor], Scaled(3))
    network.mark_output(network.add_activation(layer.get_output(0), trt.ActivationType.RELU).get_output(0))
    layer.get_output(0).name = "scaled"
    assert network.mark_debug(layer.get_output(0))
    with TrtRunner(builder.build_engine(network, builder.create_builder_config())) as runner:
        outputs = runner.infer({"x0": x})
    assert len(outputs) == 2 and np.array_equal(outputs["scaled"], x * np.float32(3))
    builder, network, (tensor,) = start(x)
    weights = network.add_constant((1, 3), np.ones((1, 3), np.float32))
    total = network.add_elementwise(tensor, weights.get_output(0), trt.ElementWiseOperation.SUM).get_output(0)
    network.mark_output(network.add_activation(total, trt.ActivationType.RELU).get_output(0))
    total.name = "total"
    assert network.mark_debug(total)
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.REFIT)
    engine = builder.build_engine(network, config)
    refitter = trt.Refitter(engine, LOGGER)
    assert refitter.set_weights(weights.name, trt.WeightsRole.CONSTANT, np.full((1, 3), 5, np.float32))
    assert refitter.refit_cuda_engine() and engine.num_io_tensors == 2
    with TrtRunner(engine) as runner:
        assert np.array_equal(runner.infer({"x0": x})["total"], x + 5)


def test_marking_what_is_not_fused_is_refused_aloud():
    told = []
    logger = get_trt_logger()
    before, logger.log = logger.log, lambda severity, text: told.append(text)
    try:
        model = checks.save_identity().SerializeToString()
        NetworkFromOnnxBytes(model, mark_unfused_tensors_as_debug_tensors=True)()
    finally:
        logger.log = before
    assert len(told) == 1 and "mark_debug" in told[0]


if __name__ == "__main__":
    checks.run_all(globals())
