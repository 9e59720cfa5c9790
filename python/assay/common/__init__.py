"""What all modules share."""

from assay.common.struct import BoundedShape, FormattedArray, MetadataTuple, TensorMetadata
from assay.exception import DataTypeConversionException, PolygraphyException, PolygraphyInternalException

__all__ = ["BoundedShape", "DataTypeConversionException", "FormattedArray", "MetadataTuple", "PolygraphyException",
           "PolygraphyInternalException", "TensorMetadata"]
