"""Networks and engines of the user's TensorRT, for host.py: what its parser makes of a model, and how it is built."""

import fnmatch
import re

from host_messages import UNSUPPORTED, USAGE, Fault, summary
from host_tensorrt_package import TYPES

FLAGS = {"sparse-weights": "SPARSE_WEIGHTS", "version-compatible": "VERSION_COMPATIBLE",
         "exclude-lean-runtime": "EXCLUDE_LEAN_RUNTIME", "strip-plan": "STRIP_PLAN", "refittable": "REFIT",
         "direct-io": "DIRECT_IO", "strict": "STRICT_NANS", "disable-compilation-cache": "DISABLE_COMPILATION_CACHE",
         "weight-streaming": "WEIGHT_STREAMING", "error-on-timing-cache-miss": "ERROR_ON_TIMING_CACHE_MISS",
         "allow-gpu-fallback": "GPU_FALLBACK"}
PERMISSIONS = {"fp16": "FP16", "bf16": "BF16", "int8": "INT8", "fp8": "FP8"}
CONSTRAINTS = {"obey": "OBEY_PRECISION_CONSTRAINTS", "prefer": "PREFER_PRECISION_CONSTRAINTS"}
# Attributes of the configuration, with the enumeration of their words.
CHOICES = {"hardware-compatibility-level": ("hardware_compatibility_level", "HardwareCompatibilityLevel"),
           "profiling-verbosity": ("profiling_verbosity", "ProfilingVerbosity"),
           "tiling-optimization-level": ("tiling_optimization_level", "TilingOptimizationLevel"),
           "runtime-platform": ("runtime_platform", "RuntimePlatform"),
           "engine-capability": ("engine_capability", "EngineCapability")}
COUNTS = {"builder-optimization-level": "builder_optimization_level", "max-aux-streams": "max_aux_streams",
          "max-tactics": "max_num_tactics"}
