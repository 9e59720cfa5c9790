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
KILLED = "the process of onnxrt was killed by signal 9 (killed)"
FAILS_WITH_CULPRIT = f"! grep -aq link_{CULPRIT}_ polygraphy_debug.onnx"


def chain():
    nodes = " ".join(f"[link_{i}_] v{i} = Neg({f'v{i - 1}' if i else 'x'})" for i in range(COUNT))
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] v{COUNT - 1}) {{ {nodes} }}')


def exponential():
    """The same chain, in which two programs round one node differently."""
    model = chain()
    model.graph.node[CULPRIT].op_type = "Exp"
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_value = 64
    return model


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
        out, err = process.communicate(timeout=600)
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
        told = process.communicate(timeout=600)[0]
        self.assertEqual(process.returncode, 130)
        self.assertIn("| Iteration 3 |", told)
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
        text = self.reduce("--timeout", "2", *self.script(f"{FAILS_WITH_CULPRIT} || sleep 3000"))
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

    def debug(self, command, *words, status=0, dies_on, line="{}", **variables):
        """With an ONNX Runtime that kills its process on some models."""
        self.save(exponential())
        runtime = next(pathlib.Path(os.environ["ASSAY_ONNXRUNTIME"]).glob("onnxruntime/capi/libonnxruntime.so.*"))
        environment = {**os.environ, "ASSAY_ONNXRUNTIME": str(LIBRARIES / "libdying.so"), "ASSAY_TEST_RUNTIME": str(runtime),
                       "ASSAY_TEST_DIES_ON": dies_on, **{f"ASSAY_TEST_{name}": value for name, value in variables.items()}}
        done = subprocess.run([ASSAY, "debug", command, "m.onnx", "--onnxrt", "--isolate", *words], cwd=self.path,
                              capture_output=True, text=True, timeout=600, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status == 3:
            self.assertEqual(done.stderr.split("[!] error: ")[1], line.format(KILLED) + "\n")
        return done.stdout + done.stderr

    def test_a_backend_that_dies_of_the_file_as_it_is(self):
        self.debug("reduce", "-o", "r.onnx", dies_on="nothing", DIES_ON_FILE="link_5_", status=3,
                   line="the model fails as it is but not when it is written anew: `surgeon sanitize` cures it; it fails "
                        "with: {}")

    def test_a_backend_that_dies_on_parts(self):
        words = ["-o", "r.onnx", "--atol", "0", "--rtol", "0", "--val-range", "[1,2]"]
        text = self.debug("reduce", *words, dies_on="link_11_", SPARED_BY="link_12_")
        self.assertIn(f"cannot be checked: {KILLED}", text)
        self.assertIn("1 model(s) on the way could not be judged", text)
        self.assert_found()
        text = self.debug("reduce", "-o", "r.onnx", dies_on="link_5_")
        self.assertIn(f"The whole model fails: {KILLED}", text)
        self.assertEqual(self.left(), ["link_5_"])

    def test_a_backend_that_dies_after_a_step(self):
        text = self.debug("bisect", "--fp-to-fp16", "--atol", "1e-2", dies_on="float16")
        self.assertIn(KILLED, text)
        self.assertIn("It fails from step 1 of", text)
        text = self.debug("bisect", "--fp-to-fp16", "--atol", "1e-2", dies_on="link_5_", status=1)
        self.assertIn(KILLED, text)
        self.assertIn("the model fails before any step", text)

    def test_a_backend_that_dies_of_a_precision(self):
        text = self.debug("precision", "--fp16", "--direction", "forward", "--atol", "1e-2", dies_on="float16")
        self.assertIn(KILLED, text)
        self.assertIn(f"try running the first {CULPRIT} layer(s) in higher precision", text)  # the others cannot be converted

    def test_a_backend_that_dies_of_being_watched(self):
        text = self.debug("accuracy", dies_on="v5", DIES_FROM="3")
        self.assertIn(f"onnxrt: only the outputs are judged, because it fails where all values are asked for: {KILLED}", text)
        self.assertIn("onnxrt | values: 1 |", text)
        self.debug("accuracy", dies_on="link_5_", status=3)
        self.debug("repeat", "--same", "--until", "2", dies_on="link_5_", status=3)


if __name__ == "__main__":
    in_folder.unittest.main()
