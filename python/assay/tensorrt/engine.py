"""Engines that were built, and their executions. Addresses are those of memory of this process."""

import json
import os
import threading

from assay import _native
from assay._arrays import to_numpy
from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.builder import NAME, PROFILES
from assay.tensorrt.dims import Dims, IHostMemory, NoOpContext
from assay.tensorrt.enums import DataType, TensorIOMode, TensorLocation
from assay.tensorrt.logger import Severity, native_log


LEAST_ADDRESS = 4096  # below it, nothing is ever mapped


class Runtime(NoOpContext):
    """Opens plans."""

    def __init__(self, logger):
        self.logger = logger
        self.engine_host_code_allowed = False
        self.max_threads = 0
        self.error_recorder = None
        self.DLA_core = -1
        self.num_DLA_cores = 0

    def deserialize_cuda_engine(self, serialized_engine):
        """The engine of a plan; None if it is none, which the logger is told."""
        try:
            return ICudaEngine(bytes(serialized_engine), self.logger, self.max_threads)
        except PolygraphyException as error:
            if self.logger is not None:
                self.logger.log(Severity.ERROR, str(error))
            return None

    def load_runtime(self, path):
        """There is one runtime only."""
        return self

    def get_plugin_registry(self):
        from assay.tensorrt.plugins import get_plugin_registry

        return get_plugin_registry()


def _in_memory(data):
    """A path by which the bytes can be opened, and its descriptor."""
    descriptor = os.memfd_create("assay-plan")
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]
    return f"/proc/self/fd/{descriptor}", descriptor


