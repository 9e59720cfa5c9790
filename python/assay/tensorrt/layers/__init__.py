"""Kinds of layers."""

from assay.tensorrt.layers import arithmetic, movement, places, plugin, reduction, sequences, slices, window
from assay.tensorrt.layers.base import LAYERS, ILayer
from assay.tensorrt.layers.parsed import OnnxLayer

__all__ = ["LAYERS", "ILayer", "OnnxLayer", "arithmetic", "movement", "places", "plugin", "reduction", "sequences",
           "slices", "window"]
