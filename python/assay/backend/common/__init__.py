"""Loaders of bytes and of users' scripts."""

from assay.backend.common.loader import *  # noqa: F403
from assay.backend.common.loader import __all__

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    def __getattr__(name: str) -> Any: ...
