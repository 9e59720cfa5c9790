"""Makes the containers that the program gives to its page, from models that are lists of nodes in Python.

The layout is the simplest one that keeps the format: layers by the longest way, orders as they come, bends on each layer
that a line crosses.
"""

import collections
import dataclasses
import json
import math
import struct

MAGIC = 0x31565341
NONE = 0xFFFFFFFF
GROUP, NODE, INPUT, OUTPUT, BODY, REPEAT = range(6)
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f32": "f", "f64": "d"}
SIDE_GAP = 24
LAYER_GAP = 34
MOST_RAIL_USES = 12


def container(kind, facts, columns, texts):
    """The bytes of a container; columns are name -> (type, numbers), texts name -> strings."""
    columns = dict(columns)
    for name, strings in texts.items():
        encoded = [string if isinstance(string, bytes) else string.encode() for string in strings]
        ends = []
        for entry in encoded:
            ends.append((ends[-1] if ends else 0) + len(entry))
        columns[name + ".text"] = ("u8", b"".join(encoded))
        columns[name + ".ends"] = ("u32", ends)
    described = {}
    data = bytearray(8)
    for name, (type_name, numbers) in columns.items():
        data += bytes(-len(data) % 8)
        described[name] = {"type": type_name, "offset": len(data), "count": len(numbers)}
        data += numbers if isinstance(numbers, bytes) else struct.pack(f"<{len(numbers)}{FORMATS[type_name]}", *numbers)
    head = json.dumps({"kind": kind, "revision": 1, **facts, "columns": described}).encode()
    data[:8] = struct.pack("<II", MAGIC, len(head))
    return bytes(data) + head


@dataclasses.dataclass(eq=False)
class Item:
    kind: int
    name: str
    parent: "Item | None" = None
    op: str = ""
    inputs: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)
    chips: list = dataclasses.field(default_factory=list)
    children: list = dataclasses.field(default_factory=list)
    macs: float = math.nan
    params: float = math.nan
    bytes: float = math.nan
    repeat: int = NONE
    flags: int = 0
    order: int = 0
    last: int = 0
    id: int = 0
    layer: int = 0
    rank: int = 0
    x: float = 0
    y: float = 0
    w: float = 150
    h: float = 42
    cw: float = 0
    ch: float = 0
    attributes: dict = dataclasses.field(default_factory=dict)
    doc: str = ""


