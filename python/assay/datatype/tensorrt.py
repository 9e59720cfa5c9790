"""Element types of assay.tensorrt."""

from assay.datatype.datatype import DataType, from_tensorrt


def from_datatype(dtype):
    """The counterpart of a DataType."""
    return DataType.to_dtype(dtype, "tensorrt")


__all__ = ["from_datatype", "from_tensorrt"]
