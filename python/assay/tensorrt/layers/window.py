"""Convolutions, pooling and matrix products with weights. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.dims import Dims, array_of
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers.base import ILayer, adds


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

    def __init__(self, network, index, input, num_output_maps, kernel_shape, kernel=None, bias=None) -> None:
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
            inputs.append(emitter.layer_weights(self, "KERNEL", self.kernel,
                                                kernel.reshape(self._kernel_shape(kernel.size))))
        if len(self._inputs) > 2:
            inputs.append(self._inputs[2])
        elif bias is not None:
            inputs.append(emitter.layer_weights(self, "BIAS", self.bias, bias.reshape(-1)))
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

    def __init__(self, network, index, input, type, window_size) -> None:
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

    def __init__(self, network, index, input, num_outputs, kernel, bias=None) -> None:
        super().__init__(network, index, [input])
        self.num_output_channels = num_outputs
        self.kernel = kernel
        self.bias = bias

    def _emit(self, emitter):
        kernel, bias = array_of(self.kernel), array_of(self.bias)
        flat = emitter.node(self, "Flatten", self._inputs, axis=1)
        inputs = [flat, emitter.layer_weights(self, "KERNEL", self.kernel, kernel.reshape(self.num_output_channels, -1))]
        if bias is not None:
            inputs.append(emitter.layer_weights(self, "BIAS", self.bias, bias.reshape(-1)))
        product = emitter.node(self, "Gemm", inputs, transB=1)
        emitter.node(self, "Unsqueeze", [product, emitter.constant([2, 3])], self._outputs)
