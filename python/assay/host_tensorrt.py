"""Runs models with the user's TensorRT, for host.py: what a worker of the program answers about a session.

Needs TensorRT 8.5 or later, and cuda-python for the memory of the device.
"""

import fnmatch
import importlib
import time

from host_messages import DONE, PREPARED, RAN, UNSUPPORTED, USAGE, VALUE, Fault, Writer, load_numpy, summary

FLAGS = {"fp16": "FP16", "bf16": "BF16", "int8": "INT8", "fp8": "FP8", "sparse-weights": "SPARSE_WEIGHTS",
         "version-compatible": "VERSION_COMPATIBLE", "exclude-lean-runtime": "EXCLUDE_LEAN_RUNTIME",
         "strip-plan": "STRIP_PLAN", "refittable": "REFIT", "direct-io": "DIRECT_IO", "strict": "STRICT_NANS",
         "disable-compilation-cache": "DISABLE_COMPILATION_CACHE", "weight-streaming": "WEIGHT_STREAMING",
         "error-on-timing-cache-miss": "ERROR_ON_TIMING_CACHE_MISS", "allow-gpu-fallback": "GPU_FALLBACK"}
CONSTRAINTS = {"obey": "OBEY_PRECISION_CONSTRAINTS", "prefer": "PREFER_PRECISION_CONSTRAINTS"}
TYPES = {"fp32": "FLOAT", "float": "FLOAT", "float32": "FLOAT", "fp16": "HALF", "half": "HALF", "float16": "HALF",
         "bf16": "BF16", "bfloat16": "BF16", "int8": "INT8"}
NUMBERS = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "INT32": 6, "INT64": 7, "BOOL": 9, "HALF": 10, "BF16": 16, "FP8": 17,
           "INT4": 22}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
GIVEN, ABSENT = 0, 2
WARNING = 1  # of findings


class Request:
    """What the message `prepare` says."""

    def __init__(self, reader):
        reader.text()  # the backend
        self.threads = reader.number()
        for _ in range(3):
            reader.number()  # limits
        self.values = reader.texts()
        self.path = reader.text()
        reader.text()  # the interpreter, which this is
        reader.number()
        self.is_plan = bool(reader.number())
        self.settings = {reader.text(): reader.texts() for _ in range(reader.number())}
        model = reader.datum()
        self.model = None if model is None else model.tobytes()

    def last(self, name, default=None):
        return self.settings[name][-1] if self.settings.get(name) else default


def load_package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Fault(UNSUPPORTED, f"the Python package `{name}` cannot be imported: {summary(error)}") from error


class Device:
    """Memory of a device, by way of cuda-python."""

    def __init__(self, package):
        names = ("cuda.bindings.runtime", "cuda.cudart")
        if package.__name__.startswith("assay"):
            names = ("assay.compat.cudart",)
        for name in names:
            try:
                self.cuda = importlib.import_module(name)
                break
            except ImportError:
                continue
        else:
            raise Fault(UNSUPPORTED, "the Python package cuda-python is needed for the memory of the device")
        self.stream = self.call("cudaStreamCreate")

    def call(self, name, *words):
        error, *result = getattr(self.cuda, name)(*words)
        if int(error) != 0:
            raise Fault(UNSUPPORTED, f"{name} failed: {error}")
        return result[0] if result else None

    def put(self, array):
        address = self.call("cudaMalloc", max(array.nbytes, 1))
        self.call("cudaMemcpy", address, array.ctypes.data, array.nbytes,
                  self.cuda.cudaMemcpyKind.cudaMemcpyHostToDevice)
        return address

    def get(self, array, address):
        self.call("cudaMemcpy", array.ctypes.data, address, array.nbytes,
                  self.cuda.cudaMemcpyKind.cudaMemcpyDeviceToHost)
        return array

    def wait(self):
        self.call("cudaStreamSynchronize", self.stream)

    def free(self, addresses):
        for address in addresses:
            self.call("cudaFree", address)


