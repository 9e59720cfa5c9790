"""Random graphs through our reference, our engine and our inference, beside ONNX Runtime and onnx's shape inference.

    random_graphs_test.py INFER_TOOL [--seed N|random] [--count K] [--draw I] [--backends NAME...]

Graphs of 5 to 30 nodes with computed shapes, conditional branches and calls of a local function; inputs have symbolic
dims. Every value of the graph is compared: the reference and the engine, also on the far device of tests/support, must
give what ONNX Runtime gives, and what is inferred must hold for ONNX Runtime's real shapes. Prints the share of dims
that ours and that onnx's shape inference (with data propagation) find, as numbers or as expressions in the inputs'
symbols.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import onnx
from random_ops import arguments, models, sides
from random_ops.draw import Rng
from random_ops.judge import DimCount, contradiction
from random_ops.graphs import Builder

DEFAULT_SEED = 20
DEFAULT_COUNT = 150
BACKENDS = ("ref", "engine", "engine-far", "engine-turns")
RELATIVE = 2e-4  # rounding of float32 through up to 30 nodes, of the largest element


def with_all_outputs(model):
    """A copy in which every value of the main graph is an output."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for node in model.graph.node for name in node.output)
    return copy


def array_fault(ours, theirs):
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"ours {ours.dtype}{list(ours.shape)}, ORT {theirs.dtype}{list(theirs.shape)}"
    if ours.dtype.kind != "f":
        return "" if np.array_equal(ours, theirs) else f"ours {ours.reshape(-1)[:8]}, ORT {theirs.reshape(-1)[:8]}"
    finite = np.isfinite(theirs)
    allowed = RELATIVE * (1 + np.abs(theirs[finite]).max(initial=0))
    same = np.isclose(ours, theirs, rtol=0, atol=allowed, equal_nan=True)
    if same.all():
        return ""
    return f"{int((~same).sum())} elements, first ours {ours[~same][0]!r}, ORT {theirs[~same][0]!r}"


class Judge:
    def __init__(self, infer_tool, folder, backends=BACKENDS):
        self.backends = backends
        self.infer_tool = sides.Tool(infer_tool)
        self.run_tool = sides.Tool(infer_tool.parent / "run_tool")
        self.folder = folder
        self.ours, self.onnx, self.nodes, self.refused = DimCount(), DimCount(), 0, []

    def judge(self, builder):
        model = builder.model()
        everything = with_all_outputs(model)
        theirs, refusal = sides.run_ort(everything, builder.feeds)
        if theirs is None:  # seen with tensors without elements
            self.refused.append(refusal)
            return []
        self.nodes += len(model.graph.node)
        real = dict(zip((value.name for value in everything.graph.output), theirs))
        return self.run(everything, builder.feeds, real) + self.infer(model, builder, real)

    def run(self, model, feeds, real):
        path = models.save(model, feeds, self.folder / "all")
        return [f"{backend}: {fault}" for backend in self.backends for fault in self.run_on(backend, path, real)]

    def run_on(self, backend, path, real):
        answer = self.run_tool.ask("\t".join(map(str, (path, path.parent, path.parent, backend))))
        if not answer.startswith("ok"):
            return [answer]
        faults = []
        for i, (name, array) in enumerate(real.items()):
            fault = array_fault(models.read_output(path.parent / f"output_{i}.pb", "tensor"), array)
            faults += [f"value {name}: {fault}"] if fault else []
        return faults[:1]  # the others follow from the first

    def infer(self, model, builder, real):
        path = models.save(model, builder.feeds, self.folder / "one")
        answer = self.infer_tool.ask(str(path))
        if not answer.startswith("{"):
            return [f"infer: {answer}"]
        answer = json.loads(answer)
        faults = [f"finding: {finding['message']}" for finding in answer["findings"]]
        values = {value["name"]: value for value in answer["values"]}
        sizes = dict(builder.sizes)
        for name, array in real.items():
            fault = contradiction(values[name], array, sizes, self.ours)
            faults += [f"infer {name}: {fault}"] if fault else []
        self.count_onnx(model, real)
        return faults

    def count_onnx(self, model, real):
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        known = {value.name: value.type.tensor_type for value in [*inferred.graph.value_info, *inferred.graph.output]}
        for name, array in real.items():
            self.onnx.all += array.ndim
            if name in known and known[name].HasField("shape"):
                self.onnx.known += sum(dim.HasField("dim_value") or
                                       (dim.HasField("dim_param") and not dim.dim_param.startswith("unk__"))
                                       for dim in known[name].shape.dim)


def save_failure(options, number, builder):
    folder = options.infer_tool.resolve().parents[1] / "random_graphs" / f"{options.seed}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    models.save(builder.model(), builder.feeds, folder)
    return folder


def main():
    parser = arguments.parser("infer_tool", DEFAULT_SEED, DEFAULT_COUNT)
    parser.add_argument("--backends", nargs="+", default=BACKENDS)
    options = arguments.parse(parser)
    start, failed = time.monotonic(), 0
    numbers = [options.draw] if options.draw is not None else range(options.count)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.infer_tool, pathlib.Path(folder), options.backends)
        for number in numbers:
            builder = Builder(Rng(f"{options.seed}:{number}"))
            builder.build()
            faults = judge.judge(builder)
            if faults:
                failed += 1
                print(f"FAIL graph {number}: {'; '.join(faults)}\n  repeat: {pathlib.Path(__file__).name} "
                      f"{options.infer_tool} --seed {options.seed} --draw {number}\n"
                      f"  saved: {save_failure(options, number, builder)}")
    print(f"dims known by inference: ours {judge.ours.share()}, onnx {judge.onnx.share()}")
    print(f"seed {options.seed}: {len(numbers)} graphs of {judge.nodes} nodes, {len(judge.refused)} refused "
          f"by ONNX Runtime, {failed} failed; "
          f"{time.monotonic() - start:.0f} s")
    too_many = len(judge.refused) * 20 > len(numbers)
    for reason in judge.refused if too_many else []:
        print(f"refused: {reason}")
    return 1 if failed or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
