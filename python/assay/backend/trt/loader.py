"""Loaders of networks and engines."""

import os

from assay import constants, mod, util
from assay import tensorrt as trt
from assay.backend.base.loader import BaseLoader, given
from assay.backend.trt.calibrator import active
from assay.backend.trt.config import CreateConfig
from assay.backend.trt.util import (check_onnx_parser_errors, get_all_tensors, get_trt_logger, mark_layerwise,
                                    mark_outputs, try_setup_polygraphy_calibrator, unmark_outputs)
from assay.datatype import DataType
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


def _open_library(path):
    import ctypes

    if "nvinfer_plugin" in os.path.basename(path):  # TensorRT's own plugins: what there is of them is there already
        trt.init_libnvinfer_plugins(get_trt_logger(), "")
        return
    try:
        ctypes.CDLL(path)
    except OSError as error:
        G_LOGGER.critical(f"the library `{path}` cannot be opened: {error}")


@mod.export(funcify=True)
class LoadPlugins(BaseLoader):
    """Opens libraries of plugins, then gives `obj`, or what it gives."""

    def __init__(self, plugins=None, obj=None) -> None:
        self.plugins = util.default(plugins, [])
        self.obj = obj

    def call_impl(self, *args, **kwargs):
        for plugin in self.plugins:
            _open_library(plugin)
        return util.invoke_if_callable(self.obj, *args, **kwargs)[0]


@mod.export(funcify=True)
class CreateNetwork(BaseLoader):
    """(builder, network): an empty network."""

    def __init__(self, explicit_batch=None, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None) -> None:
        self.strongly_typed = util.default(strongly_typed, False)
        self.marks_unfused = mark_unfused_tensors_as_debug_tensors

    def call_impl(self):
        builder = trt.Builder(get_trt_logger())
        explicit = trt.NetworkDefinitionCreationFlag.__members__.get("EXPLICIT_BATCH")
        flags = 0 if explicit is None else 1 << int(explicit)
        if self.strongly_typed:
            flags |= 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
        network = builder.create_network(flags)
        if self.marks_unfused:
            network.mark_unfused_tensors_as_debug_tensors()
        return builder, network


class _Parsed(BaseLoader):
    def __init__(self, flags=None, plugin_instancenorm=None, strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None, enable_uint8_asymmetric_quantization_dla=None, config=None) -> None:
        self.flags = util.default(flags, [])
        self.strongly_typed = strongly_typed
        self.marks_unfused = mark_unfused_tensors_as_debug_tensors
        self.config = config

    def _parse(self, read):
        builder, network = CreateNetwork(None, self.strongly_typed, self.marks_unfused)()
        parser = trt.OnnxParser(network, get_trt_logger())
        for flag in self.flags:
            parser.set_flag(flag)
        check_onnx_parser_errors(parser, read(parser))
        return builder, network, parser


@mod.export(funcify=True)
class NetworkFromOnnxBytes(_Parsed):
    """(builder, network, parser) of the bytes of an ONNX model."""

    def __init__(self, model_bytes, flags=None, plugin_instancenorm=None, strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None, enable_uint8_asymmetric_quantization_dla=None, config=None) -> None:
        super().__init__(flags, None, strongly_typed, mark_unfused_tensors_as_debug_tensors, config=config)
        self._model_bytes = model_bytes

    def call_impl(self):
        return self._parse(lambda parser: parser.parse(given(self._model_bytes)))


@mod.export(funcify=True)
class NetworkFromOnnxPath(_Parsed):
    """(builder, network, parser) of the file of an ONNX model."""

    def __init__(self, path, flags=None, plugin_instancenorm=None, strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None, enable_uint8_asymmetric_quantization_dla=None, config=None) -> None:
        super().__init__(flags, None, strongly_typed, mark_unfused_tensors_as_debug_tensors, config=config)
        self.path = path

    def call_impl(self):
        return self._parse(lambda parser: parser.parse_from_file(given(self.path)))


