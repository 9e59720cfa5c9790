"""Kinds of layers."""

from assay.tensorrt.layers import (arithmetic, attention, boundaries, collective, experts, movement, named, places, plugin,
                                   quantisers, reduction, sequences, slices, window)
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.layers.parsed import OnnxLayer

MODULES = (arithmetic, attention, boundaries, collective, experts, movement, named, places, plugin, quantisers, reduction, sequences,
           slices, window)
CLASSES = {name: each for module in MODULES for name, each in vars(module).items()
           if isinstance(each, type) and each.__module__ == module.__name__ and name.startswith("I")}

__all__ = ["CLASSES", "ILayer", "OnnxLayer"]
