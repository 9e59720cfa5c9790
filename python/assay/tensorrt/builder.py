"""Builders: networks with their configurations become plans."""

from __future__ import annotations

import json
import os
import re
import tempfile

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt import enums, pipeline
from assay.tensorrt.algorithms import report_tactics, selecting
from assay.tensorrt.arguments import Attribute, Fixed, Threads, given
from assay.tensorrt.calibrator import calibrated
from assay.tensorrt.config import IBuilderConfig, IOptimizationProfile
from assay.tensorrt.dims import IHostMemory, NoOpContext
from assay.tensorrt.enums import BuilderFlag
from assay.tensorrt.formats import formats_of, in_memory_order, orders_of
from assay.tensorrt.layers.plugin import IPluginV2Layer, IPluginV3Layer
from assay.tensorrt.interfaces import IAlgorithmSelector
from assay.tensorrt.logger import native_log, note, report
from assay.tensorrt.network import INetworkDefinition
from assay.tensorrt.routes import route_settings

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import Any

    from assay.tensorrt.engine import ICudaEngine

FORMATS = "assay.formats"  # of inputs and outputs that are not linear, by name
PROFILES = "assay.profiles"  # of the metadata of a plan's model
NAME = "assay.name"
DEBUG = "assay.debug"  # names of tensors that were marked for debugging, and of those of them that are no outputs
MARKED = "assay.marked"  # names of the only weights that can be refitted
WEIGHTS = "assay.weights"  # names of weights by layers and roles; of plans that can be refitted


def _shape_settings(profiles, open_inputs, formats):
    """Settings of native code: the shapes of each profile, an empty text between two."""
    settings = {"trt-min-shapes": [], "trt-opt-shapes": [], "trt-max-shapes": []}
    for number, profile in enumerate(profiles):
        for texts in settings.values():
            texts.extend([""] if number else [])
        for name in open_inputs:
            if name not in profile._shapes:
                raise PolygraphyException(f"the input `{name}` has open dims and is not in every optimisation profile")
            for texts, dims in zip(settings.values(), profile._shapes[name]):
                texts.append(f"{name}:[{','.join(map(str, in_memory_order(formats.get(name), dims)))}]")
    return settings


def _check_profiles(network, profiles):
    """Refuses profiles that do not fit the inputs of the network."""
    for tensor in network._inputs:
        for triple in (each._shapes[tensor.name] for each in profiles if tensor.name in each._shapes):
            for dims in triple:
                if len(dims) != len(tensor._shape) or any(b >= 0 and a != b for a, b in zip(dims, tensor._shape)):
                    raise PolygraphyException(f"the input `{tensor.name}` has the shape {tensor.shape}, which {dims} of an "
                                              "optimisation profile does not fit")


def _metadata(network, config):
    """What an engine remembers of its network."""
    profiles, values = ([{name: [list(dims) for dims in triple] for name, triple in each.items()} for each in some]
                        for some in ([each._shapes for each in config._profiles], [each._values for each in config._profiles]))
    metadata = [(PROFILES, json.dumps([profiles, values])), (NAME, network.name)]
    if network._debug:
        names = [[each.name for each in some] for some in (network._debug, network._hidden())]
        metadata.append((DEBUG, json.dumps(names)))
    return metadata


def _is_refittable(config):
    flags = (BuilderFlag.REFIT, BuilderFlag.REFIT_INDIVIDUAL, BuilderFlag.STRIP_PLAN)
    return any(config.get_flag(each) for each in flags)


def _precision_settings(network, config):
    """Settings of native code: what layers were told, where the configuration heeds it."""
    is_obeyed = config._has("OBEY_PRECISION_CONSTRAINTS") or config._has("STRICT_TYPES")
    if not is_obeyed and not config._has("PREFER_PRECISION_CONSTRAINTS"):
        return {}
    types = []
    for layer in network._layers:
        if layer._kind == enums.LayerType.CONSTANT:
            continue
        told = layer._precision or layer._output_types.get(0)
        if told in _PRECISIONS:
            # Patterns of names: what is special in them stands for any letter.
            types.append(f"{re.sub(r'[][*?]', '?', layer.name)}:{_PRECISIONS[told]}")
    return {"precision-constraints": ["obey" if is_obeyed else "prefer"], **({"layer-precisions": types} if types else {})}


def _debug_settings(network):
    hidden = [each.name for each in network._hidden()]
    return {"mark-debug": hidden} if hidden else {}


