"""What the model layer writes, read by the packages onnx and onnxruntime: untouched models keep their bytes, edits are
those that the package itself would make, external data is found again."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TOOL = os.path.join(os.environ["ASSAY_BIN_DIR"], "model_tool")
UNKNOWN = bytes([0xC2, 0x3E, 0x04]) + b"kept"  # field 1000, length-delimited
passed = failed = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("failed:", what() if callable(what) else what)


def tool(*words, status=0):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, errors="replace")
    check(done.returncode == status, f"{words}: exit {done.returncode}, {done.stderr.strip()}")
    return done.stdout


class Folder:
    def __init__(self):
        self.holder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.holder.name, name)

    def put(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def get(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def info(name, dtype=TensorProto.FLOAT, dims=(2, 3)):
    return helper.make_tensor_value_info(name, dtype, dims)


def model_of(graph, **kwargs):
    opsets = kwargs.pop("opset_imports", [helper.make_opsetid("", 17)])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **kwargs)


def runnable_model():
    """Relu, Add, If with a body that captures, a local function, Concat with an attribute at the end."""
    then_branch = helper.make_graph([helper.make_node("Mul", ["A", "W"], ["T"], name="mul")], "then", [], [info("T")])
    else_branch = helper.make_graph([helper.make_node("Sub", ["A", "W"], ["E"], name="sub")], "else", [], [info("E")])
    nodes = [
        helper.make_node("Relu", ["X"], ["R"], name="relu", doc_string="first"),
        helper.make_node("Add", ["R", "W"], ["A"], name="add"),
        helper.make_node("If", ["C"], ["I"], name="if", then_branch=then_branch, else_branch=else_branch),
        helper.make_node("Twice", ["I"], ["F"], name="call", domain="local"),
        helper.make_node("Softmax", ["F"], ["Y"], name="softmax", axis=1),
    ]
    function = helper.make_function("local", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"], name="twice")],
                                    [helper.make_opsetid("", 17)])
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "W")
    values = [info("R", dims=("M", 3)), info("A")]
    graph = helper.make_graph(nodes, "g", [info("X"), info("C", TensorProto.BOOL, ())], [info("Y")], [weight],
                              doc_string="graph doc", value_info=values)
    graph.value_info[0].doc_string = "described"
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = model_of(graph, functions=[function], opset_imports=opsets, producer_name="test", doc_string="doc")
    helper.set_model_props(model, {"key": "value"})
    onnx.checker.check_model(model, full_check=True)
    return model


def all_dtypes_model():
    rng = np.random.default_rng(1)
    initializers = []
    for dtype in sorted(TensorProto.DataType.values()):
        if dtype == TensorProto.UNDEFINED:
            continue
        if dtype == TensorProto.STRING:
            initializers.append(helper.make_tensor("string", dtype, [2], [b"a", b"\xff\x00"]))
            continue
        name = TensorProto.DataType.Name(dtype).lower()
        values = rng.integers(0, 2, 5).tolist()
        typed = helper.make_tensor(f"typed_{name}", dtype, [5], values)
        array = numpy_helper.to_array(typed)
        raw = numpy_helper.from_array(array, f"raw_{name}")
        check(raw.data_type == dtype, f"from_array gives {raw.data_type} for {name}")
        initializers += [typed, raw]
    graph = helper.make_graph([helper.make_node("Identity", ["X"], ["Y"])], "dtypes", [info("X")], [info("Y")], initializers)
    return model_of(graph)


def attributes_model():
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    sparse = helper.make_sparse_tensor(tensor, helper.make_tensor("i", TensorProto.INT64, [1], [2]), [4])
    graph = helper.make_graph([helper.make_node("Relu", ["X"], ["B"], name="inner")], "body", [], [info("B")])
    node = helper.make_node("Op", ["X", "", "X"], ["", "Y"], name="op", domain="custom")
    kinds = {"f": 1.5, "i": -3, "s": b"\xff bytes", "fs": [1.0, 2.0], "is": [1, -2], "ss": [b"a", b"b"], "t": tensor,
             "g": graph, "ts": [tensor, tensor], "gs": [graph, graph], "sp": sparse, "sps": [sparse],
             "tp": helper.make_tensor_type_proto(1, ["N", None]), "tps": [helper.make_tensor_type_proto(1, None)]}
    for name, value in kinds.items():
        node.attribute.append(helper.make_attribute(name, value, doc_string="about " + name))
    empty = node.attribute.add(name="empty")
    empty.type = onnx.AttributeProto.INTS
    reference = node.attribute.add(name="reference", ref_attr_name="outer")
    reference.type = onnx.AttributeProto.INT
    graph = helper.make_graph([node], "attributes", [info("X")], [info("Y")])
    return model_of(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)])


def everything_model():
    """Sparse initializers, types of every kind, training, quantization annotations, metadata at every level."""
    sparse = helper.make_sparse_tensor(helper.make_tensor("S", 1, [1], [1.0]), helper.make_tensor("i", 7, [1], [2]), [4])
    tensor = helper.make_tensor_type_proto(1, ["N", 3, None])
    types = {"seq": helper.make_sequence_type_proto(tensor), "opt": helper.make_optional_type_proto(tensor),
             "map": helper.make_map_type_proto(TensorProto.STRING, tensor), "st": helper.make_sparse_tensor_type_proto(1, [2]),
             "nested": helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor))}
    inputs = [info("X")] + [helper.make_value_info(name, kind, doc_string="doc") for name, kind in types.items()]
    node = helper.make_node("Relu", ["X"], ["Y"], name="relu")
    helper.set_metadata_props(node, {"k": "v"})
    graph = helper.make_graph([node], "everything", inputs, [info("Y")], [helper.make_tensor("X", 1, [2, 3], [0.0] * 6)],
                              sparse_initializer=[sparse])
    helper.set_metadata_props(graph, {"k": "v"})
    annotation = graph.quantization_annotation.add(tensor_name="X")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="Y")
    graph.input[0].type.denotation = "IMAGE"
    graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    model = model_of(graph, domain="d", model_version=7)
    model.training_info.add().algorithm.CopyFrom(helper.make_graph([node], "algorithm", [], []))
    return model


def damaged_model():
    nodes = [helper.make_node("Relu", ["U"], ["A"]), helper.make_node("Relu", ["B"], ["A"]),
             helper.make_node("Rellu", ["A"], ["B"], domain="x")]
    return model_of(helper.make_graph(nodes, "damaged", [info("X")], [info("none")]))


def with_unknown_fields(model):
    """A copy with a field that no onnx has at every level; the package keeps unknown fields it parsed."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)

    def mark(message):
        message.MergeFromString(UNKNOWN)

    for message in [copy, copy.graph, *copy.graph.node, *copy.graph.initializer, *copy.graph.input, *copy.graph.value_info,
                    *copy.functions, *copy.opset_import, *[i.type for i in copy.graph.input]]:
        mark(message)
    for node in copy.graph.node:
        for attribute in node.attribute:
            mark(attribute)
    return copy


