"""Kinds of layers. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.dims import Dims, array_of
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.logger import note

LAYERS = {}  # by what follows `add_`


def adds(*names):
    """A decorator: the names of the methods of a network that add such a layer."""

    def decorate(cls):
        for name in names:
            LAYERS[name] = cls
        return cls

    return decorate


def _watched(cls):
    """Changes of properties make what was inferred of the network invalid."""
    plain = object.__setattr__

    def set_attribute(self, name, value):
        plain(self, name, value)
        if not name.startswith("_"):
            self._network._changed()

    cls.__setattr__ = set_attribute
    return cls


@_watched
class ILayer:
    """A layer: inputs, outputs, and what it computes."""

    TYPE = LayerType.IDENTITY
    WORD = "Layer"

    def __init__(self, network, index, inputs, count=1):
        self._network = network
        self._inputs = list(inputs)
        self._name = f"(Unnamed Layer* {index}) [{self.WORD}]"
        self._precision = None
        self._output_types = {}
        self.metadata = ""
        self._outputs = [network._new_tensor(f"{self._name}_output" + (f"_{i}" if i else ""), layer=self)
                         for i in range(count)]

    name = property(lambda self: self._name, lambda self, value: setattr(self, "_name", value))
    type = property(lambda self: self.TYPE)
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))

    def get_input(self, index):
        """An input; None if it is left out."""
        return self._inputs[index] if index < len(self._inputs) else None

    def get_output(self, index):
        return self._outputs[index] if index < len(self._outputs) else None

    def set_input(self, index, tensor):
        """Another tensor for an input."""
        self._network._check_own(tensor)
        self._inputs.extend([None] * (index + 1 - len(self._inputs)))
        self._inputs[index] = tensor
        self._network._changed()

    @property
    def precision(self):
        return self._precision or (self.get_output(0).dtype if self._outputs else DataType.FLOAT)

    @precision.setter
    def precision(self, value):
        if value != DataType.FLOAT:
            note(self._network.logger, "layers cannot be told a precision one by one: they compute as the model says")
        self._precision = value

    precision_is_set = property(lambda self: self._precision is not None)

    def reset_precision(self):
        self._precision = None

    def set_output_type(self, index, dtype):
        """The output is converted to this type."""
        self._output_types[index] = dtype
        self._network._changed()

    def get_output_type(self, index):
        return self._output_types.get(index, self._outputs[index].dtype)

    def output_type_is_set(self, index):
        return index in self._output_types

    def reset_output_type(self, index):
        self._output_types.pop(index, None)

    def _emit(self, emitter):
        raise NotImplementedError

    def __repr__(self):
        return f"<{type(self).__name__} {self._name}>"


class _Simple(ILayer):
    """One node over all inputs."""

    OP = ""

    def _attrs(self):
        return {}

    def _emit(self, emitter):
        emitter.node(self, self.OP, self._inputs, self._outputs, **self._attrs())


@adds("identity")
class IIdentityLayer(_Simple):
    """The same values; of another type if its output's type is set."""

    TYPE, WORD, OP = LayerType.IDENTITY, "Identity", "Identity"

    def __init__(self, network, index, input):
        super().__init__(network, index, [input])

    def _emit(self, emitter):
        if 0 in self._output_types:
            emitter.node(self, "Cast", self._inputs, self._outputs, to=self._output_types[0].onnx_number)
        else:
            super()._emit(emitter)


@adds("cast")
class ICastLayer(_Simple):
    """Conversion to another type."""

    TYPE, WORD, OP = LayerType.CAST, "Cast", "Cast"

    def __init__(self, network, index, input, to_type):
        super().__init__(network, index, [input])
        self.to_type = to_type

    def _attrs(self):
        return {"to": self.to_type.onnx_number}


@adds("constant")
class IConstantLayer(ILayer):
    """Values that are known."""

    TYPE, WORD = LayerType.CONSTANT, "Constant"

    def __init__(self, network, index, shape, weights):
        super().__init__(network, index, [])
        self.shape = Dims(shape)
        self.weights = weights

    def _emit(self, emitter):
        array = array_of(self.weights)
        if array is None or array.size != self.shape.numel():
            raise PolygraphyException(f"`{self.name}`: {0 if array is None else array.size} weights do not fill the shape "
                                      f"{self.shape}")
        emitter.set_constant(self._outputs[0], array.reshape(self.shape))


def _spatial(value, count):
    values = list(value) if hasattr(value, "__iter__") else [value]
    return values * count if len(values) == 1 else values


