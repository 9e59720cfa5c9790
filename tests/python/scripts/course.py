"""The steps of a program for TensorRT 8, from a network to its outputs."""

import os

import numpy as np
import tensorrt as trt
from cuda import cudart

PLAN = "course.plan"


def build(logger):
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    assert not network.has_implicit_batch_dimension and not network.has_explicit_precision
    profile = builder.create_optimization_profile()
    config = builder.create_builder_config()
    config.max_workspace_size = 1 << 30
    assert config.get_memory_pool_limit(trt.MemoryPoolType.WORKSPACE) == 1 << 30
    config.flags = 1 << int(trt.BuilderFlag.STRICT_NANS)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.set_timing_cache(config.create_timing_cache(b""), False)
    tensor = network.add_input("inputT0", trt.DataType.FLOAT, [-1, -1, -1])
    profile.set_shape(tensor.name, [1, 1, 1], [3, 4, 5], [6, 8, 10])
    config.add_optimization_profile(profile)
    layer = network.add_identity(tensor)
    layer.precision = trt.float32
    layer.name = "one"
    layer.get_output(0).name = "outputT0"
    network.mark_output(layer.get_output(0))
    listing = []
    for i in range(network.num_layers):
        each = network.get_layer(i)
        listing.append(f"{str(each.type)[10:]}, {each.num_inputs}, {each.num_outputs}, {each.name}")
        for j in range(each.num_inputs):
            given = each.get_input(j)
            listing.append(f"{given.shape}, {str(given.dtype)[9:]}, {given.name}")
    assert listing == ["IDENTITY, 1, 1, one", "(-1, -1, -1), FLOAT, inputT0"], listing
    plan = builder.build_serialized_network(network, config)
    with open(PLAN, "wb") as file:
        file.write(plan)
    return plan


def run(logger, plan):
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    assert engine.num_bindings == 2 and engine.max_batch_size == 1 and len(engine) == 2
    assert engine.binding_is_input(0) and not engine.binding_is_input(1)
    assert engine.get_binding_index("outputT0") == 1 and engine.get_binding_name(0) == "inputT0"
    assert engine.get_binding_dtype(0) == trt.float32 and tuple(engine.get_binding_shape(0)) == (-1, -1, -1)
    context = engine.create_execution_context()
    assert not context.all_binding_shapes_specified
    context.set_binding_shape(0, [3, 4, 5])
    assert context.all_binding_shapes_specified and tuple(context.get_binding_shape(1)) == (3, 4, 5)
    data = np.arange(np.prod([3, 4, 5]), dtype=np.float32).reshape(3, 4, 5)
    host = [np.ascontiguousarray(data.reshape(-1)),
            np.empty(context.get_binding_shape(1), dtype=trt.nptype(engine.get_binding_dtype(1)))]
    device = [cudart.cudaMalloc(each.nbytes)[1] for each in host]
    kinds = cudart.cudaMemcpyKind
    cudart.cudaMemcpy(device[0], host[0].ctypes.data, host[0].nbytes, kinds.cudaMemcpyHostToDevice)
    assert context.execute_v2(device)
    stream = cudart.cudaStreamCreate()[1]
    assert context.execute_async_v2([int(each) for each in device], stream)
    cudart.cudaStreamSynchronize(stream)
    cudart.cudaMemcpy(host[1].ctypes.data, device[1], host[1].nbytes, kinds.cudaMemcpyDeviceToHost)
    assert np.array_equal(host[1], data)
    for each in device:
        assert cudart.cudaFree(each)[0] == cudart.cudaError_t.cudaSuccess


log = trt.Logger(trt.Logger.ERROR)
run(log, build(log))
assert os.path.isfile(PLAN)
with open(PLAN, "rb") as saved:
    run(log, saved.read())
trt.init_libnvinfer_plugins(None, "")
print("done")