MODELS = {"runnable": runnable_model, "dtypes": all_dtypes_model, "attributes": attributes_model,
          "everything": everything_model, "damaged": damaged_model}


def check_roundtrips():
    folder = Folder()
    for name, make in MODELS.items():
        for model in (make(), with_unknown_fields(make())):
            content = model.SerializeToString()
            tool("roundtrip", folder.put("in.onnx", content), folder.path("out.onnx"))
            check(folder.get("out.onnx") == content, f"{name}: bytes differ")


def check_tensor_values():
    folder = Folder()
    model = all_dtypes_model()
    lines = tool("tensors", folder.put("m.onnx", model.SerializeToString())).splitlines()
    check(len(lines) == len(model.graph.initializer), "number of tensors")
    seen = {line.split("\t")[0]: line.split("\t")[3] for line in lines if not line.startswith("string")}
    for name in [name for name in seen if name.startswith("typed_")]:
        raw = "raw_" + name[len("typed_"):]
        check(seen[name] == seen[raw], f"{name}: {seen[name]}, raw data {seen[raw]}")
        proto = next(t for t in model.graph.initializer if t.name == raw)
        check(seen[raw] == proto.raw_data.hex(), f"{raw}: {seen[raw]}")


def rename_in(graph, old, new):
    """Renames a value in a graph and all its bodies, as its uses say."""
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                rename_in(body, old, new)
    for item in [*graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        if item.name == old:
            item.name = new


def edit_add_node(model):
    rename_in(model.graph, "R", "inserted_out")
    model.graph.node[0].output[0] = "R"
    next(item for item in model.graph.value_info if item.name == "inserted_out").name = "R"
    model.graph.node.insert(1, helper.make_node("Identity", ["R"], ["inserted_out"], name="inserted"))


def edit_erase_last(model):
    del model.graph.node[-1]
    # The output is the value before it now.
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="F"))


