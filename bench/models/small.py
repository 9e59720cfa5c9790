"""Models that take microseconds, so that the work around each run counts: a perceptron of 10 operators, an LSTM of 60
that is written out, and trees over numbers and words."""

import numpy as np
from onnx import TensorProto, helper

from .builder import Builder, floats

WIDTH = 64


def perceptron(path: str) -> None:
    g = Builder()
    x = "x"
    for _ in range(5):
        x = g.op("Gemm", [x, g.weight(g.random_weight(WIDTH, WIDTH)), g.zeros(WIDTH)])
        x = g.op("Relu", [x])
    g.name_output("y")
    g.save(path, [floats("x", [1, WIDTH])], [floats("y", [1, WIDTH])])


def lstm(path: str, steps: int = 4) -> None:
    g = Builder()
    from_input, from_state = (g.weight(g.random_weight(WIDTH, 4 * WIDTH)) for _ in range(2))
    bias = g.zeros(4 * WIDTH)
    h, c = g.zeros(WIDTH), g.zeros(WIDTH)
    for step in range(steps):
        x = g.op("Gather", ["x", g.weight(np.int64(step))], axis=0)
        sums = g.op("Add", [g.op("MatMul", [x, from_input]), g.op("MatMul", [h, from_state])]) if step else g.op(
            "MatMul", [x, from_input])
        i, f, o, z = g.op_with_outputs(4, "Split", [g.op("Add", [sums, bias])], axis=1)
        i, f, o, z = (g.op(op, [gate]) for op, gate in zip(("Sigmoid",) * 3 + ("Tanh",), (i, f, o, z)))
        c = g.op("Add", [g.op("Mul", [f, c]), g.op("Mul", [i, z])])
        h = g.op("Mul", [o, g.op("Tanh", [c])])
    g.name_output("y")
    g.save(path, [floats("x", [steps, 1, WIDTH])], [floats("y", [1, WIDTH])])


def trees(path: str, count: int = 40, depth: int = 4) -> None:
    g = Builder()
    lower = g.op("StringNormalizer", ["words"], case_change_action="LOWER", locale="C")
    words = g.op("LabelEncoder", [lower], domain="ai.onnx.ml",
                 keys_strings=["red", "green", "blue"], values_floats=[1.0, 2.0, 3.0], default_float=0.0)
    x = g.op("Concat", [g.op("Reshape", [words, g.int64s(1, 2)]), "x"], axis=1)
    inner, every = 2**depth - 1, 2 ** (depth + 1) - 1
    node_trees, nodes = np.divmod(np.arange(count * every), every)
    is_leaf = nodes >= inner
    leaves = np.flatnonzero(is_leaf)
    g.op("TreeEnsembleRegressor", [x], domain="ai.onnx.ml", n_targets=1, post_transform="NONE",
         nodes_treeids=node_trees.tolist(), nodes_nodeids=nodes.tolist(),
         nodes_featureids=g.random.integers(0, 10, nodes.size).tolist(),
         nodes_values=g.random.standard_normal(nodes.size).astype(np.float32).tolist(),
         nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
         nodes_truenodeids=np.where(is_leaf, 0, 2 * nodes + 1).tolist(),
         nodes_falsenodeids=np.where(is_leaf, 0, 2 * nodes + 2).tolist(),
         target_treeids=node_trees[leaves].tolist(), target_nodeids=nodes[leaves].tolist(),
         target_ids=np.zeros_like(leaves).tolist(),
         target_weights=g.random.standard_normal(leaves.size).astype(np.float32).tolist())
    g.name_output("y")
    text = helper.make_tensor_value_info("words", TensorProto.STRING, [2])
    g.save(path, [text, floats("x", [1, 8])], [floats("y", [1, 1])])