CACHES = ("load-timing-cache", "save-timing-cache")
OURS = ("load-tactics", "save-tactics", "exclude-tactics", "tactic-sources")  # about tactics of the built-in engine
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Build:
    """A network that was parsed, and the plan that is built of it."""

    def __init__(self, package, request):
        self.package, self.trt, self.request = package, package.module, request
        self.notes = []  # warnings of ours
        self.builder = self.trt.Builder(package.logger)
        self.network = self.new_network()

    def new_network(self):
        known = self.trt.NetworkDefinitionCreationFlag.__members__
        flags = 1 << int(known["EXPLICIT_BATCH"]) if "EXPLICIT_BATCH" in known else 0
        is_typed = self.package.is_rtx or "strongly-typed" in self.request.settings
        if is_typed and "STRONGLY_TYPED" in known:
            flags |= 1 << int(known["STRONGLY_TYPED"])
        return self.package.made(lambda: self.builder.create_network(flags), "no network could be made")

    def parse(self):
        request = self.request
        parser = self.trt.OnnxParser(self.network, self.package.logger)
        is_read = parser.parse_from_file(request.path) if request.model is None else parser.parse(request.model)
        if not is_read:
            errors = parser_errors(parser) or [(None, "no model")]
            more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            raise Fault(UNSUPPORTED, f"TensorRT: {errors[0][1]}{more}")
        self.parser = parser  # it owns the weights until the engine is built
        return self

    def plan(self):
        self.mark()
        config = self.configured()
        plan = self.package.made(lambda: self.builder.build_serialized_network(self.network, config),
                                 "the engine could not be built")
        if self.uses_timing_cache() and self.request.last("save-timing-cache"):
            self.request.save("save-timing-cache", config.get_timing_cache().serialize())
        return bytes(plan)

    def mark(self):
        """Values that runs are asked for become outputs."""
        network = self.network
        known = {network.get_output(i).name for i in range(network.num_outputs)}
        for i in range(network.num_layers):
            layer = network.get_layer(i)
            for j in range(layer.num_outputs):
                tensor = layer.get_output(j)
                if tensor is not None and tensor.name in self.request.values and tensor.name not in known:
                    network.mark_output(tensor)

    def configured(self):
        settings = self.request.settings
        config = self.builder.create_builder_config()
        if "tf32" not in settings:
            config.clear_flag(self.trt.BuilderFlag.TF32)
        for name, flag in FLAGS.items():
            if name in settings:
                config.set_flag(self.flag(flag))
        for name, attribute in COUNTS.items():
            if name in settings:
                setattr(config, self.attribute(config, attribute), int(self.request.last(name)))
        for name, (attribute, kind) in CHOICES.items():
            if name in settings:
                setattr(config, self.attribute(config, attribute), self.package.member(kind, self.request.last(name)))
        ours = [name for name in OURS if name in settings]
        if ours:
            self.notes.append(f"without effect on TensorRT: {', '.join(ours)}")
        self.add_pools(config)
        self.add_timing_cache(config)
        self.add_route(config)
        self.add_precisions(config)
        self.add_targets(config)
        self.add_profiles(config)
        return config

    def add_route(self, config):
        """Choices of TensorRT's compiler, which knows their names."""
        route = self.request.last("build-route")
        if route is None:
            return
        if not getattr(config, "all_build_routes", ""):
            raise Fault(UNSUPPORTED, f"{self.package.title} has no choices of its compiler, such as `{route}`: TensorRT 11.1 "
                        "and later have them, on Linux")
        try:
            config.build_route = route
        except Exception as error:
            raise Fault(USAGE, f"TensorRT: {summary(error)}") from error
        if config.build_route != route:
            told = [text for severity, text in self.package.told if severity <= int(self.package.logger.ERROR)]
            raise Fault(USAGE, f"TensorRT does not take `{route}`{': ' + told[-1] if told else ''}")

    def attribute(self, thing, name):
        if not hasattr(thing, name):
            raise Fault(UNSUPPORTED, f"{self.package.title} has no {name}")
        return name

    def flag(self, name):
        flags = self.trt.BuilderFlag.__members__
        if name not in flags:
            raise Fault(UNSUPPORTED, f"{self.package.title} has no flag {name}")
        return flags[name]

    def add_pools(self, config):
        for text in self.request.settings.get("pool-limit", []):
            pool, _, size = text.rpartition(":")
            digits = re.match(r"[0-9.eE+]*", size).group()
            unit = size[len(digits):].upper().rstrip("B").rstrip("I")
            try:
                size_bytes = int(float(digits) * (UNITS[unit] if unit else 1))
            except (KeyError, ValueError):
                raise Fault(USAGE, f"expected a size as 512M or 8G, seen `{size}`") from None
            config.set_memory_pool_limit(self.package.member("MemoryPoolType", pool), size_bytes)

    def uses_timing_cache(self):
        return not self.package.is_rtx and any(name in self.request.settings for name in CACHES)

    def add_timing_cache(self, config):
        if self.uses_timing_cache():
            path = self.request.last("load-timing-cache")
            cache = config.create_timing_cache(self.request.read(path) if path else b"")
            config.set_timing_cache(cache, False)

    def add_precisions(self, config):
        settings = self.request.settings
        flags = self.trt.BuilderFlag.__members__
        for name, flag in PERMISSIONS.items():
            if name not in settings or (name == "int8" and flag not in flags and self.has_quantizers()):
                continue
            if flag not in flags:
                line = f"{self.package.title} computes in the types that the model has, and has no permission {name}"
                raise Fault(UNSUPPORTED, line, remedy=f"{name}_in_model")
            config.set_flag(flags[flag])
        for word in settings.get("precision-constraints", []):
            if word in CONSTRAINTS:
                config.set_flag(self.flag(CONSTRAINTS[word]))
        rows = [text.rpartition(":") for text in settings.get("layer-precisions", [])]
        for i in range(self.network.num_layers if rows else 0):
            layer = self.network.get_layer(i)
            for pattern, _, word in rows:
                if fnmatch.fnmatchcase(layer.name, pattern):
                    self.set_precision(layer, word)

    def has_quantizers(self):
        return any(self.network.get_layer(i).type.name == "QUANTIZE" for i in range(self.network.num_layers))

    def set_precision(self, layer, word):
        if not hasattr(layer, "precision"):
            line = f"{self.package.title} computes layers in the types that the model has: `{layer.name}` cannot be {word}"
            raise Fault(UNSUPPORTED, line, remedy="fp16_in_model")
        if word.lower() not in TYPES:
            raise Fault(USAGE, f"expected a type as float16, seen `{word}`")
        layer.precision = self.trt.DataType.__members__[TYPES[word.lower()]]

    def add_targets(self, config):
        """What an engine of TensorRT-RTX is built for: the GPU at hand, or capabilities by their numbers."""
        words = self.request.settings.get("compute-capabilities", [])
        uses_gpu = "use-gpu" in self.request.settings
        if not words and not uses_gpu:
            return
        if words and uses_gpu:
            raise Fault(USAGE, "an engine is for the GPU at hand or for the compute capabilities that are named, not both")
        if not hasattr(self.trt, "ComputeCapability"):
            raise Fault(UNSUPPORTED, f"{self.package.title} builds for the GPU at hand: only TensorRT-RTX builds for "
                        "compute capabilities that are named")
        names = ["CURRENT"] if uses_gpu else ["SM" + word.replace(".", "") for word in words]
        members = self.trt.ComputeCapability.__members__
        for word, name in zip(words, names):
            if name not in members or not name[2:].isdigit():
                known = " ".join(f"{each[2:-1]}.{each[-1]}" for each in members if each.startswith("SM"))
                raise Fault(USAGE, f"{self.package.title} has no compute capability {word}; it has {known}")
        config.num_compute_capabilities = len(names)
        for i, name in enumerate(names):
            self.package.made(lambda: config.set_compute_capability(members[name], i), f"{name} is refused")

    def add_profiles(self, config):
        settings, network = self.request.settings, self.network
        rows = [profiles(settings.get(f"trt-{word}-shapes", [])) for word in ("min", "opt", "max")]
        rows[2] = rows[2] or rows[1] or rows[0]
        rows[1] = rows[1] or rows[0] or rows[2]
        rows[0] = rows[0] or rows[1]
        if len({len(each) for each in rows}) != 1:
            raise Fault(USAGE, "the least, best and greatest shapes are of different numbers of profiles")
        inputs = [network.get_input(i) for i in range(network.num_inputs)]
        for least, best, most in zip(*rows) if rows[0] else usual_profile(inputs):
            profile = self.builder.create_optimization_profile()
            for tensor in inputs:
                if tensor.name in best:
                    profile.set_shape(tensor.name, least.get(tensor.name, best[tensor.name]), best[tensor.name],
                                      most.get(tensor.name, best[tensor.name]))
            config.add_optimization_profile(profile)
        if not rows[0] and any(min(tuple(tensor.shape), default=0) < 0 for tensor in inputs):
            self.notes.append("inputs of the model have open dims, and no shapes are named: the engine takes 1 for them")

    # What the parser says of a model without building anything.

    def refused_nodes(self):
        """For each node that the parser does not take, its place and the reason; None as place: the whole model."""
        request = self.request
        model = request.read(request.path) if request.model is None else request.model
        parser = self.trt.OnnxParser(self.network, self.package.logger)
        if hasattr(parser, "supports_model_v2"):
            is_taken = parser.supports_model_v2(model, request.path or None)
        else:
            is_taken = parser.supports_model(model, request.path or None)[0]
        return [] if is_taken else parser_errors(parser) or [(None, "the parser refuses the model")]


