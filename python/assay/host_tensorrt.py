"""Runs models with the user's TensorRT, for host.py: what a worker of the program answers about a session.

Needs TensorRT 8.5 or later; to run engines also cuda-python for the memory of the device.
"""

import json
import sys
import time

from host_messages import DONE, LISTED, PREPARED, RAN, REFUSED, TENSOR, UNSUPPORTED, USAGE, VALUE, Fault, Writer, \
    load_numpy, summary
from host_tensorrt_build import CACHES, Build
from host_tensorrt_package import Device, Package, byte_count, number_of, readable

GIVEN, ABSENT = 0, 2
WARNING = 1  # of findings
INVALID = {"VERSION_MISMATCH": "another version of TensorRT-RTX has built it",
           "UNSUPPORTED_CC": "it is built for other GPUs", "OLD_CUDA_DRIVER": "the NVIDIA driver is too old",
           "OLD_CUDA_RUNTIME": "the CUDA runtime is too old", "INSUFFICIENT_GPU_MEMORY": "the GPU has too little memory",
           "MALFORMED_ENGINE": "it is damaged", "CUDA_ERROR": "CUDA failed"}
SUBOPTIMAL = "the engine runs here, but is not built for this GPU: one that is may be faster"


class Request:
    """What the message `prepare` says."""

    def __init__(self, reader):
        self.backend = reader.text()
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

    @staticmethod
    def read(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise Fault(USAGE, f"`{path}` cannot be read: {summary(error)}") from error

    def save(self, setting, data):
        path = self.last(setting)
        try:
            with open(path, "wb") as file:
                file.write(bytes(data))
        except OSError as error:
            raise Fault(USAGE, f"`{path}` cannot be written: {summary(error)}") from error


class Session:
    """An engine that was built, or loaded, and its contexts. The device is opened when the engine is to run."""

    def __init__(self, request):
        self.numpy = load_numpy()
        self.request = request
        self.package = Package(request.last("trt-package"))
        self.trt = self.package.module
        self.engine = self.runtime = self.device = self.config = self.cache = None
        self.contexts, self.notes = [], []
        if request.is_plan:
            self.plan = request.read(request.path)
            self.load()
            return
        built = Build(self.package, request).parse()
        self.plan = built.plan()
        self.network, self.notes = built.network, built.notes
        if request.last("save-tensorrt-engine"):
            request.save("save-tensorrt-engine", self.plan)
        if self.package.is_rtx and any(name in request.settings for name in CACHES):
            self.notes.append("TensorRT-RTX has no timing cache: the file is one of its runtime caches")

    def load(self):
        """The engine, on the device."""
        package = self.package
        self.device = Device(self.trt)
        self.runtime = self.trt.Runtime(package.logger)
        self.check_validity()
        self.engine = package.made(lambda: self.runtime.deserialize_cuda_engine(self.plan),
                                   "the engine could not be loaded", "tensorrt_device")
        if hasattr(self.engine, "create_runtime_config"):
            self.configure()

    def check_validity(self):
        """Says in our words why the runtime will refuse an engine, by its header."""
        if not hasattr(self.runtime, "get_engine_validity"):
            return
        begin = len(self.package.told)
        size = getattr(self.runtime, "engine_header_size", len(self.plan))
        validity, bits = self.runtime.get_engine_validity(self.plan[:size])
        if validity.name == "SUBOPTIMAL":
            self.notes.append(SUBOPTIMAL)
        if validity.name != "INVALID":
            return
        members = self.trt.EngineInvalidityDiagnostics.__members__
        reasons = [INVALID.get(name, name) for name, member in members.items() if int(bits) & int(member)]
        if not reasons:
            reasons = [readable(text) for severity, text in self.package.told[begin:]
                       if severity <= int(self.package.logger.ERROR)][:1]
        raise Fault(UNSUPPORTED, f"TensorRT-RTX cannot run the engine: {'; '.join(reasons) or 'it gives no reason'}",
                    remedy="" if int(bits) & int(members["MALFORMED_ENGINE"]) else "tensorrt_device")

    def configure(self):
        """Kernels for the shapes of a run are made before it; a runtime cache keeps those of earlier processes."""
        config = self.config = self.engine.create_runtime_config()
        if hasattr(config, "dynamic_shapes_kernel_specialization_strategy"):
            strategies = self.trt.DynamicShapesKernelSpecializationStrategy
            config.dynamic_shapes_kernel_specialization_strategy = strategies.EAGER
        if not hasattr(config, "create_runtime_cache") or not any(name in self.request.settings for name in CACHES):
            return
        self.cache = config.create_runtime_cache()
        path = self.request.last("load-timing-cache")
        if path and not self.cache.deserialize(self.request.read(path)):
            self.notes.append(f"the runtime cache `{path}` is not used: another version or GPU has made it")
        config.set_runtime_cache(self.cache)

    # Answers.

    def prepared(self):
        message = Writer(PREPARED).text(self.package.title)
        inputs, outputs = self.ports()
        for ports in (inputs, outputs):
            write_ports(message, ports)
        known = {name for name, *_ in inputs + outputs}
        missing = [each for each in self.request.values if each not in known]
        message.number(len(missing))
        for name in missing:
            message.text(name).number(ABSENT).text("").text("the network has no such tensor")
        message.number(0)  # nodes whose providers it would tell
        return add_findings(message, self.notes + self.package.warnings())

    def ports(self):
        return engine_ports(self.trt, self.engine) if self.engine is not None else network_ports(self.network)

    def make_context(self):
        if self.engine is None:
            self.load_late()
        made = self.engine.create_execution_context
        context = self.package.made((lambda: made(self.config)) if self.config is not None else made,
                                    "no context could be made: the GPU may have too little memory", "tensorrt_device")
        self.contexts.append(context)
        return Writer(DONE)

    def load_late(self):
        """Loads what was built; findings have been answered before, so warnings go where scripts print."""
        told = len(self.notes)
        self.load()
        for text in self.notes[told:]:
            print(f"[W] {text}", file=sys.stderr)

    def run(self, number, feeds, values):
        """Messages of the values, and one about the run."""
        context, device = self.contexts[number], self.device
        held = Held(device)
        try:
            for name, (dtype, shape, flat) in feeds.items():
                self.bind_input(context, name, self.fitted(name, dtype, flat), shape, held)
            names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]
            outputs = {name: Output(self, context, name, held) for name in names if name not in feeds}
            start = time.perf_counter()
            self.package.made(lambda: context.execute_async_v3(int(device.stream)), "the run failed")
            device.wait()
            seconds = time.perf_counter() - start
            messages = [outputs[name].message() for name in values]
        finally:
            held.free()
        if self.cache is not None and self.request.last("save-timing-cache"):
            self.request.save("save-timing-cache", self.cache.serialize())
        return [*messages, Writer(RAN).real(seconds).number(0)]

    def bind_input(self, context, name, flat, shape, held):
        self.package.made(lambda: context.set_input_shape(name, shape),
                          f"the shape {tuple(shape)} of `{name}` is not in a profile")
        if self.engine.get_tensor_location(name) == self.trt.TensorLocation.HOST:
            held.arrays.append(flat)
            context.set_tensor_address(name, flat.ctypes.data)
            return
        held.addresses[name] = self.device.put(flat)
        context.set_tensor_address(name, held.addresses[name])

    def fitted(self, name, dtype, flat):
        """The bytes of an input in the type of the engine, which of 64-bit integers may have made 32-bit ones."""
        wanted = number_of(self.engine.get_tensor_dtype(name))
        if wanted == dtype:
            return self.numpy.ascontiguousarray(flat)
        if (dtype, wanted) == (7, 6):
            numbers = flat.view(self.numpy.int64)
            narrow = numbers.astype(self.numpy.int32)
            if (narrow == numbers).all():
                return narrow.view(self.numpy.uint8)
        raise Fault(UNSUPPORTED, f"the engine takes `{name}` as {self.engine.get_tensor_dtype(name).name}, which the "
                    "values that it is given are not")

    def listed(self):
        """The engine, with what its inspector tells of its layers."""
        inputs, outputs = engine_ports(self.trt, self.engine)
        text = self.engine.create_engine_inspector().get_engine_information(self.trt.LayerInformationFormat.JSON)
        layers = [engine_layer(each) for each in json.loads(text).get("Layers", [])]
        name = getattr(self.engine, "name", "")
        memory = getattr(self.engine, "device_memory_size_v2", None) or getattr(self.engine, "device_memory_size", 0)
        return write_listing(self.package.title, name, (inputs, outputs), layers, memory, self.notes)


