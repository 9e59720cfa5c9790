"""Differences between ours and ONNX Runtime that are known, each with its reason."""

import re
from typing import NamedTuple


class Known(NamedTuple):
    operators: str  # names, by blanks
    pattern: str    # of the fault's text
    reason: str
    condition: object = lambda draw: True


def is_empty(draw):
    return draw.inputs[0].size == 0


def uses_same_pads(draw):
    return str(draw.attributes.get("auto_pad", "")).startswith("SAME")


def strides_over_kernel(draw):
    """A transposed convolution with gaps between the places of its kernel."""
    kernel = draw.inputs[1].shape[2:]
    return uses_same_pads(draw) and any(stride > (size - 1) * dilation + 1 for size, stride, dilation in zip(
        kernel, draw.attributes["strides"], draw.attributes["dilations"]))


def strides_over_window(draw):
    return uses_same_pads(draw) and any(stride > size for size, stride in zip(
        draw.attributes["kernel_shape"], draw.attributes.get("strides", [])))


def ends_at_most_backwards(draw):
    if len(draw.inputs) < 5:
        return False
    ends, steps = draw.inputs[2].tolist(), draw.inputs[4].tolist()
    return any(step < 0 and end in (2**63 - 1, 2**31 - 1) for end, step in zip(ends, steps))


def resizes_to_fraction(draw):
    """The resized length is part of the formula, and scales make it a fraction."""
    mode = draw.attributes.get("coordinate_transformation_mode")
    scales = draw.inputs[2] if len(draw.inputs) > 2 else None
    return mode in ("align_corners", "pytorch_half_pixel") and scales is not None and any(
        float(scale) * size % 1 != 0 for scale, size in zip(scales, draw.inputs[0].shape))


REDUCTIONS = ("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
              "ReduceSumSquare")
KNOWN = [
    # ONNX Runtime against the specification.
    Known("Col2Im", "output 0",
          "mixes up blocks unless the image has two dims; onnx's reference agrees with ours",
          lambda draw: draw.inputs[1].size != 2),
    Known("ConvTranspose", "output 0",
          "SAME says output = input * stride; ONNX Runtime stops at pads of 0", strides_over_kernel),
    Known("Gemm", "output 0", "forgets beta where the inner dim is 0",
          lambda draw: is_empty(draw) and "beta" in draw.attributes),
    Known("Slice", "output 0",
          "reads the largest end as `down to the first element` where the step is negative, instead of clamping it",
          ends_at_most_backwards),
    Known("OneHot", "output 0", "before version 11 negative indices are out of range; ONNX Runtime wraps them",
          lambda draw: draw.version < 11 and (draw.inputs[0] < 0).any()),
    Known("Gather", "output 0", "copies only the first string of each block",
          lambda draw: draw.inputs[0].dtype == object),
    Known("Cast CastLike", r"output 0: .*u?int[24]\[", "rounds to 2 and 4 bits; onnx's reference, as ours, cuts",
          lambda draw: draw.inputs[0].dtype.kind in "fV"),
    Known("Resize", "output 0",
          "cuts the resized length to an integer within the formula; onnx's reference, as ours, takes scale * size",
          resizes_to_fraction),
    Known(REDUCTIONS, "output 0",
          "of empty tensors it gives other shapes or elements than onnx's reference and ours", is_empty),
    Known("MatMul", "output 0", "broadcasts batches of 0 and 1 to 1",
          lambda draw: any(0 in value.shape[:-2] for value in draw.inputs)),
    Known("NonZero", "output 0", "a scalar has no coordinates; ONNX Runtime takes it for a vector",
          lambda draw: draw.inputs[0].ndim == 0),
    Known("SplitToSequence", "output 0", "keepdims is to be ignored where a split is given",
          lambda draw: len(draw.inputs) > 1 and draw.attributes.get("keepdims") == 0),
    Known("TreeEnsemble", "output 0", "takes post_transform 1 for LOGISTIC and 2 for SOFTMAX",
          lambda draw: draw.attributes["post_transform"] != 0),
    Known("StringSplit", "output", "counts no parts of empty text; onnx's reference, as ours, counts one"),
    Known("Attention", "output 0", "aligns the causal mask over a past otherwise than onnx's reference and ours",
          lambda draw: draw.attributes.get("is_causal") and len(draw.inputs) > 4),
    # What is not specified.
    Known("LogSoftmax Softmax Hardmax", "out of range", "does not look at the axis where there is nothing to do",
          is_empty),
    Known("AveragePool LpPool MaxPool", "output 0",
          "SAME with a stride beyond the kernel: ONNX Runtime skips elements in front, for a negative pad",
          strides_over_window),
    Known("GridSample", "output 0",
          "cubic at the border: ONNX Runtime puts border pixels outside; onnx's reference, as ours, moves the place",
          lambda draw: draw.attributes.get("padding_mode") == "border" and "cubic" in draw.attributes["mode"]),
    Known("AffineGrid", "output 0", "with aligned corners the step of a single point is 2/0",
          lambda draw: draw.attributes.get("align_corners") == 1 and 1 in draw.inputs[1][2:]),
    Known("HannWindow HammingWindow BlackmanWindow", "output 0: .*nan",
          "the formula for a symmetric window of one element divides 0 by 0", lambda draw: draw.inputs[0].item() == 1),
    Known("Cast CastLike", "output 0: .*object",
          "digits of a number as text; ours are the fewest that identify it in its own type"),
    Known("ReduceLogSumExp ReduceLogSum ReduceL2", "output 0: .*int(32|64)",
          "how roots and logarithms of integers are made integers", lambda draw: draw.inputs[0].dtype.kind in "iu"),
    Known("StringNormalizer", "output 0",
          "in the locale C, ONNX Runtime changes the case of ASCII letters only; ours does not depend on locales"),
    Known("Sign", "output 0: .*nan", "the sign of what is no number"),
    Known("Dropout", "output 1", "before version 12, the mask at inference", lambda draw: draw.version < 12),
]


def reason_of(draw, fault):
    """Why the difference is expected; None if it is not."""
    for known in KNOWN:
        if draw.op in known.operators.split() and re.search(known.pattern, fault) and known.condition(draw):
            return known.reason
    return None
