"""Quick plugins in the shape of tensorrt.plugin: functions that describe an operator, and compute it in Python."""

from assay.tensorrt.plugin.definitions import aot_impl, autotune, impl, op, register
from assay.tensorrt.plugin.launch import KernelLaunchParams
from assay.tensorrt.plugin.symbols import Shape, ShapeExpr, ShapeExprs, SizeTensorShapeExpr, SymExprs, SymInt8, SymInt16, \
    SymInt32, SymIntExprs, cdiv, greatest, least
from assay.tensorrt.plugin.tensors import SizeTensorDesc, Tensor, TensorDesc, from_shape_expr, size_tensor
from assay.tensorrt.plugin.tuning import AutoTuneCombination

max, min = greatest, least  # as they are called there

__all__ = ["AutoTuneCombination", "KernelLaunchParams", "Shape", "ShapeExpr", "ShapeExprs", "SizeTensorDesc",
           "SizeTensorShapeExpr", "SymExprs", "SymInt16", "SymInt32", "SymInt8", "SymIntExprs", "Tensor", "TensorDesc",
           "aot_impl", "autotune", "cdiv", "from_shape_expr", "impl", "max", "min", "op", "register", "size_tensor"]
