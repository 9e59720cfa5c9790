#!/usr/bin/env python3
"""The blocks of docs/recipes.md in a shell, in order: recipes_test.py ASSAY"""

import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import onnx
from in_folder import InFolder

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/recipes.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n, 8] input) => (float[n, 8] output) { a = %s(input) output = Softmax(a) }"""


def commands(language: str, text: str) -> str:
    if language != "yaml":
        return text
    _, script = text.split("run: |\n")
    return script.replace("\n    ", "\n").lstrip()


class RecipesTest(InFolder):
    def setUp(self):
        super().setUp()
        (self.path / "bin").mkdir()
        (self.path / "models").mkdir()
        os.symlink(PROGRAM, self.path / "bin/assay")
        for name, op in (("first", "Tanh"), ("second", "Sigmoid")):
            self.save(onnx.parser.parse_model(MODEL % op), f"models/{name}.onnx")

    def shell(self, text: str) -> str:
        environment = os.environ | {"PATH": f"{self.path / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-e", "-c", text], cwd=self.path, env=environment, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_all_blocks(self):
        blocks = [(language, text) for language, text in BLOCK.findall(PAGE.read_text()) if language != "dockerfile"]
        self.assertEqual([language for language, _ in blocks], ["sh", "sh", "yaml", "sh", "sh"])
        for language, text in blocks:
            printed = self.shell(commands(language, text))
            self.assertNotIn("took too long", printed)
        for name in ("first", "second"):
            self.assertTrue((self.path / f"engines/{name}.engine").is_file())
            self.assertTrue((self.path / f"results/{name}.json").is_file())
        for path, count in (("results/first.xml", 1), ("results/second.xml", 1), ("junit-lint.xml", 2),
                            ("junit-run.xml", 2)):
            suites = xml.etree.ElementTree.parse(self.path / path).getroot()
            self.assertEqual((len(suites), suites.get("failures"), suites.get("errors")), (count, "0", "0"))

    def test_a_folder_with_a_bad_model_fails(self):
        (self.path / "models/first.onnx").write_bytes(b"no model")
        (language, text), *_ = BLOCK.findall(PAGE.read_text())
        with self.assertRaises(AssertionError):
            self.shell(commands(language, text))


if __name__ == "__main__":
    unittest.main()
