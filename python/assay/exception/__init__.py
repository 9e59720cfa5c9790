"""What calls of the package raise."""

from assay.exception.exception import (AssayError, DataTypeConversionException, MissingFileException,
                                       PolygraphyException, PolygraphyInternalException)

__all__ = ["AssayError", "DataTypeConversionException", "MissingFileException", "PolygraphyException",
           "PolygraphyInternalException"]
