"""Plantings: a small network, a fault in a copy of it, and what `assay debug accuracy` says about it (for verdicts.py)."""

import functools
import json
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from models.faults import FAULTS, convnet, halved, looped, normalised, quantised, transformer

CLEAN = ("clean_other_rounding", "clean_renamed", "clean_fused", "clean_half")
KINDS = [*FAULTS, "overflow_in_half", "noisy_half", "two_faults", "fused_fault", "renamed_fault", *CLEAN]
SEMANTIC = ("corrupted_weight", "transposed_weight", "other_operator")
IN_HALF = [halved, functools.partial(convnet, dtype=np.float16), functools.partial(transformer, dtype=np.float16)]
BUILDERS = {"bad_scale": [quantised], "fault_in_body": [looped], "layout_bug": [transformer], "finite_mask": [transformer],
            "birth_of_nan": [normalised], "overflow_in_half": [halved],
            "noisy_half": IN_HALF, "clean_half": IN_HALF}


def values_of(model, feeds, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, everything=True):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    if everything:
        del copy.graph.output[:]
        copy.graph.output.extend(onnx.ValueInfoProto(name=name) for node in copy.graph.node for name in node.output)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = level, 4
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def differ(sound, other):
    with np.errstate(invalid="ignore"):
        a, b = sound.astype(np.float64), other.astype(np.float64)
        atol = 2e-6 * (np.abs(a[np.isfinite(a)]).max(initial=0) + 1e-9)
        return not np.isclose(a, b, rtol=0, atol=atol, equal_nan=True).all()


