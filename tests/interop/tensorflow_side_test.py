"""`--tf`: the user's TensorFlow as a side, in frozen graphs, SavedModels, checkpoints and TFLite files. Without
TensorFlow only refusals are tested."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
import venv

import numpy as np
from in_folder import InFolder, run
from tensorflow_import_test import frozen, lite, normal, saved
from tensorflow_python import HAS_TENSORFLOW, PYTHON, QUIET, REASON

ASSAY = os.environ["ASSAY"]
NONE = """
import sys
sys.path[:] = [each for each in sys.path if "tensorflow" not in each]
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorflow", "ai_edge_litert", "tflite_runtime"):
            raise ModuleNotFoundError("none", name=name)
sys.meta_path.insert(0, Finder())
"""
CHECKPOINT = """
import sys, tensorflow as tf
v1 = tf.compat.v1
with v1.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [2, 3], name="x")
    w = v1.Variable(tf.fill([3, 4], 0.5), use_resource=False, name="w")
    tf.nn.relu(tf.matmul(x, w), name="y")
    session.run(v1.global_variables_initializer())
    v1.train.Saver().save(session, sys.argv[1])
"""
KERAS = """
import sys, keras
keras.utils.set_random_seed(3)
inputs = keras.Input((8, 8, 3))
layer = keras.layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
layer = keras.layers.BatchNormalization()(keras.layers.DepthwiseConv2D(3)(layer))
outputs = keras.layers.Dense(5, activation="softmax")(keras.layers.GlobalAveragePooling2D()(layer))
keras.Model(inputs, outputs).export(sys.argv[1], verbose=False)
for path in sys.argv[2:]:
    keras.Model(inputs, outputs).save(path)
