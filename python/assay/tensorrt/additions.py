"""The methods of networks that add layers."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Elements, OptionalElements, OptionalType, Shape, Tensors, checked
from assay.tensorrt.enums import (QuickPluginCreationRequest, ActivationType, AttentionNormalizationOp, CausalMaskKind, CollectiveOperation,
                                  CumulativeOperation, DataType, ElementWiseOperation, FillOperation, GatherMode,
                                  KVCacheMode, MatrixOperation, PoolingType, ReduceOperation, ScaleMode, ScatterMode,
                                  TopKOperation, UnaryOperation)
from assay.tensorrt.layers.attention import IAttention
from assay.tensorrt.layers.arithmetic import (IActivationLayer, IElementWiseLayer,
                                              IParametricReLULayer, IScaleLayer, ISelectLayer,
                                              IUnaryLayer)
from assay.tensorrt.layers.boundaries import IIfConditional, ILoop
from assay.tensorrt.layers.movement import (ICastLayer, IConcatenationLayer, IIdentityLayer, IPaddingLayer,
                                            IReverseSequenceLayer, IShapeLayer, IShuffleLayer, ISqueezeLayer,
                                            IUnsqueezeLayer)
from assay.tensorrt.layers.collective import IDistCollectiveLayer
from assay.tensorrt.layers.experts import IMoELayer
from assay.tensorrt.layers.named import IAssertionLayer
from assay.tensorrt.layers.quantisers import IDequantizeLayer, IDynamicQuantizeLayer, IQuantizeLayer
from assay.tensorrt.layers.places import (IConstantLayer, IFillLayer, IGatherLayer, IGridSampleLayer, INMSLayer,
                                          INonZeroLayer, IOneHotLayer, IResizeLayer, IScatterLayer)
from assay.tensorrt.layers.plugin import IPluginV2Layer, IPluginV3Layer
from assay.tensorrt.layers.reduction import (ICumulativeLayer, IEinsumLayer, ILRNLayer, IMatrixMultiplyLayer,
                                             INormalizationLayer, IRaggedSoftMaxLayer, IReduceLayer, ISoftMaxLayer,
                                             ITopKLayer)
from assay.tensorrt.layers.sequences import IKVCacheUpdateLayer, IRotaryEmbeddingLayer
from assay.tensorrt.layers.slices import ISliceLayer
from assay.tensorrt.layers.window import (IConvolutionLayer, IDeconvolutionLayer, IFullyConnectedLayer, IPoolingLayer)
from assay.tensorrt.logger import report
from assay.tensorrt.tensor import ITensor

GREATEST_WINDOW = 1 << 31


def _refused(name, reason):
    return PolygraphyException(f"{name}() is not there: {reason}")


class Additions:
    """The part of a network that adds layers. Each gives the layer, or None, which the logger is told, where it cannot be
    added; arguments of wrong types are TypeErrors."""

    def _add(self, kind, *args):
        raise NotImplementedError

    def _add_window(self, kind, window, *args):
        if min(window, default=0) < 1 or window.numel() >= GREATEST_WINDOW:
            return report(self, PolygraphyException(f"a layer cannot have the window {window}"))
        return self._add(kind, *args)

    @checked
    def add_activation(self, input: ITensor, type: ActivationType) -> IActivationLayer:
        """A function of each element."""
        return self._add(IActivationLayer, input, type)

    @checked
    def add_assertion(self, condition: ITensor, message: str) -> IAssertionLayer:
        """Refused."""
        raise _refused("add_assertion", "the engine checks nothing while it runs; mark the condition as an output")

    @checked
    def add_attention(self, query: ITensor, key: ITensor, value: ITensor, norm_op: AttentionNormalizationOp,
                      causal: bool) -> IAttention:
        """Attention whose places see no later ones if it is causal."""
        return self._add(IAttention, query, key, value, norm_op,
                         CausalMaskKind.UPPER_LEFT if causal else CausalMaskKind.NONE)

    @checked
    def add_attention_v2(self, query: ITensor, key: ITensor, value: ITensor, norm_op: AttentionNormalizationOp,
                         causal_kind: CausalMaskKind) -> IAttention:
        """Attention."""
        return self._add(IAttention, query, key, value, norm_op, causal_kind)

    @checked
    def add_cast(self, input: ITensor, to_type: DataType) -> ICastLayer:
        """Conversion to another type."""
        return self._add(ICastLayer, input, to_type)

    @checked
    def add_concatenation(self, inputs: Tensors) -> IConcatenationLayer:
        """Tensors one after the other."""
        if not inputs:
            return report(self, PolygraphyException("a concatenation has no inputs"))
        return self._add(IConcatenationLayer, inputs)

    @checked
    def add_constant(self, shape: Shape, weights: Elements) -> IConstantLayer:
        """Values that are known."""
        return self._add(IConstantLayer, shape, weights)

    @checked
    def add_convolution_nd(self, input: ITensor, num_output_maps: int, kernel_shape: Shape, kernel: Elements,
                           bias: OptionalElements = None) -> IConvolutionLayer:
        """A convolution."""
        return self._add_window(IConvolutionLayer, kernel_shape, input, num_output_maps, kernel_shape, kernel, bias)

    add_convolution = add_convolution_nd

    @checked
    def add_cumulative(self, input: ITensor, axis: ITensor, op: CumulativeOperation, exclusive: bool,
                       reverse: bool) -> ICumulativeLayer:
        """Sums of all elements before and at a place."""
        return self._add(ICumulativeLayer, input, axis, op, exclusive, reverse)

    @checked
    def add_deconvolution_nd(self, input: ITensor, num_output_maps: int, kernel_shape: Shape, kernel: Elements,
                             bias: OptionalElements = None) -> IDeconvolutionLayer:
        """A transposed convolution."""
        return self._add_window(IDeconvolutionLayer, kernel_shape, input, num_output_maps, kernel_shape, kernel, bias)

    add_deconvolution = add_deconvolution_nd

    @checked
    def add_dequantize(self, input: ITensor, scale: ITensor, output_type: DataType = DataType.FLOAT) -> IDequantizeLayer:
        """Floats of integers by a scale."""
        return self._add(IDequantizeLayer, input, scale, output_type)

    @checked
    def add_dist_collective(self, input: ITensor, dist_collective_op: CollectiveOperation, reduce_op: ReduceOperation,
                            root: int, groups) -> IDistCollectiveLayer:
        """One tensor of all ranks: set `num_ranks`, and give contexts a communicator (assay.tensorrt.ranks)."""
        return self._add(IDistCollectiveLayer, input, dist_collective_op, reduce_op, root, groups)

    @checked
    def add_dynamic_quantize(self, input: ITensor, axis: int, block_size: int, output_type: DataType,
                             scale_type: DataType) -> IDynamicQuantizeLayer:
        """Numbers of a small type, and the scales of their blocks along an axis."""
        return self._add(IDynamicQuantizeLayer, input, axis, block_size, (), output_type, scale_type)

    @checked
    def add_dynamic_quantize_v2(self, input: ITensor, block_shape: Shape, output_type: DataType,
                                scale_type: DataType) -> IDynamicQuantizeLayer:
        """Likewise, by the size of a block for each axis."""
        return self._add(IDynamicQuantizeLayer, input, -1, -1, block_shape, output_type, scale_type)

    @checked
    def add_einsum(self, inputs: Tensors, equation: str) -> IEinsumLayer:
        """A sum of products by an equation."""
        return self._add(IEinsumLayer, inputs, equation)

    @checked
    def add_elementwise(self, input1: ITensor, input2: ITensor, op: ElementWiseOperation) -> IElementWiseLayer:
        """A function of the elements of two tensors."""
        return self._add(IElementWiseLayer, input1, input2, op)

    @checked
    def add_fill(self, shape: Shape, op: FillOperation, output_type: OptionalType = None) -> IFillLayer:
        """Numbers, of float32 where nothing else tells their type."""
        return self._add(IFillLayer, shape, op, output_type)

    @checked
    def add_fully_connected(self, input: ITensor, num_outputs: int, kernel: Elements,
                            bias: OptionalElements = None) -> IFullyConnectedLayer:
        """A matrix product over the last three dims."""
        return self._add(IFullyConnectedLayer, input, num_outputs, kernel, bias)

    @checked
    def add_gather(self, input: ITensor, indices: ITensor, axis: int) -> IGatherLayer:
        """Elements along an axis."""
        return self._add(IGatherLayer, input, indices, axis)

    @checked
    def add_gather_v2(self, input: ITensor, indices: ITensor, mode: GatherMode) -> IGatherLayer:
        """Elements by indices of a mode."""
        return self._add(IGatherLayer, input, indices, mode)

    @checked
    def add_grid_sample(self, input: ITensor, grid: ITensor) -> IGridSampleLayer:
        """Elements at the places of a grid."""
        return self._add(IGridSampleLayer, input, grid)

    @checked
    def add_identity(self, input: ITensor) -> IIdentityLayer:
        """The same values."""
        return self._add(IIdentityLayer, input)

    def add_if_conditional(self) -> IIfConditional:
        """A condition with two branches, to which its boundary layers are added."""
        return IIfConditional(self)

    @checked
    def add_kv_cache_update(self, cache: ITensor, update: ITensor, write_indices: ITensor,
                            cache_mode: KVCacheMode = KVCacheMode.LINEAR) -> IKVCacheUpdateLayer:
        """A cache with new rows."""
        return self._add(IKVCacheUpdateLayer, cache, update, write_indices, cache_mode)

    def add_loop(self) -> ILoop:
        """A loop, to which its boundary layers are added."""
        return ILoop(self)

    @checked
    def add_lrn(self, input: ITensor, window: int, alpha: float, beta: float, k: float) -> ILRNLayer:
        """Normalisation over neighbouring channels."""
        return self._add(ILRNLayer, input, window, alpha, beta, k)

    @checked
    def add_matrix_multiply(self, input0: ITensor, op0: MatrixOperation, input1: ITensor,
                            op1: MatrixOperation) -> IMatrixMultiplyLayer:
        """A matrix product."""
        return self._add(IMatrixMultiplyLayer, input0, op0, input1, op1)

    @checked
    def add_moe(self, hidden_states: ITensor, selected_experts_for_tokens: ITensor,
                scores_for_selected_experts: ITensor) -> IMoELayer:
        """A few experts for each token. The layer has no weights yet: set_gated_weights() gives it some."""
        return self._add(IMoELayer, hidden_states, selected_experts_for_tokens, scores_for_selected_experts)

    @checked
    def add_nms(self, boxes: ITensor, scores: ITensor, max_output_boxes_per_class: ITensor,
                indices_type: DataType = DataType.INT32) -> INMSLayer:
        """Boxes that do not overlap with better ones."""
        return self._add(INMSLayer, boxes, scores, max_output_boxes_per_class, indices_type)

    @checked
    def add_non_zero(self, input: ITensor, indices_type: DataType = DataType.INT32) -> INonZeroLayer:
        """Places of the elements that are not 0."""
        return self._add(INonZeroLayer, input, indices_type)

    @checked
    def add_normalization(self, input: ITensor, scale: ITensor, bias: ITensor, axesMask: int) -> INormalizationLayer:
        """Mean 0 and variance 1 along axes."""
        return self._add(INormalizationLayer, input, scale, bias, axesMask)

    @checked
    def add_normalization_v2(self, input: ITensor, scale: ITensor, bias: ITensor, axesMask: int) -> INormalizationLayer:
        """Likewise."""
        return self._add(INormalizationLayer, input, scale, bias, axesMask, True)

    @checked
    def add_one_hot(self, indices: ITensor, values: ITensor, depth: ITensor, axis: int) -> IOneHotLayer:
        """Rows with one element that differs."""
        return self._add(IOneHotLayer, indices, values, depth, axis)

    @checked
    def add_padding_nd(self, input: ITensor, pre_padding: Shape, post_padding: Shape) -> IPaddingLayer:
        """Zeros around the last dims."""
        return self._add(IPaddingLayer, input, pre_padding, post_padding)

    add_padding = add_padding_nd

    @checked
    def add_parametric_relu(self, input: ITensor, slopes: ITensor) -> IParametricReLULayer:
        """Slopes where elements are negative."""
        return self._add(IParametricReLULayer, input, slopes)

    def add_plugin_v2(self, inputs, plugin) -> IPluginV2Layer:
        """A plugin of the second version."""
        return self._add(IPluginV2Layer, list(inputs), plugin)

    def add_plugin_v3(self, inputs, shape_inputs, plugin) -> IPluginV3Layer:
        """A plugin of the third version."""
        return self._add(IPluginV3Layer, list(inputs), list(shape_inputs), plugin)

    def add_plugin(self, made, aot=None) -> IPluginV3Layer:
        """A quick plugin, as a call of one of tensorrt.plugin.op gives it; with `aot` its kernels for a card are wanted."""
        request = QuickPluginCreationRequest
        wanted = request.UNKNOWN if aot is None else request.STRICT_AOT if aot else request.STRICT_JIT
        return self.add_plugin_v3(*(made(wanted) if callable(made) else made))

    @checked
    def add_pooling_nd(self, input: ITensor, type: PoolingType, window_size: Shape) -> IPoolingLayer:
        """The greatest, or the mean, of windows, which are one element apart until `stride_nd` is set."""
        return self._add_window(IPoolingLayer, window_size, input, type, window_size)

    add_pooling = add_pooling_nd

    @checked
    def add_quantize(self, input: ITensor, scale: ITensor, output_type: DataType = DataType.INT8) -> IQuantizeLayer:
        """Integers by a scale."""
        return self._add(IQuantizeLayer, input, scale, output_type)

    @checked
    def add_ragged_softmax(self, input: ITensor, bounds: ITensor) -> IRaggedSoftMaxLayer:
        """Softmax over rows of several lengths."""
        return self._add(IRaggedSoftMaxLayer, input, bounds)

    @checked
    def add_reduce(self, input: ITensor, op: ReduceOperation, axes: int, keep_dims: bool) -> IReduceLayer:
        """A statistic along axes."""
        return self._add(IReduceLayer, input, op, axes, keep_dims)

    @checked
    def add_resize(self, input: ITensor) -> IResizeLayer:
        """Interpolation to another shape."""
        return self._add(IResizeLayer, input)

    @checked
    def add_reverse_sequence(self, input: ITensor, sequence_lens: ITensor) -> IReverseSequenceLayer:
        """Rows turned round up to their lengths."""
        return self._add(IReverseSequenceLayer, input, sequence_lens)

    @checked
    def add_rotary_embedding(self, input: ITensor, cos_cache: ITensor, sin_cache: ITensor, interleaved: bool,
                             rotary_embedding_dim: int) -> IRotaryEmbeddingLayer:
        """Pairs of elements turned by angles."""
        return self._add(IRotaryEmbeddingLayer, input, cos_cache, sin_cache, interleaved, rotary_embedding_dim)

    @checked
    def add_scale(self, input: ITensor, mode: ScaleMode, shift: OptionalElements = None, scale: OptionalElements = None,
                  power: OptionalElements = None) -> IScaleLayer:
        """(x * scale + shift) ** power."""
        return self._add(IScaleLayer, input, mode, shift, scale, power)

    @checked
    def add_scale_nd(self, input: ITensor, mode: ScaleMode, shift: OptionalElements = None,
                     scale: OptionalElements = None, power: OptionalElements = None, channel_axis: int = 1) -> IScaleLayer:
        """Likewise, with an axis for ScaleMode.CHANNEL."""
        return self._add(IScaleLayer, input, mode, shift, scale, power, channel_axis)

    @checked
    def add_scatter(self, data: ITensor, indices: ITensor, updates: ITensor, mode: ScatterMode) -> IScatterLayer:
        """Elements replaced by their indices."""
        return self._add(IScatterLayer, data, indices, updates, mode)

    @checked
    def add_select(self, condition: ITensor, then_input: ITensor, else_input: ITensor) -> ISelectLayer:
        """Elements of one or the other tensor."""
        return self._add(ISelectLayer, condition, then_input, else_input)

    @checked
    def add_shape(self, input: ITensor) -> IShapeLayer:
        """The dims of a tensor."""
        return self._add(IShapeLayer, input)

    @checked
    def add_shuffle(self, input: ITensor) -> IShuffleLayer:
        """Transpose, reshape, transpose."""
        return self._add(IShuffleLayer, input)

    @checked
    def add_slice(self, input: ITensor, start: Shape, shape: Shape, stride: Shape) -> ISliceLayer:
        """A part of a tensor."""
        return self._add(ISliceLayer, input, start, shape, stride)

    @checked
    def add_softmax(self, input: ITensor) -> ISoftMaxLayer:
        """Softmax along an axis."""
        return self._add(ISoftMaxLayer, input)

    @checked
    def add_squeeze(self, input: ITensor, axes: ITensor) -> ISqueezeLayer:
        """Without dims of 1."""
        return self._add(ISqueezeLayer, input, axes)

    @checked
    def add_topk(self, input: ITensor, op: TopKOperation, k: int, axes: int,
                 indices_type: DataType = DataType.INT32) -> ITopKLayer:
        """The k greatest or least elements, and their indices."""
        return self._add(ITopKLayer, input, op, k, axes, indices_type)

    @checked
    def add_unary(self, input: ITensor, op: UnaryOperation) -> IUnaryLayer:
        """A function of each element."""
        return self._add(IUnaryLayer, input, op)

    @checked
    def add_unsqueeze(self, input: ITensor, axes: ITensor) -> IUnsqueezeLayer:
        """With further dims of 1."""
        return self._add(IUnsqueezeLayer, input, axes)
