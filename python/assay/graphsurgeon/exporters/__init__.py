"""Parts of assay.graphsurgeon."""

from assay.graphsurgeon.exporters.base_exporter import BaseExporter

__all__ = ["BaseExporter"]
