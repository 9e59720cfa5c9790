"""assay.graphsurgeon gives the models that onnx_graphsurgeon gives, except where the latter is known to be wrong."""

import gc
from collections import OrderedDict

import assay.graphsurgeon as ours
import checks
import numpy as np
import onnx
import onnx_graphsurgeon as real
from assay.graphsurgeon.logger import G_LOGGER
from onnx import helper, numpy_helper

G_LOGGER.severity = G_LOGGER.CRITICAL
real.logger.G_LOGGER.severity = real.logger.G_LOGGER.CRITICAL


def facts(model):
    """What a model says, without the order of its initializers."""
    proto = onnx.ModelProto()
    proto.ParseFromString(model.SerializeToString())
    graph = proto.graph
    nodes = [(each.op_type, each.name, each.domain, list(each.input), list(each.output),
              sorted(str(a) for a in each.attribute)) for each in graph.node]
    weights = sorted((each.name, list(each.dims), each.data_type, numpy_helper.to_array(each).tobytes())
                     for each in graph.initializer)
    return {"nodes": nodes, "inputs": [str(each) for each in graph.input], "outputs": [str(e) for e in graph.output],
            "weights": weights, "values": sorted(str(each) for each in graph.value_info),
            "opset": [(each.domain, each.version) for each in proto.opset_import], "name": graph.name,
            "functions": [(each.name, each.domain, [n.op_type for n in each.node]) for each in proto.functions]}


def same(make):
    """The model that a function makes with either package is the same."""
    expected, found = facts(make(real)), facts(make(ours))
    for key, value in expected.items():
        assert found[key] == value, f"{key}: expected {value}, found {found[key]}"


def chain(gs, middle="Add"):
    tensors = [gs.Variable(f"t{i}", np.float32, ["B", 3] if i == 0 else None) for i in range(4)]
    one = gs.Constant("one", np.ones((1, 1), np.float32))
    nodes = [gs.Node("Identity", "first", inputs=[tensors[0]], outputs=[tensors[1]]),
             gs.Node(middle, "middle", inputs=[tensors[1], one], outputs=[tensors[2]]),
             gs.Node("Identity", "last", inputs=[tensors[2]], outputs=[tensors[3]])]
    tensors[3].dtype = np.float32
    return gs.Graph(nodes, [tensors[0]], [tensors[3]], ir_version=9)


def test_creating():
    def make(gs):
        x = gs.Variable(name="x", dtype=np.float32, shape=["B", 3, 8, 8])
        y, z = gs.Variable("y", np.float32, ["B", 1, 8, 8]), gs.Variable("z", np.float32)
        kernel = gs.Constant("kernel", np.ones((1, 3, 3, 3), np.float32))
        conv = gs.Node(name="conv", op="Conv", inputs=[x, kernel], outputs=[y])
        conv.attrs = OrderedDict([["dilations", [1, 1]], ["pads", [1, 1, 1, 1]], ["group", 1], ["auto_pad", "NOTSET"]])
        relu = gs.Node("LeakyRelu", "relu", {"alpha": 0.5}, [y], [z])
        graph = gs.Graph(nodes=[relu, conv], inputs=[x], outputs=[z])
        return gs.export_onnx(graph.cleanup().toposort())

    same(make)


def test_inserting_a_node():
    def make(gs):
        graph = chain(gs)
        for node in graph.nodes:
            if node.op == "Identity" and node.name == "first":
                two = gs.Constant("two", np.full((1, 1), 2, np.float32))
                between = gs.Variable("between", np.float32)
                graph.nodes.append(gs.Node("Mul", "new", inputs=[node.outputs[0], two], outputs=[between]))
                index = node.o().inputs.index(node.outputs[0])
                node.o().inputs[index] = between
        return gs.export_onnx(graph.cleanup().toposort())

    same(make)


