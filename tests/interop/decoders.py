"""Small decoders of text, as exporters write them: caches that grow by Concat, caches of fixed size that TensorScatter
writes to, and none. `loop` decodes them by ONNX Runtime, step by step, without Assay."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Writer:
    """Nodes and constants of a graph."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, value, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape, scale=None):
        scale = scale or 1 / np.sqrt(shape[0])
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def add(self, op, operands, outputs=None, **attributes):
        name = f"{op}_{len(self.nodes)}"
        outputs = outputs or [f"{name}_out"]
        self.nodes.append(helper.make_node(op, operands, outputs, name, **attributes))
        return outputs[0]


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def heads_of(writer, value, heads, size):
    shape = writer.constant(np.array([0, 0, heads, size], np.int64))
    return writer.add("Transpose", [writer.add("Reshape", [value, shape])], perm=[0, 2, 1, 3])


class Decoder:
    """`cache` is `concat`, `scatter`, `opening` (it reads a prompt and gives the first caches) or empty; `fault_at`: a position whose logits are wrong, negated or `rounded`;
    `length`: the dim of tokens; `hides`: the graph does not tell which cache goes where; `mask`: one of rows for each
    token, `added` to the scores or `flags`, in the place of one that is computed, or `padding`, of zeros for what counts."""

    def __init__(self, cache="concat", layers=2, width=32, heads=4, vocab=50, room=48, seed=0, fault_at=None,
                 rounded=False, past="past_key_values.{}.{}", present="present.{}.{}", length="sequence",
                 hides=False, mask="", crosses=False):
        self.writer = Writer(seed)
        self.layers, self.heads, self.width, self.vocab = layers, heads, width, vocab
        self.room, self.fault_at, self.past, self.present, self.hides = room, fault_at, past, present, hides
        self.opens, self.crosses = cache == "opening", crosses
        self.cache = "" if self.opens else cache
        self.rounded, self.length, self.mask = rounded, length, mask
        self.inputs = [info("input_ids", ["batch", length], INT64)]
        self.outputs = [info("logits", ["batch", length, vocab])]

    def model(self):
        w = self.writer
        positions = self.positions()
        x = w.add("Gather", [w.weight(self.vocab, self.width, scale=1.0), "input_ids"])
        x = w.add("Add", [x, w.add("Gather", [w.weight(self.room, self.width, scale=0.3), positions])])
        if self.crosses:
            x = w.add("Add", [x, self.crossed(x)])
        visible = self.visible(positions)
        for layer in range(self.layers):
            x = w.add("Add", [x, self.attention(self.norm(x), layer, visible)])
            hidden = w.add("Relu", [w.add("MatMul", [self.norm(x), w.weight(self.width, 4 * self.width)])])
            x = w.add("Add", [x, w.add("MatMul", [hidden, w.weight(4 * self.width, self.width)])])
        logits = w.add("MatMul", [self.norm(x), w.weight(self.width, self.vocab)], ["plain_logits"])
        self.finish(logits, positions)
        graph = helper.make_graph(w.nodes, "decoder", self.inputs, self.outputs, w.constants)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 24)])

    def finish(self, logits, positions):
        w = self.writer
        if self.fault_at is None:
            w.add("Identity", [logits], ["logits"])
            return
        is_there = w.add("Equal", [positions, w.constant(np.int64(self.fault_at))])
        is_there = w.add("Unsqueeze", [is_there, w.constant(np.array([-1], np.int64))])
        if self.rounded:  # float32 keeps nothing of them, float64 does
            large = w.constant(np.float32(1e9))
            wrong = w.add("Sub", [w.add("Add", [logits, large]), large])
        else:
            wrong = w.add("Neg", [logits])
        w.add("Where", [is_there, wrong, logits], ["logits"])

    def positions(self):
        """rows x tokens: an input, or counted from the ids where there is no cache."""
        w = self.writer
        if self.cache:
            self.inputs.append(info("position_ids", ["batch", self.length], INT64))
            return "position_ids"
        ones = w.add("Cast", [w.add("Equal", ["input_ids", "input_ids"])], to=INT64)
        counted = w.add("CumSum", [ones, w.constant(np.int64(1))])
        return w.add("Sub", [counted, w.constant(np.int64(1))])

    def visible(self, positions):
        """rows x 1 x tokens x keys: keys at or before each token, and not masked."""
        w = self.writer
        if self.mask in ("added", "flags"):
            seen = {"scatter": self.room, "concat": "total", "": self.length}[self.cache]
            dtype = FLOAT if self.mask == "added" else TensorProto.BOOL
            self.inputs.append(info("causal_mask", ["batch", 1, self.length, seen], dtype))
            if self.cache == "scatter":
                self.inputs.append(info("write_indices", ["batch"], INT64))
            return "causal_mask"
        axes = w.constant(np.array([1, 3], np.int64))
        at = w.add("Unsqueeze", [positions, axes])
        if self.cache == "scatter":
            keys = w.constant(np.arange(self.room, dtype=np.int64))
            self.inputs.append(info("write_indices", ["batch"], INT64))
        elif self.cache and self.mask == "padding":
            self.inputs.append(info("attention_mask", ["batch", 1, 1, "total"]))
            seen = w.add("Cast", [w.add("Equal", ["attention_mask", w.constant(np.float32(0))])], to=INT64)
            keys = w.add("Sub", [w.add("CumSum", [seen, w.constant(np.int64(3))]), w.constant(np.int64(1))])
        elif self.cache:
            self.inputs.append(info("attention_mask", ["batch", "total"], INT64))
            counted = w.add("CumSum", ["attention_mask", w.constant(np.int64(1))])
            keys = w.add("Sub", [counted, w.constant(np.int64(1))])
            keys = w.add("Unsqueeze", [keys, w.constant(np.array([1, 2], np.int64))])
        else:
            keys = w.add("Unsqueeze", [positions, w.constant(np.array([1, 2], np.int64))])
        return w.add("LessOrEqual", [keys, at])

    def attention(self, x, layer, visible):
        w, size = self.writer, self.width // self.heads
        q, k, v = (heads_of(w, w.add("MatMul", [x, w.weight(self.width, self.width)]), self.heads, size)
                   for _ in range(3))
        k, v = (self.cached(value, layer, word, size) for value, word in ((k, "key"), (v, "value")))
        scores = w.add("MatMul", [q, w.add("Transpose", [k], perm=[0, 1, 3, 2])])
        scores = w.add("Mul", [scores, w.constant(np.float32(1 / np.sqrt(size)))])
        if self.mask == "added":
            scores = w.add("Add", [scores, visible])
        else:
            scores = w.add("Where", [visible, scores, w.constant(np.float32(-1e4))])
        mixed = w.add("MatMul", [w.add("Softmax", [scores], axis=-1), v])
        mixed = w.add("Reshape", [w.add("Transpose", [mixed], perm=[0, 2, 1, 3]),
                                  w.constant(np.array([0, 0, self.width], np.int64))])
        return w.add("MatMul", [mixed, w.weight(self.width, self.width)])

    def crossed(self, x):
        """One row that the prompt makes once, and all steps read."""
        w = self.writer
        if not self.opens:
            self.inputs.append(info("past_key_values.0.encoder.key", ["batch", 1, self.width]))
            return "past_key_values.0.encoder.key"
        self.outputs.append(info("present.0.encoder.key", ["batch", 1, self.width]))
        return w.add("ReduceMean", [x, w.constant(np.array([1], np.int64))], ["present.0.encoder.key"])

    def cached(self, value, layer, word, size):
        if self.opens:
            present = self.present.format(layer, word)
            self.outputs.append(info(present, ["batch", self.heads, self.length, size]))
            return self.writer.add("Identity", [value], [present])
        if not self.cache:
            return value
        past, present = self.past.format(layer, word), self.present.format(layer, word)
        length = self.room if self.cache == "scatter" else "past"
        self.inputs.append(info(past, ["batch", self.heads, length, size]))
        if self.cache == "scatter":
            self.writer.add("TensorScatter", [past, value, "write_indices"], [present], axis=2)
        else:
            grown = self.writer.add("Concat", [past, value], None if self.hides else [present], axis=2)
            if self.hides:
                one = self.writer.constant(np.float32(1))
                self.writer.add("Mul", [grown, one], [present])
                spare = self.writer.add("Mul", [grown, one], [f"spare.{layer}.{word}"])
                self.outputs.append(info(spare, ["batch", self.heads, "total", size]))
        self.outputs.append(info(present, ["batch", self.heads, length if self.cache == "scatter" else "total", size]))
        return present

    def norm(self, x):
        w = self.writer
        return w.add("LayerNormalization", [x, w.constant(np.ones(self.width, np.float32)),
                                            w.constant(np.zeros(self.width, np.float32))], axis=-1)


