"""Element types of ONNX."""

from assay.datatype.datatype import DataType, from_onnx


def from_datatype(dtype):
    """The counterpart of a DataType."""
    return DataType.to_dtype(dtype, "onnx")


__all__ = ["from_datatype", "from_onnx"]
