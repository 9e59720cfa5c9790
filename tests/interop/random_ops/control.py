"""Generators of sequences, optionals, strings and operators with bodies."""

import numpy as np
from onnx import TensorProto, helper

from .draw import generator
from .models import element_number

ITEMS = ("float32", "int64", "float16", "string", "bool")


def tensors(r, dtype, least=0, most=4, shape=None):
    return [r.array(dtype, shape if shape is not None else r.shape(0, 3)) for _ in range(r.randint(least, most))]


@generator("SequenceConstruct")
def sequence_construct(r, d):
    dtype = r.choice(ITEMS)
    for array in tensors(r, dtype, 1):
        d.input(array)


@generator("SequenceEmpty")
def sequence_empty(r, d):
    d.maybe_attribute(dtype=r.choice([TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING]))


@generator("SequenceAt SequenceErase SequenceInsert SequenceLength")
def sequence_access(r, d):
    dtype = r.choice(ITEMS[:3])
    items = tensors(r, dtype, 1)
    d.input(items)
    number = r.choice(["int32", "int64"])
    if d.op == "SequenceInsert":
        d.input(r.array(dtype, r.shape(0, 3)))
        d.optional(np.array(r.randint(-len(items), len(items)), number), 0.7)
    elif d.op == "SequenceAt":
        d.input(np.array(r.randint(-len(items), len(items) - 1), number), shape_like=True)
    elif d.op == "SequenceErase":
        d.optional(np.array(r.randint(-len(items), len(items) - 1), number), 0.7)


@generator("ConcatFromSequence")
def concat_from_sequence(r, d):
    shape = r.shape(1, 3, zero=0)
    items = tensors(r, r.choice(ITEMS[:3]), 1, 4, shape)
    d.input(items)
    new_axis = r.randint(0, 1)
    rank = len(shape) + new_axis
    d.attribute(axis=r.axis(rank))
    if new_axis:
        d.attribute(new_axis=1)


@generator("SplitToSequence")
def split_to_sequence(r, d):
    shape = r.shape(1, 3, zero=0)
    axis = r.axis(len(shape))
    d.input(r.array(d.dtype(only=ITEMS), shape))
    d.attribute(axis=axis)
    choice = r.randint(0, 2)
    if choice == 1:
        d.integers(r.randint(1, shape[axis]))
    elif choice == 2:
        first = r.randint(1, shape[axis])
        d.integers([first, shape[axis] - first] if first < shape[axis] else [first])
    d.maybe_attribute(0.4, keepdims=r.randint(0, 1))


@generator("OptionalHasElement OptionalGetElement")
def optional_access(r, d):
    d.version = max(d.version, 18)  # before, only optionals may be asked
    array = r.array(r.choice(ITEMS[:2]), r.shape(0, 3))
    d.input([array] if r.maybe(0.3) else array)


@generator("StringConcat")
def string_concat(r, d):
    for shape in r.broadcast_shapes(2, 3):
        d.input(r.array("string", shape))


@generator("RegexFullMatch")
def regex_full_match(r, d):
    d.input(r.array("string", r.shape(0, 3)))
    d.attribute(pattern=r.choice(["a.*", "[a-c ]*", "", "(A|B)+1?", "[^a]*", ".{2,3}"]))


@generator("StringSplit")
def string_split(r, d):
    d.input(r.array("string", r.shape(0, 2, zero=0.03)))
    d.maybe_attribute(delimiter=r.choice([" ", "a", "", "b "]), maxsplit=r.randint(0, 3))
    d.outputs = 2


@generator("StringNormalizer")
def string_normalizer(r, d):
    size = r.randint(1, 4)
    d.input(r.array("string", [size] if r.maybe() else [1, size]))
    d.maybe_attribute(case_change_action=r.choice(["LOWER", "UPPER", "NONE"]), is_case_sensitive=r.randint(0, 1),
                      stopwords=["a", "AB"])
    d.attribute(locale="C")


