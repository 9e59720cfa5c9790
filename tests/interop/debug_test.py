"""Searches for culprits whose checks misbehave: they are interrupted and resumed, crash, hang, write megabytes, remove or
change the model, or cannot make up their mind; and backends that die. Nothing of it may cost what was found, or name
an innocent node."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import in_folder
import onnx
import onnx.parser

ASSAY = os.environ["ASSAY"]
LIBRARIES = pathlib.Path(os.environ["ASSAY_BIN_DIR"])
COUNT, CULPRIT = 40, 13
FAILS_WITH_CULPRIT = f"! grep -aq link_{CULPRIT}_ polygraphy_debug.onnx"


def chain():
    nodes = " ".join(f"[link_{i}_] v{i} = Neg({f'v{i - 1}' if i else 'x'})" for i in range(COUNT))
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] v{COUNT - 1}) {{ {nodes} }}')


class Debug(in_folder.InFolder):
    def setUp(self):
        super().setUp()
        self.save(chain())

    def start(self, *words, **environment):
        return subprocess.Popen([ASSAY, "debug", "reduce", "m.onnx", "-o", "r.onnx", *words], cwd=self.path,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **environment})

    def reduce(self, *words, status=0, **environment):
        process = self.start(*words, **environment)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return out + err

    def script(self, text):
        (self.path / "check.sh").write_text(text)
        return "--check", "sh", "check.sh"

    def left(self):
        return [node.name for node in onnx.load(self.path / "r.onnx").graph.node]

    def assert_found(self):
        self.assertEqual(self.left(), [f"link_{CULPRIT}_"])
        self.assertFalse((self.path / "polygraphy_debug.onnx").exists())

    def calls(self):
        log = self.path / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def test_an_interrupted_search_is_resumed(self):
        check = self.script(f"echo call >> log; sleep 0.1; {FAILS_WITH_CULPRIT}")
        alone = int(re.search(r"Finished (\d+) iteration", self.reduce(*check)).group(1))
        (self.path / "log").unlink()
        process = self.start(*check)
        while self.calls() < 4:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse((self.path / "polygraphy_debug.onnx").exists())
        kept = json.loads((self.path / "polygraphy_debug_replay.json").read_text())
        self.assertGreaterEqual(len(kept), 3)
        (self.path / "log").unlink()
        self.assertIn("Loading iteration information from debug replay", self.reduce("--resume", *check))
        self.assert_found()
        self.assertEqual(self.calls(), alone - len(kept))

    def test_a_check_that_removes_or_changes_the_model(self):
        for spoil in ("rm polygraphy_debug.onnx", "echo spoilt > polygraphy_debug.onnx", "mv polygraphy_debug.onnx taken.onnx"):
            text = self.reduce(*self.script(f"{FAILS_WITH_CULPRIT}; status=$?; {spoil}; exit $status"))
            self.assertIn("the check changed or removed `polygraphy_debug.onnx`", text)
            self.assert_found()

    def test_a_check_that_writes_megabytes(self):
        text = self.reduce(*self.script(f"head -c 3000000 /dev/zero | tr '\\0' x; {FAILS_WITH_CULPRIT}"))
        self.assertIn("bytes left out]", text)
        self.assertLess(len(text), 2_000_000)
        self.assert_found()

    def test_a_crash_is_none_of_the_codes_that_fail(self):
        check = self.script(f"{FAILS_WITH_CULPRIT} || exit 7; kill -SEGV $$")
        self.reduce("--fail-code", "7", *check)
        self.assert_found()

    def test_a_check_that_hangs_with_the_culprit(self):
        text = self.reduce("--timeout", "0.3", *self.script(f"{FAILS_WITH_CULPRIT} || sleep 60"))
        self.assertIn("the check took too long and was ended", text)
        self.assert_found()

    def test_a_check_that_cannot_make_up_its_mind(self):
        text = self.reduce(*self.script("echo call >> log; test $(wc -l < log) -gt 5"))
        self.assertIn("the check is flaky", text)
        (self.path / "log").unlink()
        text = self.reduce("--repeat-check", "3", *self.script(f"echo call >> log; test $(($(wc -l < log) % 3)) = 1 || {FAILS_WITH_CULPRIT}"))
        self.assertIn("does not always give the same verdict; it counts as failed", text)
        self.assert_found()

    def test_an_output_that_cannot_be_written(self):
        text = self.reduce("-o", "/proc/none/r.onnx", *self.script(FAILS_WITH_CULPRIT), status=2)
        self.assertIn("[!] error: ", text)
        self.assertIn("/proc/none", text)

    def test_a_backend_that_dies(self):
        dying = {"ASSAY_ONNXRUNTIME": str(LIBRARIES / "libaborting.so")}
        text = self.reduce("--onnxrt", "--isolate", **dying)
        self.assertIn("Reduced: 1 of", text)
        text = self.reduce("--ref", "--against", "onnxrt", "--isolate", status=3, **dying)
        self.assertIn("the whole model cannot be judged", text)


if __name__ == "__main__":
    in_folder.unittest.main()
