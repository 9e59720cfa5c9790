"""What loaders and runners have in common."""

from assay.backend.base.loader import BaseLoader
from assay.backend.base.runner import BaseRunner

__all__ = ["BaseLoader", "BaseRunner"]
