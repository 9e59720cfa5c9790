"""Layers that have their names and attributes here, and cannot be added: networks refuse them with the reason."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Setting, Shape
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer


class IAssertionLayer(ILayer):
    """What must hold in a run."""

    _TYPE, _WORD = LayerType.ASSERTION, "Assertion"

    message = Setting(str, "What is said where it does not hold.")


class IDynamicQuantizeLayer(ILayer):
    """Integers by scales that are made in a run."""

    _TYPE, _WORD = LayerType.DYNAMIC_QUANTIZE, "DynamicQuantize"

    axis = Setting(int, "The axis of blocks.")
    block_size = Setting(int, "How many elements have a scale.")
    block_shape = Setting(Shape, "Likewise, for each axis.")
    to_type = Setting(DataType, "The type of the output.")
    scale_type = Setting(DataType, "The type of the scales.")


class IMoELayer(ILayer):
    """Experts that are chosen for each token."""

    _TYPE, _WORD = LayerType.MOE, "MoE"

    activation_type = Setting(enums.MoEActType, "The function of the experts.")
    quantization_to_type = Setting(DataType, "The type in which they compute.")
    quantization_block_shape = Setting(Shape, "How many elements have a scale.")
    dyn_q_output_scale_type = Setting(DataType, "The type of the scales.")
    swiglu_param_limit = Setting(float, "The greatest value.")
    swiglu_param_alpha = Setting(float, "The factor of the gate.")
    swiglu_param_beta = Setting(float, "What is added to it.")

    def _refuse(self, *args, **kwargs):
        """Refused, as the layer is."""
        raise PolygraphyException("mixtures of experts are not there")

    set_gated_weights = set_gated_biases = set_quantization_static = set_quantization_dynamic_dbl_q = set_swiglu_params = _refuse


class IAttentionBoundaryLayer(ILayer):
    """A layer at the boundary of an attention, which is one layer here."""

    attention = property(lambda self: None, doc="The attention.")


class IAttentionInputLayer(IAttentionBoundaryLayer):
    """Its inputs."""

    _TYPE, _WORD = LayerType.ATTENTION_INPUT, "AttentionInput"


class IAttentionOutputLayer(IAttentionBoundaryLayer):
    """Its output."""

    _TYPE, _WORD = LayerType.ATTENTION_OUTPUT, "AttentionOutput"
