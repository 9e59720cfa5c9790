"""Element types of numpy."""

from assay.datatype.datatype import DataType, from_numpy


def from_datatype(dtype):
    """The counterpart of a DataType."""
    return DataType.to_dtype(dtype, "numpy")


__all__ = ["from_datatype", "from_numpy"]
