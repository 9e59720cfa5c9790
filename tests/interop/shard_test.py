#!/usr/bin/env python3
"""`multi-device shard` beside Polygraphy's, on models of the structure of its own tests, and run in ONNX Runtime:
shard_test.py ASSAY
"""

import os
import pathlib
import subprocess
import sys
import unittest

import numpy
import onnx
import onnxruntime
import yaml
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper
from peer import run_polygraphy

PROGRAM = os.path.abspath(sys.argv.pop(1))
RANKS = 2


def tensor(name, shape=(4,), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, weights=(), domain=""):
    nodes = [helper.make_node(op, i, o, f"n{at}", **attributes) for at, (op, i, o, attributes) in enumerate(nodes)]
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, weights), opset_imports=opsets,
                             ir_version=8)


def weight(name, *shape):
    numbers = numpy.random.default_rng(len(name) + ord(name[-1])).standard_normal(shape) / 4
    return numpy_helper.from_array(numbers.astype(numpy.float32), name)


def attention(layers):
    """Layers (q, k, v, o); what no layer gives is an input."""
    nodes = []
    for at, (q, k, v, o) in enumerate(layers):
        nodes += [("MatMul", [q, k], [f"s{at}"], {}), ("Softmax", [f"s{at}"], [f"p{at}"], {"axis": -1}),
                  ("MatMul", [f"p{at}", v], [o], {})]
    given = {layer[3] for layer in layers}
    names = dict.fromkeys(name for layer in layers for name in layer[:3] if name not in given)
    return model_of(nodes, [tensor(name, (8, 8, 8)) for name in names], [tensor(layers[-1][3], (8, 8, 8))])


def projections(hidden, kv_width):
    """The weights of one layer: attention and a gated block."""
    return [weight("wq", hidden, hidden), weight("wk", hidden, kv_width), weight("wv", hidden, kv_width),
            weight("wo", hidden, hidden), weight("gate", hidden, 2 * hidden), weight("up", hidden, 2 * hidden),
            weight("down", 2 * hidden, hidden)]


BLOCK = [("MatMul", ["h", "gate"], ["g"], {}), ("Sigmoid", ["g"], ["s"], {}), ("Mul", ["g", "s"], ["a"], {}),
         ("MatMul", ["h", "up"], ["u"], {}), ("Mul", ["a", "u"], ["m"], {}), ("MatMul", ["m", "down"], ["y"], {})]
QKV = [("MatMul", ["x", "wq"], ["q"], {}), ("MatMul", ["x", "wk"], ["k"], {}), ("MatMul", ["x", "wv"], ["v"], {})]


def plugin_layer(is_stacked):
    """A layer with TensorRT's attention plugin and Q, K, V stacked or not."""
    heads = {"num_q_heads": 4, "num_kv_heads": 2}
    rest = ["past", "lengths", "rope", "start"]
    if is_stacked:
        core = [("Concat", ["q", "k", "v"], ["qkv"], {"axis": -1}),
                ("AttentionPlugin", ["qkv", *rest, ""], ["z", "present"], heads)]
    else:
        core = [("AttentionPlugin", ["q", "k", "v", *rest], ["z", "present"], heads)]
    cache = (1, 2, 2, 16, 8)
    inputs = [tensor("x", (1, 3, 32)), tensor("past", cache), tensor("lengths", (1,), TensorProto.INT32),
              tensor("rope", (1, 16, 4)), tensor("start", (1,), TensorProto.INT32)]
    outputs = [tensor("y", (1, 3, 32)), tensor("present", cache)]
    nodes = QKV + core + [("MatMul", ["z", "wo"], ["h"], {})] + BLOCK
    return model_of(nodes, inputs, outputs, projections(32, 16))


