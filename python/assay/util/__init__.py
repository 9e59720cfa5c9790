"""Small functions that scripts for Polygraphy use."""

from assay.util import array
from assay.util.util import *  # noqa: F403
from assay.util.util import __all__ as _names

__all__ = ["array", *_names]