class ICudaEngine(NoOpContext):
    """A plan that is open; its contexts share its weights."""

    def __init__(self, data, logger=None, threads=0):
        self._data = data
        self.logger = logger
        path, descriptor = _in_memory(data)
        try:
            self._session = _native.open_plan(path, _native.Wanted("engine", {}, [], threads), native_log(logger))
            metadata, self._source, self._tactics = _native.read_plan(path)
        finally:
            os.close(descriptor)
        metadata = dict(metadata)
        self.name = metadata.get(NAME, "Unnamed Network 0")
        self._profiles, self._values = json.loads(metadata.get(PROFILES, "[[], []]"))
        self._ports = [(*each, True) for each in self._session.inputs] + [(*each, False)
                                                                         for each in self._session.outputs]
        self._names = [each[0] for each in self._ports]
        self.error_recorder = None
        self.max_batch_size = 1
        self.has_implicit_batch_dimension = False
        self.refittable = False
        self.device_memory_size = self.device_memory_size_v2 = 0
        self.profiling_verbosity = enums.ProfilingVerbosity.DETAILED
        self.engine_capability = enums.EngineCapability.STANDARD
        self.hardware_compatibility_level = enums.HardwareCompatibilityLevel.NONE
        self.num_aux_streams = 0
        self.tactic_sources = 0
        self.streamable_weights_size = self.weight_streaming_budget = self.weight_streaming_budget_v2 = 0

    num_io_tensors = property(lambda self: len(self._ports))
    num_bindings = property(lambda self: len(self._ports) * self.num_optimization_profiles)
    num_layers = property(lambda self: len(self._tactics))
    num_optimization_profiles = property(lambda self: max(1, len(self._profiles)))

    def serialize(self):
        return IHostMemory(self._data)

    def serialize_with_config(self, config):
        return self.serialize()

    def create_serialization_config(self):
        return NoOpContext()

    def create_execution_context(self, strategy=None):
        return IExecutionContext(self)

    create_execution_context_without_device_memory = create_execution_context

    def create_engine_inspector(self):
        from assay.tensorrt.inspector import EngineInspector

        return EngineInspector(self)

    def _port(self, name):
        try:
            return self._ports[self._names.index(name)]
        except ValueError:
            raise PolygraphyException(f"the engine has no tensor `{name}`; tensors: {', '.join(self._names)}") from None

    def get_tensor_name(self, index):
        return self._names[index]

    def get_tensor_shape(self, name):
        dims = self._port(name)[2]
        return Dims([-1] if dims is None else [each if isinstance(each, int) else -1 for each in dims])

    def get_tensor_dtype(self, name):
        return DataType.of_native(self._port(name)[1] or "float32") or DataType.FLOAT

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if self._port(name)[4] else TensorIOMode.OUTPUT

    def get_tensor_location(self, name):
        return TensorLocation.HOST if self.is_shape_inference_io(name) else TensorLocation.DEVICE

    def is_shape_inference_io(self, name):
        return bool(self._port(name)[3])

    def get_tensor_bytes_per_component(self, name, profile_index=0):
        return -1

    def get_tensor_components_per_element(self, name, profile_index=0):
        return -1

    def get_tensor_format(self, name, profile_index=0):
        return enums.TensorFormat.LINEAR

    def get_tensor_format_desc(self, name, profile_index=0):
        return "Row major linear format (kLINEAR)"

    def get_tensor_vectorized_dim(self, name, profile_index=0):
        return -1

    def get_aliased_input_tensor(self, name):
        return None

    def is_debug_tensor(self, name):
        return False

    def get_tensor_profile_shape(self, name, profile_index=0):
        """Least, best and greatest shape of an input."""
        if profile_index >= self.num_optimization_profiles or profile_index < 0:
            raise PolygraphyException(f"the engine has {self.num_optimization_profiles} profiles, not one of the number "
                                      f"{profile_index}")
        triple = self._profiles[profile_index].get(name) if self._profiles else None
        if triple is None:
            return [self.get_tensor_shape(name)] * 3
        return [Dims(each) for each in triple]

    def get_tensor_profile_values(self, profile_index, name):
        triple = self._values[profile_index].get(name) if self._values else None
        return [] if triple is None else [list(each) for each in triple]

    # By index, as programs for TensorRT 8 have it: those of a profile follow those of the one before.

    def __len__(self):
        return self.num_bindings

    def __iter__(self):
        return iter(self._names)

    def __getitem__(self, key):
        return self._name_at(key) if isinstance(key, int) else self.get_binding_index(key)

    def _name_at(self, binding):
        if isinstance(binding, str):
            return self._port(binding)[0]
        if not 0 <= binding < self.num_bindings:
            raise PolygraphyException(f"the engine has {self.num_bindings} bindings, not one of the number {binding}")
        return self._names[binding % len(self._names)]

    def get_binding_name(self, index):
        return self._name_at(index)

    def get_binding_index(self, name):
        return self._names.index(name) if name in self._names else -1

    def get_binding_shape(self, binding):
        return self.get_tensor_shape(self._name_at(binding))

    def get_binding_dtype(self, binding):
        return self.get_tensor_dtype(self._name_at(binding))

    def binding_is_input(self, binding):
        return self._port(self._name_at(binding))[4]

    def is_shape_binding(self, binding):
        return self.is_shape_inference_io(self._name_at(binding))

    def is_execution_binding(self, binding):
        return not self.is_shape_binding(binding)

    def get_binding_format(self, binding):
        return enums.TensorFormat.LINEAR

    def get_binding_vectorized_dim(self, binding):
        return -1

    def get_location(self, binding):
        return self.get_tensor_location(self._name_at(binding))

    def get_profile_shape(self, profile_index, binding):
        return self.get_tensor_profile_shape(self._name_at(binding), profile_index)

    def get_profile_shape_input(self, profile_index, binding):
        return self.get_tensor_profile_values(profile_index, self._name_at(binding))

    def __getattr__(self, name):
        if name == "create_execute_context":
            raise AttributeError("'ICudaEngine' object has no attribute 'create_execute_context'; did you mean "
                                 "'create_execution_context'?")
        raise AttributeError(f"'ICudaEngine' object has no attribute '{name}'")

    def _output_shapes(self, inputs):
        """Shapes of outputs for shapes of inputs; dims that data decides are -1."""
        rows = [(name, "", list(dims)) for name, dims in inputs.items()]
        model = _native.sanitize(self._source, {"inputs": rows}, None)
        return {name: Dims([-1] if dims is None else [each if isinstance(each, int) else -1 for each in dims])
                for name, _, dims in model.outputs}


class IOutputAllocator:
    """To be derived from: memory for outputs whose sizes are not known before."""

    def __init__(self):
        pass

    def reallocate_output(self, tensor_name, memory, size, alignment):
        raise NotImplementedError

    def notify_shape(self, tensor_name, shape):
        raise NotImplementedError


