"""Models whose initializers come from memory of the user."""

from __future__ import annotations

from assay import _native
from assay._arrays import to_numpy
from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims, in_memory
from assay.tensorrt.enums import ErrorCode
from assay.tensorrt.logger import native_log


class ModelInParts:
    """A model that is loaded first, gets initializers, and is used then."""

    logger = None
    _loaded = None  # a graph of assay.graphsurgeon

    def _fail(self, text, code) -> bool:
        """Keeps an error; False."""
        raise NotImplementedError

    def load_model_proto(self, model: bytes, path=None) -> bool:
        """Loads the bytes of a model; external data of a `path` is read, without one it comes by load_initializer()."""
        from assay.graphsurgeon import import_onnx

        try:
            with in_memory(bytes(model)) as place:
                native = _native.load_model(str(path or place), "", path is None, native_log(self.logger))
            self._loaded = import_onnx(native)
        except PolygraphyException as error:
            return self._fail(str(error), ErrorCode.MODEL_DESERIALIZE_FAILED)
        return True

    def load_initializer(self, name: str, data: int, size: int) -> bool:
        """Takes the elements of an initializer from `size` bytes at an address."""
        constant = None if self._loaded is None else self._loaded.tensors().get(name)
        if constant is None or type(constant).__name__ != "Constant":
            return self._fail(f"no model with an initializer `{name}` is loaded", ErrorCode.INVALID_VALUE)
        from assay.datatype import DataType as Shared
        from assay.graphsurgeon.ir.tensor import number_of

        shape, kind = Dims(constant.shape), Shared.from_number(number_of(constant.dtype))
        wanted = int(shape.numel() * kind.itemsize)
        if size != wanted:
            return self._fail(f"the initializer `{name}` has {wanted} bytes, seen {size}", ErrorCode.INVALID_VALUE)
        constant.values = to_numpy(_native.array_at(int(data), kind.native, list(shape))).copy()
        return True

    def _whole(self):
        """The native model."""
        from assay.graphsurgeon import export_onnx

        if self._loaded is None:
            raise PolygraphyException("no model is loaded: load_model_proto() loads one")
        return export_onnx(self._loaded, do_type_check=False).native
