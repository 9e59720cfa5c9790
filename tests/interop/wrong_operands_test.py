"""What operators do not take, on the engine and on the reference: both refuse it with the same sentence, or give results
of the same types and shapes.

    wrong_operands_test.py RUN_TOOL [--seed N|random] [--count K] [--only OP,OP] [--draw I]

Nodes are drawn as random_ops_test does. Then operands become something else: of another element type or width, of
another rank or number of elements, left out, constant or not. The node stands in the main graph, in a branch, in the
body of a loop or in a function, and now and then its operands come out of branches of which only the run tells the type.
"""

import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
from random_ops import arguments, draw, models, sides
from random_ops import control, elementwise, images, indexing, ml, movement, nn, quantized, reduction  # noqa: F401

DEFAULT_SEED = 20
DEFAULT_COUNT = 10  # of each operator
FIRST_WITH_PLACES = 13  # version of ONNX's operators whose If and Loop take everything
WIDTHS = {"int64": "int32", "int32": "int64", "float32": "float64", "float64": "float32", "float16": "float32",
          "bfloat16": "float16", "int8": "uint8", "uint8": "int8", "bool": "uint8"}
OTHERS = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint64", "bool", "string")


def of_type(rng, value, dtype):
    if dtype == "string" or value.dtype == object:
        return rng.array(dtype, value.shape)
    with np.errstate(all="ignore"):
        return value.astype(np.float64).astype(draw.np_dtype(dtype)).reshape(value.shape)


def of_shape(rng, value):
    """Of another rank, or of more or fewer elements."""
    flat = value.reshape(-1)
    kind = rng.choice(["more", "flat", "one", "row", "longer", "shorter", "empty"])
    return {"more": lambda: np.expand_dims(value, rng.randint(0, value.ndim)),
            "flat": lambda: flat,
            "one": lambda: flat[:1].reshape(()) if flat.size else flat,
            "row": lambda: flat.reshape(1, -1),
            "longer": lambda: np.concatenate([flat, flat[:2]]),
            "shorter": lambda: flat[:-1],
            "empty": lambda: flat[:0]}[kind]()


def wrong(rng, value):
    kind = rng.random()
    if kind < 0.45:
        return of_type(rng, value, WIDTHS.get(value.dtype.name, "float32"))
    if kind < 0.7:
        return of_type(rng, value, rng.choice(OTHERS))
    return of_shape(rng, value) if kind < 0.95 else None


def damage(rng, made):
    arrays = [i for i, value in enumerate(made.inputs) if isinstance(value, np.ndarray)]
    if not arrays:
        raise draw.Skip("it has no tensors")
    for i in rng.sample(arrays, min(len(arrays), rng.choice([1, 1, 1, 2, 3]))):
        made.inputs[i] = wrong(rng, made.inputs[i])
        made.constants.discard(i)
    for i in arrays:
        if made.inputs[i] is None:
            made.constants.discard(i)
        elif rng.maybe(0.4):
            made.constants ^= {i}
    made.finish()


def value_infos(names):
    return [onnx.ValueInfoProto(name=name) for name in names]


def take_node(graph):
    """The node, which is in the graph no more, with other names of its results; and those that the graph gives."""
    node = graph.node.pop(0)
    node.output[:] = [f"{name}_inner" if name else "" for name in node.output]
    return node, [output.name for output in graph.output]


def in_branch(model):
    node, outputs = take_node(model.graph)
    body = helper.make_graph([node], "branch", [], value_infos(f"{name}_inner" for name in outputs))
    model.graph.node.append(helper.make_node("If", ["taken"], outputs, then_branch=body, else_branch=body))
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "taken"))


def in_loop(model):
    node, outputs = take_node(model.graph)
    body = helper.make_graph(
        [node, helper.make_node("Identity", ["going"], ["goes_on"])], "body",
        [helper.make_tensor_value_info("step", onnx.TensorProto.INT64, []),
         helper.make_tensor_value_info("going", onnx.TensorProto.BOOL, [])],
        value_infos(["goes_on", *(f"{name}_inner" for name in outputs)]))
    model.graph.node.append(helper.make_node("Loop", ["count", ""], outputs, body=body))
    model.graph.initializer.append(numpy_helper.from_array(np.array(2), "count"))


def in_function(model):
    node = model.graph.node.pop(0)
    operands = list(dict.fromkeys(name for name in node.input if name))
    results = [name for name in node.output if name]
    model.functions.append(helper.make_function("local", "Whole", operands, results, [node], list(model.opset_import)))
    model.graph.node.append(helper.make_node("Whole", operands, results, domain="local"))
    model.opset_import.append(helper.make_opsetid("local", 1))


