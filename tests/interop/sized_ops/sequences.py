"""Recurrent layers, attention, rotary positions."""

import math

import numpy as np

from .registry import draws

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


@draws(3, "float32 float32 float16")
def recurrent(graph, dtype):
    random = graph.random
    op = random.choice(list(GATES))
    gates, ways = GATES[op], random.choice([1, 1, 2])
    direction = "bidirectional" if ways == 2 else random.choice(["forward", "reverse"])
    length, batch = random.choice([1, 2, 5, 17, 40]), random.choice([1, 1, 2, 3, 8, 17])
    size, hidden = random.size(257), random.size(257)
    layout = int(random.maybe(0.15))
    graph.deepen(size + hidden)
    graph.looseness *= 4 + length / 4
    spread = graph.scaled((size + hidden) ** -0.5)

    def part(*shape, make=spread, constant=0.7):
        return graph.operand(list(shape), dtype, make, constant=constant)

    def state():
        if random.maybe(0.6):
            return ""
        return part(*([batch, ways, hidden] if layout else [ways, batch, hidden]), constant=0.3)

    operands = [part(*([batch, length] if layout else [length, batch]), size, make=None, constant=0),
                part(ways, gates * hidden, size), part(ways, gates * hidden, hidden),
                part(ways, 2 * gates * hidden) if random.maybe(0.7) else "",
                graph.operand([batch], "int32", random.below(length + 1, "int32", 1)) if random.maybe(0.3) else "", state()]
    facts = {"hidden_size": hidden, "direction": direction, "layout": layout}
    if op == "LSTM":
        operands += [state(), part(ways, 3 * hidden) if random.maybe(0.2) else ""]
    if op == "GRU":
        facts["linear_before_reset"] = random.randint(0, 1)
    if random.maybe(0.2):
        facts["clip"] = 0.7
    while operands[-1] == "":
        operands.pop()
    return graph.add(op, operands, random.choice([2, 3]) if op == "LSTM" else 2, **facts)[0]


class Heads:
    """Sizes of an attention."""

    def __init__(self, random):
        self.batch, self.groups = random.choice([1, 1, 2, 3]), random.choice([1, 1, 2, 4])
        self.shared = random.choice([1, 1, 1, 2, 4, 3])
        self.heads = self.groups * self.shared
        self.size, self.out = (random.choice([8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 33]) for _ in range(2))
        if random.maybe(0.7):
            self.out = self.size
        while True:
            self.queries, self.keys = random.size(513), random.size(1600)
            if random.maybe(0.3):
                self.queries = random.choice([1, 1, 2, 8])
            if self.batch * self.heads * self.queries * self.keys * self.size < 30_000_000:
                break
        self.past = random.size(257) if random.maybe(0.3) else 0


@draws(6, "float32 float32 float16 bfloat16 float64")
def attention(graph, dtype):
    random = graph.random
    graph.version = max(graph.version, 23)
    of, flat = Heads(random), random.maybe(0.3)
    graph.deepen(of.size + of.keys)
    graph.looseness *= 8

    def rows(count, length, width):
        shape = [of.batch, length, count * width] if flat else [of.batch, count, length, width]
        return graph.operand(shape, dtype, constant=0)

    operands = [rows(of.heads, of.queries, of.size), rows(of.groups, of.keys, of.size), rows(of.groups, of.keys, of.out)]
    facts = {"q_num_heads": of.heads, "kv_num_heads": of.groups} if flat else {}
    whole = of.keys + of.past
    operands.append(mask_of(graph, of, whole, dtype) if random.maybe(0.5) else "")
    if of.past:
        operands += [graph.operand([of.batch, of.groups, of.past, width], dtype, constant=0)
                     for width in (of.size, of.out)]
    elif random.maybe(0.3):
        facts["is_causal"] = 1
    if random.maybe(0.3):
        facts["softcap"] = 3.0
    if random.maybe(0.3):
        facts["scale"] = 0.2
    while operands[-1] == "":
        operands.pop()
    results = graph.add("Attention", operands, 3 if of.past else 1, **facts)
    return results[0] if of.past else results


