"""Element types of torch."""

from assay.datatype.datatype import DataType, from_torch


def from_datatype(dtype):
    """The counterpart of a DataType."""
    return DataType.to_dtype(dtype, "torch")


__all__ = ["from_datatype", "from_torch"]
