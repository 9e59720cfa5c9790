"""Layers of constants, indices and places. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.dims import Dims, array_of
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer, adds


@adds("constant")
class IConstantLayer(ILayer):
    """Values that are known."""

    TYPE, WORD = LayerType.CONSTANT, "Constant"

    def __init__(self, network, index, shape, weights) -> None:
        super().__init__(network, index, [])
        self.shape = Dims(shape)
        self.weights = weights

    def _emit(self, emitter):
        array = array_of(self.weights)
        if array is None or array.size != self.shape.numel():
            raise PolygraphyException(f"`{self.name}`: {0 if array is None else array.size} weights do not fill the shape "
                                      f"{self.shape}")
        emitter.set_constant(self._outputs[0], array.reshape(self.shape), self)


@adds("fill")
class IFillLayer(ILayer):
    """Numbers of one difference, all in one row."""

    TYPE, WORD = LayerType.FILL, "Fill"

    def __init__(self, network, index, shape, op, output_type=DataType.FLOAT) -> None:
        super().__init__(network, index, [])
        self.shape, self.operation, self.to_type = Dims(shape), op, output_type
        self.alpha, self.beta = 0.0, 1.0

    def set_alpha(self, value) -> None:
        self.alpha = value

    def set_beta(self, value) -> None:
        self.beta = value

    def _emit(self, emitter):
        import numpy as np

        from assay.datatype import DataType as Shared

        dtype = Shared.from_native(self.to_type.native).numpy()
        if self.operation != enums.FillOperation.LINSPACE:
            op, names = "RandomUniform", ("low", "high")
            if self.operation == enums.FillOperation.RANDOM_NORMAL:
                op, names = "RandomNormal", ("mean", "scale")
            emitter.node(self, op, [], self._outputs, shape=list(self.shape), dtype=self.to_type.onnx_number,
                         **dict(zip(names, (float(self.alpha), float(self.beta)))))
            return
        row = np.arange(self.shape.numel(), dtype=np.float64) * self.beta + self.alpha
        emitter.set_constant(self._outputs[0], row.astype(dtype).reshape(self.shape))


@adds("gather", "gather_v2")
class IGatherLayer(ILayer):
    """Elements by their indices."""

    TYPE, WORD = LayerType.GATHER, "Gather"

    def __init__(self, network, index, input, indices, axis_or_mode=0, **kwargs) -> None:
        super().__init__(network, index, [input, indices])
        given = kwargs.get("axis", kwargs.get("mode", axis_or_mode))
        is_mode = isinstance(given, enums.GatherMode)
        self.mode = given if is_mode else enums.GatherMode.DEFAULT
        self.axis = 0 if is_mode else given
        self.num_elementwise_dims = 0

    def _emit(self, emitter):
        if self.mode == enums.GatherMode.ND:
            emitter.node(self, "GatherND", self._inputs, self._outputs, batch_dims=self.num_elementwise_dims)
        else:
            op = "GatherElements" if self.mode == enums.GatherMode.ELEMENT else "Gather"
            emitter.node(self, op, self._inputs, self._outputs, axis=self.axis)


@adds("scatter")
class IScatterLayer(ILayer):
    """Elements replaced by their indices."""

    TYPE, WORD = LayerType.SCATTER, "Scatter"

    def __init__(self, network, index, data, indices, updates, mode) -> None:
        super().__init__(network, index, [data, indices, updates])
        self.mode = mode
        self.axis = 0

    def _emit(self, emitter):
        if self.mode == enums.ScatterMode.ND:
            emitter.node(self, "ScatterND", self._inputs, self._outputs)
        else:
            emitter.node(self, "ScatterElements", self._inputs, self._outputs, axis=self.axis)


@adds("one_hot")
class IOneHotLayer(SimpleLayer):
    """Rows with one element that differs."""

    TYPE, WORD, OP = LayerType.ONE_HOT, "OneHot", "OneHot"

    def __init__(self, network, index, indices, values, depth, axis) -> None:
        super().__init__(network, index, [indices, depth, values])
        self.axis = axis

    def _attrs(self):
        return {"axis": self.axis}


@adds("non_zero")
class INonZeroLayer(SimpleLayer):
    """Places of the elements that are not 0."""

    TYPE, WORD, OP = LayerType.NON_ZERO, "NonZero", "NonZero"

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])


@adds("nms")
class INMSLayer(ILayer):
    """Boxes that do not overlap with better ones: (batch, class, box) of each, and their number. `topk_box_limit` is not
    needed."""

    TYPE, WORD = LayerType.NMS, "NMS"

    def __init__(self, network, index, boxes, scores, max_output_boxes_per_class, indices_type=DataType.INT32) -> None:
        super().__init__(network, index, [boxes, scores, max_output_boxes_per_class], 2)
        self.bounding_box_format = enums.BoundingBoxFormat.CORNER_PAIRS
        self.topk_box_limit = -1
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


@adds("resize")
class IResizeLayer(ILayer):
    """Interpolation to another shape."""

    TYPE, WORD = LayerType.RESIZE, "Resize"
    COORDINATES = {"ALIGN_CORNERS": "align_corners", "ASYMMETRIC": "asymmetric", "HALF_PIXEL": "half_pixel"}
    ROUNDING = {"HALF_UP": "round_prefer_ceil", "HALF_DOWN": "round_prefer_floor", "FLOOR": "floor", "CEIL": "ceil"}

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])
        self.shape = None
        self.scales = None
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
        elif self.shape is not None:
            sizes = emitter.constant(list(self.shape))
        else:
            scales = emitter.constant(list(self.scales), np.float32)
        emitter.node(self, "Resize", [self._inputs[0], None, scales, sizes], self._outputs,
                     mode=self.resize_mode.name.lower(),
                     coordinate_transformation_mode=self.COORDINATES[self.coordinate_transformation.name],
                     nearest_mode=self.ROUNDING[self.nearest_rounding.name],
                     exclude_outside=int(self.exclude_outside), cubic_coeff_a=float(self.cubic_coeff))


@adds("grid_sample")
class IGridSampleLayer(SimpleLayer):
    """Elements at the places of a grid."""

    TYPE, WORD, OP = LayerType.GRID_SAMPLE, "GridSample", "GridSample"
    MODES = {"NEAREST": "nearest", "LINEAR": "bilinear", "CUBIC": "bicubic"}
    PADDING = {"FILL": "zeros", "CLAMP": "border", "REFLECT": "reflection"}

    def __init__(self, network, index, input, grid) -> None:
        super().__init__(network, index, [input, grid])
        self.interpolation_mode = enums.InterpolationMode.LINEAR
        self.align_corners = False
        self.sample_mode = enums.SampleMode.FILL

    def _attrs(self):
        return {"mode": self.MODES[self.interpolation_mode.name], "align_corners": int(self.align_corners),
                "padding_mode": self.PADDING[self.sample_mode.name]}