def test_removing_a_node():
    def make(gs):
        graph = chain(gs)
        for node in graph.nodes:
            if node.op == "Add":
                index = node.o().inputs.index(node.outputs[0])
                node.o().inputs[index] = node.inputs[0]
                node.outputs = []
        return gs.export_onnx(graph.cleanup().toposort())

    same(make)


def test_replacing_a_node_both_ways():
    def rename(gs):
        graph = chain(gs).copy()
        for node in graph.nodes:
            if node.op == "Add":
                node.op, node.name = "Sub", "sub"
        return gs.export_onnx(graph.cleanup().toposort())

    def renew(gs):
        graph = chain(gs).copy()
        for node in graph.nodes:
            if node.op == "Add":
                graph.nodes.append(gs.Node("Sub", "sub", inputs=node.inputs, outputs=node.outputs))
                node.outputs = []
        return gs.export_onnx(graph.cleanup().toposort())

    same(rename)
    same(renew)


def test_walking():
    for gs in (real, ours):
        graph = chain(gs)
        first, middle, last = graph.nodes
        assert first.o() is middle and middle.i() is first and last.i() is middle
        tensors = graph.tensors()
        assert list(tensors) == ["t0", "t1", "one", "t2", "t3"]
        assert tensors["t1"].i() is tensors["t0"] and tensors["t1"].o() is tensors["t2"]
        for call in (lambda: first.i(), lambda: last.o(), lambda: middle.i(1), lambda: middle.i(5)):
            with checks.raises(IndexError):
                call()
        assert str(tensors["t0"]) == "Variable (t0): (shape=['B', 3], dtype=<class 'numpy.float32'>)"
        assert str(tensors["one"]) == "Constant (one): (shape=(1, 1), dtype=float32)"
    assert str(chain(ours).nodes[1]) == str(chain(real).nodes[1])


def test_lists_stay_alike():
    for gs in (real, ours):
        graph = chain(gs)
        first, middle, last = graph.nodes
        tensor = gs.Variable("new")
        middle.inputs.append(tensor)
        assert tensor.outputs == [middle] and middle.inputs.index(tensor) == 2
        middle.inputs.insert(0, tensor)
        assert len(tensor.outputs) == 2
        assert middle.inputs.pop(0) is tensor and len(tensor.outputs) == 1
        tensor.outputs.clear()
        assert len(middle.inputs) == 2
        middle.inputs += [tensor]
        assert tensor.outputs == [middle]
        del middle.inputs[2]
        assert tensor.outputs == []
        middle.inputs = last.inputs
        assert len(last.inputs) == 1 and middle.inputs == last.inputs
        plain = middle.inputs + [tensor]
        assert type(plain) is list and tensor.outputs == []
        graph.outputs = first.outputs
        assert type(graph.outputs) is list
    middle = chain(ours).nodes[1]
    new = [ours.Variable("a"), ours.Variable("b")]
    middle.inputs[0:1] = new
    assert [each.name for each in middle.inputs] == ["a", "b", "one"] and new[1].outputs == [middle]


def constants_in_disorder(gs):
    w = gs.Constant("w", np.full(2, 3, np.float32))
    tensors = {name: gs.Variable(name, np.float32, [2]) for name in ("x", "a", "b", "c", "y", "unused", "dead")}

    def add(name, inputs, output):
        return gs.Node("Add", name, inputs=inputs, outputs=[tensors[output]])

    nodes = [add("n3", [tensors["c"], w], "y"), add("n2", [tensors["x"], tensors["b"]], "c"),
             add("n1", [tensors["a"], w], "b"), add("n0", [w, w], "a"), add("n4", [tensors["c"], w], "dead")]
    return gs.Graph(nodes, [tensors["x"], tensors["unused"]], [tensors["y"]], ir_version=9)


