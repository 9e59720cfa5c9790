"""Sweeps: what is kept, what is run again, and what a broken model, worker, loader, disk or journal does to the rest."""

import json
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import numpy as np
import onnx
from in_folder import InFolder, run
from onnx import TensorProto, helper, numpy_helper

ASSAY = os.environ["ASSAY"]
CLASSES, WIDTH = 4, 8


def make_model(path, seed, external=False):
    weights = np.random.default_rng(seed).standard_normal((WIDTH, CLASSES)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, CLASSES])], [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(exist_ok=True)
    options = {"save_as_external_data": True, "location": path.stem + ".bin", "size_threshold": 0} if external else {}
    onnx.save(model, path, **options)


LOADER = """
import numpy as np
def load_data():
    random = np.random.default_rng(7)
    for i in range({count}):
        if i == {bad}:
            raise ValueError("the file is gone")
        yield {{"x": random.standard_normal((2, {width})).astype(np.float32), "label": random.integers(0, {classes}, 2)}}
"""


def told_by(*words, status):
    """Both streams of a program that ends so."""
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, check=False)
    if result.returncode != status:
        raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


class Sweeps(InFolder):
    def setUp(self):
        super().setUp()
        os.chdir(self.path)
        for seed in range(6):
            make_model(self.path / f"zoo/m{seed}.onnx", seed)

    def sweep(self, folder, *options, status=0):
        return told_by(ASSAY, "sweep", "--models", "zoo/*.onnx", "--python", sys.executable, *options, "-o", folder, status=status)

    def report(self, folder):
        subprocess.run([ASSAY, "sweep", "report", folder, "--json", "report.json", "-q"], check=False, capture_output=True)
        return json.loads((self.path / "report.json").read_text())

    def facts(self, folder):
        """All that must not depend on who did the work, nor when."""
        report = self.report(folder)
        for entry in report["units"] + report["rows"]:
            del entry["seconds"]
        for worst in report["worst"]:
            worst["file"] = worst["file"].split("/", 1)[1]
            del worst["command"]
        del report["timings"], report["folder"], report["torn_lines"]
        return report

    def loader(self, count, bad=-1):
        (self.path / "loader.py").write_text(LOADER.format(count=count, bad=bad, width=WIDTH, classes=CLASSES))
        return "--data", "loader.py"

    def record_lines(self, folder):
        lines = [line for file in sorted(pathlib.Path(folder, "journal").iterdir()) for line in file.read_text().splitlines()]
        return [line for line in lines if "sweep-journal" not in line]

    def test_units_are_run_once(self):
        data = self.loader(10)
        told = self.sweep("a", "--run", "ref", "engine", *data, "--shard-size", "4")
        self.assertIn("36 units: 36 same", told)
        self.assertEqual(len(self.record_lines("a")), 36)
        self.sweep("a", "--run", "ref", "engine", *data, "--shard-size", "4", "--save-csv", "c.csv", "--retries", "3", "-v",
                   "--log-file", "log.txt")
        self.assertEqual(len(self.record_lines("a")), 36)
        self.sweep("b", "--run", "ref", *data, "--log-file", "log.txt")
        self.assertIn("RUNNING", (self.path / "log.txt").read_text())
        make_model(self.path / "zoo/m3.onnx", 99)
        self.sweep("a", "--run", "ref", "engine", *data, "--shard-size", "4")
        self.assertEqual(len(self.record_lines("a")), 42)
        self.sweep("a", "--run", "ref", "engine", *data, "--shard-size", "4", "--atol", "0.25")
        self.assertEqual(len(self.record_lines("a")), 78)

    def test_results_do_not_depend_on_workers(self):
        rest = ("--run", "ref", "engine", "--vary", "fp16", *self.loader(10), "--shard-size", "3", "--metric", "top1", "cosine")
        self.sweep("one", *rest, "--jobs", "1", status=1)
        self.sweep("many", *rest, "--jobs", "5", status=1)
        self.assertEqual(self.facts("one"), self.facts("many"))
        for share in range(3):
            self.sweep(f"share{share}", *rest, "--shard", f"{share}/3", status=1)
        run(ASSAY, "sweep", "merge", "share0", "share1", "share2", "-o", "merged", status=1)
        self.assertEqual(self.facts("one"), self.facts("merged"))
        self.assertEqual(len(list((self.path / "merged/journal").iterdir())), 1)

    def test_shares_of_one_folder(self):
        rest = ("--run", "ref", "engine", *self.loader(5), "--shard-size", "2")
        self.sweep("one", *rest)
        for share in ("0/2", "auto"):
            run("env", "SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_TASK_MIN=3", "SLURM_ARRAY_TASK_COUNT=2", ASSAY, "sweep", "--models",
                "zoo/*.onnx", "--python", sys.executable, *rest, "--shard", share, "-o", "shared")
        self.assertEqual(self.facts("one"), self.facts("shared"))

    def test_a_torn_journal(self):
        rest = ("--run", "ref", "engine")
        self.sweep("a", *rest, "--jobs", "1")
        before = self.facts("a")
        journal = self.path / "a/journal/w0.jsonl"
        journal.write_bytes(journal.read_bytes()[:-40])
        self.assertEqual(self.report("a")["torn_lines"], 1)
        self.assertEqual(self.report("a")["pending_count"], 1)
        self.sweep("a", *rest, "--jobs", "1")
        self.assertEqual(self.facts("a"), before)
        self.assertEqual(self.report("a")["torn_lines"], 1)

    def test_one_external_byte(self):
        for name in ("a", "b"):
            make_model(self.path / f"big/{name}.onnx", 1, external=True)
        model = (self.path / "big/a.onnx").read_bytes().replace(b"a.bin", b"c.bin")
        (self.path / "big/a.onnx").write_bytes(model)
        (self.path / "big/b.onnx").write_bytes(model.replace(b"c.bin", b"c.bin"))
        (self.path / "big/a.bin").rename(self.path / "big/c.bin")
        sweep = (ASSAY, "sweep", "--models", "big/a.onnx", "--run", "ref", "-o", "r")
        run(*sweep)
        run(*sweep)
        self.assertEqual(len(self.record_lines("r")), 1)
        content = bytearray((self.path / "big/c.bin").read_bytes())
        content[5] ^= 1
        (self.path / "big/c.bin").write_bytes(content)
        run(*sweep)
        keys = {json.loads(line)["key"] for line in self.record_lines("r")}
        self.assertEqual(len(keys), 2)

    def test_bad_models_are_units(self):
        (self.path / "zoo/bad.onnx").write_bytes(b"junk")
        told = self.sweep("a", "--run", "ref", "engine", status=3)
        self.assertIn("14 units: 12 same, 2 bad_input", told)
        report = self.report("a")
        self.assertEqual([cause["models"] for cause in report["causes"]], [["zoo/bad.onnx"]])
        self.assertNotIn("bad", report["causes"][0]["signature"])
        make_model(self.path / "zoo/bad.onnx", 50)
        self.assertIn("14 units: 14 same", self.sweep("a", "--run", "ref", "engine"))

    def test_a_loader_that_raises(self):
        told = self.sweep("a", "--run", "ref", "engine", *self.loader(1000, bad=731), "--shard-size", "100", status=3)
        self.assertIn("sample 731", told)
        report = self.report("a")
        bad = [unit for unit in report["units"] if unit["status"] == "bad_input"]
        self.assertEqual({unit["shard"] for unit in bad}, {7})
        self.assertEqual(sum(unit["samples"] for unit in report["units"] if unit["status"] == "same"), 700 * 12)
        self.assertTrue(all("sample 731" in unit["reason"] and "the file is gone" in unit["reason"] for unit in bad))
        self.sweep("a", "--run", "ref", "engine", *self.loader(1000), "--shard-size", "100")
        self.assertEqual(len(self.record_lines("a")), (8 + 3) * 12)

    def test_a_reference_that_fails(self):
        (self.path / "zoo/other.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
            g (float[2] x) => (float[] y) { y = my.Thing(x) }""")
        told = told_by(ASSAY, "sweep", "--models", "zoo", "--run", "ref", "engine", "-o", "a", status=3)
        self.assertIn("14 units: 12 same, 2 refused", told)
        reasons = [unit["reason"] for unit in self.report("a")["units"] if unit["status"] == "refused"]
        self.assertIn("my::Thing is not known", reasons[0])
        self.assertEqual(reasons[1], "no reference: " + reasons[0])

    def metric(self, text):
        (self.path / "metric.py").write_text("import os, pathlib, signal, time\ndef metric(outputs, labels):\n" + text +
                                             "    return float(outputs['y'][0, 0])\n")
        return "--metric", "metric.py"

    def test_workers_that_are_killed(self):
        rest = ("--run", "ref", "engine", *self.loader(6), "--shard-size", "2", "--jobs", "2")
        self.metric("    pass\n")
        self.sweep("good", *rest, "--metric", "metric.py")
        once = self.metric("    flag = pathlib.Path(f'flag{outputs[\"y\"][0, 0]:.3f}')\n"
                           "    if 0.4 < outputs['y'][0, 0] < 0.6 and not flag.exists():\n"
                           "        flag.touch()\n        os.kill(os.getppid(), signal.SIGKILL)\n")
        self.sweep("a", *rest, *once)
        self.assertTrue(list(self.path.glob("flag*")))
        scores = [[score["value"] for score in self.facts(folder)["metrics"]] for folder in ("good", "a")]
        self.assertEqual(*scores)

    def test_what_always_dies(self):
        rest = ("--run", "ref", "engine", *self.loader(2), "--jobs", "2", "--limit", "1")
        deadly = self.metric("    if os.path.exists('deadly'): os.kill(os.getppid(), signal.SIGSEGV)\n")
        (self.path / "deadly").touch()
        told = self.sweep("a", *rest, *deadly, status=3)
        self.assertIn("12 units: 12 died", told)
        report = self.report("a")
        self.assertIn("signal 11", report["units"][0]["reason"])
        self.assertEqual({cause["signature"] for cause in report["causes"]},
                         {f"{side}: the worker was killed by signal N (segmentation fault)" for side in ("ref", "engine")})
        (self.path / "deadly").unlink()
        self.assertIn("12 units: 12 died", self.sweep("a", *rest, *deadly, status=3))
        self.assertIn("0 unit(s) are run again", told_by(ASSAY, "sweep", "retry", "a", "--class", "timeout", status=3))
        told = told_by(ASSAY, "sweep", "retry", "a", "--class", "died", status=0)
        self.assertIn("12 unit(s) are run again", told)
        self.assertIn("12 units: 12 same", told)

    def test_what_always_hangs(self):
        rest = ("--run", "ref", "engine", *self.loader(2), "--jobs", "2", "--limit", "1")
        self.sweep("good", *rest, *self.metric("    pass\n"))
        worst = max(self.report("good")["metrics"], key=lambda score: score["value"])
        hanging = self.metric(f"    time.sleep(600 if outputs['y'][0, 0] > {worst['value'] - 1e-4} else 0)\n")
        self.sweep("a", *rest, *hanging, "--timeout", "3", "--retries", "0", status=3)
        units = [unit for unit in self.report("a")["units"] if unit["model"] == worst["model"]]
        self.assertEqual([unit["status"] for unit in units], ["timeout"] * 2)
        self.assertEqual([unit["reason"] for unit in units], ["no answer within 3 s", "no reference: no answer within 3 s"])

    def test_a_sweep_that_is_killed(self):
        rest = ["--run", "ref", "engine", *self.loader(20), "--shard-size", "1", "--jobs", "2"]
        rest += self.metric("    time.sleep(0.1 if os.path.exists('slow') else 0)\n")
        self.sweep("whole", *rest)
        (self.path / "slow").touch()
        words = [ASSAY, "sweep", "--models", "zoo/*.onnx", "--python", sys.executable, *rest, "-o", "killed"]
        for least in (20, 60):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not (self.path / "killed/journal").exists() or len(self.record_lines("killed")) < least:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            second = subprocess.run(words, capture_output=True, text=True, check=False)
            self.assertEqual(second.returncode, 2)
            self.assertIn("another sweep is at work in `killed`", second.stderr)
            self.assertIn("A sweep is at work", run(ASSAY, "sweep", "status", "killed"))
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertIn("No sweep is at work", run(ASSAY, "sweep", "status", "killed"))
        (self.path / "slow").unlink()
        done = len(self.record_lines("killed"))
        self.assertLess(done, 240)
        self.sweep("killed", *rest)
        self.assertLessEqual(len(self.record_lines("killed")), 241)
        self.assertEqual(self.facts("whole"), self.facts("killed"))

    def test_a_full_disk(self):
        data = self.loader(40)
        words = [ASSAY, "sweep", "--models", "zoo/*.onnx", "--python", sys.executable, "--run", "ref", "engine", *data,
                 "--shard-size", "1", "--jobs", "1", "-o", "a"]
        limit = 60_000
        told = subprocess.run(words, capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(told.returncode, 3, told.stderr)
        lines = told.stderr.splitlines()
        self.assertEqual(len(lines), 1)
        self.assertIn("the journal `a/journal/w0.jsonl` cannot be written: ", lines[0])
        done = len(self.record_lines("a"))
        self.assertGreater(done, 50)
        run(*words)
        self.assertEqual(self.report("a")["by_status"]["same"], 480)
        self.assertLessEqual(len(self.record_lines("a")), 481)
        self.loader(400)
        words[words.index("--shard-size") + 1] = "400"
        told = subprocess.run(words, capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(told.returncode, 3, told.stderr)
        self.assertEqual(len(told.stderr.splitlines()), 1)
        self.assertIn("file too large; the same command goes on from there", told.stderr)

    def test_another_version(self):
        self.sweep("a", "--run", "ref")
        for file in ("journal/w0.jsonl", "plan.json"):
            path = self.path / "a" / file
            text = path.read_text()
            path.write_text(text.replace("/1\"", "/2\"", 1))
            told = self.sweep("a", "--run", "ref", status=3)
            self.assertIn("is of another version: it says `assay/sweep-", told)
            path.write_text(text)

    def test_plans(self):
        (self.path / "p.yaml").write_text("models: zoo/m[0-2].onnx\nrun: [ref, engine]\natol: 1e-3\ncast_inputs: true\n")
        self.assertIn("6 units: 6 same", run(ASSAY, "sweep", "p.yaml", "-o", "a"))
        self.assertIn("3 units: 3 same", run(ASSAY, "sweep", "p.yaml", "--run", "ref", "-o", "b"))
        (self.path / "q.yaml").write_text("models: zoo\nrun: ref\nmetrik: top1\n")
        told = told_by(ASSAY, "sweep", "q.yaml", "-o", "c", status=2)
        self.assertIn("plan `q.yaml`: line 3: unknown word `metrik`; did you mean `metric`?", told)
        for words, line in ((("--run", "reff"), "unknown backend `reff`"), (("--run", "ref", "--vary", "fp17"), "did you mean `fp16`?"),
                            (("--run", "ref", "--metric", "top"), "unknown metric `top`; did you mean `top1`?"),
                            (("--run", "ref", "--on", "slurm"), "not on `slurm`"), (("--run", "ref", "--shard", "3/3"), "share 3 of 3"),
                            (("--run", "ref", "--sample", "0%"), "--sample: expected a share"),
                            (("--run", "ref", "--match", "a=b"), "--match has no meaning in a sweep")):
            self.assertIn(line, self.sweep("d", *words, status=2))
        self.assertFalse((self.path / "c").exists() or (self.path / "d").exists())

    def test_small_types_of_weights(self):
        # blocks of 64 fill the sums; operator set 17 has no DequantizeLinear for most of them
        weights = np.random.default_rng(3).standard_normal((64, 4)).astype(np.float32)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 64])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
                                  [numpy_helper.from_array(weights, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), self.path / "wide.onnx")
        types = ["int8", "int4", "fp8", "nvfp4", "mxfp4", "nf4", "int4-awq", "int4-gptq", "nvfp4-gptq"]
        words = [ASSAY, "sweep", "--models", "wide.onnx", "--run", "ref", "engine", "--vary", *(f"weights-{word}" for word in types),
                 "--iterations", "40", "--atol", "0", "--rtol", "0", "-o", "a"]
        told_by(*words, status=1)
        units = {(unit["variant"], unit["side"]): unit for unit in self.report("a")["units"]}
        found = {variant: unit["difference"]["max_abs"] for (variant, side), unit in units.items() if side == "ref" and "weights" in variant}
        self.assertEqual(set(found), {f"weights-{word}" for word in types})
        for variant, error in found.items():
            # sums of 64 products with numbers below 1: half a step of 8 bits is 0.016 at most, of the others 0.7
            self.assertTrue(1e-3 < error < 64 * (0.016 if variant == "weights-int8" else 0.7), (variant, error))
        self.assertNotEqual(found["weights-int4"], found["weights-int4-gptq"])
        commands = {worst["variant"]: worst["command"] for worst in self.report("a")["worst"]}
        self.assertEqual({variant for variant, command in commands.items() if not command},
                         {"weights-int4-awq", "weights-int4-gptq", "weights-nvfp4-gptq"})
        self.assertIn("--vary weights-nf4 --data", commands["weights-nf4"])

    def test_samples_that_calibrate_decide(self):
        self.loader(10)
        text = (self.path / "loader.py").read_text()
        rest = ("--run", "ref", "--vary", "int8", "--data", "loader.py", "--shard-size", "2")
        self.sweep("a", *rest, status=1)
        self.assertEqual(len(self.record_lines("a")), 60)
        (self.path / "loader.py").write_text(text.replace("        yield", "        if i == 9: random.standard_normal(1)\n        yield"))
        self.sweep("a", *rest, status=1)
        self.assertEqual(len(self.record_lines("a")), 120)

    def test_parts(self):
        data = self.loader(20)
        self.sweep("limited", "--run", "ref", *data, "--limit", "7", "--shard-size", "2")
        self.assertEqual(sum(unit["samples"] for unit in self.report("limited")["units"]), 42)
        counts = []
        for share in ("30%", "60%", "100%"):
            self.sweep("sampled", "--run", "ref", *data, "--shard-size", "2", "--sample", share)
            counts.append({(unit["model"], unit["shard"]) for unit in self.report("sampled")["units"]})
        self.assertEqual(len(counts[2]), 60)
        self.assertLess(10, len(counts[0]))
        self.assertLess(len(counts[0]), len(counts[1]))
        self.assertTrue(counts[0] < counts[1] < counts[2])

    def test_reports(self):
        self.sweep("old", "--run", "ref", "engine", *self.loader(4))
        make_model(self.path / "zoo/m2.onnx", 77)
        self.sweep("new", "--run", "ref", "engine", "--vary", "fp16", *self.loader(4), "--metric", "top1", "--junit", "j.xml", "--report",
                   "p.html", "--save-csv", "c.csv", "--save-sqlite", "s.db", status=1)
        store = sqlite3.connect(self.path / "s.db")
        self.assertEqual(store.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        count = store.execute("SELECT COUNT(*) FROM units WHERE status = 'differs'").fetchone()[0]
        self.assertEqual(count, self.report("new")["by_status"]["differs"])
        self.assertGreater(count, 0)
        self.assertEqual(store.execute("SELECT SUM(trials) FROM samples").fetchone()[0], 4 * 2 * 24)
        self.assertEqual(len((self.path / "c.csv").read_text().splitlines()), 25)
        self.assertEqual((self.path / "j.xml").read_text().count("<failure"), count)
        page = (self.path / "p.html").read_text()
        self.assertIn("Worst samples", page)
        self.assertNotIn("://", page)
        told = run(ASSAY, "sweep", "report", "new", "--against", "old", status=1)
        self.assertIn("fp16 | engine | status: absent -> ", told)
        self.assertIn("0 change(s)", run(ASSAY, "sweep", "report", "old", "--against", "old"))

    def test_worst_samples_are_repeated(self):
        self.sweep("a", "--run", "ref", "engine", "engine:bf16", *self.loader(9), "--atol", "0", "--rtol", "0", "--vary", "fp16", status=1)
        worst = self.report("a")["worst"]
        self.assertTrue(worst)
        with_settings = [entry for entry in worst if (entry["side"], entry["variant"]) == ("engine:bf16", "original")]
        for entry in (worst[0], worst[-1], with_settings[0]):
            shutil.rmtree("repeated", ignore_errors=True)
            told = subprocess.run(entry["command"].replace("assay", ASSAY, 1).split(" ") + ["--atol", "0", "--rtol", "0"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(told.returncode, 1, told.stderr)
            self.assertIn(f"{entry['max_abs']:.4g}", told.stdout)


if __name__ == "__main__":
    unittest.main()
