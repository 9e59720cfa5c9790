"""Functions about functions."""

from assay.func.func import constantmethod, extend, invoke

__all__ = ["constantmethod", "extend", "invoke"]