def test_folding_nodes_in_disorder():
    same(lambda gs: gs.export_onnx(constants_in_disorder(gs)))
    same(lambda gs: gs.export_onnx(constants_in_disorder(gs).fold_constants().cleanup()))
    same(lambda gs: gs.export_onnx(constants_in_disorder(gs).fold_constants().cleanup().toposort()))
    same(lambda gs: gs.export_onnx(constants_in_disorder(gs).cleanup(remove_unused_graph_inputs=True).toposort()))


def shapes(gs, static):
    x = gs.Variable("x", np.float32, ["A", 3, "B", 5])
    names = ("shape", "product", "flat", "front", "back", "last", "joined", "y")
    t = {name: gs.Variable(name, np.float32 if name in ("flat", "y") else np.int64) for name in names}
    first, second = gs.Constant("i01", np.array([0, 1])), gs.Constant("i23", np.array([2, 3]))
    keep = {"axes": [0], "keepdims": int(True)}
    nodes = [gs.Node("Shape", "s", inputs=[x], outputs=[t["shape"]]),
             gs.Node("ReduceProd", "p", dict(keep), [t["shape"]], [t["product"]]),
             gs.Node("Reshape", "r", inputs=[x, t["product"]], outputs=[t["flat"]]),
             gs.Node("Gather", "g0", inputs=[t["shape"], first], outputs=[t["front"]]),
             gs.Node("Gather", "g1", inputs=[t["shape"], second], outputs=[t["back"]]),
             gs.Node("ReduceProd", "p1", dict(keep), [t["back"]], [t["last"]]),
             gs.Node("Concat", "c", {"axis": 0}, [t["front"], t["last"]], [t["joined"]]),
             gs.Node("Reshape", "r1", inputs=[x, t["joined"]], outputs=[t["y"]])]
    graph = gs.Graph(nodes, [x], [t["flat"], t["y"]], ir_version=9)
    graph.cleanup().toposort()
    if static:
        graph.inputs[0].shape = [2, 3, 4, 5]
    return gs.export_onnx(graph.fold_constants().cleanup().toposort())


def test_shapes_fold_where_they_are_known():
    same(lambda gs: shapes(gs, False))
    same(lambda gs: shapes(gs, True))


def test_isolating():
    def make(gs):
        graph = chain(gs)
        node = graph.nodes[1]
        graph.inputs, graph.outputs = [node.inputs[0]], node.outputs
        graph.inputs[0].dtype = graph.outputs[0].dtype = np.float32
        return gs.export_onnx(graph.cleanup().toposort())

    same(make)


def layered(gs, replaces):
    @gs.Graph.register()
    def layered_mul(self, a, b):
        return self.layer(op="Mul", inputs=[a, b], outputs=["myMul"])

    @gs.Graph.register()
    def layered_many(self, *args):
        return self.layer(op="Max", inputs=args, outputs=["myMax"], name=None)

    @gs.Graph.register(opsets=[13])
    def layered_relu(self, a):
        return self.layer(op="Relu", inputs=[a], outputs=["myRelu"], attrs={})

    @gs.Graph.register(opsets=[1])
    def layered_relu(self, a):  # noqa: F811
        raise NotImplementedError

    graph = gs.Graph(opset=13)
    x = gs.Variable("x", np.float32, [2, 2])
    bound = gs.Constant("bound", np.array([-3], np.float32))
    a = graph.layered_mul(x, np.ones((2, 2), np.float32))
    b = graph.layered_relu(*a)
    c = graph.layered_many(*b, bound)
    d = graph.layered_mul(*c, [1.0, 2.0])
    graph.inputs, graph.outputs = [x], [d[0]]
    graph.outputs[0].dtype = np.dtype(np.float32)
    if replaces:
        tensors = graph.tensors()
        inputs, outputs = [tensors["myMul_1"], tensors["bound"]], [tensors["myMax_5"]]
        for each in inputs:
            each.outputs.clear()
        for each in outputs:
            each.inputs.clear()
        graph.layer(op="Clip", inputs=inputs, outputs=outputs)
        graph.cleanup().toposort()
    return gs.export_onnx(graph, do_type_check=False)


