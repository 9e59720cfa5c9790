"""A user's own code, when it is called, raises, deletes what is running, calls it again, or gives rubbish: exceptions are
allowed, the end of the interpreter is not, and afterwards everything still works.

A seed repeats a run: callbacks_test.py 7
"""

import gc
import random
import sys
import threading

import assay.graphsurgeon as gs
import assay.tensorrt as trt
import checks
import numpy as np
from assay import _native
from assay.backend.trt import (MarkDebug, NetworkFromOnnxBytes, TrtRunner, engine_from_network,
                                network_from_onnx_bytes)
from assay.comparator import Comparator
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER
from assay.session import BackendRunner
from onnx import helper

X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
RUBBISH = [None, -1, 5, "x", b"", [], {}, object(), (1,), np.zeros(0), [None], 1 << 70, float("nan")]
LOCKED = X.copy()
LOCKED.setflags(write=False)
ARRAYS = [X, LOCKED, X.astype(">f4"), X[..., ::-1], np.asfortranarray(np.ones((2, 3), np.float32)), X.astype(np.float64)]


class World:
    """Things that calls use, and deeds that callbacks do to them."""

    def __init__(self, rng):
        self.rng = rng
        self.depth = 0
        model = checks.save_identity()
        self.things = {"runner": BackendRunner(model, rng.choice(["ref", "engine"])), "graph": gs.import_onnx(model),
                       "engine": engine_from_network(MarkDebug(NetworkFromOnnxBytes(model.SerializeToString()), ["y"]))}
        self.things["runner"].activate()
        self.things["context"] = self.things["engine"].create_execution_context()
        self.calls = [self.infer, self.execute, self.build, self.plugin, self.compare, self.edit, self.load, self.log]

    def hook(self, good):
        """A function that misbehaves, or does what `good` does."""
        def called(*arguments, **keywords):
            deed = self.rng.choice(["well", "well", "raise", "interrupt", "delete", "again", "rubbish", "thread"])
            if deed == "raise":
                raise ValueError("no luck")
            if deed == "interrupt":
                raise KeyboardInterrupt
            if deed == "delete":
                self.things.clear()
                gc.collect()
            if deed in ("again", "thread") and self.depth < 3:
                self.again(deed == "thread")
            return self.rng.choice(RUBBISH) if deed == "rubbish" else good(*arguments, **keywords)
        return called

    def again(self, in_thread):
        self.depth += 1
        if in_thread:
            thread = threading.Thread(target=self.any_call)
            thread.start()
            thread.join()
        else:
            self.any_call()
        self.depth -= 1

    def any_call(self):
        try:
            self.rng.choice(self.calls)()
            return True
        except (Exception, KeyboardInterrupt):
            return False

    def derived(self, base, **methods):
        """An object of a class of the package, whose methods are hooks."""
        return type("Own", (base,), {name: staticmethod(self.hook(good)) for name, good in methods.items()})()

    def array(self):
        """Something that gives an array when it is asked."""
        values = self.rng.choice(ARRAYS)
        kinds = [{"__array__": lambda *_, **__: values}, {"__dlpack__": lambda **_: X.__dlpack__(),
                                                          "__dlpack_device__": lambda: (1, 0)}]
        return self.derived(object, **self.rng.choice(kinds))

    def infer(self):
        feeds = {"x": self.array()}
        self.things["feeds"] = feeds
        runner = self.things["runner"]
        runner.infer(feeds, check_inputs=self.rng.random() < 0.3)
        runner.session.run(None, {"x": self.array()})

    def execute(self):
        context = self.things["context"]
        room = np.empty(16, np.float32)
        allocator = self.derived(trt.IOutputAllocator, reallocate_output=lambda *_: room.ctypes.data,
                                 notify_shape=lambda *_: None)
        context.profiler = self.derived(trt.IProfiler, report_layer_time=lambda *_: None)
        context.error_recorder = self.derived(trt.IErrorRecorder, report_error=lambda *_: None)
        context.set_debug_listener(self.derived(trt.IDebugListener, process_debug_tensor=lambda *_: True))
        context.set_all_tensors_debug_state(True)
        context.set_output_allocator("y", allocator if self.rng.random() < 0.5 else None)
        context.execute_v2([X.ctypes.data, room.ctypes.data])
        context.set_binding_shape(0, (1, 1))

    def build(self):
        builder = trt.Builder(self.derived(trt.ILogger, log=lambda *_: None))
        builder.error_recorder = self.derived(trt.IErrorRecorder, report_error=lambda *_: None)
        network = builder.create_network()
        tensor = network.add_input("x", trt.float32, (2, 3))
        network.add_convolution_nd(tensor, 1, (1, 1), np.ones(2, np.float32))
        network.mark_output(network.add_softmax(tensor).get_output(0))
        config = builder.create_builder_config()
        config.progress_monitor = self.derived(trt.IProgressMonitor, phase_start=lambda *_: None,
                                               step_complete=lambda *_: True, phase_finish=lambda *_: None)
        config.set_flag(trt.BuilderFlag.INT8)
        batches = [[X.ctypes.data], None]
        config.int8_calibrator = self.derived(
            trt.IInt8MinMaxCalibrator, get_batch=lambda *_: batches.pop(0), read_calibration_cache=lambda *_: None,
            write_calibration_cache=lambda *_: None)
        self.things["plan"] = builder.build_serialized_network(network, config)

    def plugin(self):
        def enqueue(input_desc, output_desc, inputs, outputs, workspace, stream):
            _native.copy_memory(outputs[0], inputs[0], 24)

        plugin = self.derived(trt.IPluginV2DynamicExt, get_output_dimensions=lambda index, inputs, _: inputs[0],
                              serialize=lambda: b"", initialize=lambda: 0, enqueue=enqueue)
        plugin.plugin_type = "Own"
        creator = self.derived(trt.IPluginCreator, deserialize_plugin=lambda *_: plugin)
        creator.name = "Own"
        registry = trt.get_plugin_registry()
        registry.register_creator(creator)
        try:
            builder = trt.Builder(None)
            network = builder.create_network()
            layer = network.add_plugin_v2([network.add_input("x", trt.float32, (2, 3))], plugin)
            network.mark_output(layer.get_output(0))
            engine = builder.build_engine(network, builder.create_builder_config())
            self.things["context"] = engine.create_execution_context()
            self.things["context"].infer({"x": self.rng.choice(ARRAYS)})
        finally:
            registry.deregister_creator(creator)

    def compare(self):
        runners = [BackendRunner(checks.save_identity(), "ref") for _ in range(2)]
        loader = self.derived(object, __iter__=lambda: iter([{"x": self.rng.choice([X, self.array()])}]))
        loader = self.hook(lambda: [{"x": X}]) if self.rng.random() < 0.5 else loader
        results = Comparator.run(runners, loader if hasattr(loader, "__iter__") else loader())
        Comparator.postprocess(results, self.hook(lambda iteration: iteration))
        Comparator.compare_accuracy(results, compare_func=self.hook(lambda first, second: {"y": True}))

    def edit(self):
        graph = self.things["graph"]
        graph.layer(op="Add", inputs=[graph.inputs[0], self.array()], outputs=["sum"])
        graph.layer(op="Neg", inputs=[np.ones(3, np.float32)], outputs=["constant"])
        graph.fold_constants(should_exclude_node=self.hook(lambda node: False))
        graph.layer(op="Relu", inputs=[gs.Constant("w", self.array())], attrs={"a": self.array()})
        gs.export_onnx(graph)

    def load(self):
        with TrtRunner(self.hook(lambda: self.things["engine"])) as runner:
            runner.infer({"x": self.array()})

    def log(self):
        """What only messages of native code call."""
        model = checks.model([helper.make_node("Add", ["x", "x"], ["y"])], [("x", 1, ["N"])], [("y", 1, [3])])
        told = self.hook(lambda *_: None)
        native = _native.model_from_bytes(model.SerializeToString())
        _native.Execution(_native.prepare(native, _native.Wanted("ref"), told)).run({"x": self.array()}, None)
        _native.sanitize(native, {"fold_constants": True, "clean": True}, told)


