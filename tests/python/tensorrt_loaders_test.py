"""assay.backend.trt and assay.cuda as scripts of Polygraphy use them: calibrators, configurations, selectors, texts, arrays in
memory of a device."""

import gc
import os

import assay.tensorrt as trt
import checks
import numpy as np
from assay import constants, cuda
from assay.backend.trt import (Algorithm, Calibrator, CreateConfig, EngineFromBytes, EngineFromNetwork, EngineFromPath, LoadPlugins, Profile, TacticRecorder,
                               TacticReplayData, TacticReplayer, TensorInfo, TrtRunner, create_config, create_network,
                               engine_from_network, modify_network_outputs, network_from_onnx_bytes, postprocess_network,
                               set_tensor_formats)
from assay.backend.trt import util as trt_util
from assay.backend.trt.algorithm_selector import TacticReplayer as SameReplayer
from assay.backend.trt.runner import _get_array_on_cpu
from assay.comparator import DataLoader
from assay.common import FormattedArray, TensorMetadata
from assay.exception import PolygraphyException
from onnx import TensorProto, helper

SHAPE = (1, 1, 2, 2)


def identity(dtype=TensorProto.FLOAT):
    model = checks.model([helper.make_node("Identity", ["x"], ["y"])], [("x", dtype, list(SHAPE))],
                         [("y", dtype, list(SHAPE))])
    return network_from_onnx_bytes(model.SerializeToString())


def product():
    """A network of two inputs whose layer can have 8-bit integers."""
    model = checks.model([helper.make_node("MatMul", ["a", "b"], ["y"])], [("a", 1, [2, 3]), ("b", 1, [3, 2])],
                         [("y", 1, [2, 2])])
    return network_from_onnx_bytes(model.SerializeToString())


def batches(count, shape=SHAPE):
    return [{"x": np.full(shape, i + 1, np.float32)} for i in range(count)]


def freed(calibrator):
    return all(each.allocated_nbytes == 0 for each in calibrator.device_buffers.values())


def test_calibrators_of_all_bases():
    bases = [trt.IInt8Calibrator, trt.IInt8LegacyCalibrator, trt.IInt8EntropyCalibrator, trt.IInt8EntropyCalibrator2,
             trt.IInt8MinMaxCalibrator]
    words = ["EntropyCalibration2", "LegacyCalibration", "EntropyCalibration", "EntropyCalibration2", "MinMaxCalibration"]
    for base, word in zip(bases, words):
        builder, network, _ = identity()
        calibrator = Calibrator(batches(2), BaseClass=base)
        assert isinstance(calibrator, base) and calibrator.is_polygraphy_calibrator
        engine_from_network((builder, network), CreateConfig(int8=True, calibrator=calibrator))
        assert calibrator.num_batches == 2 and freed(calibrator), base
        assert word in calibrator.read_calibration_cache().decode().splitlines()[0], calibrator.cache_contents
    assert Calibrator(batches(1), BaseClass=trt.IInt8LegacyCalibrator, quantile=0.25).get_quantile() == 0.25
    minmax = trt.CalibrationAlgoType.MINMAX_CALIBRATION
    assert Calibrator(batches(1), BaseClass=trt.IInt8Calibrator, algo=minmax).get_algorithm() == minmax


def test_buffers_of_calibrators():
    class Tensor:
        """Like one of torch: not an array of numpy, with a bridge to it."""

        def __init__(self, array):
            self.array, self.dtype, self.shape = array, array.dtype, array.shape

        def __array__(self, dtype=None, copy=None):
            return self.array

    x2 = cuda.DeviceArray((4, 5), np.float32).copy_from(np.full((4, 5), 2, np.float32))
    x3 = cuda.DeviceArray((4, 5), np.float32).copy_from(np.full((4, 5), 3, np.float32))
    data = [{"x0": np.zeros((4, 5), np.float32), "x1": np.full((4, 5), 1, np.float32).tolist(), "x2": x2, "x3": x3.ptr,
             "x4": x2.view()}] * 2
    with Calibrator(data) as calibrator:
        for _ in data:
            found = calibrator.get_batch(["x0", "x2", "x3", "x4"])
            for address, expected in zip(found, (0, 2, 3, 2)):
                assert (cuda.DeviceView(address, (4, 5), np.float32).numpy() == expected).all()
    assert freed(calibrator) and calibrator.get_batch(["x0"]) is None
    # The memory of an array that is gone is there a while, as scripts that keep its address expect.
    address = cuda.DeviceArray((4, 5), np.float32).copy_from(np.full((4, 5), 7, np.float32)).ptr
    gc.collect()
    cuda.DeviceArray((4, 5), np.float32).copy_from(np.zeros((4, 5), np.float32))
    assert (cuda.DeviceView(address, (4, 5), np.float32).numpy() == 7).all()


