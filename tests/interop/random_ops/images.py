"""Generators of operators on images and signals."""

import numpy as np

from .draw import generator


@generator("MaxRoiPool")
def max_roi_pool(r, d):
    d.input(r.array("float32", [2, r.choice([1, 2]), 6, 6]))
    rois = [[r.randint(0, 1), r.randint(0, 2), r.randint(0, 2), r.randint(2, 5), r.randint(2, 5)] for _ in range(3)]
    d.input(np.array(rois, np.float32))
    d.attribute(pooled_shape=[r.randint(1, 3), r.randint(1, 3)])
    d.maybe_attribute(spatial_scale=0.5)


@generator("RoiAlign")
def roi_align(r, d):
    dtype = d.dtype("T1", only=("float32", "float64"))
    d.input(r.array(dtype, [2, r.choice([1, 2]), 6, 7]))
    rois = [[r.uniform(0, 2), r.uniform(0, 2), r.uniform(3, 6), r.uniform(3, 6)] for _ in range(3)]
    d.input(np.array(rois, dtype))
    d.input(r.integers([3], 0, 1))
    d.maybe_attribute(output_height=r.randint(1, 3), output_width=r.randint(1, 3), sampling_ratio=r.randint(0, 2),
                      spatial_scale=0.5, mode=r.choice(["avg", "max"]))
    if d.version >= 16:
        d.maybe_attribute(coordinate_transformation_mode=r.choice(["half_pixel", "output_half_pixel"]))
    d.near(64, terms=64, scale=8)


