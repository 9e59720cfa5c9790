"""Dims of tensors as functions of other dims, for descriptions of quick plugins.

A description is called twice: before shapes are known, when all dims are fake, and for each shape.
"""

from typing import Any

from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DimensionOperation
from assay.tensorrt.plugins import DynamicPluginTensorDesc, IDimensionExpr, IExprBuilder, PluginTensorDesc

NOT_ACCESSIBLE = "a fake dim has no value: is_fake tells them apart"


class SymInt32:
    """A number that follows from dims; without a value it is fake."""

    _expr: Any

    def __init__(self, value=None) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, IDimensionExpr, SymInt32, type(None))):
            raise ValueError(f"a dim is {value!r}, expected is an int or another dim")
        self._expr = value._expr if isinstance(value, SymInt32) else value
        if isinstance(value, int):
            self._expr = IDimensionExpr(value)

    def _with(self, operation, other):
        if not isinstance(other, (int, SymInt32)):
            return NotImplemented
        if self.is_size_tensor or getattr(other, "is_size_tensor", False):
            raise ValueError("nothing is computed with the dim that a size tensor tells")
        kind, other = type(self), SymInt32(other)
        if self.is_fake or other.is_fake:
            return kind()
        return kind(IExprBuilder().operation(operation, self._expr, other._expr))

    def __add__(self, other):
        return self._with(DimensionOperation.SUM, other)

    def __sub__(self, other):
        return self._with(DimensionOperation.SUB, other)

    def __mul__(self, other):
        return self._with(DimensionOperation.PROD, other)

    def __floordiv__(self, other):
        return self._with(DimensionOperation.FLOOR_DIV, other)

    def __eq__(self, other):
        return self._with(DimensionOperation.EQUAL, other)

    def __lt__(self, other):
        return self._with(DimensionOperation.LESS, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_fake(self) -> bool:
        """Shapes are not known yet."""
        return self._expr is None

    @property
    def is_size_tensor(self) -> bool:
        """The plugin tells the size, in a run."""
        return False

    @property
    def is_constant(self) -> bool:
        """The value is known."""
        if self.is_fake:
            raise RuntimeError(NOT_ACCESSIBLE)
        return self._expr.is_constant()

    def constant_value(self) -> int:
        """The value, of those that are known."""
        if not self.is_constant:
            raise RuntimeError("the dim is not known: is_constant tells")
        return self._expr.get_constant_value()

    def __repr__(self) -> str:
        known = "fake" if self.is_fake else self.constant_value() if self.is_constant else "?"
        return f"{type(self).__name__}[{known}]"


class SymInt8(SymInt32):
    """Such a number, as a kernel takes it."""


class SymInt16(SymInt32):
    """Likewise."""


class ShapeExpr(SymInt32):
    """A dim of a tensor."""


class SizeTensorShapeExpr(ShapeExpr):
    """A dim that a size tensor tells."""

    def __init__(self, size_tensor_desc) -> None:
        super().__init__()
        self._size = size_tensor_desc
        if not size_tensor_desc.opt.is_fake:
            self._expr = IDimensionExpr(-1, size_tensor_desc.upper_bound._expr.get_constant_value())

    @property
    def is_size_tensor(self) -> bool:
        return True


class SymExprs:
    """Several of them."""

    _KIND = SymInt32

    def __init__(self, length: int) -> None:
        self._exprs: list = [None] * length

    @classmethod
    def from_tuple(cls, exprs):
        """Those of a tuple of ints and dims."""
        made = cls(len(exprs))
        for i, each in enumerate(exprs):
            made[i] = each
        return made

    def __iter__(self):
        return iter(self._exprs)

    def __getitem__(self, index):
        return self._exprs[index]

    def __len__(self) -> int:
        return len(self._exprs)

    def __setitem__(self, index, expr) -> None:
        if index >= len(self._exprs):
            raise IndexError(f"there are {len(self._exprs)}, and no number {index}")
        self._exprs[index] = expr if isinstance(expr, self._KIND) else self._KIND(expr)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._exprs}"


class SymIntExprs(SymExprs):
    """Several numbers, as kernels take them."""


class ShapeExprs(SymExprs):
    """The dims of a tensor."""

    _KIND = ShapeExpr

    def __init__(self, length: int, _is_dummy: bool = False) -> None:
        super().__init__(length)
        if _is_dummy:
            self._exprs = [ShapeExpr() for _ in range(length)]

    def numel(self) -> ShapeExpr:
        """The number of elements."""
        product = ShapeExpr(1)
        for each in self._exprs:
            product = product * each
        return product


class Shape:
    """The dims of a tensor, as numbers; -1 is not known."""

    def __init__(self, tensor_desc=()) -> None:
        self._desc = tensor_desc if isinstance(tensor_desc, DynamicPluginTensorDesc) else None
        if self._desc is not None:
            tensor_desc = self._desc.desc
        if not isinstance(tensor_desc, (PluginTensorDesc, tuple, Dims)):
            raise ValueError(f"a shape is {tensor_desc!r}, expected is a tuple or the descriptor of a tensor")
        self._dims = list(tensor_desc.dims if isinstance(tensor_desc, PluginTensorDesc) else tensor_desc)

    def numel(self) -> int:
        """The number of elements; a ValueError, if a dim is not known."""
        if self.is_dynamic:
            raise ValueError("a dim of the shape is not known")
        product = 1
        for dim in self._dims:
            product *= dim
        return product

    def __iter__(self):
        return iter(self._dims)

    def __getitem__(self, index):
        return self._dims[index]

    def __setitem__(self, index, value) -> None:
        self._dims[index] = value

    def __len__(self) -> int:
        return len(self._dims)

    def __str__(self) -> str:
        return f"Shape{tuple(self._dims)}"

    @property
    def is_dynamic(self) -> bool:
        """A dim is not known."""
        return any(dim < 0 for dim in self._dims)

    def _range(self, name):
        if not self.is_dynamic:
            raise ValueError(f"{name} is there where a dim is not known")
        if self._desc is None:
            raise AttributeError(f"nothing is known of {name} of this shape")
        return tuple(getattr(self._desc, name))

    opt = property(lambda self: self._range("opt"), doc="The dims for which tactics are measured.")
    min = property(lambda self: self._range("min"), doc="The least dims.")
    max = property(lambda self: self._range("max"), doc="The greatest dims.")


def _of_two(operation, first, second) -> ShapeExpr:
    first, second = (each if isinstance(each, SymInt32) else ShapeExpr(each) for each in (first, second))
    return first._with(operation, second)


def cdiv(first, second) -> ShapeExpr:
    """The quotient, rounded up."""
    return _of_two(DimensionOperation.CEIL_DIV, first, second)


def greatest(first, second) -> ShapeExpr:
    """The greater one."""
    return _of_two(DimensionOperation.MAX, first, second)


def least(first, second) -> ShapeExpr:
    """The lesser one."""
    return _of_two(DimensionOperation.MIN, first, second)
