"""Sweeps on real Ray: the Python that runs the test, or ASSAY_RAY_PYTHON, has it; without it only refusals are tested."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

from in_folder import InFolder
from sweep_test import LOADER, make_model, told_by

ASSAY = os.environ["ASSAY"]
PYTHON = os.environ.get("ASSAY_RAY_PYTHON", sys.executable)
HAS_RAY = subprocess.run([PYTHON, "-c", "import ray"], capture_output=True, check=False).returncode == 0

# `how`: kills the process that runs units, or the actor above it, when a sample is seen for the first time.
METRIC = """
import os, pathlib, signal, time
def metric(outputs, labels):
    time.sleep({pause})
    first = float(outputs["y"][0, 0])
    flag = pathlib.Path(f"{folder}/flag{{first:.3f}}")
    if {share} < first and not flag.exists():
        flag.touch()
        {how}
    return first
"""
WORKER = "os.kill(os.getppid(), signal.SIGKILL)"
ACTOR = "os.kill(int(open(f'/proc/{os.getppid()}/stat').read().rsplit(')')[1].split()[1]), signal.SIGKILL); time.sleep(60)"


class OnRay(InFolder):
    def setUp(self):
        super().setUp()
        os.chdir(self.path)
        for seed in range(3):
            make_model(self.path / f"zoo/m{seed}.onnx", seed)
        (self.path / "loader.py").write_text(LOADER.format(count=24, bad=-1, width=8, classes=4))

    def words(self, folder, *options):
        return [ASSAY, "sweep", "--models", "zoo/*.onnx", "--run", "ref", "engine", "--data", "loader.py", "--shard-size", "2",
                "--metric", "metric.py", "--python", PYTHON, *options, "-o", folder]

    def metric(self, share=2.0, how="pass", pause=0.0):
        text = METRIC.format(share=share, how=how, pause=pause, folder=self.path)
        (self.path / "metric.py").write_text(text)

    def facts(self, folder):
        subprocess.run([ASSAY, "sweep", "report", folder, "--json", "r.json", "-q"], check=False, capture_output=True)
        report = json.loads((self.path / "r.json").read_text())
        units = [{key: unit[key] for key in ("model", "variant", "side", "shard", "status", "metrics", "samples", "difference")
                  if key in unit} for unit in report["units"]]
        return units, report["metrics"], report["by_status"]

    def done(self, folder):
        return sum(len(file.read_text().splitlines()) - 1 for file in pathlib.Path(folder, "journal").glob("*.jsonl"))

    def serial(self):
        self.metric()
        told_by(*self.words("serial", "--jobs", "1"), status=0)
        return self.facts("serial")

    def test_a_python_without_ray(self):
        if HAS_RAY:
            self.skipTest("this Python has Ray")
        told = told_by(*self.words("a", "--on", "ray"), status=3)
        self.assertIn(f"the Python `{PYTHON}` has no package ray; `pip install ray`", told)

    @unittest.skipUnless(HAS_RAY, f"`{PYTHON}` has no package ray")
    def test_nobody_answers(self):
        self.metric()
        told = told_by(*self.words("a", "--on", "ray:127.0.0.1:1"), status=3)
        self.assertIn("Ray cannot be reached: ConnectionRefusedError", told)

    @unittest.skipUnless(HAS_RAY, f"`{PYTHON}` has no package ray")
    def test_workers_that_are_killed(self):
        expected = self.serial()
        for folder, how in (("worker", WORKER), ("actor", ACTOR)):
            with self.subTest(folder):
                self.metric(0.6, how)
                told_by(*self.words(folder, "--on", "ray", "--jobs", "2", "--retries", "9"), status=0)
                flags = list(self.path.glob("flag*"))
                self.assertTrue(flags)
                for flag in flags:
                    flag.unlink()
                self.assertEqual(self.facts(folder), expected)

    @unittest.skipUnless(HAS_RAY, f"`{PYTHON}` has no package ray")
    def test_what_hangs(self):
        self.metric(0.85, "time.sleep(600)")
        told_by(*self.words("hanging", "--on", "ray", "--jobs", "2", "--timeout", "5", "--retries", "9"), status=0)
        self.assertTrue(list(self.path.glob("flag*")))
        left = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                left += [words] if b"--serve-units" in words and os.readlink(process / "cwd") == str(self.path) else []
            except OSError:
                pass
        self.assertEqual(left, [])

    @unittest.skipUnless(HAS_RAY, f"`{PYTHON}` has no package ray")
    def test_a_driver_that_is_killed(self):
        expected = self.serial()
        self.metric(pause=0.05)
        words = self.words("killed", "--on", "ray", "--jobs", "2")
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.done("killed") < 15:
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertLess(self.done("killed"), 72)
        told_by(*words, status=0)
        self.assertEqual(self.facts("killed"), expected)

    def processes_of(self, *words):
        """Numbers of processes whose command lines have all words."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if all(str(word) in command for word in words):
                found.append(int(process.name))
        return found

    @unittest.skipUnless(HAS_RAY, f"`{PYTHON}` has no package ray")
    def test_a_head_node_that_dies(self):
        expected = self.serial()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        cluster = self.path / "ray"
        environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_gcs_rpc_server_reconnect_timeout_s": "3"}
        start = "from ray.scripts.scripts import main; main()"
        self.addCleanup(lambda: [os.kill(number, signal.SIGKILL) for number in self.processes_of(cluster)])
        subprocess.run([PYTHON, "-c", start, "start", "--head", "--port", str(port), "--num-cpus", "2", "--include-dashboard=false",
                        "--temp-dir", cluster], check=True, capture_output=True, env=environment)
        self.metric(pause=0.1)
        words = self.words("headless", "--jobs", "2")
        process = subprocess.Popen([*words, "--on", f"ray:127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, env=environment)
        while self.done("headless") < 10:
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        for name in ("gcs_server", "raylet/raylet"):
            for number in self.processes_of(name, cluster):
                os.kill(number, signal.SIGKILL)
        _, told = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 3, told)
        self.assertIn("what is recorded stays, and the same command goes on from there", told)
        self.assertTrue(10 <= self.done("headless") < 72)
        told_by(*words, status=0)
        self.assertEqual(self.facts("headless"), expected)


if __name__ == "__main__":
    unittest.main()
