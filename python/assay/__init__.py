"""Assay: ONNX models on several backends, compared, checked and edited.

`assay.backend`, `assay.comparator` and their neighbours have the shape of Polygraphy's modules, `assay.graphsurgeon` that
of ONNX GraphSurgeon, `assay.tensorrt` that of TensorRT; see docs/python.md.
"""

import importlib

from assay import config
from assay._native import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # what __getattr__() imports
    from assay.model import Model as Model
    from assay.model import doctor as doctor
    from assay.model import load as load
    from assay.page import view as view

_MODULES = ("backend", "common", "comparator", "compat", "constants", "cuda", "datatype", "exception", "func",
            "graphsurgeon", "json", "logger", "mod", "tensorrt", "util")
_NAMES = {"Model": "assay.model", "load": "assay.model", "doctor": "assay.model", "view": "assay.page"}

__all__ = ["__version__", "config", *_MODULES, *_NAMES]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"assay.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'assay' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
