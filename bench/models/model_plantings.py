"""Plantings into benchmark models, whose values ONNX Runtime gives (for verdicts.py)."""

import functools
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from convert import model_path
from models.faults import FAULTS, attribute, change_weight, set_attribute
from models.plantings import SEMANTIC, Case, differ, renamed, values_of

NAMES = ["resnet50", "mobilenetv2", "bert_base_s128", "resnet50_qdq"]


class Sound:
    """A model, inputs and the values that it gives."""

    def __init__(self, name):
        self.path = model_path(name)
        self.model = onnx.load(self.path)
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.feeds = {value.name: self.draw(rng, value) for value in self.model.graph.input}
        self.values = values_of(self.model, self.feeds)
        self.weights = {weight.name for weight in self.model.graph.initializer}

    @staticmethod
    def draw(rng, value):
        """Images; or tokens and their mask, which leaves out the last ones."""
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            return rng.normal(size=shape).astype(np.float32)
        if value.name == "mask":
            return np.where(np.arange(shape[-1]) < shape[-1] - 20, 1, 0).astype(np.int64).reshape(shape)
        return rng.integers(1, 30000, shape)


sound = functools.lru_cache(maxsize=1)(Sound)


def pick(rng, nodes):
    nodes = list(nodes)
    return nodes[int(rng.integers(len(nodes)))] if nodes else None


def constant(model, name):
    return next((numpy_helper.to_array(t) for t in model.graph.initializer if t.name == name), None)


def transposed_weight(rng, model, its):
    """Of products and convolutions whose first two dims are the same."""
    def is_square(node):
        weight = constant(model, node.input[1])
        return weight is not None and weight.ndim > 1 and weight.shape[0] == weight.shape[1]

    node = pick(rng, (n for n in model.graph.node if n.op_type in ("MatMul", "Gemm", "Conv") and is_square(n)))
    if node is not None:
        change_weight(model, node, 1, lambda a: a.swapaxes(0, 1))
    return node and node.name


def padding_off_by_one(rng, model, its):
    node = pick(rng, (n for n in model.graph.node if n.op_type == "Conv" and attribute(n, "pads")
                      and list(attribute(n, "pads").ints) == [1, 1, 1, 1]))
    if node is not None:
        set_attribute(node, "pads", [0, 1, 2, 1])
    return node and node.name


def layout_bug(rng, model, its):
    """What should be transposed has only the right dims."""
    node = pick(rng, (n for n in model.graph.node if n.op_type == "Transpose"))
    if node is None:
        return None
    dims = np.array(its.values[node.output[0]].shape, np.int64)
    model.graph.initializer.append(numpy_helper.from_array(dims, "layout_dims"))
    node.CopyFrom(helper.make_node("Reshape", [node.input[0], "layout_dims"], [node.output[0]], node.name))
    return node.name


def epsilon_left_out(rng, model, its):
    """Also where the normalisation is written out, as Add before Sqrt."""
    roots = {name for n in model.graph.node if n.op_type == "Sqrt" for name in n.input}
    node = pick(rng, (n for n in model.graph.node if n.op_type == "BatchNormalization" or n.output[0] in roots))
    if node is None:
        return None
    if node.op_type == "Add":
        change_weight(model, node, 1, np.zeros_like)
    else:
        set_attribute(node, "epsilon", 0.0)
    return node.name


def drawn(name):
    return lambda rng, model, its: FAULTS[name](rng, model)


MODEL_FAULTS = {**{name: drawn(name) for name in ("wrong_attribute", "corrupted_weight", "noisy_weight", "swapped_inputs",
                                                  "wrong_axis", "bad_scale", "other_operator")},
                **{f.__name__: f for f in (transposed_weight, padding_off_by_one, layout_bug, epsilon_left_out)}}
MODEL_KINDS = [*MODEL_FAULTS, "fused_fault", "renamed_fault", "clean_other_rounding", "clean_renamed", "clean_fused",
               "clean_mask"]


class ModelCase(Case):
    """One planting into a benchmark model."""

    def __init__(self, name, kind, rng):
        super().__init__(kind, rng)
        self.its = sound(name)
        self.model, self.feeds = self.its.model, self.its.feeds

    def path(self, folder):
        return self.its.path

    def draw(self):
        self.faulty = onnx.ModelProto()
        self.faulty.CopyFrom(self.model)
        getattr(self, f"plant_{self.kind}", self.plant)(self.faulty)
        return bool(self.guilty) or self.values is not None or self.other is not None

    def plant(self, faulty, kind=None):
        """Nothing where the fault does not show in what the layer gives."""
        name = MODEL_FAULTS[kind or self.kind](self.rng, faulty, self.its)
        if name is None:
            return
        values = values_of(faulty, self.feeds)
        output = next(node.output[0] for node in faulty.graph.node if node.name == name)
        if differ(self.its.values[output], values[output]):
            self.guilty, self.values = [name], values

    def plant_renamed_fault(self, faulty):
        self.plant(faulty, str(self.rng.choice(SEMANTIC)))
        if self.guilty:
            self.other = renamed(faulty)

    def plant_fused_fault(self, faulty):
        """Half of the values are not there, but the outputs, which show it."""
        self.plant(faulty, str(self.rng.choice(SEMANTIC)))
        last = faulty.graph.output[0].name
        if not self.guilty or not differ(self.its.values[last], self.values[last]):
            self.guilty, self.values = [], None
            return
        self.values = {n: v for n, v in self.values.items() if n == last or self.rng.random() < 0.5}

    def plant_clean_other_rounding(self, faulty):
        self.values = self.its.values

    def plant_clean_renamed(self, faulty):
        self.other = renamed(faulty)

    def plant_clean_fused(self, faulty):
        level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.values = values_of(faulty, self.feeds, level, everything=False)

    def plant_clean_mask(self, faulty):
        """Another large number than -1e4; the outputs are the same."""
        node = next((n for n in faulty.graph.node if n.op_type == "Mul" and np.all(constant(faulty, n.input[1]) == -1e4)), None)
        if node is not None:
            change_weight(faulty, node, 1, lambda a: a * 1e5)
            self.values = values_of(faulty, self.feeds, everything=False)


def model_plantings(name, kinds, count, seed):
    """That many of each kind that the model has layers for, each with a word for it."""
    for kind in kinds:
        planted = 0
        for number in range(4 * count):
            case = ModelCase(name, kind, np.random.default_rng([seed, MODEL_KINDS.index(kind), number]))
            if planted < count and case.draw():
                planted += 1
                yield f"{kind} {number} ({', '.join(case.guilty) or 'nobody'})", case
