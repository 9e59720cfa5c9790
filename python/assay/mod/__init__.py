"""Modules that are imported when they are needed, and names that a module exports."""

from assay.logger import G_LOGGER
from assay.mod.exporter import deprecate, export, export_deprecated_alias, warn_deprecated
from assay.mod.importer import LATEST_VERSION, LazyModule, autoinstall, has_mod, import_from_script, lazy_import
from assay.mod.util import version

__all__ = ["G_LOGGER", "LATEST_VERSION", "LazyModule", "autoinstall", "deprecate", "export", "export_deprecated_alias",
           "has_mod", "import_from_script", "lazy_import", "version", "warn_deprecated"]