def test_layers_and_their_names():
    same(lambda gs: layered(gs, False))
    same(lambda gs: layered(gs, True))
    for gs in (real, ours):
        graph = gs.Graph(opset=13)
        with checks.raises(AttributeError, "nothing_of_that_name"):
            graph.nothing_of_that_name()
        with checks.raises(gs.OnnxGraphSurgeonException):
            graph.layer(op="Add", inputs=[object()])


def functioned(gs):
    a, b, out = gs.Variable("a", np.float32), gs.Variable("b", np.float32), gs.Variable("o", np.float32, [1, 2])
    nodes = [gs.Node("LeakyRelu", "l", {"alpha": gs.Node.AttributeRef("alpha", float)}, [a], [b]),
             gs.Node("Add", "add", {}, [b, gs.Constant("k", np.ones(2, np.float32))], [out])]
    function = gs.Function("Scaled", "mine", nodes, [a], [out], opset=13, attrs={"alpha": None, "beta": 2.0})
    graph = gs.Graph(functions=[function], opset=13)
    x = gs.Variable("x", np.float32, [1, 2])
    graph.inputs, graph.outputs = [x], graph.Scaled(inputs=[x], attrs={"alpha": 0.5})
    return graph


def test_functions():
    same(lambda gs: gs.export_onnx(functioned(gs)))
    onnx.checker.check_model(ours.export_onnx(functioned(ours)))
    model = real.export_onnx(functioned(real))
    same(lambda gs: gs.export_onnx(gs.import_onnx(model)))
    assert [each.unique_id for each in ours.import_onnx(model).functions] == [("mine", "Scaled")]


def branches():
    then_branch = helper.make_graph([helper.make_node("Add", ["x", "w"], ["t"])], "then", [],
                                    [helper.make_tensor_value_info("t", 1, None)])
    two = numpy_helper.from_array(np.full(3, 2, np.float32), "two")
    else_branch = helper.make_graph([helper.make_node("Mul", ["x", "two"], ["e"])], "else", [],
                                    [helper.make_tensor_value_info("e", 1, None)], [two])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch)
    return checks.model([node], [("c", 9, []), ("x", 1, [3])], [("y", 1, [3])],
                        [numpy_helper.from_array(np.ones(3, np.float32), "w")])


def run(model, feeds):
    import onnxruntime

    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)


def test_bodies_compute_the_same_after_a_round_trip():
    model = branches()
    graph = ours.import_onnx(model)
    inner = [each.name for each in graph.subgraphs()]
    assert sorted(inner) == ["else", "then"]
    made = ours.export_onnx(graph)
    onnx.checker.check_model(made)
    x = np.arange(3, dtype=np.float32)
    for c in (True, False):
        feeds = {"c": np.array(c), "x": x}
        assert np.array_equal(run(model, feeds)[0], run(made, feeds)[0])


def test_known_conditions_are_flattened():
    for c in (True, False):
        graph = ours.import_onnx(branches())
        graph.inputs[0].to_constant(np.array(c))
        graph.inputs = graph.inputs[1:]
        graph.fold_constants().cleanup()
        assert [node.op for node in graph.nodes] == ["Add" if c else "Mul"]
        x = np.arange(3, dtype=np.float32)
        expected = run(branches(), {"c": np.array(c), "x": x})[0]
        assert np.array_equal(run(ours.export_onnx(graph), {"x": x})[0], expected)


def test_branches_that_give_outer_values_stay_whole():
    body = helper.make_graph([], "b", [], [helper.make_tensor_value_info("x", 1, [3])])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=body, else_branch=body)
    model = checks.model([node, helper.make_node("Relu", ["x"], ["z"])], [("c", 9, []), ("x", 1, [3])],
                         [("y", 1, [3]), ("z", 1, [3])])
    graph = ours.import_onnx(model)
    graph.inputs[0].to_constant(np.array(True))
    graph.inputs = graph.inputs[1:]
    made = ours.export_onnx(graph.fold_constants().cleanup())
    x = np.array([-1, 0, 2], np.float32)
    y, z = run(made, {"x": x})
    assert np.array_equal(y, x) and np.array_equal(z, np.maximum(x, 0))