@generator("Resize", weight=3)
def resize(r, d):
    mode = r.choice(["nearest", "linear", "cubic"] if d.version >= 11 else ["nearest", "linear"])
    rank = r.choice([1, 2, 3, 4]) if mode == "nearest" else r.choice([2, 4])
    shape = [r.choice([1, 2, 3, 5]) for _ in range(rank)]
    factors = [r.choice([0.5, 1.0, 1.5, 2.0, 3.0, 0.7]) for _ in shape]
    if rank == 4:
        factors[:2] = [1.0, 1.0]
    factors = [factor if int(size * factor) > 0 else 1.0 for size, factor in zip(shape, factors)]
    d.input(r.array(d.dtype("T1" if d.version >= 11 else "T", only=("float32",)), shape))
    d.attribute(mode=mode)
    scales = np.array(factors, np.float32)
    d.near(64, terms=16, scale=8)
    if d.version < 11:
        return d.input(scales, shape_like=True)
    modes = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    d.maybe_attribute(coordinate_transformation_mode=r.choice(modes), cubic_coeff_a=-0.5)
    if mode == "nearest":
        d.maybe_attribute(nearest_mode=r.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        d.maybe_attribute(exclude_outside=r.randint(0, 1))
    by_scale = r.maybe(0.6)
    if d.version < 13:
        d.input(np.zeros([0], np.float32), shape_like=True)
        d.input(scales if by_scale else np.zeros([0], np.float32), shape_like=True)
    else:
        d.input(None)
        d.input(scales if by_scale else None, shape_like=True)
    if not by_scale:
        d.integers([max(1, int(size * factor)) for size, factor in zip(shape, factors)])
    if d.version >= 18 and mode == "linear":
        d.maybe_attribute(0.4, antialias=1)
    return None


@generator("Upsample")
def upsample(r, d):
    shape = [1, r.choice([1, 2]), r.choice([2, 3]), r.choice([2, 3])]
    d.input(r.array("float32", shape))
    d.attribute(mode=r.choice(["nearest", "linear"]))
    scales = [1.0, 1.0, r.choice([1.0, 2.0, 3.0]), r.choice([1.0, 2.0])]
    if d.version < 9:
        d.attribute(scales=scales)
    else:
        d.input(np.array(scales, np.float32), shape_like=True)
    d.near(64, terms=16, scale=4)


@generator("GridSample")
def grid_sample(r, d):
    rank = r.choice([2, 2, 3]) if d.version >= 20 else 2
    dtype = d.dtype("T1", only=("float32", "float64"))
    n, image = r.choice([1, 2]), [r.randint(2, 5) for _ in range(rank)]
    d.input(r.array(dtype, [n, r.choice([1, 2]), *image]))
    grid = d.dtype("T2", only=("float32", "float64"))
    d.input(r.array(dtype if d.version >= 16 and dtype in ("float32", "float64") else grid,
                    [n, *(r.randint(1, 4) for _ in range(rank)), rank], -1.4, 1.4))
    modes = ["linear", "nearest", *(["cubic"] if rank == 2 else [])] if d.version >= 20 else [
        "bilinear", "nearest", "bicubic"]
    d.attribute(mode=r.choice(modes))
    d.maybe_attribute(padding_mode=r.choice(["zeros", "border", "reflection"]), align_corners=r.randint(0, 1))
    d.near(512, terms=256, scale=8)


@generator("AffineGrid")
def affine_grid(r, d):
    rank, n = r.choice([2, 3]), r.choice([1, 2])
    d.input(r.array(d.dtype("T1", only=("float32", "float64")), [n, rank, rank + 1], -1, 1))
    d.integers([n, 1, *(r.randint(1, 4) for _ in range(rank))])
    d.maybe_attribute(align_corners=r.randint(0, 1))
    d.near(32, terms=16, scale=2)


@generator("DFT")
def dft(r, d):
    n, length, onesided, inverse = r.choice([1, 2]), r.choice([2, 3, 4, 5, 8]), r.maybe(0.3), r.maybe(0.3)
    dtype = d.dtype("T1", only=("float32", "float64"))
    complex_input = r.maybe() or inverse
    onesided = onesided and not inverse and not complex_input
    d.input(r.array(dtype, [n, length, 2 if complex_input else 1], -2, 2))
    d.attribute(onesided=int(onesided), inverse=int(inverse))
    d.optional(np.array(r.choice([length, length + 1, 3]), np.int64), 0.3, shape_like=True)
    if d.version < 20:
        d.attribute(axis=1)
    elif r.maybe():
        d.integers(r.choice([1, -2]))
    d.near(64, terms=length * 8, scale=4, coarse=True)


@generator("STFT")
def stft(r, d):
    frame, n = r.choice([4, 8]), r.choice([1, 2])
    dtype = d.dtype("T1", only=("float32", "float64"))
    d.input(r.array(dtype, [n, r.choice([16, 20]), 1], -2, 2))
    d.integers(r.choice([2, 4]))
    with_window = r.maybe()
    d.input(r.array(dtype, [frame], 0.1, 1) if with_window else None)
    if not with_window or r.maybe():
        d.integers(frame)
    d.maybe_attribute(onesided=r.randint(0, 1))
    d.near(64, terms=64, scale=4, coarse=True)


@generator("HannWindow HammingWindow BlackmanWindow")
def signal_window(r, d):
    d.integers(r.choice([1, 2, 5, 8]), d.dtype("T1"))
    d.maybe_attribute(periodic=r.randint(0, 1), output_datatype=r.choice([1, 11]))
    d.near(32, terms=16, scale=1, coarse=True)


@generator("MelWeightMatrix")
def mel_weight_matrix(r, d):
    for value in (r.choice([4, 8]), r.choice([16, 32]), r.choice([8000, 16000])):
        d.integers(value)
    d.input(np.array(r.choice([0.0, 20.0]), np.float32), shape_like=True)
    d.input(np.array(r.choice([3000.0, 4000.0]), np.float32), shape_like=True)
    d.near(64, terms=64, scale=1)


@generator("NonMaxSuppression")
def non_max_suppression(r, d):
    n, boxes, classes = r.choice([1, 2]), r.randint(1, r.choice([6, 60])), r.choice([1, 2])
    corners = r.array("float32", [n, boxes, 4], 0, r.choice([4, 20]))
    corners[..., 2:] += corners[..., :2] + 1
    d.input(corners)
    d.input(r.array("float32", [n, classes, boxes], 0, 1))
    d.optional(np.array([r.randint(0, r.choice([4, 60]))], np.int64), 0.8, shape_like=True)
    d.optional(np.array([0.5], np.float32), 0.7)
    d.optional(np.array([0.2], np.float32), 0.5)
    d.maybe_attribute(center_point_box=r.randint(0, 1))
