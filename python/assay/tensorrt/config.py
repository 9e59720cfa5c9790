"""Configurations of builders, with their optimisation profiles and timing caches."""

from __future__ import annotations

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.dims import Dims, IHostMemory, NoOpContext
from assay.tensorrt.enums import BuilderFlag
from assay.tensorrt.logger import note


class IOptimizationProfile(NoOpContext):
    """Least, best and greatest shapes of inputs."""

    def __init__(self) -> None:
        self._shapes: dict = {}
        self._values: dict = {}
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

    def set_shape(self, input, min, opt, max) -> None:
        """The shapes of an input."""
        self._shapes[input] = self._checked(input, (min, opt, max))

    def get_shape(self, input):
        """Those shapes; empty if there are none."""
        return list(self._shapes.get(input, []))

    def set_shape_input(self, input, min, opt, max) -> None:
        """The elements of an input that decides shapes."""
        self._values[input] = self._checked(input, (min, opt, max))

    def get_shape_input(self, input):
        """Those elements; empty if there are none."""
        return list(self._values.get(input, []))


class ITimingCache(NoOpContext):
    """What tactics took."""

    def __init__(self, data=b"") -> None:
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

    def __init__(self, logger) -> None:
        self.__dict__["logger"] = logger
        self._flags = 1 << int(BuilderFlag.TF32)
        self._profiles: list = []
        self._calibration_profile = None
        self._pools: dict = {}
        self._timing_cache: ITimingCache | None = None
        self._previews: dict = {}
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
        self.plugins_to_serialize: list = []
        self.progress_monitor = None
        self.profile_stream = 0
        self.quantization_flags = 0
        self.max_batch_size = 1
        self.tiling_optimization_level = enums.TilingOptimizationLevel.NONE
        self.l2_limit_for_tiling = -1
        self.runtime_platform = enums.RuntimePlatform.SAME_AS_BUILD
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

    def set_flag(self, flag) -> None:
        self._flags |= 1 << int(flag)

    def clear_flag(self, flag) -> None:
        self._flags &= ~(1 << int(flag))

    def get_flag(self, flag) -> bool:
        return bool(self._flags >> int(flag) & 1)

    def set_quantization_flag(self, flag) -> None:
        self.quantization_flags |= 1 << int(flag)

    def clear_quantization_flag(self, flag) -> None:
        self.quantization_flags &= ~(1 << int(flag))

    def get_quantization_flag(self, flag):
        return bool(self.quantization_flags >> int(flag) & 1)

    @property
    def max_workspace_size(self):
        return self.get_memory_pool_limit(enums.MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, value):
        self.set_memory_pool_limit(enums.MemoryPoolType.WORKSPACE, value)

    def set_memory_pool_limit(self, pool, pool_size) -> None:
        """The workspace: memory that a run may take at most. Other pools are no processor's."""
        self._pools[pool] = int(pool_size)

    def get_memory_pool_limit(self, pool):
        return self._pools.get(pool, 0)

    @property
    def num_optimization_profiles(self):
        return len(self._profiles)

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
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

    def create_timing_cache(self, serialized_timing_cache: bytes) -> ITimingCache:
        return ITimingCache(serialized_timing_cache)

    def set_timing_cache(self, cache: ITimingCache, ignore_mismatch: bool) -> bool:
        self._timing_cache = cache
        return True

    def get_timing_cache(self):
        return self._timing_cache

    def set_preview_feature(self, feature, enable) -> None:
        self._previews[feature] = bool(enable)

    def get_preview_feature(self, feature):
        return self._previews.get(feature, False)

    def set_device_type(self, layer, device_type) -> None:
        if device_type != enums.DeviceType.GPU:
            raise PolygraphyException("there is no DLA here")

    def get_device_type(self, layer):
        return enums.DeviceType.GPU

    def reset_device_type(self, layer):
        pass

    def is_device_type_set(self, layer):
        return False

    def can_run_on_DLA(self, layer):
        return False

    def reset(self):
        """As it was made."""
        self.__init__(self.logger)
