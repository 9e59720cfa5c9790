"""Tensors of quick plugins: descriptors without elements, and those that an implementation reads and writes."""

from typing import Any

from assay.tensorrt.enums import DataType, TensorFormat
from assay.tensorrt.plugin.symbols import Shape, ShapeExpr, ShapeExprs, SizeTensorShapeExpr


class _Fixed:
    """What is not to be changed once it is given away."""

    _immutable = False

    def __setattr__(self, name, value) -> None:
        if self._immutable and name != "_immutable":
            raise ValueError(f"`{name}` of a {type(self).__name__} that was given cannot be changed")
        super().__setattr__(name, value)


class TensorDesc(_Fixed):
    """The dims, as functions of others, and the type of a tensor; while formats are chosen also its shape."""

    is_size_tensor = False

    def __init__(self, shape_expr=None, dtype=None, format=None, scale=None) -> None:
        self.shape_expr = ShapeExprs.from_tuple(shape_expr) if isinstance(shape_expr, tuple) else shape_expr
        self.dtype = dtype
        self._shape, self._format, self._scale = None, format, scale
        self._aliased: Any = None

    def _known(self, name):
        if self._shape is None:
            raise ValueError(f"`{name}` is known while formats are chosen: has_shape tells")
        return getattr(self, f"_{name}")

    shape = property(lambda self: self._known("shape"), lambda self, value: setattr(self, "_shape", value))
    format = property(lambda self: self._known("format"), lambda self, value: setattr(self, "_format", value))
    scale = property(lambda self: self._known("scale"), lambda self, value: setattr(self, "_scale", value))
    ndim = property(lambda self: len(self.shape_expr), doc="The number of dims.")
    has_shape = property(lambda self: self._shape is not None, doc="The shape is known.")
    has_shape_expr = property(lambda self: self.shape_expr is not None, doc="The dims are known as functions.")
    is_dynamic = property(lambda self: self.shape.is_dynamic, doc="A dim of the shape is not known.")
    is_aliased = property(lambda self: self._aliased is not None, doc="It lies where another tensor lies.")

    def numel(self) -> int:
        """The number of elements, of known shapes; shape_expr.numel() is always there."""
        return self.shape.numel()

    def like(self) -> "TensorDesc":
        """A descriptor that says the same and can be changed."""
        made = TensorDesc()
        made.__dict__.update({**self.__dict__, "_immutable": False, "_aliased": None})
        return made

    def aliased(self) -> "TensorDesc":
        """An output that lies where this input lies."""
        made = self.like()
        made._aliased, made._immutable = self, True
        return made

    def get_aliased(self):
        """The input that it lies on; None: none."""
        return self._aliased


class SizeTensorDesc(TensorDesc):
    """An output, one number, that tells a dim of another output."""

    is_size_tensor = True

    def __init__(self, opt, upper_bound) -> None:
        super().__init__(ShapeExprs(0), DataType.INT32)
        self.opt, self.upper_bound = (each if isinstance(each, ShapeExpr) else ShapeExpr(each) for each in (opt, upper_bound))
        self._expr = SizeTensorShapeExpr(self)

    def expr(self) -> SizeTensorShapeExpr:
        """The dim."""
        return self._expr


def size_tensor(opt, upper_bound) -> SizeTensorDesc:
    """A size that the plugin decides in a run, at most `upper_bound`."""
    return SizeTensorDesc(opt, upper_bound)


def from_shape_expr(shape_expr, dtype) -> TensorDesc:
    """A descriptor of these dims and this type."""
    return TensorDesc(tuple(shape_expr), dtype)


class Tensor(_Fixed):
    """A tensor with elements, in memory of this process: `numpy.asarray(tensor)` is the memory itself, with
    the greatest dims where the plugin decides some."""

    data_ptr: Any = None
    dtype: Any = None
    shape: Any = None
    format: Any = TensorFormat.LINEAR
    scale: Any = None
    strides: tuple = ()

    def __init__(self, address=None, desc=None, most=None) -> None:
        self._aliased: Any = None
        if desc is None:
            return
        self._most = tuple(desc.dims if most is None else most)  # dims of the memory
        self.data_ptr, self.dtype, self.scale, self.shape = address, desc.type, desc.scale, Shape(desc)
        strides = [1]
        for dim in list(desc.dims)[:0:-1]:
            strides.insert(0, strides[0] * dim)
        self.strides = tuple(strides[:len(desc.dims)])

    ndim = property(lambda self: len(self.shape), doc="The number of dims.")
    is_aliased = property(lambda self: self._aliased is not None, doc="It lies where another tensor lies.")
    is_data_dependent = property(lambda self: self.shape.is_dynamic, doc="The plugin decides a dim of it.")

    def numel(self) -> int:
        """The number of elements."""
        return self.shape.numel()

    def get_aliased(self):
        """The tensor that it lies on; None: none."""
        return self._aliased

    def aliased(self, shape=None) -> "Tensor":
        """The same elements in another shape."""
        made = Tensor()
        made.__dict__.update({**self.__dict__, "_immutable": False})
        if shape is not None:
            made.shape = shape if isinstance(shape, Shape) else Shape(shape)
            if made.shape.is_dynamic or self.is_data_dependent or made.numel() > self.numel():
                raise ValueError(f"{made.shape} is no shape for the elements of {self.shape}")
            made._most = tuple(made.shape)
        made._aliased = self
        return made

    def __array__(self, dtype=None, copy=None):
        import ctypes

        import numpy as np

        from assay.datatype import DataType as Shared

        kind = np.dtype(Shared.from_native(self.dtype.native).numpy())
        size = int(np.prod(self._most, dtype=np.int64)) * kind.itemsize
        memory = (ctypes.c_char * size).from_address(self.data_ptr)
        array = np.frombuffer(memory, kind).reshape(self._most)
        return array if dtype is None else array.astype(dtype, copy=False)