class _Window(ILayer):
    """What convolutions and pooling have in common."""

    def _start_window(self, count):
        self.stride_nd = Dims([1] * count)
        self.pre_padding = Dims([0] * count)
        self.post_padding = Dims([0] * count)
        self.padding_mode = enums.PaddingMode.EXPLICIT_ROUND_DOWN

    stride = property(lambda self: self.stride_nd, lambda self, value: setattr(self, "stride_nd", Dims(value)))

    @property
    def padding_nd(self):
        return self.pre_padding

    @padding_nd.setter
    def padding_nd(self, value):
        self.pre_padding = self.post_padding = Dims(value)

    padding = padding_nd

    def _window_attrs(self, count):
        modes = enums.PaddingMode
        attrs = {"strides": _spatial(self.stride_nd, count)}
        if self.padding_mode in (modes.SAME_UPPER, modes.SAME_LOWER):
            attrs["auto_pad"] = self.padding_mode.name
        else:
            attrs["pads"] = _spatial(self.pre_padding, count) + _spatial(self.post_padding, count)
        return attrs


@adds("convolution_nd", "convolution")
class IConvolutionLayer(_Window):
    """A convolution."""

    TYPE, WORD, OP = LayerType.CONVOLUTION, "Convolution", "Conv"

    def __init__(self, network, index, input, num_output_maps, kernel_shape, kernel=None, bias=None):
        super().__init__(network, index, [input])
        self.num_output_maps = num_output_maps
        self.kernel_size_nd = Dims(kernel_shape)
        self.kernel = kernel
        self.bias = bias
        self.dilation_nd = Dims([1] * len(self.kernel_size_nd))
        self.num_groups = 1
        self._start_window(len(self.kernel_size_nd))

    kernel_size = property(lambda self: self.kernel_size_nd,
                           lambda self, value: setattr(self, "kernel_size_nd", Dims(value)))
    dilation = property(lambda self: self.dilation_nd, lambda self, value: setattr(self, "dilation_nd", Dims(value)))

    def _kernel_shape(self, size):
        return [self.num_output_maps, size // (self.num_output_maps * self.kernel_size_nd.numel()),
                *self.kernel_size_nd]

    def _emit(self, emitter):
        count = len(self.kernel_size_nd)
        inputs = [self._inputs[0]]
        kernel, bias = array_of(self.kernel), array_of(self.bias)
        if len(self._inputs) > 1:
            inputs.append(self._inputs[1])
        elif kernel is None:
            raise PolygraphyException(f"`{self.name}` has no kernel")
        else:
            inputs.append(emitter.constant(kernel.reshape(self._kernel_shape(kernel.size)), kernel.dtype))
        if len(self._inputs) > 2:
            inputs.append(self._inputs[2])
        elif bias is not None:
            inputs.append(emitter.constant(bias.reshape(-1), bias.dtype))
        emitter.node(self, self.OP, inputs, self._outputs, kernel_shape=list(self.kernel_size_nd),
                     dilations=_spatial(self.dilation_nd, count), group=self.num_groups, **self._window_attrs(count))


