"""Configurations of builders."""

import copy
import os

from assay import mod, util
from assay import tensorrt as trt
from assay.backend.base.loader import BaseLoader
from assay.backend.trt.profile import Profile
from assay.backend.trt.util import fail_unavailable, try_setup_polygraphy_calibrator
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...

FLAGS = {"tf32": "TF32", "fp16": "FP16", "int8": "INT8", "fp8": "FP8", "bf16": "BF16", "refittable": "REFIT",
         "sparse_weights": "SPARSE_WEIGHTS", "strip_plan": "STRIP_PLAN", "direct_io": "DIRECT_IO",
         "restricted": "SAFETY_SCOPE", "version_compatible": "VERSION_COMPATIBLE",
         "exclude_lean_runtime": "EXCLUDE_LEAN_RUNTIME", "allow_gpu_fallback": "GPU_FALLBACK",
         "error_on_timing_cache_miss": "ERROR_ON_TIMING_CACHE_MISS",
         "disable_compilation_cache": "DISABLE_COMPILATION_CACHE", "weight_streaming": "WEIGHT_STREAMING"}
# Settings that are kept as attributes of the configuration.
ATTRIBUTES = ("builder_optimization_level", "hardware_compatibility_level", "max_aux_streams", "engine_capability",
              "progress_monitor", "runtime_platform", "tiling_optimization_level")
OTHERS = ("profiles", "precision_constraints", "load_timing_cache", "algorithm_selector", "tactic_sources",
          "profiling_verbosity", "memory_pool_limits", "preview_features", "quantization_flags", "obey_precision_constraints")
PRECISIONS = {"obey": "OBEY_PRECISION_CONSTRAINTS", "prefer": "PREFER_PRECISION_CONSTRAINTS"}


@mod.export(funcify=True)
class CreateConfig(BaseLoader):
    """A configuration, called with (builder, network). Arguments have the names of Polygraphy's, and are attributes."""

    def __init__(self, tf32=None, fp16=None, int8=None, fp8=None, bf16=None, calibrator=None, use_dla=None,
                 allow_gpu_fallback=None, **kwargs) -> None:
        for name in kwargs:
            if name not in FLAGS and name not in ATTRIBUTES and name not in OTHERS:
                near = util.find_str_in_iterable(name, [*FLAGS, *ATTRIBUTES, *OTHERS])
                raise TypeError(f"CreateConfig has no argument `{name}`" + (f"; did you mean `{near}`?" if near else ""))
        given: dict = {"tf32": tf32, "fp16": fp16, "int8": int8, "fp8": fp8, "bf16": bf16,
                 "allow_gpu_fallback": allow_gpu_fallback, **kwargs}
        for name in FLAGS:
            setattr(self, name, util.default(given.get(name), False))
        for name in {*ATTRIBUTES, *OTHERS} - {"load_timing_cache", "profiles"}:
            setattr(self, name, given.get(name))
        self.timing_cache_path = given.get("load_timing_cache")
        self.calibrator = calibrator
        self.use_dla = util.default(use_dla, False)
        self.profiles = util.default(given.get("profiles"), [Profile()])
        if self.calibrator is not None and not given["int8"]:
            G_LOGGER.warning("a calibrator is given, but 8-bit integers are not permitted: int8=True permits them")
        if given.get("exclude_lean_runtime") and not given.get("version_compatible"):
            G_LOGGER.critical("exclude_lean_runtime needs version_compatible")

    def call_impl(self, builder, network):
        config = builder.create_builder_config()
        config.clear_flag(trt.BuilderFlag.TF32)
        for name, flag in FLAGS.items():
            if getattr(self, name):
                if flag not in trt.BuilderFlag.__members__:
                    fail_unavailable(f"{name} in {type(self).__name__}")
                config.set_flag(trt.BuilderFlag[flag])
        if self.use_dla:
            config.default_device_type = trt.DeviceType.DLA
            config.DLA_core = 0
        self._set_precision(config)
        self._set_others(config)
        if network is not None:
            self._add_profiles(builder, network, config)
        return config

    def _set_precision(self, config):
        constraint = "obey" if self.obey_precision_constraints else self.precision_constraints
        if constraint in PRECISIONS:
            config.set_flag(trt.BuilderFlag[PRECISIONS[constraint]])
        elif constraint not in (None, "none"):
            G_LOGGER.critical(f"there is no precision constraint `{constraint}`; known are obey, prefer and none")

    def _set_others(self, config):
        config.profiling_verbosity = util.default(self.profiling_verbosity, trt.ProfilingVerbosity.DETAILED)
        for pool, size in (self.memory_pool_limits or {}).items():
            config.set_memory_pool_limit(pool, size)
        for name in ATTRIBUTES:
            if getattr(self, name) is not None:
                setattr(config, name, getattr(self, name))
        if self.tactic_sources is not None:
            config.set_tactic_sources(sum(1 << int(each) for each in self.tactic_sources))
        if self.preview_features is not None:
            for feature in trt.PreviewFeature:
                config.set_preview_feature(feature, feature in self.preview_features)
        for flag in trt.QuantizationFlag if self.quantization_flags is not None else ():
            (config.set_quantization_flag if flag in self.quantization_flags else config.clear_quantization_flag)(flag)
        if self.algorithm_selector is not None:
            config.algorithm_selector = self.algorithm_selector
        self._load_cache(config)

    def _load_cache(self, config):
        source, data = self.timing_cache_path, b""
        if source is None and self.algorithm_selector is not None:
            config.set_flag(trt.BuilderFlag.DISABLE_TIMING_CACHE)
            return
        if source is not None and (util.is_file_like(source) or os.path.exists(source)):
            data = util.load_file(source, description="timing cache")
        elif source is not None:
            G_LOGGER.warning(f"there is no timing cache `{source}`; an empty one is used")
        config.set_timing_cache(config.create_timing_cache(data), ignore_mismatch=False)

    def _add_profiles(self, builder, network, config):
        profiles = [Profile(copy.deepcopy(each)).fill_defaults(network) for each in self.profiles]
        for number, profile in enumerate(profiles):
            if config.add_optimization_profile(profile.to_trt(builder, network)) < 0:
                G_LOGGER.critical(f"the profile {number} is not valid: {profile}")
        if self.int8 and profiles:
            self._calibrate(config, network, profiles[-1].to_trt(builder, network))

    def _calibrate(self, config, network, profile):
        if any(each.type in (trt.LayerType.QUANTIZE, trt.LayerType.DEQUANTIZE) for each in network):
            return
        if self.calibrator is None:
            G_LOGGER.warning("8-bit integers are permitted, but the network has no quantisers and there is no calibrator")
            return
        config.int8_calibrator = self.calibrator
        config.set_calibration_profile(profile)
        try_setup_polygraphy_calibrator(config, network, profile)


@mod.export(funcify=True)
class PostprocessConfig(BaseLoader):
    """Calls `func(builder=, network=, config=)` on a configuration."""

    def __init__(self, config, func) -> None:
        self._config = config
        if not callable(func):
            G_LOGGER.critical(f"Object {func} (of type {type(func)}) is not a callable.")
        self._func = func

    def call_impl(self, builder, network):
        config = self._config(builder, network) if callable(self._config) else self._config
        self._func(builder=builder, network=network, config=config)
        return config