class Held:
    """Memory that is kept for the time of a run."""

    def __init__(self, device):
        self.device, self.addresses, self.arrays, self.allocators = device, {}, [], []

    def free(self):
        self.device.free(self.addresses.values())


class Output:
    """Memory for an output: now, or when its size is known. Elements are taken as bytes, whatever their type."""

    def __init__(self, session, context, name, held):
        engine, trt = session.engine, session.trt
        self.numpy, self.name, self.held, self.device = session.numpy, name, held, session.device
        self.number = number_of(engine.get_tensor_dtype(name))
        if self.number == 0 or engine.get_tensor_format(name) != trt.TensorFormat.LINEAR:
            raise Fault(UNSUPPORTED, f"the output `{name}` lies as {engine.get_tensor_format(name).name} of "
                        f"{engine.get_tensor_dtype(name).name}, which is not read here")
        self.shape = tuple(context.get_tensor_shape(name))
        self.is_host = engine.get_tensor_location(name) == trt.TensorLocation.HOST
        self.allocator = None
        if min(self.shape, default=0) < 0:
            self.allocator = make_allocator(trt, session.device, held.addresses)
            context.set_output_allocator(name, self.allocator)
            return
        self.array = self.numpy.zeros(byte_count(self.number, self.shape), self.numpy.uint8)
        address = self.array.ctypes.data
        if not self.is_host:
            address = held.addresses[name] = session.device.take(self.array.nbytes)
        context.set_tensor_address(name, address)

    def message(self):
        if self.allocator is not None:
            self.shape = self.allocator.shapes[self.name]
            self.array = self.numpy.zeros(byte_count(self.number, self.shape), self.numpy.uint8)
        if self.array.size and not self.is_host:
            self.device.get(self.array, self.held.addresses[self.name])
        message = Writer(VALUE).text(self.name).number(TENSOR)
        message.tensor(self.number, self.shape, memoryview(self.array))
        return message.number(self.number)


