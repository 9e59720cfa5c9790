"""Configurations of builders, with their optimisation profiles and timing caches."""

import os

from assay.config import TENSORRT_GENERATION as GENERATION
from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Attribute, Fixed, Shape, Values, checked
from assay.tensorrt.capabilities import Capabilities
from assay.tensorrt.dims import Dims, IHostMemory, NoOpContext
from assay.tensorrt.enums import BuilderFlag
from assay.tensorrt.layers import ILayer
from assay.tensorrt.logger import note, say
from assay.tensorrt.routes import ROUTES, route_settings


def _ascends(triple):
    """Whether all are of one length, and each number is not greater than that of the next one."""
    return len({len(each) for each in triple}) == 1 and all(list(each) == sorted(each) for each in zip(*triple))


class IOptimizationProfile(NoOpContext):
    """Least, best and greatest shapes of inputs."""

    def __init__(self, logger=None) -> None:
        self._logger = logger
        self._shapes: dict = {}
        self._values: dict = {}
        self._target = 1.0

    @property
    def extra_memory_target(self):
        """0 to 1; accepted."""
        return self._target

    @extra_memory_target.setter
    def extra_memory_target(self, value):
        if 0 <= value <= 1:
            self._target = float(value)
        else:
            say(self._logger, f"the extra memory target {value} is not within 0 and 1")

    def __bool__(self):
        """Whether least, best and greatest are of one rank and in this order everywhere."""
        wrong = [name for name, triple in self._shapes.items() if not _ascends(triple)]
        if wrong:
            say(self._logger, f"the optimisation profile is not valid: the shapes of {', '.join(wrong)} do not ascend from min "
                              "over opt to max")
        return not wrong

    @checked
    def set_shape(self, input: str, min: Shape, opt: Shape, max: Shape) -> None:
        """The shapes of an input. Negative dims are refused; an order that they do not have makes the profile invalid."""
        for word, dims in (("min", min), ("opt", opt), ("max", max)):
            if any(each < 0 for each in dims):
                raise RuntimeError(f"Shape provided for {word} is inconsistent with other shapes.")
        self._shapes[input] = [min, opt, max]

    def get_shape(self, input):
        """Those shapes; empty if there are none."""
        return list(self._shapes.get(input, []))

    @checked
    def set_shape_input(self, input: str, min: Values, opt: Values, max: Values) -> None:
        """The elements of an input that decides shapes; refused where they do not ascend."""
        for word, low, high in (("opt", min, opt), ("max", opt, max)):
            if not _ascends([low, high]):
                raise RuntimeError(f"{word} input provided for shape tensor is inconsistent with other inputs.")
        self._values[input] = [Dims(each) for each in (min, opt, max)]

    def get_shape_input(self, input):
        """Those elements; empty if there are none."""
        return list(self._values.get(input, []))


class TimingCacheKey:
    """What a tactic is of."""

    def __init__(self, data=b"") -> None:
        self.data = bytes(data)

    @staticmethod
    def parse(text):
        """The key of its text."""
        if not text.lower().startswith("0x"):
            raise ValueError("The text should start with prefix `0x` or `0X`.")
        return TimingCacheKey(bytes.fromhex(text[2:]))

    def __str__(self):
        return "0x" + self.data.hex()


class TimingCacheValue:
    """A tactic, and what it took."""

    tacticHash, timingMSec = 0, 0.0

    def __init__(self, tacticHash=0, timingMSec=0.0) -> None:
        self.tacticHash, self.timingMSec = tacticHash, timingMSec


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

    def _refuse(self, name):
        raise PolygraphyException(f"{name}() is not there: `assay inspect tactics` shows what a build has chosen")

    def query(self, key):
        """Refused."""
        self._refuse("query")

    def queryKeys(self, keys):
        """Refused."""
        self._refuse("queryKeys")

    def update(self, key, value):
        """Refused."""
        self._refuse("update")


_ON = (enums.PreviewFeature.FASTER_DYNAMIC_SHAPES_0805,
       enums.PreviewFeature.DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805)  # by default
_POOLS = {enums.MemoryPoolType.DLA_LOCAL_DRAM: 1 << 30, enums.MemoryPoolType.DLA_GLOBAL_DRAM: 512 << 20}


