"""Models that are made to do harm, and models with holes where a name or a type should be: every command ends soon with
an exit code that says so, within little memory.

    hostile_test.py ASSAY
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MEMORY = 2 << 30
SECONDS = 60  # of processors
COMMANDS = ["run MODEL --ref --max-steps 10000 --max-memory 200M", "check lint MODEL --max-steps 10000 --max-memory 200M",
            "check lint MODEL --static",
            "inspect model MODEL --shape-inference --show layers attrs weights cost",
            "surgeon sanitize MODEL --fold-constants --simplify --passes inline-functions unroll-loops -o OUT",
            "convert MODEL --fp-to-fp16 -o OUT"]
ENGINE = "run MODEL --engine --max-steps 10000 --max-memory 200M"


def floats(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def value(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, data):
    return numpy_helper.from_array(np.array(data), name)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def function(name, inputs, outputs, nodes):
    return helper.make_function("d", name, inputs, outputs, nodes,
                                [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)])


def model(nodes, inputs, outputs, weights=(), functions=(), opset=21):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("d", 1), helper.make_opsetid("com.microsoft", 1),
               helper.make_opsetid("ai.onnx.ml", 5)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def op(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def nameless():
    """Outputs without a name, of every kind of body."""
    x, y = [floats("X", [2])], [floats("Y")]
    counter = [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, [])]
    go_on = op("Identity", ["c"], ["d"])
    branch = body([op("Neg", ["X"], ["a"])], [], [floats("")])
    yield "if", model([op("If", ["k"], ["Y"], then_branch=branch, else_branch=branch)], x, y, [weight("k", True)])
    state = body([go_on, op("Neg", ["a"], ["e"])], counter + [floats("a")], [value("d", TensorProto.BOOL), floats("")])
    yield "loop", model([op("Loop", ["n", "", "X"], ["Y"], body=state)], x, y, [weight("n", 3)])
    rows = body([go_on], counter, [value("d", TensorProto.BOOL), floats("")])
    for trips in (0, 3):
        yield f"rows{trips}", model([op("Loop", ["n", ""], ["Y"], body=rows)], x, y, [weight("n", trips)])
    item = body([op("Neg", ["a"], ["e"])], [floats("a")], [floats("")])
    yield "scan", model([op("Scan", ["X"], ["Y"], body=item, num_scan_inputs=1)], x, y)
    yield "map", model([op("SequenceConstruct", ["X"], ["s"]), op("SequenceMap", ["s"], ["t"], body=item),
                        op("ConcatFromSequence", ["t"], ["Y"], axis=0)], x, y)
    yield "function", model([op("F", ["X"], ["Y"], domain="d")], x, y,
                            functions=[function("F", ["a"], [""], [op("Neg", ["a"], ["e"])])])
    yield "main", model([op("Neg", ["X"], ["Y"])], x, y + [floats("")])
    yield "input", model([op("Neg", ["X"], ["Y"])], x + [floats("")], y)
    for name in ("Constant", "Conv", "MatMul", "QuantizeLinear", "DequantizeLinear", "Reshape", "Cast", "Concat",
                 "Dropout", "OneHot", "Gather"):
        extra = {"value": weight("", [1.0])} if name == "Constant" else {}
        inputs = [] if extra else ["X"] if name == "OneHot" else ["X", "X"]
        yield f"result_{name}", model([op(name, inputs, [""], **extra), op("Neg", ["X"], ["Y"])], x, y)


def typeless():
    """Tensors of no element type, or of one that nobody knows, where operators look at their elements."""
    x, y = [floats("X", [2])], [floats("Y")]
    names = ["Unsqueeze", "Reshape", "Expand", "ConstantOfShape", "SplitToSequence", "StringConcat", "StringNormalizer",
             "RegexFullMatch", "StringSplit", "Identity", "Cast", "Add", "Gather", "Tile", "Pad", "Slice", "Where",
             "Range", "TopK", "OneHot", "Resize", "Loop", "If", "MatMul", "Conv", "DequantizeLinear", "Shape",
             "SequenceConstruct", "Optional"]
    for dtype in (0, 77):
        w = TensorProto(name="w", data_type=dtype, dims=[1])
        for name in names:
            for inputs in (["X", "w"], ["w", "w"])[:1 if dtype else 2]:
                yield f"{name}_{dtype}_{inputs[0]}", model([op(name, inputs, ["Y"])], x, y, [w])
        yield f"matmul_{dtype}", model([op("FusedMatMul", ["X", "w"], ["Y"], domain="com.microsoft")], x, y, [w])
        yield f"constant_{dtype}", model([op("Constant", [], ["Y"], value=w)], [], y)
    sparse = onnx.SparseTensorProto()
    yield "sparse_empty", model([op("Constant", [], ["Y"], sparse_value=sparse)], [], y)
    sparse.dims.append(3)
    sparse.values.dims.append(1)
    sparse.indices.dims.append(1)
    yield "sparse_typeless", model([op("Constant", [], ["Y"], sparse_value=sparse)], [], y)
    sparse.values.CopyFrom(weight("", np.ones(1, np.float32)))
    yield "sparse_indices", model([op("Constant", [], ["Y"], sparse_value=sparse)], [], y)


def many_dims():
    y = [floats("Y")]
    one = weight("x", np.ones(1, np.float32))
    shape = weight("s", np.ones(5000, np.int64))
    for name, inputs in (("Reshape", ["x", "s"]), ("Expand", ["x", "s"]), ("ConstantOfShape", ["s"])):
        yield f"dims_{name}", model([op(name, inputs, ["Y"])], [], y, [one, shape])
    flat = TensorProto(name="b", data_type=1, dims=[1] * 5000, raw_data=bytes(4))
    for name in ("Shape", "Neg", "Transpose", "Flatten", "Squeeze", "ReduceSum", "Softmax", "Size", "NonZero"):
        yield f"rank_{name}", model([op(name, ["b"], ["Y"])], [], y, [flat])
    yield "rank_Reshape", model([op("Shape", ["b"], ["s"]), op("Reshape", ["x", "s"], ["Y"])], [], y, [one, flat])


def doubling(depth):
    functions = [function("f0", ["a"], ["b"], [op("Neg", ["a"], ["b"])])]
    for i in range(depth):
        functions.append(function(f"f{i + 1}", ["a"], ["c"], [op(f"f{i}", ["a"], ["b"], domain="d"),
                                                              op(f"f{i}", ["b"], ["c"], domain="d")]))
    return model([op(f"f{depth}", ["X"], ["Y"], domain="d")], [floats("X", [2])], [floats("Y", [2])],
                 functions=functions)


def chain(length):
    functions = [function("f0", ["a"], ["b"], [op("Neg", ["a"], ["b"])])]
    for i in range(length):
        functions.append(function(f"f{i + 1}", ["a"], ["b"], [op(f"f{i}", ["a"], ["b"], domain="d")]))
    return model([op(f"f{length}", ["X"], ["Y"], domain="d")], [floats("X", [2])], [floats("Y", [2])],
                 functions=functions)


def loops(depth, trips):
    nodes = [op("Neg", ["a0"], ["e0"])]
    for i in range(depth):
        inner = body(nodes + [op("Identity", [f"c{i}"], [f"d{i}"])],
                     [value(f"i{i}", TensorProto.INT64, []), value(f"c{i}", TensorProto.BOOL, []), floats(f"a{i}")],
                     [value(f"d{i}", TensorProto.BOOL, []), floats(f"e{i}")])
        nodes = [op("Loop", ["n", "", f"a{i + 1}"], [f"e{i + 1}"], body=inner, name=f"loop{i}")]
    return model(nodes, [floats(f"a{depth}", [2])], [floats(f"e{depth}", [2])], [weight("n", trips)])


def growing():
    """What is small in the file, and large or long when it is computed."""
    yield "doubling", doubling(40)
    yield "chain", chain(3000)
    yield "loops", loops(16, 2)
    yield "deep_loops", loops(24, 1000)
    text = value("a60", TensorProto.STRING, [1])
    yield "strings", model([op("StringConcat", [f"a{i}", f"a{i}"], [f"a{i + 1}"]) for i in range(60)], [], [text],
                           [helper.make_tensor("a0", TensorProto.STRING, [1], [b"x" * 40])])
    bounds = [weight("s", 0), weight("l", 10**12), weight("d", 1)]
    yield "range", model([op("Range", ["s", "l", "d"], ["r"]), op("Div", ["d", "r"], ["q"]),
                          op("ReduceSum", ["q"], ["Y"])], [], [value("Y", TensorProto.INT64)], bounds)
    x = weight("x", np.ones((1, 1, 8, 8), np.float32))
    yield "samples", model([op("RoiAlign", ["x", "r", "b"], ["Y"], sampling_ratio=1000000, output_height=70,
                               output_width=70)], [], [floats("Y")],
                           [x, weight("r", np.array([[0, 0, 8, 8]], np.float32)), weight("b", [0])])
    yield "prime", model([op("ConstantOfShape", ["s"], ["z"]), op("DFT", ["z"], ["Y"], axis=1)], [], [floats("Y")],
                         [weight("s", [1, 10000019, 1])], opset=17)
    yield from busy()
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield "einsum", model([op("Einsum", ["x"] * 26, ["Y"], equation=",".join(letters) + "->")], [], [floats("Y")],
                          [weight("x", np.ones(4, np.float32))])


def busy():
    """Work that is far more than the elements that go in and come out."""
    y = [floats("Y")]

    def on_zeros(kind, *shapes, inputs=(), weights=(), **attributes):
        sizes = [weight(f"s{i}", shape) for i, shape in enumerate(shapes)]
        fills = [op("ConstantOfShape", [f"s{i}"], [f"x{i}"]) for i in range(len(shapes))]
        names = [f"x{i}" for i in range(len(shapes))] + list(inputs)
        return model(fills + [op(kind, names, ["Y"], **attributes)], [], y, sizes + list(weights))

    for kind in ("MaxPool", "AveragePool", "LpPool"):
        yield kind, on_zeros(kind, [1, 1, 20_000_000], kernel_shape=[10_000_000])
        yield f"{kind} of a picture", on_zeros(kind, [1, 1, 4000, 5000], kernel_shape=[2000, 2500])
    yield "LRN", on_zeros("LRN", [1, 4_000_000, 1], size=8_000_000)
    yield "MaxRoiPool", on_zeros("MaxRoiPool", [1, 1, 4000, 4000], [1_000_000, 5], pooled_shape=[1, 1])
    yield "NonMaxSuppression", on_zeros("NonMaxSuppression", [1, 4_000_000, 4], [1, 1, 4_000_000], inputs=["m"],
                                        weights=[weight("m", 2**62)])
    yield "Resize", on_zeros("Resize", [1, 1, 1000, 10_000], inputs=["", "", "z"], mode="linear", antialias=1,
                             weights=[weight("z", [1, 1, 1_000_000, 1])])
    count = 1500
    yield "TreeEnsemble", on_zeros(
        "TreeEnsemble", [10_000_000, 1], domain="ai.onnx.ml", nodes_modes=weight("", np.zeros(count, np.uint8)),
        nodes_featureids=[0] * count, nodes_splits=weight("", np.ones(count, np.float32)),
        nodes_truenodeids=[*range(1, count), 0], nodes_trueleafs=[0] * (count - 1) + [1],
        nodes_falsenodeids=[0] * count, nodes_falseleafs=[1] * count, leaf_targetids=[0],
        leaf_weights=weight("", np.ones(1, np.float32)), tree_roots=[0] * count)


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def check(program, name, path, command, folder):
    words = command.replace("MODEL", str(path)).replace("OUT", str(folder / "out.onnx")).split()
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                          preexec_fn=limit, errors="replace")
    if done.returncode in (0, 1, 2, 3):
        return []
    return [f"{name}: {command}: exit {done.returncode}: {done.stderr[-300:]}"]


def main():
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        count = 0
        for family, commands in ((nameless, [*COMMANDS, ENGINE]), (typeless, [*COMMANDS[:2], ENGINE]),
                                 (many_dims, [*COMMANDS[:5], ENGINE]), (growing, [*COMMANDS, ENGINE])):
            for name, proto in family():
                path = folder / "model.onnx"
                path.write_bytes(proto.SerializeToString())
                for command in commands:
                    failures += check(sys.argv[1], name, path, command, folder)
                    count += 1
    print("\n".join(failures))
    print(f"{count} runs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
