"""What users derive their own classes from, beside calibrators, loggers and plugins."""

from assay.exception import PolygraphyException
from assay.tensorrt.dims import NoOpContext
from assay.tensorrt.enums import APILanguage, SerializationFlag


class InterfaceInfo:
    """The kind of an interface, and its version."""

    def __init__(self, kind="", major=1, minor=0) -> None:
        self._parts = (kind, major, minor)

    kind = property(lambda self: self._parts[0])
    major = property(lambda self: self._parts[1])
    minor = property(lambda self: self._parts[2])


class IVersionedInterface:
    """What interfaces that users derive from have in common."""

    api_language = APILanguage.PYTHON

    @property
    def interface_info(self):
        """The kind, which is the name of the class, and its version."""
        return InterfaceInfo(type(self).__name__)


class IAlgorithmSelector:
    """To be derived from: report_algorithms() is told the layers of a plan and their tactics, select_algorithms() is not
    asked. Which tactics are taken is said with TacticReplayer, or `assay convert --load-tactics`."""

    def __init__(self) -> None:
        pass

    def select_algorithms(self, context, choices):
        return list(range(len(choices)))

    def report_algorithms(self, contexts, choices):
        pass


class IProfiler:
    """To be derived from: is told the time of each layer."""

    def __init__(self) -> None:
        pass

    def report_layer_time(self, layer_name, ms):
        raise NotImplementedError


class Profiler(IProfiler):
    """Prints the time of each layer."""

    def report_layer_time(self, layer_name, ms) -> None:
        print(f"{layer_name}: {ms}ms")


class IProgressMonitor(IVersionedInterface):
    """To be derived from: is told the steps of a build, and ends it where step_complete() gives False."""

    def __init__(self) -> None:
        pass

    def phase_start(self, phase_name, parent_phase, num_steps):
        raise NotImplementedError

    def step_complete(self, phase_name, step):
        raise NotImplementedError

    def phase_finish(self, phase_name):
        raise NotImplementedError


class IDebugListener(IVersionedInterface):
    """To be derived from: is told the tensors that were marked for debugging, after each run."""

    def __init__(self) -> None:
        pass

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        """The address is valid during the call."""
        raise NotImplementedError


class IGpuAllocator(IVersionedInterface):
    """To be derived from. Not asked: memory is that of the process."""

    def __init__(self) -> None:
        pass

    def allocate(self, size, alignment, flags):
        raise NotImplementedError

    def deallocate(self, memory):
        raise NotImplementedError

    def reallocate(self, address, alignment, new_size):
        raise NotImplementedError

    def allocate_async(self, size, alignment, flags, stream):
        raise NotImplementedError

    def deallocate_async(self, memory, stream):
        raise NotImplementedError


class IGpuAsyncAllocator(IGpuAllocator):
    """Likewise."""


class IStreamReader(IVersionedInterface):
    """To be derived from: `read(size)` gives the next bytes of a plan, none at its end."""

    def __init__(self) -> None:
        pass

    def read(self, size):
        raise NotImplementedError


class IStreamReaderV2(IVersionedInterface):
    """To be derived from: `read(num_bytes, stream)` gives the next bytes of a plan, none at its end. `seek` is not called."""

    def __init__(self) -> None:
        pass

    def read(self, num_bytes, stream):
        raise NotImplementedError

    def seek(self, offset, where):
        raise NotImplementedError


class IStreamWriter(IVersionedInterface):
    """To be derived from: `write(data)` takes the bytes of a plan and gives their number."""

    def __init__(self) -> None:
        pass

    def write(self, data):
        raise NotImplementedError


class ISerializationConfig(NoOpContext):
    """How an engine is written again: as it is."""

    flags = 0

    def set_flag(self, flag):
        """Whether the flag can be heeded."""
        if SerializationFlag(flag) == SerializationFlag.EXCLUDE_WEIGHTS:
            raise PolygraphyException("an engine keeps its weights: BuilderFlag.STRIP_PLAN builds one without")
        self.flags |= 1 << int(flag)
        return True

    def clear_flag(self, flag):
        self.flags &= ~(1 << int(flag))
        return True

    def get_flag(self, flag):
        return bool(self.flags >> int(flag) & 1)
