"""Element types of ONNX Runtime."""

from assay.datatype.datatype import DataType, from_onnxrt


def from_datatype(dtype):
    """The counterpart of a DataType."""
    return DataType.to_dtype(dtype, "onnxrt")


__all__ = ["from_datatype", "from_onnxrt"]
