"""Convolutions, pooling and matrix products with weights. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt import enums
from assay.tensorrt.arguments import Setting, Shape, WeightsSetting, given, renamed
from assay.tensorrt.dims import array_of
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers.base import ILayer


def _spatial(value, count):
    values = list(value) if hasattr(value, "__iter__") else [value]
    return values * count if len(values) == 1 else values


class _Window(ILayer):
    """What convolutions and pooling have in common."""

    stride_nd = Setting(Shape, "How far windows are apart.")
    pre_padding = Setting(Shape, "Zeros before the elements of each axis.")
    post_padding = Setting(Shape, "Zeros after them.")
    padding_mode = Setting(enums.PaddingMode, "How sizes are rounded, or zeros are added.")
    stride = renamed("stride_nd")

    def _start_window(self, count):
        self.stride_nd = [1] * count
        self.pre_padding = self.post_padding = [0] * count
        self.padding_mode = enums.PaddingMode.EXPLICIT_ROUND_DOWN

    @property
    def padding_nd(self):
        """Zeros before and after the elements of each axis."""
        return self.pre_padding

    @padding_nd.setter
    def padding_nd(self, value):
        self.pre_padding = self.post_padding = value

    padding = renamed("padding_nd")

    def _window_attrs(self, count):
        modes = enums.PaddingMode
        attrs = {"strides": _spatial(self.stride_nd, count)}
        if self.padding_mode in (modes.SAME_UPPER, modes.SAME_LOWER):
            attrs["auto_pad"] = self.padding_mode.name
        else:
            attrs["pads"] = _spatial(self.pre_padding, count) + _spatial(self.post_padding, count)
        return attrs


class IConvolutionLayer(_Window):
    """A convolution."""

    _TYPE, _WORD, _OP = LayerType.CONVOLUTION, "Convolution", "Conv"

    num_output_maps = Setting(int, "How many channels the output has.")
    kernel_size_nd = Setting(Shape, "The size of windows.")
    dilation_nd = Setting(Shape, "How far elements of a window are apart.")
    num_groups = Setting(int, "In how many groups of channels.")
    kernel = WeightsSetting("The weights; input 1 is in their place if it is set.")
    bias = WeightsSetting("What is added to each channel.")
    kernel_size = renamed("kernel_size_nd")
    dilation = renamed("dilation_nd")

    def __init__(self, network, index, input, num_output_maps, kernel_shape, kernel=None, bias=None) -> None:
        super().__init__(network, index, [input])
        self.num_output_maps = num_output_maps
        self.kernel_size_nd = kernel_shape
        self.kernel = kernel
        self.bias = bias
        self.dilation_nd = [1] * len(self.kernel_size_nd)
        self.num_groups = 1
        self._start_window(len(self.kernel_size_nd))

    def _kernel_shape(self, size):
        return [self.num_output_maps, size // (self.num_output_maps * self.kernel_size_nd.numel()),
                *self.kernel_size_nd]

    def _emit(self, emitter):
        count = len(self.kernel_size_nd)
        inputs = [self._inputs[0]]
        kernel, bias = array_of(given(self, "kernel")), array_of(given(self, "bias"))
        if len(self._inputs) > 1:
            inputs.append(self._inputs[1])
        elif kernel is None:
            raise PolygraphyException(f"`{self.name}` has no kernel")
        else:
            inputs.append(emitter.layer_weights(self, "KERNEL", given(self, "kernel"),
                                                kernel.reshape(self._kernel_shape(kernel.size))))
        if len(self._inputs) > 2:
            inputs.append(self._inputs[2])
        elif bias is not None:
            inputs.append(emitter.layer_weights(self, "BIAS", given(self, "bias"), bias.reshape(-1)))
        emitter.node(self, self._OP, inputs, self._outputs, kernel_shape=list(self.kernel_size_nd),
                     dilations=_spatial(self.dilation_nd, count), group=self.num_groups, **self._window_attrs(count))


class IDeconvolutionLayer(IConvolutionLayer):
    """A transposed convolution."""

    _TYPE, _WORD, _OP = LayerType.DECONVOLUTION, "Deconvolution", "ConvTranspose"

    def _kernel_shape(self, size):
        maps = self.num_output_maps // self.num_groups
        return [size // (maps * self.kernel_size_nd.numel()), maps, *self.kernel_size_nd]


class IPoolingLayer(_Window):
    """The greatest, or the mean, of windows."""

    _TYPE, _WORD = LayerType.POOLING, "Pooling"

    type = Setting(enums.PoolingType, "What is taken of a window.")
    window_size_nd = Setting(Shape, "The size of windows.")
    average_count_excludes_padding = Setting(bool, "Whether zeros beyond the bounds do not count in a mean.")
    blend_factor = Setting(float, "The share of the mean, with PoolingType.MAX_AVERAGE_BLEND.")
    window_size = renamed("window_size_nd")

    def __init__(self, network, index, input, type, window_size) -> None:
        super().__init__(network, index, [input])
        self.type = type
        self.window_size_nd = window_size
        self.average_count_excludes_padding = True
        self.blend_factor = 0.0
        self._start_window(len(self.window_size_nd))

    def _emit(self, emitter):
        count = len(self.window_size_nd)
        attrs = {"kernel_shape": list(self.window_size_nd), **self._window_attrs(count)}
        if self.padding_mode == enums.PaddingMode.EXPLICIT_ROUND_UP:
            attrs["ceil_mode"] = 1
        if self.type != enums.PoolingType.MAX_AVERAGE_BLEND:
            self._emit_pool(emitter, self.type, self._outputs, attrs)
            return
        parts = [emitter.node(self, "Mul", [self._emit_pool(emitter, kind, None, attrs), emitter.constant(share, "float32")])
                 for kind, share in ((enums.PoolingType.MAX, 1 - self.blend_factor),
                                     (enums.PoolingType.AVERAGE, self.blend_factor))]
        emitter.node(self, "Add", parts, self._outputs)

    def _emit_pool(self, emitter, kind, outputs, attrs):
        if kind == enums.PoolingType.MAX:
            return emitter.node(self, "MaxPool", self._inputs, outputs, **attrs)
        return emitter.node(self, "AveragePool", self._inputs, outputs,
                            count_include_pad=int(not self.average_count_excludes_padding), **attrs)


class IFullyConnectedLayer(ILayer):
    """A matrix product over the last three dims."""

    _TYPE, _WORD = LayerType.FULLY_CONNECTED, "Fully Connected"

    num_output_channels = Setting(int, "How many numbers each row becomes.")
    kernel = WeightsSetting("The weights.")
    bias = WeightsSetting("What is added to them.")

    def __init__(self, network, index, input, num_outputs, kernel, bias=None) -> None:
        super().__init__(network, index, [input])
        self.num_output_channels = num_outputs
        self.kernel = kernel
        self.bias = bias

    def _emit(self, emitter):
        kernel, bias = array_of(given(self, "kernel")), array_of(given(self, "bias"))
        flat = emitter.node(self, "Flatten", self._inputs, axis=1)
        inputs = [flat, emitter.layer_weights(self, "KERNEL", given(self, "kernel"), kernel.reshape(self.num_output_channels, -1))]
        if bias is not None:
            inputs.append(emitter.layer_weights(self, "BIAS", given(self, "bias"), bias.reshape(-1)))
        product = emitter.node(self, "Gemm", inputs, transB=1)
        emitter.node(self, "Unsqueeze", [product, emitter.constant([2, 3])], self._outputs)