"""
LABELS = """
import sys, tensorflow as tf
class Labels(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def name(self, x):
        return {"label": tf.gather(tf.constant(["no", "yes"]), tf.cast(x > 0, tf.int32)), "score": x * 2.0}
module = Labels()
tf.saved_model.save(module, sys.argv[1], signatures=module.name)
"""


STAND_IN = """
import os
import numpy as np

class OpResolverType:
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 4

class Interpreter:
    def __init__(self, model_path, num_threads=None, experimental_preserve_all_tensors=False,
                 experimental_op_resolver_type=None):
        assert experimental_preserve_all_tensors == (experimental_op_resolver_type == 4)
        folder = os.path.dirname(model_path)
        self.ports = [dict(np.load(os.path.join(folder, each))) for each in ("inputs.npz", "answers.npz")]
    def details(self, ports, first):
        return [{"name": name, "index": first + i, "dtype": value.dtype.type, "shape": np.array(value.shape),
                 "shape_signature": np.array(value.shape)} for i, (name, value) in enumerate(ports.items())]
    def get_input_details(self):
        return self.details(self.ports[0], 0)
    def get_output_details(self):
        return [each for each in self.details(self.ports[1], 100) if each["name"] == "y"]
    def get_tensor_details(self):
        return self.get_input_details() + self.details(self.ports[1], 100)
    def get_signature_list(self):
        return {}
    def resize_tensor_input(self, *_): pass
    def allocate_tensors(self): pass
    def set_tensor(self, *_): pass
    def invoke(self): pass
    def get_tensor(self, index):
        return list(self.ports[1].values())[index - 100]
"""


class Side(InFolder):
    def fails(self, status, *words, env=None):
        words = [str(word) for word in (ASSAY, *words)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600, env=env)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def write(self, name, data):
        path = self.path / name
        path.write_bytes(data)
        return path

    def test_refusals(self):
        folder = self.path / "packages"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(NONE)
        bare = {**os.environ, "PYTHONPATH": str(folder)}
        for path in (self.write("net.pb", frozen()), self.write("net.tflite", lite())):
            told = self.fails(3, "run", path, "--tf", "--python", sys.executable, env=bare)
            self.assertIn("`pip install tensorflow` brings", told)

    def test_a_stand_in_answers(self):
        """What the program and its Python say to each other, with an interpreter that has its answers from a file."""
        venv.create(self.path / "env", symlinks=True)
        folder = next((self.path / "env/lib").glob("python*/site-packages"))
        (folder / "tflite_runtime").mkdir()
        (folder / "tflite_runtime/__init__.py").touch()
        (folder / "tflite_runtime/interpreter.py").write_text(STAND_IN)
        (folder / "numpy.pth").write_text(str(pathlib.Path(np.__file__).parents[1]))
        python = self.path / "env/bin/python"
        path = self.write("net.tflite", lite())
        run(ASSAY, "run", path, "--ref", "--save-inputs", self.path / "inputs.npz", "--save-outputs", self.path / "answers.npz")
        words = ["run", path, "--tf", "--ref", "--load-inputs", self.path / "inputs.npz", "--python", python]
        self.assertRegex(self.fails(0, *words), r"Accuracy Summary \| tf-runner-N0\S+ vs\. ref-runner")
        answers = dict(np.load(self.path / "answers.npz"))
        np.savez(self.path / "answers.npz", **{name: value + 1 for name, value in answers.items()})
        self.assertIn("FAILED", self.fails(1, *words))
        told = self.fails(0, "bench", path, "--engine", "--against", "tf", "--python", python, "--iterations", "3", "--duration", "0")
        self.assertRegex(told, r"tf / engine: \S+ by minima")
        # Values inside, which lie there with channels last.
        run(ASSAY, "run", path, "--ref", "--load-inputs", self.path / "inputs.npz", "--tf-outputs", "dw", "both", "product", "y",
            "--save-outputs", self.path / "answers.npz")
        report = self.path / "report.json"
        told = run(ASSAY, *words, "--onnx-outputs", "mark", "all", "--json", report)
        self.assertIn("`relu`: absent (TensorFlow has no such value)", told)
        self.assertEqual(compared(report), {"dw", "both", "product", "y"})
        answers = dict(np.load(self.path / "answers.npz"))
        answers["both"] = answers["both"].transpose(0, 2, 1, 3).reshape(answers["both"].shape)
        np.savez(self.path / "answers.npz", **answers)
        told = self.fails(1, *words, "--onnx-outputs", "mark", "all")
        self.assertRegex(told, r"FAILED \| Mismatched outputs: \['both'\]")

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_values_inside(self):
        """TensorFlow's own, of convolutions too, in three formats."""
        folder = self.path / "saved"
        subprocess.run([PYTHON, "-c", KERAS, str(folder)], check=True, env=QUIET, capture_output=True)
        pb, report = self.path / "net.pb", self.path / "report.json"
        run(ASSAY, "run", folder, "--tf", "--python", PYTHON, "--save-pb", pb)
        for path, wanted in ((folder, "/convolution:0"), (pb, "/convolution:0"), (self.write("net.tflite", lite()), "both")):
            run(ASSAY, "run", path, "--tf", "--ref", "--python", PYTHON, "--onnx-outputs", "mark", "all", "--tolerance", "auto",
                "--json", report)
            seen = compared(report)
            self.assertTrue(any(each.endswith(wanted) for each in seen) and len(seen) > 5, seen)
            (name,) = [each for each in seen if each.endswith(wanted)]
            run(ASSAY, "run", path, "--tf", "--ref", "--python", PYTHON, "--onnx-outputs", name, "--json", report)
            self.assertEqual(compared(report), {name})

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_onnx_models(self):
        self.save(tf_free_model(), "m.onnx")
        told = self.fails(3, "run", self.path / "m.onnx", "--tf", "--python", PYTHON)
        self.assertIn("TensorFlow runs its own models as their files have them", told)

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_three_formats(self):
        for path in (self.write("net.pb", frozen()), self.write("net.tflite", lite())):
            run(ASSAY, "run", path, "--tf", "--ref", "--engine", "--python", PYTHON)
        told = run(ASSAY, "run", self.path / "net.pb", "--tf", "--ref", "--python", PYTHON, "--tf-outputs", "relu", "pool")
        self.assertIn("'pool:0'", told)

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_a_saved_model_of_keras(self):
        folder = self.path / "saved"
        subprocess.run([PYTHON, "-c", KERAS, str(folder)], check=True, env=QUIET, capture_output=True)
        frozen_path = self.path / "out.pb"
        run(ASSAY, "run", folder, "--tf", "--ref", "--onnxrt", "--python", PYTHON, "--save-pb", frozen_path)
        found = json.loads(run(ASSAY, "inspect", "model", frozen_path, "--json", "-", "-q"))
        self.assertNotIn("VarHandleOp", found["op_histogram"])
        run(ASSAY, "run", frozen_path, "--ref", "--tf", "--python", PYTHON)

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_files_of_keras(self):
        """TensorFlow runs them, and makes a frozen graph that all others read."""
        files = [self.path / "net.keras", self.path / "net.h5"]
        subprocess.run([PYTHON, "-c", KERAS, str(self.path / "saved"), *map(str, files)], check=True, env=QUIET, capture_output=True)
        for file in files:
            pb, feeds, results = (self.path / f"{file.name}.{ending}" for ending in ("pb", "in.npz", "out.npz"))
            run(ASSAY, "run", file, "--tf", "--python", PYTHON, "--save-pb", pb, "--save-inputs", feeds, "--save-outputs", results)
            np.savez(feeds, **{f"{name}:0": value for name, value in np.load(feeds).items()})
            run(ASSAY, "run", pb, "--ref", "--load-inputs", feeds, "--save-outputs", self.path / "ref.npz")
            (expected,), (found,) = np.load(results).values(), np.load(self.path / "ref.npz").values()
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        cut = self.write("cut.keras", files[0].read_bytes()[:-2000])
        self.assertIn("Keras cannot load", self.fails(2, "run", cut, "--tf", "--python", PYTHON))

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_outputs_of_strings(self):
        folder = self.path / "labels"
        subprocess.run([PYTHON, "-c", LABELS, str(folder)], check=True, env=QUIET, capture_output=True)
        self.assertIn("`label` is of strings", self.fails(3, "run", folder, "--tf", "--python", PYTHON))
        self.assertIn("`score` can be chosen (--tf-outputs", self.fails(3, "run", folder, "--ref"))
        run(ASSAY, "run", folder, "--tf", "--ref", "--python", PYTHON, "--tf-outputs", "score")
        told = self.fails(2, "run", folder, "--tf", "--python", PYTHON, "--tf-outputs", "none")
        self.assertIn("no output `none`, but: ", told)

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_checkpoints(self):
        folder = self.path / "train"
        folder.mkdir()
        subprocess.run([PYTHON, "-c", CHECKPOINT, str(folder / "model")], check=True, env=QUIET, capture_output=True)
        x = normal(2, 3)
        np.savez(self.path / "in.npz", **{"x:0": x})
        words = ["--model-type", "ckpt", "--ckpt", "model", "--python", PYTHON, "--load-inputs", self.path / "in.npz"]
        run(ASSAY, "run", folder, "--tf", *words, "--save-outputs", self.path / "out.npz", "--freeze-graph", "--save-pb",
            self.path / "frozen.pb", "--tf-outputs", "y")
        found = dict(np.load(self.path / "out.npz"))["y:0"]
        np.testing.assert_allclose(found, np.maximum(x @ np.full((3, 4), 0.5), 0), rtol=1e-5, atol=1e-6)
        run(ASSAY, "run", self.path / "frozen.pb", "--ref", "--load-inputs", self.path / "in.npz")
        self.assertIn("no checkpoint `none`", self.fails(2, "run", folder, "--tf", *words, "--ckpt", "none"))
        self.assertIn("of checkpoints alone", self.fails(3, "run", folder, "--ref", "--model-type", "ckpt"))

    @unittest.skipUnless(HAS_TENSORFLOW, REASON)
    def test_bad_models(self):
        self.assertIn("no frozen graph", self.fails(2, "run", self.write("bad.pb", frozen()[:-40]), "--tf", "--python", PYTHON))
        told = self.fails(2, "run", self.write("short.tflite", lite()[:900]), "--tf", "--python", PYTHON)
        self.assertIn("without a name", told)
        told = self.fails(2, "run", self.write("bad.tflite", lite()[:100]), "--tf", "--python", PYTHON)
        self.assertIn("TFLite cannot load", told)
        self.assertTrue(all(line.startswith("[") for line in told.splitlines()), told)
        folder = saved(self.path / "saved")
        told = self.fails(2, "run", folder, "--tf", "--python", PYTHON, "--signature", "train")
        self.assertIn("TensorFlow cannot load" if "cannot load" in told else "no signature `train`", told)


def compared(report):
    """Names of the outputs that were compared."""
    (pair,) = json.loads(report.read_text())["pairs"]
    return {each["name"] for each in pair["iterations"][0]["outputs"]}


def tf_free_model():
    from onnx import TensorProto, helper
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    unittest.main()