def grouped(seed=0, heads=4, shared=2, size=8, vocab=40):
    """A layer of com.microsoft's GroupQueryAttention, which counts positions by lengths."""
    w, width = Writer(seed), heads * size
    x = w.add("Gather", [w.weight(vocab, width), "input_ids"])
    q, k, v = (w.add("MatMul", [x, w.weight(width, columns)]) for columns in (width, shared * size, shared * size))
    pasts = [f"past_key_values.0.{word}" for word in ("key", "value")]
    presents = [f"present.0.{word}" for word in ("key", "value")]
    mixed = w.add("GroupQueryAttention", [q, k, v, *pasts, "seqlens_k", "total_sequence_length"],
                  ["mixed", *presents], domain="com.microsoft", num_heads=heads, kv_num_heads=shared)
    x = w.add("Add", [x, w.add("MatMul", [mixed, w.weight(width, width)])])
    w.add("MatMul", [x, w.weight(width, vocab)], ["logits"])
    inputs = [info("input_ids", ["batch", "sequence"], INT64), info("seqlens_k", ["batch"], TensorProto.INT32),
              info("total_sequence_length", [], TensorProto.INT32),
              *(info(name, ["batch", shared, "past", size]) for name in pasts)]
    outputs = [info("logits", ["batch", "sequence", vocab]),
               *(info(name, ["batch", shared, "total", size]) for name in presents)]
    graph = helper.make_graph(w.nodes, "decoder", inputs, outputs, w.constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                  helper.make_opsetid("com.microsoft", 1)])


