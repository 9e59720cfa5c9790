"""Verdicts on networks of many kinds, as rows of a table: who is accused in sound ones, what is found of planted faults,
whether causes are true, and what passes (for verdicts.py)."""

import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

from models.causes import CAUSES, judge_cause
from models.networks import SOUND, Network, cnn, draw, masks
from models.plantings import renamed, values_of

SIDES = {"onnxrt": ["--onnxrt"], "openvino": ["--openvino"], "engine": ["--engine"], "engine --strict": ["--engine", "--strict"],
         "engine --bf16": ["--engine", "--bf16"]}
# What a backend really computes otherwise, as its own Python package shows.
DEVIATING = {("openvino", "doubles"): "computes in float32", ("openvino", "spectrum"): "gives another shape",
             ("openvino", "dynamic_lstm"): "makes no codes of states",
             ("openvino", "fp8_chain"): "rounds to float16 before float8: 272.12 becomes 256"}
# Their one fault is in a layer whose type says how far it may be off.
HIDDEN = ("half_layer",)


def sides_on(device):
    engine = ["--engine", "--device", device]
    return {device: engine, **{f"{device} {word}": [*engine, word] for word in ("--strict", "--tf32", "--fp16", "--bf16")}}


class Audit:
    def __init__(self, program, folder, device=None):
        self.program, self.folder, self.device = program, pathlib.Path(folder), device
        self.engine = ["--engine", "--device", device] if device else ["--onnxrt"]
        self.sides = sides_on(device) if device else SIDES
        self.faults = []

    def each(self, judge, items):
        """What judge(audit, *item) finds for each item, on all processors; each has a folder of its own."""
        def work(item):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                own = Audit(self.program, folder, self.device)
                return judge(own, *item), own.faults

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for found, faults in pool.map(work, items):
                self.faults += faults
                yield found

    def assay(self, *words):
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        command = [self.program, *map(str, words), "--json", str(report)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:  # OpenVINO compiles sums of thousands of operands for minutes
            return None, None
        return done.returncode, json.loads(report.read_text()) if report.exists() else None

    def save(self, model, feeds, values=None):
        onnx.save(model, str(self.folder / "model.onnx"))
        np.savez(self.folder / "feeds.npz", **feeds)
        if values is not None:
            np.savez(self.folder / "values.npz", **values)
        return [self.folder / "model.onnx", "--load-inputs", self.folder / "feeds.npz"]

    def both(self, model, feeds, values, everything=True):
        """Exit codes of both commands on given values."""
        words = [*self.save(model, feeds, values), "--load-outputs", self.folder / "values.npz"]
        marked = ["--onnx-outputs", "mark", "all"] if everything else []
        run, _ = self.assay("run", *words, "--ref", "--tolerance", "auto", *marked)
        accuracy, _ = self.assay("debug", "accuracy", *words)
        return run, accuracy

    def sound(self, draws, seed):
        """One row for each side: layers, layers accused by `run`, models accused by `debug accuracy`, undecided, refused."""
        rows = {side: collections.Counter() for side in self.sides}
        items = [(side, kind, number, seed) for side, kind, number in itertools.product(self.sides, SOUND, range(draws))
                 if (side, kind) not in DEVIATING]
        for (side, *_), found in zip(items, self.each(Audit.sound_one, items)):
            rows[side].update(found)
        return rows

    def sound_one(self, side, kind, number, seed):
        net = draw(kind, number, seed)
        given = [*self.save(net.model(), net.feeds), *self.sides[side]]
        code, report = self.assay("run", *given, "--ref", "--tolerance", "auto", "--onnx-outputs", "mark", "all")
        outputs = [o for p in report["pairs"] for i in p["iterations"] for o in i["outputs"]] if report else []
        accused = [o["name"] for o in outputs if not o["passed"] and o.get("fault") != "undecided"]
        accuracy, _ = self.assay("debug", "accuracy", *given)
        if accused or accuracy == 1:
            self.faults.append(f"{side} accused in {kind} {number}: {accused[:2]}, debug accuracy {accuracy}")
        return {"models": 1, "layers": len(outputs), "run": len(accused), "accuracy": accuracy == 1, "refused": not outputs,
                "undecided": code == 3 and bool(outputs) or accuracy == 3 and bool(outputs)}

    def planted(self, draws, seed):
        """Of planted faults, with and without the faulty model: named first or by the next layer, missed, causes."""
        rows = {how: collections.Counter() for how in ("--other", "--load-outputs")}
        items = [(kind, number, seed) for kind, number in itertools.product(CAUSES, range(draws))]
        for found in self.each(Audit.planted_one, items):
            for how, row in found.items():
                rows[how].update(row)
        return rows

    def planted_one(self, kind, number, seed):
        rng = np.random.default_rng([seed, number, *kind.encode()])
        model, faulty, name, facts = CAUSES[kind](rng)
        shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
        feeds = {"x": facts.pop("feeds", rng.normal(size=shape).astype(np.float32))}
        onnx.save(renamed(faulty) if number % 2 else faulty, str(self.folder / "faulty.onnx"))
        given = self.save(model, feeds, values_of(faulty, feeds))
        rows = {"--other": collections.Counter(), "--load-outputs": collections.Counter()}
        for how, words in (("--other", [*self.engine, "--other", self.folder / "faulty.onnx"]),
                           ("--load-outputs", ["--load-outputs", self.folder / "values.npz"])):
            _, report = self.assay("debug", "accuracy", *given, *words, "--no-remedies")
            self.note(rows[how], f"{kind} {number} {how}", model, name, report and report["first_guilty"], (kind, facts))
        return rows

    def note(self, row, title, model, name, first, fault):
        row["planted"] += 1
        if first is None:
            row["hidden" if fault[0] in HIDDEN else "missed"] += 1
            if fault[0] not in HIDDEN:
                self.faults.append(f"{title}: nobody is accused")
            return
        order = [node.name for node in model.graph.node]
        place = order.index(first["node"]) - order.index(name) if first["node"] in order else None
        is_sound = "--other" in title and "faulty" not in first["side"]
        row["sound side"] += is_sound
        row[{0: "first", 1: "next"}.get(place, "missed")] += 1
        cause = judge_cause(*fault, first) if place == 0 else "unknown"
        row[cause] += 1
        if is_sound or place not in (0, 1) or cause == "false":
            self.faults.append(f"{title}: {first['node']} of {first['side']} for {name}: {first['reason'][:120]}")

    def garbage(self, seed):
        """One or two outputs off by 1000 behind quantisers."""
        row = collections.Counter()
        for count, number, off in itertools.product((1, 2, 4, 10, 50), range(8), (1, 2)):
            if off > count:
                continue
            net = Network(np.random.default_rng([seed, count, number]), [1, 16])
            for width in (16, 16, count):
                net.add("QuantizeLinear", net.constant(0.02), net.constant(128, np.uint8))
                net.add("DequantizeLinear", *net.nodes[-1].input[1:])
                net.linear(16, width)
            values = {net.last: values_of(net.model(), net.feeds)[net.last].copy()}
            values[net.last].flat[:off] += 1000
            run, accuracy = self.both(net.model(), net.feeds, values, everything=False)
            row.update(planted=1, run=run == 1, accuracy=accuracy == 1)
        return row

    def modes(self):
        """Pairs of different modes of nearest Resize, where they differ at all."""
        row = collections.Counter()
        modes = [("half_pixel", "round_prefer_floor"), ("asymmetric", "floor"), ("align_corners", "round_prefer_floor"),
                 ("half_pixel", "ceil"), ("asymmetric", "round_prefer_ceil"), ("half_pixel", "floor")]
        pictures = {"noise": np.random.default_rng(0).uniform(0, 255, (1, 3, 24, 24)),
                    "checkerboard": np.broadcast_to(np.indices((24, 24)).sum(0) % 2 * 255.0, (1, 3, 24, 24))}
        for (title, picture), size, (right, wrong) in itertools.product(pictures.items(), (48, 72, 36, 55, 20),
                                                                        itertools.permutations(modes, 2)):
            feeds = {"x": picture.astype(np.float32)}
            sound, other = (values_of(resized(*mode, size), feeds) for mode in (right, wrong))
            if (sound["y"] != other["y"]).mean() < 0.05:
                continue
            run, accuracy = self.both(resized(*right, size), feeds, other)
            row.update(planted=1, run=run == 1, accuracy=accuracy == 1)
            if (run, accuracy) != (1, 1):
                self.faults.append(f"{title} of {size}: {wrong} passes for {right}")
        return row

    def narrow(self, draws, seed):
        """Scales of weights in float16, of a quantizer in float8, and masks of float16."""
        row = collections.Counter()
        for number in range(draws):
            rng = np.random.default_rng([seed, number])
            net = cnn(rng, np.float16)
            model, faulty = net.model(), net.model()
            weight = next(w for w in faulty.graph.initializer if len(w.dims) == 4)
            scaled = numpy_helper.to_array(weight) * np.float16(1.01)
            weight.CopyFrom(numpy_helper.from_array(scaled.astype(np.float16), weight.name))
            run, accuracy = self.both(model, net.feeds, values_of(faulty, net.feeds))
            row.update({"float16 x1.01": 1, "float16 run": run == 1, "float16 accuracy": accuracy == 1})
            value = rng.choice([-65504, -60000, -1e4, -np.inf])
            sound, other = (masks(np.random.default_rng([seed, number]), np.float16, mask) for mask in (value, -1))
            run, accuracy = self.both(sound.model(), sound.feeds, values_of(other.model(), sound.feeds))
            row.update({"mask": 1, "mask run": run == 1, "mask accuracy": accuracy == 1})
        return row


def resized(mode, rounding, size):
    node = helper.make_node("Resize", ["x", "", "", "s"], ["r"], mode="nearest", coordinate_transformation_mode=mode,
                            nearest_mode=rounding)
    graph = helper.make_graph([node, helper.make_node("Relu", ["r"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", 1, [1, 3, 24, 24])], [helper.make_tensor_value_info("y", 1, None)],
                              [numpy_helper.from_array(np.array([1, 3, size, size]), "s")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
