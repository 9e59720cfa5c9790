"""Enumerations of layers with TensorRT's names, and what all enumerations have in common."""

import enum


class _Enum(enum.Enum):
    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    @property
    def number(self):
        return self.value

    def __or__(self, other):
        return int(self) | int(other)


class LayerType(_Enum):
    """Kinds of layers."""

    (CONVOLUTION, FULLY_CONNECTED, ACTIVATION, POOLING, LRN, SCALE, SOFTMAX, DECONVOLUTION, CONCATENATION, ELEMENTWISE,
     PLUGIN, UNARY, PADDING, SHUFFLE, REDUCE, TOPK, GATHER, MATRIX_MULTIPLY, RAGGED_SOFTMAX, CONSTANT, IDENTITY, CAST,
     PLUGIN_V2, SLICE, SHAPE, PARAMETRIC_RELU, RESIZE, TRIP_LIMIT, RECURRENCE, ITERATOR, LOOP_OUTPUT, SELECT, FILL,
     QUANTIZE, DEQUANTIZE, CONDITION, CONDITIONAL_INPUT, CONDITIONAL_OUTPUT, SCATTER, EINSUM, ASSERTION, ONE_HOT, NON_ZERO,
     GRID_SAMPLE, NMS, REVERSE_SEQUENCE, NORMALIZATION, PLUGIN_V3, SQUEEZE, UNSQUEEZE, CUMULATIVE, DYNAMIC_QUANTIZE,
     ATTENTION_INPUT, ATTENTION_OUTPUT, ROTARY_EMBEDDING, KV_CACHE_UPDATE, MOE, DIST_COLLECTIVE) = range(58)
    KVCACHE_UPDATE = KV_CACHE_UPDATE


class ActivationType(_Enum):
    """Functions of activation layers."""

    (RELU, SIGMOID, TANH, LEAKY_RELU, ELU, SELU, SOFTSIGN, SOFTPLUS, CLIP, HARD_SIGMOID, SCALED_TANH, THRESHOLDED_RELU,
     GELU_ERF, GELU_TANH) = range(14)


class PoolingType(_Enum):
    """What pooling takes of a window."""

    MAX, AVERAGE, MAX_AVERAGE_BLEND = range(3)


class ElementWiseOperation(_Enum):
    """Functions of two elements."""

    SUM, PROD, MAX, MIN, SUB, DIV, POW, FLOOR_DIV, AND, OR, XOR, EQUAL, GREATER, LESS = range(14)


class UnaryOperation(_Enum):
    """Functions of one element."""

    (EXP, LOG, SQRT, RECIP, ABS, NEG, SIN, COS, TAN, SINH, COSH, ASIN, ACOS, ATAN, ASINH, ACOSH, ATANH, CEIL, FLOOR, ERF,
     NOT, SIGN, ROUND, ISINF, ISNAN) = range(25)


class ReduceOperation(_Enum):
    """Statistics along axes."""

    SUM, PROD, MAX, MIN, AVG, NONE = range(6)


class TopKOperation(_Enum):
    """Which elements are taken."""

    MAX, MIN = range(2)


class MatrixOperation(_Enum):
    """What is done with a factor of a product."""

    NONE, TRANSPOSE, VECTOR = range(3)


class ScaleMode(_Enum):
    """For what there is one scale each."""

    UNIFORM, CHANNEL, ELEMENTWISE = range(3)


class PaddingMode(_Enum):
    """How sizes of windows are rounded."""

    EXPLICIT_ROUND_DOWN, EXPLICIT_ROUND_UP, SAME_UPPER, SAME_LOWER = range(4)


class GatherMode(_Enum):
    """What indices mean."""

    DEFAULT, ELEMENT, ND = range(3)


class ScatterMode(_Enum):
    """What indices mean."""

    ELEMENT, ND = range(2)


class SampleMode(_Enum):
    """What is beyond the bounds."""

    STRICT_BOUNDS, WRAP, CLAMP, FILL, REFLECT = range(5)


SliceMode = SampleMode
class FillOperation(_Enum):
    """What a tensor is filled with."""

    LINSPACE, RANDOM_UNIFORM, RANDOM_NORMAL = range(3)


class InterpolationMode(_Enum):
    """What is taken between elements."""

    NEAREST, LINEAR, CUBIC = range(3)


ResizeMode = InterpolationMode
class ResizeCoordinateTransformation(_Enum):
    """Which place of the input belongs to one of the output."""

    ALIGN_CORNERS, ASYMMETRIC, HALF_PIXEL = range(3)


class ResizeSelector(_Enum):
    """Which place a single element is taken from."""

    FORMULA, UPPER = range(2)


class BoundingBoxFormat(_Enum):
    """How boxes are written."""

    CORNER_PAIRS, CENTER_SIZES = range(2)


class ResizeRoundMode(_Enum):
    """How places are rounded."""

    HALF_UP, HALF_DOWN, FLOOR, CEIL = range(4)


class CumulativeOperation(_Enum):
    """What is accumulated."""

    SUM = 0


class AttentionNormalizationOp(_Enum):
    """What is made of products of queries and keys."""

    NONE, SOFTMAX = range(2)


class CausalMaskKind(_Enum):
    """Which places do not see later ones: places begin at the first, or end at the last key."""

    NONE, UPPER_LEFT, LOWER_RIGHT = range(3)


class AttentionIOForm(_Enum):
    """How places of sequences lie."""

    PADDED_BHND, PACKED_NHD = range(2)


class MoEActType(_Enum):
    """Functions of experts."""

    NONE, SILU = range(2)


class CollectiveOperation(_Enum):
    """What several devices do with one tensor."""

    ALL_REDUCE, ALL_GATHER, BROADCAST, REDUCE, REDUCE_SCATTER, ALL_TO_ALL, GATHER, SCATTER = range(8)


class KVCacheMode(_Enum):
    """Where new rows of a cache go."""

    LINEAR = 0


class LoopOutput(_Enum):
    """What is left of a loop."""

    LAST_VALUE, CONCATENATE, REVERSE = range(3)


class TripLimit(_Enum):
    """What ends a loop."""

    COUNT, WHILE = range(2)
