#!/usr/bin/env python3
"""`plugin` beside Polygraphy's, on models of the structure of its own tests:
plugin_test.py ASSAY
"""

import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnx
import yaml
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper
from peer import run_polygraphy

PROGRAM = os.path.abspath(sys.argv.pop(1))

SCRIPT = '''
import onnx_graphsurgeon as gs

def get_matching_subgraphs(graph):
    pattern = gs.GraphPattern()
    x, z = pattern.variable(), pattern.variable()
    a = pattern.add("A", "A", inputs=[x])
    b = pattern.add("B", "B", inputs=[a])
    c = pattern.add("C", "C", inputs=[b, z])
    outputs = pattern.add("E", "E", inputs=[c], num_output_tensors=2)
    pattern.set_output_tensors(outputs)
    return [{"inputs": [t.name for t in m.inputs], "outputs": [t.name for t in m.outputs],
             "attributes": {"ToyX": 2, "scale": 0.5, "names": ["no", "1"]}} for m in pattern.match_all(graph)]

def get_plugin_metadata():
    return {"name": "toyPlugin", "op": "CustomToyPlugin"}
'''

# What a script does in its own way: two nodes for each subgraph, with a weight and a new name.
OWN = SCRIPT + '''
import numpy

@gs.Graph.register()
def two_nodes(self, inputs, outputs, op, attrs):
    for tensor in inputs:
        for node in list(tensor.outputs):
            if node.op in "ABCE":
                tensor.outputs.remove(node)
    for tensor in outputs:
        tensor.inputs.clear()
    weight = gs.Constant("own_weight", numpy.arange(512, dtype=numpy.float32))
    sums = self.layer(op=op, inputs=[*inputs, weight], outputs=["own"], attrs=attrs, name="own_node")
    return self.layer(op="Split", inputs=sums, outputs=outputs, attrs={"axis": 0})

def replace_with_plugin(graph, input_tensors, output_tensors, attrs, op):
    result = graph.two_nodes(input_tensors, output_tensors, op, attrs)
    graph.cleanup().toposort()
    return result[0].inputs[0]
'''

PATTERN = '''
name: toyPlugin
op: CustomToyPlugin
inputs: [x, z]
outputs: [e1, e2]
nodes:
  - {op: A, inputs: [x], outputs: [a]}
  - {op: B, inputs: [a], outputs: [b]}
  - {op: C, inputs: [b, z], outputs: [c]}
  - {op: E, inputs: [c], outputs: [e1, e2]}
attributes: {ToyX: 2, scale: 0.5, names: ["no", "1"]}
'''


