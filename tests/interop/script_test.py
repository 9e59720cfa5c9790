"""User scripts and isolated backends through the command line: what loaders may give, what the comparison and the
post-processing function see, and that nothing that a script or a library does takes the program with it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ASSAY = os.environ["ASSAY"]
LIBRARIES = pathlib.Path(os.environ["ASSAY_BIN_DIR"])


def make_model(path: pathlib.Path):
    nodes = [helper.make_node("Exp", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xyz"]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        make_model(self.folder / "m.onnx")

    def run_assay(self, script: str, *words: str, **variables: str) -> subprocess.CompletedProcess:
        (self.folder / "script.py").write_text(textwrap.dedent(script))
        return subprocess.run([ASSAY, "run", "m.onnx", "--ref", "--python", sys.executable, *words], cwd=self.folder,
                              capture_output=True, text=True, env={**os.environ, **variables}, timeout=600)

    def expect(self, done: subprocess.CompletedProcess, status: int, *texts: str):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout + done.stderr)

    def test_a_loader_gives_iterations_one_by_one(self):
        loader = """
            import numpy as np
            def load_data():
                print("on its own stream")
                for i in range(3):
                    yield {"x": np.full(4, i, np.float32)}
        """
        done = self.run_assay(loader, "--ref-fp64", "--data-loader-script", "script.py", "--save-inputs", "i.npz.json")
        self.expect(done, 0, "Completed 3 iteration(s)", "Passed: 3/3 iterations")
        self.assertNotIn("on its own stream", done.stdout)
        self.assertIn("on its own stream", done.stderr)

    def test_loaders_of_other_forms(self):
        for body in ("def load_data(): return [{'x': np.ones(2, np.float32)}]",
                     "class load_data:\n    def __call__(self): return ({'x': np.ones(2, '>f4').astype(np.float32)} for _ in [0])",
                     "load_data = lambda: iter([{'x': np.ones((2, 3), np.float32)[:, 1]}])"):
            with self.subTest(body):
                done = self.run_assay("import numpy as np\n" + body, "--data-loader-script", "script.py")
                self.expect(done, 0, "shape=(2,)")
        named = "import numpy as np\ndef mine(): yield {'x': np.ones(2, np.float32)}"
        self.expect(self.run_assay(named, "--data-loader-script", "script.py:mine"), 0)
        self.expect(self.run_assay(named, "--data-loader-script", "script.py", "--data-loader-func-name", "mine"), 0)

    def test_what_is_wrong_with_a_loader_is_said(self):
        cases = [("def load_data():\n    raise KeyError('lost')", "KeyError: 'lost'"),
                 ("def load_data(): return 3", "load_data"),
                 ("def load_data(): yield 3", "script.py"),
                 ("def load_data(): yield {'x': object()}", "script.py"),
                 ("import numpy as np\ndef load_data(): yield {'q': np.ones(2)}", "input `x` of the model is not given"),
                 ("import numpy as np\ndef load_data(): yield {'x': np.ones(2)}", "float32"),
                 ("def other(): pass", "load_data"), ("def load_data(:", "SyntaxError")]
        for script, text in cases:
            with self.subTest(script):
                done = self.run_assay(script, "--data-loader-script", "script.py")
                self.expect(done, 2, text)
                self.assertEqual(sum("error: " in line for line in done.stderr.splitlines()
                                     if line.startswith("[!]")), 1, done.stderr)
        self.expect(self.run_assay("", "--data-loader-script", "nowhere.py"), 2, "nowhere.py")
        self.expect(self.run_assay("", "--data-loader-script", "script.py", "--python", "/no/python"), 2, "/no/python")

    def test_a_script_that_hangs_or_dies_is_reported(self):
        hanging = "import time\ndef load_data(): time.sleep(1000)"
        self.expect(self.run_assay(hanging, "--data-loader-script", "script.py", "--timeout", "1"), 3, "error: ")
        dying = "import os\ndef load_data(): os.abort()"
        self.expect(self.run_assay(dying, "--data-loader-script", "script.py"), 3, "signal 6")

    def test_comparison_and_post_processing(self):
        script = """
            import numpy as np
            def postprocess_outputs(result):
                assert isinstance(result.runner_name, str) and result.runtime >= 0
                result["y"] = result["y"] + 1
                return result
            def compare_outputs(a, b):
                return {name: np.allclose(a[name], b[name]) for name in a}
            def never(a, b):
                return {"y": True, "z": False}
        """
        scripts = ["--postprocess-func-script", "script.py", "--compare-func-script"]
        done = self.run_assay(script, "--ref-fp64", *scripts, "script.py")
        self.expect(done, 0, "PASSED | Output: 'y' | Judged by compare_outputs", "Passed: 1/1 iterations")
        done = self.run_assay(script, "--ref-fp64", *scripts, "script.py:never")
        self.expect(done, 1, "FAILED | Output: 'z' | Judged by never", "Mismatched outputs: ['z']")

    def test_a_loader_that_gives_nothing_leaves_it_undecided(self):
        for body in ("def load_data(): return []", "def load_data(): yield from ()"):
            for words in [], ["--ref-fp64"], ["--max-memory", "1G"], ["--ref-fp64", "--tolerance", "auto"]:
                done = self.run_assay(body, "--data-loader-script", "script.py", *words)
                self.expect(done, 3, "error: the data loader gave no inputs: nothing is run")

    def test_a_comparison_judges_the_outputs_and_nothing_else(self):
        for body, text in ((
                "{'y': True, 'z': True, 'w': True}", "judged `w`, which is no output"), (
                "{'y': True}", "gave no verdict about the output `z`"), (
                "{}", "gave no verdict about the output `y`"), (
                "{'y': True, 'z': 0.001}", "gave a `float` for the output `z`, expected a bool"), (
                "{'y': True, 'z': None}", "gave a `NoneType` for the output `z`"), (
                "{'y': 'no', 'z': True}", "gave a `str` for the output `y`"), (
                "{'y': np.array([True, True]), 'z': True}", "gave a `ndarray` for the output `y`")):
            script = f"import numpy as np\ndef compare_outputs(a, b): return {body}"
            done = self.run_assay(script, "--ref-fp64", "--compare-func-script", "script.py")
            self.expect(done, 2, f"error: `compare_outputs` of the script `script.py` {text}")
        truth = """
            class Truth:
                def __bool__(self): return False
            def compare_outputs(a, b): return {name: Truth() for name in a}
        """
        done = self.run_assay(truth, "--ref-fp64", "--compare-func-script", "script.py")
        self.expect(done, 1, "Mismatched outputs: ['y', 'z']")

    def test_post_processed_outputs_are_compared_and_raw_ones_are_saved(self):
        script = "def postprocess_outputs(result):\n    return {'y': result['y'] * 0}"
        done = self.run_assay(script, "--ref-fp64", "--postprocess-func-script", "script.py", "--save-outputs", "o.npz",
                              "--iterations", "1", "--rtol", "0", "--atol", "0")
        self.expect(done, 2, "o.npz")  # two runs do not fit into one
        done = self.run_assay(script, "--ref-fp64", "--postprocess-func-script", "script.py", "--rtol", "0", "--atol", "0")
        self.expect(done, 0, "All outputs matched | Outputs: ['y']")

    def test_isolated_backends_give_the_same(self):
        plain = self.run_assay("", "--ref-fp64", "--onnxrt", "--save-outputs", "plain.json", "--input-shapes", "x:[5]")
        alone = self.run_assay("", "--ref-fp64", "--onnxrt", "--save-outputs", "alone.json", "--input-shapes", "x:[5]",
                               "--isolate", "--jobs", "3")
        self.expect(plain, 0)
        self.expect(alone, 0)
        done = subprocess.run([ASSAY, "inspect", "diff", "plain.json", "alone.json"], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_backend_that_dies_or_hangs_is_its_own_failure(self):
        words = ["--onnxrt", "--ref-fp64", "--ref", "--isolate"]
        done = self.run_assay("", *words, ASSAY_ONNXRUNTIME=str(LIBRARIES / "libaborting.so"))
        self.expect(done, 3, "signal 6", "Accuracy Summary | ref-fp64-runner-N0", "UNDECIDED | Runtime")
        done = self.run_assay("", *words, "--timeout", "3", ASSAY_ONNXRUNTIME=str(LIBRARIES / "libhanging.so"))
        self.expect(done, 3, "onnxrt-runner-N0", "Accuracy Summary | ref-fp64-runner-N0")
        done = self.run_assay("", *words, "--rtol", "0", "--atol", "0", ASSAY_ONNXRUNTIME=str(LIBRARIES / "libaborting.so"))
        self.expect(done, 1, "signal 6")  # that another pair differs counts more

    def test_a_backend_that_dies_in_this_process_is_named(self):
        done = self.run_assay("", "--onnxrt", ASSAY_ONNXRUNTIME=str(LIBRARIES / "libaborting.so"))
        self.expect(done, 3, "RUNNING | Command: ")  # what was printed is not lost
        self.assertEqual(done.stderr.splitlines()[-1], "[!] error: ONNX Runtime crashed: abort (with `run --isolate` "
                         "each backend has a process of its own)")

    def test_the_neighbours_of_a_backend_that_gives_nothing_are_compared(self):
        no_library = {"ASSAY_ONNXRUNTIME": str(LIBRARIES / "libaborting.so")}
        done = self.run_assay("", "--onnxrt", "--ref-fp64", "--isolate", "--save-heatmaps", "maps", **no_library)
        self.expect(done, 3, "Accuracy Summary | ref-runner-N0", "UNDECIDED | Runtime")
        self.assertRegex(done.stdout, r"Accuracy Comparison \| ref-runner-N0\S* vs\. ref-fp64-runner-N0")
        self.assertRegex(os.listdir(self.folder / "maps")[0], "ref-runner-N0.* vs. ref-fp64-runner-N0")
        done = self.run_assay("", "--onnxrt", "--ref-fp64", "--isolate", "--atol", "0", "--rtol", "0", **no_library)
        self.expect(done, 1, "FAILED | Runtime")

    def test_other_commands_outlive_a_backend_that_dies(self):
        aborting = {**os.environ, "ASSAY_ONNXRUNTIME": str(LIBRARIES / "libaborting.so")}
        for status, words in ((3, ["check", "compatibility", "m.onnx", "--onnxrt"]), (3, ["doctor", "--onnxrt"]),
                              (3, ["convert", "m.onnx", "--fp-to-fp16", "--measure", "--measure-with", "onnxrt", "-o", "q.onnx"])):
            done = subprocess.run([ASSAY, *words], cwd=self.folder, capture_output=True, text=True, env=aborting,
                                  timeout=600)
            self.expect(done, status, "the process of onnxrt was killed by signal 6 (aborted)")

    def test_limits_need_a_process_of_their_own(self):
        self.expect(self.run_assay("", "--timeout", "1"), 2, "--timeout needs --isolate")
        self.expect(self.run_assay("", "--jobs", "2"), 2, "--jobs needs --isolate")
        self.expect(self.run_assay("", "--timeout", "0", "--isolate"), 2, "expected seconds above 0")


if __name__ == "__main__":
    unittest.main()
