"""Parts of assay.graphsurgeon."""

from assay.graphsurgeon.util import exception, misc

__all__ = ["exception", "misc"]
