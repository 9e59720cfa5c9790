"""Metrics of sweeps beside formulas of NumPy, and the forms of data: folders of .npz, pictures, files, scripts."""

import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import unittest
import zlib

import numpy as np
import onnx
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
RANDOM = np.random.default_rng(11)


def save_model(path, inputs, nodes, outputs, initializers=()):
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    outs = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs]
    graph = helper.make_graph(nodes, "g", infos, outs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def png(pixels):
    """A PNG of an array of bytes: height, width, channels."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def softmax_loss(scores, label):
    scores = scores - scores.max()
    return float(np.log(np.exp(scores).sum()) - scores[label])


def average_precisions(images):
    """COCO's definition, written down once more: images are (boxes, scores, classes), (true boxes, true classes, crowds)."""
    def overlap(a, b):
        width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
        height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
        shared = width * height
        return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)

    def inside(box, crowd):
        width = max(0, min(box[2], crowd[2]) - max(box[0], crowd[0]))
        return width * max(0, min(box[3], crowd[3]) - max(box[1], crowd[1])) / ((box[2] - box[0]) * (box[3] - box[1]))

    found = []
    for kind in sorted({kind for _, (_, classes, crowds) in images for kind, crowd in zip(classes, crowds) if not crowd}):
        for limit in np.arange(0.5, 0.96, 0.05):
            hits, objects = [], 0
            for (boxes, scores, classes), (true_boxes, true_classes, crowds) in images:
                free = [box for box, one, crowd in zip(true_boxes, true_classes, crowds) if one == kind and not crowd]
                many = [box for box, one, crowd in zip(true_boxes, true_classes, crowds) if one == kind and crowd]
                objects += len(free)
                mine = [number for number in range(len(scores)) if classes[number] == kind]
                for number in sorted(mine, key=lambda n: -scores[n]):
                    best = max(free, key=lambda box: overlap(boxes[number], box), default=None)
                    is_hit = best is not None and overlap(boxes[number], best) >= limit - 1e-10
                    free = [box for box in free if not (is_hit and box is best)]
                    if is_hit or not any(inside(boxes[number], crowd) >= limit for crowd in many):
                        hits.append((scores[number], is_hit))
            hits = np.array([hit for _, hit in sorted(hits, key=lambda pair: -pair[0])], float)
            right = np.cumsum(hits)
            recall, precision = right / objects, right / np.arange(1, len(hits) + 1)
            found.append(np.mean([max(precision[recall >= level - 1e-12], default=0) for level in np.linspace(0, 1, 101)]))
    return float(np.mean(found))


