"""ONNX Runtime, driven by native code or by the user's own package."""

from assay.backend.onnxrt.loader import *  # noqa: F403
from assay.backend.onnxrt.loader import __all__ as _loaders
from assay.backend.onnxrt.runner import OnnxrtRunner

__all__ = [*_loaders, "OnnxrtRunner"]

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    def __getattr__(name: str) -> Any: ...