def mask_of(graph, of, keys, dtype):
    random = graph.random
    dims = random.choice([[], [1, 1], [of.batch, 1], [1, of.heads], [of.batch, of.heads]])
    shape = [*dims, of.queries, keys]
    if math.prod(shape) > 1_000_000:
        shape = [of.queries, keys]
    if random.maybe():
        return graph.operand(shape, dtype)
    return graph.operand(shape, "bool", lambda size: first_is_true(random, size))


def first_is_true(random, shape):
    """No row without a key."""
    mask = np.random.default_rng(random.getrandbits(63)).random(shape) < 0.7
    mask[..., 0] = True
    return mask


@draws(5, "float32 float32 float16 float64")
def written_attention(graph, dtype):
    """As exporters write it out, with scales and masks on either side."""
    random, of = graph.random, Heads(graph.random)
    graph.deepen(of.size + of.keys)
    graph.looseness *= 8
    lead = random.choice([[of.batch, of.heads], [of.batch * of.heads], []])
    queries = graph.operand([*lead, of.queries, of.size], dtype, constant=0.05)
    values = graph.operand([*lead, of.keys, of.out], dtype, constant=0.05)
    if random.maybe(0.4):
        keys = graph.operand([*lead, of.size, of.keys], dtype, constant=0.05)
    else:
        order = [*range(len(lead)), len(lead) + 1, len(lead)]
        keys = graph.add("Transpose", [graph.operand([*lead, of.keys, of.size], dtype, constant=0.05)], perm=order)
    scores = graph.add("MatMul", [queries, keys])
    if random.maybe(0.8):
        root = np.array(of.size**0.5).astype(dtype)
        scores = graph.add("Div", [scores, graph.constant(root) if random.maybe(0.8) else graph.input(root)])
    way = random.choice(["", "", "add", "where"])
    mask_dims = random.choice([[of.queries, of.keys], [1, of.keys], [of.keys], [of.queries, 1]])
    if way == "add":
        scores = graph.add("Add", [scores, graph.operand(mask_dims, dtype)])
    elif way == "where":
        mask = graph.operand(mask_dims, "bool", lambda size: first_is_true(random, size))
        scores = graph.add("Where", [mask, scores, graph.constant(-100.0, dtype)])
    weights = graph.add("Softmax", [scores], axis=-1)
    if random.maybe(0.1):
        graph.shown.append(weights)
    out = graph.add("MatMul", [weights, values])
    if len(lead) == 2 and random.maybe():
        out = graph.add("Transpose", [out], perm=[0, 2, 1, 3])
        out = graph.add("Reshape", [out, graph.integers(of.batch, of.queries, of.heads * of.out)])
    return out


@draws(2, "float32 float32 float16")
def rotary_embedding(graph, dtype):
    random = graph.random
    graph.version = max(graph.version, 23)
    batch, heads = random.choice([1, 2, 3]), random.choice([1, 2, 3, 8])
    size = random.choice([8, 16, 32, 64, 128, 40])
    length = random.size(200_000 // (batch * heads * size))
    part = random.choice([0, 0, size // 2]) // 4 * 4
    half = (part or size) // 2
    placed = random.maybe()
    if random.maybe(0.6):
        x = graph.operand([batch, heads, length, size], dtype, constant=0)
    else:
        x = graph.operand([batch, length, heads * size], dtype, constant=0)
    positions = max(length, random.size(1000)) if placed else 0
    angles = [positions, half] if placed else [batch, length, half]
    operands = [x, graph.operand(angles, dtype), graph.operand(angles, dtype)]
    if placed:
        operands.append(graph.operand([batch, length], "int64", random.below(positions)))
    facts = {"rotary_embedding_dim": part} if part else {}
    if len(graph.shape(x)) == 3:
        facts["num_heads"] = heads
    elif part:
        facts["num_heads"] = heads
    return graph.add("RotaryEmbedding", operands, interleaved=random.randint(0, 1), **facts)