class Metrics(InFolder):
    def setUp(self):
        super().setUp()
        os.chdir(self.path)

    def samples(self, samples):
        """A folder of .npz."""
        folder = self.path / "data"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, sample in enumerate(samples):
            np.savez(folder / f"{number:05}.npz", **sample)
        return "data"

    def sweep(self, *words, status=0):
        for report in ("report.json", "out"):
            subprocess.run(["rm", "-rf", report], check=True)
        result = subprocess.run([ASSAY, "sweep", "--models", "m.onnx", "--jobs", "2", "--python", sys.executable, *words, "-o", "out", "--json",
                                 "report.json"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads((self.path / "report.json").read_text())

    def scores(self, metric, samples, *words):
        report = self.sweep("--run", "ref", "--metric", *metric, "--data", self.samples(samples), "--shard-size", "3", *words)
        return {score["name"]: score for score in report["metrics"]}

    def identity(self, kind=TensorProto.FLOAT, shape=None, name="x"):
        save_model(self.path / "m.onnx", [(name, kind, shape)], [helper.make_node("Identity", [name], ["y"])], [("y", kind)])

    def test_top_k(self):
        self.identity(shape=["n", 7])
        data = [{"x": RANDOM.standard_normal((4, 7)).astype("f4"), "label": RANDOM.integers(0, 7, 4)} for _ in range(30)]
        data[3]["x"][:] = 0.5  # equal scores: the first classes count
        found = self.scores(("top1", "top3"), data)
        for k in (1, 3):
            hits = [label in np.argsort(-row, kind="stable")[:k] for sample in data
                    for row, label in zip(sample["x"], sample["label"])]
            self.assertEqual(found[f"top{k}"]["value"], np.mean(hits))
        per_sample = np.array([np.mean(np.argmax(sample["x"], 1) == sample["label"]) for sample in data])
        draws = np.random.default_rng(0).integers(0, 30, (20000, 30))
        low, high = np.percentile(per_sample[draws].mean(1), (2.5, 97.5))
        self.assertAlmostEqual(found["top1"]["low"], low, delta=0.02)
        self.assertAlmostEqual(found["top1"]["high"], high, delta=0.02)

    def test_f1(self):
        self.identity(shape=["n", 4])
        data = [{"x": RANDOM.standard_normal((5, 4)).astype("f4"), "label": RANDOM.integers(0, 4, 5)} for _ in range(20)]
        taken = np.concatenate([sample["x"].argmax(1) for sample in data])
        label = np.concatenate([sample["label"] for sample in data])
        each = [2 * ((taken == c) & (label == c)).sum() / ((taken == c).sum() + (label == c).sum()) for c in range(4)]
        self.assertAlmostEqual(self.scores(("f1",), data)["f1"]["value"], np.mean(each), places=12)
        self.identity(shape=["n"])
        data = [{"x": RANDOM.random(5).astype("f4"), "label": RANDOM.integers(0, 2, 5)} for _ in range(20)]
        taken = np.concatenate([sample["x"] for sample in data]) > 0.5
        label = np.concatenate([sample["label"] for sample in data]) == 1
        expected = 2 * (taken & label).sum() / (taken.sum() + label.sum())
        self.assertAlmostEqual(self.scores(("f1",), data)["f1"]["value"], expected, places=12)

    def test_mean_intersection_over_union(self):
        self.identity(shape=[1, 3, 6, 5])
        data = [{"x": RANDOM.standard_normal((1, 3, 6, 5)).astype("f4"), "mask": RANDOM.integers(0, 3, (1, 6, 5))}
                for _ in range(8)]
        for sample in data:
            sample["mask"][0, 0, 0] = 255
        taken = np.concatenate([sample["x"].argmax(1) for sample in data])
        mask = np.concatenate([sample["mask"] for sample in data])
        valid = mask != 255
        each = [((taken == c) & (mask == c) & valid).sum() / (((taken == c) | (mask == c)) & valid).sum() for c in range(3)]
        self.assertAlmostEqual(self.scores(("miou",), data)["miou"]["value"], np.mean(each), places=12)

    def test_perplexity(self):
        self.identity(shape=[2, 5, 9])
        data = [{"x": RANDOM.standard_normal((2, 5, 9)).astype("f4") * 3, "labels": RANDOM.integers(0, 9, (2, 5))}
                for _ in range(6)]
        data[0]["labels"][0, :3] = -100
        losses = [softmax_loss(sample["x"][i, t].astype(float), sample["labels"][i, t]) for sample in data for i in range(2)
                  for t in range(5) if sample["labels"][i, t] >= 0]
        self.assertEqual(len(losses), 57)
        self.assertAlmostEqual(self.scores(("perplexity",), data)["perplexity"]["value"], math.exp(np.mean(losses)), places=10)

    def test_word_errors(self):
        self.identity(TensorProto.INT64, ["n", "t"])
        data = [{"x": np.array([[1, 2, 3, 4, -1], [5, 6, -1, -1, -1]]), "label": np.array([[1, 3, 4, -1], [5, 7, 8, -1]])},
                {"x": np.array([[1, 1, 1, -1, -1]]), "label": np.array([[-1, -1, 2, 1]])}]
        # 1 2 3 4 -> 1 3 4: one too many; 5 6 -> 5 7 8: two; 1 1 1 -> 2 1: two; 3 + 3 + 2 words
        self.assertEqual(self.scores(("wer",), data)["wer"]["value"], 5 / 8)
        self.identity(shape=["n", "t", 4])
        steps = [1, 1, 0, 1, 2, 0, 3]  # with blanks left out: 1 1 2 3
        data = [{"x": np.eye(4, dtype="f4")[steps][None], "label": np.array([[1, 2, 3]])}]
        self.assertEqual(self.scores(("wer",), data)["wer"]["value"], 1 / 3)

    def test_mean_average_precision(self):
        inputs = [("b", TensorProto.FLOAT, ["n", 4]), ("s", TensorProto.FLOAT, ["n"]), ("c", TensorProto.INT64, ["n"])]
        names = {"b": "boxes", "s": "scores", "c": "classes"}
        save_model(self.path / "m.onnx", inputs, [helper.make_node("Identity", [a], [b]) for a, b in names.items()],
                   [("boxes", TensorProto.FLOAT), ("scores", TensorProto.FLOAT), ("classes", TensorProto.INT64)])
        for has_crowds in (False, True):
            data, images = self.detections(has_crowds)
            expected = average_precisions(images)
            self.assertTrue(0.2 < expected < 0.9)
            self.assertAlmostEqual(self.scores(("map",), data)["map"]["value"], expected, places=10)
        data[0]["iscrowd"] = np.array([1, 0])
        self.assertIn("2 marks of crowds and 4 objects", self.sweep("--run", "ref", "--metric", "map", "--data", self.samples(data),
                                                                   status=3)["causes"][0]["example"])

    def detections(self, has_crowds):
        data, images = [], []
        for _ in range(12):
            corners = RANDOM.random((4, 2)) * 50
            true = np.concatenate([corners, corners + 10 + RANDOM.random((4, 2)) * 20], 1)
            kinds = RANDOM.integers(0, 3, 4)
            found = np.concatenate([true + RANDOM.standard_normal((4, 4)) * 1.5, true[:2] + 3, RANDOM.random((2, 4)) + [0, 0, 9, 9]])
            classes = np.concatenate([kinds, kinds[:2], RANDOM.integers(0, 3, 2)])
            found, scores = found.astype("f4"), RANDOM.permutation(np.arange(1, 9) / 10).astype("f4")
            data.append({"b": found, "s": scores, "c": classes, "boxes": true, "classes": kinds})
            crowds = RANDOM.integers(0, 3, 4) == 0 if has_crowds else np.zeros(4, bool)
            if has_crowds:
                data[-1]["iscrowd"] = crowds.astype(int)
            images.append(((found.astype(float), scores, classes), (true, kinds, crowds)))
        return data, images

    def test_cosine_latency_and_sides(self):
        weights = numpy_helper.from_array(RANDOM.standard_normal((8, 6)).astype("f4"), "w")
        save_model(self.path / "m.onnx", [("x", TensorProto.FLOAT, [1, 8])], [helper.make_node("MatMul", ["x", "w"], ["y"])],
                   [("y", TensorProto.FLOAT)], [weights])
        values = numpy_helper.to_array(weights).astype(float)
        data = [{"x": RANDOM.standard_normal((1, 8)).astype("f4")} for _ in range(40)]
        for sample in data:
            order = np.argsort(-(sample["x"].astype(float) @ values))[0]
            sample["label"] = np.array([order[0] if RANDOM.random() < 0.8 else order[1]])
        report = self.sweep("--run", "ref", "--vary", "weights-int4", "--metric", "top1", "cosine", "latency", "--data",
                            self.samples(data), "--shard-size", "7", "--atol", "1")
        scores = {(score["name"], score["variant"]): score for score in report["metrics"]}
        self.assertNotIn(("cosine", "original"), scores)
        self.assertTrue(0.97 < scores["cosine", "weights-int4"]["value"] < 1)
        self.assertGreater(scores["latency", "original"]["value"], 0)
        rows = {}
        for line in (self.path / "out/journal").glob("*.jsonl"):
            for record in map(json.loads, line.read_text().splitlines()[1:]):
                rows.setdefault(record["variant"], {})[record["shard"]] = record["evidence"]["top1"]
        hits = {variant: np.array([row for shard in sorted(parts) for row in parts[shard]])[:, 0] for variant, parts in rows.items()}
        expected = [float(np.argmax(sample["x"].astype(float) @ values) == sample["label"][0]) for sample in data]
        self.assertEqual(list(hits["original"]), expected)
        paired = scores["top1", "weights-int4"]["paired"]
        self.assertAlmostEqual(paired["difference"], (hits["weights-int4"] - hits["original"]).mean(), places=12)
        worse, better = ((hits["weights-int4"] < hits["original"]).sum(), (hits["weights-int4"] > hits["original"]).sum())
        n, k = worse + better, min(worse, better)
        self.assertAlmostEqual(paired["p_value"], min(1, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n), places=10)
        self.assertEqual(paired["side"], "ref")

    def test_metrics_of_scripts(self):
        self.identity(shape=["n"])
        (self.path / "mine.py").write_text("def spread(outputs, labels):\n    y = outputs['y']\n"
                                           "    return float((y * labels['weight']).sum()), float(labels['weight'].sum())\n"
                                           "def bad(outputs, labels):\n    return 'much'\n"
                                           "def metric(outputs, labels):\n    return outputs['y'][0]\n")
        data = [{"x": RANDOM.random(3).astype("f4"), "weight": RANDOM.random(3)} for _ in range(5)]
        found = self.scores(("mine.py:spread", "mine.py"), data)
        expected = sum((s["x"] * s["weight"]).sum() for s in data) / sum(s["weight"].sum() for s in data)
        self.assertAlmostEqual(found["mine.py:spread"]["value"], expected, places=12)
        self.assertAlmostEqual(found["mine.py"]["value"], np.mean([float(s["x"][0]) for s in data]), places=12)
        report = self.sweep("--run", "ref", "--metric", "mine.py:bad", "--data", "data", status=3)
        self.assertIn("`bad` of the script `mine.py` gave a `str`, expected a number or a pair", report["units"][0]["reason"])
        key = report["units"][0]["key"]
        (self.path / "mine.py").write_text("def bad(outputs, labels):\n    return 1\n")
        self.assertNotEqual(self.sweep("--run", "ref", "--metric", "mine.py:bad", "--data", "data")["units"][0]["key"], key)

    def test_labels_that_do_not_fit(self):
        self.identity(shape=["n", 3])
        for sample, line in (({}, "the sample has no label beside its inputs; there is none"),
                             ({"label": np.zeros(4, "i8")}, "the label has 4 element(s), which do not divide the 6 of the output"),
                             ({"a": np.zeros(2), "b": np.zeros(2)}, "there are a, b")):
            data = self.samples([{"x": np.zeros((2, 3), "f4"), **sample}])
            report = self.sweep("--run", "ref", "--metric", "top1", "--data", data, status=3)
            self.assertEqual(report["units"][0]["status"], "bad_input")
            self.assertIn(line, report["units"][0]["reason"])
        data = self.samples([{"x": np.zeros((2, 3), "f4"), "a": np.zeros(2, "i8"), "b": np.ones(2, "i8")}])
        self.assertEqual(self.sweep("--run", "ref", "--metric", "top1", "--data", data, "--label", "a")["metrics"][0]["value"], 1)
        self.assertEqual(self.sweep("--run", "ref", "--metric", "top1", "--data", data, "--label", "b")["metrics"][0]["value"], 0)

    def test_pictures(self):
        self.identity(shape=[1, "c", "h", "w"])
        (self.path / "sum.py").write_text("def metric(outputs, labels):\n    y = outputs['y']\n"
                                          "    return float((y * (1 + abs(y * 0).cumsum(3) + range(y.shape[3]))).sum()\n"
                                          "                 + 1000 * y[0, 0, 0, 0] + 10000 * y[0, -1, 0, 0]) + 7 * labels['label'][0]\n")
        pictures = RANDOM.integers(0, 256, (4, 3, 5, 3), dtype=np.uint8)
        for number, name in enumerate(("cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png")):
            (self.path / "pictures" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / "pictures" / name).write_bytes(png(pictures[number]))
        mean, deviation = np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.3, 0.4])

        def expected(number, label):
            y = (((pictures[number] / 255) - mean) / deviation).astype("f4").astype(float)
            return (y * (1 + np.arange(5))[None, :, None]).sum() + 1000 * y[0, 0, 0] + 10000 * y[0, 0, 2] + 7 * label

        rules = ("--image-mean", "0.4,0.5,0.6", "--image-std", "0.2,0.3,0.4")
        report = self.sweep("--run", "ref", "--metric", "sum.py", "--data", "pictures", *rules)
        self.assertAlmostEqual(report["metrics"][0]["value"], np.mean([expected(n, n // 2) for n in range(4)]), places=2)
        (self.path / "pictures/labels.csv").write_text("file,label\ndog/2.png,5\ncat/1.png,3\n")
        report = self.sweep("--run", "ref", "--metric", "sum.py", "--data", "pictures", *rules)
        self.assertAlmostEqual(report["metrics"][0]["value"], np.mean([expected(3, 5), expected(0, 3)]), places=2)
        (self.path / "pictures/cat/1.png").write_bytes(b"\x89PNG\r\n")
        report = self.sweep("--run", "ref", "--data", "pictures", status=3)
        self.assertIn("sample 1, `pictures/cat/1.png`: it is no PNG", report["units"][0]["reason"])

    def test_files_of_inputs(self):
        self.identity(shape=["n"])
        run(ASSAY, "run", "m.onnx", "--ref", "--iterations", "5", "--input-shapes", "x:[3]", "--save-inputs", "i.json")
        report = self.sweep("--run", "ref", "engine", "--data", "i.json", "--shard-size", "2")
        self.assertEqual([unit["samples"] for unit in report["units"]], [2, 2, 2, 2, 1, 1])
        report = self.sweep("--run", "ref", "--iterations", "9", "--input-shapes", "x:[3]", "--shard-size", "4")
        self.assertEqual([unit["samples"] for unit in report["units"]], [4, 4, 1])
        pathlib.Path("data").mkdir()
        self.sweep("--run", "ref", "--data", "data", status=2)


if __name__ == "__main__":
    unittest.main()
