"""The module that stands for TensorRT."""

from assay.mod.importer import lazy_import


def lazy_import_trt():
    """assay.tensorrt, imported when it is used."""
    return lazy_import("assay.tensorrt", log=False)
