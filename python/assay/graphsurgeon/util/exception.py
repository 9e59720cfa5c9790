"""What graphs raise."""

from assay.exception import PolygraphyException


class OnnxGraphSurgeonException(PolygraphyException):
    """A graph cannot be what is asked for."""