class Model:
    """A model that is being put together."""

    def __init__(self, name):
        self.name = name
        self.root = Item(GROUP, "")
        self.groups = {"": self.root}
        self.types = {}
        self.producers = {}
        self.uses = []  # (value, item, slot)
        self.nodes = []

    def group(self, path, kind=GROUP, repeat=NONE):
        if path not in self.groups:
            above, _, name = path.rpartition("/")
            parent = self.group(above)
            self.groups[path] = Item(kind, name, parent, repeat=repeat, w=170, h=44)
            parent.children.append(self.groups[path])
        return self.groups[path]

    def add(self, kind, name, scope, inputs, outputs, types=(), **facts):
        item = Item(kind, name, self.group(scope), inputs=list(inputs), outputs=list(outputs), order=len(self.nodes), **facts)
        item.h += 15 * min(2, len(item.chips))
        item.last = item.order
        item.parent.children.append(item)
        self.nodes.append(item)
        for value, type_text in zip(outputs, types or ["float32[?]"] * len(outputs)):
            self.types[value] = type_text
            self.producers[value] = item
        self.uses += [(value, item, slot) for slot, value in enumerate(inputs)]
        return item

    def input(self, name, type_text):
        return self.add(INPUT, name, "", [], [name], [type_text], w=120, h=28)

    def output(self, name, value):
        return self.add(OUTPUT, name, "", [value], [], w=120, h=28)

    def node(self, op, name, inputs, outputs, types=(), scope="", **facts):
        return self.add(NODE, name, scope, inputs, outputs, types, op=op, **facts)

    # What the program would do.

    def items(self):
        """All items; children of an item follow each other."""
        found = [self.root]
        for at in found:
            found += at.children
        for number, item in enumerate(found):
            item.id = number
        return found

    def way(self, item):
        way = []
        while item is not self.root:
            way.append(item)
            item = item.parent
        return way[::-1]

    def edges(self):
        """(value, from, to) at the groups in which both ends stand; None is the border."""
        found = {}
        for value, user, _ in self.uses:
            maker = self.producers.get(value)
            if maker is None:
                continue
            up, down = self.way(maker), self.way(user)
            common = 0
            while up[common] is down[common] and common + 1 < min(len(up), len(down)):
                common += 1
            found[value, up[common].id, down[common].id] = (value, up[common], down[common])
            for inner in up[common + 1:]:
                found[value, inner.id, NONE] = (value, inner, None)
            for inner in down[common + 1:]:
                found[value, NONE, inner.id] = (value, None, inner)
        return list(found.values())

    def layout(self, items, edges):
        """Gives all items their places; returns the bends of each edge."""
        by_group = collections.defaultdict(list)
        for edge in edges:
            by_group[(edge[1] or edge[2]).parent].append(edge)
        bends = {}
        for item in reversed(items):
            if item.children:
                place_children(item, by_group[item], bends, self.rails())
                item.order = min(child.order for child in item.children)
                item.last = max(child.last for child in item.children)
        return bends

    def rails(self):
        counts = collections.Counter(value for value, _, _ in self.uses)
        return {value for value, count in counts.items() if count > MOST_RAIL_USES}

    def scene(self, **facts):
        items = self.items()
        edges = self.edges()
        bends = self.layout(items, edges)
        operators = sorted({item.op for item in items if item.op})
        op_ids = {op: number for number, op in enumerate(operators)}
        columns = {
            "parent": ("u32", [item.parent.id if item.parent else NONE for item in items]),
            "kind": ("u8", [item.kind for item in items]), "op": ("u16", [op_ids.get(item.op, 0xFFFF) for item in items]),
            "flags": ("u8", [item.flags | (4 if item.chips else 0) for item in items]),
            "first_child": ("u32", [item.children[0].id if item.children else 0 for item in items]),
            "children": ("u32", [len(item.children) for item in items])}
        for name in ("order", "last", "layer", "rank", "repeat"):
            columns[name] = ("u32", [getattr(item, name) for item in items])
        for name in ("x", "y", "w", "h", "cw", "ch"):
            columns[name] = ("f32", [getattr(item, name) for item in items])
        for name in ("macs", "params", "bytes"):
            columns[name] = ("f64", [getattr(item, name) for item in items])
        texts = {"name": [item.name for item in items], "chip": [chip for item in items for chip in item.chips]}
        columns["chip.item"] = ("u32", [item.id for item in items for _ in item.chips])
        self.add_values(columns, texts)
        self.add_edges(columns, edges, bends)
        head = {"model": self.name, "opset": 17, "ir_version": 8, "producer": "scene.py", "file": self.name + ".onnx",
                "nodes": sum(item.kind == NODE for item in items), "operators": operators, "subject_title": self.name,
                "inputs": [{"name": i.name, "type": self.types[i.name]} for i in items if i.kind == INPUT],
                "outputs": [{"name": i.name, "type": self.types.get(i.inputs[0], "")} for i in items if i.kind == OUTPUT]}
        return container("scene", {**head, **facts}, columns, texts)

    def add_values(self, columns, texts):
        self.values = {value: number for number, value in enumerate(self.types)}
        rails = self.rails()
        uses = sorted((self.values[value], item.id, slot) for value, item, slot in self.uses if value in self.values)
        texts["value.name"] = list(self.values)
        texts["type"] = list(dict.fromkeys(self.types.values()))
        columns["value.type"] = ("u32", [texts["type"].index(text) for text in self.types.values()])
        columns["value.producer"] = ("u32", [self.producers[value].id for value in self.values])
        columns["value.rail"] = ("u8", [int(value in rails) for value in self.values])
        columns["use.value"] = ("u32", [value for value, _, _ in uses])
        columns["use.node"] = ("u32", [node for _, node, _ in uses])
        columns["use.slot"] = ("u16", [slot for _, _, slot in uses])

    def add_edges(self, columns, edges, bends):
        points = [bends.get(number, []) for number in map(id, edges)]
        starts = []
        for bend in points:
            starts.append((starts[-1] + len(points[len(starts) - 1])) if starts else 0)
        columns["edge.value"] = ("u32", [self.values[value] for value, _, _ in edges])
        columns["edge.from"] = ("u32", [begin.id if begin else NONE for _, begin, _ in edges])
        columns["edge.to"] = ("u32", [end.id if end else NONE for _, _, end in edges])
        columns["edge.bend_start"] = ("u32", starts)
        columns["edge.bend_count"] = ("u16", [len(bend) for bend in points])
        columns["bend.x"] = ("f32", [x for bend in points for x, _ in bend])
        columns["bend.y"] = ("f32", [y for bend in points for _, y in bend])

    def facts_of(self, item):
        """What /api/node gives."""
        def port(value):
            return {"value": self.values.get(value), "name": value, "type": self.types.get(value, ""), "constant": False}
        return {"name": item.name, "op": item.op, "domain": "", "doc": item.doc, "inputs": [port(v) for v in item.inputs],
                "attributes": [{"name": k, "type": type(v).__name__, "value": v} for k, v in item.attributes.items()],
                "outputs": [port(v) for v in item.outputs], "metadata": {}, "origins": [], "cost": {}, "source": ""}


def place_children(group, edges, bends, rails):
    """Layers by the longest way; rows are centred; a line takes a place in each layer that it crosses."""
    before = collections.defaultdict(list)
    for value, begin, end in edges:
        if begin and end and begin is not end and value not in rails:
            before[end].append(begin)
    rows = []
    for child in sorted(group.children, key=lambda child: child.order):
        child.layer = max((other.layer + 1 for other in before[child]), default=0)
        while len(rows) <= child.layer:
            rows.append([])
        rows[child.layer].append(child)
    crossing = [[] for _ in rows]
    for edge in edges:
        _, begin, end = edge
        if begin and end and edge[0] not in rails:
            for layer in range(begin.layer + 1, end.layer):
                crossing[layer].append(edge)
    width = max(sum(child.w + SIDE_GAP for child in row) + 16 * len(lines) for row, lines in zip(rows, crossing))
    top = 0
    for row, lines in zip(rows, crossing):
        height = max((child.h for child in row), default=20)
        left = (width - sum(child.w + SIDE_GAP for child in row) - 16 * len(lines) + SIDE_GAP) / 2
        for rank, child in enumerate(row):
            child.x, child.y, child.rank = left, top, rank
            left += child.w + SIDE_GAP
        for edge in lines:
            bends.setdefault(id(edge), []).extend([(left + 8, top), (left + 8, top + height)])
            left += 16
        top += height + LAYER_GAP
    group.cw, group.ch = width, top - LAYER_GAP


def overlay(facts, columns=None, texts=None):
    return container("overlay", facts, {name: column if isinstance(column, tuple) else ("f32", column)
                                        for name, column in (columns or {}).items()}, texts or {})
