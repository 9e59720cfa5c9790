"""What calls of the package raise. Of native code, `code` is a stable word such as `usage`, `parse` or `unsupported`."""

from assay._native import Error as PolygraphyException

PolygraphyException.__doc__ = "What is wrong, in one line; `code` is a stable word for its kind."
AssayError = PolygraphyException


class DataTypeConversionException(PolygraphyException):
    """An element type has no counterpart in another library."""


class PolygraphyInternalException(PolygraphyException):
    """A check of the package about itself failed."""


class MissingFileException(PolygraphyException, FileNotFoundError):
    """There is no such file."""

    code = "io"


__all__ = ["AssayError", "DataTypeConversionException", "MissingFileException", "PolygraphyException",
           "PolygraphyInternalException"]
