#!/usr/bin/env python3
"""Nine edits that users know from ONNX GraphSurgeon (create, insert, delete, replace, traverse, fold, shapes, isolate,
register), as commands; the peer makes the same step by step, and ONNX Runtime gives the same: examples_test.py ASSAY
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import onnxruntime
from onnx import helper, numpy_helper

PROGRAM = sys.argv.pop(1)
OPEN = ["B", 3, 64, 64]
onnxruntime.set_default_logger_severity(4)


def variable(name, shape=None):
    return gs.Variable(name, np.float32, shape)


def ones(name, *shape):
    return gs.Constant(name, np.ones(shape, np.float32))


def in_text(name, array):
    """A weight in ONNX's text syntax."""
    dims = ",".join(map(str, array.shape))
    return f"float[{dims}] {name} = {{{','.join(map(str, array.flatten().tolist()))}}}"


def exported(graph, is_clean=True):
    return gs.export_onnx(graph.cleanup().toposort() if is_clean else graph, ir_version=8)


def chain(*nodes, weights=()):
    """Nodes (op, name) from tensor0 on, each reading the tensor before it; `weights`: second operands by name."""
    tensors = [variable(f"tensor{i}", OPEN) for i in range(len(nodes) + 1)]
    made = [gs.Node(op, name, inputs=[tensors[i], *([dict(weights)[name]] if name in dict(weights) else [])],
                    outputs=[tensors[i + 1]]) for i, (op, name) in enumerate(nodes)]
    return gs.Graph(nodes=made, inputs=[tensors[0]], outputs=[tensors[-1]])


def identity_add_identity():
    return chain(("Identity", "myIdentity0"), ("Add", "myAdd"), ("Identity", "myIdentity1"),
                 weights={"myAdd": ones("constant0", 1, 1, 1, 1)})


def meaning(model):
    """What each output is computed from, whatever the names between are; and what the graph is called outside."""
    graph = model.graph
    made = {tensor.name: (numpy_helper.to_array(tensor).dtype.name, tuple(tensor.dims),
                          numpy_helper.to_array(tensor).tobytes()) for tensor in graph.initializer}
    for node in graph.node:
        attributes = tuple(sorted((a.name, str(helper.get_attribute_value(a))) for a in node.attribute))
        for i, name in enumerate(node.output):
            made[name] = (node.op_type, attributes, i, tuple(made.get(value, value) for value in node.input))
    return {"inputs": [value.name for value in graph.input], "nodes": len(graph.node),
            "weights": len(graph.initializer),
            "outputs": [(value.name, made.get(value.name)) for value in graph.output]}


