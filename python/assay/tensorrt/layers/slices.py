"""Slices, also beyond the bounds of what is sliced."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import OptionalSetting, Setting, Shape
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer


class ISliceLayer(ILayer):
    """`shape` elements from `start` on, each `stride`-th; what is beyond the bounds as `mode` says. `axes`: those that the
    others are about; None: all."""

    _TYPE, _WORD = LayerType.SLICE, "Slice"

    start = Setting(Shape, "The first place of each axis; input 1 tells it if it is set.")
    shape = Setting(Shape, "How many elements of each axis; input 2 tells it if it is set.")
    stride = Setting(Shape, "How far they are apart; input 3 tells it if it is set.")
    mode = Setting(enums.SampleMode, "What is beyond the bounds.")
    axes = OptionalSetting(Shape, "The axes that the others are about; None: all.")

    def __init__(self, network, index, input, start, shape, stride) -> None:
        super().__init__(network, index, [input])
        self.start, self.shape, self.stride = start, shape, stride
        self.mode = enums.SampleMode.STRICT_BOUNDS
        self.axes = None

    def _axes(self):
        rank = len(self._inputs[0].shape) if self.axes is not None else len(self.start)
        axes = [each % rank for each in (range(rank) if self.axes is None else self.axes)]
        if len(axes) != len(self.start) or len(set(axes)) != len(axes):
            raise PolygraphyException(f"`{self.name}`: {len(self.start)} starts for the axes {axes}")
        return axes

    def _part(self, emitter, index, dims):
        given = self.get_input(index)
        if given is None:
            return emitter.constant(list(dims))
        return emitter.node(self, "Cast", [given], to=DataType.INT64.onnx_number)

    def _emit(self, emitter):
        parts = [self._part(emitter, i + 1, dims) for i, dims in enumerate((self.start, self.shape, self.stride))]
        if self.mode == enums.SampleMode.STRICT_BOUNDS:
            self._emit_within(emitter, *parts)
        else:
            self._emit_beyond(emitter, *parts)

    def _emit_within(self, emitter, start, size, stride):
        end = emitter.node(self, "Add", [start, emitter.node(self, "Mul", [size, stride])])
        axes = emitter.constant(self._axes())
        if not all(each > 0 for each in self.stride):
            # An end before the first element is not a place counted from the back.
            least = emitter.constant([-(1 << 62)] * len(self.start))
            before = emitter.node(self, "Less", [end, emitter.constant([0] * len(self.start))])
            end = emitter.node(self, "Where", [before, least, end])
        emitter.node(self, "Slice", [self._inputs[0], start, end, axes, stride], self._outputs)

    def _emit_beyond(self, emitter, start, size, stride):
        """Axis by axis, the elements at places that are brought within the bounds."""
        def node(op, *inputs, **attrs):
            return emitter.node(self, op, inputs, **attrs)

        value, dims, inside = self._inputs[0], node("Shape", self._inputs[0]), None
        rank = len(self._inputs[0].shape) if self.axes is not None else len(self.start)
        for place, axis in enumerate(self._axes()):
            first, count, step = (node("Gather", each, emitter.constant(place)) for each in (start, size, stride))
            dim = node("Gather", dims, emitter.constant(axis))
            places = node("Range", emitter.constant(0), count, emitter.constant(1))
            places = node("Add", first, node("Mul", places, step))
            if self.mode == enums.SampleMode.FILL:
                fits = node("And", node("GreaterOrEqual", places, emitter.constant(0)), node("Less", places, dim))
                fits = node("Reshape", fits, emitter.constant([-1] + [1] * (rank - axis - 1)))
                inside = fits if inside is None else node("And", inside, fits)
            value = node("Gather", value, self._within(node, emitter, places, dim), axis=axis)
        if inside is None:
            emitter.node(self, "Identity", [value], self._outputs)
            return
        filling = self.get_input(4)
        if filling is None:
            filling = node("CastLike", emitter.constant(0), value)
        emitter.node(self, "Where", [inside, value, filling], self._outputs)

    def _within(self, node, emitter, places, dim):
        one = emitter.constant(1)
        last = node("Sub", dim, one)
        if self.mode == enums.SampleMode.WRAP:
            return node("Mod", places, dim)
        if self.mode in (enums.SampleMode.CLAMP, enums.SampleMode.FILL):
            return node("Max", node("Min", places, last), emitter.constant(0))
        if self.mode != enums.SampleMode.REFLECT:
            raise PolygraphyException(f"`{self.name}`: slices of the mode {self.mode} are not there")
        period = node("Max", node("Mul", last, emitter.constant(2)), one)
        turned = node("Mod", places, period)
        return node("Min", turned, node("Sub", period, turned))
