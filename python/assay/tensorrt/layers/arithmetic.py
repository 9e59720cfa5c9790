"""Functions of elements. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Setting, WeightsSetting, given
from assay.tensorrt.dims import array_of
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers.base import ILayer, SimpleLayer


class IActivationLayer(ILayer):
    """A function of each element."""

    _TYPE, _WORD = LayerType.ACTIVATION, "Activation"
    _PLAIN = {"RELU": "Relu", "SIGMOID": "Sigmoid", "TANH": "Tanh", "SOFTSIGN": "Softsign"}
    _ALPHA = {"LEAKY_RELU": "LeakyRelu", "ELU": "Elu", "THRESHOLDED_RELU": "ThresholdedRelu"}

    # alpha and beta, where they are not 0.
    _DEFAULTS = {"LEAKY_RELU": (0.01, 0.0), "ELU": (1.0, 0.0), "SELU": (1.67326319217681884765625, 1.05070102214813232421875),
                "SOFTPLUS": (1.0, 1.0), "CLIP": (-3.4028234663852886e38, 3.4028234663852886e38), "HARD_SIGMOID": (0.2, 0.5),
                "SCALED_TANH": (1.0, 1.0), "THRESHOLDED_RELU": (1.0, 0.0)}

    type = Setting(enums.ActivationType, "Which function.")
    alpha = Setting(float, "Its first parameter, by default that of the type the layer was added with.")
    beta = Setting(float, "Its second parameter.")

    def __init__(self, network, index, input, type) -> None:
        super().__init__(network, index, [input])
        self.type = type
        self.alpha, self.beta = self._DEFAULTS.get(type.name, (0.0, 0.0))

    def _emit(self, emitter):
        import numpy as np

        word = self.type.name
        if word in self._PLAIN:
            emitter.node(self, self._PLAIN[word], self._inputs, self._outputs)
        elif word in self._ALPHA:
            emitter.node(self, self._ALPHA[word], self._inputs, self._outputs, alpha=float(self.alpha))
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

        if self.type.name == "GELU_ERF":
            inner = emitter.node(self, "Erf", [emitter.node(self, "Mul", [x, number(0.5 ** 0.5)])])
        else:
            cube = emitter.node(self, "Mul", [emitter.node(self, "Pow", [x, number(3)]), number(0.044715)])
            inner = emitter.node(self, "Mul", [emitter.node(self, "Add", [x, cube]), number((2 / np.pi) ** 0.5)])
            inner = emitter.node(self, "Tanh", [inner])
        half = emitter.node(self, "Mul", [x, number(0.5)])
        emitter.node(self, "Mul", [half, emitter.node(self, "Add", [inner, number(1)])], self._outputs)


class IElementWiseLayer(ILayer):
    """A function of the elements of two tensors."""

    _TYPE, _WORD = LayerType.ELEMENTWISE, "ElementWise"
    _OPS = {"SUM": "Add", "PROD": "Mul", "MAX": "Max", "MIN": "Min", "SUB": "Sub", "DIV": "Div", "POW": "Pow",
           "AND": "And", "OR": "Or", "XOR": "Xor", "EQUAL": "Equal", "GREATER": "Greater", "LESS": "Less"}

    op = Setting(enums.ElementWiseOperation, "Which function.")

    def __init__(self, network, index, input1, input2, op) -> None:
        super().__init__(network, index, [input1, input2])
        self.op = op

    def _emit(self, emitter):
        if self.op.name in self._OPS:
            emitter.node(self, self._OPS[self.op.name], self._inputs, self._outputs)
        elif self._inputs[0].dtype in (DataType.INT32, DataType.INT64):
            # Division that rounds down: Mod takes the sign of the divisor.
            rest = emitter.node(self, "Mod", self._inputs)
            emitter.node(self, "Div", [emitter.node(self, "Sub", [self._inputs[0], rest]), self._inputs[1]],
                         self._outputs)
        else:
            emitter.node(self, "Floor", [emitter.node(self, "Div", self._inputs)], self._outputs)


class IUnaryLayer(ILayer):
    """A function of each element."""

    _TYPE, _WORD = LayerType.UNARY, "Unary"
    _OPS = {"RECIP": "Reciprocal", "ISINF": "IsInf", "ISNAN": "IsNaN"}

    op = Setting(enums.UnaryOperation, "Which function.")

    def __init__(self, network, index, input, op) -> None:
        super().__init__(network, index, [input])
        self.op = op

    def _emit(self, emitter):
        emitter.node(self, self._OPS.get(self.op.name, self.op.name.capitalize()), self._inputs, self._outputs)


class IScaleLayer(ILayer):
    """(x * scale + shift) ** power."""

    _TYPE, _WORD = LayerType.SCALE, "Scale"

    mode = Setting(enums.ScaleMode, "For what there is one number each.")
    shift = WeightsSetting("What is added; empty: nothing.")
    scale = WeightsSetting("What elements are multiplied with; empty: nothing.")
    power = WeightsSetting("The exponent; empty: 1.")
    channel_axis = Setting(int, "The axis that has a number each with ScaleMode.CHANNEL.")

    def __init__(self, network, index, input, mode, shift=None, scale=None, power=None, channel_axis=1) -> None:
        super().__init__(network, index, [input])
        self.mode = mode
        self.shift, self.scale, self.power = shift, scale, power
        self.channel_axis = channel_axis

    def _shaped(self, emitter, role, weights):
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
        return emitter.layer_weights(self, role, weights, array) if role else emitter.constant(array, array.dtype)

    def _emit(self, emitter):
        value = self._inputs[0]
        for op, role, weights in (("Mul", "SCALE", "scale"), ("Add", "SHIFT", "shift"), ("Pow", None, "power")):
            constant = self._shaped(emitter, role, given(self, weights))
            if constant is not None:
                value = emitter.node(self, op, [value, constant])
        emitter.node(self, "Identity", [value], self._outputs)


class IParametricReLULayer(SimpleLayer):
    """x, or x times a slope where it is negative."""

    _TYPE, _WORD, _OP = LayerType.PARAMETRIC_RELU, "Parametric ReLU", "PRelu"

    def __init__(self, network, index, input, slopes) -> None:
        super().__init__(network, index, [input, slopes])


class ISelectLayer(SimpleLayer):
    """Elements of one or the other tensor."""

    _TYPE, _WORD, _OP = LayerType.SELECT, "Select", "Where"

    def __init__(self, network, index, condition, then_input, else_input) -> None:
        super().__init__(network, index, [condition, then_input, else_input])
