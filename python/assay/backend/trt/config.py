"""Configurations of builders."""

from assay import mod, util
from assay import tensorrt as trt
from assay.backend.base.loader import BaseLoader
from assay.backend.trt.calibrator import metadata_of_network
from assay.backend.trt.profile import Profile
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
OTHERS = {"profiles", "precision_constraints", "load_timing_cache", "algorithm_selector", "tactic_sources",
          "profiling_verbosity", "memory_pool_limits", "preview_features", "quantization_flags", "obey_precision_constraints"}


@mod.export(funcify=True)
class CreateConfig(BaseLoader):
    """A configuration, called with (builder, network). Arguments have the names of Polygraphy's."""

    def __init__(self, tf32=None, fp16=None, int8=None, fp8=None, bf16=None, calibrator=None, use_dla=None,
                 allow_gpu_fallback=None, **kwargs) -> None:
        for name in kwargs:
            if name not in FLAGS and name not in ATTRIBUTES and name not in OTHERS:
                near = util.find_str_in_iterable(name, [*FLAGS, *ATTRIBUTES, *OTHERS])
                raise TypeError(f"CreateConfig has no argument `{name}`" + (f"; did you mean `{near}`?" if near else ""))
        self.options = {"tf32": tf32, "fp16": fp16, "int8": int8, "fp8": fp8, "bf16": bf16,
                        "allow_gpu_fallback": allow_gpu_fallback, **kwargs}
        self.calibrator = calibrator
        self.use_dla = util.default(use_dla, False)
        self.profiles = util.default(kwargs.get("profiles"), [Profile()])
        if self.calibrator is not None and not int8:
            G_LOGGER.warning("a calibrator is given, but 8-bit integers are not permitted: int8=True permits them")
        if kwargs.get("exclude_lean_runtime") and not kwargs.get("version_compatible"):
            G_LOGGER.critical("exclude_lean_runtime needs version_compatible")

    def call_impl(self, builder, network):
        config = builder.create_builder_config()
        config.clear_flag(trt.BuilderFlag.TF32)
        for name, flag in FLAGS.items():
            if self.options.get(name):
                config.set_flag(trt.BuilderFlag[flag])
        if self.use_dla:
            G_LOGGER.critical("there is no DLA here")
        self._set_precision(config)
        self._set_others(config)
        if network is not None:
            self._add_profiles(builder, network, config)
        config.int8_calibrator = self.calibrator
        if self.options.get("int8") and self.calibrator is None and network is not None and \
                not any(each.type == trt.LayerType.QUANTIZE for each in network):
            G_LOGGER.warning("8-bit integers are permitted, but the network has no quantisers and there is no calibrator")
        return config

    def _set_precision(self, config):
        constraint = self.options.get("precision_constraints")
        if self.options.get("obey_precision_constraints"):
            constraint = "obey"
        flags = {"obey": trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS, "prefer":
                 trt.BuilderFlag.PREFER_PRECISION_CONSTRAINTS}
        if constraint in flags:
            config.set_flag(flags[constraint])
        elif constraint not in (None, "none"):
            G_LOGGER.critical(f"there is no precision constraint `{constraint}`; known are obey, prefer and none")

    def _set_others(self, config):
        options = self.options
        verbosity = options.get("profiling_verbosity")
        config.profiling_verbosity = util.default(verbosity, trt.ProfilingVerbosity.DETAILED)
        for pool, size in (options.get("memory_pool_limits") or {}).items():
            config.set_memory_pool_limit(pool, size)
        for name in ATTRIBUTES:
            if options.get(name) is not None:
                setattr(config, name, options[name])
        if options.get("tactic_sources") is not None:
            config.set_tactic_sources(sum(1 << int(each) for each in options["tactic_sources"]))
        for feature, enable in (options.get("preview_features") or {}).items():
            config.set_preview_feature(feature, enable)
        for flag in options.get("quantization_flags") or []:
            config.set_quantization_flag(flag)
        config.algorithm_selector = options.get("algorithm_selector")
        self._load_cache(config)

    def _load_cache(self, config):
        source = self.options.get("load_timing_cache")
        data = b""
        if source is not None:
            import os

            if util.is_file_like(source) or os.path.exists(source):
                data = util.load_file(source, description="timing cache")
            else:
                G_LOGGER.warning(f"there is no timing cache `{source}`; an empty one is used")
        if source is not None or self.options.get("algorithm_selector") is None:
            config.set_timing_cache(config.create_timing_cache(data), ignore_mismatch=False)

    def _add_profiles(self, builder, network, config):
        profiles = [Profile(each).fill_defaults(network) for each in self.profiles]
        for profile in profiles:
            config.add_optimization_profile(profile.to_trt(builder, network))
        if self.options.get("int8") and profiles:
            config.set_calibration_profile(profiles[-1].to_trt(builder, network))
        if self.calibrator is not None and hasattr(self.calibrator, "set_input_metadata"):
            self.calibrator.set_input_metadata(metadata_of_network(network, profiles[-1]))


@mod.export(funcify=True)
class PostprocessConfig(BaseLoader):
    """Calls `func(builder=, network=, config=)` on a configuration."""

    def __init__(self, config, func) -> None:
        self._config = config
        self._func = func

    def call_impl(self, builder, network):
        config = self._config(builder, network) if callable(self._config) else self._config
        self._func(builder=builder, network=network, config=config)
        return config
