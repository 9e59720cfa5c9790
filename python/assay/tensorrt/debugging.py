"""Tensors that were marked for debugging: what a context tells a listener of them after a run."""

from assay import _native, cuda
from assay._arrays import to_numpy
from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, TensorLocation


class DebugTensors:
    """The part of a context that knows of them. None is told of unless its state is set and there is a listener."""

    unfused_tensors_debug_state = False  # only what was marked by name is told of

    def _start_debugging(self):
        self._listener = None
        self._watched = set()
        self._is_debugging = False

    def _watch(self):
        self._is_debugging = bool(self._debugged())
        self._forget()
        return True

    def set_debug_listener(self, listener):
        """Who is told; None: nobody."""
        self._listener = listener
        return self._watch()

    def get_debug_listener(self):
        return self._listener

    def set_tensor_debug_state(self, name, flag):
        """Whether there is such a tensor, which is told of from now on, or is not."""
        if name not in self.engine._debug:
            return self._tell(f"the tensor `{name}` was not marked for debugging when the engine was built")
        (self._watched.add if flag else self._watched.discard)(name)
        return self._watch()

    def set_all_tensors_debug_state(self, flag):
        """Likewise of all that were marked."""
        self._watched = set(self.engine._debug) if flag else set()
        return self._watch()

    def get_debug_state(self, name):
        return name in self._watched

    def _debugged(self):
        return [] if self._listener is None else [name for name in self.engine._debug if name in self._watched]

    def _tell_listener(self, values, stream=0):
        if not self._is_debugging:
            return
        memory = cuda.wrapper()
        for name in self._debugged():
            array, dtype = to_numpy(values[name]), _type_of(values[name])
            address = memory.malloc(max(1, array.nbytes))
            try:
                _native.copy_memory(address, array.ctypes.data, array.nbytes)
                is_well = self._listener.process_debug_tensor(address, TensorLocation.DEVICE, dtype, Dims(array.shape), name,
                                                              stream)
            finally:
                memory.free(address)
            if is_well is False:
                raise PolygraphyException(f"the debug listener failed at the tensor `{name}`")


def _type_of(array):
    """Of an array of native code, or of numpy."""
    if isinstance(array, _native.Array):
        return DataType.of_native(array.type) or DataType.FLOAT
    from assay.datatype import DataType as Shared

    return DataType.of_number(Shared.from_dtype(array.dtype).number) or DataType.FLOAT
