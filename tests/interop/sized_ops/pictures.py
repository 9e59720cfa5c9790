"""Resize, GridSample, RoiAlign and the grids of AffineGrid."""

from .registry import draws

COORDINATES = ["half_pixel", "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]


@draws(4, "float32 float16 float64 uint8 int8")
def resize(graph, dtype):
    random = graph.random
    rank = random.choice([1, 2, 2, 2, 3])
    batch, channels = random.choice([1, 1, 2]), random.size(129)
    limit = max(1, 400_000 // (batch * channels))
    source, target = ([min(size, 257) for size in random.sizes(rank, limit)] for _ in range(2))
    mode = random.choice(["nearest", "linear", "linear", "cubic"])
    if mode == "cubic" and rank != 2:
        mode = "linear"
    facts = {"mode": mode, "coordinate_transformation_mode": random.choice(COORDINATES)}
    if mode == "nearest":
        facts["nearest_mode"] = random.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    elif mode == "cubic":
        facts |= {"cubic_coeff_a": random.choice([-0.5, -0.75]), "exclude_outside": random.randint(0, 1)}
    if mode != "nearest" and graph.version >= 18 and random.maybe(0.3) and dtype in ("float32", "uint8"):
        facts["antialias"] = 1
        graph.steps = 3  # rounded after each axis
    if dtype not in ("float32", "float64"):
        graph.steps = max(graph.steps, 1)
    graph.looseness *= 50  # places are computed, in float32 elsewhere
    x = graph.operand([batch, channels, *source], dtype)
    if random.maybe(0.4):
        scales = [random.choice([1.0, 2.0, 3.0, 2.0, 0.5, 4.0]) for _ in source]
        if all(size * scale >= 1 and size * scale % 1 == 0 for size, scale in zip(source, scales)) and limit >= 64 * 27:
            return graph.add("Resize", [x, "", graph.constant([1.0, 1.0, *scales], "float32")], **facts)
    return graph.add("Resize", [x, "", "", graph.integers(batch, channels, *target)], **facts)


@draws(2, "float32 float64")
def grid_sample(graph, dtype):
    random = graph.random
    graph.version = max(graph.version, 21)
    rank = random.choice([2, 2, 2, 3])
    batch, channels = random.choice([1, 2]), random.size(65)
    limit = max(1, 200_000 // (batch * channels))
    source, target = random.sizes(rank, limit), random.sizes(rank, limit)
    modes = ["linear", "nearest"] + ["cubic"] * (rank == 2)
    facts = {"mode": random.choice(modes), "padding_mode": random.choice(["zeros", "border", "reflection"]),
             "align_corners": random.randint(0, 1)}
    graph.looseness *= 100  # places are computed, and pixels lie between
    grid = graph.operand([batch, *target, rank], dtype, lambda shape: random.normal(shape) * 0.6)
    return graph.add("GridSample", [graph.operand([batch, channels, *source], dtype), grid], **facts)


@draws(2, "float32 float32 float64")
def roi_align(graph, dtype):
    random = graph.random
    graph.version = 21  # ONNX Runtime has none for 22
    images, channels = random.choice([1, 2]), random.size(260)
    source = [min(size, 90) for size in random.sizes(2, max(1, 400_000 // (images * channels)))]
    count, bins = random.size(40), random.choice([(1, 1), (7, 7), (14, 14), (3, 5)])
    facts = {"mode": random.choice(["avg", "avg", "max"]), "sampling_ratio": random.choice([0, 1, 2, 2, 5]),
             "coordinate_transformation_mode": random.choice(["half_pixel", "output_half_pixel"]),
             "output_height": bins[0], "output_width": bins[1], "spatial_scale": random.choice([1.0, 0.25, 0.0625])}

    graph.looseness *= 100  # places are computed in float32 elsewhere, and pixels lie between
    x = graph.operand([images, channels, *source], dtype)
    reach = max(source) / facts["spatial_scale"]
    return graph.add("RoiAlign", [x, graph.operand([count, 4], dtype, lambda shape: random.normal(shape) * reach),
                                  graph.integers(*(random.randint(0, images - 1) for _ in range(count)))], **facts)


@draws(1, "float32")
def affine_grid(graph, dtype):
    random = graph.random
    graph.version = max(graph.version, 21)
    batch, size = random.choice([1, 2, 3]), [max(2, n) for n in random.sizes(2, 40_000)]
    return graph.add("AffineGrid", [graph.operand([batch, 2, 3], dtype), graph.integers(batch, 3, *size)],
                     align_corners=random.randint(0, 1))