def test_calibrators_check_what_they_are_given():
    expected = TensorMetadata().add("x", np.float32, (-1, 3))
    for dtype, shape, fits in ((np.float32, (2, 3), True), (np.float64, (2, 3), False), (np.float32, (2, 4), False)):
        calibrator = Calibrator([{"x": np.ones(shape, dtype)}])
        calibrator.set_input_metadata(expected)
        assert (calibrator.get_batch(["x"]) is not None) == fits, (dtype, shape)
    for names in (["other", "x"], ["other"]):
        calibrator = Calibrator([{name: np.ones(SHAPE, np.float32) for name in names}])
        builder, network, _ = identity()
        with checks.raises(PolygraphyException, "neither batches nor a cache"):
            engine_from_network((builder, network), CreateConfig(int8=True, calibrator=calibrator))

    class Few(trt.IInt8EntropyCalibrator2):
        def get_batch(self, names):
            return [cuda.DeviceArray((2, 3), np.float32).ptr]

    class Nowhere(Few):
        def get_batch(self, names):
            return [0, 1]

    for kind, word in ((Few, "1 addresses for 2 inputs"), (Nowhere, "no address for the input `a`")):
        builder, network, _ = product()
        config = builder.create_builder_config()
        config.set_flag(trt.BuilderFlag.INT8)
        config.int8_calibrator = kind()
        with checks.raises(PolygraphyException, word):
            builder._build(network, config)
        assert builder.build_serialized_network(network, config) is None


def test_batches_are_float32_and_metadata_comes_from_networks():
    loader = DataLoader()
    calibrator = Calibrator(loader)
    calibrator.set_input_metadata(TensorMetadata().add("x", np.float16, (1, 2)))
    assert loader.input_metadata["x"].dtype == np.float32 and loader[0]["x"].dtype == np.float32
    builder, network, _ = identity()
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = calibrator = Calibrator(DataLoader())
    engine_from_network((builder, network), config)
    assert tuple(calibrator.input_metadata["x"].shape) == SHAPE and calibrator.num_batches > 0


def test_one_buffer_may_hold_all_batches():
    class Reusing(trt.IInt8MinMaxCalibrator):
        def __init__(self):
            super().__init__()
            self.left, self.buffers = [1, 4, 2], [cuda.DeviceArray(shape, np.float32) for shape in ((2, 3), (3, 2))]
            self.cache = b""

        def get_batch(self, names):
            if not self.left:
                return None
            value = self.left.pop(0)
            for each in self.buffers:
                each.copy_from(np.full(each.shape, value, np.float32))
            return [each.ptr for each in self.buffers]

        def write_calibration_cache(self, cache):
            self.cache = bytes(cache)

    builder, network, _ = product()
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.INT8)
    config.int8_calibrator = calibrator = Reusing()
    builder._build(network, config)
    scale = dict(line.split(": ") for line in calibrator.cache.decode().splitlines()[1:])["a"]
    assert abs(np.frombuffer(bytes.fromhex(scale), ">f4")[0] - 4 / 127) < 1e-6


def test_caches_are_paths_files_and_memory():
    builder, network, _ = identity()

    def build(**words):
        calibrator = Calibrator(batches(1), **words)
        engine_from_network((builder, network), CreateConfig(int8=True, calibrator=calibrator))
        return calibrator

    calibrator = build(cache="cache")
    size = os.path.getsize("cache")
    calibrator.reset()
    assert calibrator.cache_contents is None and len(calibrator.read_calibration_cache()) == size > 0
    assert build().read_calibration_cache()
    for mode, is_written in (("wb+", True), ("wb", True), ("rb", False)):
        open("file", "wb").close()
        with open("file", mode) as file:
            build(cache=file)
            assert bool(os.path.getsize("file")) == is_written, mode