class IBuilderConfig(Capabilities, NoOpContext):
    """What a builder may do."""

    profiling_verbosity = Attribute(enums.ProfilingVerbosity, enums.ProfilingVerbosity.LAYER_NAMES_ONLY,
                                    "Accepted: engines tell all of their layers.")
    engine_capability = Attribute(enums.EngineCapability, enums.EngineCapability.STANDARD, "Accepted.")
    hardware_compatibility_level = Attribute(enums.HardwareCompatibilityLevel, enums.HardwareCompatibilityLevel.NONE,
                                             "Accepted.")
    default_device_type = Attribute(enums.DeviceType, enums.DeviceType.GPU,
                                    "DLA needs BuilderFlag.GPU_FALLBACK: there is none here.")
    runtime_platform = Attribute(enums.RuntimePlatform, enums.RuntimePlatform.SAME_AS_BUILD, "Accepted.")
    tiling_optimization_level = Attribute(enums.TilingOptimizationLevel, enums.TilingOptimizationLevel.NONE, "Accepted.")
    l2_limit_for_tiling = Attribute(int, 0, "Accepted.")
    max_num_tactics = Attribute(int, -1, "Most tactics that are measured for a layer; -1: what the level says.")
    max_aux_streams = Attribute(int, -1, "Accepted.")
    avg_timing_iterations = Attribute(int, 1, "Accepted.")
    min_timing_iterations = Attribute(int, 1, "Accepted.")
    profile_stream = Attribute(int, 0, "Accepted.")
    max_batch_size = Attribute(int, 1, "Of older versions: batches are dims.")
    remote_auto_tuning_config = Attribute(str, "", "Accepted.")
    all_build_routes = Fixed(ROUTES, "The choices that a build leaves open, as JSON.")
    quantization_flags = Attribute(int, 0, "A mask of QuantizationFlag; accepted.")
    progress_monitor = Attribute(None, None, "Is told the steps of a build, and ends it.")
    int8_calibrator = Attribute(None, None, "Decides the scales of 8-bit integers.")
    algorithm_selector = Attribute(None, None, "Is told the tactics of a build.")

    def __init__(self, logger) -> None:
        self.__dict__.clear()
        self._logger = logger
        self._flags = 1 << int(BuilderFlag.TF32)
        self._profiles: list = []
        self._calibration_profile = None
        self._pools: dict = {}
        self._timing_cache: ITimingCache | None = None
        self._previews = {each: True for each in _ON if not GENERATION}
        self._devices: dict = {}
        self._capabilities: list = []
        self._level = 3
        self._route = ""
        self._plugins: list = []
        self._tactic_sources = (1 << len(enums.TacticSource)) - 1

    def __setattr__(self, name, value):
        if not name.startswith("_") and not hasattr(type(self), name):
            if GENERATION:
                raise AttributeError(f"'IBuilderConfig' object has no attribute '{name}'")
            note(self.logger, f"a builder's configuration has no `{name}`"
                              + ("; did you mean `flags`?" if name == "flag" else ""))
        object.__setattr__(self, name, value)

    logger = property(lambda self: self._logger, doc="Who is told of mistakes.")

    @property
    def builder_optimization_level(self):
        """How long tactics are measured, from 0, not at all, to 5; greater numbers are 5."""
        return self._level

    @builder_optimization_level.setter
    def builder_optimization_level(self, value):
        if not isinstance(value, int):
            raise TypeError(f"incompatible function arguments: `builder_optimization_level` is {value!r}, expected is an int")
        if value < 0:
            say(self.logger, f"there is no builder optimisation level {value}")
            return
        self._level = min(value, 5)

    @property
    def build_route(self):
        """Choices of a build, as `-tactics=first -bf16=on`; `assay bench --tuneBuildRoutes` finds the best."""
        return self._route

    @build_route.setter
    def build_route(self, value):
        if not isinstance(value, str):
            raise TypeError(f"incompatible function arguments: `build_route` is {value!r}, expected is a str")
        try:
            route_settings(value)
        except PolygraphyException as error:
            say(self.logger, str(error))
            return
        self._route = value

    @property
    def DLA_core(self):
        """-1: there is none."""
        return -1

    @DLA_core.setter
    def DLA_core(self, value):
        if value != -1:
            note(self.logger, f"there is no DLA here: its core {value} is not taken")

    @property
    def plugins_to_serialize(self):
        """Accepted: plans hold no code."""
        return self._plugins

    @plugins_to_serialize.setter
    def plugins_to_serialize(self, value):
        self._plugins = list(value)

    @property
    def flags(self):
        """A mask of BuilderFlag."""
        return self._flags

    @flags.setter
    def flags(self, value):
        self._flags = int(value)

    @checked
    def set_flag(self, flag: BuilderFlag) -> None:
        self._flags |= 1 << int(flag)

    @checked
    def clear_flag(self, flag: BuilderFlag) -> None:
        self._flags &= ~(1 << int(flag))

    @checked
    def get_flag(self, flag: BuilderFlag) -> bool:
        return bool(self._flags >> int(flag) & 1)

    def _has(self, name):
        """Whether the flag of the name is set; a generation may not have it."""
        flag = BuilderFlag.__members__.get(name)
        return flag is not None and self.get_flag(flag)

    @checked
    def set_quantization_flag(self, flag: enums.QuantizationFlag) -> None:
        self.quantization_flags |= 1 << int(flag)

    @checked
    def clear_quantization_flag(self, flag: enums.QuantizationFlag) -> None:
        self.quantization_flags &= ~(1 << int(flag))

    @checked
    def get_quantization_flag(self, flag: enums.QuantizationFlag):
        return bool(self.quantization_flags >> int(flag) & 1)

    @property
    def max_workspace_size(self):
        return self.get_memory_pool_limit(enums.MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, value):
        self.set_memory_pool_limit(enums.MemoryPoolType.WORKSPACE, value)

    @checked
    def set_memory_pool_limit(self, pool: enums.MemoryPoolType, pool_size: int) -> None:
        """The workspace: memory that a run may take at most. Other pools are no processor's."""
        self._pools[pool] = pool_size

    @checked
    def get_memory_pool_limit(self, pool: enums.MemoryPoolType):
        """What was set, or what a build has otherwise: all memory of the machine."""
        if pool in self._pools:
            return self._pools[pool]
        if pool in (enums.MemoryPoolType.WORKSPACE, enums.MemoryPoolType.TACTIC_DRAM):
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return _POOLS.get(pool, 0)

    @property
    def num_optimization_profiles(self):
        return len(self._profiles)

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Gives the number of the profile; -1 for one that is not valid, which the logger is told."""
        if not isinstance(profile, IOptimizationProfile):
            raise TypeError(f"expected an optimisation profile, not a {type(profile).__name__}")
        if not profile:
            say(self.logger, "the optimisation profile is not added: it is not valid")
            return -1
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

    @checked
    def set_preview_feature(self, feature: enums.PreviewFeature, enable: bool) -> None:
        """Accepted."""
        self._previews[feature] = enable

    @checked
    def get_preview_feature(self, feature: enums.PreviewFeature):
        return self._previews.get(feature, False)

    @checked
    def set_device_type(self, layer: ILayer, device_type: enums.DeviceType) -> None:
        """DLA needs BuilderFlag.GPU_FALLBACK: there is none here."""
        self._devices[layer] = device_type

    def get_device_type(self, layer):
        return self._devices.get(layer, self.default_device_type)

    def reset_device_type(self, layer) -> None:
        self._devices.pop(layer, None)

    def is_device_type_set(self, layer):
        return layer in self._devices

    def can_run_on_DLA(self, layer):
        return False

    def _check_devices(self):
        """Refuses a build whose layers may run on what is not there only."""
        wanted = {self.default_device_type, *self._devices.values()}
        if enums.DeviceType.DLA in wanted and not self.get_flag(BuilderFlag.GPU_FALLBACK):
            raise PolygraphyException("there is no DLA here; BuilderFlag.GPU_FALLBACK lets layers run elsewhere")

    def reset(self):
        """As it was made."""
        self.__init__(self.logger)
