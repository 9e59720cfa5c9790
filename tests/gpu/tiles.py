"""Shapes of tiles on a card, each by its name, beside the reference (for card.py)."""

import json

SHAPES = ["streams:64x32/1", "streams:64x64/4", "turns:128x64/1", "turns:128x192/1", "turns:128x256/1", "apart:128x128/1",
          "apart:64x256/1", "pairs:128x256/1", "pairs-apart:128x128/1"]
# Channels, pixels of a side, kernel, stride and columns, and shapes for them.
SEPARABLE = [((64, 15, 3, 1, 40), ["16x48/1", "32x48/1", "64x48/1", "16x32/2", "32x16/4", "apart"]),
             ((72, 14, 5, 2, 96), ["16x96/1", "64x96/1", "32x48/2", "16x32/4", "64x16/8", "apart"])]
TYPES = {"float16": 10, "bfloat16": 16}
HEADER = '<ir_version: 10, opset_import: ["" : 22]>\n'


def weights(kind, *dims, name="w"):
    """Initializers and nodes that make a constant, once they are folded."""
    count = 1
    for dim in dims:
        count *= dim
    of = f"_{name}"
    return (f"int64 zero{of} = {{0}}, int64 one{of} = {{1}}, int64 count{of} = {{{count}}}, int64[{len(dims)}] dims{of} = "
            f"{{{','.join(map(str, dims))}}}, float small{of} = {{0.03}}",
            f"i{of} = Range(zero{of}, count{of}, one{of}) f{of} = Cast<to = 1>(i{of}) s{of} = Sin(f{of}) "
            f"t{of} = Mul(s{of}, small{of}) h{of} = Cast<to = {TYPES[kind]}>(t{of}) {name} = Reshape(h{of}, dims{of}) ")


def products(kind, rows, columns, depth):
    """A product whose results are finished alone, and one beside a residual."""
    values, nodes = weights(kind, depth, columns)
    x, r, z = (f"{kind}[{','.join(map(str, dims))}]" for dims in ((rows, depth), (rows, columns), (rows, columns)))
    bias = f"{kind}[{columns}] b = {{{','.join(str(i % 5 / 4) for i in range(columns))}}}"
    yield "product", f"g ({x} x) => ({z} z) <{values}, {bias}> {{ {nodes} m = MatMul(x, w) a = Add(m, b) z = Relu(a) }}"
    yield "product", f"g ({x} x, {r} r) => ({z} z) <{values}, {bias}> {{ {nodes} m = MatMul(x, w) a = Add(m, b) z = Add(a, r) }}"


def convolution(kind, batch, size):
    values, nodes = weights(kind, 136, 64, 3, 3)
    yield "conv", (f"g ({kind}[{batch},64,{size},{size}] x) => ({kind}[{batch},136,{size},{size}] z) <{values}> {{ {nodes} "
                   "c = Conv<pads = [1,1,1,1]>(x, w) z = Relu(c) }")


def separable(kind, channels, size, kernel, stride, columns):
    """A depthwise convolution and the one of single pixels behind it, which adds a residual."""
    windows, first = weights(kind, channels, 1, kernel, kernel)
    pixels, second = weights(kind, columns, channels, 1, 1, name="v")
    half, out = kernel // 2, (size - 1) // stride + 1
    return (f"g ({kind}[2,{channels},{size},{size}] x, {kind}[2,{columns},{out},{out}] r) => "
            f"({kind}[2,{columns},{out},{out}] z) <{windows}, {pixels}> {{ {first} {second} "
            f"c = Conv<group = {channels}, pads = [{half},{half},{half},{half}], strides = [{stride},{stride}]>(x, w) "
            "d = HardSwish(c) p = Conv(d, v) z = Add(p, r) }")


def tiles(run, each, build, folder, size=1000):
    """Products and convolutions in each shape; a size of so many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    work = []
    for kind in TYPES:
        for number, (sizes, shapes) in enumerate(SEPARABLE):
            path = folder / f"{kind}_separable_{number}.onnxtxt"
            path.write_text(HEADER + separable(kind, *sizes))
            work += [(path, "conv.separable", shape) for shape in shapes]
        texts = [*products(kind, size, 264, 328), *convolution(kind, 3, max(8, int((size / 3) ** 0.5)))]
        for number, (family, text) in enumerate(texts):
            path = folder / f"{kind}_{number}.onnxtxt"
            path.write_text(HEADER + text)
            work += [(path, f"{family}.tiles", shape) for shape in SHAPES]
    faults = [fault for fault in each(lambda of: tile_fault(run, build, *of), work) if fault]
    return len(work) - len(faults), len(work), faults


def tile_fault(run, build, path, family, shape):
    """What is wrong with a model of one layer in this shape; empty: nothing."""
    name = f"{path.stem}.{shape.replace('/', '_')}"
    wanted, used = path.parent / f"{name}.wanted.json", path.parent / f"{name}.used.json"
    wanted.write_text(json.dumps({"replay": {"z": {"implementation": family, "tactic": shape, "inputs": [], "outputs": [],
                                                   "polygraphy_class": "Algorithm"}}}))
    status, output = run(build / "bin" / "assay", "run", path, "--engine", "--device", "cuda", "--ref", "--tolerance", "auto",
                         "--load-tactics", wanted, "--save-tactics", used)
    if status:
        return f"{name}: status {status}: {(output.strip().splitlines() or ['no word'])[-1]}"
    chosen = json.loads(used.read_text())["replay"]["z"]["tactic"]
    return "" if chosen == shape else f"{name}: {chosen or 'the first choice'} was taken"
