"""Shapes of tiles on a card, each by its name, beside the reference (for card.py)."""

import json

SHAPES = ["streams:64x32/1", "streams:64x64/4", "turns:128x64/1", "turns:128x192/1", "turns:128x256/1", "apart:128x128/1",
          "apart:64x256/1", "pairs:128x256/1", "pairs-apart:128x128/1"]
TYPES = {"float16": 10, "bfloat16": 16}
HEADER = '<ir_version: 10, opset_import: ["" : 22]>\n'


def weights(kind, *dims):
    """Initializers and nodes that make w, which is a constant once they are folded."""
    count = 1
    for dim in dims:
        count *= dim
    return (f"int64 zero = {{0}}, int64 one = {{1}}, int64 count = {{{count}}}, int64[{len(dims)}] dims = "
            f"{{{','.join(map(str, dims))}}}, float small = {{0.03}}",
            "i = Range(zero, count, one) f = Cast<to = 1>(i) s = Sin(f) t = Mul(s, small) "
            f"h = Cast<to = {TYPES[kind]}>(t) w = Reshape(h, dims) ")


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


def tiles(run, each, build, folder, size=1000):
    """Products and convolutions in each shape; a size of so many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    work = []
    for kind in TYPES:
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
