"""Every command that runs a check, with checks that hang, crash, leave something running, write megabytes, or remove,
change or replace the file that they judge: all iterations are done, each verdict is that of the check, and nothing is
left. What was judged before a process was killed is not judged again."""

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
COUNT, CULPRIT = 24, 13
ARTIFACT = "polygraphy_debug.onnx"
# Words, and the file that is judged. Where the check fails each time, `precision` finds nothing and `reduce` one node.
COMMANDS = {"build": (["build", "m.onnx", "--until", "2"], "polygraphy_debug.engine"),
            "precision": (["precision", "m.onnx", "--fp16", "--iter-artifact", ARTIFACT], ARTIFACT),
            "reduce": (["reduce", "m.onnx", "-o", "r.onnx"], ARTIFACT),
            "repeat": (["repeat", "--until", "2"], None)}
# What the check does, words besides, what is said, and whether the check fails.
FAULTS = {"hangs": ("sleep 3000", ["--timeout", "0.1"], "the check took too long and was ended", True),
          "crashes": ("kill -SEGV $$", [], "FAILED | Iteration", True),
          "crashes, which is no failure": ("kill -SEGV $$", ["--fail-code", "7"], "PASSED | Iteration", False),
          "leaves something running": ("sleep 3000 & echo $! >> left; exit 1", [], "FAILED | Iteration", True),
          "writes megabytes": ("head -c 3000000 /dev/zero | tr '\\0' x; exit 1", [], "bytes left out]", True),
          "removes the file": ("rm FILE; exit 1", [], "the check changed or removed `FILE`", True),
          "changes the file": ("echo spoilt > FILE; exit 1", [], "the check changed or removed `FILE`", True),
          "makes it a folder": ("rm FILE; mkdir FILE; touch FILE/x; exit 1", [], "the check changed or removed `FILE`", True)}
# Searches, and checks that fail with this node, where it is float16, or each time.
LATE = "v(1[3-9]|2[0-9])_float"
SEARCHES = {"reduce": (["reduce", "m.onnx", "-o", "r.onnx"], f"! grep -aq link_{CULPRIT}_ {ARTIFACT}"),
            "precision": (["precision", "m.onnx", "--fp16", "--mode", "linear", "--iter-artifact", ARTIFACT],
                          f"grep -aqE Cast_'{LATE}'16 {ARTIFACT}"),
            "repeat": (["repeat", "--until", "8"], "exit 1"),
            "bisect": (["bisect", "m.onnx", "--fp-to-fp16"], f"! grep -aqE '{LATE}' {ARTIFACT}")}


def chain():
    nodes = " ".join(f"[link_{i}_] v{i} = Neg({f'v{i - 1}' if i else 'x'})" for i in range(COUNT))
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] v{COUNT - 1}) {{ {nodes} }}')


class Checks(in_folder.InFolder):
    def setUp(self):
        super().setUp()
        self.save(chain())

    def end_what_is_left(self):
        for pid in (self.path / "left").read_text().split():
            os.kill(int(pid), signal.SIGKILL)

    def start(self, words, check):
        (self.path / "check.sh").write_text(check)
        return subprocess.Popen([ASSAY, "debug", *words, "--check", "sh", "check.sh"], cwd=self.path, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def said(self, words, check, status=0):
        process = self.start(words, check)
        out = process.communicate(timeout=600)[0]
        self.assertEqual(process.returncode, status, out)
        return out

    def check_fault(self, command, fault):
        words, file = COMMANDS[command]
        script, more, text, fails = FAULTS[fault]
        finds_nothing = command == "reduce" and not fails
        if "left" in script:
            self.addCleanup(self.end_what_is_left)
        out = self.said([*words, *more], script.replace("FILE", file or ""), status=1 if finds_nothing else 0)
        self.assertIn(text.replace("FILE", file or ""), out)
        passed, count = (int(number) for number in re.search(r"Passed: (\d+)/(\d+)", out).groups())
        self.assertEqual(passed, 0 if fails else count, out)
        self.assertGreater(count, 0)
        self.assertFalse(list(self.path.glob("polygraphy_debug.*")), out)

    def calls(self):
        log = self.path / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def check_resumed(self, command):
        words, verdict = SEARCHES[command]
        check = f"echo call >> log; sleep 0.05; {verdict}"
        alone = int(re.search(r"Passed: \d+/(\d+)", self.said(words, check)).group(1))
        (self.path / "log").unlink()
        (self.path / "polygraphy_debug_replay.json").unlink()
        process = self.start(words, check)
        while self.calls() < 3:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=600)
        self.said([*words, "--resume"], check)
        self.assertLessEqual(self.calls(), alone + 1)  # the one that was running again
        self.assertFalse((self.path / ARTIFACT).exists())

    def test_a_program_that_is_none(self):
        for words, _ in COMMANDS.values():
            done = subprocess.run([ASSAY, "debug", *words, "--check", "./m.onnx"], cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("error: the check: `./m.onnx` is no program that can be run", done.stderr)

    def test_a_backend_that_dies_in_the_check_of_a_build(self):
        check = f"export ASSAY_ONNXRUNTIME={LIBRARIES / 'libaborting.so'}; {ASSAY} run m.onnx --engine --onnxrt --isolate"
        for codes, passed in (([], 0), (["--fail-code", "1"], 2)):
            out = self.said(["build", "m.onnx", "--until", "2", *codes], check)
            self.assertIn(f"Passed: {passed}/2", out)
        self.assertIn("the process of onnxrt was killed by signal 6", self.said(["build", "m.onnx", "--until", "1"], check))


for name in COMMANDS:
    for fault in FAULTS:
        if COMMANDS[name][1] or "FILE" not in FAULTS[fault][0]:
            setattr(Checks, f"test_{name}, whose check {fault}".replace(" ", "_"),
                    lambda self, name=name, fault=fault: self.check_fault(name, fault))
for name in SEARCHES:
    setattr(Checks, f"test_{name}_is_killed_and_resumed", lambda self, name=name: self.check_resumed(name))

if __name__ == "__main__":
    in_folder.unittest.main()