def first_feeds(model, ids):
    """Inputs of the first step for ids of rows x tokens."""
    rows, tokens = ids.shape
    feeds = {"input_ids": ids}
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.name == "position_ids":
            feeds[value.name] = np.tile(np.arange(tokens, dtype=np.int64), (rows, 1))
        elif value.name == "attention_mask":
            feeds[value.name] = np.ones((rows, tokens), np.int64)
        elif value.name == "write_indices":
            feeds[value.name] = np.zeros(rows, np.int64)
        elif value.name != "input_ids":
            feeds[value.name] = np.zeros((rows, *dims[1:]), np.float32)
    return feeds


def loop(session, model, ids, steps, tokens=None):
    """Tokens (steps x rows) and logits of each step by ONNX Runtime; `tokens`: what is read instead."""
    feeds, caches = first_feeds(model, ids), [value.name for value in model.graph.output][1:]
    pasts = [value.name for value in model.graph.input if value.name.startswith("past") or "cache" in value.name]
    chosen, logits = [], []
    for step in range(steps):
        results = session.run(None, feeds)
        logits.append(results[0][:, -1])
        chosen.append(logits[-1].argmax(-1))
        token = np.asarray(chosen[-1] if tokens is None else tokens[step], np.int64)[:, None]
        if not caches:
            feeds["input_ids"] = np.concatenate([feeds["input_ids"], token], 1)
            continue
        read = feeds["input_ids"].shape[1]
        feeds["input_ids"] = token
        feeds.update(zip(pasts, results[1:]))
        feeds["position_ids"] = feeds["position_ids"][:, -1:] + 1
        if "attention_mask" in feeds:
            feeds["attention_mask"] = np.pad(feeds["attention_mask"], ((0, 0), (0, 1)), constant_values=1)
        if "write_indices" in feeds:
            feeds["write_indices"] = feeds["write_indices"] + read
    return np.array(chosen), logits


def save(path, **settings):
    model = Decoder(**settings).model()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return model
