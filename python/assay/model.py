"""ONNX models: native, and as `onnx.ModelProto` where somebody asks for its parts."""

from __future__ import annotations

import os
import sys

from assay import _native
from assay.exception import MissingFileException
from assay.logger import G_LOGGER


class Model:
    """A model of native code with the attributes of `onnx.ModelProto`.

    Parsed by the package onnx only when a part is asked for; what is then changed there counts. `onnx.save`,
    `onnx.checker` and `onnx.shape_inference` take it.
    """

    def __init__(self, native, source: str | None = None):
        self.__dict__["_native"] = native
        self.__dict__["_proto"] = None
        self.__dict__["_source"] = source  # a file whose weights in other files are left there

    @property  # type: ignore[misc]
    def __class__(self):
        return sys.modules["onnx"].ModelProto if "onnx" in sys.modules else Model

    @property
    def native(self) -> _native.Model:
        """The native model; made anew where the parts may have been changed."""
        if self._proto is not None:
            return _native.model_from_bytes(self._proto.SerializeToString())
        return self._native

    def _parse(self):
        if self._proto is None:
            import onnx

            if self._source is not None:
                proto = onnx.load(self._source, load_external_data=False)
            else:
                proto = onnx.ModelProto.FromString(self._native.bytes())
            self.__dict__["_proto"] = proto
        return self._proto

    def SerializeToString(self, **kwargs) -> bytes:
        """The bytes of the model's file."""
        return self._native.bytes() if self._proto is None else self._proto.SerializeToString(**kwargs)

    def ParseFromString(self, data: bytes) -> None:
        """Becomes another model."""
        self.__dict__.update(_native=_native.model_from_bytes(data), _proto=None, _source=None)

    def CopyFrom(self, other) -> None:
        """Becomes a copy of another model."""
        if type(other) is Model:
            self.__dict__.update(_native=other.native, _proto=None, _source=None)
        else:
            self.ParseFromString(other.SerializeToString())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._parse(), name)

    def __setattr__(self, name, value):
        setattr(self._parse(), name, value)

    def __copy__(self):
        return Model(self.native)

    def __deepcopy__(self, memo):
        return Model(self.native)

    def __reduce__(self):
        return _from_bytes, (self.SerializeToString(),)

    def __eq__(self, other):
        return hasattr(other, "SerializeToString") and self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        return self.native.text() if self._proto is None else str(self._proto)

    def __repr__(self):
        return f"<assay.Model of {len(self._native.inputs)} inputs, {len(self._native.outputs)} outputs>"

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model; large weights go from file to file without being read into memory."""
        self.native.save(str(path))

    def lint(self, is_static: bool = False) -> list[tuple]:
        """What is wrong with it: (level, code, node, message)."""
        return self.native.lint(is_static)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _from_bytes(data):
    return Model(_native.model_from_bytes(data))


def load(path: str | os.PathLike, external_data_dir: str | None = None, ignore_external_data: bool = False) -> Model:
    """Loads a model; weights stay in the file until they are needed."""
    native = _load_native(path, external_data_dir or "", bool(ignore_external_data))
    return Model(native, str(path) if ignore_external_data else None)


def _load_native(path, external_data_dir="", ignore_external_data=False):
    try:
        return _native.load_model(str(path), external_data_dir, ignore_external_data, G_LOGGER.native)
    except _native.Error as error:
        if os.path.exists(path):
            raise
        raise MissingFileException(str(error)) from None


def native_of(model) -> _native.Model:
    """The native model of whatever stands for one: ours, bytes, a path, onnx.ModelProto, a graph of graphsurgeon."""
    if type(model) is Model:
        return model.native
    if isinstance(model, _native.Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return _load_native(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _native.model_from_bytes(model)
    if hasattr(model, "nodes") and hasattr(model, "tensors"):
        from assay.graphsurgeon import export_onnx

        return export_onnx(model, do_type_check=False).native
    if hasattr(model, "SerializeToString"):
        return _native.model_from_bytes(model.SerializeToString())
    G_LOGGER.critical(f"a {type(model).__name__} is no model: expected a path, bytes, or an ONNX model")


def doctor() -> list[tuple]:
    """The backends: (name, whether it can be used here, version or why not, library, settings)."""
    return _native.doctor()
