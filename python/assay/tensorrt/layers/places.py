"""Layers of constants, indices and places. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import OptionalSetting, Setting, Shape, WeightsSetting, given
from assay.tensorrt.dims import array_of
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer


class IConstantLayer(ILayer):
    """Values that are known."""

    _TYPE, _WORD = LayerType.CONSTANT, "Constant"

    shape = Setting(Shape, "The dims.")
    weights = WeightsSetting("The elements.")

    def __init__(self, network, index, shape, weights) -> None:
        super().__init__(network, index, [])
        self.shape, self.weights = shape, weights

    def _emit(self, emitter):
        array = array_of(given(self, "weights"))
        if array is None and self.shape.numel() == 0:
            array = self.weights
        if array is None or array.size != self.shape.numel():
            raise PolygraphyException(f"`{self.name}`: {0 if array is None else array.size} weights do not fill the shape "
                                      f"{self.shape}")
        emitter.set_constant(self._outputs[0], array.reshape(self.shape), self)


class IFillLayer(ILayer):
    """Numbers of one difference, all in one row."""

    _TYPE, _WORD = LayerType.FILL, "Fill"

    shape = Setting(Shape, "The dims; input 0 tells them if it is set.")
    operation = Setting(enums.FillOperation, "What numbers.")
    to_type = Setting(DataType, "The type of the output.")
    alpha = Setting(float, "The first number, the least one or the mean; input 1 tells it if it is set.")
    beta = Setting(float, "The difference, the greatest number or the deviation; input 2 tells it if it is set.")

    def __init__(self, network, index, shape, op, output_type=None) -> None:
        super().__init__(network, index, [])
        self.shape, self.operation, self.to_type = shape, op, output_type or DataType.FLOAT
        self._is_typed = output_type is not None
        self.alpha, self.beta = 0.0, 1.0

    is_alpha_beta_int64 = property(lambda self: False, doc="Whether both are integers of 64 bits.")

    def set_alpha(self, value: float) -> None:
        """The same as alpha."""
        self.alpha = value

    def set_beta(self, value: float) -> None:
        """The same as beta."""
        self.beta = value

    def _emit(self, emitter):
        import numpy as np

        from assay.datatype import DataType as Shared

        dtype = Shared.from_native(self.to_type.native).numpy()
        if any(each is not None for each in self._inputs):
            self._emit_of_inputs(emitter)
            return
        if self.operation != enums.FillOperation.LINSPACE:
            op, names = "RandomUniform", ("low", "high")
            if self.operation == enums.FillOperation.RANDOM_NORMAL:
                op, names = "RandomNormal", ("mean", "scale")
            emitter.node(self, op, [], self._outputs, shape=list(self.shape), dtype=self.to_type.onnx_number,
                         **dict(zip(names, (float(self.alpha), float(self.beta)))))
            return
        row = np.arange(self.shape.numel(), dtype=np.float64) * self.beta + self.alpha
        emitter.set_constant(self._outputs[0], row.astype(dtype).reshape(self.shape))

    def _emit_of_inputs(self, emitter):
        """A row whose shape, first number and differences (one for each axis) tensors tell."""
        if self.operation != enums.FillOperation.LINSPACE:
            raise PolygraphyException(f"`{self.name}`: random numbers whose shape or bounds tensors tell are not there")

        def node(op, *inputs, **attrs):
            return emitter.node(self, op, inputs, **attrs)

        shape, first, steps = (self.get_input(i) for i in range(3))
        told = next((each for each in (first, steps) if each is not None), None)
        number = (self.to_type if self._is_typed or told is None else told.dtype).onnx_number
        dims = emitter.constant(list(self.shape)) if shape is None else node("Cast", shape, to=DataType.INT64.onnx_number)
        if len(self._dims()) == 0:
            dims = node("Reshape", dims, emitter.constant([0]))
        first = emitter.constant(self.alpha, "float32") if first is None else first
        steps = emitter.constant(self.beta, "float32") if steps is None else steps
        value = node("Expand", node("Cast", first, to=number), dims)
        rank = len(self._dims())
        for axis in range(rank):
            step = steps if rank == 1 else node("Gather", steps, emitter.constant(axis))
            count = node("Gather", dims, emitter.constant(axis))
            places = node("Range", emitter.constant(0), count, emitter.constant(1))
            row = node("Mul", node("Cast", places, to=number), node("Cast", step, to=number))
            value = node("Add", value, node("Reshape", row, emitter.constant([-1] + [1] * (rank - axis - 1))))
        emitter.node(self, "Identity", [value], self._outputs)

    def _dims(self):
        """The dims, -1 where a tensor tells them."""
        shape = self.get_input(0)
        if shape is None:
            return list(self.shape)
        return [-1] * (shape.shape[0] if len(shape.shape) else 0)


class IGatherLayer(ILayer):
    """Elements by their indices."""

    _TYPE, _WORD = LayerType.GATHER, "Gather"

    axis = Setting(int, "The axis that indices are of, but for GatherMode.ND.")
    mode = Setting(enums.GatherMode, "What indices mean.")
    num_elementwise_dims = Setting(int, "How many first axes data and indices have in common.")

    def __init__(self, network, index, input, indices, axis_or_mode) -> None:
        super().__init__(network, index, [input, indices])
        is_mode = isinstance(axis_or_mode, enums.GatherMode)
        self.mode = axis_or_mode if is_mode else enums.GatherMode.DEFAULT
        self.axis = 0 if is_mode else axis_or_mode
        self.num_elementwise_dims = 0

    def _emit(self, emitter):
        if self.mode == enums.GatherMode.ND:
            emitter.node(self, "GatherND", [self._inputs[0], self._indices(emitter)], self._outputs,
                         batch_dims=self.num_elementwise_dims)
        elif self.num_elementwise_dims:
            self._emit_of_rows(emitter)
        else:
            op = "GatherElements" if self.mode == enums.GatherMode.ELEMENT else "Gather"
            emitter.node(self, op, self._inputs, self._outputs, axis=self.axis)

    def _indices(self, emitter):
        return _as_int64(self, emitter, self._inputs[1])

    def _emit_of_rows(self, emitter):
        """Indices of their own for each element of the first axis."""
        data, indices = self._inputs
        rank, places = len(data.shape), len(indices.shape) - 1
        axis = self.axis % rank
        if self.mode != enums.GatherMode.DEFAULT or self.num_elementwise_dims != 1 or axis == 0 or places < 0:
            raise PolygraphyException(f"`{self.name}`: {self.num_elementwise_dims} axes in common do not fit the axis {axis} "
                                      f"and {self.mode}")
        rest = [each for each in range(1, rank) if each != axis]
        front = emitter.node(self, "Transpose", [data], perm=[0, axis, *rest])
        wanted = emitter.node(self, "Unsqueeze", [self._indices(emitter), emitter.constant([-1])])
        found = emitter.node(self, "GatherND", [front, wanted], batch_dims=1)
        # The axes of indices go to where the axis was.
        before, after = rest[:axis - 1], rest[axis - 1:]
        order = [0, *range(1 + places, 1 + places + len(before)), *range(1, 1 + places),
                 *range(1 + places + len(before), 1 + places + len(before) + len(after))]
        emitter.node(self, "Transpose", [found], self._outputs, perm=order)


def _as_int64(layer, emitter, tensor):
    """Indices of a type that all operators of ONNX take."""
    if tensor.dtype == DataType.INT64:
        return tensor
    return emitter.node(layer, "Cast", [tensor], to=DataType.INT64.onnx_number)


class IScatterLayer(ILayer):
    """Elements replaced by their indices."""

    _TYPE, _WORD = LayerType.SCATTER, "Scatter"

    axis = Setting(int, "The axis that indices are of, with ScatterMode.ELEMENT.")
    mode = Setting(enums.ScatterMode, "What indices mean.")

    def __init__(self, network, index, data, indices, updates, mode) -> None:
        super().__init__(network, index, [data, indices, updates])
        self.mode = mode
        self.axis = 0

    def _emit(self, emitter):
        if self.mode == enums.ScatterMode.ND:
            data, indices, updates = self._inputs
            emitter.node(self, "ScatterND", [data, _as_int64(self, emitter, indices), updates], self._outputs)
        else:
            emitter.node(self, "ScatterElements", self._inputs, self._outputs, axis=self.axis)


class IOneHotLayer(ILayer):
    """Rows with one element that differs. Inputs are indices, the two values (the other one first), and the length."""

    _TYPE, _WORD = LayerType.ONE_HOT, "OneHot"

    axis = Setting(int, "The axis of the rows.")

    def __init__(self, network, index, indices, values, depth, axis) -> None:
        super().__init__(network, index, [indices, values, depth])
        self.axis = axis

    def _emit(self, emitter):
        indices, values, depth = self._inputs
        emitter.node(self, "OneHot", [indices, depth, values], self._outputs, axis=self.axis)


class INonZeroLayer(ILayer):
    """Places of the elements that are not 0."""

    _TYPE, _WORD = LayerType.NON_ZERO, "NonZero"

    indices_type = Setting(DataType, "INT32 or INT64.")

    def __init__(self, network, index, input, indices_type=DataType.INT32) -> None:
        super().__init__(network, index, [input])
        self.indices_type = indices_type

    def _emit(self, emitter):
        if self.indices_type == DataType.INT64:
            emitter.node(self, "NonZero", self._inputs, self._outputs)
            return
        found = emitter.node(self, "NonZero", self._inputs)
        emitter.node(self, "Cast", [found], self._outputs, to=self.indices_type.onnx_number)


class INMSLayer(ILayer):
    """Boxes that do not overlap with better ones: (batch, class, box) of each, and their number. `topk_box_limit` is not
    needed."""

    _TYPE, _WORD = LayerType.NMS, "NMS"

    bounding_box_format = Setting(enums.BoundingBoxFormat, "How boxes are written.")
    topk_box_limit = Setting(int, "How many boxes are looked at; not needed.")
    indices_type = Setting(DataType, "INT32 or INT64.")

    def __init__(self, network, index, boxes, scores, max_output_boxes_per_class, indices_type=DataType.INT32) -> None:
        super().__init__(network, index, [boxes, scores, max_output_boxes_per_class], 2)
        self.bounding_box_format = enums.BoundingBoxFormat.CORNER_PAIRS
        self.topk_box_limit = 5000
        self.indices_type = indices_type

    def _emit(self, emitter):
        boxes, scores, count, *thresholds = self._inputs
        if len(boxes.shape) == 4 and boxes.shape[2] != 1:
            raise PolygraphyException(f"`{self.name}`: boxes of their own for each class are not there")
        if len(boxes.shape) == 4:
            boxes = emitter.node(self, "Squeeze", [boxes, emitter.constant([2])])
        scores = emitter.node(self, "Transpose", [scores], perm=[0, 2, 1])
        count = emitter.node(self, "Cast", [count], to=DataType.INT64.onnx_number)
        is_centred = self.bounding_box_format == enums.BoundingBoxFormat.CENTER_SIZES
        found = emitter.node(self, "NonMaxSuppression", [boxes, scores, count, *thresholds],
                             center_point_box=int(is_centred))
        number = emitter.node(self, "Gather", [emitter.node(self, "Shape", [found]), emitter.constant(0)])
        emitter.node(self, "Cast", [found], self._outputs[:1], to=self.indices_type.onnx_number)
        emitter.node(self, "Cast", [number], self._outputs[1:], to=DataType.INT32.onnx_number)


class _Scales(Setting):
    """Factors, in whose place there is no shape then."""

    def __set__(self, instance, value):
        instance.__dict__[self.key] = [float(each) for each in value]
        if instance.__dict__[self.key]:
            instance.shape = None
        instance._changed()


class _ResizedShape(OptionalSetting):
    """That of the input where nothing is told."""

    def __get__(self, instance, owner=None):
        if instance is None or instance.__dict__.get(self.key) is not None or instance.scales:
            return super().__get__(instance, owner)
        return instance.get_input(0).shape


class IResizeLayer(ILayer):
    """Interpolation to another shape."""

    _TYPE, _WORD = LayerType.RESIZE, "Resize"
    _COORDINATES = {"ALIGN_CORNERS": "align_corners", "ASYMMETRIC": "asymmetric", "HALF_PIXEL": "half_pixel"}
    _ROUNDING = {"HALF_UP": "round_prefer_ceil", "HALF_DOWN": "round_prefer_floor", "FLOOR": "floor", "CEIL": "ceil"}

    shape = _ResizedShape(Shape, "The dims; those of the input if neither they nor scales nor input 1 are set.")
    scales = _Scales(None, "Factors of the dims.")
    resize_mode = Setting(enums.InterpolationMode, "What is taken between elements.")
    coordinate_transformation = Setting(enums.ResizeCoordinateTransformation, "Which place belongs to which.")
    selector_for_single_pixel = Setting(enums.ResizeSelector, "Which place a single element is taken from.")
    nearest_rounding = Setting(enums.ResizeRoundMode, "How places are rounded.")
    exclude_outside = Setting(bool, "Whether what is beyond the bounds has no weight.")
    cubic_coeff = Setting(float, "The coefficient of InterpolationMode.CUBIC.")

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])
        self.shape, self.scales = None, ()
        self.resize_mode = enums.InterpolationMode.NEAREST
        self.coordinate_transformation = enums.ResizeCoordinateTransformation.ASYMMETRIC
        self.selector_for_single_pixel = enums.ResizeSelector.FORMULA
        self.nearest_rounding = enums.ResizeRoundMode.FLOOR
        self.exclude_outside = False
        self.cubic_coeff = -0.75

    def _emit(self, emitter):
        import numpy as np

        scales = sizes = None
        if len(self._inputs) > 1:
            sizes = emitter.node(self, "Cast", [self._inputs[1]], to=DataType.INT64.onnx_number)
        elif self.scales:
            scales = emitter.constant(self.scales, np.float32)
        elif given(self, "shape") is not None:
            sizes = emitter.constant(list(self.shape))
        else:
            emitter.node(self, "Identity", self._inputs, self._outputs)
            return
        emitter.node(self, "Resize", [self._inputs[0], None, scales, sizes], self._outputs,
                     mode=self.resize_mode.name.lower(),
                     coordinate_transformation_mode=self._COORDINATES[self.coordinate_transformation.name],
                     nearest_mode=self._ROUNDING[self.nearest_rounding.name],
                     exclude_outside=int(self.exclude_outside), cubic_coeff_a=float(self.cubic_coeff))


class IGridSampleLayer(SimpleLayer):
    """Elements at the places of a grid."""

    _TYPE, _WORD, _OP = LayerType.GRID_SAMPLE, "GridSample", "GridSample"
    _MODES = {"NEAREST": "nearest", "LINEAR": "linear", "CUBIC": "cubic"}
    _OLDER = {"LINEAR": "bilinear", "CUBIC": "bicubic"}  # before version 20
    _PADDING = {"FILL": "zeros", "CLAMP": "border", "REFLECT": "reflection"}

    interpolation_mode = Setting(enums.InterpolationMode, "What is taken between elements.")
    align_corners = Setting(bool, "Whether the corners of the grid are the centres of the outermost elements.")
    sample_mode = Setting(enums.SampleMode, "What is beyond the bounds.")

    def __init__(self, network, index, input, grid) -> None:
        super().__init__(network, index, [input, grid])
        self.interpolation_mode = enums.InterpolationMode.LINEAR
        self.align_corners = False
        self.sample_mode = enums.SampleMode.FILL

    def _emit(self, emitter):
        name = self.interpolation_mode.name
        mode = self._OLDER.get(name, "nearest") if emitter.opset < 20 else self._MODES[name]
        emitter.node(self, self._OP, self._inputs, self._outputs, mode=mode, align_corners=int(self.align_corners),
                     padding_mode=self._PADDING[self.sample_mode.name])