@adds("deconvolution_nd", "deconvolution")
class IDeconvolutionLayer(IConvolutionLayer):
    """A transposed convolution."""

    TYPE, WORD, OP = LayerType.DECONVOLUTION, "Deconvolution", "ConvTranspose"

    def _kernel_shape(self, size):
        maps = self.num_output_maps // self.num_groups
        return [size // (maps * self.kernel_size_nd.numel()), maps, *self.kernel_size_nd]


@adds("pooling_nd", "pooling")
class IPoolingLayer(_Window):
    """The greatest, or the mean, of windows."""

    TYPE, WORD = LayerType.POOLING, "Pooling"

    def __init__(self, network, index, input, type, window_size):
        super().__init__(network, index, [input])
        self._kind = type
        self.window_size_nd = Dims(window_size)
        self.average_count_excludes_padding = True
        self.blend_factor = 0.0
        self._start_window(len(self.window_size_nd))
        self.stride_nd = self.window_size_nd

    type = property(lambda self: self._kind, lambda self, value: setattr(self, "_kind", value))
    window_size = property(lambda self: self.window_size_nd,
                           lambda self, value: setattr(self, "window_size_nd", Dims(value)))

    def _emit(self, emitter):
        count = len(self.window_size_nd)
        attrs = {"kernel_shape": list(self.window_size_nd), **self._window_attrs(count)}
        if self.padding_mode == enums.PaddingMode.EXPLICIT_ROUND_UP:
            attrs["ceil_mode"] = 1
        if self._kind == enums.PoolingType.MAX:
            emitter.node(self, "MaxPool", self._inputs, self._outputs, **attrs)
        elif self._kind == enums.PoolingType.AVERAGE:
            emitter.node(self, "AveragePool", self._inputs, self._outputs,
                         count_include_pad=int(not self.average_count_excludes_padding), **attrs)
        else:
            raise PolygraphyException(f"`{self.name}`: pooling of both kinds at once is not supported")


@adds("fully_connected")
class IFullyConnectedLayer(ILayer):
    """A matrix product over the last three dims."""

    TYPE, WORD = LayerType.FULLY_CONNECTED, "Fully Connected"

    def __init__(self, network, index, input, num_outputs, kernel, bias=None):
        super().__init__(network, index, [input])
        self.num_output_channels = num_outputs
        self.kernel = kernel
        self.bias = bias

    def _emit(self, emitter):
        kernel, bias = array_of(self.kernel), array_of(self.bias)
        flat = emitter.node(self, "Flatten", self._inputs, axis=1)
        matrix = emitter.constant(kernel.reshape(self.num_output_channels, -1), kernel.dtype)
        inputs = [flat, matrix] + ([] if bias is None else [emitter.constant(bias.reshape(-1), bias.dtype)])
        product = emitter.node(self, "Gemm", inputs, transB=1)
        emitter.node(self, "Unsqueeze", [product, emitter.constant([2, 3])], self._outputs)


@adds("activation")
class IActivationLayer(ILayer):
    """A function of each element."""

    TYPE, WORD = LayerType.ACTIVATION, "Activation"
    PLAIN = {"RELU": "Relu", "SIGMOID": "Sigmoid", "TANH": "Tanh", "SOFTSIGN": "Softsign"}
    ALPHA = {"LEAKY_RELU": "LeakyRelu", "ELU": "Elu", "THRESHOLDED_RELU": "ThresholdedRelu"}

    def __init__(self, network, index, input, type):
        super().__init__(network, index, [input])
        self._kind = type
        self.alpha = 0.0
        self.beta = 0.0

    type = property(lambda self: self._kind, lambda self, value: setattr(self, "_kind", value))

    def _emit(self, emitter):
        import numpy as np

        word = self._kind.name
        if word in self.PLAIN:
            emitter.node(self, self.PLAIN[word], self._inputs, self._outputs)
        elif word in self.ALPHA:
            emitter.node(self, self.ALPHA[word], self._inputs, self._outputs, alpha=float(self.alpha))
        elif word == "SELU":
            emitter.node(self, "Selu", self._inputs, self._outputs, alpha=float(self.alpha), gamma=float(self.beta))
        elif word == "HARD_SIGMOID":
            emitter.node(self, "HardSigmoid", self._inputs, self._outputs, alpha=float(self.alpha),
                         beta=float(self.beta))
        elif word == "CLIP":
            bounds = [emitter.constant(each, np.float32) for each in (self.alpha, self.beta)]
            emitter.node(self, "Clip", [*self._inputs, *bounds], self._outputs)
        elif word in ("SOFTPLUS", "SCALED_TANH"):
            scaled = emitter.node(self, "Mul", [*self._inputs, emitter.constant(self.beta, np.float32)])
            inner = emitter.node(self, "Softplus" if word == "SOFTPLUS" else "Tanh", [scaled])
            emitter.node(self, "Mul", [inner, emitter.constant(self.alpha, np.float32)], self._outputs)
        else:
            self._emit_gelu(emitter)

    def _emit_gelu(self, emitter):
        import numpy as np

        x = self._inputs[0]

        def number(value):
            return emitter.constant(value, np.float32)

        if self._kind.name == "GELU_ERF":
            inner = emitter.node(self, "Erf", [emitter.node(self, "Mul", [x, number(0.5 ** 0.5)])])
        else:
            cube = emitter.node(self, "Mul", [emitter.node(self, "Pow", [x, number(3)]), number(0.044715)])
            inner = emitter.node(self, "Mul", [emitter.node(self, "Add", [x, cube]), number((2 / np.pi) ** 0.5)])
            inner = emitter.node(self, "Tanh", [inner])
        half = emitter.node(self, "Mul", [x, number(0.5)])
        emitter.node(self, "Mul", [half, emitter.node(self, "Add", [inner, number(1)])], self._outputs)


@adds("elementwise")
class IElementWiseLayer(ILayer):
    """A function of the elements of two tensors."""

    TYPE, WORD = LayerType.ELEMENTWISE, "ElementWise"
    OPS = {"SUM": "Add", "PROD": "Mul", "MAX": "Max", "MIN": "Min", "SUB": "Sub", "DIV": "Div", "POW": "Pow",
           "AND": "And", "OR": "Or", "XOR": "Xor", "EQUAL": "Equal", "GREATER": "Greater", "LESS": "Less"}

    def __init__(self, network, index, input1, input2, op):
        super().__init__(network, index, [input1, input2])
        self.op = op

    def _emit(self, emitter):
        if self.op.name in self.OPS:
            emitter.node(self, self.OPS[self.op.name], self._inputs, self._outputs)
        elif self._inputs[0].dtype in (DataType.INT32, DataType.INT64):
            # Division that rounds down: Mod takes the sign of the divisor.
            rest = emitter.node(self, "Mod", self._inputs)
            emitter.node(self, "Div", [emitter.node(self, "Sub", [self._inputs[0], rest]), self._inputs[1]],
                         self._outputs)
        else:
            emitter.node(self, "Floor", [emitter.node(self, "Div", self._inputs)], self._outputs)


@adds("unary")
class IUnaryLayer(ILayer):
    """A function of each element."""

    TYPE, WORD = LayerType.UNARY, "Unary"
    OPS = {"RECIP": "Reciprocal", "ISINF": "IsInf", "ISNAN": "IsNaN"}

    def __init__(self, network, index, input, op):
        super().__init__(network, index, [input])
        self.op = op

    def _emit(self, emitter):
        emitter.node(self, self.OPS.get(self.op.name, self.op.name.capitalize()), self._inputs, self._outputs)


@adds("scale", "scale_nd")
class IScaleLayer(ILayer):
    """(x * scale + shift) ** power."""

    TYPE, WORD = LayerType.SCALE, "Scale"

    def __init__(self, network, index, input, mode, shift=None, scale=None, power=None, channel_axis=1):
        super().__init__(network, index, [input])
        self.mode = mode
        self.shift, self.scale, self.power = shift, scale, power
        self.channel_axis = channel_axis

    def _shaped(self, emitter, weights):
        array = array_of(weights)
        if array is None:
            return None
        rank = len(self._inputs[0].shape)
        if self.mode == enums.ScaleMode.CHANNEL:
            array = array.reshape([-1] + [1] * (rank - self.channel_axis - 1))
        elif self.mode == enums.ScaleMode.ELEMENTWISE:
            array = array.reshape(list(self._inputs[0].shape)[1:])
        else:
            array = array.reshape(())
        return emitter.constant(array, array.dtype)

    def _emit(self, emitter):
        value = self._inputs[0]
        for op, weights in (("Mul", self.scale), ("Add", self.shift), ("Pow", self.power)):
            constant = self._shaped(emitter, weights)
            if constant is not None:
                value = emitter.node(self, op, [value, constant])
        emitter.node(self, "Identity", [value], self._outputs)


@adds("lrn")
class ILRNLayer(_Simple):
    """Normalisation over neighbouring channels."""

    TYPE, WORD, OP = LayerType.LRN, "LRN", "LRN"

    def __init__(self, network, index, input, window, alpha, beta, k):
        super().__init__(network, index, [input])
        self.window_size, self.alpha, self.beta, self.k = window, alpha, beta, k

    def _attrs(self):
        return {"size": self.window_size, "alpha": self.alpha, "beta": self.beta, "bias": self.k}


def axes_of(mask):
    """The axes whose bits are set."""
    return [i for i in range(32) if mask >> i & 1]


@adds("softmax")
class ISoftMaxLayer(_Simple):
    """Softmax along the axis whose bit is set."""

    TYPE, WORD, OP = LayerType.SOFTMAX, "SoftMax", "Softmax"

    def __init__(self, network, index, input):
        super().__init__(network, index, [input])
        self.axes = 1 << max(0, len(input.shape) - 3)

    def _attrs(self):
        return {"axis": axes_of(self.axes)[0]}


@adds("concatenation")
class IConcatenationLayer(_Simple):
    """Tensors one after the other along an axis."""

    TYPE, WORD, OP = LayerType.CONCATENATION, "Concatenation", "Concat"

    def __init__(self, network, index, inputs):
        super().__init__(network, index, inputs)
        self.axis = max(0, len(inputs[0].shape) - 3)

    def _attrs(self):
        return {"axis": self.axis}


@adds("reduce")
class IReduceLayer(ILayer):
    """A statistic along axes."""

    TYPE, WORD = LayerType.REDUCE, "Reduce"
    OPS = {"SUM": "ReduceSum", "PROD": "ReduceProd", "MAX": "ReduceMax", "MIN": "ReduceMin", "AVG": "ReduceMean"}

    def __init__(self, network, index, input, op, axes, keep_dims):
        super().__init__(network, index, [input])
        self.op, self.axes, self.keep_dims = op, axes, keep_dims

    def _emit(self, emitter):
        op = self.OPS[self.op.name]
        axes = axes_of(self.axes)
        is_input = emitter.opset >= (13 if op == "ReduceSum" else 18)
        inputs = [self._inputs[0], emitter.constant(axes)] if is_input else self._inputs[:1]
        emitter.node(self, op, inputs, self._outputs, keepdims=int(self.keep_dims), axes=None if is_input else axes)


@adds("topk")
class ITopKLayer(ILayer):
    """The k greatest or least elements along the axis whose bit is set, and their indices."""

    TYPE, WORD = LayerType.TOPK, "TopK"

    def __init__(self, network, index, input, op, k, axes):
        super().__init__(network, index, [input], 2)
        self.op, self.k, self.axes = op, k, axes

    def _emit(self, emitter):
        indices = emitter.variable()
        emitter.node(self, "TopK", [self._inputs[0], emitter.constant([self.k])], [self._outputs[0], indices],
                     axis=axes_of(self.axes)[0], largest=int(self.op == enums.TopKOperation.MAX))
        emitter.node(self, "Cast", [indices], self._outputs[1:], to=DataType.INT32.onnx_number)


@adds("matrix_multiply")
class IMatrixMultiplyLayer(ILayer):
    """A matrix product of two tensors, each transposed or taken for vectors if asked for."""

    TYPE, WORD = LayerType.MATRIX_MULTIPLY, "Matrix Multiply"

    def __init__(self, network, index, input0, op0, input1, op1):
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


@adds("shuffle")
class IShuffleLayer(ILayer):
    """Transpose, reshape, transpose; the shape may be a second input."""

    TYPE, WORD = LayerType.SHUFFLE, "Shuffle"

    def __init__(self, network, index, input):
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


@adds("slice")
class ISliceLayer(ILayer):
    """`shape` elements from `start` on, each `stride`-th."""

    TYPE, WORD = LayerType.SLICE, "Slice"

    def __init__(self, network, index, input, start, shape, stride):
        super().__init__(network, index, [input])
        self.start, self.shape, self.stride = Dims(start), Dims(shape), Dims(stride)
        self.mode = enums.SampleMode.STRICT_BOUNDS

    def _part(self, emitter, index, dims):
        given = self.get_input(index)
        if given is None:
            return emitter.constant(list(dims))
        return emitter.node(self, "Cast", [given], to=DataType.INT64.onnx_number)

    def _emit(self, emitter):
        if self.mode != enums.SampleMode.STRICT_BOUNDS:
            raise PolygraphyException(f"`{self.name}`: slices beyond the bounds are not supported")
        start, size, stride = (self._part(emitter, i + 1, dims)
                               for i, dims in enumerate((self.start, self.shape, self.stride)))
        end = emitter.node(self, "Add", [start, emitter.node(self, "Mul", [size, stride])])
        axes = emitter.constant(list(range(len(self.start))))
        if all(each > 0 for each in self.stride):
            emitter.node(self, "Slice", [self._inputs[0], start, end, axes, stride], self._outputs)
            return
        # An end before the first element is not a place counted from the back.
        least = emitter.constant([-(1 << 62)] * len(self.start))
        before = emitter.node(self, "Less", [end, emitter.constant([0] * len(self.start))])
        end = emitter.node(self, "Where", [before, least, end])
        emitter.node(self, "Slice", [self._inputs[0], start, end, axes, stride], self._outputs)


@adds("shape")
class IShapeLayer(_Simple):
    """The dims of a tensor."""

    TYPE, WORD, OP = LayerType.SHAPE, "Shape", "Shape"

    def __init__(self, network, index, input):
        super().__init__(network, index, [input])


@adds("gather", "gather_v2")
class IGatherLayer(ILayer):
    """Elements by their indices."""

    TYPE, WORD = LayerType.GATHER, "Gather"

    def __init__(self, network, index, input, indices, axis_or_mode=0, **kwargs):
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

    def __init__(self, network, index, data, indices, updates, mode):
        super().__init__(network, index, [data, indices, updates])
        self.mode = mode
        self.axis = 0

    def _emit(self, emitter):
        if self.mode == enums.ScatterMode.ND:
            emitter.node(self, "ScatterND", self._inputs, self._outputs)
        else:
            emitter.node(self, "ScatterElements", self._inputs, self._outputs, axis=self.axis)


@adds("select")
class ISelectLayer(_Simple):
    """Elements of one or the other tensor."""

    TYPE, WORD, OP = LayerType.SELECT, "Select", "Where"

    def __init__(self, network, index, condition, then_input, else_input):
        super().__init__(network, index, [condition, then_input, else_input])


@adds("einsum")
class IEinsumLayer(_Simple):
    """A sum of products by an equation."""

    TYPE, WORD, OP = LayerType.EINSUM, "Einsum", "Einsum"

    def __init__(self, network, index, inputs, equation):
        super().__init__(network, index, inputs)
        self.equation = equation

    def _attrs(self):
        return {"equation": self.equation}


@adds("parametric_relu")
class IParametricReLULayer(_Simple):
    """x, or x times a slope where it is negative."""

    TYPE, WORD, OP = LayerType.PARAMETRIC_RELU, "PReLU", "PRelu"

    def __init__(self, network, index, input, slopes):
        super().__init__(network, index, [input, slopes])


@adds("padding_nd", "padding")
class IPaddingLayer(ILayer):
    """Zeros around the last dims; negative numbers cut."""

    TYPE, WORD = LayerType.PADDING, "Padding"

    def __init__(self, network, index, input, pre_padding, post_padding):
        super().__init__(network, index, [input])
        self.pre_padding_nd, self.post_padding_nd = Dims(pre_padding), Dims(post_padding)

    pre_padding = property(lambda self: self.pre_padding_nd)
    post_padding = property(lambda self: self.post_padding_nd)

    def _emit(self, emitter):
        rank = len(self._inputs[0].shape) - len(self.pre_padding_nd)
        pads = [0] * rank + list(self.pre_padding_nd) + [0] * rank + list(self.post_padding_nd)
        emitter.node(self, "Pad", [self._inputs[0], emitter.constant(pads)], self._outputs)


@adds("resize")
class IResizeLayer(ILayer):
    """Interpolation to another shape."""

    TYPE, WORD = LayerType.RESIZE, "Resize"
    COORDINATES = {"ALIGN_CORNERS": "align_corners", "ASYMMETRIC": "asymmetric", "HALF_PIXEL": "half_pixel"}
    ROUNDING = {"HALF_UP": "round_prefer_ceil", "HALF_DOWN": "round_prefer_floor", "FLOOR": "floor", "CEIL": "ceil"}

    def __init__(self, network, index, input):
        super().__init__(network, index, [input])
        self.shape = None
        self.scales = None
        self.resize_mode = enums.InterpolationMode.NEAREST
        self.coordinate_transformation = enums.ResizeCoordinateTransformation.ASYMMETRIC
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


@adds("fill")
class IFillLayer(ILayer):
    """Numbers of one difference, all in one row."""

    TYPE, WORD = LayerType.FILL, "Fill"

    def __init__(self, network, index, shape, op, output_type=DataType.FLOAT):
        super().__init__(network, index, [])
        self.shape, self.operation, self.to_type = Dims(shape), op, output_type
        self.alpha, self.beta = 0.0, 1.0

    def set_alpha(self, value):
        self.alpha = value

    def set_beta(self, value):
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


@adds("one_hot")
class IOneHotLayer(_Simple):
    """Rows with one element that differs."""

    TYPE, WORD, OP = LayerType.ONE_HOT, "OneHot", "OneHot"

    def __init__(self, network, index, indices, values, depth, axis):
        super().__init__(network, index, [indices, depth, values])
        self.axis = axis

    def _attrs(self):
        return {"axis": self.axis}


@adds("non_zero")
class INonZeroLayer(_Simple):
    """Places of the elements that are not 0."""

    TYPE, WORD, OP = LayerType.NON_ZERO, "NonZero", "NonZero"

    def __init__(self, network, index, input):
        super().__init__(network, index, [input])


@adds("squeeze")
class ISqueezeLayer(_Simple):
    """Without dims of 1."""

    TYPE, WORD, OP = LayerType.SQUEEZE, "Squeeze", "Squeeze"

    def __init__(self, network, index, input, axes):
        super().__init__(network, index, [input, axes])


@adds("unsqueeze")
class IUnsqueezeLayer(_Simple):
    """With further dims of 1."""

    TYPE, WORD, OP = LayerType.UNSQUEEZE, "Unsqueeze", "Unsqueeze"

    def __init__(self, network, index, input, axes):
        super().__init__(network, index, [input, axes])


@adds("grid_sample")
class IGridSampleLayer(_Simple):
    """Elements at the places of a grid."""

    TYPE, WORD, OP = LayerType.GRID_SAMPLE, "GridSample", "GridSample"
    MODES = {"NEAREST": "nearest", "LINEAR": "bilinear", "CUBIC": "bicubic"}
    PADDING = {"FILL": "zeros", "CLAMP": "border", "REFLECT": "reflection"}

    def __init__(self, network, index, input, grid):
        super().__init__(network, index, [input, grid])
        self.interpolation_mode = enums.InterpolationMode.LINEAR
        self.align_corners = False
        self.sample_mode = enums.SampleMode.FILL

    def _attrs(self):
        return {"mode": self.MODES[self.interpolation_mode.name], "align_corners": int(self.align_corners),
                "padding_mode": self.PADDING[self.sample_mode.name]}


@adds("normalization")
class INormalizationLayer(ILayer):
    """Mean 0 and variance 1 along the axes whose bits are set, then scale and bias."""

    TYPE, WORD = LayerType.NORMALIZATION, "Normalization"

    def __init__(self, network, index, input, scale, bias, axesMask):
        super().__init__(network, index, [input, scale, bias])
        self.axes, self.epsilon, self.num_groups = axesMask, 1e-5, 1
        self.compute_precision = DataType.FLOAT

    def _emit(self, emitter):
        import numpy as np

        if self.num_groups != 1:
            raise PolygraphyException(f"`{self.name}`: normalisation in groups is not supported")
        x, scale, bias = self._inputs
        axes = axes_of(self.axes)
        inputs, attrs = ([emitter.constant(axes)], {}) if emitter.opset >= 18 else ([], {"axes": axes})
        mean = emitter.node(self, "ReduceMean", [x, *inputs], keepdims=1, **attrs)
        centred = emitter.node(self, "Sub", [x, mean])
        square = emitter.node(self, "Mul", [centred, centred])
        variance = emitter.node(self, "ReduceMean", [square, *inputs], keepdims=1, **attrs)
        shifted = emitter.node(self, "Add", [variance, emitter.constant(self.epsilon, np.float32)])
        scaled = emitter.node(self, "Div", [centred, emitter.node(self, "Sqrt", [shifted])])
        emitter.node(self, "Add", [emitter.node(self, "Mul", [scaled, scale]), bias], self._outputs)


@adds("cumulative")
class ICumulativeLayer(_Simple):
    """Sums of all elements before and at a place."""

    TYPE, WORD, OP = LayerType.CUMULATIVE, "Cumulative", "CumSum"

    def __init__(self, network, index, input, axis, op, exclusive, reverse):
        super().__init__(network, index, [input, axis])
        self.op, self.exclusive, self.reverse = op, exclusive, reverse

    def _attrs(self):
        return {"exclusive": int(self.exclusive), "reverse": int(self.reverse)}


@adds("quantize")
class IQuantizeLayer(_Simple):
    """Integers by a scale."""

    TYPE, WORD, OP = LayerType.QUANTIZE, "Quantize", "QuantizeLinear"

    def __init__(self, network, index, input, scale, output_type=DataType.INT8):
        super().__init__(network, index, [input, scale])
        self.axis, self.to_type = 1, output_type

    def _emit(self, emitter):
        import numpy as np

        zero = emitter.constant(np.zeros(tuple(self._inputs[1].shape)), np.int8)
        emitter.node(self, self.OP, [*self._inputs[:2], zero], self._outputs, axis=self.axis)


@adds("dequantize")
class IDequantizeLayer(_Simple):
    """Floats of integers by a scale."""

    TYPE, WORD, OP = LayerType.DEQUANTIZE, "Dequantize", "DequantizeLinear"

    def __init__(self, network, index, input, scale, output_type=DataType.FLOAT):
        super().__init__(network, index, [input, scale])
        self.axis, self.to_type = 1, output_type

    def _attrs(self):
        return {"axis": self.axis}


@adds("reverse_sequence")
class IReverseSequenceLayer(_Simple):
    """Rows turned round up to their lengths."""

    TYPE, WORD, OP = LayerType.REVERSE_SEQUENCE, "ReverseSequence", "ReverseSequence"

    def __init__(self, network, index, input, sequence_lens):
        super().__init__(network, index, [input, sequence_lens])
        self.batch_axis, self.sequence_axis = 1, 0

    def _emit(self, emitter):
        lengths = emitter.node(self, "Cast", [self._inputs[1]], to=DataType.INT64.onnx_number)
        emitter.node(self, self.OP, [self._inputs[0], lengths], self._outputs, batch_axis=self.batch_axis,
                     time_axis=self.sequence_axis)


class OnnxLayer(ILayer):
    """A node of a model that a parser read."""

    TYPES = {"Conv": "CONVOLUTION", "ConvTranspose": "DECONVOLUTION", "Gemm": "MATRIX_MULTIPLY",
             "MatMul": "MATRIX_MULTIPLY", "Softmax": "SOFTMAX", "Concat": "CONCATENATION", "Reshape": "SHUFFLE",
             "Transpose": "SHUFFLE", "Flatten": "SHUFFLE", "Slice": "SLICE", "Shape": "SHAPE", "Gather": "GATHER",
             "Identity": "IDENTITY", "Cast": "CAST", "Constant": "CONSTANT", "TopK": "TOPK", "Einsum": "EINSUM",
             "Resize": "RESIZE", "Pad": "PADDING", "Where": "SELECT", "NonZero": "NON_ZERO", "OneHot": "ONE_HOT",
             "QuantizeLinear": "QUANTIZE", "DequantizeLinear": "DEQUANTIZE", "LRN": "LRN", "PRelu": "PARAMETRIC_RELU",
             "LayerNormalization": "NORMALIZATION", "Squeeze": "SQUEEZE", "Unsqueeze": "UNSQUEEZE", "CumSum": "CUMULATIVE"}
    GROUPS = {"ACTIVATION": "Relu Sigmoid Tanh LeakyRelu Elu Selu Softsign Softplus Clip HardSigmoid ThresholdedRelu Gelu",
              "ELEMENTWISE": "Add Mul Sub Div Max Min Pow And Or Xor Equal Greater Less Mod Sum",
              "UNARY": "Exp Log Sqrt Reciprocal Abs Neg Sin Cos Tan Sinh Cosh Asin Acos Atan Ceil Floor Erf Not Sign Round",
              "POOLING": "MaxPool AveragePool GlobalAveragePool GlobalMaxPool",
              "REDUCE": "ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean"}

    def __init__(self, network, index, node, inputs, outputs):
        self._node = node
        super().__init__(network, index, inputs, 0)
        self._outputs = outputs
        for tensor in outputs:
            tensor._layer = self
        self._name = node.name or f"(Unnamed Layer* {index}) [{node.op}]"

    @property
    def type(self):
        group = next((name for name, ops in self.GROUPS.items() if self._node.op in ops.split()), "PLUGIN_V3")
        return LayerType[self.TYPES.get(self._node.op, group)]

    def _emit(self, emitter):
        from assay.graphsurgeon.ir.node import Node
        from assay.graphsurgeon.ir.tensor import Constant

        inputs = []
        for given, tensor in zip(self._node.inputs, self._inputs):
            inputs.append(given if isinstance(given, Constant) and tensor._name == given.name else emitter.tensor(tensor))
        inputs += [emitter.tensor(each) for each in self._inputs[len(inputs):]]
        names = iter(self._outputs)
        outputs = [each if each.is_empty() else emitter.tensor(next(names)) for each in self._node.outputs]
        emitter.nodes.append(Node(self._node.op, self._node.name, self._bodies(emitter), _copies(inputs, emitter), outputs,
                                  self._node.domain))

    def _bodies(self, emitter):
        from assay.graphsurgeon.ir.graph import Graph

        return {name: value.copy() if isinstance(value, Graph) else value for name, value in self._node.attrs.items()}


def _copies(tensors, emitter):
    """Constants of the parsed model as tensors of this graph, each once."""
    from assay.graphsurgeon.ir.tensor import Constant

    made = []
    for tensor in tensors:
        if isinstance(tensor, Constant):
            tensor = emitter.tensors.setdefault(("constant", tensor.name), tensor.copy())
        made.append(tensor)
    return made
