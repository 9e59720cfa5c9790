"""Engines by Polygraphy's loaders: built, saved, loaded, calibrated, with several profiles; lazily and at once."""

import copy

import numpy as np
import tensorrt as trt
from polygraphy import func
from polygraphy.backend.common import BytesFromPath, bytes_from_path
from polygraphy.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
from polygraphy.backend.trt import (Calibrator, CreateConfig, CreateNetwork, EngineBytesFromNetwork, EngineFromBytes,
                                    EngineFromNetwork, NetworkFromOnnxPath, Profile, SaveEngine, TrtRunner, create_config,
                                    engine_from_bytes, engine_from_network, network_from_onnx_path, save_engine)
from polygraphy.comparator import Comparator, CompareFunc, RunResults
from polygraphy.json import load_json, save_json
from polygraphy.logger import G_LOGGER

ONES = np.ones((1, 1, 2, 2), np.float32)


def lazily():
    build = EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"), config=CreateConfig(fp16=True))
    with TrtRunner(SaveEngine(build, path="identity.engine")) as runner:
        outputs = copy.deepcopy(runner.infer(feed_dict={"x": ONES}))
        runner.infer({"x": 0 * ONES})
        assert np.array_equal(outputs["y"], ONES)
    with TrtRunner(EngineFromBytes(BytesFromPath("identity.engine"))) as runner:
        assert np.array_equal(runner.infer({"x": ONES})["y"], ONES)


def compared():
    runners = [TrtRunner(EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"))),
               OnnxrtRunner(SessionFromOnnx("identity.onnx"))]
    results = Comparator.run(runners)
    assert bool(Comparator.compare_accuracy(results, compare_func=CompareFunc.simple(atol=1e-8)))
    results.save("results.json")
    for name, [outputs] in RunResults.load("results.json").items():
        assert "runner" in name and list(outputs) == ["y"]
    save_json([{"x": ONES}], "inputs.json")
    [feed] = load_json("inputs.json")
    assert np.array_equal(feed["x"], ONES)


def extended():
    @func.extend(NetworkFromOnnxPath("identity.onnx"))
    def load_network(builder, network, parser):
        network.name = "MyIdentity"

    @func.extend(CreateConfig())
    def load_config(config):
        config.set_flag(trt.BuilderFlag.FP16)

    with TrtRunner(EngineFromNetwork(load_network, config=load_config)) as runner:
        assert runner.engine.name == "MyIdentity"
        assert np.array_equal(runner.infer({"x": ONES})["y"], ONES)


def drawn():
    @func.extend(CreateNetwork())
    def create_network(builder, network):
        given = network.add_input(name="input", shape=(64, 64), dtype=trt.float32)
        ones = network.add_constant(shape=(64, 64), weights=np.ones((64, 64), np.float32)).get_output(0)
        added = network.add_elementwise(given, ones, op=trt.ElementWiseOperation.SUM).get_output(0)
        added.name = "output"
        network.mark_output(added)

    with TrtRunner(EngineFromNetwork(create_network)) as runner:
        feed = {"input": np.random.random_sample((64, 64)).astype(np.float32)}
        assert np.array_equal(runner.infer(feed)["output"], feed["input"] + 1)


def calibrated():
    def data():
        for _ in range(4):
            yield {"x": ONES}

    calibrator = Calibrator(data_loader=data(), cache="identity-calib.cache")
    build = EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"),
                              config=CreateConfig(int8=True, calibrator=calibrator))
    with G_LOGGER.verbosity(G_LOGGER.CRITICAL), TrtRunner(build) as runner:
        assert np.array_equal(runner.infer({"x": ONES})["y"], ONES)


def at_once():
    builder, network, parser = network_from_onnx_path("identity.onnx")
    output = network.get_output(0)
    network.unmark_output(output)
    output = network.add_identity(output).get_output(0)
    output.name = "output"
    network.mark_output(output)
    config = create_config(builder, network, fp16=True, tf32=True)
    assert config.get_flag(trt.BuilderFlag.FP16)
    with builder, network, parser, config:
        engine = engine_from_network((builder, network), config)
    save_engine(engine, path="other.engine")
    with engine, TrtRunner(engine_from_bytes(bytes_from_path("other.engine"))) as runner:
        assert np.array_equal(runner.infer({"x": ONES})["output"], ONES)


def five_ways():
    load = NetworkFromOnnxPath("identity.onnx")
    assert isinstance(EngineBytesFromNetwork(load), EngineBytesFromNetwork)
    assert isinstance(EngineBytesFromNetwork(load)(), bytes)
    assert isinstance(EngineBytesFromNetwork(load()), EngineBytesFromNetwork)
    assert isinstance(EngineBytesFromNetwork(load())(), bytes)
    try:
        EngineBytesFromNetwork(load)()()
    except TypeError:
        return
    raise AssertionError


def profiles():
    shapes = [(1, 3, 28, 28)] * 3, [(1, 3, 28, 28), (4, 3, 28, 28), (32, 3, 28, 28)], [(128, 3, 28, 28)] * 3
    made = [Profile().add("X", min=low, opt=best, max=high) for low, best, high in shapes]
    engine = engine_from_network(network_from_onnx_path("dynamic.onnx"), config=CreateConfig(profiles=made))
    save_engine(engine, "dynamic.engine")
    engine = engine_from_bytes(bytes_from_path("dynamic.engine"))
    assert engine.num_optimization_profiles == 3
    assert [tuple(each) for each in engine.get_tensor_profile_shape("X", 1)] == shapes[1]
    small = TrtRunner(engine.create_execution_context())
    middle = TrtRunner(engine.create_execution_context(), optimization_profile=1)
    large = TrtRunner(engine.create_execution_context())
    with small, middle, large:
        large.set_profile(2)
        for runner, count in ((small, 1), (middle, 4), (large, 128)):
            array = np.full((count, 3, 28, 28), count, np.float32)
            assert np.array_equal(runner.infer({"X": array})["Y"], array)
        try:
            with G_LOGGER.verbosity(G_LOGGER.CRITICAL + 1):
                small.infer({"X": np.zeros((2, 3, 28, 28), np.float32)})
        except Exception as error:
            assert "profile" in str(error), error
        else:
            raise AssertionError("a shape outside of the profile was taken")


for each in (lazily, compared, extended, drawn, calibrated, at_once, five_ways, profiles):
    each()
print("done")
