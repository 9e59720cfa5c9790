"""Numbers of small types and their scales: one, one for each of an axis, or one for each block."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting, Shape
from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer

OPSET = 23  # from which on ONNX has all of the types, and blocks
CODES = (DataType.INT8, DataType.FP8, DataType.INT4, DataType.FP4)
MOST_OF_FP4 = 6.0


class _Quantiser(SimpleLayer):
    axis = Setting(int, "The axis that has a scale each; -1: there is one scale, or one for each block.")
    to_type = Setting(DataType, "The type of the output.")

    def __init__(self, network, index, input, scale, output_type) -> None:
        super().__init__(network, index, [input, scale])
        self._blocks: tuple = ()
        self.axis, self.to_type = -1, output_type

    @property
    def block_shape(self):
        """How many elements of each axis have a scale."""
        if not self._blocks:
            raise RuntimeError("Could not get block_shape.")
        return Dims(self._blocks)

    @block_shape.setter
    def block_shape(self, value):
        self._blocks = tuple(value)
        self._changed()

    def _least_opset(self):
        return OPSET if self._codes() != DataType.INT8 or self._shape_of_blocks() else 0

    def _shape_of_blocks(self):
        """The blocks, which scales of as many dims as the input also tell; empty: none."""
        data, scale = (tuple(each.shape) for each in self._inputs[:2])
        if self._blocks:
            return self._blocks
        if self.axis >= 0 or len(scale) != len(data) or len(data) < 2 or min(data + scale) < 1 or \
                any(size % count for size, count in zip(data, scale)):
            return ()
        return tuple(size // count for size, count in zip(data, scale))

    def _scale(self, emitter):
        """The tensor of the scale, one number where there is no axis, and attributes about axis and blocks."""
        scale = self._inputs[1]
        if blocks := self._shape_of_blocks():
            wide = [axis for axis, size in enumerate(blocks) if size != 1]
            if len(wide) > 1 or len(blocks) != len(tuple(self._inputs[0].shape)):
                raise PolygraphyException(f"`{self.name}`: blocks of {Dims(blocks)}; those along one axis are there")
            axis = wide[0] if wide else len(blocks) - 1
            return scale, {"axis": axis, "block_size": blocks[axis]}
        if self.axis >= 0 or not tuple(scale.shape):
            return scale, {"axis": self.axis} if tuple(scale.shape) else {}
        if scale.shape.numel() != 1:
            raise PolygraphyException(f"`{self.name}`: {scale.shape.numel()} scales need an axis, which is -1")
        return emitter.node(self, "Reshape", [scale, emitter.constant([])]), {}

    def _check_codes(self, word):
        if self._codes() not in CODES:
            raise PolygraphyException(f"`{self.name}`: {word} is {self._codes()}; expected is one of "
                                      f"{', '.join(each.name for each in CODES)}")


class IQuantizeLayer(_Quantiser):
    """Numbers of a small type by a scale."""

    _TYPE, _WORD, _OP = LayerType.QUANTIZE, "Quantize", "QuantizeLinear"

    def __init__(self, network, index, input, scale, output_type=DataType.INT8) -> None:
        super().__init__(network, index, input, scale, output_type)

    def _codes(self):
        return self.to_type

    def _emit(self, emitter):
        import numpy as np

        self._check_codes("the type of the output")
        scale, attrs = self._scale(emitter)
        inputs = [self._inputs[0], scale]
        if self._least_opset():
            attrs["output_dtype"] = self.to_type.onnx_number
        else:
            inputs.append(emitter.constant(np.zeros(tuple(self._inputs[1].shape) if attrs else ()), np.int8))
        emitter.node(self, self._OP, inputs, self._outputs, **attrs)


class IDequantizeLayer(_Quantiser):
    """Floats of numbers of a small type by a scale."""

    _TYPE, _WORD, _OP = LayerType.DEQUANTIZE, "Dequantize", "DequantizeLinear"

    def __init__(self, network, index, input, scale, output_type=DataType.FLOAT) -> None:
        super().__init__(network, index, input, scale, output_type)

    def _codes(self):
        return self._inputs[0].dtype

    def _emit(self, emitter):
        scale, attrs = self._scale(emitter)
        if self._inputs[1].dtype == self.to_type:
            emitter.node(self, self._OP, [self._inputs[0], scale], self._outputs, **attrs)
            return
        value = emitter.node(self, self._OP, [self._inputs[0], scale], **attrs)
        emitter.node(self, "Cast", [value], self._outputs, to=self.to_type.onnx_number)


class IDynamicQuantizeLayer(ILayer):
    """Numbers of FP4 by scales of FP8, one for each block, which are made in a run: the greatest magnitude of a block by
    that of the type, divided by the second input and rounded to FP8."""

    _TYPE, _WORD = LayerType.DYNAMIC_QUANTIZE, "DynamicQuantize"

    axis = Setting(int, "The axis of blocks.")
    block_size = Setting(int, "How many elements have a scale.")
    block_shape = Setting(Shape, "Likewise, for each axis.")
    to_type = Setting(DataType, "The type of the output.")
    scale_type = Setting(DataType, "The type of the scales.")

    def __init__(self, network, index, input, axis, block_size, block_shape, output_type, scale_type) -> None:
        super().__init__(network, index, [input], 2)
        self.axis, self.block_size, self.block_shape = axis, block_size, Dims(block_shape)
        self.to_type, self.scale_type = output_type, scale_type

    def _least_opset(self):
        return OPSET

    def _output_name(self, index):
        return f"{self._name}_output" + (f"_{index}" if index else "")

    def _axis_and_size(self):
        wide = [(axis, size) for axis, size in enumerate(self.block_shape) if size != 1]
        return wide[0] if wide else (self.axis, self.block_size)

    def _emit(self, emitter):
        if (self.to_type, self.scale_type) != (DataType.FP4, DataType.FP8):
            raise PolygraphyException(f"`{self.name}`: {self.to_type.name} by scales of {self.scale_type.name}; FP4 by scales of "
                                      "FP8 is there, as TensorRT does not say how scales of E8M0 are rounded")
        if len(self._inputs) < 2:
            raise PolygraphyException(f"`{self.name}`: set_input(1, tensor) gives the scale of the scales")
        x, factor = self._inputs[:2]
        (axis, size), dims = self._axis_and_size(), list(x.shape)
        if not 0 <= axis < len(dims) or size < 1 or min(dims) < 1 or dims[axis] % size:
            raise PolygraphyException(f"`{self.name}`: blocks of {size} along the axis {axis} of {x.shape}, which they do not divide")
        factor = emitter.node(self, "Reshape", [factor, emitter.constant([])])
        parted = emitter.constant([*dims[:axis], dims[axis] // size, size, *dims[axis + 1:]])
        rows = emitter.node(self, "Abs", [emitter.node(self, "Reshape", [x, parted])])
        most = emitter.node(self, "ReduceMax", [rows, emitter.constant([axis + 1])], keepdims=0)
        wanted = emitter.node(self, "Div", [most, self._like(emitter, MOST_OF_FP4, most)])
        codes = {"output_dtype": self.scale_type.onnx_number}
        emitter.node(self, "QuantizeLinear", [wanted, factor], [self._outputs[1]], **codes)
        scale = emitter.node(self, "DequantizeLinear", [self._outputs[1], factor])
        is_none = emitter.node(self, "Equal", [scale, self._like(emitter, 0.0, scale)])
        scale = emitter.node(self, "Where", [is_none, self._like(emitter, 1.0, scale), scale])
        emitter.node(self, "QuantizeLinear", [x, scale], [self._outputs[0]], axis=axis, block_size=size,
                     output_dtype=self.to_type.onnx_number)

    def _like(self, emitter, value, like):
        return emitter.node(self, "CastLike", [emitter.constant(value, "float32"), like])
