"""Random sequences of calls, most of them wrong: exceptions are allowed, the end of the interpreter is not.

A seed repeats a run: random_calls_test.py 7
"""

import random
import sys
import threading

import assay.graphsurgeon as gs
import assay.tensorrt as trt
import checks
import numpy as np
from assay import _native
from assay.backend.trt import TrtRunner, engine_from_network, network_from_onnx_bytes
from assay.session import BackendRunner, Session

ARRAYS = [np.ones((1, 1, 2, 2), np.float32), np.ones((1, 1, 2, 2), np.float64), np.zeros(0, np.float32),
          np.ones((2, 2), np.float32).T, np.array(["a"]), np.array([object()]), None, 3, "x", [1.0], b"bytes",
          np.ones((1, 1, 2, 2), np.float32)[..., ::-1], np.ones((1, 1, 2, 2), ">f4")]


def session_calls(rng):
    made = checks.save_identity()
    runner = BackendRunner(made, rng.choice(["ref", "engine", "nothing"]))
    for _ in range(8):
        calls = [runner.activate, runner.deactivate, runner.last_inference_time, runner.get_input_metadata,
                 lambda: runner.infer({rng.choice(["x", "y", 3]): rng.choice(ARRAYS)}, rng.random() < 0.5),
                 lambda: runner.session.run(rng.choice([None, ["y"], ["z"], 5]), {"x": rng.choice(ARRAYS)}),
                 lambda: _native.Execution(Session(made, "ref").native).run({"x": rng.choice(ARRAYS)}, None)]
        yield rng.choice(calls)
    yield lambda: runner.__dict__.clear()


def engine_calls(rng):
    engine = engine_from_network(network_from_onnx_bytes(checks.save_identity().SerializeToString()))
    context = engine.create_execution_context()
    good = [each.ctypes.data for each in (ARRAYS[0], np.empty((1, 1, 2, 2), np.float32))]
    if rng.random() < 0.5:
        del engine
    for _ in range(8):
        shape = rng.choice([(1, 1, 2, 2), (2,), (-1,), (), (1 << 62, 4), ("N",), None])
        calls = [lambda: context.set_input_shape(rng.choice(["x", "y", "z"]), shape), lambda: context.execute_v2(good),
                 lambda: context.execute_v2(rng.choice([[], [0, 0], [1, 2], [None, 1], good[:1]])),
                 lambda: context.set_optimization_profile(rng.choice([0, 1, -1, 99])),
                 lambda: context.get_tensor_shape(rng.choice(["x", "q"])), lambda: context.get_binding_shape(rng.randint(-3, 3)),
                 lambda: TrtRunner(rng.choice([context, None, "e"])).infer({"x": rng.choice(ARRAYS)}),
                 lambda: trt.Runtime(None).deserialize_cuda_engine(rng.choice([b"", b"ASSAYPLN" * 20, 5]))]
        yield rng.choice(calls)


def graph_calls(rng):
    graph = gs.import_onnx(checks.save_identity())
    tensors = [gs.Variable("a"), gs.Constant("c", np.ones(2)), gs.Variable.empty(), *graph.inputs, *graph.outputs]
    for _ in range(12):
        node = rng.choice(graph.nodes) if graph.nodes else gs.Node("Relu")
        tensor = rng.choice(tensors)
        calls = [lambda: node.inputs.append(tensor), lambda: node.outputs.append(tensor), node.outputs.clear,
                 lambda: tensor.outputs.pop(), lambda: node.inputs.__setitem__(rng.randint(-2, 2), tensor),
                 lambda: setattr(tensor, "dtype", rng.choice([None, np.float32, "bad", 99])),
                 lambda: setattr(tensor, "shape", rng.choice([None, [1, "N", -1], [None], "N", [1 << 70]])),
                 lambda: node.attrs.__setitem__("a", rng.choice([1, 2.0, "s", [], [1, "a"], graph, tensor, object()])),
                 lambda: graph.nodes.append(gs.Node(rng.choice(["Add", "If", "", "Constant"]), inputs=[tensor])),
                 graph.cleanup, graph.toposort, graph.fold_constants, graph.copy, graph.tensors,
                 lambda: graph.outputs.append(tensor), lambda: gs.export_onnx(graph, rng.random() < 0.5),
                 lambda: graph.layer(op="Add", inputs=[tensor, rng.choice(ARRAYS)], outputs=["o"])]
        yield rng.choice(calls)


