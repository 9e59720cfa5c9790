"""Layers of language models: attention, turned positions, caches of keys and values. Tensors are (batch, head, place, ...)."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import (AttentionIOForm, AttentionNormalizationOp, CausalMaskKind, DataType, KVCacheMode,
                                  LayerType)
from assay.tensorrt.layers.base import ILayer


def _expect_rank(layer, tensor, rank, word):
    if len(tensor.shape) != rank:
        raise PolygraphyException(f"`{layer.name}`: {word} has the shape {tensor.shape}, expected are {rank} dims")


class PaddedSetting(Setting):
    """A form of tensors, of which there is one."""

    def __set__(self, instance, value):
        if value == AttentionIOForm.PACKED_NHD:
            raise PolygraphyException(f"`{instance.name}`: packed sequences are not there; pad them")
        super().__set__(instance, value)


class IAttention(ILayer):
    """Values by the products of queries and keys, which are not scaled. Heads of queries may share those of keys.

    `mask` is added to the products, or says of booleans which are taken. `causal`: no place sees a later one.
    """

    _TYPE, _WORD = LayerType.ATTENTION_OUTPUT, "Attention"

    norm_op = Setting(AttentionNormalizationOp, "What is made of the products.")
    decomposable = Setting(bool, "Whether it may be computed by its parts, as it always is here.")
    causal_kind = Setting(CausalMaskKind, "Whether places see later ones, which begin at the first or end at the last key.")
    query_form = PaddedSetting(AttentionIOForm, "(batch, head, place, size) here.")
    key_value_form = PaddedSetting(AttentionIOForm, "Likewise.")
    query_lengths = property(lambda self: None, doc="How many places count; all of them here.")
    key_value_lengths = property(lambda self: None, doc="Likewise.")

    def __init__(self, network, index, query, key, value, norm_op=AttentionNormalizationOp.SOFTMAX,
                 causal_kind=CausalMaskKind.NONE) -> None:
        super().__init__(network, index, [query, key, value])
        if not isinstance(causal_kind, CausalMaskKind):
            causal_kind = CausalMaskKind.UPPER_LEFT if causal_kind else CausalMaskKind.NONE
        self.norm_op, self.causal_kind, self.decomposable = norm_op, causal_kind, False
        self.query_form = self.key_value_form = AttentionIOForm.PADDED_BHND

    @property
    def causal(self):
        """Whether no place sees a later one."""
        return self.causal_kind != CausalMaskKind.NONE

    @causal.setter
    def causal(self, value):
        self.causal_kind = CausalMaskKind.UPPER_LEFT if value else CausalMaskKind.NONE

    @property
    def mask(self):
        return self.get_input(3)

    @mask.setter
    def mask(self, tensor):
        self.set_input(3, tensor)

    normalization_quantize_to_type = property(lambda self: DataType.FLOAT, doc="What softmax gives is not quantised.")

    @property
    def normalization_quantize_scale(self):
        """None: what softmax gives is not quantised."""
        return None

    @normalization_quantize_scale.setter
    def normalization_quantize_scale(self, tensor):
        raise PolygraphyException(f"`{self.name}`: what softmax gives is not quantised here; quantise the values")

    def _emit(self, emitter):
        query, key, value = self._inputs[:3]
        for tensor, word in ((query, "the query"), (key, "the key"), (value, "the value")):
            _expect_rank(self, tensor, 4, word)
        heads = query.shape[1]
        turned = emitter.node(self, "Transpose", [self._shared(emitter, key, heads)], perm=[0, 1, 3, 2])
        products = emitter.node(self, "MatMul", [query, turned])
        if self.mask is not None and self.mask.dtype == DataType.BOOL:
            products = self._only(emitter, self.mask, products)
        elif self.mask is not None:
            products = emitter.node(self, "Add", [products, self.mask])
        if self.causal:
            products = self._only(emitter, self._earlier(emitter, query, key), products)
        if self.norm_op == AttentionNormalizationOp.SOFTMAX:
            products = emitter.node(self, "Softmax", [products], axis=-1)
        emitter.node(self, "MatMul", [products, self._shared(emitter, value, heads)], self._outputs)

    def _shared(self, emitter, tensor, heads):
        """Each head as often as heads of queries share it."""
        own, size = tensor.shape[1], tensor.shape[3]
        if own == heads:
            return tensor
        if min(own, heads, size) < 1 or heads % own:
            raise PolygraphyException(f"`{self.name}`: {heads} heads of queries do not share {own} heads of the shape "
                                      f"{tensor.shape}")
        apart = emitter.node(self, "Unsqueeze", [tensor, emitter.constant([2])])
        repeated = emitter.node(self, "Expand", [apart, emitter.constant([1, 1, heads // own, 1, 1])])
        return emitter.node(self, "Reshape", [repeated, emitter.constant([0, heads, -1, size])])

    def _only(self, emitter, condition, products):
        least = emitter.node(self, "CastLike", [emitter.constant(float("-inf"), "float32"), products])
        return emitter.node(self, "Where", [condition, products, least])

    def _earlier(self, emitter, query, key):
        rows, columns = (self._places(emitter, each) for each in (query, key))
        if self.causal_kind == CausalMaskKind.LOWER_RIGHT:
            rows = emitter.node(self, "Add", [rows, emitter.node(self, "Sub", [self._count(emitter, key),
                                                                                 self._count(emitter, query)])])
        return emitter.node(self, "LessOrEqual", [columns, emitter.node(self, "Unsqueeze", [rows, emitter.constant([1])])])

    def _places(self, emitter, tensor):
        return emitter.node(self, "Range", [emitter.constant(0), self._count(emitter, tensor), emitter.constant(1)])

    def _count(self, emitter, tensor):
        return emitter.node(self, "Gather", [emitter.node(self, "Shape", [tensor]), emitter.constant(2)])


class IRotaryEmbeddingLayer(ILayer):
    """Pairs of elements turned by angles whose cosines and sines are given, for each place of a batch, or for places whose
    numbers are input 3. Elements beyond `rotary_embedding_dim`, if it is not 0, stay."""

    _TYPE, _WORD = LayerType.ROTARY_EMBEDDING, "RotaryEmbedding"

    interleaved = Setting(bool, "Whether neighbours are pairs.")
    rotary_embedding_dim = Setting(int, "How many elements are turned; 0: all.")

    def __init__(self, network, index, input, cos_cache, sin_cache, interleaved=False, rotary_embedding_dim=0) -> None:
        super().__init__(network, index, [input, cos_cache, sin_cache])
        self.interleaved, self.rotary_embedding_dim = interleaved, rotary_embedding_dim

    def _emit(self, emitter):
        x = self._inputs[0]
        _expect_rank(self, x, 4, "the input")
        size = x.shape[3]
        turned = self.rotary_embedding_dim or size
        if size < 1 or turned % 2 or not 0 < turned <= size:
            raise PolygraphyException(f"`{self.name}`: {turned} of {size} elements cannot be turned in pairs")
        starts = ((0, turned, 2), (1, turned, 2)) if self.interleaved else ((0, turned // 2, 1), (turned // 2, turned, 1))
        first, second = (self._slice(emitter, x, *each) for each in starts)
        cos, sin = (self._angles(emitter, each) for each in self._inputs[1:3])

        def node(op, *inputs):
            return emitter.node(self, op, inputs)

        pairs = [node("Sub", node("Mul", first, cos), node("Mul", second, sin)),
                 node("Add", node("Mul", second, cos), node("Mul", first, sin))]
        if self.interleaved:
            pairs = [node("Unsqueeze", each, emitter.constant([-1])) for each in pairs]
            joined = emitter.node(self, "Concat", pairs, axis=-1)
            pairs = [node("Reshape", joined, emitter.constant([0, 0, 0, turned]))]
        rest = [self._slice(emitter, x, turned, size, 1)] if turned < size else []
        emitter.node(self, "Concat", [*pairs, *rest], self._outputs, axis=-1)

    def _slice(self, emitter, tensor, start, end, step):
        places = [emitter.constant([each]) for each in (start, end, 3, step)]
        return emitter.node(self, "Slice", [tensor, *places])

    def _angles(self, emitter, cache):
        places = self.get_input(3)
        if places is not None:
            cache = emitter.node(self, "Gather", [cache, places], axis=0)
        return emitter.node(self, "Unsqueeze", [cache, emitter.constant([1])])


class IKVCacheUpdateLayer(ILayer):
    """The cache with new rows from a place on, which input 2 says for each row of the batch."""

    _TYPE, _WORD = LayerType.KVCACHE_UPDATE, "KVCacheUpdate"

    cache_mode = Setting(KVCacheMode, "Where new rows go.")
    update_form = PaddedSetting(AttentionIOForm, "(batch, head, place, size) here.")
    update_lengths = property(lambda self: None, doc="How many rows count; all of them here.")

    def __init__(self, network, index, cache, update, write_indices, cache_mode=KVCacheMode.LINEAR) -> None:
        super().__init__(network, index, [cache, update, write_indices])
        self.cache_mode, self.update_form = cache_mode, AttentionIOForm.PADDED_BHND

    def _emit(self, emitter):
        cache, update, starts = self._inputs
        _expect_rank(self, cache, 4, "the cache")

        def node(op, *inputs, **attrs):
            return emitter.node(self, op, inputs, **attrs)

        dims = node("Shape", update)
        count = node("Gather", dims, emitter.constant(2))
        steps = node("Range", emitter.constant(0), count, emitter.constant(1))
        starts = node("Cast", starts, to=DataType.INT64.onnx_number)
        rows = node("Add", node("Unsqueeze", starts, emitter.constant([1])), steps)
        places = node("Expand", node("Unsqueeze", rows, emitter.constant([1, 3])), dims)
        emitter.node(self, "ScatterElements", [cache, places, update], self._outputs, axis=2)
