"""Products, sums and normalisation along axes. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.generations import IS_STRICT
from assay.tensorrt.layers.base import ILayer, SimpleLayer, axes_of


class ILRNLayer(SimpleLayer):
    """Normalisation over neighbouring channels."""

    _TYPE, _WORD, _OP = LayerType.LRN, "LRN", "LRN"

    window_size = Setting(int, "How many channels.")
    alpha = Setting(float, "The factor of the squares.")
    beta = Setting(float, "The exponent.")
    k = Setting(float, "What is added to the squares.")

    def __init__(self, network, index, input, window, alpha, beta, k) -> None:
        super().__init__(network, index, [input])
        self.window_size, self.alpha, self.beta, self.k = window, alpha, beta, k

    def _attrs(self):
        return {"size": self.window_size, "alpha": self.alpha, "beta": self.beta, "bias": self.k}


class ISoftMaxLayer(SimpleLayer):
    """Softmax along the axis whose bit is set."""

    _TYPE, _WORD, _OP = LayerType.SOFTMAX, "Softmax", "Softmax"

    axes = Setting(int, "The bit of the axis, by default that of the third last one, or of the first one.")

    def __init__(self, network, index, input) -> None:
        super().__init__(network, index, [input])
        self.axes = 1 << max(0, len(input.shape) - 3)

    def _attrs(self):
        return {"axis": axes_of(self.axes)[0]}


class IRaggedSoftMaxLayer(ILayer):
    """Softmax along the last axis over the first elements of each row, as many as `bounds` says; 0 for the others."""

    _TYPE, _WORD = LayerType.RAGGED_SOFTMAX, "Ragged SoftMax"

    def __init__(self, network, index, input, bounds) -> None:
        super().__init__(network, index, [input, bounds])

    def _emit(self, emitter):
        def node(op, *inputs, **attrs):
            return emitter.node(self, op, inputs, **attrs)

        x, bounds = self._inputs
        width = node("Gather", node("Shape", x), emitter.constant(-1))
        places = node("Range", emitter.constant(0), width, emitter.constant(1))
        inside = node("Less", places, node("Cast", bounds, to=DataType.INT64.onnx_number))
        least = node("CastLike", emitter.constant(float("-inf"), "float32"), x)
        shares = node("Softmax", node("Where", inside, x, least), axis=-1)
        emitter.node(self, "Where", [inside, shares, node("CastLike", emitter.constant(0), x)], self._outputs)


class IReduceLayer(ILayer):
    """A statistic along axes."""

    _TYPE, _WORD = LayerType.REDUCE, "Reduce"
    _OPS = {"SUM": "ReduceSum", "PROD": "ReduceProd", "MAX": "ReduceMax", "MIN": "ReduceMin", "AVG": "ReduceMean"}

    op = Setting(enums.ReduceOperation, "Which statistic.")
    axes = Setting(int, "The bits of the axes.")
    keep_dims = Setting(bool, "Whether axes stay, with one element.")

    def __init__(self, network, index, input, op, axes, keep_dims) -> None:
        super().__init__(network, index, [input])
        self.op, self.axes, self.keep_dims = op, axes, keep_dims

    def _emit(self, emitter):
        op = self._OPS[self.op.name]
        axes = axes_of(self.axes)
        is_input = emitter.opset >= (13 if op == "ReduceSum" else 18)
        inputs = [self._inputs[0], emitter.constant(axes)] if is_input else self._inputs[:1]
        emitter.node(self, op, inputs, self._outputs, keepdims=int(self.keep_dims), axes=None if is_input else axes)


class ITopKLayer(ILayer):
    """The k greatest or least elements along the axis whose bit is set, and their indices."""

    _TYPE, _WORD = LayerType.TOPK, "TopK"

    op = Setting(enums.TopKOperation, "The greatest or the least.")
    k = Setting(int, "How many; input 1 tells it if it is set.")
    axes = Setting(int, "The bit of the axis.")
    indices_type = Setting(DataType, "INT32 or INT64.")

    def __init__(self, network, index, input, op, k, axes, indices_type=DataType.INT32) -> None:
        super().__init__(network, index, [input], 2)
        self.op, self.k, self.axes, self.indices_type = op, k, axes, indices_type

    def _emit(self, emitter):
        indices = emitter.variable()
        emitter.node(self, "TopK", [self._inputs[0], self._count(emitter)], [self._outputs[0], indices],
                     axis=axes_of(self.axes)[0], largest=int(self.op == enums.TopKOperation.MAX))
        emitter.node(self, "Cast", [indices], self._outputs[1:], to=self.indices_type.onnx_number)

    def _count(self, emitter):
        told = self.get_input(1)
        if told is None:
            return emitter.constant([self.k])
        count = emitter.node(self, "Cast", [told], to=DataType.INT64.onnx_number)
        return emitter.node(self, "Reshape", [count, emitter.constant([1])])


class IMatrixMultiplyLayer(ILayer):
    """A matrix product of two tensors, each transposed or taken for vectors if asked for."""

    _TYPE, _WORD = LayerType.MATRIX_MULTIPLY, "Matrix Multiply"

    op0 = Setting(enums.MatrixOperation, "What is done with the first factor.")
    op1 = Setting(enums.MatrixOperation, "What is done with the second one.")

    def __init__(self, network, index, input0, op0, input1, op1) -> None:
        super().__init__(network, index, [input0, input1])
        self.op0, self.op1 = op0, op1

    def _operand(self, emitter, tensor, op):
        if op != enums.MatrixOperation.TRANSPOSE:
            return tensor
        order = list(range(len(tensor.shape)))
        order[-2:] = order[:-3:-1]
        return emitter.node(self, "Transpose", [tensor], perm=order)

    def _emit(self, emitter):
        vector = enums.MatrixOperation.VECTOR
        batches = [len(each.shape) - (1 if op == vector else 2) for each, op in zip(self._inputs, (self.op0, self.op1))]
        if batches[0] != batches[1]:
            raise PolygraphyException(f"`{self.name}`: factors of {batches[0]} and {batches[1]} dims before their matrices or "
                                      "vectors")
        a, b = (self._operand(emitter, *each) for each in zip(self._inputs, (self.op0, self.op1)))
        if self.op0 == vector:
            a = emitter.node(self, "Unsqueeze", [a, emitter.constant([-2])])
        if self.op1 == vector:
            b = emitter.node(self, "Unsqueeze", [b, emitter.constant([-1])])
        added = ([-2] if self.op0 == vector else []) + ([-1] if self.op1 == vector else [])
        if not added:
            emitter.node(self, "MatMul", [a, b], self._outputs)
        else:
            product = emitter.node(self, "MatMul", [a, b])
            emitter.node(self, "Squeeze", [product, emitter.constant(added)], self._outputs)


class IEinsumLayer(SimpleLayer):
    """A sum of products by an equation."""

    _TYPE, _WORD, _OP = LayerType.EINSUM, "Einsum", "Einsum"

    equation = Setting(str, "Letters of axes.")

    def __init__(self, network, index, inputs, equation) -> None:
        super().__init__(network, index, inputs)
        self.equation = equation

    def _attrs(self):
        return {"equation": self.equation}


class INormalizationLayer(ILayer):
    """Mean 0 and variance 1 along the axes whose bits are set, within groups of channels if there are several; then scale
    and bias, by group or by channel."""

    _TYPE, _WORD = LayerType.NORMALIZATION, "Normalization"

    axes = Setting(int, "The bits of the axes.")
    epsilon = Setting(float, "What is added to the variance.")
    num_groups = Setting(int, "In how many groups of channels.")
    compute_precision = Setting(DataType, "Float32 here.")
    is_v2 = property(lambda self: self._is_v2, doc="Whether it was added by add_normalization_v2(); scale and bias may be of "
                                                   "groups or of channels in any case.")

    def __init__(self, network, index, input, scale, bias, axesMask, is_v2=False) -> None:
        if is_v2:
            self._WORD = "NormalizationV2"
        super().__init__(network, index, [input, scale, bias])
        self.axes, self.epsilon, self.num_groups = axesMask, 1e-5, 1
        if not IS_STRICT:  # of older generations
            self.compute_precision = DataType.FLOAT
        self._is_v2 = is_v2

    def _emit(self, emitter):
        x, scale, bias = self._inputs
        if self.num_groups == 1:
            scaled = self._normalized(emitter, x, axes_of(self.axes))
        else:
            dims = emitter.node(self, "Shape", [x])
            parts = [emitter.node(self, "Gather", [dims, emitter.constant([0])]),
                     emitter.constant([self.num_groups, -1])]
            groups = emitter.node(self, "Reshape", [x, emitter.node(self, "Concat", parts, axis=0)])
            scaled = emitter.node(self, "Reshape", [self._normalized(emitter, groups, [2]), dims])
            scale, bias = (self._by_channel(emitter, each, x.shape[1]) for each in (scale, bias))
        emitter.node(self, "Add", [emitter.node(self, "Mul", [scaled, scale]), bias], self._outputs)

    def _normalized(self, emitter, x, axes):
        import numpy as np

        inputs, attrs = ([emitter.constant(axes)], {}) if emitter.opset >= 18 else ([], {"axes": axes})
        mean = emitter.node(self, "ReduceMean", [x, *inputs], keepdims=1, **attrs)
        centred = emitter.node(self, "Sub", [x, mean])
        square = emitter.node(self, "Mul", [centred, centred])
        variance = emitter.node(self, "ReduceMean", [square, *inputs], keepdims=1, **attrs)
        shifted = emitter.node(self, "Add", [variance, emitter.constant(self.epsilon, np.float32)])
        return emitter.node(self, "Div", [centred, emitter.node(self, "Sqrt", [shifted])])

    def _by_channel(self, emitter, tensor, channels):
        """Numbers of groups, each as often as its group has channels."""
        if tensor.shape[1] in (1, channels):
            return tensor
        if channels % self.num_groups or tensor.shape[1] != self.num_groups:
            raise PolygraphyException(f"`{self.name}`: {tensor.shape[1]} numbers do not fit {channels} channels in "
                                      f"{self.num_groups} groups")
        places = [i // (channels // self.num_groups) for i in range(channels)]
        return emitter.node(self, "Gather", [tensor, emitter.constant(places)], axis=1)


class ICumulativeLayer(SimpleLayer):
    """Sums of all elements before and at a place."""

    _TYPE, _WORD, _OP = LayerType.CUMULATIVE, "Cumulative", "CumSum"

    op = Setting(enums.CumulativeOperation, "What is accumulated.")
    exclusive = Setting(bool, "Whether the element at the place itself does not count.")
    reverse = Setting(bool, "Whether those after it count, in the place of those before.")

    def __init__(self, network, index, input, axis, op, exclusive, reverse) -> None:
        super().__init__(network, index, [input, axis])
        self.op, self.exclusive, self.reverse = op, exclusive, reverse

    def _attrs(self):
        return {"exclusive": int(self.exclusive), "reverse": int(self.reverse)}