_PRECISIONS = {enums.DataType.FLOAT: "fp32", enums.DataType.HALF: "fp16", enums.DataType.BF16: "bf16"}


class _Phases:
    """Tells a progress monitor the steps of a build, and layers as they are planned; ends it where the monitor says so."""

    NAME, STEPS = "Building the engine", 3  # the network as a model, calibration, the plan
    PLAN = "Planning layers"

    def __init__(self, monitor) -> None:
        self.monitor = monitor
        self.done = 0
        self.is_planning = False

    def __enter__(self):
        if self.monitor is not None:
            self.monitor.phase_start(self.NAME, None, self.STEPS)
        return self

    def step(self) -> None:
        """One more is done."""
        if self.monitor is not None and self.monitor.step_complete(self.NAME, self.done) is False:
            raise PolygraphyException("the progress monitor ended the build")
        self.done += 1

    def layer(self, done, total):
        """Native code plans a layer, the first one again for each profile; whether the build goes on."""
        if self.monitor is None:
            return True
        if done == 1:
            self.end_plan()
            self.monitor.phase_start(self.PLAN, self.NAME, total)
            self.is_planning = True
        return self.monitor.step_complete(self.PLAN, done - 1) is not False

    def end_plan(self) -> None:
        """All layers are planned."""
        if self.is_planning:
            self.is_planning = False
            self.monitor.phase_finish(self.PLAN)

    def __exit__(self, *exc_info):
        if self.monitor is not None:
            self.end_plan()
            self.monitor.phase_finish(self.NAME)


