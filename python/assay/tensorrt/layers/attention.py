"""Attention: of batches whose sequences are padded, or of sequences one behind the other."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import AttentionIOForm, AttentionNormalizationOp, CausalMaskKind, DataType, LayerType
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.layers.quantisers import OPSET
from assay.tensorrt.logger import say

MASK, SCALE, QUERY_LENGTHS, KEY_VALUE_LENGTHS = 3, 4, 5, 6  # numbers of inputs


def _input(number, doc):
    return property(lambda self: self.get_input(number), lambda self, tensor: self._set(number, tensor), doc=doc)


class IAttention(ILayer):
    """Values by the products of queries and keys, which are not scaled. Heads of queries may share those of keys.

    `mask` is added to the products, or says of booleans which are taken. `causal`: no place sees a later one. Tensors are
    (batch, head, place, size), or (place, head, size) of sequences one behind the other, with the places where they begin
    and end as lengths.
    """

    _TYPE, _WORD = LayerType.ATTENTION_OUTPUT, "Attention"

    norm_op = Setting(AttentionNormalizationOp, "What is made of the products.")
    decomposable = Setting(bool, "Whether it may be computed by its parts, as it always is here.")
    causal_kind = Setting(CausalMaskKind, "Whether places see later ones, which begin at the first or end at the last key.")
    query_form = Setting(AttentionIOForm, "How queries lie.")
    key_value_form = Setting(AttentionIOForm, "Likewise of keys and values; as queries do.")
    mask = _input(MASK, "What is added to the products, or which of them are taken.")
    normalization_quantize_scale = _input(SCALE, "The scale by which what softmax gives is rounded.")
    query_lengths = _input(QUERY_LENGTHS, "Where sequences begin and end that lie one behind the other.")
    key_value_lengths = _input(KEY_VALUE_LENGTHS, "Likewise; of padded ones the number of places that count.")

    def __init__(self, network, index, query, key, value, norm_op=AttentionNormalizationOp.SOFTMAX,
                 causal_kind=CausalMaskKind.NONE) -> None:
        super().__init__(network, index, [query, key, value])
        if not isinstance(causal_kind, CausalMaskKind):
            causal_kind = CausalMaskKind.UPPER_LEFT if causal_kind else CausalMaskKind.NONE
        self.norm_op, self.causal_kind, self.decomposable = norm_op, causal_kind, False
        self.query_form = self.key_value_form = AttentionIOForm.PADDED_BHND
        self._quantised = DataType.FLOAT

    def _set(self, number, tensor):
        if tensor is not None:
            self.set_input(number, tensor)
        elif self.get_input(number) is not None:
            self._typed._inputs[number] = None
            self._changed()

    @property
    def causal(self):
        """Whether no place sees a later one."""
        return self.causal_kind != CausalMaskKind.NONE

    @causal.setter
    def causal(self, value):
        self.causal_kind = CausalMaskKind.UPPER_LEFT if value else CausalMaskKind.NONE

    @property
    def normalization_quantize_to_type(self):
        """The type to which what softmax gives is rounded: FP8 or INT8."""
        return self._quantised

    @normalization_quantize_to_type.setter
    def normalization_quantize_to_type(self, dtype):
        if dtype not in (DataType.FP8, DataType.INT8):
            say(self._network.logger, f"`{self.name}`: what softmax gives is rounded to FP8 or INT8, not {dtype}")
            return
        self._quantised = dtype
        self._changed()

    def _is_rounded(self):
        return self.get_input(SCALE) is not None

    def _least_opset(self):
        return OPSET if self._is_rounded() else 0

    def _emit(self, emitter):
        is_packed = self.query_form == AttentionIOForm.PACKED_NHD
        if self.query_form != self.key_value_form:
            raise PolygraphyException(f"`{self.name}`: queries lie as {self.query_form.name}, and keys as "
                                      f"{self.key_value_form.name}; expected is one form of both")
        rank = 3 if is_packed else 4
        for tensor, word in zip(self._inputs, ("the query", "the key", "the value")):
            if len(tensor.shape) != rank:
                raise PolygraphyException(f"`{self.name}`: {word} has the shape {tensor.shape}, expected are {rank} dims")
        query, key, value = (self._in_heads(emitter, each, is_packed) for each in self._inputs[:3])
        turned = emitter.node(self, "Transpose", [key], perm=[0, 1, 3, 2])
        products = emitter.node(self, "MatMul", [query, turned])
        for condition in self._conditions(emitter, query, key, is_packed):
            products = self._only(emitter, condition, products)
        if self.mask is not None and self.mask.dtype != DataType.BOOL:
            products = emitter.node(self, "Add", [products, self.mask])
        if self.norm_op == AttentionNormalizationOp.SOFTMAX:
            products = emitter.node(self, "Softmax", [products], axis=-1)
        if self._is_rounded():
            products = self._rounded(emitter, products)
        if not is_packed:
            emitter.node(self, "MatMul", [products, value], self._outputs)
            return
        made = emitter.node(self, "Squeeze", [emitter.node(self, "MatMul", [products, value]), emitter.constant([0])])
        emitter.node(self, "Transpose", [made], self._outputs, perm=[1, 0, 2])

    def _in_heads(self, emitter, tensor, is_packed):
        """The tensor as (batch, head, place, size), with each head as often as heads of queries share it."""
        heads, own, size = self._inputs[0].shape[1], tensor.shape[1], tensor.shape[-1]
        shape = tensor.shape
        if is_packed:
            tensor = emitter.node(self, "Transpose", [tensor], perm=[1, 0, 2])
            tensor = emitter.node(self, "Unsqueeze", [tensor, emitter.constant([0])])
        if own == heads:
            return tensor
        if min(own, heads, size) < 1 or heads % own:
            raise PolygraphyException(f"`{self.name}`: {heads} heads of queries do not share {own} heads of the shape {shape}")
        apart = emitter.node(self, "Unsqueeze", [tensor, emitter.constant([2])])
        repeated = emitter.node(self, "Expand", [apart, emitter.constant([1, 1, heads // own, 1, 1])])
        return emitter.node(self, "Reshape", [repeated, emitter.constant([0, heads, -1, size])])

    def _conditions(self, emitter, query, key, is_packed):
        """Which products are taken: tensors of booleans."""
        if self.mask is not None and self.mask.dtype == DataType.BOOL:
            yield self.mask
        rows, columns = (self._places(emitter, each) for each in (query, key))
        if is_packed:
            rows, columns = self._own_places(emitter, rows, QUERY_LENGTHS), self._own_places(emitter, columns, KEY_VALUE_LENGTHS)
            yield self._compared(emitter, "Equal", columns[0], rows[0])
            if self.causal:
                which = 2 if self.causal_kind == CausalMaskKind.LOWER_RIGHT else 1
                yield self._compared(emitter, "LessOrEqual", columns[which], rows[which])
            return
        if self.get_input(KEY_VALUE_LENGTHS) is not None:
            lengths = emitter.node(self, "Cast", [self.get_input(KEY_VALUE_LENGTHS)], to=DataType.INT64.onnx_number)
            lengths = emitter.node(self, "Unsqueeze", [lengths, emitter.constant([1, 2, 3])])
            yield emitter.node(self, "Less", [columns, lengths])
        if self.causal:
            if self.causal_kind == CausalMaskKind.LOWER_RIGHT:
                shift = emitter.node(self, "Sub", [self._count(emitter, key), self._count(emitter, query)])
                rows = emitter.node(self, "Add", [rows, shift])
            yield self._compared(emitter, "LessOrEqual", columns, rows)

    def _own_places(self, emitter, places, number):
        """Of each place the number of its sequence, and its own from the begin and from the end of that."""
        if self.get_input(number) is None:
            raise PolygraphyException(f"`{self.name}`: sequences that lie one behind the other need query_lengths and "
                                      "key_value_lengths")
        bounds = emitter.node(self, "Cast", [self.get_input(number)], to=DataType.INT64.onnx_number)
        ends = emitter.node(self, "Slice", [bounds, emitter.constant([1]), emitter.constant([2**62]), emitter.constant([0])])
        is_behind = self._compared(emitter, "GreaterOrEqual", ends, places, is_turned=True)
        behind = emitter.node(self, "Cast", [is_behind], to=DataType.INT64.onnx_number)
        sequence = emitter.node(self, "ReduceSum", [behind, emitter.constant([1])], keepdims=0)
        last = emitter.node(self, "Slice", [bounds, emitter.constant([-1]), emitter.constant([2**62]), emitter.constant([0])])
        ends = emitter.node(self, "Concat", [ends, last], axis=0)
        return [sequence, *(emitter.node(self, "Sub", [places, emitter.node(self, "Gather", [each, sequence])])
                            for each in (bounds, ends))]

    def _compared(self, emitter, op, columns, rows, is_turned=False):
        rows = emitter.node(self, "Unsqueeze", [rows, emitter.constant([1])])
        return emitter.node(self, op, [rows, columns] if is_turned else [columns, rows])

    def _only(self, emitter, condition, products):
        least = emitter.node(self, "CastLike", [emitter.constant(float("-inf"), "float32"), products])
        return emitter.node(self, "Where", [condition, products, least])

    def _rounded(self, emitter, products):
        if self._quantised == DataType.FLOAT:
            raise PolygraphyException(f"`{self.name}`: normalization_quantize_to_type is not set")
        scale = emitter.node(self, "Reshape", [self.get_input(SCALE), emitter.constant([])])
        codes = emitter.node(self, "QuantizeLinear", [products, scale], output_dtype=self._quantised.onnx_number)
        return emitter.node(self, "DequantizeLinear", [codes, scale])

    def _places(self, emitter, tensor):
        return emitter.node(self, "Range", [emitter.constant(0), self._count(emitter, tensor), emitter.constant(1)])

    def _count(self, emitter, tensor):
        return emitter.node(self, "Gather", [emitter.node(self, "Shape", [tensor]), emitter.constant(2)])