def test_configurations():
    builder, network, _ = identity()
    loader = CreateConfig()
    config = loader(builder, network)
    assert loader.timing_cache_path is None and loader.fp16 is False and not config.get_flag(trt.BuilderFlag.TF32)
    assert config.num_optimization_profiles == 1 and config.get_tactic_sources() == 31 and config.get_timing_cache()
    features = [trt.PreviewFeature.FASTER_DYNAMIC_SHAPES_0805]
    config = CreateConfig(preview_features=features, use_dla=True, quantization_flags=[])(builder, network)
    assert [each for each in trt.PreviewFeature if config.get_preview_feature(each)] == features
    assert config.default_device_type == trt.DeviceType.DLA and config.DLA_core == -1
    profiles = [Profile().add("x", SHAPE, SHAPE, SHAPE), Profile().add("x", (1, 2, 4, 4), (1, 2, 8, 8), (1, 2, 16, 16))]
    assert CreateConfig(profiles=profiles)(builder, network).num_optimization_profiles == 2
    with checks.raises(PolygraphyException, "not valid"):
        CreateConfig(profiles=[Profile().add("x", (2, 1, 2, 2), SHAPE, SHAPE)])(builder, network)
    with checks.raises(PolygraphyException, "is not a callable"):
        postprocess_network((builder, network), None)


def test_configurations_as_text():
    builder, network = create_network()
    network.add_input("X", trt.float32, (-1,))
    pools = {trt.MemoryPoolType.WORKSPACE: 16 << 20, trt.MemoryPoolType.TACTIC_DRAM: 1 << 30}
    config = create_config(builder, network, memory_pool_limits=pools, fp16=True, refittable=True, use_dla=True,
                           precision_constraints="obey", profiles=[Profile().add("X", [i], [i], [i]) for i in (1, 2)])
    rows = [line.split(" | ", 1) for line in trt_util.str_from_config(config, network).splitlines()]
    assert {title.strip(): value for title, value in rows} == {
        "Flags": "[FP16, REFIT, OBEY_PRECISION_CONSTRAINTS, EXPLICIT_BATCH]", "Engine Capability": "EngineCapability.DEFAULT",
        "Memory Pools": "[WORKSPACE: 16.00 MiB, DLA_MANAGED_SRAM: 0.00 MiB, DLA_LOCAL_DRAM: 1024.00 MiB, "
                        "DLA_GLOBAL_DRAM: 512.00 MiB, TACTIC_DRAM: 1024.00 MiB]",
        "Tactic Sources": "[CUBLAS, CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS]",
        "DLA": "Default Device Type: DeviceType.DLA, Core: -1", "Optimization Profiles": "2 profile(s)",
        "Profiling Verbosity": "ProfilingVerbosity.DETAILED",
        "Preview Features": "[FASTER_DYNAMIC_SHAPES_0805, DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805]"}


def test_classes_of_layers_by_their_type():
    mapping = trt_util.get_layer_class_mapping()
    without = {trt.LayerType.PLUGIN}
    assert set(mapping) == set(trt.LayerType) - without, set(trt.LayerType) - set(mapping)
    assert mapping[trt.LayerType.CONVOLUTION] is trt.IConvolutionLayer and mapping[trt.LayerType.MOE] is trt.IMoELayer


def test_networks_and_engines_as_text():
    _, network, _ = identity()
    text = trt_util.str_from_network(network, show_layers=True)
    assert "---- 1 Network Input(s) ----" in text and "node_of_y [Op: LayerType.IDENTITY]" in text
    _, drawn = create_network()
    x = drawn.add_input("x", trt.float32, (1, 4))
    drawn.add_constant((2,), np.ones(2, np.float32))
    drawn.add_softmax(x).name = "soft"
    text = trt_util.str_from_network(drawn, show_layers=True, show_attrs=True)
    assert "soft.axes = 1" in text and "[Constant].weights" not in text
    assert "weights = " in trt_util.str_from_network(drawn, show_layers=True, show_attrs=True, show_weights=True)
    engine = engine_from_network(product())
    text = trt_util.str_from_engine(engine, engine.create_execution_context(), show_layers=True, show_attrs=True)
    assert "---- 1 Profile(s) (3 Tensor(s) Each) ----" in text and "Tactic = " in text and "Shapes: min=" in text