PLACES = {"main": lambda model: None, "branch": in_branch, "loop": in_loop, "function": in_function}


def rename_outer(node, names):
    node.input[:] = [names.get(name, name) for name in node.input]
    for attribute in node.attribute:
        for inner in attribute.g.node:
            rename_outer(inner, names)


def behind_branches(model):
    """Each tensor comes out of a branch of which the other one gives texts."""
    graph = model.graph
    names = [value.name for value in [*graph.input, *graph.initializer]]
    last = graph.node.pop(0)
    for name in names:
        taken = helper.make_graph([helper.make_node("Identity", [name], ["taken"])], "then", [], value_infos(["taken"]))
        other = helper.make_graph([helper.make_node("Constant", [], ["other"], value_strings=["a"])], "else", [],
                                  value_infos(["other"]))
        graph.node.append(helper.make_node("If", ["fed"], [f"{name}_late"], then_branch=taken, else_branch=other))
    rename_outer(last, {name: f"{name}_late" for name in names})
    graph.node.append(last)
    graph.input.append(helper.make_tensor_value_info("fed", onnx.TensorProto.BOOL, []))


def may_move(made):
    has_body = any(isinstance(value, onnx.GraphProto) for value in made.attributes.values())
    has_sequence = any(isinstance(value, list) for value in made.inputs)
    return not has_body and not has_sequence and (made.companion or made.version) >= FIRST_WITH_PLACES


def make_model(domain, op, seed, number):
    """(model, feeds, where the node is)"""
    made = draw.make_draw(domain, op, seed, number)
    rng = draw.Rng(f"wrong:{seed}:{domain}:{op}:{number}")
    damage(rng, made)
    model, feeds = models.model_of(made), models.feeds_of(made)
    if not may_move(made):
        return model, feeds, "main"
    place = rng.choice(["main", *PLACES])
    PLACES[place](model)
    if rng.maybe(0.4):
        behind_branches(model)
        feeds["fed"] = np.array(True)
        place += ", behind branches"
    return model, feeds, place


class Judge:
    def __init__(self, tool, folder):
        self.tool, self.folder = sides.Tool(tool), pathlib.Path(folder)

    def answer(self, path, way):
        """What the tool says, with types and shapes of the outputs."""
        try:
            said = self.tool.ask("\t".join(map(str, (path, self.folder, self.folder, way))))
        except sides.Died as died:
            return f"died: {died}"
        outputs = [models.read_output(self.folder / f"output_{i}.pb", kind) if kind == "tensor" else kind
                   for i, kind in enumerate(said.split()[1:])] if said.startswith("ok") else []
        return " ".join([said, *(f"{value.dtype}{list(value.shape)}" for value in outputs if isinstance(value, np.ndarray))])

    def judge(self, model, feeds):
        """The answers of the reference and the engine."""
        path = models.save(model, feeds, self.folder)
        return [self.answer(path, way) for way in ("ref", "engine+threads=1")]


def sentence(answer):
    """Without the nodes that it stands in, of which lowering makes others."""
    return re.split(r"\): |`: ", answer)[-1] if answer.startswith("error") else answer


def is_known(op, theirs, ours):
    """Whether the engine has removed an Expand that can only keep its operand's shape, and so its refusal of a target
    that does not fit, which only data knows."""
    return op == "Expand" and theirs.endswith("do not broadcast") and ours.startswith("ok")


def is_fault(theirs, ours):
    return sentence(theirs) != sentence(ours) or not theirs.startswith(("error", "ok"))


def main():
    options = arguments.parser("run_tool", DEFAULT_SEED, DEFAULT_COUNT)
    options.add_argument("--only")
    options = arguments.parse(options)
    wanted = set(options.only.split(",")) if options.only else None
    count = refused = failed = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        judge = Judge(options.run_tool, folder)
        for domain, op in sorted(draw.GENERATORS):
            if wanted is not None and op not in wanted:
                continue
            for number in [options.draw] if options.draw is not None else range(options.count):
                try:
                    model, feeds, place = make_model(domain, op, options.seed, number)
                except draw.Skip:
                    continue
                theirs, ours = judge.judge(model, feeds)
                count += 1
                refused += theirs.startswith("error")
                if not is_fault(theirs, ours) or is_known(op, theirs, ours):
                    continue
                failed += 1
                print(f"FAIL {domain or 'ai.onnx'}.{op} in {place}\n  reference: {theirs}\n  engine: {ours}\n"
                      f"  repeat: {pathlib.Path(__file__).name} {options.run_tool} --seed {options.seed} --only {op} "
                      f"--draw {number}\n{onnx.printer.to_text(model)[:2000]}")
    print(f"seed {options.seed}: {count} draws, {refused} refused, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
