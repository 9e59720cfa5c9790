"""The nine things that scripts for ONNX GraphSurgeon do to graphs: create, insert, delete, replace, traverse, fold, fold
shapes, isolate, register."""

from collections import OrderedDict

import numpy as np
import onnx
import onnx_graphsurgeon as gs

X = np.arange(2 * 3 * 4 * 4, dtype=np.float32).reshape(2, 3, 4, 4)


def ops(graph):
    return [node.op for node in graph.nodes]


def create():
    x = gs.Variable(name="x", dtype=np.float32, shape=["B", 3, 4, 4])
    kernel = gs.Constant(name="kernel", values=np.ones((1, 3, 3, 3), np.float32))
    made = gs.Variable(name="made", dtype=np.float32, shape=None)
    y = gs.Variable(name="y", dtype=np.float32, shape=["B", 1, 4, 4])
    first = gs.Node(name="first", op="Conv", inputs=[x, kernel], outputs=[made])
    first.attrs = OrderedDict([("kernel_shape", [3, 3]), ("pads", [1, 1, 1, 1])])
    second = gs.Node(name="second", op="Relu", inputs=[made], outputs=[y])
    graph = gs.Graph(nodes=[second, first], inputs=[x], outputs=[y], opset=13)
    onnx.save(gs.export_onnx(graph.cleanup().toposort()), "created.onnx")
    onnx.checker.check_model(onnx.load("created.onnx"))
    assert ops(graph) == ["Conv", "Relu"]


def insert():
    graph = gs.import_onnx(onnx.load("created.onnx"))
    for node in list(graph.nodes):
        if node.op == "Conv" and node.name == "first":
            tensor = gs.Variable("inserted", np.float32, None)
            graph.nodes.append(gs.Node("Identity", "new", inputs=[node.outputs[0]], outputs=[tensor]))
            after = node.o()
            after.inputs[after.inputs.index(node.outputs[0])] = tensor
    onnx.save(gs.export_onnx(graph.cleanup().toposort()), "inserted.onnx")
    assert ops(graph) == ["Conv", "Identity", "Relu"]


def delete():
    graph = gs.import_onnx(onnx.load("inserted.onnx"))
    for node in graph.nodes:
        if node.op == "Identity":
            for user in node.outputs[0].outputs:
                user.inputs[user.inputs.index(node.outputs[0])] = node.inputs[0]
            node.outputs = []
    assert ops(graph.cleanup()) == ["Conv", "Relu"]


def replace():
    graph = gs.import_onnx(onnx.load("created.onnx"))
    other = graph.copy()
    graph.nodes[1].op, graph.nodes[1].name = "Sigmoid", "other"
    node = other.nodes[1]
    new = gs.Node("Tanh", "other", inputs=node.inputs, outputs=node.outputs)
    other.nodes.append(new)
    node.inputs, node.outputs = [], []
    assert ops(graph.cleanup()) == ["Conv", "Sigmoid"] and ops(other.cleanup()) == ["Conv", "Tanh"]
    assert other.outputs[0].inputs[0].name == "other"


def traverse():
    graph = gs.import_onnx(onnx.load("created.onnx"))
    conv, relu = graph.nodes
    assert conv.attrs["pads"] == [1, 1, 1, 1] and conv.o(0).name == "second" and relu.i(0) is conv
    for hop in (lambda: conv.i(0), lambda: relu.o(0)):
        try:
            hop()
        except IndexError:
            continue
        raise AssertionError
    tensors = graph.tensors()
    assert set(tensors) == {"x", "kernel", "made", "y"} and tensors["made"].inputs[0] is conv
    assert tensors["made"].i(0).name == "x" and tensors["made"].o(0).name == "y"
    assert "Conv" in str(conv) and "made" in str(tensors["made"])


