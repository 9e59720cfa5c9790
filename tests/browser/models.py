"""Models and overlays that the tests of the page show."""

import math
import random

import scene


def small():
    """A residual block with a convolution, and a head."""
    model = scene.Model("small")
    image = "float32[1,64,56,56]"
    model.input("x", image)
    model.node("Conv", "stem/conv", ["x"], ["c"], [image], "stem", chips=["W 64x64x3x3 float32", "B 64 float32"], macs=1.156e8,
               params=36928, bytes=802816, attributes={"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "group": 1})
    model.node("Relu", "stem/relu", ["c"], ["r"], [image], "stem", bytes=802816)
    model.node("Conv", "block/conv", ["r"], ["d"], [image], "block", chips=["W 64x64x1x1 float32"], macs=1.28e7, params=4096, bytes=802816,
               attributes={"kernel_shape": [1, 1], "group": 1})
    model.node("Add", "block/add", ["d", "r"], ["a"], [image], "block", bytes=802816)
    model.node("GlobalAveragePool", "pool", ["a"], ["g"], ["float32[1,64,1,1]"], bytes=256)
    model.node("Flatten", "flatten", ["g"], ["f"], ["float32[1,64]"], bytes=256)
    model.node("Gemm", "fc", ["f"], ["y"], ["float32[1,10]"], chips=["W 10x64 float32"], macs=640, params=650, bytes=40)
    model.output("y", "y")
    return model


def transformer(layers=12, name="encoder"):
    """Layers of attention and a perceptron, with a mask that all of them read."""
    model = scene.Model(name)
    hidden = "float32[1,128,768]"
    model.input("ids", "int64[1,128]")
    model.input("mask", "float32[1,1,1,128]")
    model.node("Gather", "embeddings.word", ["ids"], ["h0"], [hidden], "embeddings", chips=["W 30522x768 float32"], params=23440896, bytes=393216)
    model.node("Sub", "mask.sub", ["mask"], ["m0"], ["float32[1,1,1,128]"], "embeddings", bytes=512)
    model.node("Mul", "mask.mul", ["m0"], ["m"], ["float32[1,1,1,128]"], "embeddings", bytes=512)
    value = "h0"
    for layer in range(layers):
        value = add_layer(model, layer, value, hidden)
    model.node("Gather", "pooler.first", [value], ["p0"], ["float32[1,768]"], "pooler", bytes=3072)
    model.node("Gemm", "pooler.dense", ["p0"], ["p1"], ["float32[1,768]"], "pooler", chips=["W 768x768 float32"], macs=589824, params=590592, bytes=3072)
    model.node("Tanh", "pooler.tanh", ["p1"], ["pooled"], ["float32[1,768]"], "pooler", bytes=3072)
    model.output("last_hidden", value)
    model.output("pooled", "pooled")
    return model


def add_layer(model, layer, value, hidden):
    scope = f"encoder/layer.{layer}"
    model.group(scope, scene.REPEAT, repeat=7)
    attention = scope + "/attention"
    def product(name, source, group):
        out = f"{layer}.{name}"
        model.node("MatMul", f"{group}.{name}.matmul".replace("/", "."), [source], [out + ".m"], [hidden], group, chips=["W 768x768 float32"],
                   macs=7.5e7, params=589824, bytes=393216, flags=8)
        model.node("Add", f"{group}.{name}.bias".replace("/", "."), [out + ".m"], [out], [hidden], group, chips=["B 768 float32"], params=768, bytes=393216, flags=8)
        return out
    def plain(op, name, inputs, group, type_text=hidden):
        out = f"{layer}.{name}"
        model.node(op, f"{group}.{name}".replace("/", "."), inputs, [out], [type_text], group, bytes=393216, flags=8)
        return out
    query, key, content = (product(name, value, attention) for name in ("query", "key", "value"))
    scores = plain("MatMul", "scores", [query, key], attention, "float32[1,12,128,128]")
    masked = plain("Add", "masked", [scores, "m"], attention, "float32[1,12,128,128]")
    weights = plain("Softmax", "softmax", [masked], attention, "float32[1,12,128,128]")
    mixed = plain("MatMul", "context", [weights, content], attention)
    dense = product("output", mixed, attention)
    first = plain("Add", "residual1", [dense, value], scope)
    normed = plain("LayerNormalization", "norm1", [first], scope)
    grown = product("grow", normed, scope + "/mlp")
    bent = plain("Gelu", "gelu", [grown], scope + "/mlp")
    shrunk = product("shrink", bent, scope + "/mlp")
    return plain("LayerNormalization", "norm2", [plain("Add", "residual2", [shrunk, normed], scope)], scope)


def large(count):
    """About `count` nodes in groups of blocks of some 36 nodes, as exporters write transformers."""
    model = scene.Model(f"large{count}")
    model.input("x", "float32[1,128,768]")
    value = "x"
    made = 0
    block = 0
    while made < count:
        scope = f"part.{block // 200}/stage.{block // 10}/block.{block}"
        branches = []
        for branch in range(3):
            inner = value
            for step in range(10):
                out = f"v{made}"
                model.node(("MatMul", "Add", "Relu", "Mul", "Reshape")[step % 5], f"model.{scope.replace('/', '.')}.branch{branch}.op{step}", [inner], [out],
                           ["float32[1,128,768]"], scope, macs=1e6 + made % 977, params=1000, bytes=393216)
                inner = out
                made += 1
            branches.append(inner)
        for inner in branches:
            out = f"v{made}"
            model.node("Add", f"model.{scope.replace('/', '.')}.join{made}", [value, inner], [out], ["float32[1,128,768]"], scope, macs=0, bytes=393216)
            value = out
            made += 1
        block += 1
    model.output("y", value)
    return model


def hostile():
    """Names that would harm a page that trusts them."""
    model = scene.Model('<img src=x onerror=alert(1)></title><script>fetch("http://example.org")</script>')
    model.input("<b>x</b>", "float32[1,2]")
    names = ["</script><script>alert(1)</script>", "a" * 1_000_000, "nul\0inside", "right\u202eto\u202cleft \u2066isolate\u2069", "\u200b\ufeff", "constructor",
             "__proto__", "javascript:alert(1)", "\x1b[31mred", "' onmouseover='alert(1)", "😀" * 300, "&lt;not&gt;"]
    value = "<b>x</b>"
    for number, name in enumerate(names):
        out = f"{name[:40]}.{number}" if number != 1 else "v" * 1_000_000
        model.node("Relu" if number % 2 else "<i>Op</i>", name, [value], [out], ["float32[<b>1</b>,2]" if number == 3 else "float32[1,2]"],
                   "<u>scope</u>" if number < 6 else "__proto__", doc="<a href='http://example.org'>text</a>\n" * 3, attributes={"<s>a</s>": "<script>alert(2)</script>" * 50})
        value = out
    deep = "/".join(f"d{i}" for i in range(60))
    model.node("If", "deep", [value], ["deep"], ["float32[1,2]"], deep)
    model.output("<b>y</b>", "deep")
    return model


# Overlays.

def node_items(model):
    """Nodes in execution order; items get their numbers."""
    model.items()
    return [item for item in model.nodes if item.kind == scene.NODE]


def column(model, make):
    return [make(item) if item.kind == scene.NODE else math.nan for item in model.items()]


def accuracy(model, sides=("onnxrt", "engine"), guilty="scores"):
    """One layer introduces too much on the last side; all behind it inherit."""
    columns = {}
    dice = random.Random(5)
    first = min(item.order for item in node_items(model) if guilty in item.name)
    values = model.values
    for number, side in enumerate(sides):
        late = number == len(sides) - 1
        def introduced(item, late=late):
            base = 1e-7 * (1 + 3 * dice.random())
            return base * 400 if late and item.order == first else base
        made = {item.id: introduced(item) for item in node_items(model)}
        inherited = {item.id: (1e-7 if not late or item.order <= first else 4e-5 * 0.995 ** (item.order - first)) for item in node_items(model)}
        columns[f"{side}/introduced"] = column(model, lambda item: made[item.id])
        columns[f"{side}/inherited"] = column(model, lambda item: inherited[item.id])
        columns[f"{side}/tolerance"] = column(model, lambda item: 1e-6)
        columns[f"{side}/excess"] = column(model, lambda item: math.nan if item.op == "Gelu" else made[item.id] / 1e-6)
        columns[f"{side}/total"] = column(model, lambda item: made[item.id] + inherited[item.id])
        total = {value: made[item.id] + inherited[item.id] for value, item in model.producers.items() if item.id in made}
        columns[f"{side}/total@value"] = [total.get(value, math.nan) for value in values]
    culprit = next(item for item in node_items(model) if item.order == first)
    facts = {"title": "debug accuracy", "source": "accuracy.json", "what": "accuracy", "sides": list(sides),
             "fields": [{"name": "excess", "unit": "1", "scale": "diverging", "description": "introduced over what may be"},
                        {"name": "introduced", "unit": "1", "scale": "log", "description": "error that the layer adds"},
                        {"name": "inherited", "unit": "1", "scale": "log", "description": "error of its inputs"},
                        {"name": "tolerance", "unit": "1", "scale": "log", "description": "what may be introduced"},
                        {"name": "total", "unit": "1", "scale": "log", "description": "error of the result"}],
             "cause": "accumulates 768 products in float16", "command": f"assay run {model.name}.onnx --engine --layer-precisions '{culprit.name}:float32'",
             "notes": [{"item": culprit.id, "severity": "error", "text": "introduces 40 times what may be; accumulates in float16",
                        "command": f"assay convert {model.name}.onnx --layer-precisions '{culprit.name}:float32' -o fixed.onnx"}]}
    return scene.overlay(facts, columns)


def profile(model, sides=("engine", "onnxrt")):
    columns = {}
    spans = []
    dice = random.Random(3)
    for lane, side in enumerate(sides):
        at = 0.0
        times = {}
        for item in node_items(model):
            base = 0 if math.isnan(item.macs) else item.macs / 2e4
            times[item.id] = (base + 2 + 3 * dice.random()) * (1 + lane * dice.random())
            spans.append((lane, at, times[item.id], item.id, item.name))
            at += times[item.id] + (0.4 if item.order % 5 == 0 else 0)
        columns[f"{side}/time"] = column(model, lambda item: times[item.id])
    facts = {"title": "profile", "source": "profile.json", "what": "time", "sides": list(sides), "lanes": list(sides),
             "fields": [{"name": "time", "unit": "us", "scale": "log", "description": "median time of the layer"}],
             "flops_per_second": 9e10, "bytes_per_second": 1.4e10}
    columns.update({"span.lane": ("u16", [s[0] for s in spans]), "span.start": ("f64", [s[1] for s in spans]), "span.length": ("f64", [s[2] for s in spans]),
                    "span.item": ("u32", [s[3] for s in spans])})
    return scene.overlay(facts, columns, {"span": [s[4] for s in spans]})


def plan(model, conv="conv.direct", joined=("Add", "Relu", "Gelu"), file=None):
    """Neighbours become one layer; the last of a kind runs on the reference."""
    nodes = node_items(model)
    layers = []
    for item in nodes:
        joins = layers and item.op in joined and item.parent is layers[-1][-1].parent
        if joins:
            layers[-1].append(item)
        else:
            layers.append([item])
    table, groups, starts, counts, members, blocks = [], [], [], [], [], []
    address = 0
    for number, layer in enumerate(layers):
        label = " + ".join(item.name for item in layer)
        tactic = {"Conv": conv, "MatMul": "gemm.packed", "Gemm": "gemm.packed"}.get(layer[0].op, "rows.fused" if len(layer) > 1 else "elementwise.tape")
        state = "reference" if layer[0].op in ("Gather", "GlobalAveragePool") else ""
        groups.append({"id": number, "items": [item.id for item in layer], "label": label, "state": state})
        table.append({"layer": label, "tactic": "reference" if state else tactic, "alternatives": [{"tactic": "gemm.plain", "us": 31.5}] if "gemm" in tactic else [],
                      "time_us": 3.5 + number % 7, "format": "plain", "weights": 2359296 if "gemm" in tactic else 0, "items": [item.id for item in layer]})
        starts.append(len(members))
        members += [item.id for item in layer]
        counts.append(len(layer))
        size = (1 + number % 3) * 393216
        blocks.append((number, min(len(layers) - 1, number + 1 + number % 4), address % (4 * 393216), size, layer[-1].id, layer[-1].outputs[0]))
        address += size
    columns = {"group.start": ("u32", starts), "group.count": ("u32", counts), "member.item": ("u32", members),
               "block.start": ("u32", [b[0] for b in blocks]), "block.end": ("u32", [b[1] for b in blocks]), "block.address": ("f64", [b[2] for b in blocks]),
               "block.bytes": ("f64", [b[3] for b in blocks]), "block.item": ("u32", [b[4] for b in blocks])}
    facts = {"title": "engine plan", "source": file or f"{model.name}.engine", "what": "plan", "sides": [], "fields": [], "groups": groups, "table": table}
    return scene.overlay(facts, columns, {"block": [b[5] for b in blocks]})


def lint(model):
    nodes = node_items(model)
    notes = [{"item": nodes[2].id, "severity": "warning", "text": "weights are not used in full", "command": f"assay surgeon sanitize {model.name}.onnx --cleanup"},
             {"item": nodes[4].id, "severity": "error", "text": "shape `[1,64,1,1]` does not follow from its inputs"},
             {"item": nodes[5].id, "severity": "info", "text": "could be folded"}]
    return scene.overlay({"title": "check lint", "source": "lint.json", "what": "lint", "sides": [], "fields": [], "notes": notes})


def changed_transformer(layers=4, with_steps=False):
    """A model, the one that it came from, and their difference: one node renamed, one removed, one added, one changed; perhaps
    in steps."""
    before = transformer(layers, "before")
    after = transformer(layers, "after")
    target = next(item for item in after.nodes if item.name == "encoder.layer.1.mlp.gelu")
    target.op, target.name = "FastGelu", "encoder.layer.1.mlp.fast_gelu"
    renamed = next(item for item in after.nodes if item.name == "encoder.layer.2.norm1")
    renamed.name = "encoder.layer.2.first_norm"
    node = before.node("Identity", "encoder.layer.0.copy", ["0.norm2"], ["0.copy"], ["float32[1,128,768]"], "encoder/layer.0")
    before.uses.append(("0.copy", next(item for item in before.nodes if item.name == "encoder.layer.1.attention.query.matmul"), 1))
    extra = after.node("Clip", "encoder.layer.3.clip", ["3.residual1"], ["3.clip"], ["float32[1,128,768]"], "encoder/layer.3")
    scenes = [before.scene(), after.scene()]
    ids = {item.name: item.id for item in before.nodes if item.kind == scene.NODE}
    old_names = {target.name: "encoder.layer.1.mlp.gelu", renamed.name: "encoder.layer.2.norm1"}
    pairs = {item.id: ids[old_names.get(item.name, item.name)] for item in after.nodes if item.kind == scene.NODE and item is not extra}
    back = {old: new for new, old in pairs.items()}
    newer = [{"kind": "changed", "items": [target.id], "name": target.name, "facts": "operator Gelu is FastGelu", "distance": 0.0031},
             {"kind": "renamed", "items": [renamed.id], "name": renamed.name, "was": "encoder.layer.2.norm1"},
             {"kind": "added", "items": [extra.id], "name": extra.name}]
    older = [{"kind": "removed", "items": [node.id], "name": node.name}, {"kind": "changed", "items": [ids["encoder.layer.1.mlp.gelu"]], "name": "encoder.layer.1.mlp.gelu"}]
    overlays = []
    for number, (model, table, other) in enumerate(((before, older, back), (after, newer, pairs))):
        facts = {"title": "difference of two models", "what": "difference", "scene": number, "sides": [], "table": table,
                 "fields": [{"name": "change"}, {"name": "counterpart"}]}
        counterparts = [other.get(item.id, math.nan) for item in model.items()]
        overlays.append(("difference", "difference", scene.overlay(facts, {"/counterpart": counterparts})))
    steps = [("step 1: remove Identity `encoder.layer.0.copy`", "", [node.id], [], []),
             ("step 2: fuse Gelu into FastGelu", "makes `scale`, which step 3 removes", [ids["encoder.layer.1.mlp.gelu"]], [target.id], []),
             ("step 3: add Clip `encoder.layer.3.clip`", "", [], [extra.id], [renamed.id])]
    for number in range(2 if with_steps else 0):
        rows = [{"name": name, **({"unseen": unseen} if unseen else {}), "items": gone if number == 0 else made + kept, "gone": len(gone) if number == 0 else 0, "kept": len(kept) * number}
                for name, unseen, gone, made, kept in steps]
        overlays.append(("steps of a rewrite", "steps", scene.overlay({"title": "steps of a rewrite", "what": "steps", "scene": number, "sides": [], "table": rows, "fields": []})))
    return after, scenes, overlays


def statistics(count=802816):
    """What /api/value/…/statistics gives."""
    counts = [int(4000 * math.exp(-((i - 32) / 9) ** 2)) for i in range(64)]
    return {"name": "c", "type": "float32[1,64,56,56]", "available": True, "source": "inputs.npz", "count": count, "zeros": 120, "nans": 2, "infs": 0, "subnormals": 0,
            "outside_float16": 0, "least": -3.25, "least_at": [0, 3, 5, 7], "greatest": 4.125, "greatest_at": [0, 60, 1, 2], "mean": 0.0125, "deviation": 0.98,
            "percentiles": {"1": -2.2, "50": 0.01, "99": 2.3}, "histogram": {"edges": [-4 + i / 8 for i in range(65)], "counts": counts},
            "log_histogram": {"edges": [-8 + i / 4 for i in range(41)], "counts": [i * i for i in range(40)]},
            "channels": [{"least": -1 - i % 7 / 3, "mean": 0.01 * i, "greatest": 1 + i % 5 / 2} for i in range(64)]}


def slice_container(rows=56, columns=56):
    data = [math.sin(r / 5) * math.cos(c / 7) + (math.nan if r == 3 and c == 3 else 0) for r in range(rows) for c in range(columns)]
    return scene.container("slice", {"shape": [rows, columns], "dims": [1, 64, 56, 56], "least": -1.0, "greatest": 1.0}, {"data": ("f32", data)}, {})


def comparison():
    dice = random.Random(9)
    points = [(x := dice.uniform(-2, 2), x + dice.gauss(0, 0.02)) for _ in range(600)]
    counts = [int(90 * math.exp(-((i - 16) / 6) ** 2)) for i in range(32)]
    return {"sides": ["onnxrt", "engine"], "histograms": [{"edges": [i / 8 - 2 for i in range(33)], "counts": counts}, {"edges": [i / 8 - 2 for i in range(33)], "counts": counts[::-1]}],
            "scatter": points, "tolerance": 0.03, "worst": [{"at": [0, 1, 2, 3], "left": 1.5, "right": 1.61}]}