def usual_profile(inputs):
    """One profile whose open dims are 1; none where there are no open dims."""
    shapes = {tensor.name: tuple(max(dim, 1) if dim < 0 else dim for dim in tensor.shape) for tensor in inputs
              if min(tuple(tensor.shape), default=0) < 0}
    return [(shapes, shapes, shapes)] if shapes else []


def parser_errors(parser):
    return [parser_error(parser.get_error(i)) for i in range(parser.num_errors)]


def parser_error(error):
    """The place of a node, if an error of the parser is about one, and a line."""
    if not callable(getattr(error, "desc", None)):
        return None, summary(Exception(str(error)))
    lines = error.desc().strip().splitlines()
    said = lines[0] if lines else str(error.code())
    op = error.node_operator() if hasattr(error, "node_operator") else ""
    if said in ("false", "") or "Plugin not found" in said:
        said = f"its parser has no operator{' or plugin' if 'Plugin' in said else ''} `{op}`"
    node = error.node()
    name = error.node_name() if hasattr(error, "node_name") else ""
    where = f"node {node} `{name}` ({op}): " if op else ""
    is_inside = bool(getattr(error, "local_function_stack_size", lambda: 0)())
    return (node if op and node >= 0 and not is_inside else None), where + said


def profiles(texts):
    """Shapes by name of each profile; an empty text is between two."""
    found = [{}] if texts else []
    for text in texts:
        if not text:
            found.append({})
            continue
        name, _, dims = text.rpartition(":[")
        found[-1][name] = tuple(int(each) for each in dims.rstrip("]").split(",") if each.strip())
    return found