class Builder(NoOpContext):
    """Builds engines of networks."""

    logger = property(lambda self: self._logger, doc="Who is told of the build.")
    max_threads = Threads("How many threads build; all that the processor has until it is set.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    gpu_allocator = Attribute(None, None, "Not asked: memory is that of the process.")
    num_DLA_cores = Fixed(0)
    max_DLA_batch_size = Fixed(0)
    platform_has_fast_fp16 = Fixed(False, "Float32 is faster.")
    platform_has_fast_int8 = Fixed(True)
    platform_has_tf32 = Fixed(False)
    max_batch_size = Attribute(int, 1, "Of older versions: batches are dims.")
    max_workspace_size = Attribute(int, 0, "Of older versions: a configuration has it.")
    strict_type_constraints = Attribute(bool, False, "Of older versions: a configuration has it.")

    def __init__(self, logger) -> None:
        self._logger = logger

    def create_network(self, flags: int = 0) -> INetworkDefinition:
        """An empty network. Batches are always dims of their own."""
        return INetworkDefinition(self.logger, int(flags), self)

    def create_builder_config(self) -> IBuilderConfig:
        return IBuilderConfig(self.logger)

    def create_optimization_profile(self) -> IOptimizationProfile:
        return IOptimizationProfile(self.logger)

    def is_network_supported(self, network: INetworkDefinition, config: IBuilderConfig) -> bool:
        """Whether the network is whole."""
        return not any(each[0] == 2 for each in network._model().findings)

    def get_plugin_registry(self):
        from assay.tensorrt.plugins import get_plugin_registry

        return get_plugin_registry()

    def reset(self):
        pass

    def build_serialized_network(self, network: INetworkDefinition, config: IBuilderConfig) -> IHostMemory | Any:
        """The bytes of a plan; None if the network cannot be built, which the logger is told."""
        try:
            return self._build(network, config)
        except PolygraphyException as error:
            report(self, error)
            return None

    def build_serialized_network_to_stream(self, network, config, writer):
        """Gives an IStreamWriter the bytes of a plan; whether there is one."""
        plan = self.build_serialized_network(network, config)
        return plan is not None and writer.write(plan) == len(plan)

    def build_engine(self, network: INetworkDefinition, config: IBuilderConfig) -> ICudaEngine | Any:
        """The engine; None if it cannot be built."""
        from assay.tensorrt.engine import Runtime

        plan = self.build_serialized_network(network, config)
        if plan is None:
            return None
        runtime = Runtime(self.logger)
        runtime.error_recorder = self.error_recorder
        return runtime.deserialize_cuda_engine(plan)

    build_engine_with_config = build_engine

    def build_cuda_engine(self, network):
        """As build_engine() with an empty configuration."""
        return self.build_engine(network, self.create_builder_config())

    def settings(self, network, config):
        """What native code is told of a configuration: values by the names of the engine's settings."""
        config._check_devices()
        formats = formats_of(network)
        _check_profiles(network, config._profiles)
        open_inputs = [each.name for each in network._inputs if any(dim < 0 for dim in each._shape)]
        if open_inputs and not config._profiles:
            raise PolygraphyException(f"the inputs {open_inputs} have open dims: an optimisation profile is needed")
        settings = {**(_shape_settings(config._profiles, open_inputs, formats) if open_inputs else {}), **self._flags(config),
                    **_precision_settings(network, config), **_debug_settings(network)}
        for name, values in route_settings(config.build_route).items():
            settings.pop(name, None)
            if values is not None:
                settings[name] = values
        return settings

    def _build(self, network, config):
        if not network._outputs:
            raise PolygraphyException("the network has no outputs: mark_output() makes some")
        for each in network._constructs:
            each._check()
        with selecting(given(config, "algorithm_selector")), _Phases(config.progress_monitor) as phases, tempfile.TemporaryDirectory(prefix="assay-") as folder:
            settings = self.settings(network, config)
            if any(isinstance(each, (IPluginV2Layer, IPluginV3Layer)) for each in network._layers):
                return self._build_pipeline(network, config, settings, phases)
            model = self._model(network, config)
            phases.step()
            model = calibrated(model, network, config, self.logger)
            phases.step()
            self._add_cache(config, folder, settings)
            plan = self._plan(model, settings, phases)
            phases.step()
            self._read_cache(config, folder)
            report_tactics(given(config, "algorithm_selector"), plan)
            return IHostMemory(plan)

    def _plan(self, model, settings, phases):
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "plan")
            wanted = _native.Wanted("engine", settings, [], Threads.of(self))
            _native.build_plan(model, path, wanted, native_log(self.logger), phases.layer)
            phases.end_plan()
            with open(path, "rb") as file:
                return file.read()

    def _build_pipeline(self, network, config, settings, phases):
        """An engine with plugins; its parts have any shapes, and no calibration."""
        if formats_of(network):
            raise PolygraphyException("inputs and outputs of a network with plugins are LINEAR")
        settings = {name: values for name, values in settings.items()
                    if not name.startswith("trt-") and name != "mark-debug"}
        header = {"metadata": dict(_metadata(network, config))}
        made = pipeline.build(network, header, lambda model: self._plan(_native.infer_shapes(model), settings, phases))
        for _ in range(phases.STEPS):
            phases.step()
        return IHostMemory(made)

    def _model(self, network, config):
        from assay.graphsurgeon import export_onnx

        formats = formats_of(network)
        graph = network._graph(network._outputs, orders=orders_of(network))
        metadata = _metadata(network, config)
        if formats:
            metadata.append((FORMATS, json.dumps({name: each.name for name, each in formats.items()})))
        if _is_refittable(config):
            metadata.append((WEIGHTS, json.dumps(graph._weights)))
        if config.get_flag(BuilderFlag.REFIT_INDIVIDUAL):
            metadata.append((MARKED, json.dumps(sorted(network._refittable))))
        return _native.infer_shapes(export_onnx(graph, do_type_check=False, metadata=metadata).native)

    @staticmethod
    def _flags(config):
        settings = {"builder-optimization-level": [str(config.builder_optimization_level)]}
        if config.max_num_tactics > 0:
            settings["max-tactics"] = [str(config.max_num_tactics)]
        for flag, name in (("BF16", "bf16"), ("FP16", "fp16"), ("INT8", "int8"), ("STRICT_NANS", "strict"),
                           ("STRIP_PLAN", "strip-plan")):
            if config._has(flag):
                settings[name] = []
        if _is_refittable(config):
            settings["refittable"] = []
        selector = given(config, "algorithm_selector")
        if isinstance(selector, IAlgorithmSelector) and \
                type(selector).select_algorithms is not IAlgorithmSelector.select_algorithms:
            note(config.logger, "select_algorithms() is not asked; TacticReplayer prescribes tactics")
        settings.update(getattr(selector, "assay_settings", {}))
        return settings

    @staticmethod
    def _add_cache(config, folder, settings):
        cache = config._timing_cache
        if cache is None or config.get_flag(BuilderFlag.DISABLE_TIMING_CACHE):
            return
        path = os.path.join(folder, "cache")
        if cache._data:
            with open(path, "wb") as file:
                file.write(cache._data)
            settings["load-timing-cache"] = [path]
        settings["save-timing-cache"] = [path]

    @staticmethod
    def _read_cache(config, folder):
        path = os.path.join(folder, "cache")
        if config._timing_cache is not None and os.path.exists(path):
            with open(path, "rb") as file:
                config._timing_cache._data = file.read()