def quantized(model):
    """The model with its weights in int8, transposed, with scales of blocks that are in int8 themselves."""
    old = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    nodes, weights = [], [numpy_helper.from_array(numpy.float32(0.01), "unit")]
    for name, values in old.items():
        inner, outer = values.shape
        random = numpy.random.default_rng(inner + outer)
        weights += [numpy_helper.from_array(random.integers(-99, 99, (outer, inner), dtype=numpy.int8), name + "_q"),
                    numpy_helper.from_array(random.integers(1, 99, (outer, inner // 8), dtype=numpy.int8), name + "_s")]
        for op, inputs, output, attributes in (
                ("DequantizeLinear", [name + "_s", "unit"], name + "_t", {}),
                ("DequantizeLinear", [name + "_q", name + "_t"], name + "_d", {"axis": 1, "block_size": 8}),
                ("Transpose", [name + "_d"], name, {"perm": [1, 0]})):
            nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
    nodes += model.graph.node
    graph = helper.make_graph(nodes, "g", model.graph.input, model.graph.output, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def query_layer():
    """A layer of ONNX Runtime's grouped attention, with a cache."""
    past = (1, 2, "past", 8)
    inputs = [tensor("x", (1, 1, 32)), tensor("pk", past), tensor("pv", past),
              tensor("seqlens", (1,), TensorProto.INT32), tensor("total", (1,), TensorProto.INT32)]
    outputs = [tensor("y", (1, 1, 32)), tensor("nk", (1, 2, "now", 8)), tensor("nv", (1, 2, "now", 8))]
    core = [("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "seqlens", "total"], ["z", "nk", "nv"],
             {"num_heads": 4, "kv_num_heads": 2, "domain": "com.microsoft"})]
    nodes = QKV + core + [("MatMul", ["z", "wo"], ["h"], {})] + BLOCK
    return model_of(nodes, inputs, outputs, projections(32, 16), "com.microsoft")


def collectives(path):
    count = {}
    for node in onnx.load(path).graph.node:
        for attribute in node.attribute:
            if attribute.name == "collective_operation":
                count[attribute.s] = count.get(attribute.s, 0) + 1
    return count


def run_devices(model, feeds):
    """Collectives one by one, in ONNX Runtime: what they read is an output, what they give an input."""
    collective = [node for node in model.graph.node if node.op_type == "DistCollective"]
    rest = [node for node in model.graph.node if node.op_type != "DistCollective"]
    given = [dict(feeds) for _ in range(RANKS)]

    def value(rank, name):
        if name in given[rank]:
            return given[rank][name]
        nodes, needed = [], {name}
        for node in reversed(rest):
            if needed & set(node.output) and not set(node.output) & given[rank].keys():
                nodes.insert(0, node)
                needed.update(node.input)
        inputs = [tensor(key, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
                  for key, array in given[rank].items() if key in needed]
        weights = [item for item in model.graph.initializer if item.name in needed]
        graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=name)], weights)
        own = helper.make_model(graph, opset_imports=model.opset_import, ir_version=8)
        session = onnxruntime.InferenceSession(own.SerializeToString())
        return session.run([name], {key.name: given[rank][key.name] for key in inputs})[0]

    for node in collective:
        kind = next(a.s for a in node.attribute if a.name == "collective_operation")
        parts = [value(rank, node.input[0]) for rank in range(RANKS)]
        for rank in range(RANKS):
            if kind == b"all_gather":
                given[rank][node.output[0]] = numpy.concatenate(parts, axis=0)
            else:
                given[rank][node.output[0]] = numpy.split(parts[rank], RANKS, axis=0)[rank]
    return [value(rank, model.graph.output[0].name) for rank in range(RANKS)]


class Sharding(InFolder):
    def shard(self, model, *words):
        path = self.save(model)
        run_polygraphy("multi-device", "shard", path, *words, "-o", self.path / "peer.onnx")
        run(PROGRAM, "multi-device", "shard", path, *words, "-o", self.path / "ours.onnx")
        self.assertEqual(collectives(self.path / "peer.onnx"), collectives(self.path / "ours.onnx"))
        return collectives(self.path / "ours.onnx")

    def check(self):
        """Sound but for the operator that ONNX does not have; outputs as they were."""
        before, after = onnx.load(self.path / "m.onnx"), onnx.load(self.path / "ours.onnx")
        self.assertEqual(list(before.graph.output), list(after.graph.output))
        for node in after.graph.node:
            if node.op_type in ("DistCollective", "Attention"):
                node.domain = "own"
        after.opset_import.append(helper.make_opsetid("own", 1))
        onnx.checker.check_model(after, full_check=True)

    def check_numbers(self):
        """The same from each device as from the whole model."""
        path = self.path / "m.onnx"
        random = numpy.random.default_rng(7)
        feeds = {value.name: random.standard_normal([dim.dim_value for dim in value.type.tensor_type.shape.dim],
                                                    numpy.float32) for value in onnx.load(path).graph.input}
        whole = onnxruntime.InferenceSession(path).run(None, feeds)[0]
        for found in run_devices(onnx.load(self.path / "ours.onnx"), feeds):
            numpy.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-5)

    def test_counts_of_the_peer(self):
        one = self.shard(attention([("q", "k", "v", "o")]), "--one-shot")
        self.assertEqual(one, {b"reduce_scatter": 3, b"all_gather": 3})
        self.check()
        self.check_numbers()
        same = self.shard(attention([("q", "q", "q", "o")]), "--one-shot")
        self.assertEqual(same, {b"reduce_scatter": 1, b"all_gather": 1})
        self.check()
        self.shard(attention([("q", "k", "v", "h"), ("h", "k2", "v2", "o")]), "--one-shot")
        self.check()
        self.check_numbers()
        self.shard(attention([("q", "k", "v", "o")]), "--one-shot", "--cp-type", "fused", "--gpus", "2")
        self.check()
        swap = ("--i-idx", "1", "--o-idx", "1", "--k-idx", "1", "--v-idx", "1")
        self.shard(attention([("q", "k", "v", "o")]), "--one-shot", *swap)
        self.check()

    def test_hints_are_the_peers(self):
        path = self.save(attention([("q", "k", "v", "o")]))
        for words in ((), ("--gpus", "2", "--groups", "0", "1"), ("--cp-type", "fused", "--q-shuffle", "0", "2", "1")):
            run_polygraphy("template", "shard-hints", path, *words, "-o", self.path / "peer.json")
            run(PROGRAM, "template", "shard-hints", path, *words, "-o", self.path / "ours.json")
            peer, ours = (yaml.safe_load((self.path / f"{name}.json").read_text()) for name in ("peer", "ours"))
            for hints in (peer, ours):
                hints["inputs"].sort(key=lambda item: item["name"])  # the peer's come in no order
            self.assertEqual(peer, ours)
        run(PROGRAM, "multi-device", "shard", path, "-s", self.path / "peer.json", "-o", self.path / "ours.onnx")


def encoder(batch, places="none"):
    """Two layers on ids and a mask of keys, as exporters write them; `places`: how positions are told."""
    sequence, width, heads, words = 8, 16, 2, 11
    lengths = numpy_helper.from_array(numpy.array([0, 0, heads, width // heads], numpy.int64), "heads")
    joined = numpy_helper.from_array(numpy.array([0, 0, width], numpy.int64), "joined")
    weights = [weight("words", words, width), lengths, joined, weight("gain", width), weight("shift", width),
               numpy_helper.from_array(numpy.array([1, 2], numpy.int64), "axes"),
               numpy_helper.from_array(numpy.float32(1), "one"), numpy_helper.from_array(numpy.float32(-99), "low")]
    nodes = [("Gather", ["words", "ids"], ["x0"], {})]
    if places == "input":
        weights.append(weight("table", 2 * sequence, width))
        nodes += [("Gather", ["table", "places"], ["t"], {}), ("Add", ["x0", "t"], ["h0"], {})]
    elif places == "counted":
        weights += [weight("table", 2 * sequence, width)] + [
            numpy_helper.from_array(numpy.int64(number), name) for name, number in (("nil", 0), ("unit", 1))]
        nodes += [("Shape", ["ids"], ["shape"], {}), ("Gather", ["shape", "unit"], ["length"], {}),
                  ("Range", ["nil", "length", "unit"], ["r"], {}), ("Gather", ["table", "r"], ["t"], {}),
                  ("Add", ["x0", "t"], ["h0"], {})]
    else:
        nodes.append(("Identity", ["x0"], ["h0"], {}))
    nodes += [("Unsqueeze", ["mask", "axes"], ["m4"], {}), ("Sub", ["one", "m4"], ["off"], {}),
              ("Mul", ["off", "low"], ["bias"], {})]
    for at in range(2):
        for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            weights.append(weight(f"w{part}{at}", width, width))
            nodes += [("MatMul", [f"h{at}", f"w{part}{at}"], [f"{part}a{at}"], {}),
                      ("Reshape", [f"{part}a{at}", "heads"], [f"{part}b{at}"], {}),
                      ("Transpose", [f"{part}b{at}"], [f"{part}{at}"], {"perm": perm})]
        nodes += [("MatMul", [f"q{at}", f"k{at}"], [f"s{at}"], {}), ("Add", [f"s{at}", "bias"], [f"a{at}"], {}),
                  ("Softmax", [f"a{at}"], [f"p{at}"], {"axis": -1}), ("MatMul", [f"p{at}", f"v{at}"], [f"o{at}"], {}),
                  ("Transpose", [f"o{at}"], [f"u{at}"], {"perm": [0, 2, 1, 3]}),
                  ("Reshape", [f"u{at}", "joined"], [f"j{at}"], {}), ("Add", [f"h{at}", f"j{at}"], [f"e{at}"], {}),
                  ("LayerNormalization", [f"e{at}", "gain", "shift"], [f"h{at + 1}"], {"axis": -1})]
    shape = (batch, sequence)
    inputs = [tensor("ids", shape, TensorProto.INT64), tensor("mask", shape)]
    if places == "input":
        inputs.append(tensor("places", shape, TensorProto.INT64))
    return model_of(nodes, inputs, [tensor("h2", (*shape, width))], weights)


def encoder_feeds(model):
    random = numpy.random.default_rng(5)
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"ids": random.integers(0, 11, shape), "mask": (random.random(shape) < 0.7).astype(numpy.float32),
             "places": numpy.tile(numpy.arange(shape[1]), (shape[0], 1))}
    return {value.name: feeds[value.name] for value in model.graph.input}


class Context(InFolder):
    """What each device computes, put together, is what the whole model gives."""

    def test_onnx_runtime_gives_the_same_on_each_device(self):
        for batch in (1, 2):
            for places in ("none", "input"):
                model = encoder(batch, places)
                path = self.save(model)
                feeds = encoder_feeds(model)
                whole = onnxruntime.InferenceSession(path).run(None, feeds)[0]
                run(PROGRAM, "multi-device", "shard", path, "--one-shot", "--gpus", RANKS, "-o", self.path / "s.onnx")
                for found in run_devices(onnx.load(self.path / "s.onnx"), feeds):
                    numpy.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-5)

    def test_places_that_a_device_counts_are_refused(self):
        path = self.save(encoder(2, "counted"))
        done = subprocess.run([PROGRAM, "multi-device", "shard", path, "--one-shot", "-o", self.path / "s.onnx"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("(Range) counts its places", done.stderr)


def open_layer(kind):
    """A layer of attention on any number of tokens, and what only the whole sequence fits."""
    length, random = 8, numpy.random.default_rng(3)
    weights = [weight(f"w{part}", 16, 16) for part in "qkv"]
    weights += [numpy_helper.from_array(numpy.array(sizes, numpy.int64), name)
                for name, sizes in (("heads", [0, 0, 2, 8]), ("joined", [0, 0, 16]), ("square", [1, 1, length, length]))]
    inputs, nodes, scores, keys, values = [tensor("x", (1, "s", 16))], [], "s0", "k", "v"
    for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [("MatMul", ["x", f"w{part}"], [f"{part}a"], {}), ("Reshape", [f"{part}a", "heads"], [f"{part}b"], {}),
                  ("Transpose", [f"{part}b"], [part], {"perm": perm})]
    if kind == "past":
        inputs += [tensor("pk", (1, 2, 8, "p")), tensor("pv", (1, 2, "p", 8))]
        nodes += [("Concat", ["pk", "k"], ["kk"], {"axis": 3}), ("Concat", ["pv", "v"], ["vv"], {"axis": 2})]
        keys, values = "kk", "vv"
    nodes.append(("MatMul", ["q", keys], ["s0"], {}))
    if kind in ("mask", "expanded", "given mask"):
        scores, mask = "s1", kind == "expanded" and "rows" or "m"
        if kind == "given mask":
            inputs.append(tensor("m", (1, 1, "s", "s")))
        else:
            shape = (1, 1, 1, length) if kind == "expanded" else (length, length)
            weights.append(numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32), "m"))
        if kind == "expanded":
            nodes.append(("Expand", ["m", "square"], ["rows"], {}))
        nodes.append(("Add", ["s0", mask], ["s1"], {}))
    nodes += [("Softmax", [scores], ["p0"], {"axis": -1}), ("MatMul", ["p0", values], ["o"], {}),
              ("Transpose", ["o"], ["u"], {"perm": [0, 2, 1, 3]}), ("Reshape", ["u", "joined"], ["j"], {}),
              ("Add", ["x", "j"], ["y"], {})]
    return model_of(nodes, inputs, [tensor("y", (1, "s", 16))], weights)


class OpenLengths(InFolder):
    def shard(self, kind):
        path = self.save(open_layer(kind))
        return subprocess.run([PROGRAM, "multi-device", "shard", path, "--one-shot", "--gpus", str(RANKS),
                               "-o", self.path / "s.onnx"], capture_output=True, text=True)

    def test_any_length_is_split(self):
        done = self.shard("none")
        self.assertEqual(done.returncode, 0, done.stderr)
        for length in (2, 8, 12):
            feeds = {"x": numpy.random.default_rng(length).standard_normal((1, length, 16), numpy.float32)}
            whole = onnxruntime.InferenceSession(self.path / "m.onnx").run(None, feeds)[0]
            for found in run_devices(onnx.load(self.path / "s.onnx"), feeds):
                numpy.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-5)

    def test_what_only_the_whole_fits_is_refused(self):
        for kind, reason in (("mask", "(Add): shapes"), ("expanded", "meets a part"),
                             ("given mask", "meets a part"), ("past", "a past of keys and values")):
            done = self.shard(kind)
            self.assertEqual(done.returncode, 3, f"{kind}: {done.stdout}{done.stderr}")
            self.assertIn(reason, done.stderr)
            self.assertFalse((self.path / "s.onnx").exists())


def weights_of(model):
    return {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}


def shapes_of(values):
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in values}


def sums_of(model):
    """Producer and attributes of what each all_reduce adds up."""
    producers = {name: node.name for node in model.graph.node for name in node.output}
    return sorted((producers[node.input[0]], sorted((a.name, str(helper.get_attribute_value(a))) for a in node.attribute))
                  for node in model.graph.node if node.op_type == "DistCollective")


class TensorParallel(InFolder):
    WORDS = ("--one-shot", "--parallelism", "TP", "--nb-rank", RANKS)

    def ranks(self, name):
        return [onnx.load(self.path / f"{name}_tp{RANKS}_rank{rank}.onnx") for rank in range(RANKS)]

    def test_structure_and_weights_are_the_peers(self):
        for model in (plugin_layer(False), plugin_layer(True), quantized(plugin_layer(False))):
            path = self.save(model)
            words = ("multi-device", "shard", path, *self.WORDS, "-o")
            for folder in ("peer", "ours"):
                (self.path / folder).mkdir(exist_ok=True)
            run_polygraphy(*words, self.path / "peer" / "m.onnx")
            run(PROGRAM, *words, self.path / "ours" / "m.onnx")
            self.assertEqual(sorted(os.listdir(self.path / "peer")), sorted(os.listdir(self.path / "ours")))
            for peer, ours in zip(self.ranks("peer/m"), self.ranks("ours/m")):
                self.assertEqual(sums_of(peer), sums_of(ours))
                self.assertEqual(len(sums_of(ours)), 2)
                theirs, own = weights_of(peer), weights_of(ours)
                self.assertEqual(theirs.keys(), own.keys())
                for name, expected in theirs.items():
                    numpy.testing.assert_array_equal(own[name], expected, name)
                heads = [{a.name: a.i for a in node.attribute} for model in (peer, ours) for node in model.graph.node
                         if node.op_type == "AttentionPlugin"]
                self.assertEqual(heads, [{"num_q_heads": 2, "num_kv_heads": 1}] * 2)
                self.assertEqual(shapes_of(ours.graph.input), shapes_of(peer.graph.input))
                self.assertEqual(shapes_of(ours.graph.output)["y"], [1, 3, 32])  # the peer renames it
                self.assertEqual(shapes_of(ours.graph.output)["present"], [1, 2, 1, 16, 8])

    def test_models_without_foreign_nodes_pass_the_checker(self):
        run(PROGRAM, "multi-device", "shard", self.save(plugin_layer(True)), *self.WORDS, "-o", self.path / "m.onnx")
        for model in self.ranks("m"):
            for node in model.graph.node:
                if node.op_type in ("DistCollective", "AttentionPlugin"):
                    node.domain = "own"
            model.opset_import.append(helper.make_opsetid("own", 1))
            onnx.checker.check_model(model, full_check=True)

    def test_onnx_runtime_gives_the_same_with_sums_over_ranks(self):
        path = self.save(query_layer())
        run(PROGRAM, "multi-device", "shard", path, *self.WORDS, "-o", self.path / "m.onnx")
        random = numpy.random.default_rng(3)
        feeds = {name: random.standard_normal(shape).astype(numpy.float32)
                 for name, shape in (("x", (1, 1, 32)), ("pk", (1, 2, 4, 8)), ("pv", (1, 2, 4, 8)))}
        feeds["seqlens"], feeds["total"] = numpy.array([4], numpy.int32), numpy.array([5], numpy.int32)
        whole = dict(zip(("y", "nk", "nv"), onnxruntime.InferenceSession(path).run(None, feeds)))
        found = self.run_ranks([dict(feeds, pk=feeds["pk"][:, [rank]], pv=feeds["pv"][:, [rank]])
                                for rank in range(RANKS)])
        for rank, outputs in enumerate(found):
            numpy.testing.assert_allclose(outputs["y"], whole["y"], rtol=1e-5, atol=1e-5)
            for name in ("nk", "nv"):
                numpy.testing.assert_allclose(outputs[name], whole[name][:, [rank]], rtol=1e-5, atol=1e-6)

    def run_ranks(self, feeds):
        """Each collective is taken out: its operand is an output, its result an input that all ranks share."""
        models = self.ranks("m")
        sums = [[node for node in model.graph.node if node.op_type == "DistCollective"] for model in models]
        for at in range(len(sums[0])):
            parts = [self.run_rank(model, given, nodes, [nodes[at].input[0]])[0]
                     for model, given, nodes in zip(models, feeds, sums)]
            for given, nodes in zip(feeds, sums):
                given[nodes[at].output[0]] = numpy.sum(parts, axis=0, dtype=numpy.float32)
        names = ["nk", "nv"]
        return [dict(zip(names, self.run_rank(model, given, nodes, names)), y=given[nodes[-1].output[0]])
                for model, given, nodes in zip(models, feeds, sums)]

    def run_rank(self, model, feeds, collectives_of_rank, wanted):
        own = onnx.ModelProto()
        own.CopyFrom(model)
        sums = [node.output[0] for node in collectives_of_rank]
        for node in [node for node in own.graph.node if node.op_type == "DistCollective"]:
            own.graph.node.remove(node)
        own.graph.input.extend(tensor(name, (1, 1, 32)) for name in sums)
        del own.graph.output[:]
        own.graph.output.extend(tensor(name, None) for name in wanted)
        given = {name: feeds.get(name, numpy.zeros((1, 1, 32), numpy.float32))
                 for name in [value.name for value in own.graph.input]}
        return onnxruntime.InferenceSession(own.SerializeToString()).run(wanted, given)


if __name__ == "__main__":
    unittest.main()
