"""Layers that have their names and attributes here, and cannot be added: networks refuse them with the reason."""

from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers.base import ILayer


class IAssertionLayer(ILayer):
    """What must hold in a run."""

    _TYPE, _WORD = LayerType.ASSERTION, "Assertion"

    message = Setting(str, "What is said where it does not hold.")


class IAttentionBoundaryLayer(ILayer):
    """A layer at the boundary of an attention, which is one layer here."""

    attention = property(lambda self: None, doc="The attention.")


class IAttentionInputLayer(IAttentionBoundaryLayer):
    """Its inputs."""

    _TYPE, _WORD = LayerType.ATTENTION_INPUT, "AttentionInput"


class IAttentionOutputLayer(IAttentionBoundaryLayer):
    """Its output."""

    _TYPE, _WORD = LayerType.ATTENTION_OUTPUT, "AttentionOutput"