def make_allocator(trt, device, addresses):
    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.shapes = {}

        def reallocate_output(self, tensor_name, memory, size, alignment):
            if tensor_name in addresses:
                device.free([addresses.pop(tensor_name)])
            addresses[tensor_name] = device.take(size)
            return addresses[tensor_name]

        def notify_shape(self, tensor_name, shape):
            self.shapes[tensor_name] = tuple(shape)

    return Allocator()


# Listings.


def list_network(request):
    """The network that the parser makes of a model, before anything is built."""
    package = Package(request.last("trt-package"))
    built = Build(package, request).parse()
    network, layers = built.network, []
    for i in range(network.num_layers):
        layer = network.get_layer(i)
        inputs = [layer.get_input(j) for j in range(layer.num_inputs)]
        outputs = [layer.get_output(j) for j in range(layer.num_outputs)]
        ports = [[(port(tensor), "") for tensor in each if tensor is not None] for each in (inputs, outputs)]
        layers.append((layer.name, layer.type.name, "", origins(getattr(layer, "metadata", "")), *ports))
    return write_listing(package.title, network.name, network_ports(network), layers, 0, built.notes)


def list_refusals(request):
    """The nodes that the parser refuses: a place, or a number beyond all of them, and the reason."""
    refused = Build(Package(request.last("trt-package")), request).refused_nodes()
    message = Writer(REFUSED).number(len(refused))
    for place, reason in refused:
        message.number((1 << 64) - 1 if place is None else place).text(f"TensorRT: {reason}")
    return message


def origins(metadata):
    """`[ONNX Layer: a][ONNX Layer: b]`"""
    return [each[len("[ONNX Layer: "):] for each in (metadata or "").split("]") if each.startswith("[ONNX Layer: ")]


def port(tensor):
    return tensor.name, number_of(tensor.dtype), shape_of(tensor), bool(tensor.is_shape_tensor)


def shape_of(tensor):
    try:
        return tuple(tensor.shape)
    except ValueError:  # of a tensor whose number of dims is not known
        return ()


def network_ports(network):
    return ([port(network.get_input(i)) for i in range(network.num_inputs)],
            [port(network.get_output(i)) for i in range(network.num_outputs)])


def engine_ports(trt, engine):
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    return [[(name, number_of(engine.get_tensor_dtype(name)), tuple(engine.get_tensor_shape(name)),
              bool(engine.is_shape_inference_io(name))) for name in names if engine.get_tensor_mode(name) == mode]
            for mode in (trt.TensorIOMode.INPUT, trt.TensorIOMode.OUTPUT)]


def engine_layer(layer):
    """A layer as the inspector tells it: a name alone, where the engine was built without details."""
    if isinstance(layer, str):
        return layer, "", "", [], [], []
    ports = [[listed_tensor(each) for each in layer.get(key, [])] for key in ("Inputs", "Outputs")]
    return (layer.get("Name", ""), layer.get("LayerType", ""), str(layer.get("TacticName", "")),
            origins(layer.get("Metadata", "")), *ports)


def listed_tensor(tensor):
    shape = tuple(tensor.get("Dimensions", ()))
    return (tensor.get("Name", ""), 0, shape, False), tensor.get("Format/Datatype", tensor.get("Format", ""))


def write_listing(title, name, boundary, layers, memory, notes):
    message = Writer(LISTED).text(title).text(name)
    for ports in boundary:
        write_ports(message, ports)
    message.number(memory).number(len(layers))
    for layer_name, op, tactic, nodes, inputs, outputs in layers:
        message.text(layer_name).text(op).text(tactic).number(len(nodes))
        for node in nodes:
            message.text(node)
        for tensors in (inputs, outputs):
            write_ports(message, [tensor for tensor, _ in tensors])
            for _, layout in tensors:
                message.text(layout)
    return add_findings(message, notes)


def write_ports(message, ports):
    message.number(len(ports))
    for name, number, shape, is_shape in ports:
        message.text(name).number(0).number(int(is_shape)).number(1)
        message.number(0).number(number).number(1).number(len(shape))
        for dim in shape:
            message.number(int(dim >= 0)).number(max(dim, 0)).text("?" if dim < 0 else str(dim))
        message.number(0)


def add_findings(message, warnings):
    message.number(len(warnings))
    for text in warnings:
        message.number(WARNING).text("").text(text).text("")
    return message
