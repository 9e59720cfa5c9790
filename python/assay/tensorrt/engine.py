"""Engines that were built, and their executions. Addresses are those of memory of this process."""

from __future__ import annotations

import json
import weakref

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Attribute, Fixed, Threads
from assay.tensorrt.bindings import Bindings
from assay.tensorrt.builder import DEBUG, FORMATS, MARKED, NAME, PROFILES, WEIGHTS
from assay.tensorrt.context import IExecutionContext
from assay.tensorrt.dims import Dims, IHostMemory, NoOpContext, in_memory
from assay.tensorrt.enums import DataType, TensorIOMode, TensorLocation
from assay.tensorrt.formats import WORDS, in_memory_order, in_network_order
from assay.tensorrt.interfaces import ISerializationConfig, IStreamReader, IStreamReaderV2
from assay.tensorrt.logger import native_log, report
from assay.tensorrt.pipeline import PipelineExecution, PipelineSession, is_pipeline
from assay.tensorrt.runtime_cache import HEADER_SIZE, IRuntimeConfig, validity_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import Any


class Runtime(NoOpContext):
    """Opens plans."""

    logger = property(lambda self: self._logger, doc="Who is told of mistakes.")
    max_threads = Threads("How many threads run an engine; all that the processor has until it is set.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    gpu_allocator = Attribute(None, None, "Not asked: memory is that of the process.")
    engine_host_code_allowed = Attribute(bool, False, "Accepted: plans hold no code.")
    temporary_directory = Attribute(None, None, "Accepted.")
    tempfile_control_flags = Attribute(int, (1 << len(enums.TempfileControlFlag)) - 1, "Accepted.")
    dla_workspace_allocation_strategy = Attribute(enums.DLAWorkspaceAllocationStrategy,
                                                  enums.DLAWorkspaceAllocationStrategy.DEFAULT, "Accepted.")
    defer_weights_loading = Attribute(bool, False, "Accepted: weights are read when they are wanted.")
    DLA_core = Fixed(-1)
    num_DLA_cores = Fixed(0)

    def __init__(self, logger) -> None:
        self._logger = logger

    def deserialize_cuda_engine(self, serialized_engine) -> ICudaEngine | Any:
        """The engine of a plan; None if it is none, which the logger is told."""
        if isinstance(serialized_engine, (IStreamReader, IStreamReaderV2)):
            rest = () if isinstance(serialized_engine, IStreamReader) else (0,)  # a stream
            serialized_engine = b"".join(iter(lambda: bytes(serialized_engine.read(1 << 20, *rest)), b""))
        try:
            engine = ICudaEngine(bytes(serialized_engine), self.logger, Threads.of(self))
            engine.error_recorder = self.error_recorder
            return engine
        except PolygraphyException as error:
            return report(self, error)

    engine_header_size = Fixed(HEADER_SIZE, "Bytes that get_engine_validity() needs at least; where there are more, it looks "
                                            "at all of them.")

    def get_engine_validity(self, buffer):
        """(EngineValidity, mask of EngineInvalidityDiagnostics): whether the plan can be opened, and if not, why."""
        return validity_of(bytes(buffer))

    def load_runtime(self, path):
        """There is one runtime only."""
        return self

    def get_plugin_registry(self):
        from assay.tensorrt.plugins import get_plugin_registry

        return get_plugin_registry()


class ICudaEngine(Bindings, NoOpContext):
    """A plan that is open; its contexts share its weights."""

    logger = property(lambda self: self._logger, doc="Who is told of mistakes.")
    name = property(lambda self: self._name, doc="The network's.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    profiling_verbosity = Fixed(enums.ProfilingVerbosity.DETAILED)
    engine_capability = Fixed(enums.EngineCapability.STANDARD)
    hardware_compatibility_level = Fixed(enums.HardwareCompatibilityLevel.NONE)
    has_implicit_batch_dimension = Fixed(False)
    max_batch_size = Fixed(1)
    num_aux_streams = Fixed(0)
    tactic_sources = Fixed(0)
    device_memory_size = Fixed(0, "A context takes what it needs in a run.")
    device_memory_size_v2 = Fixed(0)
    max_workspace_size = Fixed(0)
    minimum_weight_streaming_budget = Fixed(0)
    weight_streaming_scratch_memory_size = Fixed(0)
    streamable_weights_size = Fixed(0, "Weights are where they are in the plan.")
    weight_streaming_budget = Attribute(int, 0, "Accepted.")
    weight_streaming_budget_v2 = Attribute(int, 0, "Accepted.")

    def __init__(self, data, logger=None, threads=0) -> None:
        self._data = data
        self._logger = logger
        self._threads = threads
        self._contexts: weakref.WeakSet = weakref.WeakSet()
        metadata = self._open_pipeline() if is_pipeline(data) else self._open_plan()
        self._weights, self._marked = (json.loads(metadata.get(key, "null")) for key in (WEIGHTS, MARKED))
        self._is_of_program = PROFILES not in metadata  # not built by this module, which notes what may be refitted
        self._name = metadata.get(NAME, "Unnamed Network 0")
        self._profiles, self._values = json.loads(metadata.get(PROFILES, "[[], []]"))
        self._formats = {name: enums.TensorFormat[each] for name, each in json.loads(metadata.get(FORMATS, "{}")).items()}
        self._ports = self._ports_of(self._session)
        self._names = [each[0] for each in self._ports]

    def _open_plan(self):
        with in_memory(self._data) as path:
            metadata, self._source, self._layers, is_stripped, self._keeps_weights = _native.read_plan(path)
            metadata = dict(metadata)
            self._read_debug(metadata)
            self._session = None if is_stripped else self._open(path, {}, self._hidden)
        return metadata

    def _read_debug(self, metadata):
        self._debug, self._hidden = json.loads(metadata.get(DEBUG, "[[], []]"))

    def _open_pipeline(self):
        def open_plan(data):
            with in_memory(data) as path:
                return self._open(path, {})

        self._session = PipelineSession(self._data, open_plan)
        self._source, self._layers, self._keeps_weights = None, [], False
        for step in self._session.header["steps"]:
            name = step["plugin"][0] if "plugin" in step else "native part"
            tensors = {key: [(each, None, [], "") for each in step[key]] for key in ("inputs", "outputs")}
            self._layers.append({"name": name, "op": name, "tactic": "plugin", "origins": [], **tensors})
        self._read_debug(self._session.header["metadata"])
        return self._session.header["metadata"]

    def _new_execution(self, profiles=False):
        if isinstance(self._session, PipelineSession):
            return PipelineExecution(self._session)
        return _native.Execution(self._session, profiles)

    def _open(self, path, settings, values=()):
        wanted = _native.Wanted("engine", settings, list(values), self._threads)
        return _native.open_plan(path, wanted, native_log(self.logger))

    def _ports_of(self, session):
        """(name, type, dims, whether elements decide shapes, whether it is an input); of a plan without weights as its
        model has them."""
        if session is None:
            inputs, outputs = ([(*each, False) for each in some] for some in (self._source.inputs, self._source.outputs))
        else:
            inputs, outputs = session.inputs, session.outputs
        rows = [(each, True) for each in inputs] + [(each, False) for each in outputs if each[0] not in self._hidden]
        return [(name, dtype, dims and in_network_order(self._formats.get(name), dims), shapes, is_input)
                for (name, dtype, dims, shapes), is_input in rows]

    def _outputs(self):
        return [each[0] for each in self._ports if not each[4]]

    def _refit(self, model, log):
        """The weights of the model of a file take the place of those that the engine and its contexts have."""
        with in_memory(self._data) as path:
            settings = {"refit-from": [model], **({"mark-debug": self._hidden} if self._hidden else {})}
            wanted = _native.Wanted("engine", settings, self._hidden, self._threads)
            self._session = _native.open_plan(path, wanted, log)
        self._ports = self._ports_of(self._session)
        for context in self._contexts:
            context._renew()

    refittable = property(lambda self: self._weights is not None or (self._is_of_program and self._keeps_weights))
    num_io_tensors = property(lambda self: len(self._ports))
    num_layers = property(lambda self: len(self._layers))
    num_optimization_profiles = property(lambda self: max(1, len(self._profiles)))

    def serialize(self) -> IHostMemory:
        return IHostMemory(self._data)

    def serialize_with_config(self, config):
        return self.serialize()

    def create_serialization_config(self):
        return ISerializationConfig()

    def create_runtime_config(self):
        return IRuntimeConfig()

    def create_execution_context(self, strategy=None) -> IExecutionContext | Any:
        """None for a plan without weights, which the logger is told. `strategy`: of memory, or a runtime configuration."""
        if self._session is None:
            return report(self, "the plan has no weights: a Refitter gives it some")
        context = IExecutionContext(self)
        context._config = strategy if isinstance(strategy, IRuntimeConfig) else IRuntimeConfig(strategy)
        cache = context._config.get_runtime_cache()
        for shapes in cache._shapes if cache is not None else ():
            context._plan_for(shapes)
        self._contexts.add(context)
        return context

    def create_execution_context_without_device_memory(self):
        """The same."""
        return self.create_execution_context()

    weights_loaded = Fixed(True, "Weights are where they are in the plan.")

    def create_weights_manager(self):
        """None: weights lie in the plan, and are not moved."""
        return report(self, "weights lie in the plan: there is none to manage them")

    def load_weights(self, blob):
        """They are there."""
        return True

    def load_weights_async(self, stream_reader, stream):
        """Likewise."""
        return True

    def unload_weights(self):
        """False: they stay."""
        return report(self, "weights lie in the plan and stay there") or False

    def create_engine_inspector(self):
        from assay.tensorrt.inspector import EngineInspector

        return EngineInspector(self)

    def _port(self, name):
        try:
            return self._ports[self._names.index(name)]
        except ValueError:
            raise PolygraphyException(f"the engine has no tensor `{name}`; tensors: {', '.join(self._names)}") from None

    def _known(self, name):
        """The port of a name; None, which the logger is told, if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"incompatible function arguments: the name of a tensor is {name!r}, expected is a str")
        try:
            return self._port(name)
        except PolygraphyException as error:
            return report(self, error)

    def get_tensor_name(self, index: int) -> str | Any:
        """None, which the logger is told, if there is no tensor of that number."""
        if 0 <= index < len(self._names):
            return self._names[index]
        return report(self, f"the engine has {len(self._names)} tensors, not one of the number {index}")

    def get_tensor_shape(self, name: str) -> Dims | Any:
        """-1 for open dims. None, which the logger is told, if there is no such tensor."""
        port = self._known(name)
        return port and Dims([-1] if port[2] is None else [each if isinstance(each, int) else -1 for each in port[2]])

    def get_tensor_dtype(self, name: str) -> DataType:
        """Float32, and the logger is told, if there is no such tensor."""
        port = self._known(name)
        return DataType.of_native(port[1] or "float32") or DataType.FLOAT if port else DataType.FLOAT

    def get_tensor_mode(self, name: str) -> Any:
        """NONE, and the logger is told, if there is no such tensor."""
        port = self._known(name)
        if not port:
            return TensorIOMode.NONE
        return TensorIOMode.INPUT if port[4] else TensorIOMode.OUTPUT

    def get_tensor_location(self, name):
        return TensorLocation.HOST if self.is_shape_inference_io(name) else TensorLocation.DEVICE

    def is_shape_inference_io(self, name):
        """False, and the logger is told, if there is no such tensor."""
        port = self._known(name)
        return bool(port and port[3])

    def get_tensor_bytes_per_component(self, name, profile_index=0):
        return -1

    def get_tensor_components_per_element(self, name, profile_index=0):
        return -1

    def get_tensor_format(self, name, profile_index=0):
        self._known(name)
        return self._formats.get(name, enums.TensorFormat.LINEAR)

    def get_tensor_format_desc(self, name, profile_index=0):
        return WORDS[self.get_tensor_format(name).name]

    def _in_memory(self, name, dims):
        """Dims of a tensor in the order of its memory."""
        return in_memory_order(self._formats.get(name), dims)

    def _in_network(self, name, dims):
        """The other way round."""
        return in_network_order(self._formats.get(name), dims)

    def get_tensor_vectorized_dim(self, name, profile_index=0):
        return -1

    def get_device_memory_size_for_profile(self, profile_index):
        return self.device_memory_size

    get_device_memory_size_for_profile_v2 = get_device_memory_size_for_profile

    def get_engine_stat(self, stat):
        """Bytes of the weights, or of those that a stripped plan lacks."""
        from assay.graphsurgeon import import_onnx

        if (stat == enums.EngineStat.STRIPPED_WEIGHTS_SIZE) != (self._session is None) or self._source is None:
            return 0
        tensors = import_onnx(self._source).tensors().values()
        return sum(int(each.values.nbytes) for each in tensors if type(each).__name__ == "Constant")

    def get_weight_streaming_automatic_budget(self):
        return self.weight_streaming_budget

    def get_aliased_input_tensor(self, name):
        return None

    def is_debug_tensor(self, name):
        """Whether the tensor was marked for debugging."""
        return name in self._debug

    def get_tensor_profile_shape(self, name, profile_index=0):
        """Least, best and greatest shape of an input; three times None, which the logger is told, if there is no such input
        or profile."""
        if profile_index >= self.num_optimization_profiles or profile_index < 0:
            report(self, f"the engine has {self.num_optimization_profiles} profiles, not one of the number {profile_index}")
            return [None] * 3
        triple = self._profiles[profile_index].get(name) if self._profiles else None
        if triple is None:
            return [self.get_tensor_shape(name)] * 3
        return [Dims(each) for each in triple]

    def get_tensor_profile_values(self, profile_index, name):
        triple = self._values[profile_index].get(name) if self._values else None
        return [] if triple is None else [list(each) for each in triple]

    def __getattr__(self, name):
        if name == "create_execute_context":
            raise AttributeError("'ICudaEngine' object has no attribute 'create_execute_context'; did you mean "
                                 "'create_execution_context'?")
        raise AttributeError(f"'ICudaEngine' object has no attribute '{name}'")

    def _output_shapes(self, inputs):
        """Shapes of outputs for shapes of inputs; dims that data decides are -1."""
        if self._source is None:
            return {}
        rows = [(name, "", self._in_memory(name, dims)) for name, dims in inputs.items()]
        model = _native.sanitize(self._source, {"inputs": rows}, None)
        known = ((name, [-1] if dims is None else [each if isinstance(each, int) else -1 for each in dims])
                 for name, _, dims in model.outputs)
        return {name: Dims(dims if -1 in dims and len(dims) == 1 else self._in_network(name, dims)) for name, dims in known}
