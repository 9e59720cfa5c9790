"""Types and shapes of tensors by their names."""

from __future__ import annotations

from collections import OrderedDict

from assay.datatype import DataType
from assay.json import add_json_methods

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Sequence


class BoundedShape(list):
    """A shape, and the least and greatest one that it stands for."""

    def __init__(self, shape, min=None, max=None) -> None:
        super().__init__(shape)
        self.min = min
        self.max = max

    def __repr__(self):
        bounds = "" if self.min is None and self.max is None else f", min={self.min}, max={self.max}"
        return f"BoundedShape({list(self)}{bounds})"


class MetadataTuple:
    """Type and shape of one tensor; either may be None."""

    def __init__(self, dtype=None, shape=None, docstring=None) -> None:
        self.dtype = dtype
        self.shape = shape
        self.docstring = docstring

    @property
    def dtype(self):
        return self._dtype

    @dtype.setter
    def dtype(self, value):
        self._dtype = DataType.from_dtype(value)

    @property
    def shape(self):
        return self._shape

    @shape.setter
    def shape(self, value):
        self._shape = value if value is None or isinstance(value, BoundedShape) else BoundedShape(value)

    def __iter__(self):
        yield self.dtype
        yield self.shape

    def __repr__(self):
        return f"MetadataTuple({self.dtype!r}, {self.shape!r})"

    def __str__(self):
        parts = []
        if self.dtype is not None:
            parts.append(f"dtype={self.dtype}")
        if self.shape is not None:
            parts.append(f"shape={tuple(self.shape)}")
        if self.docstring:
            parts.append(self.docstring)
        return f"[{', '.join(parts)}]" if parts else ""

    def __eq__(self, other):
        return (self.dtype, self.shape) == (other.dtype, other.shape)

    __hash__ = None  # type: ignore[assignment]


class TensorMetadata(OrderedDict):
    """Types and shapes of tensors, by name and in order."""

    def __init__(self, dct=None) -> None:
        super().__init__(dct or {})

    @staticmethod
    def from_feed_dict(feed_dict):
        """Those of arrays."""
        from assay.util import array_of

        meta = TensorMetadata()
        for name, value in feed_dict.items():
            dtype = getattr(value, "dtype", None)
            value = value if dtype is not None else array_of(value)
            meta.add(name, value.dtype, tuple(value.shape))
        return meta

    def add(self, name: str, dtype, shape: Sequence[int | str | None] | None, min_shape=None, max_shape=None,
            docstring: str | None = None) -> TensorMetadata:
        """Adds a tensor, and gives these metadata again."""
        if shape is not None:
            shape = BoundedShape(shape, min_shape, max_shape)
        self[name] = MetadataTuple(dtype, shape, docstring)
        return self

    def of_numpy(self):
        """The same with types of numpy, where it has them."""
        made = TensorMetadata()
        for name, meta in self.items():
            made.add(name, None, meta.shape, docstring=meta.docstring)
            made[name].shape = meta.shape
            made[name]._dtype = _numpy_type(meta.dtype)
        return made

    def __setitem__(self, name, value):
        if not isinstance(value, MetadataTuple):
            value = MetadataTuple(*value)
        super().__setitem__(name, value)

    def __repr__(self):
        return "TensorMetadata()" + "".join(f".add({name!r}, {meta.dtype!r}, {meta.shape!r})"
                                            for name, meta in self.items())

    def __str__(self):
        if not self:
            return "{}"
        return "{" + ",\n ".join(f"{name} {meta}".rstrip() for name, meta in self.items()) + "}"


def _numpy_type(dtype):
    try:
        return None if dtype is None else dtype.numpy()
    except ImportError:  # ml_dtypes has it
        return dtype


@add_json_methods("formatted array")
class FormattedArray:
    """An array whose elements lie otherwise than its shape says."""

    def __init__(self, array, shape) -> None:
        self.array = array
        self.shape = shape

    @property
    def dtype(self):
        return DataType.from_dtype(self.array.dtype)

    @dtype.setter
    def dtype(self, value):
        pass  # that of the array

    def __eq__(self, other):
        import numpy as np

        return isinstance(other, FormattedArray) and np.array_equal(self.array, other.array) and \
            list(self.shape) == list(other.shape)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self):
        return {"array": self.array, "shape": self.shape}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["array"], dct["shape"])