def network_calls(rng):
    builder = trt.Builder(None)
    network = builder.create_network(rng.choice([0, 1, 1 << 40]))
    tensors = [network.add_input("x", trt.float32, rng.choice([(2, 3), (-1, 3), ()])), None, "x"]
    config = builder.create_builder_config()
    for _ in range(10):
        tensor = rng.choice(tensors)
        calls = [lambda: tensors.append(network.add_identity(tensor).get_output(0)),
                 lambda: tensors.append(network.add_softmax(tensor).get_output(0)),
                 lambda: network.add_convolution_nd(tensor, rng.choice([1, 0, -1]), (3, 3), np.ones(5, np.float32)),
                 lambda: network.add_constant((2,), rng.choice(ARRAYS)), lambda: network.mark_output(tensor),
                 lambda: network.unmark_output(tensor), lambda: tensor.shape, lambda: setattr(tensor, "name", "x"),
                 lambda: network.add_input("x", trt.int32, (1,)), lambda: network.get_layer(rng.randint(-2, 5)),
                 lambda: builder.build_engine(network, config), lambda: config.add_optimization_profile(tensor)]
        yield rng.choice(calls)


class Echo(trt.IPluginV2DynamicExt):
    """Does what it was made for: gives its input, raises, or tells shapes that cannot be."""

    plugin_type = "Echo"

    def __init__(self, deed):
        super().__init__()
        self.deed = deed

    def get_output_dimensions(self, output_index, inputs, expr_builder):
        if self.deed == "shape":
            return [-5, 1 << 62]
        return inputs[0]

    def serialize(self):
        return self.deed.encode()

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        if self.deed == "raise":
            raise ValueError("no luck")
        if self.deed == "copy":
            _native.copy_memory(outputs[0], inputs[0], 24)
        return 1 if self.deed == "fail" else 0


class EchoCreator(trt.IPluginCreator):
    name = "Echo"

    def deserialize_plugin(self, name, data):
        return Echo(data.decode())


def body_calls(rng):
    """Loops, conditions and plugins; what is built runs, and is refitted."""
    trt.get_plugin_registry().register_creator(EchoCreator())
    builder = trt.Builder(None)
    network = builder.create_network(0)
    tensors = [network.add_input("x", trt.float32, (2, 3)), None,
               network.add_constant((), np.array(2, np.int32)).get_output(0),
               network.add_constant((), np.array(True)).get_output(0)]
    loop, condition = network.add_loop(), network.add_if_conditional()
    layers = [network.add_convolution_nd(tensors[0], 1, (1, 1), np.ones(2, np.float32))]
    config = builder.create_builder_config()
    config.set_flag(rng.choice([trt.BuilderFlag.REFIT, trt.BuilderFlag.STRIP_PLAN, trt.BuilderFlag.TF32]))

    def add(layer):
        layers.append(layer)
        tensors.extend(layer.get_output(i) for i in range(layer.num_outputs))

    def build():
        engine = builder._build(network, config)
        engine = trt.Runtime(None).deserialize_cuda_engine(engine)
        context = engine.create_execution_context()
        refitter = trt.Refitter(engine, None)
        refitter.set_named_weights(rng.choice([*refitter.get_all_weights(), "w"]), rng.choice(ARRAYS))
        refitter.refit_cuda_engine()
        context.infer({"x": np.ones((2, 3), np.float32)})

    for _ in range(14):
        tensor, other = rng.choice(tensors), rng.choice(tensors)
        calls = [lambda: add(loop.add_trip_limit(tensor, rng.choice(list(trt.TripLimit)))),
                 lambda: add(loop.add_recurrence(tensor)), lambda: add(loop.add_iterator(tensor, rng.randint(-1, 3))),
                 lambda: add(loop.add_loop_output(tensor, rng.choice(list(trt.LoopOutput)), rng.randint(-1, 2))),
                 lambda: add(condition.set_condition(tensor)), lambda: add(condition.add_input(tensor)),
                 lambda: add(condition.add_output(tensor, other)),
                 lambda: rng.choice(layers).set_input(rng.randint(0, 2), tensor),
                 lambda: add(network.add_plugin_v2([tensor], Echo(rng.choice(["copy", "raise", "fail", "shape"])))),
                 lambda: add(network.add_elementwise(tensor, other, trt.ElementWiseOperation.SUM)),
                 lambda: setattr(rng.choice(layers), "precision", rng.choice([trt.bfloat16, trt.int8, 3])),
                 lambda: network.mark_output(tensor), lambda: tensor.shape, build]
        yield rng.choice(calls)
    yield build


