"""Builders, their configurations and optimisation profiles."""

import json
import os
import tempfile

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.calibrator import calibrated
from assay.tensorrt.dims import Dims, IHostMemory, NoOpContext
from assay.tensorrt.enums import BuilderFlag
from assay.tensorrt.logger import Severity, native_log, note
from assay.tensorrt.network import INetworkDefinition

PROFILES = "assay.profiles"  # of the metadata of a plan's model
NAME = "assay.name"


class IOptimizationProfile(NoOpContext):
    """Least, best and greatest shapes of inputs."""

    def __init__(self):
        self._shapes = {}
        self._values = {}
        self.extra_memory_target = 1.0

    def __bool__(self):
        return True

    @staticmethod
    def _checked(name, given):
        triple = [Dims(each) for each in given]
        if len({len(each) for each in triple}) != 1:
            raise PolygraphyException(f"the shapes of `{name}` in a profile have different ranks: {triple}")
        for low, best, high in zip(*triple):
            if not 0 <= low <= best <= high:
                raise PolygraphyException(f"the shapes of `{name}` in a profile do not ascend: {triple}")
        return triple

    def set_shape(self, input, min, opt, max):
        """The shapes of an input."""
        self._shapes[input] = self._checked(input, (min, opt, max))

    def get_shape(self, input):
        """Those shapes; empty if there are none."""
        return list(self._shapes.get(input, []))

    def set_shape_input(self, input, min, opt, max):
        """The elements of an input that decides shapes."""
        self._values[input] = self._checked(input, (min, opt, max))

    def get_shape_input(self, input):
        """Those elements; empty if there are none."""
        return list(self._values.get(input, []))


class ITimingCache(NoOpContext):
    """What tactics took."""

    def __init__(self, data=b""):
        self._data = bytes(data)

    def serialize(self):
        return IHostMemory(self._data)

    def combine(self, input_cache, ignore_mismatch):
        """Takes the other cache if this one is empty."""
        if not self._data:
            self._data = input_cache._data
        return not input_cache._data or self._data == input_cache._data

    def reset(self):
        self._data = b""
        return True


class IBuilderConfig(NoOpContext):
    """What a builder may do."""

    def __init__(self, logger):
        self.__dict__["logger"] = logger
        self._flags = 1 << int(BuilderFlag.TF32)
        self._profiles = []
        self._calibration_profile = None
        self._pools = {}
        self._timing_cache = None
        self._previews = {}
        self.int8_calibrator = None
        self.algorithm_selector = None
        self.profiling_verbosity = enums.ProfilingVerbosity.LAYER_NAMES_ONLY
        self.builder_optimization_level = 3
        self.max_num_tactics = -1
        self.avg_timing_iterations = 1
        self.min_timing_iterations = 1
        self.engine_capability = enums.EngineCapability.STANDARD
        self.hardware_compatibility_level = enums.HardwareCompatibilityLevel.NONE
        self.default_device_type = enums.DeviceType.GPU
        self.DLA_core = -1
        self.max_aux_streams = 0
        self.plugins_to_serialize = []
        self.progress_monitor = None
        self.profile_stream = 0
        self.quantization_flags = 0
        self.max_batch_size = 1
        self.tiling_optimization_level = 0
        self.l2_limit_for_tiling = -1
        self.runtime_platform = 0
        self._tactic_sources = (1 << len(enums.TacticSource)) - 1
        self._is_made = True

    def __setattr__(self, name, value):
        if not name.startswith("_") and name not in self.__dict__ and not hasattr(type(self), name) and \
                "_is_made" in self.__dict__:
            note(self.logger, f"a builder's configuration has no `{name}`"
                              + ("; did you mean `flags`?" if name == "flag" else ""))
        object.__setattr__(self, name, value)

    @property
    def flags(self):
        return self._flags

    @flags.setter
    def flags(self, value):
        self._flags = int(value)

    def set_flag(self, flag):
        self._flags |= 1 << int(flag)

    def clear_flag(self, flag):
        self._flags &= ~(1 << int(flag))

    def get_flag(self, flag):
        return bool(self._flags >> int(flag) & 1)

    def set_quantization_flag(self, flag):
        self.quantization_flags |= 1 << int(flag)

    def clear_quantization_flag(self, flag):
        self.quantization_flags &= ~(1 << int(flag))

    def get_quantization_flag(self, flag):
        return bool(self.quantization_flags >> int(flag) & 1)

    @property
    def max_workspace_size(self):
        return self.get_memory_pool_limit(enums.MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, value):
        self.set_memory_pool_limit(enums.MemoryPoolType.WORKSPACE, value)

    def set_memory_pool_limit(self, pool, pool_size):
        """The workspace: memory that a run may take at most. Other pools are no processor's."""
        self._pools[pool] = int(pool_size)

    def get_memory_pool_limit(self, pool):
        return self._pools.get(pool, 0)

    @property
    def num_optimization_profiles(self):
        return len(self._profiles)

    def add_optimization_profile(self, profile):
        """Gives the number of the profile."""
        if not isinstance(profile, IOptimizationProfile):
            raise TypeError(f"expected an optimisation profile, not a {type(profile).__name__}")
        self._profiles.append(profile)
        return len(self._profiles) - 1

    def set_calibration_profile(self, profile):
        self._calibration_profile = profile
        return True

    def get_calibration_profile(self):
        return self._calibration_profile

    def set_tactic_sources(self, tactic_sources):
        self._tactic_sources = int(tactic_sources)
        return True

    def get_tactic_sources(self):
        return self._tactic_sources

    def create_timing_cache(self, serialized_timing_cache):
        return ITimingCache(serialized_timing_cache)

    def set_timing_cache(self, cache, ignore_mismatch):
        self._timing_cache = cache
        return True

    def get_timing_cache(self):
        return self._timing_cache

    def set_preview_feature(self, feature, enable):
        self._previews[feature] = bool(enable)

    def get_preview_feature(self, feature):
        return self._previews.get(feature, False)

    def set_device_type(self, layer, device_type):
        if device_type != enums.DeviceType.GPU:
            raise PolygraphyException("there is no DLA here")

    def get_device_type(self, layer):
        return enums.DeviceType.GPU

    def is_device_type_set(self, layer):
        return False

    def can_run_on_DLA(self, layer):
        return False

    def reset(self):
        """As it was made."""
        self.__init__(self.logger)


