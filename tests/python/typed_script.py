"""A script of a user, as types_test.py checks it: strictly, not run."""

import assay
import assay.graphsurgeon as gs
import assay.tensorrt as trt
import numpy as np
from assay.backend import runner, runners
from assay.backend.onnx import OnnxFromPath, fold_constants, infer_shapes, modify_outputs, save_onnx
from assay.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
from assay.backend.trt import (Calibrator, CreateConfig, EngineFromNetwork, NetworkFromOnnxPath, Profile, SaveEngine, TrtRunner,
                               create_config, engine_from_network, network_from_onnx_path)
from assay.common import TensorMetadata
from assay.comparator import CompareFunc, Comparator, DataLoader, PostprocessFunc, RunResults, SimpleCompareFunc
from assay.exception import PolygraphyException
from assay.json import load_json, save_json
from assay.logger import G_LOGGER
from assay.session import BackendRunner, Session


def main() -> int:
    G_LOGGER.module_severity = G_LOGGER.WARNING
    model = assay.load("model.onnx")
    graph = gs.import_onnx(model).cleanup().toposort()
    for node in graph.nodes:
        if node.op == "Relu":
            node.op, node.attrs = "LeakyRelu", {"alpha": 0.1}
    x = gs.Variable("x", np.float32, (1, 3))
    weights = gs.Constant("w", np.ones((3, 3), np.float32))
    graph.nodes.append(gs.Node("MatMul", "mul", inputs=[x, weights], outputs=[gs.Variable("y")]))
    gs.save(graph.fold_constants(), "copy.onnx")
    exported = gs.export_onnx(graph)
    folded = fold_constants(exported)
    save_onnx(infer_shapes(folded), "folded.onnx")
    profiles = [Profile().add("x", min=(1, 3), opt=(4, 3), max=(32, 3))]
    build = EngineFromNetwork(NetworkFromOnnxPath("model.onnx"), config=CreateConfig(profiles=profiles, fp16=True))
    loader = DataLoader(seed=1, iterations=2, val_range=(0.0, 1.0), input_metadata=TensorMetadata().add("x", np.float32, (1, 3)))
    with OnnxrtRunner(SessionFromOnnx("model.onnx")) as first, TrtRunner(SaveEngine(build, path="e")) as second:
        metadata = first.get_input_metadata()
        outputs = first.infer(feed_dict={name: np.zeros((1, 3), np.float32) for name in metadata})
        print(outputs["y"].shape, second.last_inference_time())
    results: RunResults = Comparator.run([OnnxrtRunner(SessionFromOnnx("m")), BackendRunner(model, "engine")],
                                         data_loader=loader)
    results = Comparator.postprocess(results, PostprocessFunc.top_k(k=3))
    results.save("results.json")
    again = RunResults.load("results.json")
    verdict = Comparator.compare_accuracy(again, compare_func=SimpleCompareFunc(atol=1e-4), fail_fast=True)
    assert Comparator.validate(results, check_inf=True)
    compare = CompareFunc.simple(atol={"y": 1e-3})
    print(bool(verdict), compare, runners(), runner("engine", model))
    save_json({"a": 1}, "a.json")
    print(load_json("a.json"))
    try:
        session = Session(model, "ref")
        session.run(None, {"x": np.zeros((1, 3), np.float32)})
    except PolygraphyException as error:
        print(error.code, error)
    return 0 if verdict else 1


def draw() -> bytes:
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    tensor = network.add_input("x", trt.float32, (2, 3))
    layer = network.add_activation(tensor, trt.ActivationType.RELU)
    layer.get_output(0).name = "y"
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.FP16)
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    profile = builder.create_optimization_profile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    context.set_input_shape("x", (2, 3))
    given = np.zeros((2, 3), np.float32)
    context.set_tensor_address("x", given.ctypes.data)
    context.execute_async_v3(0)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file("model.onnx"):
        for index in range(parser.num_errors):
            print(parser.get_error(index).desc())
    return bytes(plan)


if __name__ == "__main__":
    raise SystemExit(main())