def fold():
    graph = gs.Graph(opset=13, ir_version=8)
    x = gs.Variable("x", np.float32, (2, 3, 4, 4))
    graph.inputs = [x]
    a, b = (graph.layer(op="Add", inputs=[np.full((1,), value, np.float32), np.ones((1,), np.float32)],
                        outputs=[f"sum{value}"])[0] for value in (1, 2))
    product = graph.layer(op="Mul", inputs=[a, b], outputs=["product"])[0]
    graph.outputs = graph.layer(op="Add", inputs=[x, product], outputs=["y"])
    graph.outputs[0].dtype = np.float32
    graph.nodes.reverse()
    assert ops(graph.toposort())[-1] == "Add"
    assert ops(graph.fold_constants().cleanup()) == ["Add"] and graph.nodes[0].inputs[1].values.tolist() == [6]


def fold_shapes():
    graph = gs.Graph(opset=13, ir_version=8)
    x = gs.Variable("x", np.float32, ["A", 3, "B", 5])
    graph.inputs = [x]
    shape = graph.layer(op="Shape", inputs=[x], outputs=["shape"])[0]
    count = graph.layer(op="ReduceProd", inputs=[shape], outputs=["count"], attrs={"axes": [0], "keepdims": int(True)})[0]
    graph.outputs = graph.layer(op="Reshape", inputs=[x, count], outputs=["flat"])
    graph.outputs[0].dtype = np.float32
    assert ops(graph.fold_constants().cleanup()) == ["Shape", "ReduceProd", "Reshape"]
    graph.inputs[0].shape = [2, 3, 4, 5]
    assert ops(graph.fold_constants().cleanup()) == ["Reshape"] and graph.nodes[0].inputs[1].values.tolist() == [120]


def isolate():
    graph = gs.import_onnx(onnx.load("created.onnx"))
    node = graph.nodes[1]
    graph.inputs = [node.inputs[0]]
    graph.inputs[0].dtype = np.float32
    graph.outputs = node.outputs
    assert ops(graph.cleanup()) == ["Relu"] and graph.inputs[0].name == "made"


@gs.Graph.register()
def add(self, a, b):
    return self.layer(op="Add", inputs=[a, b], outputs=["myAdd"])


@gs.Graph.register(opsets=[11])
def scaled(self, a, b):
    return self.layer(op="Mul", inputs=[a, b], outputs=["myMul"])


@gs.Graph.register(opsets=[1])
def scaled(self, a, b):  # noqa: F811
    raise AssertionError("of another opset")


@gs.Graph.register()
def replace_by_clip(self, inputs, outputs):
    for each in inputs:
        each.outputs.clear()
    for each in outputs:
        each.inputs.clear()
    return self.layer(op="Clip", inputs=inputs, outputs=outputs)


def register():
    graph = gs.Graph(opset=11)
    graph.inputs = [gs.Variable("x", np.float32, (2, 2))]
    total = graph.add(graph.inputs[0], np.ones((2, 2), np.float32))
    product = graph.scaled(*total, np.full((2, 2), 2, np.float32))
    least = graph.layer(op="Min", inputs=[*product, np.array(8, np.float32)], outputs=["myMin"])
    graph.outputs = graph.layer(op="Max", inputs=[*least, np.array(3, np.float32)], outputs=["myMax"])
    graph.outputs[0].dtype = np.float32
    names = [each.name for each in (*total, *product, *least, *graph.outputs)]
    assert names == ["myAdd_1", "myMul_4", "myMin_7", "myMax_10"], names
    tensors = graph.tensors()
    bounds = [tensors[name] for name in (names[1], graph.outputs[0].inputs[0].inputs[1].name,
                                         tensors["myMin_7"].inputs[0].inputs[1].name)]
    graph.replace_by_clip(bounds, [tensors["myMax_10"]])
    assert ops(graph.cleanup()) == ["Add", "Mul", "Clip"]
    graph.outputs[0].shape = (2, 2)
    onnx.checker.check_model(gs.export_onnx(graph))


for each in (create, insert, delete, replace, traverse, fold, fold_shapes, isolate, register):
    each()
print("done")