def test_tensors_of_networks_with_inputs_that_are_left_out():
    builder, network = create_network()
    x = network.add_input("input", trt.float32, (1, 3))
    layer = network.add_slice(x, (0, 0), (1, 3), (1, 1))
    layer.set_input(3, x)
    layer.get_output(0).name = "Slice"
    assert layer.num_inputs == 4 and layer.get_input(1) is None
    assert trt_util.get_all_tensors(network) == {"input": x, "Slice": layer.get_output(0)}
    modify_network_outputs((builder, network), outputs=["Slice"])
    assert network.get_output(0) is layer.get_output(0)
    modify_network_outputs((builder, network), outputs=constants.MARK_ALL, exclude_outputs=["Slice"])
    assert network.num_outputs == 0
    set_tensor_formats((builder, network), {"input": [trt.TensorFormat.LINEAR, trt.TensorFormat.CHW4]})
    assert x.allowed_formats == (1 << int(trt.TensorFormat.LINEAR)) | (1 << int(trt.TensorFormat.CHW4))


def test_profiles_of_scalar_shape_tensors():
    _, network = create_network()
    shape = network.add_input("shape", trt.int32, ())
    fill = network.add_fill((), trt.FillOperation.LINSPACE)
    fill.set_input(0, shape)
    fill.set_input(1, network.add_constant((), np.array(0, np.int32)).get_output(0))
    network.mark_output(fill.get_output(0))
    assert shape.is_shape_tensor and not shape.is_execution_tensor
    profile = Profile().fill_defaults(network)
    assert (profile["shape"].min, profile["shape"].opt, profile["shape"].max) == ((1,), (1,), (1,))
    wild = Profile().add("inp_*", (2, 3), (2, 3), (2, 3))
    builder, network = create_network()
    for name in ("inp_a", "other"):
        network.add_input(name, trt.float32, (-1, 3))
    made = wild.fill_defaults(network).to_trt(builder, network)
    assert made.get_shape("inp_a") == [(2, 3)] * 3 and made.get_shape("other") == [(1, 3)] * 3


class Context:
    name, num_inputs, num_outputs = "layer", 1, 1


class Variant:
    def __init__(self, implementation, tactic):
        self.implementation, self.tactic = implementation, tactic


class Choice:
    def __init__(self, implementation=6, tactic=0, dtype=trt.float32):
        self.algorithm_variant = Variant(implementation, tactic)
        self.dtype = dtype

    def get_algorithm_io_info(self, index):
        return TensorInfo(self.dtype, (1, 2), -1, 1)


def test_selectors():
    assert SameReplayer is TacticReplayer
    algorithm = Algorithm.from_trt(Context, Choice())
    assert algorithm == Algorithm(6, 0, [TensorInfo(trt.float32, (1, 2), -1, 1)], [TensorInfo(trt.float32, (1, 2), -1, 1)])
    assert hash(algorithm) == hash(Algorithm.from_trt(Context, Choice())) and algorithm != Algorithm.from_trt(Context, Choice(7))
    with checks.raises(PolygraphyException, "must be an instance of"):
        Algorithm(6, 0, [3], [])
    TacticReplayData().add("layer", algorithm).save("replay.json")
    for source in (TacticReplayData().add("layer", algorithm), "replay.json"):
        replayer = TacticReplayer(source)
        assert replayer.select_algorithms(Context, [Choice(2), Choice(), Choice(tactic=1)]) == [1]
        other = type("Other", (Context,), {"name": "other"})
        assert replayer.select_algorithms(other, [Choice(), Choice(2)]) == [0, 1]
        for wrong in (Choice(2), Choice(tactic=1), Choice(dtype=trt.int8)):
            with checks.raises(PolygraphyException, "was not provided by TensorRT as a choice"):
                replayer.select_algorithms(Context, [wrong])
        with checks.raises(PolygraphyException, "TensorRT selected a tactic different"):
            replayer.report_algorithms([Context], [Choice(9)])
    recorder = TacticRecorder("recorded.json")
    recorder.report_algorithms([Context], [Choice()])
    assert recorder.data["layer"] == algorithm and TacticReplayData.load("recorded.json")["layer"] == algorithm


