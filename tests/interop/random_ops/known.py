"""Differences between ours and ONNX Runtime that are known, each with its reason."""

import re
from typing import NamedTuple

import numpy as np


class Known(NamedTuple):
    operators: str  # names, by blanks
    pattern: str    # of the fault's text
    reason: str
    condition: object = lambda draw: True


def is_empty(draw):
    return draw.inputs[0].size == 0


def same_pads_cannot_be_negative(draw):
    """A stride beyond the kernel: SAME would need negative pads to reach input * stride."""
    kernel = draw.inputs[1].shape[2:]
    return str(draw.attributes.get("auto_pad", "")).startswith("SAME") and any(
        stride > (size - 1) * dilation + 1 for size, stride, dilation in zip(
            kernel, draw.attributes["strides"], draw.attributes["dilations"]))


def ends_at_most_backwards(draw):
    most = np.iinfo(draw.inputs[2].dtype).max if len(draw.inputs) > 2 else 0
    ends = draw.inputs[2].tolist() if len(draw.inputs) > 4 else []
    return any(step < 0 and end in (most, 2**31 - 1) for end, step in zip(ends, draw.inputs[4].tolist() if ends else []))


def has_fraction(draw):
    """Scales are given, and make a size that is no integer."""
    scales = draw.inputs[2] if len(draw.inputs) > 2 else None
    return scales is not None and any(
        float(scale) * size % 1 != 0 for scale, size in zip(scales, draw.inputs[0].shape))


REDUCTIONS = ("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
              "ReduceSumSquare")
KNOWN = [
    Known("Col2Im", "output 0", "ONNX Runtime's Col2Im mixes up blocks unless the image has two dims; the specification "
          "and onnx's reference agree with ours", lambda draw: draw.inputs[1].size != 2),
    Known("ConvTranspose", "output 0", "the specification says output = input * stride; ONNX Runtime stops at pads of 0",
          same_pads_cannot_be_negative),
    Known("Gemm", "output 0", "ONNX Runtime forgets alpha and beta where the inner dim is 0",
          lambda draw: is_empty(draw) and "beta" in draw.attributes),
    Known("Slice", "output 0", "ONNX Runtime reads the largest end as `to the first element` where the step is negative; "
          "the specification clamps it", ends_at_most_backwards),
    Known("AffineGrid", "output 0", "with aligned corners the step of a single point is 2/0; nothing is specified",
          lambda draw: draw.attributes.get("align_corners") == 1 and 1 in draw.inputs[1][2:]),
    Known("Gather", "output 0", "ONNX Runtime copies only the first string of each block",
          lambda draw: draw.inputs[0].dtype == object),
    Known("Cast CastLike", "output 0: .*object", "how many digits a number gets as text is not specified; ours are the "
          "fewest that identify it in its own type"),
    Known("Cast CastLike", "output 0: .*u?int[24]\\[", "ONNX Runtime rounds to 2 and 4 bits; the specification cuts, as onnx's "
          "reference does", lambda draw: draw.inputs[0].dtype.kind in "fV"),
    Known("Resize", "output 0", "aligned corners of a fractional size: ONNX Runtime takes the size cut to an integer, the "
          "specification and onnx's reference scale * size",
          lambda draw: draw.attributes.get("coordinate_transformation_mode") == "align_corners" and has_fraction(draw)),
    Known(REDUCTIONS, "output 0", "of empty tensors ONNX Runtime gives other shapes or elements than the specification "
          "and onnx's reference", is_empty),
    Known("GridSample", "output 0", "cubic at the border: ONNX Runtime takes border pixels for those outside, onnx's "
          "reference, as ours, moves the place to the border first",
          lambda draw: draw.attributes.get("padding_mode") == "border" and "cubic" in draw.attributes["mode"]),
    Known("ReduceLogSumExp ReduceLogSum ReduceL2", "output 0: .*u?int(32|64)", "roots and logarithms of integers: how they "
          "are made integers is not specified", lambda draw: draw.inputs[0].dtype.kind in "iu"),
    Known("Dropout", "output 1", "before version 12 the mask is not specified for inference",
          lambda draw: draw.version < 12),
]


def reason_of(draw, fault):
    """Why the difference is expected; None if it is not."""
    for known in KNOWN:
        if draw.op in known.operators.split() and re.search(known.pattern, fault) and known.condition(draw):
            return known.reason
    return None