def tensor(name, shape=(4,)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model_of(nodes, inputs, outputs):
    nodes = [helper.make_node(op, i, o, f"n{at}", **attributes) for at, (op, i, o, attributes) in enumerate(nodes)]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model.metadata_props.add(key="kept", value="yes")
    return model


def toy():
    return model_of([("O", ["i1"], ["x1"], {}), ("A", ["x1"], ["ya"], {}), ("B", ["ya"], ["yb"], {}),
                     ("C", ["yb", "i2"], ["yc"], {}), ("E", ["yc"], ["e1", "e2"], {})],
                    [tensor("i1"), tensor("i2")], [tensor("e1"), tensor("e2")])


def nodes_of(path):
    return [(node.op_type, node.name, list(node.input), list(node.output),
             {a.name: helper.get_attribute_value(a) for a in node.attribute}) for node in onnx.load(path).graph.node]


class Plugins(InFolder):
    def plugins(self, folder, file, text):
        path = self.path / folder / "toyPlugin"
        path.mkdir(parents=True)
        (path / file).write_text(text)
        return self.path / folder

    def test_scripts_of_the_peer_and_patterns_of_ours_match_the_same(self):
        model = self.save(toy())
        scripts = self.plugins("scripts", "pattern.py", SCRIPT)
        patterns = self.plugins("patterns", "pattern.yaml", PATTERN)
        run_polygraphy("plugin", "match", model, "--plugin-dir", scripts, "-o", self.path / "peer.yaml")
        run(PROGRAM, "plugin", "match", model, "--plugin-dir", scripts, "--python", sys.executable, "-o",
            self.path / "script.yaml")
        run(PROGRAM, "plugin", "match", model, "--plugin-dir", patterns, "-o", self.path / "pattern.yaml")
        peer, script, pattern = (list(yaml.safe_load_all((self.path / f"{name}.yaml").read_text()))
                                 for name in ("peer", "script", "pattern"))
        self.assertEqual(len(peer[0]["instances"]), 1)
        self.assertEqual(peer, script)
        self.assertEqual(peer, pattern)
        for folder in (scripts, patterns):
            out = run(PROGRAM, "plugin", "list", model, "--plugin-dir", folder, "--python", sys.executable)
            self.assertIn("{'toyPlugin': 1}", out)

    def test_configs_of_each_are_read_by_the_other(self):
        model = self.save(toy())
        scripts = self.plugins("scripts", "pattern.py", SCRIPT)
        patterns = self.plugins("patterns", "pattern.yaml", PATTERN)
        run_polygraphy("plugin", "match", model, "--plugin-dir", scripts, "-o", self.path / "peer.yaml")
        run(PROGRAM, "plugin", "match", model, "--plugin-dir", patterns, "-o", self.path / "ours.yaml")
        run_polygraphy("plugin", "replace", model, "--plugin-dir", scripts, "--config", self.path / "ours.yaml", "-o",
            self.path / "peer.onnx")
        run(PROGRAM, "plugin", "replace", model, "--config", self.path / "peer.yaml", "-o", self.path / "ours.onnx")
        self.assertEqual(nodes_of(self.path / "peer.onnx"), nodes_of(self.path / "ours.onnx"))
        self.assertEqual([node[0] for node in nodes_of(self.path / "ours.onnx")], ["O", "CustomToyPlugin"])
        self.assertEqual(onnx.load(self.path / "ours.onnx").metadata_props[0].value, "yes")


    def replace_in_both(self, model, scripts, *words, status=0):
        """Our words, and the models that both make."""
        run_polygraphy("plugin", "match", model, "--plugin-dir", scripts, "-o", self.path / "c.yaml")
        options = ["--plugin-dir", scripts, "--config", self.path / "c.yaml", "-o"]
        run_polygraphy("plugin", "replace", model, *options, self.path / "peer.onnx")
        out = run(PROGRAM, "plugin", "replace", model, *options, self.path / "ours.onnx", "--python", sys.executable,
                  *words, status=status)
        return out, onnx.load(self.path / "peer.onnx"), onnx.load(self.path / "ours.onnx")

    def test_a_script_replaces_in_its_own_way(self):
        model = toy()
        model.graph.node[0].doc_string = "the first"
        model.graph.quantization_annotation.add(tensor_name="x1")
        model.graph.input.append(tensor("d"))
        model.graph.initializer.append(helper.make_tensor("d", TensorProto.FLOAT, [4], [1, 2, 3, 4]))
        model.graph.node.append(helper.make_node("Neg", ["d"], ["negated"]))
        model.graph.output.append(tensor("negated"))
        out, peer, ours = self.replace_in_both(self.save(model), self.plugins("own", "pattern.py", OWN))
        self.assertIn("replaced 1 instances of toyPlugin plugin", out)
        self.assertEqual(sorted(nodes_of(self.path / "peer.onnx")), sorted(nodes_of(self.path / "ours.onnx")))
        self.assertEqual([node.op_type for node in ours.graph.node if node.op_type != "Neg"],
                         ["O", "CustomToyPlugin", "Split"])
        weights = [{w.name: numpy_helper.to_array(w).tolist() for w in m.graph.initializer} for m in (peer, ours)]
        self.assertEqual(weights[0], weights[1])
        # What the peer loses stays.
        self.assertEqual(ours.metadata_props[0].value, "yes")
        self.assertEqual([v.name for v in ours.graph.input], ["i1", "i2", "d"])
        self.assertEqual([note.tensor_name for note in ours.graph.quantization_annotation], ["x1"])
        self.assertEqual([node.doc_string for node in ours.graph.node if node.op_type == "O"], ["the first"])
        self.assertEqual([v.name for v in ours.graph.output], ["e1", "e2", "negated"])

    def test_weights_in_a_file_of_their_own(self):
        """Read, changed to something small, or left there."""
        model = toy()
        weights = {name: np.arange(4096, dtype=np.float32) for name in ("left", "read", "changed")}
        model.graph.node[0].input.extend(weights)
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
        (self.path / "in").mkdir()
        onnx.save(model, self.path / "in/m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
        reading = OWN.replace("    result = ", """
    weights = graph.tensors()
    assert float(weights["read"].values.sum()) == 8386560.0
    weights["changed"].values = weights["changed"].values[:2] * 2
    result = """)
        _, peer, ours = self.replace_in_both(self.path / "in/m.onnx", self.plugins("own", "pattern.py", reading),
                                             "--save-external-data", "ours.bin")
        self.assertTrue((self.path / "ours.bin").exists())
        made = [{w.name: numpy_helper.to_array(w).tolist() for w in model.graph.initializer} for model in (peer, ours)]
        self.assertEqual(made[0], made[1])
        self.assertEqual(sorted(made[1]), ["changed", "left", "own_weight", "read"])
        self.assertEqual(made[1]["left"], weights["left"].tolist())
        self.assertEqual(made[1]["changed"], [0.0, 2.0])

    def test_plugins_of_all_kinds_in_one_config(self):
        """In the order of the config: one script without a function, one that is not there, one that says no."""
        model = self.save(toy())
        scripts = self.plugins("mixed", "pattern.py", SCRIPT + "# replace_with_plugin is not defined\n")
        refuser = scripts / "refuser"
        refuser.mkdir()
        (refuser / "pattern.py").write_text("def replace_with_plugin(**given): return None\n")
        config = "".join(f"---\nname: {name}\nop: {op}\ninstances:\n"
                         f"- {{inputs: [{i}], outputs: [{o}], attributes: {{}}}}\n"
                         for name, op, i, o in (("absent", "Absent", "i1", "x1"), ("refuser", "No", "ya", "yb"),
                                                ("toyPlugin", "Toy", "'x1', 'i2'", "'e1', 'e2'")))
        (self.path / "c.yaml").write_text(config)
        words = ["--plugin-dir", scripts, "--config", self.path / "c.yaml", "-o"]
        run_polygraphy("plugin", "replace", model, *words, self.path / "peer.onnx")
        done = subprocess.run([PROGRAM, "plugin", "replace", model, *words, self.path / "ours.onnx", "--python",
                               sys.executable], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[W] left unchanged: instance 0 of `refuser` (`yb`): its function replace_with_plugin gave "
                      "`None`, not what stands for it\n", done.stderr)
        ops = [[node.op_type for node in onnx.load(self.path / f"{name}.onnx").graph.node] for name in ("peer", "ours")]
        self.assertEqual(ops, [["Absent", "Toy"]] * 2)

    def test_a_script_that_fails_has_its_line(self):
        model = self.save(toy())
        scripts = self.plugins("own", "pattern.py", SCRIPT + "def replace_with_plugin(**given):\n    1 / 0\n")
        run(PROGRAM, "plugin", "match", model, "--plugin-dir", scripts, "--python", sys.executable)
        done = subprocess.run([PROGRAM, "plugin", "replace", model, "--plugin-dir", scripts, "--python",
                               sys.executable], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        line = SCRIPT.count("\n") + 2
        self.assertIn(f"pattern.py` failed in line {line}: ZeroDivisionError: division by zero", done.stderr)
        self.assertFalse((self.path / "replaced.onnx").exists())


if __name__ == "__main__":
    unittest.main()