def test_selectors_without_loaders():
    builder, network, _ = product()
    config = builder.create_builder_config()
    config.algorithm_selector = recorder = TacticRecorder(TacticReplayData())
    plan = builder.build_serialized_network(network, config)
    assert plan and len(recorder.data) == 1
    config.algorithm_selector = TacticReplayer(recorder.data)
    assert builder.build_serialized_network(network, config) == plan


def test_engines_of_paths_and_runtimes():
    plan = engine_from_network(identity()).serialize()
    with open("plan", "wb") as file:
        file.write(plan)
    runtime = trt.Runtime(trt_util.get_trt_logger())
    for words in ({}, {"runtime": runtime}, {"runtime": lambda: runtime}):
        for loader in (EngineFromPath("plan", **words), EngineFromPath(lambda: "plan", **words), EngineFromBytes(plan, **words)):
            assert isinstance(loader(), trt.ICudaEngine)
    with checks.raises(PolygraphyException, "cannot open"):
        EngineFromBytes(b"junk", runtime=runtime)()


def test_libraries_of_plugins():
    assert LoadPlugins(["libnvinfer_plugin.so"], obj=3)() == 3
    with checks.raises(PolygraphyException, "cannot be opened"):
        LoadPlugins(["libnot_there.so"])()


def test_runners():
    engine = EngineFromNetwork(identity())()
    x = np.arange(4, dtype=np.float32).reshape(SHAPE)
    with TrtRunner(engine) as runner:
        given = runner.infer({"x": x}, copy_outputs_to_host=False)["y"]
        assert isinstance(given, cuda.DeviceView) and np.array_equal(given.numpy(), x)
        assert np.array_equal(runner.infer({"x": given})["y"], x)
        raw = runner.infer({"x": FormattedArray(x, SHAPE)}, return_raw_buffers=True)["y"]
        assert isinstance(raw, FormattedArray) and tuple(raw.shape) == SHAPE
    with TrtRunner(EngineFromNetwork(identity(TensorProto.INT64))) as runner:
        assert runner.infer({"x": np.ones(SHAPE, np.int32)})["y"].dtype == np.int64
    model = checks.model([helper.make_node("Expand", ["x", "shape"], ["y"])], [("x", 1, [1]), ("shape", 7, [2])],
                         [("y", 1, [None, None])])
    with TrtRunner(EngineFromNetwork(network_from_onnx_bytes(model.SerializeToString()))) as runner:
        with checks.raises(PolygraphyException, "it must reside in host memory"):
            runner.infer({"x": np.ones(1, np.float32), "shape": cuda.DeviceArray((2,), np.int64)})


def test_arrays_of_devices():
    with cuda.DeviceArray((2, 2), np.float32) as array:
        assert isinstance(array.dtype, np.dtype) and array.resize((1, 4)) is array and array.shape == (1, 4)
        array.copy_from(np.arange(4, dtype=np.int32).reshape(1, 4))  # told, and done: there are as many bytes
        assert np.array_equal(array.copy_to(np.zeros((1, 4), np.int32)), [[0, 1, 2, 3]])
        with checks.raises(PolygraphyException, "not contiguous"):
            array.copy_from(np.zeros((4, 4), np.float32)[:, 0])
        with checks.raises(PolygraphyException, "does not hold"):
            array.copy_to(np.zeros(2, np.float32))
    buffers = {}
    with cuda.DeviceArray.raw((4,)) as raw:
        raw.copy_from(np.arange(4, dtype=np.uint8))
        assert _get_array_on_cpu(raw, "x", buffers, cuda.Stream(), 4, False).tolist() == [0, 1, 2, 3] and "x" in buffers


if __name__ == "__main__":
    checks.run_all(globals())
