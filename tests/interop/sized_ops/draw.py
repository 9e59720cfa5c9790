"""A draw: a graph of one operator or a few, and how the engine is asked for it."""

from random_ops.draw import Skip

from . import chains
from . import code_networks, codes, elements, fused, moves, networks, norms, pictures  # noqa: F401
from . import products, sequences, windows  # noqa: F401
from .graph import Graph, Random
from .registry import DRAWS

VERSIONS = (17, 21, 23)
WAYS = ("", "", "", "+runs=2", "+strict", "+strict", "+measure-tactics", "+plan", "+plan+strict", "+exclude-tactics=",
        "+exclude-tactics=")
PRODUCTS = ("products", "windows", "sequences", "networks")
FAMILIES = ("conv.onednn", "conv.winograd", "conv.pointwise", "conv.windows", "conv.codes", "conv.depthwise",
            "product.onednn", "product.tiles", "product.panels", "product.codes", "product.compressed", "attention.blocks",
            "elementwise.tape")


class Draw:
    def __init__(self, random, function, dtypes):
        self.name = function.__name__
        self.dtype = dtypes[0] if random.maybe(0.55) else random.choice(dtypes)
        self.graph = Graph(random, random.choice([random.choice(VERSIONS), VERSIONS[-1]]))
        chains.follow(self.graph, function(self.graph, self.dtype))
        self.backend = f"engine+threads={random.choice([1, 2, 2, 3])}{random.choice(WAYS)}"
        if "exclude" in self.backend:
            self.backend += random.choice(FAMILIES)
        is_product = function.__module__.endswith(PRODUCTS) and self.name != "max_pool"
        if random.maybe(0.1) and self.dtype == "float32" and is_product:
            self.backend += "+bf16"
            self.graph.coarse("bfloat16")
            self.graph.looseness *= 2
        self.graph.is_open = "plan" not in self.backend and random.maybe(0.1)
        if "strict" not in self.backend:
            self.graph.looseness *= 4

    def __str__(self):
        def value(name):
            return f"{name}{self.graph.shape(name)}"

        return " ".join(f"{','.join(node.output)} = {node.op_type}({', '.join(map(value, filter(None, node.input)))})"
                        for node in self.graph.nodes)


def make(seed, number, only=None):
    """None: another function than those of `only` draws it."""
    random = Random(f"{seed}:{number}")
    function, _, dtypes = random.choices(DRAWS, [weight for _, weight, _ in DRAWS])[0]
    if only and function.__name__ not in only:
        return None
    while True:
        try:
            return Draw(random, function, dtypes)
        except Skip:
            continue