class IExecutionContext(NoOpContext):
    """One execution of an engine: shapes and addresses. For one thread at a time."""

    def __init__(self, engine):
        self.engine = engine
        self.name = ""
        self._execution = _native.Execution(engine._session)
        self._profile = 0
        self._shapes = {}
        self._addresses = {}
        self._allocators = {}
        self._known = {}
        self._plan = None  # what the next run reads and writes, where that is settled
        self.profiler = None
        self.error_recorder = None
        self.debug_sync = False
        self.enqueue_emits_profile = True
        self.nvtx_verbosity = enums.ProfilingVerbosity.LAYER_NAMES_ONLY
        self.persistent_cache_limit = 0
        self.device_memory = 0
        self._thread = threading.Lock()

    # Profiles and shapes.

    @property
    def active_optimization_profile(self):
        return self._profile

    @active_optimization_profile.setter
    def active_optimization_profile(self, index):
        if not self.set_optimization_profile(index):
            raise PolygraphyException(f"the engine has no profile {index}")

    def set_optimization_profile(self, index):
        """Whether there is a profile of that number; shapes are set anew then."""
        if not 0 <= index < self.engine.num_optimization_profiles:
            self._tell(f"the engine has {self.engine.num_optimization_profiles} profiles, not one of the number {index}")
            return False
        if index != self._profile:
            self._profile = index
            self._forget()
            self._shapes = {}
        return True

    def set_optimization_profile_async(self, index, stream_handle=0):
        return self.set_optimization_profile(index)

    def _tell(self, text):
        if self.engine.logger is not None:
            self.engine.logger.log(Severity.ERROR, text)
        return False

    def _forget(self):
        self._plan = None

    def set_input_shape(self, name, shape):
        """Whether the shape is within the profile."""
        port = self.engine._port(name)
        if not port[4]:
            return self._tell(f"`{name}` is an output: its shape follows from the inputs")
        shape = Dims(shape)
        low, _, high = self.engine.get_tensor_profile_shape(name, self._profile)
        declared = self.engine.get_tensor_shape(name)
        fits = len(shape) == len(declared) and all(
            a == b if b >= 0 else (lo < 0 or lo <= a <= hi) for a, b, lo, hi in zip(shape, declared, low, high))
        if not fits:
            return self._tell(f"the input `{name}` cannot have the shape {shape}: declared is {declared}, and the profile "
                              f"goes from {low} to {high}")
        if self._shapes.get(name) != shape:
            self._shapes[name] = shape
            self._forget()
        return True

    def _input_names(self):
        return [each[0] for each in self.engine._ports if each[4]]

    def _input_shape(self, name):
        return self._shapes.get(name) or self.engine.get_tensor_shape(name)

    @property
    def all_binding_shapes_specified(self):
        return all(min(self._input_shape(name), default=0) >= 0 for name in self._input_names())

    all_shape_inputs_specified = True

    def infer_shapes(self):
        """Names of inputs whose shapes are not set."""
        return [name for name in self._input_names() if min(self._input_shape(name), default=0) < 0]

    def get_tensor_shape(self, name):
        """The shape for the shapes of the inputs; -1 for what is not known before a run."""
        if self.engine._port(name)[4]:
            return self._input_shape(name)
        declared = self.engine.get_tensor_shape(name)
        if min(declared, default=0) >= 0 or not self.all_binding_shapes_specified:
            return declared
        return self._outputs().get(name, declared)

    def _outputs(self):
        key = tuple(self._input_shape(name) for name in self._input_names())
        if key not in self._known:
            self._known[key] = self.engine._output_shapes(dict(zip(self._input_names(), key)))
        return self._known[key]

    def get_tensor_strides(self, name):
        strides, step = [], 1
        for dim in reversed(self.get_tensor_shape(name)):
            strides.insert(0, step)
            step *= dim
        return Dims(strides)

    def get_max_output_size(self, name):
        from assay.tensorrt import volume

        return int(volume(self.get_tensor_shape(name)) * self.engine.get_tensor_dtype(name).itemsize)

    def set_binding_shape(self, binding, shape):
        return self.set_input_shape(self.engine._name_at(binding), shape)

    def get_binding_shape(self, binding):
        return self.get_tensor_shape(self.engine._name_at(binding))

    def get_strides(self, binding):
        return self.get_tensor_strides(self.engine._name_at(binding))

    def set_shape_input(self, binding, shape):
        """Elements of an input that decides shapes; they are read from its address."""
        return True

    # Memory.

    def set_tensor_address(self, name, memory):
        """Where an input is read, or an output is written."""
        self.engine._port(name)
        if self._addresses.get(name) != int(memory):
            self._addresses[name] = int(memory)
            self._forget()
        return True

    set_input_tensor_address = set_output_tensor_address = set_tensor_address

    def get_tensor_address(self, name):
        return self._addresses.get(name, 0)

    def set_output_allocator(self, name, output_allocator):
        """Memory of an output is asked for when its size is known."""
        self._allocators[name] = output_allocator
        self._forget()
        return True

    def get_output_allocator(self, name):
        return self._allocators.get(name)

    def set_input_consumed_event(self, event):
        return True

    def set_aux_streams(self, aux_streams):
        pass

    def set_device_memory(self, memory, size):
        pass

    def update_device_memory_size_for_shapes(self):
        return 0

    def set_all_tensors_debug_state(self, flag):
        return False

    def report_to_profiler(self):
        return self._profile_layers()

    # Runs.

    def execute_v2(self, bindings):
        """Runs with the addresses of all tensors in order; whether that went well."""
        count = len(self.engine._names)
        if len(bindings) not in (count, self.engine.num_bindings):
            return self._tell(f"{len(bindings)} addresses are given for {count} tensors")
        given = bindings if len(bindings) == count else list(bindings)[self._profile * count:][:count]
        for name, address in zip(self.engine._names, given):
            self.set_tensor_address(name, address)
        return self.execute_async_v3(0)

    def execute_async_v2(self, bindings, stream_handle=0, input_consumed=None):
        """As execute_v2(): it is over when it returns."""
        return self.execute_v2(bindings)

    def execute(self, batch_size=1, bindings=()):
        return self.execute_v2(bindings)

    def execute_async(self, batch_size=1, bindings=(), stream_handle=0, input_consumed=None):
        return self.execute_v2(bindings)

    def execute_async_v3(self, stream_handle=0):
        """Runs with the addresses that are set; it is over when it returns."""
        try:
            if self._plan is None:
                self._plan = self._prepared()
            inputs, outputs, unknown = self._plan
            if unknown:
                self._run_unknown(inputs, [each[0] for each in outputs] + unknown)
            else:
                self._execution.run_at(inputs, outputs)
        except PolygraphyException as error:
            return self._tell(str(error))
        if self.profiler is not None:
            self._profile_layers()
        return True

    def _prepared(self):
        missing = self.infer_shapes()
        if missing:
            raise PolygraphyException(f"the shapes of the inputs {missing} are not set")
        inputs, outputs, unknown = [], [], []
        for name, _, _, _, is_input in self.engine._ports:
            shape = self.get_tensor_shape(name)
            address = self._addresses.get(name, 0)
            if not is_input and (min(shape, default=0) < 0 or name in self._allocators):
                unknown.append(name)
                continue
            if address < LEAST_ADDRESS:
                raise PolygraphyException(f"the tensor `{name}` has no address")
            (inputs if is_input else outputs).append((name, address, list(shape)))
        return inputs, outputs, unknown

    def _run_unknown(self, inputs, names):
        ports = {each[0]: each[1] for each in self.engine._ports}
        feeds = {name: _native.array_at(address, ports[name], shape) for name, address, shape in inputs}
        for name, array in self._execution.run(feeds, names).items():
            address = self._addresses.get(name, 0)
            allocator = self._allocators.get(name)
            if allocator is not None:
                reallocate = getattr(allocator, "reallocate_output_async", None)
                address = reallocate(name, address, array.nbytes, 256, 0) if reallocate else \
                    allocator.reallocate_output(name, address, array.nbytes, 256)
                allocator.notify_shape(name, Dims(array.shape))
            if not address:
                raise PolygraphyException(f"the output `{name}` has no memory")
            values = to_numpy(array)
            _native.copy_memory(int(address), values.ctypes.data, array.nbytes)

    def infer(self, feeds):
        """Runs on arrays by name and gives arrays of outputs."""
        for name, value in feeds.items():
            if not self.set_input_shape(name, getattr(value, "shape", ())):
                low, _, high = self.engine.get_tensor_profile_shape(name, self._profile)
                raise PolygraphyException(f"the input `{name}` has the shape {tuple(value.shape)}, the profile goes from "
                                          f"{low} to {high}")
        return {name: to_numpy(array) for name, array in self._execution.run(feeds).items()}

    @property
    def seconds(self):
        """Of the last run."""
        return self._execution.seconds

    def _profile_layers(self):
        if self.profiler is None:
            return False
        profiled = _native.Execution(self.engine._session, True)
        if self._plan is None or self._plan[2]:
            return False
        profiled.run_at(*self._plan[:2])
        for name, _, seconds in profiled.profile():
            self.profiler.report_layer_time(name, seconds * 1e3)
        return True