def edit_retype(model):
    model.graph.value_info[0].type.CopyFrom(helper.make_tensor_type_proto(1, ["N", None]))


def edit_set_tensor(model):
    model.graph.initializer[0].raw_data = np.ones((2, 3), np.float32).tobytes()


def edit_header(model):
    model.producer_name, model.model_version = "changed", 9
    model.metadata_props.add(key="added", value="value")


def edit_output(model):
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="R"))
    model.graph.output[0].type.CopyFrom(model.graph.value_info[0].type)


def set_name(message, name):
    message.name = name


EDITS = {
    "rename-first-node": lambda m: set_name(m.graph.node[0], "renamed"),
    "rename-value": lambda m: rename_in(m.graph, "R", "renamed"),
    "rename-input": lambda m: rename_in(m.graph, "X", "renamed"),
    "rename-initializer": lambda m: rename_in(m.graph, "W", "renamed"),
    "change-op": lambda m: setattr(m.graph.node[0], "op_type", "Abs"),
    "add-node": edit_add_node,
    "change-attribute": lambda m: setattr(m.graph.node[-1].attribute[0], "i", 0),
    "remove-attribute": lambda m: m.graph.node[-1].attribute.pop(),
    "erase-last-node": edit_erase_last,
    "retype-value": edit_retype,
    "set-tensor": edit_set_tensor,
    "add-initializer": lambda m: m.graph.initializer.append(numpy_helper.from_array(np.array([1, 2, 3], np.float32), "added")),
    "edit-in-body": lambda m: set_name(m.graph.node[2].attribute[0].g.node[0], "renamed"),
    "edit-in-function": lambda m: set_name(m.functions[0].node[0], "renamed"),
    "change-header": edit_header,
    "change-output": edit_output,
}


