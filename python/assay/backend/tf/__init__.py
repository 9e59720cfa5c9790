"""The names of loaders and the runner of TensorFlow, each of which says that models of TensorFlow are not read here."""

from assay.backend.tf.loader import *  # noqa: F403
from assay.backend.tf.loader import __all__ as _loaders
from assay.backend.tf.runner import TfRunner

__all__ = [*_loaders, "TfRunner", "register_logger_callback"]


def register_logger_callback() -> None:
    """Does nothing: TensorFlow has no log here."""


TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    def __getattr__(name: str) -> Any: ...
