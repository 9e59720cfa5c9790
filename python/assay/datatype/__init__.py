"""Element types that all backends share: `DataType.FLOAT32` and its neighbours."""

from assay.datatype.datatype import (DataType, DataTypeEntry, from_numpy, from_onnx, from_onnxrt, from_tensorrt,
                                     from_torch, register_dtype_exporter, register_dtype_importer)

__all__ = ["DataType", "DataTypeEntry", "from_numpy", "from_onnx", "from_onnxrt", "from_tensorrt", "from_torch",
           "register_dtype_exporter", "register_dtype_importer"]