HEADER = {"ir_version": 8, "imports": [("", 17)], "producer_name": "", "producer_version": "", "domain": "",
          "model_version": 0, "doc": "", "metadata": []}


def builder_calls(rng):
    builder = _native.GraphBuilder(HEADER)
    for _ in range(10):
        number = rng.choice([0, 0, 1, 2, 99, -1, 1 << 31])
        calls = [lambda: builder.add_graph("g", ""), lambda: builder.add_input(number, "x"),
                 lambda: builder.add_initializer(number, "w", rng.choice(ARRAYS)), lambda: builder.finish("m"),
                 lambda: builder.add_undefined(number, "u"), lambda: builder.set_outputs(number, [number]),
                 lambda: builder.add_node(number, ("Add", "", "n"), ["y", ""]),
                 lambda: builder.set_operands(number, [number, -1]), lambda: builder.set_type(number, 0, 1, [2, "N", -1]),
                 lambda: builder.set_attributes(number, [("a", rng.randint(-2, 16), rng.choice([1, [1], "s", 0.5, None]))])]
        yield rng.choice(calls)


def test_threads_may_share_objects():
    """Two threads call what they like of the same things."""
    rng = random.Random(3)
    made = checks.save_identity()
    for _ in range(10):
        runner = BackendRunner(made, "engine")
        context = engine_from_network(network_from_onnx_bytes(made.SerializeToString())).create_execution_context()
        graph = gs.import_onnx(made)
        builder = _native.GraphBuilder(HEADER)
        builder.add_graph("g", "")
        good = [each.ctypes.data for each in (ARRAYS[0], np.empty((1, 1, 2, 2), np.float32))]
        calls = [runner.activate, runner.deactivate, lambda: runner.infer({"x": ARRAYS[0]}),
                 lambda: context.execute_v2(good), lambda: context.infer({"x": ARRAYS[0]}), context._forget,
                 lambda: graph.layer(op="Relu", inputs=graph.outputs, outputs=["a"]), graph.cleanup, graph.toposort,
                 lambda: gs.export_onnx(graph), graph.fold_constants, lambda: builder.add_input(0, "x"),
                 lambda: builder.add_initializer(0, "w", ARRAYS[6]), lambda: builder.finish("m")]

        def work(order):
            for call in order:
                try:
                    call()
                except Exception:
                    pass

        threads = [threading.Thread(target=work, args=([rng.choice(calls) for _ in range(60)],)) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    with BackendRunner(made, "engine") as runner:
        assert np.array_equal(runner.infer({"x": ARRAYS[0]})["y"], ARRAYS[0])


def test_nothing_ends_the_interpreter():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    refused = made = 0
    for _ in range(60):
        for calls in (session_calls, engine_calls, graph_calls, network_calls, body_calls, builder_calls):
            for call in calls(rng):
                try:
                    call()
                    made += 1
                except Exception:
                    refused += 1
    assert made > 100 and refused > 100, (made, refused)


if __name__ == "__main__":
    checks.run_all(globals())
