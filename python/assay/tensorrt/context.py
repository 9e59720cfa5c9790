"""Executions of engines."""

from assay import _native
from assay._arrays import to_numpy
from assay.cuda import MEMORY
from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Attribute
from assay.tensorrt.debugging import DebugTensors
from assay.tensorrt.dims import Dims, NoOpContext, is_address
from assay.tensorrt.logger import note, report
from assay.tensorrt.ranks import Communicator
from assay.tensorrt.runtime_cache import IRuntimeConfig
from assay.tensorrt.shapes import Shapes


class IOutputAllocator:
    """To be derived from: memory for outputs whose sizes are not known before."""

    def __init__(self) -> None:
        pass

    def reallocate_output(self, tensor_name, memory, size, alignment):
        raise NotImplementedError

    def reallocate_output_async(self, tensor_name, memory, size, alignment, stream):
        """Asked first, where a derived class has it; by default the same as reallocate_output()."""
        return self.reallocate_output(tensor_name, memory, size, alignment)

    def notify_shape(self, tensor_name, shape):
        raise NotImplementedError


class IExecutionContext(Shapes, DebugTensors, NoOpContext):
    """One execution of an engine: shapes and addresses. For one thread at a time."""

    engine = property(lambda self: self._engine, doc="What it executes.")
    name = Attribute(str, "", "Any text.")
    profiler = Attribute(None, None, "Who is told the time of each layer after a run.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    temporary_allocator = Attribute(None, None, "Not asked: memory is that of the process.")
    debug_sync = Attribute(bool, False, "Accepted.")
    enqueue_emits_profile = Attribute(bool, True, "Accepted.")
    nvtx_verbosity = Attribute(enums.ProfilingVerbosity, enums.ProfilingVerbosity.LAYER_NAMES_ONLY, "Accepted.")
    persistent_cache_limit = Attribute(int, 0, "Accepted.")
    device_memory = Attribute(None, 0, "Accepted.")

    def __init__(self, engine) -> None:
        self._engine = engine
        self._execution = engine._new_execution()
        self._communicator = None
        self._addresses: dict = {}
        self._allocators: dict = {}
        self._plan = None  # what the next run reads and writes, where that is settled
        self._is_collected = False  # outputs are collected and copied then, not written to their addresses
        self._start_shapes()
        self._start_debugging()
        self._bound = None  # the addresses that it was settled for, given by index
        self.error_recorder = engine.error_recorder
        self._event = 0
        self._config = IRuntimeConfig()

    def get_runtime_config(self):
        return self._config

    def is_stream_capturable(self, stream=0):
        """Whether runs on the stream can be captured: those whose shapes are settled, on a card."""
        return bool(MEMORY.is_card) and not self.infer_shapes()

    def _plan_for(self, shapes):
        """Plans for shapes that are known beforehand, by a run on zeros."""
        import numpy as np

        from assay.datatype import DataType as Shared

        feeds = {}
        for name, dtype, _, decides, is_input in self.engine._ports:
            if is_input and (decides or name not in shapes):
                return
            if is_input:
                feeds[name] = np.zeros(shapes[name], Shared.from_native(dtype).numpy())
        try:
            self._execution.run(feeds, self.engine._outputs())
        except PolygraphyException as error:
            note(self.engine.logger, f"the runtime cache has shapes that are not planned for: {error}")

    def _note_shapes(self):
        if self._config.get_runtime_cache() is not None:
            self._config.get_runtime_cache()._note({name: list(self.get_tensor_shape(name))
                                                    for name, *_, is_input in self.engine._ports if is_input})

    @property
    def logger(self):
        return self.engine.logger

    def _tell(self, error):
        report(self, error)
        return False

    def _renew(self):
        """The engine has other weights."""
        self._execution = self.engine._new_execution()
        self._join(self._execution)
        self._forget()

    def _forget(self):
        self._plan = None

    # Memory.

    def set_tensor_address(self, name, memory):
        """Where an input is read, or an output is written; whether there is such a tensor."""
        if not self.engine._known(name):
            return False
        if self._addresses.get(name) != int(memory):
            self._addresses[name] = int(memory)
            self._forget()
        return True

    set_input_tensor_address = set_output_tensor_address = set_tensor_address

    def get_tensor_address(self, name):
        return self._addresses.get(name, 0)

    def set_output_allocator(self, name, output_allocator):
        """Memory of an output is asked for when its size is known; whether there is such an output."""
        port = self.engine._known(name)
        if not port or port[4]:
            return False
        self._allocators[name] = output_allocator
        self._forget()
        return True

    def get_output_allocator(self, name):
        return self._allocators.get(name)

    def set_input_consumed_event(self, event):
        """A run is over when it returns then, and the event has happened."""
        self._event = event
        return True

    def get_input_consumed_event(self):
        return self._event

    def set_communicator(self, communicator):
        """Runs that follow are the part of one rank (assay.tensorrt.ranks); with None, they are by themselves."""
        if communicator is not None and not isinstance(communicator, Communicator):
            return self._tell("ranks are threads of one process: a communicator is one of "
                              "assay.tensorrt.ranks.communicators(), and none of NCCL")
        self._communicator = communicator
        self._join(self._execution)
        return True

    def _join(self, execution):
        if self._communicator is None:
            execution.join(None)
        else:
            execution.join(self._communicator._meeting, self._communicator.rank)

    def set_aux_streams(self, aux_streams):
        pass

    def set_device_memory(self, memory, size):
        pass

    def update_device_memory_size_for_shapes(self):
        return 0

    def report_to_profiler(self):
        return self._profile_layers()

    # Runs.

    def execute_v2(self, bindings):
        """Runs with the addresses of all tensors in order; whether that went well."""
        key = tuple(bindings)
        if self._plan is not None and key == self._bound:
            return self._run(None)
        count = len(self.engine._names)
        if len(bindings) not in (count, self.engine._binding_count()):
            return self._tell(f"{len(bindings)} addresses are given for {count} tensors")
        given = bindings if len(bindings) == count else list(bindings)[self._profile * count:][:count]
        for name, address in zip(self.engine._names, given):
            self.set_tensor_address(name, address)
        is_well = self._run(None)
        self._bound = key
        return is_well

    def execute_async_v2(self, bindings, stream_handle=0, input_consumed=None):
        """As execute_v2(), whose work is over when it returns."""
        return self.execute_v2(bindings)

    def execute(self, batch_size=1, bindings=()):
        return self.execute_v2(bindings)

    def execute_async(self, batch_size=1, bindings=(), stream_handle=0, input_consumed=None):
        return self.execute_v2(bindings)

    def execute_async_v3(self, stream_handle=0):
        """Runs with the addresses that are set. On a card, in the order of the stream, and it may return before; on the
        processor, and where the host has a part in it, the run is over when it returns."""
        return self._run(int(stream_handle), bool(self._event or self.profiler is not None))

    def _run(self, stream, is_awaited=False):
        try:
            self._execution.follow(stream)
            if self._plan is None:
                self._settle()
            if self._is_collected:
                self._run_collected(*self._plan)
            else:
                self._execution.run_bound()
            if is_awaited:
                MEMORY.wait_for_stream(stream)
            if self._event and MEMORY.is_card:
                MEMORY.record(int(self._event), stream or 0)
        except PolygraphyException as error:
            return self._tell(error)
        if self.profiler is not None:
            self._profile_layers()
        return True

    def _settle(self):
        plan = self._prepared()
        self._note_shapes()
        self._is_collected = bool(plan[2]) or self._is_debugging
        if not self._is_collected:
            self._execution.bind_at(*plan[:2])
        self._plan = plan

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
            if not is_address(address):
                raise PolygraphyException(f"the tensor `{name}` has no address")
            (inputs if is_input else outputs).append((name, address, self.engine._in_memory(name, shape)))
        return inputs, outputs, unknown

    def _run_collected(self, inputs, outputs, unknown):
        names = [each[0] for each in outputs] + unknown
        values = self._execution.run(self._feeds(inputs), list(dict.fromkeys(names + self._debugged())))
        for name in names:
            address = self._place_of(name, values[name])
            if not is_address(address):
                raise PolygraphyException(f"the output `{name}` has no memory: its address is {address!r}")
            array = to_numpy(values[name])
            _native.copy_memory(int(address), array.ctypes.data, array.nbytes)
        self._tell_listener(values)

    def _feeds(self, inputs):
        """What lies at the addresses of inputs."""
        types = {each[0]: each[1] for each in self.engine._ports}
        return {name: _native.array_at(address, types[name], shape) for name, address, shape in inputs}

    def _place_of(self, name, array):
        """The address of an output, which an allocator may be asked for."""
        address, allocator = self._addresses.get(name, 0), self._allocators.get(name)
        if allocator is not None:
            reallocate = getattr(allocator, "reallocate_output_async", None)
            address = reallocate(name, address, array.nbytes, 256, 0) if reallocate else \
                allocator.reallocate_output(name, address, array.nbytes, 256)
            allocator.notify_shape(name, Dims(self.engine._in_network(name, array.shape)))
        return address

    def infer(self, feeds):
        """Runs on arrays by name and gives arrays of outputs, with their axes in the order of memory."""
        for name, value in feeds.items():
            shape = getattr(value, "shape", ())
            if shape != self._plain.get(name) and not self.set_input_shape(name, self.engine._in_network(name, shape)):
                low, _, high = self.engine.get_tensor_profile_shape(name, self._profile)
                raise PolygraphyException(f"the input `{name}` has the shape {tuple(value.shape)}, the profile goes from "
                                          f"{low} to {high}")
        self._forget()  # the run takes other memory
        names = self.engine._outputs()
        values = self._execution.run(feeds, list(dict.fromkeys(names + self._debugged())))
        self._tell_listener(values)
        return {name: to_numpy(values[name]) for name in names}

    @property
    def seconds(self):
        """Of the last run."""
        return self._execution.seconds

    def _profile_layers(self):
        if self.profiler is None or self._plan is None:
            return False
        profiled = self.engine._new_execution(True)
        self._join(profiled)
        if self._is_collected:
            profiled.run(self._feeds(self._plan[0]), self.engine._outputs())
        else:
            profiled.bind_at(*self._plan[:2])
            profiled.run_bound()
        for name, _, seconds in profiled.profile():
            self.profiler.report_layer_time(name, seconds * 1e3)
        return True