def _shape_settings(profiles, open_inputs):
    """Settings of native code: the shapes of each profile, an empty text between two."""
    settings = {"trt-min-shapes": [], "trt-opt-shapes": [], "trt-max-shapes": []}
    for number, profile in enumerate(profiles):
        for texts in settings.values():
            texts.extend([""] if number else [])
        for name in open_inputs:
            if name not in profile._shapes:
                raise PolygraphyException(f"the input `{name}` has open dims and is not in every optimisation profile")
            for texts, dims in zip(settings.values(), profile._shapes[name]):
                texts.append(f"{name}:[{','.join(map(str, dims))}]")
    return settings


class Builder(NoOpContext):
    """Builds engines of networks."""

    def __init__(self, logger):
        self.logger = logger
        self.max_batch_size = 1
        self.max_workspace_size = 0
        self.max_threads = 0
        self.platform_has_fast_fp16 = False
        self.platform_has_fast_int8 = True
        self.platform_has_tf32 = False
        self.num_DLA_cores = 0
        self.max_DLA_batch_size = 0
        self.error_recorder = None
        self.strict_type_constraints = False

    def create_network(self, flags=0):
        """An empty network. Batches are always dims of their own."""
        network = INetworkDefinition(self.logger, int(flags))
        network.builder = self
        return network

    def create_builder_config(self):
        return IBuilderConfig(self.logger)

    def create_optimization_profile(self):
        return IOptimizationProfile()

    def is_network_supported(self, network, config):
        """Whether the network is whole."""
        return not any(each[0] == 2 for each in network._model().findings)

    def get_plugin_registry(self):
        from assay.tensorrt.plugins import get_plugin_registry

        return get_plugin_registry()

    def reset(self):
        pass

    def _tell(self, severity, text):
        if self.logger is not None:
            self.logger.log(severity, text)

    def build_serialized_network(self, network, config):
        """The bytes of a plan; None if the network cannot be built, which the logger is told."""
        try:
            return self._build(network, config)
        except PolygraphyException as error:
            self._tell(Severity.ERROR, str(error))
            return None

    def build_engine(self, network, config):
        """The engine; None if it cannot be built."""
        from assay.tensorrt.engine import Runtime

        plan = self.build_serialized_network(network, config)
        return None if plan is None else Runtime(self.logger).deserialize_cuda_engine(plan)

    build_engine_with_config = build_engine

    def build_cuda_engine(self, network):
        """As build_engine() with an empty configuration."""
        return self.build_engine(network, self.create_builder_config())

    def settings(self, network, config):
        """What native code is told of a configuration: values by the names of the engine's settings."""
        open_inputs = [each.name for each in network._inputs if any(dim < 0 for dim in each._shape)]
        if open_inputs and not config._profiles:
            raise PolygraphyException(f"the inputs {open_inputs} have open dims: an optimisation profile is needed")
        return {**(_shape_settings(config._profiles, open_inputs) if open_inputs else {}), **self._flags(config)}

    def _build(self, network, config):
        if not network._outputs:
            raise PolygraphyException("the network has no outputs: mark_output() makes some")
        for each in network._constructs:
            each._check()
        settings = self.settings(network, config)
        model = calibrated(self._model(network, config), network, config, self.logger)
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            plan = os.path.join(folder, "plan")
            self._add_cache(config, folder, settings)
            wanted = _native.Wanted("engine", settings, [], self.max_threads)
            _native.build_plan(model, plan, wanted, native_log(self.logger))
            self._read_cache(config, folder)
            with open(plan, "rb") as file:
                return IHostMemory(file.read())

    def _model(self, network, config):
        from assay.graphsurgeon import export_onnx

        profiles = [{name: [list(dims) for dims in triple] for name, triple in each._shapes.items()}
                    for each in config._profiles]
        values = [{name: [list(dims) for dims in triple] for name, triple in each._values.items()}
                  for each in config._profiles]
        metadata = [(PROFILES, json.dumps([profiles, values])), (NAME, network.name)]
        return _native.infer_shapes(export_onnx(network._graph(), do_type_check=False, metadata=metadata).native)

    @staticmethod
    def _flags(config):
        settings = {}
        for flag, name in ((BuilderFlag.BF16, "bf16"), (BuilderFlag.FP16, "fp16"), (BuilderFlag.INT8, "int8"),
                           (BuilderFlag.STRICT_NANS, "strict")):
            if config.get_flag(flag):
                settings[name] = []
        settings.update(getattr(config.algorithm_selector, "assay_settings", {}))
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
