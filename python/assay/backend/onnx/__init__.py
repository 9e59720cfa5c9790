"""Loaders of ONNX models. They give models that have the attributes of `onnx.ModelProto`."""

from assay.backend.onnx.loader import *  # noqa: F403
from assay.backend.onnx.loader import __all__