@generator("TfIdfVectorizer")
def tf_idf(r, d):
    d.input(r.integers(r.choice([[6], [2, 5]]), 0, 4))
    d.attribute(mode=r.choice(["TF", "IDF", "TFIDF"]), min_gram_length=1, max_gram_length=2,
                max_skip_count=r.randint(0, 2), ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4],
                pool_int64s=[0, 2, 3, 1, 2, 3, 4])
    d.maybe_attribute(weights=[1.0, 0.5, 2.0, 3.0, 0.25])


def value(name, array, with_shape=True):
    return helper.make_tensor_value_info(name, element_number(array), list(array.shape) if with_shape else None)


def untyped(name, number):
    return helper.make_tensor_value_info(name, number, None)


@generator("If")
def if_(r, d):
    a = r.array("float32", r.shape(0, 3))
    d.input(np.array(r.maybe()) if r.maybe() else np.array([r.maybe()]))
    d.operands = 1
    d.inputs.append(a)
    branches = []
    for op in ("Abs", "Neg"):
        nodes = [helper.make_node(op, ["x1"], ["inner"]),
                 helper.make_node("Shape" if r.maybe(0) else "Identity", ["inner"], ["result"])]
        branches.append(helper.make_graph(nodes, op, [], [untyped("result", TensorProto.FLOAT)]))
    if r.maybe(0.4) and d.version >= 13:  # branches of other shapes
        axes = helper.make_tensor("axes", TensorProto.INT64, [1], [0])
        node = helper.make_node("Unsqueeze", ["x1", "axes"], ["result"])
        branches[1] = helper.make_graph([node], "unsqueeze", [], [untyped("result", TensorProto.FLOAT)], [axes])
    d.attribute(then_branch=branches[0], else_branch=branches[1])


@generator("Loop")
def loop(r, d):
    a = r.array("float32", r.shape(0, 2))
    trips, limit = r.randint(0, 4), r.randint(0, 5)
    d.optional(np.array(trips, np.int64), 0.8, shape_like=True)
    d.input(np.array(r.maybe(0.9)) if d.inputs[0] is not None or r.maybe(0.7) else np.array(True))
    d.input(a)
    nodes = [helper.make_node("Constant", [], ["most"], value=helper.make_tensor("", TensorProto.INT64, [], [limit])),
             helper.make_node("Less", ["i", "most"], ["go_on"]), helper.make_node("Add", ["v", "v"], ["doubled"]),
             helper.make_node("Identity", ["v"], ["scanned"])]
    body = helper.make_graph(
        nodes, "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                        helper.make_tensor_value_info("go_on_in", TensorProto.BOOL, []), value("v", a)],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []), value("doubled", a), value("scanned", a)])
    d.attribute(body=body)
    d.outputs = 2


@generator("Scan")
def scan(r, d):
    length, row = r.randint(1, 4), r.shape(0, 2, zero=0)
    if d.version < 9:
        d.version = 9
    state = r.array("float32", row)
    axis = r.randint(0, len(row)) if r.maybe() else 0
    shape = [*row[:axis], length, *row[axis:]]
    d.input(state)
    d.input(r.array("float32", shape))
    nodes = [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Mul", ["s", "e"], ["o"])]
    body = helper.make_graph(nodes, "body", [value("s", state), value("e", state)],
                             [value("t", state), value("o", state)])
    d.attribute(body=body, num_scan_inputs=1)
    if axis:
        d.attribute(scan_input_axes=[axis - len(shape) if d.version >= 11 and r.maybe() else axis])
    d.maybe_attribute(0.4, scan_input_directions=[r.randint(0, 1)], scan_output_directions=[r.randint(0, 1)])
    if row and r.maybe(0.3):
        d.attribute(scan_output_axes=[r.randint(0, len(row))])
    d.outputs = 2
    d.near(4, terms=8, scale=32)


@generator("SequenceMap")
def sequence_map(r, d):
    items = tensors(r, "float32", 1, 3, r.shape(1, 2, zero=0))
    d.input(items)
    body = helper.make_graph([helper.make_node("Neg", ["e"], ["n"])], "body", [untyped("e", TensorProto.FLOAT)],
                             [untyped("n", TensorProto.FLOAT)])
    d.attribute(body=body)
