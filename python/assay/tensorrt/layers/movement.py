"""Layers that move elements. Their properties may be changed until the network is built."""

from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer, adds


@adds("identity")
class IIdentityLayer(SimpleLayer):
    """The same values; of another type if its output's type is set."""

    TYPE, WORD, OP = LayerType.IDENTITY, "Identity", "Identity"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])

    def _emit(self, emitter):
        if 0 in self._output_types:
            emitter.node(self, "Cast", self._inputs, self._outputs, to=self._output_types[0].onnx_number)
        else:
            super()._emit(emitter)


@adds("cast")
class ICastLayer(SimpleLayer):
    """Conversion to another type."""

    TYPE, WORD, OP = LayerType.CAST, "Cast", "Cast"

    def __init__(self, network, index, input, to_type) -> None:
        super().__init__(network, index, [input])
        self.to_type = to_type

    def _attrs(self):
        return {"to": self.to_type.onnx_number}


@adds("concatenation")
class IConcatenationLayer(SimpleLayer):
    """Tensors one after the other along an axis."""

    TYPE, WORD, OP = LayerType.CONCATENATION, "Concatenation", "Concat"

    def __init__(self, network, index, inputs) -> None:
        super().__init__(network, index, inputs)
        self.axis = max(0, len(inputs[0].shape) - 3)

    def _attrs(self):
        return {"axis": self.axis}


@adds("shuffle")
class IShuffleLayer(ILayer):
    """Transpose, reshape, transpose; the shape may be a second input."""

    TYPE, WORD = LayerType.SHUFFLE, "Shuffle"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])
        self.first_transpose = None
        self.second_transpose = None
        self.reshape_dims = None
        self.zero_is_placeholder = True

    def _emit(self, emitter):
        value = self._inputs[0]
        if self.first_transpose is not None:
            value = emitter.node(self, "Transpose", [value], perm=list(self.first_transpose))
        if len(self._inputs) > 1:
            shape = self._inputs[1]
            if shape.dtype != DataType.INT64:
                shape = emitter.node(self, "Cast", [shape], to=DataType.INT64.onnx_number)
            value = emitter.node(self, "Reshape", [value, shape], allowzero=int(not self.zero_is_placeholder))
        elif self.reshape_dims is not None:
            value = emitter.node(self, "Reshape", [value, emitter.constant(list(self.reshape_dims))],
                                 allowzero=int(not self.zero_is_placeholder))
        if self.second_transpose is not None:
            emitter.node(self, "Transpose", [value], self._outputs, perm=list(self.second_transpose))
        else:
            emitter.node(self, "Identity", [value], self._outputs)


@adds("shape")
class IShapeLayer(SimpleLayer):
    """The dims of a tensor."""

    TYPE, WORD, OP = LayerType.SHAPE, "Shape", "Shape"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])


@adds("squeeze")
class ISqueezeLayer(SimpleLayer):
    """Without dims of 1."""

    TYPE, WORD, OP = LayerType.SQUEEZE, "Squeeze", "Squeeze"

    def __init__(self, network, index, input, axes) -> None:
        super().__init__(network, index, [input, axes])


@adds("unsqueeze")
class IUnsqueezeLayer(SimpleLayer):
    """With further dims of 1."""

    TYPE, WORD, OP = LayerType.UNSQUEEZE, "Unsqueeze", "Unsqueeze"

    def __init__(self, network, index, input, axes) -> None:
        super().__init__(network, index, [input, axes])


@adds("padding_nd", "padding")
class IPaddingLayer(ILayer):
    """Zeros around the last dims; negative numbers cut."""

    TYPE, WORD = LayerType.PADDING, "Padding"

    def __init__(self, network, index, input, pre_padding, post_padding) -> None:
        super().__init__(network, index, [input])
        self.pre_padding_nd, self.post_padding_nd = Dims(pre_padding), Dims(post_padding)

    pre_padding = property(lambda self: self.pre_padding_nd)
    post_padding = property(lambda self: self.post_padding_nd)

    def _emit(self, emitter):
        rank = len(self._inputs[0].shape) - len(self.pre_padding_nd)
        pads = [0] * rank + list(self.pre_padding_nd) + [0] * rank + list(self.post_padding_nd)
        emitter.node(self, "Pad", [self._inputs[0], emitter.constant(pads)], self._outputs)


@adds("reverse_sequence")
class IReverseSequenceLayer(SimpleLayer):
    """Rows turned round up to their lengths."""

    TYPE, WORD, OP = LayerType.REVERSE_SEQUENCE, "ReverseSequence", "ReverseSequence"

    def __init__(self, network, index, input, sequence_lens) -> None:
        super().__init__(network, index, [input, sequence_lens])
        self.batch_axis, self.sequence_axis = 1, 0

    def _emit(self, emitter):
        lengths = emitter.node(self, "Cast", [self._inputs[1]], to=DataType.INT64.onnx_number)
        emitter.node(self, self.OP, [self._inputs[0], lengths], self._outputs, batch_axis=self.batch_axis,
                     time_axis=self.sequence_axis)
