#!/usr/bin/env python3
"""The text of `inspect model`, up to its summary, is what Polygraphy prints for the same model.

Random models; ASSAY_SEED repeats a run. Left out are the differences that docs/differences.md names: tensors of unknown
rank, bodies within bodies, attributes that Polygraphy skips, several outputs of a node without inputs.
"""
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.backend.onnx.util import str_from_onnx
from polygraphy.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.CRITICAL
SEED = int(os.environ.get("ASSAY_SEED", "1"))
MODELS = 60
SHOWS = [list(words) for n in range(4) for words in itertools.combinations(["layers", "attrs", "weights"], n)]
DTYPES = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int32, np.int64, np.bool_]
DIMS = [1, 2, 3, 8, "N", "batch size", None]


class ModelMaker:
    """One random model: a chain of nodes of many kinds with all kinds of attributes."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.numbers = np.random.default_rng(rng.randrange(1 << 30))
        self.initializers = []
        self.infos = []
        self.names = ["x"]
        self.types = {}

    def array(self) -> np.ndarray:
        shape = [self.rng.randint(0, 5) for _ in range(self.rng.randint(0, 4))]
        dtype = self.rng.choice(DTYPES)
        scale = 10.0 ** self.rng.randint(-6, 9)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.numbers.standard_normal(shape) * scale).astype(dtype)

    def weight(self) -> str:
        name = self.rng.choice(["W", "layer.0/weight", "b:0", "größe"]) + str(len(self.initializers))
        self.initializers.append(numpy_helper.from_array(self.array(), name))
        return name

    def info(self, name: str) -> onnx.ValueInfoProto:
        """The type of a value, the same each time it is asked for."""
        if name not in self.types:
            self.types[name] = self.random_info(name)
        return self.types[name]

    def random_info(self, name: str) -> onnx.ValueInfoProto:
        dims = [self.rng.choice(DIMS) for _ in range(self.rng.randint(0, 4))]
        dtype = self.rng.choice([TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.BFLOAT16])
        return helper.make_tensor_value_info(name, dtype, dims)

    def attributes(self) -> dict:
        rng = self.rng
        kinds = {
            "alpha": lambda: rng.choice([0.1, 1.0, 1e-5, 1e20, -3.25, float("inf")]),
            "axis": lambda: rng.randint(-(1 << 40), 1 << 40),
            "mode": lambda: rng.choice(["linear", "it's", "a b", ""]),
            "pads": lambda: [rng.randint(0, 3) for _ in range(rng.randint(1, 4))],
            "scales": lambda: [rng.random() for _ in range(rng.randint(1, 3))],
            "labels": lambda: rng.choice([["a", "b"], ["it's"], ['"']]),
            "value": lambda: numpy_helper.from_array(self.array(), "v"),
        }
        return {name: kinds[name]() for name in rng.sample(sorted(kinds), rng.randint(0, len(kinds)))}

    def body(self, depth_left: int) -> onnx.GraphProto:
        name = f"body_{self.rng.randrange(1 << 30)}"
        node = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(self.array()))
        output = self.info(name)
        return helper.make_graph([node], "body", [], [output])

    def node(self) -> onnx.NodeProto:
        inputs = [self.rng.choice(self.names) for _ in range(self.rng.randint(0, 2))]
        inputs += [self.weight() for _ in range(self.rng.randint(0, 2))]
        outputs = [f"t{len(self.names)}_{i}" for i in range(self.rng.randint(1, 3) if inputs else 1)]
        self.names += outputs
        self.infos += [self.info(name) for name in outputs if self.rng.random() < 0.7]
        attributes = self.attributes()
        if self.rng.random() < 0.2:
            attributes["then_branch"] = self.body(0)
        name = self.rng.choice(["", f"node {len(self.names)}", f"/a/b_{len(self.names)}"])
        return helper.make_node(self.rng.choice(["Conv", "Add", "Foo"]), inputs, outputs, name=name, **attributes)

    def model(self) -> onnx.ModelProto:
        nodes = [self.node() for _ in range(self.rng.randint(0, 12))]
        graph = helper.make_graph(
            nodes, self.rng.choice(["g", "main graph"]), [self.info("x")], [self.info(self.names[-1])],
            self.initializers, doc_string=self.rng.choice(["", "a line", "two\nlines"]), value_info=self.infos)
        opsets = [helper.make_opsetid("", self.rng.randint(7, 21))]
        if self.rng.random() < 0.3:
            opsets.append(helper.make_opsetid("com.foo", 3))
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def expected(model: onnx.ModelProto, path: pathlib.Path, show: list[str]) -> str:
    text = str_from_onnx(model, *(word in show for word in ["layers", "attrs", "weights"])).strip()
    text = text.replace("\n", "\n    ")
    return f"[I] Loading model: {path}\n[I] ==== ONNX Model ====\n    {text}"


def actual(path: pathlib.Path, show: list[str]) -> str:
    words = [os.environ["ASSAY"], "inspect", "model", str(path)] + (["--show"] + show if show else [])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr}"
    return done.stdout.rpartition("\n    \n    ---- Summary ----")[0].rstrip(" \n")


def main() -> None:
    print(f"ASSAY_SEED={SEED}")
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for i in range(MODELS):
            model = ModelMaker(random.Random(SEED * 10007 + i)).model()
            onnx.save(model, str(path))
            for show in SHOWS:
                want, got = expected(model, path, show).rstrip(" \n"), actual(path, show)
                if want == got:
                    passed += 1
                    continue
                failed += 1
                if failed <= 3:
                    print(f"model {i}, --show {show}\n---- expected\n{want}\n---- actual\n{got}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