def still_works():
    made = checks.save_identity()
    with BackendRunner(made, "engine") as runner, TrtRunner(
            engine_from_network(network_from_onnx_bytes(made.SerializeToString()))) as other:
        return all(np.array_equal(each.infer({"x": X})["y"], X) for each in (runner, other))


def test_callbacks_may_do_anything():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    well = badly = 0
    gc.freeze()  # what is there already, so that collecting is quick
    for _ in range(70):
        world = World(rng)
        for _ in range(7):
            if world.any_call():
                well += 1
            else:
                badly += 1
        del world
        assert still_works()
    assert well > 10 and badly > 10, (well, badly)


def test_feeds_may_change_while_they_are_read():
    made = checks.model([helper.make_node("Add", ["x", "y"], ["z"])], [("x", 1, [2]), ("y", 1, [2])], [("z", 1, [2])])

    class Clearing:
        def __array__(self, *_, **__):
            feeds.clear()
            gc.collect()
            return np.ones(2, np.float32)

    with BackendRunner(made, "ref") as runner:
        feeds = {"x": Clearing(), "y": np.full(2, 3, np.float32)}
        assert runner.infer(feeds, check_inputs=False)["z"].tolist() == [4, 4]


def test_memory_that_an_allocator_gives_must_be_there():
    engine = engine_from_network(network_from_onnx_bytes(checks.save_identity().SerializeToString()))
    for address in (0, 5, -1, None, "x", 1 << 70):
        class Own(trt.IOutputAllocator):
            def reallocate_output(self, *_):
                return address

            def notify_shape(self, *_):
                pass

        context = engine.create_execution_context()
        context.set_output_allocator("y", Own())
        assert not context.execute_v2([X.ctypes.data, X.ctypes.data])


if __name__ == "__main__":
    checks.run_all(globals())