class _ChangesNetwork(BaseLoader):
    """Changes a network: (builder, network), (builder, network, parser) or what gives it, and gives it again."""

    def __init__(self, network) -> None:
        self._network = network

    def call_impl(self):
        loaded = given(self._network)
        self._change(loaded[1])
        return loaded


def _found(tensors, name):
    if name not in tensors:
        G_LOGGER.critical(f"the network has no tensor `{name}`; tensors: {', '.join(tensors)}")
    return tensors[name]


@mod.export(funcify=True)
class PostprocessNetwork(_ChangesNetwork):
    """Calls `func(network=)`."""

    def __init__(self, network, func, name=None) -> None:
        super().__init__(network)
        if not callable(func):
            G_LOGGER.critical(f"Object {func} (of type {type(func)}) is not a callable.")
        self.func = func
        self.name = util.default(name, getattr(func, "__name__", "func"))

    def _change(self, network):
        self.func(network=network)


@mod.export(funcify=True)
class ModifyNetworkOutputs(_ChangesNetwork):
    """Other outputs: `outputs` names or constants.MARK_ALL; `mark_layer_types`: outputs of layers of these kinds."""

    def __init__(self, network, outputs=None, exclude_outputs=None, mark_layer_types=None) -> None:
        super().__init__(network)
        self.outputs = outputs
        self.exclude_outputs = util.default(exclude_outputs, [])
        self.mark_layer_types = mark_layer_types

    def _change(self, network):
        if self.outputs == constants.MARK_ALL:
            mark_layerwise(network)
        elif self.outputs is not None:
            mark_outputs(network, self.outputs)
        elif self.mark_layer_types:
            mark_outputs(network, [each.get_output(i).name for each in network if each.type in self.mark_layer_types
                                   for i in range(each.num_outputs)])
        if self.exclude_outputs:
            unmark_outputs(network, self.exclude_outputs)


@mod.export(funcify=True)
class SetLayerPrecisions(_ChangesNetwork):
    """Precisions of layers by their names."""

    def __init__(self, network, layer_precisions) -> None:
        super().__init__(network)
        self.layer_precisions = layer_precisions

    def _change(self, network):
        layers = {each.name: each for each in network}
        for name, precision in self.layer_precisions.items():
            if name not in layers:
                G_LOGGER.warning(f"the network has no layer `{name}`")
            elif precision is not None:
                layers[name].precision = DataType.to_dtype(precision, "tensorrt")


@mod.export(funcify=True)
class MarkDebug(_ChangesNetwork):
    """Tensors to be watched, whose values a TrtRunner gives beside the outputs."""

    def __init__(self, network, mark_debug) -> None:
        super().__init__(network)
        self.mark_debug = mark_debug

    def _change(self, network):
        tensors = get_all_tensors(network)
        for name in self.mark_debug:
            network.mark_debug(_found(tensors, name))


@mod.export(funcify=True)
class SetDecomposableAttentions(_ChangesNetwork):
    """Nothing to do: attention that no kernel computes is always computed by its parts."""

    def _change(self, network):
        pass


@mod.export(funcify=True)
class SetTensorDatatypes(_ChangesNetwork):
    """Types of inputs and outputs by their names."""

    def __init__(self, network, tensor_datatypes) -> None:
        super().__init__(network)
        self.tensor_datatypes = tensor_datatypes

    def _change(self, network):
        tensors = {each.name: each for each in [*network._inputs, *network._outputs]}
        for name, dtype in self.tensor_datatypes.items():
            _found(tensors, name).dtype = DataType.to_dtype(dtype, "tensorrt")


@mod.export(funcify=True)
class SetTensorFormats(_ChangesNetwork):
    """Formats of inputs and outputs by their names, each a list of trt.TensorFormat."""

    def __init__(self, network, tensor_formats) -> None:
        super().__init__(network)
        self.tensor_formats = tensor_formats

    def _change(self, network):
        tensors = {each.name: each for each in [*network._inputs, *network._outputs]}
        for name, formats in self.tensor_formats.items():
            mask = 0
            for each in formats:
                mask |= 1 << int(each)
            _found(tensors, name).allowed_formats = mask