class Session:
    """An engine that was built, or loaded, and its contexts."""

    def __init__(self, request):
        self.numpy = load_numpy()
        self.request = request
        self.trt = trt = load_package(request.last("trt-package", "tensorrt"))
        self.told = told = []

        class Log(trt.ILogger):
            def __init__(self):
                trt.ILogger.__init__(self)

            def log(self, severity, msg):
                told.append((int(severity), msg))

        self.logger = Log()
        trt.init_libnvinfer_plugins(self.logger, "")
        plan = self.read(request.path) if request.is_plan else self.build()
        self.save("save-tensorrt-engine", plan)
        self.device = Device(trt)
        self.runtime = trt.Runtime(self.logger)
        self.engine = self.made(self.runtime.deserialize_cuda_engine(plan), "the engine could not be loaded")
        self.contexts = []
        self.names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]

    @staticmethod
    def read(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise Fault(USAGE, f"`{path}` cannot be read: {summary(error)}") from error

    def save(self, setting, data):
        path = self.request.last(setting)
        if path:
            with open(path, "wb") as file:
                file.write(bytes(data))

    def made(self, what, message):
        """What TensorRT gives; None is an error that its logger was told."""
        if what is not None and what is not False:
            return what
        errors = [text for severity, text in self.told if severity <= int(self.logger.ERROR)]
        raise Fault(UNSUPPORTED, f"TensorRT: {errors[-1] if errors else message}")

    # Building.

    def build(self):
        trt = self.trt
        builder = trt.Builder(self.logger)
        flags = trt.NetworkDefinitionCreationFlag
        network = builder.create_network(1 << int(flags.EXPLICIT_BATCH) if hasattr(flags, "EXPLICIT_BATCH") else 0)
        parser = trt.OnnxParser(network, self.logger)
        request = self.request
        is_read = parser.parse_from_file(request.path) if request.model is None else parser.parse(request.model)
        if not is_read:
            raise Fault(UNSUPPORTED, f"TensorRT: {parser.get_error(0) if parser.num_errors else 'no model'}")
        self.mark(network)
        config = self.configured(builder, network)
        plan = self.made(builder.build_serialized_network(network, config), "the engine could not be built")
        if request.last("save-timing-cache"):
            self.save("save-timing-cache", config.get_timing_cache().serialize())
        return plan

    def mark(self, network):
        """Values that runs are asked for become outputs."""
        known = {network.get_output(i).name for i in range(network.num_outputs)}
        for i in range(network.num_layers):
            layer = network.get_layer(i)
            for j in range(layer.num_outputs):
                tensor = layer.get_output(j)
                if tensor is not None and tensor.name in self.request.values and tensor.name not in known:
                    network.mark_output(tensor)

    def configured(self, builder, network):
        trt, request = self.trt, self.request
        config = builder.create_builder_config()
        if "tf32" not in request.settings:
            config.clear_flag(trt.BuilderFlag.TF32)
        for name, flag in FLAGS.items():
            if name in request.settings:
                config.set_flag(self.flag(flag))
        level = request.last("builder-optimization-level")
        if level is not None:
            config.builder_optimization_level = int(level)
        for text in request.settings.get("pool-limit", []):
            pool, _, size = text.rpartition(":")
            bytes_of = int(float(size.rstrip("KMGkmgib")) * UNITS.get(size.rstrip("ib")[-1:].upper(), 1))
            config.set_memory_pool_limit(trt.MemoryPoolType.__members__[pool.upper()], bytes_of)
        if {"load-timing-cache", "save-timing-cache"} & set(request.settings):
            path = request.last("load-timing-cache")
            cache = config.create_timing_cache(self.read(path) if path else b"")
            config.set_timing_cache(cache, False)
        self.add_precisions(network, config)
        self.add_profiles(builder, network, config)
        return config

    def flag(self, name):
        flags = self.trt.BuilderFlag.__members__
        if name not in flags:
            raise Fault(UNSUPPORTED, f"this version of TensorRT has no flag {name}")
        return flags[name]

    def add_precisions(self, network, config):
        for word in self.request.settings.get("precision-constraints", []):
            if word in CONSTRAINTS:
                config.set_flag(self.flag(CONSTRAINTS[word]))
        rows = [text.rpartition(":") for text in self.request.settings.get("layer-precisions", [])]
        for i in range(network.num_layers if rows else 0):
            layer = network.get_layer(i)
            for pattern, _, word in rows:
                if fnmatch.fnmatchcase(layer.name, pattern):
                    layer.precision = self.trt.DataType.__members__[TYPES[word.lower()]]

    def add_profiles(self, builder, network, config):
        settings = self.request.settings
        rows = [profiles(settings.get(f"trt-{word}-shapes", [])) for word in ("min", "opt", "max")]
        rows[2] = rows[2] or rows[1] or rows[0]
        rows[1] = rows[1] or rows[0] or rows[2]
        rows[0] = rows[0] or rows[1]
        if len({len(each) for each in rows}) != 1:
            raise Fault(USAGE, "the least, best and greatest shapes are of different numbers of profiles")
        inputs = [network.get_input(i) for i in range(network.num_inputs)]
        for least, best, most in zip(*rows):
            profile = builder.create_optimization_profile()
            for tensor in inputs:
                if tensor.name in best:
                    profile.set_shape(tensor.name, least.get(tensor.name, best[tensor.name]), best[tensor.name],
                                      most.get(tensor.name, best[tensor.name]))
            config.add_optimization_profile(profile)

    # Answers.

    def prepared(self):
        trt = self.trt
        message = Writer(PREPARED).text(f"TensorRT {getattr(trt, '__version__', '')}".strip())
        for mode in (trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT):
            names = [each for each in self.names if self.engine.get_tensor_mode(each) == mode]
            message.number(len(names))
            for name in names:
                self.write_port(message, name)
        missing = [each for each in self.request.values if each not in self.names]
        message.number(len(missing))
        for name in missing:
            message.text(name).number(ABSENT).text("").text("the network has no such tensor")
        return self.add_findings(message)

    def write_port(self, message, name):
        shape = tuple(self.engine.get_tensor_shape(name))
        number = NUMBERS.get(self.engine.get_tensor_dtype(name).name, 0)
        message.text(name).number(0).number(int(self.engine.is_shape_inference_io(name))).number(1)
        message.number(0).number(number).number(1).number(len(shape))
        for dim in shape:
            message.number(int(dim >= 0)).number(max(dim, 0)).text("?" if dim < 0 else str(dim))
        message.number(0)

    def add_findings(self, message):
        warnings = [text for severity, text in self.told if severity == int(self.logger.WARNING)]
        message.number(len(warnings))
        for text in warnings:
            message.number(WARNING).text("").text(text).text("")
        return message

    def make_context(self):
        self.contexts.append(self.made(self.engine.create_execution_context(), "there is no memory for a context"))
        return Writer(DONE)

    def run(self, number, feeds, values):
        """Messages of the values, and one about the run."""
        context, device = self.contexts[number], self.device
        held = {}
        try:
            for name, array in feeds.items():
                array = self.numpy.ascontiguousarray(array)
                self.made(context.set_input_shape(name, array.shape), f"the shape {array.shape} of `{name}` is not in a profile")
                is_host = self.engine.get_tensor_location(name) == self.trt.TensorLocation.HOST
                held[name] = array if is_host else device.put(array)
                context.set_tensor_address(name, array.ctypes.data if is_host else held[name])
            outputs = {name: self.output(context, name, held) for name in self.names if name not in feeds}
            start = time.perf_counter()
            self.made(context.execute_async_v3(int(device.stream)), "the run failed")
            device.wait()
            seconds = time.perf_counter() - start
            messages = [Writer(VALUE).text(name).datum(self.fetched(outputs[name]), name) for name in values]
        finally:
            device.free(each for each in held.values() if isinstance(each, int))
        return [*messages, Writer(RAN).real(seconds).number(0)]

    def output(self, context, name, held):
        """Memory for an output: now, or when its size is known."""
        shape = tuple(context.get_tensor_shape(name))
        array = self.numpy.empty([max(dim, 0) for dim in shape], self.trt.nptype(self.engine.get_tensor_dtype(name)))
        if min(shape, default=0) >= 0:
            held[name] = self.device.put(array)
            context.set_tensor_address(name, held[name])
            return array, held, name
        allocator = make_allocator(self.trt, self.device, held)
        context.set_output_allocator(name, allocator)
        return array, held, name, allocator

    def fetched(self, output):
        array, held, name, *allocators = output
        if allocators:
            array = self.numpy.empty(allocators[0].shapes[name], array.dtype)
        return self.device.get(array, held[name]) if array.size else array


def make_allocator(trt, device, held):
    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.shapes = {}

        def reallocate_output(self, tensor_name, memory, size, alignment):
            if tensor_name in held:
                device.free([held[tensor_name]])
            held[tensor_name] = device.call("cudaMalloc", max(size, 1))
            return held[tensor_name]

        def notify_shape(self, tensor_name, shape):
            self.shapes[tensor_name] = tuple(shape)

    return Allocator()


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