def test_shape_with_bounds_folds_to_its_part():
    shape = helper.make_node("Shape", ["x"], ["y"], start=1, end=3)
    graph = ours.import_onnx(checks.model([shape], [("x", 1, [2, 3, 5, 7])], [("y", 7, [2])]))
    graph.fold_constants()
    assert graph.outputs[0].values.tolist() == [3, 5]


def test_what_is_excluded_is_not_folded():
    graph = constants_in_disorder(ours)
    asked = []
    graph.fold_constants(should_exclude_node=lambda node: asked.append(node.name) or node.name == "n1").cleanup()
    assert {"n0", "n1"} <= set(asked) and "n1" in [node.name for node in graph.nodes]
    graph = constants_in_disorder(ours).fold_constants(size_threshold=4).cleanup()
    assert len(graph.nodes) == 4
    w = ours.Constant("w", np.ones(2, np.float32))
    bad, y = ours.Variable("bad"), ours.Variable("y", np.float32)
    good = ours.Variable("good", np.float32)
    nodes = [ours.Node("NoSuchOperator", inputs=[w], outputs=[bad]), ours.Node("Relu", inputs=[w], outputs=[good]),
             ours.Node("Add", inputs=[bad, good], outputs=[y])]
    graph = ours.Graph(nodes, [], [y]).fold_constants(partitioning="recursive").cleanup()
    assert sorted(node.op for node in graph.nodes) == ["Add", "NoSuchOperator"]
    with checks.raises(Exception):
        ours.Graph(nodes[:1], [], [bad]).fold_constants(error_ok=False)


def test_opset_that_is_set_is_exported():
    graph = ours.import_onnx(checks.save_identity())
    graph.opset = 18
    assert ours.export_onnx(graph).opset_import[0].version == 18


def test_fields_of_the_model_are_kept():
    model = checks.save_identity()
    model.doc_string, model.domain, model.model_version = "about it", "org", 7
    helper.set_model_props(model, {"key": "value"})
    made = ours.export_onnx(ours.import_onnx(model))
    assert (made.doc_string, made.domain, made.model_version) == ("about it", "org", 7)
    assert made.metadata_props[0].value == "value" and made.ir_version == model.ir_version


def test_types_that_numpy_lacks():
    weight = helper.make_tensor("w", onnx.TensorProto.BFLOAT16, [2], [1.0, 2.5])
    model = checks.model([helper.make_node("Cast", ["w"], ["y"], to=1)], [], [("y", 1, [2])], [weight])
    same(lambda gs: gs.export_onnx(gs.import_onnx(model)))
    graph = ours.import_onnx(model)
    assert graph.tensors()["w"].dtype == onnx.TensorProto.BFLOAT16
    graph.tensors()["w"].values *= 2
    assert run(ours.export_onnx(graph), {})[0].tolist() == [2, 5]


def test_long_chains_and_cycles():
    def line(count):
        tensors = [ours.Variable(f"t{i}", np.float32, [1]) for i in range(count + 1)]
        nodes = [ours.Node("Relu", f"n{i}", inputs=[tensors[i]], outputs=[tensors[i + 1]]) for i in range(count)]
        return ours.Graph(nodes[::-1], [tensors[0]], [tensors[-1]])

    graph = line(5000).toposort()
    assert [node.name for node in graph.nodes] == [f"n{i}" for i in range(5000)]
    a, b = ours.Variable("a"), ours.Variable("b")
    loop = ours.Graph([ours.Node("Relu", "f", inputs=[a], outputs=[b]), ours.Node("Relu", "g", inputs=[b], outputs=[a])])
    with checks.raises(ours.OnnxGraphSurgeonException, "cycle"):
        loop.toposort()


