"""Mixtures of experts: small networks of which a few, chosen for each token, compute it together."""

import math

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Setting, Shape, checked
from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.layers.quantisers import OPSET
from assay.tensorrt.tensor import ITensor


class IMoELayer(ILayer):
    """The sum of what the chosen experts make of a token, each times its score. An expert is a product with a gate:
    `down(silu(gate(x)) * up(x))`.

    Hidden states are (batch, place, size), experts and scores (batch, place, number of the chosen). Weights are (expert, size,
    inner size) of gate and up, and (expert, inner size, size) of down.
    """

    _TYPE, _WORD = LayerType.MOE, "MoE"

    activation_type = Setting(enums.MoEActType, "The function of the gate.")
    quantization_to_type = Setting(DataType, "The type in which they compute; that of the hidden states here.")
    quantization_block_shape = Setting(Shape, "How many elements have a scale.")
    dyn_q_output_scale_type = Setting(DataType, "The type of the scales.")
    swiglu_param_limit = Setting(float, "The greatest value of the gate, and the greatest magnitude of what it is for.")
    swiglu_param_alpha = Setting(float, "The factor of the gate in its sigmoid.")
    swiglu_param_beta = Setting(float, "What is added to what the gate is for.")

    def __init__(self, network, index, hidden_states, selected_experts_for_tokens, scores_for_selected_experts) -> None:
        for tensor, word in ((hidden_states, "hidden states"), (selected_experts_for_tokens, "selected experts"),
                             (scores_for_selected_experts, "scores")):
            if len(tensor.shape) != 3:
                raise PolygraphyException(f"add_moe(): the {word} have the shape {tensor.shape}, expected are 3 dims")
        super().__init__(network, index, [hidden_states, selected_experts_for_tokens, scores_for_selected_experts])
        self.activation_type, self.quantization_to_type = enums.MoEActType.NONE, DataType.FLOAT
        self.quantization_block_shape, self.dyn_q_output_scale_type = Dims(), DataType.FP8
        self.swiglu_param_limit, self.swiglu_param_alpha, self.swiglu_param_beta = math.inf, 1.0, 0.0
        self._is_quantised = False

    @checked
    def set_gated_weights(self, fc_gate_weights: ITensor, fc_up_weights: ITensor, fc_down_weights: ITensor,
                          activation_type: enums.MoEActType) -> None:
        """The weights of all experts."""
        self._set_inputs(3, (fc_gate_weights, fc_up_weights, fc_down_weights))
        self.activation_type = activation_type

    @checked
    def set_gated_biases(self, fc_gate_biases: ITensor, fc_up_biases: ITensor, fc_down_biases: ITensor) -> None:
        """What is added behind each product: (expert, inner size) and, of down, (expert, size)."""
        self._set_inputs(6, (fc_gate_biases, fc_up_biases, fc_down_biases))

    @checked
    def set_swiglu_params(self, limit: float, alpha: float, beta: float) -> None:
        """The gate's: `min(g, limit) * sigmoid(alpha * min(g, limit)) * (clip(u, -limit, limit) + beta)`."""
        self.swiglu_param_limit, self.swiglu_param_alpha, self.swiglu_param_beta = limit, alpha, beta

    @checked
    def set_quantization_static(self, fc_down_activation_scale: ITensor, data_type: DataType) -> None:
        """What the last product reads is rounded to a small type by this scale; FP8, as in TensorRT."""
        self._set_inputs(9, (fc_down_activation_scale,))
        self.quantization_to_type = data_type
        self._is_quantised = True

    def set_quantization_dynamic_dbl_q(self, *args, **kwargs):
        """Refused."""
        raise PolygraphyException(f"`{self.name}`: scales of blocks that are made in a run are not there, nor in TensorRT 11")

    def _least_opset(self):
        return OPSET if self._is_quantised else 0

    def _set_inputs(self, first, tensors):
        for i, tensor in enumerate(tensors):
            self.set_input(first + i, tensor)

    def _emit(self, emitter):
        hidden, chosen, scores, *weights = self._inputs
        if len(weights) < 3 or self.activation_type != enums.MoEActType.SILU:
            raise PolygraphyException(f"`{self.name}`: set_gated_weights() gives the experts their weights, with MoEActType.SILU")
        gate, up, down = weights[:3]
        biases = (weights[3:6] + [None] * 3)[:3]
        token = self._with_axes(emitter, hidden, 2, 3)
        inner = self._gated(emitter, self._product(emitter, token, chosen, gate, biases[0]),
                            self._product(emitter, token, chosen, up, biases[1]))
        if self._is_quantised:
            inner = self._rounded(emitter, inner, self._inputs[9])
        made = self._product(emitter, inner, chosen, down, biases[2])
        weighed = emitter.node(self, "Mul", [made, self._with_axes(emitter, scores, 3, 4)])
        emitter.node(self, "ReduceSum", [weighed, emitter.constant([2, 3])], self._outputs, keepdims=0)

    def _with_axes(self, emitter, tensor, *axes):
        return emitter.node(self, "Unsqueeze", [tensor, emitter.constant(list(axes))])

    def _product(self, emitter, rows, chosen, weights, bias):
        """Rows (batch, place, expert, 1, size) times the matrices of the chosen experts."""
        result = emitter.node(self, "MatMul", [rows, emitter.node(self, "Gather", [weights, chosen], axis=0)])
        if bias is None:
            return result
        own = self._with_axes(emitter, emitter.node(self, "Gather", [bias, chosen], axis=0), 3)
        return emitter.node(self, "Add", [result, own])

    def _rounded(self, emitter, value, scale):
        if self.quantization_to_type != DataType.FP8:
            raise PolygraphyException(f"`{self.name}`: {self.quantization_to_type.name} between its products; FP8 is there")
        scale = emitter.node(self, "Reshape", [scale, emitter.constant([])])
        codes = emitter.node(self, "QuantizeLinear", [value, scale], output_dtype=DataType.FP8.onnx_number)
        return emitter.node(self, "DequantizeLinear", [codes, scale])

    def _gated(self, emitter, gate, up):
        if self.swiglu_param_limit != math.inf:
            most, least = (self._number(emitter, sign * self.swiglu_param_limit, gate) for sign in (1, -1))
            gate = emitter.node(self, "Min", [gate, most])
            up = emitter.node(self, "Max", [emitter.node(self, "Min", [up, most]), least])
        inner = gate
        if self.swiglu_param_alpha != 1:
            inner = emitter.node(self, "Mul", [gate, self._number(emitter, self.swiglu_param_alpha, gate)])
        opened = emitter.node(self, "Mul", [gate, emitter.node(self, "Sigmoid", [inner])])
        if self.swiglu_param_beta != 0:
            up = emitter.node(self, "Add", [up, self._number(emitter, self.swiglu_param_beta, up)])
        return emitter.node(self, "Mul", [opened, up])

    def _number(self, emitter, value, like):
        return emitter.node(self, "CastLike", [emitter.constant(value, "float32"), like])
