"""Layers that move elements. Their properties may be changed until the network is built."""

from assay.tensorrt.arguments import OptionalSetting, Setting, Shape, renamed
from assay.tensorrt.dims import Permutation
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer
from assay.tensorrt.logger import say
from assay.tensorrt.tensor import ITensor


class IIdentityLayer(SimpleLayer):
    """The same values; of another type if its output's type is set."""

    _TYPE, _WORD, _OP = LayerType.IDENTITY, "Identity", "Identity"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])

    def _emit(self, emitter):
        if 0 in self._output_types:
            emitter.node(self, "Cast", self._inputs, self._outputs, to=self._output_types[0].onnx_number)
        else:
            super()._emit(emitter)


class ICastLayer(SimpleLayer):
    """Conversion to another type."""

    _TYPE, _WORD, _OP = LayerType.CAST, "Cast", "Cast"

    to_type = Setting(DataType, "The type of the output.")

    def __init__(self, network, index, input, to_type) -> None:
        super().__init__(network, index, [input])
        self.to_type = to_type

    def _attrs(self):
        return {"to": self.to_type.onnx_number}


class IConcatenationLayer(SimpleLayer):
    """Tensors one after the other along an axis."""

    _TYPE, _WORD, _OP = LayerType.CONCATENATION, "Concatenation", "Concat"

    axis = Setting(int, "By default the third last one, or the first one.")

    def __init__(self, network, index, inputs) -> None:
        super().__init__(network, index, inputs)
        self.axis = max(0, len(inputs[0].shape) - 3)

    def _attrs(self):
        return {"axis": self.axis}


class IShuffleLayer(ILayer):
    """Transpose, reshape, transpose; the shape may be a second input."""

    _TYPE, _WORD = LayerType.SHUFFLE, "Shuffle"

    first_transpose = Setting(Permutation, "The order of axes before the shape changes.")
    reshape_dims = OptionalSetting(Shape, "The shape; 0: as in the input, -1: what is left. None: it stays.")
    second_transpose = Setting(Permutation, "The order of axes after it.")
    zero_is_placeholder = Setting(bool, "Whether a dim of 0 is that of the input.")

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])
        self.first_transpose = self.second_transpose = Permutation.identity()
        self.reshape_dims = None
        self.zero_is_placeholder = True

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Another tensor; input 1 is the shape."""
        if index not in (0, 1):
            say(self._network.logger, f"the layer `{self.name}` has no input of the number {index}")
            return
        super().set_input(index, tensor)

    def _emit(self, emitter):
        value = self._inputs[0]
        if not self.first_transpose.is_identity():
            order = self.first_transpose.of_rank(len(value.shape))
            value = emitter.node(self, "Transpose", [value], perm=order)
        if len(self._inputs) > 1:
            shape = self._inputs[1]
            if shape.dtype != DataType.INT64:
                shape = emitter.node(self, "Cast", [shape], to=DataType.INT64.onnx_number)
            value = emitter.node(self, "Reshape", [value, shape], allowzero=int(not self.zero_is_placeholder))
        elif self.reshape_dims is not None:
            value = emitter.node(self, "Reshape", [value, emitter.constant(list(self.reshape_dims))],
                                 allowzero=int(not self.zero_is_placeholder))
        if not self.second_transpose.is_identity():
            order = self.second_transpose.of_rank(self._rank())
            emitter.node(self, "Transpose", [value], self._outputs, perm=order)
        else:
            emitter.node(self, "Identity", [value], self._outputs)

    def _rank(self):
        """Of the output."""
        if len(self._inputs) > 1:
            return self._inputs[1].shape[0]
        return len(self._inputs[0].shape if self.reshape_dims is None else self.reshape_dims)


class IShapeLayer(SimpleLayer):
    """The dims of a tensor."""

    _TYPE, _WORD, _OP = LayerType.SHAPE, "Shape", "Shape"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])


class ISqueezeLayer(SimpleLayer):
    """Without dims of 1."""

    _TYPE, _WORD, _OP = LayerType.SQUEEZE, "Squeeze", "Squeeze"

    def __init__(self, network, index, input, axes) -> None:
        super().__init__(network, index, [input, axes])


class IUnsqueezeLayer(SimpleLayer):
    """With further dims of 1."""

    _TYPE, _WORD, _OP = LayerType.UNSQUEEZE, "Unsqueeze", "Unsqueeze"

    def __init__(self, network, index, input, axes) -> None:
        super().__init__(network, index, [input, axes])


class IPaddingLayer(ILayer):
    """Zeros around the last dims; negative numbers cut."""

    _TYPE, _WORD = LayerType.PADDING, "Padding"

    pre_padding_nd = Setting(Shape, "Before the elements of the last axes.")
    post_padding_nd = Setting(Shape, "After them.")
    pre_padding = renamed("pre_padding_nd")
    post_padding = renamed("post_padding_nd")

    def __init__(self, network, index, input, pre_padding, post_padding) -> None:
        super().__init__(network, index, [input])
        self.pre_padding_nd, self.post_padding_nd = pre_padding, post_padding

    def _emit(self, emitter):
        rank = len(self._inputs[0].shape) - len(self.pre_padding_nd)
        pads = [0] * rank + list(self.pre_padding_nd) + [0] * rank + list(self.post_padding_nd)
        emitter.node(self, "Pad", [self._inputs[0], emitter.constant(pads)], self._outputs)


class IReverseSequenceLayer(SimpleLayer):
    """Rows turned round up to their lengths."""

    _TYPE, _WORD, _OP = LayerType.REVERSE_SEQUENCE, "ReverseSequence", "ReverseSequence"

    batch_axis = Setting(int, "The axis of rows.")
    sequence_axis = Setting(int, "The axis that is turned round.")

    def __init__(self, network, index, input, sequence_lens) -> None:
        super().__init__(network, index, [input, sequence_lens])
        self.batch_axis, self.sequence_axis = 1, 0

    def _emit(self, emitter):
        lengths = emitter.node(self, "Cast", [self._inputs[1]], to=DataType.INT64.onnx_number)
        emitter.node(self, self._OP, [self._inputs[0], lengths], self._outputs, batch_axis=self.batch_axis,
                     time_axis=self.sequence_axis)