@mod.export(funcify=True)
class EngineBytesFromNetwork(BaseLoader):
    """The bytes of a plan. `network`: (builder, network) or (builder, network, parser), or what gives it."""

    def __init__(self, network, config=None, save_timing_cache=None) -> None:
        self._network = network
        self._config = util.default(config, CreateConfig())
        self.timing_cache_path = save_timing_cache

    def call_impl(self):
        loaded = given(self._network)
        builder, network = loaded[0], loaded[1]
        config = self._config(builder, network) if callable(self._config) else self._config
        calibrator = getattr(config, "int8_calibrator", None)
        try_setup_polygraphy_calibrator(config, network)
        with active(calibrator):
            engine = builder._build(network, config)
        if self.timing_cache_path and config.get_timing_cache() is not None:
            util.save_file(config.get_timing_cache().serialize(), self.timing_cache_path, description="timing cache")
        return engine


@mod.export(funcify=True)
class EngineFromNetwork(EngineBytesFromNetwork):
    """The engine of a network."""

    def __init__(self, network, config=None, save_timing_cache=None, runtime=None,
                 dla_workspace_allocation_strategy=None) -> None:
        super().__init__(network, config, save_timing_cache)
        self._runtime = runtime

    def call_impl(self):
        return EngineFromBytes(super().call_impl(), self._runtime)()


@mod.export(funcify=True)
class EngineFromBytes(BaseLoader):
    """The engine of the bytes of a plan."""

    def __init__(self, serialized_engine, runtime=None, dla_workspace_allocation_strategy=None) -> None:
        self._serialized_engine = serialized_engine
        self._runtime = runtime

    def call_impl(self):
        data, runtime = bytes(given(self._serialized_engine)), given(self._runtime)
        if runtime is None:
            return trt.ICudaEngine(data, get_trt_logger())
        engine = runtime.deserialize_cuda_engine(data)
        if engine is None:
            G_LOGGER.critical("the runtime cannot open the engine: its logger says why")
        return engine


@mod.export(funcify=True)
class EngineFromPath(BaseLoader):
    """The engine of the file of a plan."""

    def __init__(self, path, runtime=None, dla_workspace_allocation_strategy=None) -> None:
        self.path = path
        self._runtime = runtime

    def call_impl(self):
        return EngineFromBytes(util.load_file(given(self.path), description="engine"), self._runtime)()


@mod.export(funcify=True)
class BytesFromEngine(BaseLoader):
    """The bytes of an engine's plan."""

    def __init__(self, engine) -> None:
        self._engine = engine

    def call_impl(self):
        return bytes(given(self._engine).serialize())


@mod.export(funcify=True)
class BufferFromEngine(BaseLoader):
    """The bytes of an engine's plan, not copied."""

    def __init__(self, engine) -> None:
        self._engine = engine

    def call_impl(self):
        return given(self._engine).serialize()


@mod.export(funcify=True)
class SaveEngine(BaseLoader):
    """Writes the plan of an engine, and gives the engine again."""

    def __init__(self, engine, path) -> None:
        self._engine = engine
        self.path = path

    def call_impl(self):
        engine = given(self._engine)
        util.save_file(engine.serialize(), self.path, description="engine")
        return engine


@mod.export(funcify=True)
class LoadRuntime(BaseLoader):
    """The runtime; there is one only."""

    def __init__(self, path) -> None:
        self.path = path

    def call_impl(self):
        if not os.path.exists(self.path):
            G_LOGGER.critical(f"there is no file `{self.path}`")
        return trt.Runtime(get_trt_logger())


@mod.export(funcify=True)
class OnnxLikeFromNetwork(BaseLoader):
    """A network as an ONNX model, which runs as it is."""

    def __init__(self, network) -> None:
        self._network = network

    def call_impl(self):
        from assay.model import Model

        return Model(given(self._network)[1]._model())