def renamed(model):
    """A copy in which only inputs and outputs have their names."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = {value.name for value in [*copy.graph.input, *copy.graph.output]}
    for node in copy.graph.node:
        node.name += "_renamed"
        for names in (node.input, node.output):
            names[:] = [name if not name or name in kept else f"renamed_{name}" for name in names]
    for weight in copy.graph.initializer:
        weight.name = f"renamed_{weight.name}"
    return copy


class Case:
    """One planting: the sound model, the values that are judged, and the layers that may be named."""

    def __init__(self, kind, rng):
        self.kind, self.rng = kind, rng
        self.guilty, self.more = [], []
        self.values, self.other, self.faulty = None, None, None

    def draw(self):
        builders = BUILDERS.get(self.kind, [convnet, transformer, quantised, looped])
        net = builders[int(self.rng.integers(len(builders)))](self.rng)
        self.net, self.model = net, net.model()
        self.feeds = {"x": self.rng.normal(size=net.shape).astype(net.dtype)}
        self.faulty = onnx.ModelProto()
        self.faulty.CopyFrom(self.model)
        getattr(self, f"plant_{self.kind}", self.plant)(self.faulty)
        return bool(self.guilty) or self.kind in CLEAN

    def plant(self, faulty):
        name = FAULTS[self.kind](self.rng, faulty)
        if name is None or not self.is_effective(faulty, name):
            return
        self.guilty, self.values = [name], values_of(faulty, self.feeds)

    def is_effective(self, faulty, name, before=None):
        output = next(node.output[0] for node in faulty.graph.node if node.name == name)
        return differ(values_of(before or self.model, self.feeds)[output], values_of(faulty, self.feeds)[output])

    def plant_overflow_in_half(self, faulty):
        """The type is at fault; numpy computes node by node in float16."""
        names = [name for node in faulty.graph.node for name in node.output]
        del faulty.graph.output[:]
        faulty.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        with np.errstate(all="ignore"):
            self.values = dict(zip(names, ReferenceEvaluator(faulty).run(names, self.feeds)))
        born = [node.name for node in faulty.graph.node if np.isinf(self.values[node.output[0]]).any()]
        if born and not np.isfinite(self.values[names[-1]]).all():
            self.guilty = born[:1]

    def plant_noisy_half(self, faulty):
        name = FAULTS["noisy_weight"](self.rng, faulty)
        if name is not None and self.is_effective(faulty, name):
            self.guilty, self.values = [name], values_of(faulty, self.feeds)

    def plant_renamed_fault(self, faulty):
        name = FAULTS[str(self.rng.choice(SEMANTIC))](self.rng, faulty)
        if name is not None and self.is_effective(faulty, name):
            self.guilty, self.other = [name], renamed(faulty)

    def plant_two_faults(self, faulty):
        kinds = self.rng.permutation([f for f in FAULTS if f not in ("fault_in_body", "noisy_weight", "birth_of_nan")])
        names = []
        for kind in kinds:
            copy = onnx.ModelProto()
            copy.CopyFrom(faulty)
            name = FAULTS[kind](self.rng, copy)
            if name and name not in names and self.is_effective(copy, name, faulty):
                names.append(name)
                faulty.CopyFrom(copy)
            if len(names) == 2:
                break
        if len(names) == 2 and self.shows(faulty, names):
            order = [node.name for node in self.model.graph.node]
            names.sort(key=order.index)
            self.guilty, self.more, self.values = names[:1], names, values_of(faulty, self.feeds)

    def shows(self, faulty, names):
        """What is NaN throughout hides a fault."""
        values = values_of(faulty, self.feeds)
        return all(np.isfinite(values[node.output[0]]).any() for node in faulty.graph.node if node.name in names)

    def plant_fused_fault(self, faulty):
        """Half of the values are not there."""
        name = FAULTS[str(self.rng.choice(SEMANTIC))](self.rng, faulty)
        if name is None or not self.is_effective(faulty, name):
            return
        values = values_of(faulty, self.feeds)
        last = faulty.graph.output[0].name
        self.values = {n: v for n, v in values.items() if n == last or self.rng.random() < 0.5}
        sound = values_of(self.model, self.feeds)
        if any(differ(sound[n], v) for n, v in self.values.items()):  # else nothing that is left shows it
            self.guilty = [name]

    def plant_clean_other_rounding(self, faulty):
        self.values = values_of(faulty, self.feeds)

    plant_clean_half = plant_clean_other_rounding

    def plant_clean_renamed(self, faulty):
        self.other = renamed(faulty)

    def plant_clean_fused(self, faulty):
        level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.values = values_of(faulty, self.feeds, level, everything=False)

    def judge(self, program, folder, device=None):
        inputs = folder / "inputs.npz"
        np.savez(inputs, **self.feeds)
        return self.verdict([program, "debug", "accuracy", self.path(folder), "--load-inputs", inputs, *self.side(folder, device)],
                            folder)

    def path(self, folder):
        """Of the sound model."""
        onnx.save(self.model, str(folder / "model.onnx"))
        return folder / "model.onnx"

    def side(self, folder, device=None):
        """What is judged: another model on the reference, or values; or the faulty model on a device of the engine."""
        other = self.other if device is None else self.faulty if self.other is None else self.other
        if other is not None:
            onnx.save(other, str(folder / "other.onnx"))
            return ["--other", folder / "other.onnx", *(["--engine", "--device", device] if device else [])]
        np.savez(folder / "side.npz", **self.values)
        return ["--load-outputs", folder / "side.npz"]

    def verdict(self, command, folder):
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        done = subprocess.run([*command, "--json", report, "--silent"], capture_output=True, text=True, timeout=300)
        if not report.exists():
            return f"error: {done.stderr.strip()[:200]}"
        found = json.loads(report.read_text())
        accused = [(g["node"], g["group"]) for g in found["guilty"]]
        if not self.guilty:
            return "clean" if not accused else f"accused {accused[0][0]}: {found['guilty'][0]['reason']}"
        if not accused:
            return "nobody"
        node, group = accused[0]
        named = node in self.guilty or bool(set(group) & set(self.guilty))
        if named and self.more:
            missing = set(self.more) - {n for n, _ in accused}
            return "hit" if not missing else f"only {[n for n, _ in accused]}, not {missing}"
        innocent = [n for n, g in accused[1:] if n not in self.guilty and not set(g) & set(self.guilty)]
        if named and innocent and not self.more:
            return f"hit, and accused {innocent[0]}"
        return "hit" if named else f"accused {node} for {self.guilty[0]}"


def plantings(kind, count, seed):
    """That many numbers and cases; what cannot be planted, or would not show, is passed over."""
    drawn = 0
    for number in range(20 * count):
        case = Case(kind, np.random.default_rng([seed, KINDS.index(kind), number]))
        if drawn < count and case.draw():
            drawn += 1
            yield number, case