def pattern_of(gs):
    pattern = gs.GraphPattern()
    x, one = pattern.variable(), pattern.constant("one")
    middle = pattern.add("middle", "Add", inputs=[x, one])
    pattern.set_output_tensors([pattern.add("last", "Identity", inputs=[middle])])
    return pattern


def test_patterns():
    for gs in (real, ours):
        graph = chain(gs)
        found = pattern_of(gs).match_all(graph)
        assert len(found) == 1 and found[0].get("middle").name == "middle" and found[0].get("last").name == "last"
        assert found[0].inputs[0].name == "t1" and found[0].outputs[0].name == "t3"
        assert found[0].constants["one"].name == "one"
        graph.outputs.append(graph.nodes[1].outputs[0])
        assert pattern_of(gs).match_all(graph) == []
        outer = gs.GraphPattern()
        x = outer.variable()
        first = outer.add("first", "Identity", inputs=[x])
        outer.set_output_tensors([outer.add("rest", pattern_of(gs), inputs=[first])])
        found = outer.match_all(chain(gs))
        assert len(found) == 1 and found[0].get("rest").get("last").name == "last"


def test_wrong_use_is_refused():
    with checks.raises(ours.OnnxGraphSurgeonException, "list"):
        ours.Constant("c", [1, 2])
    with checks.raises(NotImplementedError):
        ours.Tensor()
    y = ours.Variable("y")
    graph = ours.Graph([ours.Node("Relu", inputs=[ours.Variable("x", np.float32)], outputs=[y])], [], [y])
    with checks.raises(ours.OnnxGraphSurgeonException, "`y`", "type"):
        ours.export_onnx(graph)
    with checks.raises(ours.OnnxGraphSurgeonException, "sideways"):
        graph.toposort(mode="sideways")
    graph.outputs[0].dtype = np.float32
    graph.nodes[0].attrs["bad"] = object()
    with checks.raises(ours.OnnxGraphSurgeonException, "`bad`"):
        ours.export_onnx(graph)
    assert gc.isenabled()


def test_large_weights_go_from_file_to_file():
    values = np.arange(1 << 19, dtype=np.float32)
    onnx.save(checks.model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", 1, [1 << 19])], [("y", 1, [1 << 19])],
                           [numpy_helper.from_array(values, "w")]), "model.onnx")
    ours.save(ours.import_onnx("model.onnx"), "copy.onnx")
    assert np.array_equal(numpy_helper.to_array(onnx.load("copy.onnx").graph.initializer[0]), values)


def test_memory_stays_flat():
    weights = np.ones((64, 64), np.float32)
    nodes = [helper.make_node("Add", ["w", "w"], ["d"]), helper.make_node("MatMul", ["x", "d"], ["m"]),
             helper.make_node("Relu", ["m"], ["y"])]
    made = checks.model(nodes, [("x", 1, [4, 64])], [("y", 1, [4, 64])], [numpy_helper.from_array(weights, "w")])

    def edit():
        graph = ours.import_onnx(made)
        graph.fold_constants().cleanup()
        graph.outputs = graph.layer(op="Mul", inputs=[graph.outputs[0], weights], outputs=["z"])
        graph.outputs[0].dtype = np.float32
        assert graph.copy().tensors()["d"].values[0, 0] == 2
        ours.save(graph.toposort(), "made.onnx")

    checks.stays_flat(edit)


def test_a_graph_that_is_its_own_body():
    graph = ours.import_onnx(checks.save_identity())
    graph.nodes[0].attrs["body"] = graph
    for call in (graph.cleanup, graph.copy, graph.toposort, lambda: ours.export_onnx(graph)):
        with checks.raises(ours.OnnxGraphSurgeonException, "a graph is a body of itself"):
            call()


if __name__ == "__main__":
    checks.run_all(globals())