def results(model):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(5)
    feeds = {value.name: rng.standard_normal([d if isinstance(d, int) else 2 for d in value.shape]).astype(np.float32)
             for value in session.get_inputs()}
    return session.run(None, feeds)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assay(self, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def save(self, model, name="model.onnx"):
        onnx.save(model, self.folder / name)

    def loaded(self, name):
        return onnx.load(self.folder / name)

    def expect(self, name, peers, runs=True):
        ours = self.loaded(name)
        self.assertEqual(meaning(ours), meaning(peers))
        onnx.checker.check_model(ours)
        if runs:
            for a, b in zip(results(ours), results(peers), strict=True):
                np.testing.assert_array_equal(a, b)
        return ours

    def names(self, model):
        return [node.name for node in model.graph.node]

    def test_1_create(self):
        kernel, bias = ones("constant0", 1, 3, 3, 3), ones("constant1", 1)
        tensors = [variable("tensor0", OPEN), variable("tensor1", ["B", 1, 64, 64]), variable("tensor2"),
                   variable("tensor3")]
        attributes = {"dilations": [1, 1], "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
        nodes = [gs.Node("Conv", "myConv", attributes, [tensors[0], kernel], [tensors[1]]),
                 gs.Node("Add", "myAdd", inputs=[tensors[1], bias], outputs=[tensors[2]]),
                 gs.Node("Relu", "myRelu", inputs=[tensors[2]], outputs=[tensors[3]])]
        peers = exported(gs.Graph(nodes=nodes, inputs=[tensors[0]], outputs=[tensors[3]]))
        version = peers.opset_import[0].version
        (self.folder / "model.onnxtxt").write_text(f"""<ir_version: 8, opset_import: ["" : {version}]>
g (float[B,3,64,64] tensor0) => (float[] tensor3)
<{in_text("constant0", kernel.values)}, {in_text("constant1", bias.values)}> {{
  [myConv] tensor1 = Conv <dilations = [1,1], kernel_shape = [3,3], pads = [1,1,1,1], strides = [1,1]>
    (tensor0, constant0)
  [myAdd] tensor2 = Add(tensor1, constant1)
  [myRelu] tensor3 = Relu(tensor2)
}}
""")
        self.assay("surgeon", "sanitize", "model.onnxtxt", "--cleanup", "--toposort", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", peers)), self.names(peers))

    def test_2_insert(self):
        graph = chain(("Identity", "myIdentity0"), ("Identity", "myIdentity1"))
        base = exported(graph)
        self.save(base)
        np.save(self.folder / "ones.npy", np.ones((1, 1, 1, 1), np.float32))
        first = graph.nodes[0]
        added = variable("tensor3")
        graph.nodes.append(gs.Node("Add", "myAdd", inputs=[first.outputs[0], ones("constant0", 1, 1, 1, 1)],
                                   outputs=[added]))
        first.o().inputs[0] = added
        self.assay("surgeon", "insert", "model.onnx", "--inputs", "tensor1", "constant0", "--outputs", "tensor1",
                   "--constants", "constant0=ones.npy", "--op", "Add", "--name", "myAdd", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", exported(graph))), ["myIdentity0", "myAdd", "myIdentity1"])

    def test_3_delete(self):
        graph = identity_add_identity()
        self.save(exported(graph))
        node = graph.nodes[1]
        node.o().inputs[0] = node.inputs[0]
        node.outputs = []
        self.assay("surgeon", "prune", "model.onnx", "--remove-nodes", "myAdd", "-o", "pruned.onnx")
        self.assay("surgeon", "sanitize", "pruned.onnx", "--cleanup", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", exported(graph))), ["myIdentity0", "myIdentity1"])

    def test_4_replace(self):
        graph = identity_add_identity()
        self.save(exported(graph))
        graph.nodes[1].op, graph.nodes[1].name = "Sub", "mySub"
        peers = exported(graph)
        self.assay("surgeon", "insert", "model.onnx", "--inputs", "tensor1", "constant0", "--outputs", "tensor2",
                   "--op", "Sub", "--name", "mySub", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", peers)), self.names(peers))
        (self.folder / "config.yaml").write_text(
            "name: sub\nop: Sub\ninstances: [{inputs: [tensor1, constant0], outputs: [tensor2], attributes: {}}]\n")
        self.assay("plugin", "replace", "model.onnx", "-o", "replaced.onnx")
        self.expect("replaced.onnx", peers)

    def test_5_traverse(self):
        graph = identity_add_identity()
        graph.nodes[1].attrs["axis"] = 3
        self.save(exported(graph))
        layers = json.loads(self.assay("inspect", "model", "model.onnx", "--show", "layers", "attrs", "--json", "-"))
        nodes = [node | {key: [value["name"] for value in node[key]] for key in ("inputs", "outputs")}
                 for node in layers["nodes"]]
        made = {name: node for node in nodes for name in node["outputs"]}
        for ours, theirs in zip(nodes, graph.nodes, strict=True):
            self.assertEqual((ours["name"], ours["op"]), (theirs.name, theirs.op))
            self.assertEqual({a["name"]: a["value"] for a in ours.get("attributes", [])}, theirs.attrs)
            self.assertEqual(ours["inputs"], [tensor.name for tensor in theirs.inputs])
            self.assertEqual(ours["outputs"], [tensor.name for tensor in theirs.outputs])
            fathers = [made[name]["name"] for name in ours["inputs"] if name in made]
            sons = [node["name"] for node in nodes if set(node["inputs"]) & set(ours["outputs"])]
            self.assertEqual(fathers, [producer.name for tensor in theirs.inputs for producer in tensor.inputs])
            self.assertEqual(sons, [user.name for tensor in theirs.outputs for user in tensor.outputs])
        shapes = {value["name"]: value["shape"] for node in layers["nodes"] for value in node["inputs"]}
        self.assertEqual(shapes["tensor1"], OPEN)

    def test_6_fold(self):
        tensors = [variable(f"tensor{i}", OPEN) for i in range(4)] + [variable(f"tensor{i}") for i in range(4, 9)]
        weight = ones("w", 1, 1, 1, 1)
        edges = [("myAdd0", weight, 7), ("myAdd1", tensors[7], 8), ("myAdd2", tensors[0], 1), ("myAdd3", tensors[1], 2),
                 ("myAdd4", tensors[5], 6)]
        nodes = [gs.Node("Add", name, inputs=[a, tensors[8] if name == "myAdd2" else weight], outputs=[tensors[b]])
                 for name, a, b in edges]
        graph = gs.Graph(nodes=nodes[::-1], inputs=[tensors[0], tensors[3]], outputs=[tensors[2], tensors[4]],
                         ir_version=8)
        self.save(exported(graph, is_clean=False))
        graph.fold_constants().cleanup().toposort()
        graph.inputs, graph.outputs = [tensors[0]], [tensors[2]]
        self.assay("surgeon", "extract", "model.onnx", "--inputs", "tensor0", "--outputs", "tensor2", "-o", "cut.onnx")
        self.assay("surgeon", "sanitize", "cut.onnx", "--fold-constants", "--cleanup", "--toposort", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", exported(graph))), ["myAdd2", "myAdd3"])

    def test_7_shapes(self):
        image = variable("tensor0", ["A", 3, "B", 5])
        t = [image, *(gs.Variable(f"tensor{i}", np.float32 if i in (3, 8) else np.int64) for i in range(1, 9))]
        ranges = [gs.Constant(f"constant{i}", np.array(pair, np.int32)) for i, pair in enumerate(([0, 1], [2, 3]))]
        product = {"axes": [0], "keepdims": 1}
        nodes = [gs.Node("Shape", "myShape", inputs=[image], outputs=[t[1]]),
                 gs.Node("ReduceProd", "myReduceProd0", product, [t[1]], [t[2]]),
                 gs.Node("Reshape", "myReshape0", inputs=[image, t[2]], outputs=[t[3]]),
                 gs.Node("Gather", "myGather0", inputs=[t[1], ranges[0]], outputs=[t[4]]),
                 gs.Node("Gather", "myGather1", inputs=[t[1], ranges[1]], outputs=[t[5]]),
                 gs.Node("ReduceProd", "myReduceProd1", product, [t[5]], [t[6]]),
                 gs.Node("Concat", "myConcat", {"axis": 0}, [t[4], t[6]], [t[7]]),
                 gs.Node("Reshape", "myReshape1", inputs=[image, t[7]], outputs=[t[8]])]
        graph = gs.Graph(nodes=nodes, inputs=[image], outputs=[t[3], t[8]], ir_version=8)
        self.save(exported(graph))
        graph.inputs[0].shape = [2, 3, 4, 5]
        graph.fold_constants()
        self.assay("surgeon", "sanitize", "model.onnx", "--fold-constants", "--cleanup", "--override-input-shapes",
                   "tensor0:[2,3,4,5]", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", exported(graph))), ["myReshape0", "myReshape1"])

    def test_8_isolate(self):
        graph = identity_add_identity()
        self.save(exported(graph))
        graph.inputs, graph.outputs = [graph.nodes[1].inputs[0]], list(graph.nodes[1].outputs)
        self.assay("surgeon", "extract", "model.onnx", "--inputs", "tensor1", "--outputs", "tensor2", "-o", "ours.onnx")
        self.assertEqual(self.names(self.expect("ours.onnx", exported(graph))), ["myAdd"])

    def test_9_register(self):
        """Operators of one's own, as functions of the model that are written out; then a part becomes one node."""
        square = (64, 64)
        weights = [gs.Constant(f"tensor{i}", np.full(shape, value, np.float32))
                   for i, (shape, value) in enumerate(((square, 1), (square, 0.5), (square, 1), (1, 3), (1, -3)), 1)]
        graph = gs.Graph(opset=11)
        value = variable("tensor0", [64, 64])
        graph.inputs = [value]
        value, = graph.layer(op="Gemm", inputs=[weights[0], value], outputs=["myGgemm"],
                             attrs={"transA": 0, "transB": 1})
        steps = [("Add", weights[1], "myAdd"), ("Relu", None, "myReLU"), ("Mul", weights[2], "myMul"),
                 ("Min", weights[3], "myMin"), ("Max", weights[4], "myMax")]
        for op, weight, name in steps:
            value, = graph.layer(op=op, inputs=[value, weight] if weight else [value], outputs=[name])
        graph.outputs = [value]
        value.dtype = np.dtype(np.float32)
        texts = ", ".join(in_text(weight.name, weight.values) for weight in weights)
        (self.folder / "model.onnxtxt").write_text(f"""<ir_version: 8, opset_import: ["" : 11, "own" : 1]>
g (float[64,64] tensor0) => (float[] myMax_10) <{texts}> {{
  product = own.gemm <transB = 1> (tensor1, tensor0)
  sum = own.add_relu (product, tensor2)
  myMul_6 = Mul(sum, tensor3)
  low = Min(myMul_6, tensor4)
  myMax_10 = Max(low, tensor5)
}}
<domain: "own", opset_import: ["" : 11]>
gemm <transB> (a, b) => (c) {{ c = Gemm <transA = 0, transB: int = @transB> (a, b) }}
<domain: "own", opset_import: ["" : 11]>
add_relu (a, b) => (c) {{
  sum = Add(a, b)
  c = Relu(sum)
}}
""")
        self.assay("surgeon", "sanitize", "model.onnxtxt", "--passes", "inline-functions", "-o", "ours.onnx")
        self.assertFalse(self.expect("ours.onnx", exported(graph)).functions)
        ends = [graph.tensors()[name] for name in ("myMul_6", "tensor5", "tensor4", "myMax_10")]
        for tensor in ends[:3]:
            tensor.outputs.clear()
        ends[3].inputs.clear()
        graph.layer(op="Clip", inputs=ends[:3], outputs=ends[3:])
        self.assay("surgeon", "insert", "ours.onnx", "--inputs", "myMul_6", "tensor5", "tensor4", "--outputs",
                   "myMax_10", "--op", "Clip", "--shape-inference", "-o", "clip.onnx")
        self.expect("clip.onnx", exported(graph), runs=False)  # Clip takes scalars only


if __name__ == "__main__":
    unittest.main()
