"""Parts of assay.graphsurgeon."""

from assay.graphsurgeon.importers.base_importer import BaseImporter

__all__ = ["BaseImporter"]
