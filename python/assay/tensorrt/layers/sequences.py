"""Layers of language models: turned positions, caches of keys and values. Tensors are (batch, head, place, ...)."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import AttentionIOForm, DataType, KVCacheMode, LayerType
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