def canonical(model):
    """Without what may be written in two ways: the form of a changed tensor."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.float_data:
            name, array = tensor.name, numpy_helper.to_array(tensor)
            tensor.CopyFrom(numpy_helper.from_array(array, name))
    return copy


def difference(seen, expected):
    lines = zip(str(canonical(seen)).splitlines(), str(canonical(expected)).splitlines())
    return next((f"{ours.strip()}, expected {theirs.strip()}" for ours, theirs in lines if ours != theirs), "other length")


def parts(model):
    graph = model.graph
    lists = [graph.node, graph.initializer, graph.input, graph.output, graph.value_info, model.functions,
             model.opset_import, model.metadata_props]
    return [item.SerializeToString() for items in lists for item in items]


def run(model, path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    data = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    feeds = {item.name: data for item in session.get_inputs() if item.type != "tensor(bool)"}
    return [session.run(None, feeds | {"C": np.array(value)}) for value in (True, False)]


def check_edit(folder, name, apply, original, runs):
    expected = onnx.ModelProto()
    expected.CopyFrom(original)
    apply(expected)
    source = folder.put("in.onnx", original.SerializeToString())
    tool("edit", name, source, folder.path("out.onnx"))
    seen = onnx.load(folder.path("out.onnx"))
    if name == "erase-last-node" or name == "change-output":
        seen.graph.output[0].ClearField("type")
        expected.graph.output[0].ClearField("type")
        runs = False
    check(canonical(seen) == canonical(expected), lambda: f"{name}: {difference(seen, expected)}")
    wanted, found = parts(expected), set(parts(seen))
    untouched = [item for item in parts(original) if item in wanted]
    content = folder.get("out.onnx")
    check(all(item in found and item in content for item in untouched), f"{name}: an untouched part changed")
    if not runs:
        return
    onnx.checker.check_model(folder.path("out.onnx"), full_check=True)
    ours = run(seen, folder.path("out.onnx"))
    theirs = run(expected, folder.put("expected.onnx", expected.SerializeToString()))
    equal = all(np.array_equal(a, b) for x, y in zip(ours, theirs) for a, b in zip(x, y))
    check(equal, f"{name}: onnxruntime gives other outputs")


def check_edits():
    folder = Folder()
    original = runnable_model()
    for name, apply in EDITS.items():
        check_edit(folder, name, apply, original, runs=True)
        check_edit(folder, name, apply, with_unknown_fields(original), runs=False)


def check_unknown_fields_survive():
    folder = Folder()
    source = folder.put("in.onnx", with_unknown_fields(runnable_model()).SerializeToString())
    whole = folder.get("in.onnx").count(UNKNOWN)
    lost = {"erase-last-node": 2, "remove-attribute": 1}
    for name in EDITS:
        if name == "retype-value":
            continue
        tool("edit", name, source, folder.path("out.onnx"))
        count = folder.get("out.onnx").count(UNKNOWN)
        check(count == whole - lost.get(name, 0), f"{name}: {count} of {whole} unknown fields are left")


def external_ranges(model):
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            yield tensor, entries["location"], int(entries["offset"]), int(entries["length"])


def big_model():
    rng = np.random.default_rng(2)
    arrays = {f"w{i}": rng.standard_normal(size).astype(np.float32) for i, size in enumerate([3, 5000, 256, 257, 100000])}
    graph = helper.make_graph([helper.make_node("Identity", ["X"], ["Y"])], "big", [info("X")], [info("Y")],
                              [numpy_helper.from_array(array, name) for name, array in arrays.items()])
    return model_of(graph), arrays


def check_external(words, file_count):
    folder = Folder()
    model, arrays = big_model()
    source = folder.put("in.onnx", model.SerializeToString())
    tool("save-external", source, folder.path("out.onnx"), "weights.bin", 1024, *words)
    ranges = list(external_ranges(onnx.load(folder.path("out.onnx"), load_external_data=False)))
    check({tensor.name for tensor, *_ in ranges} == {"w1", "w3", "w4"}, "tensors of at most 1024 bytes stay inside")
    check(all(offset % 4096 == 0 for _, _, offset, _ in ranges), "alignment")
    check(len({location for _, location, _, _ in ranges}) == file_count, "number of files")
    loaded = onnx.load(folder.path("out.onnx"))
    for tensor in loaded.graph.initializer:
        check(np.array_equal(numpy_helper.to_array(tensor), arrays[tensor.name]), f"{tensor.name} differs")
    onnx.checker.check_model(folder.path("out.onnx"))
    tool("roundtrip", folder.path("out.onnx"), folder.path("again.onnx"))
    check(folder.get("again.onnx") == folder.get("out.onnx"), "a model with external data keeps its bytes")


def check_reads_external_of_onnx():
    folder = Folder()
    model, arrays = big_model()
    onnx.save_model(model, folder.path("in.onnx"), save_as_external_data=True, location="w.data", size_threshold=1024)
    lines = tool("tensors", folder.path("in.onnx")).splitlines()
    for line in lines:
        name, _, _, data = line.split("\t")
        check(data == arrays[name].tobytes().hex(), f"{name} differs")
    other = Folder()
    tool("roundtrip", folder.path("in.onnx"), other.path("out.onnx"))
    for tensor in onnx.load(other.path("out.onnx")).graph.initializer:
        check(np.array_equal(numpy_helper.to_array(tensor), arrays[tensor.name]), f"{tensor.name} did not go along")


def check_findings():
    folder = Folder()
    seen = tool("findings", folder.put("m.onnx", damaged_model().SerializeToString())).split()
    for code in ("duplicate_name", "undefined_name", "unknown_domain", "no_opset_import"):
        check(code in seen, f"{code} is not among {seen}")
    check(not tool("findings", folder.put("m.onnx", runnable_model().SerializeToString())), "findings of a sound model")


def main():
    check_roundtrips()
    check_tensor_values()
    check_edits()
    check_unknown_fields_survive()
    check_external([], 1)
    check_external(["each"], 3)
    check_reads_external_of_onnx()
    check_findings()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
