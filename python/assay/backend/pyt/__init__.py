"""Modules of torch."""

from assay.backend.pyt.runner import PytRunner

__all__ = ["PytRunner"]
