"""`assay view` itself in Debian's Chromium: what it serves, and what it writes, is the same picture, and nothing goes wrong.

The program is that of the environment's ASSAY.
"""

import contextlib
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import chromium

ASSAY = os.environ.get("ASSAY", "build/release/bin/assay")
MODEL = """<ir_version: 8, opset_import: ["" : 17]>
{name} (float[1,3,8,8] x, float[4,3,3,3] w, float[4] b) => (float[1,4,8,8] y) {{
  ["/stem/conv"] c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
  ["/stem/relu"] r = Relu (c)
  ["/body/{act}"] t = {op} (r)
  ["/body/add"] y = Add (t, r)
}}
"""


class ProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "m.onnxtxt").write_text(MODEL.format(name="m", act="tanh", op="Tanh"))
        (cls.folder / "n.onnxtxt").write_text(MODEL.format(name="n", act="sigmoid", op="Sigmoid"))
        cls.context = chromium.browser()
        cls.page = cls.context.__enter__()
        cls.page.size(1200, 800)
        cls.page.media()

    @classmethod
    def tearDownClass(cls):
        cls.context.__exit__(None, None, None)
        cls.temporary.cleanup()

    def setUp(self):
        self.page.faults.clear()

    def tearDown(self):
        self.assertEqual(self.page.faults, [])

    def run_assay(self, *words):
        return subprocess.run([ASSAY, *words], cwd=self.folder, capture_output=True, text=True)

    @contextlib.contextmanager
    def served(self, *words):
        with subprocess.Popen([ASSAY, "view", *words, "--no-browser", "--keep"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
            try:
                yield next(found[0] for line in iter(program.stdout.readline, "") if (found := re.search(r"http://\S+#token=\w+", line)))
                self.page.call("Page.navigate", url="about:blank")
            finally:
                program.terminate()

    def test_served_and_written(self):
        with self.served("m.onnxtxt") as address:
            self.page.open(address)
            served = self.page.evaluate("assay.dump()")
            self.page.evaluate("assay.app.choose([...assay.app.stage.scene.ordered()].find((i) => assay.app.stage.scene.operator(i) === 'Conv'))")
            self.page.wait("document.getElementById('panel').innerText.includes('pads')")
            self.page.evaluate("assay.app.header.searchFor('attr:pads')")
            self.page.wait("assay.app.hits && assay.app.hits.items.length === 1")
        for words in ("Conv", "Tanh", "1×4×8×8"):
            self.assertIn(f'{words}"', served)
        self.assertEqual(self.run_assay("view", "m.onnxtxt", "-o", "page.html").returncode, 0)
        self.page.open((self.folder / "page.html").as_uri())
        self.assertEqual(self.page.evaluate("assay.dump()"), served)

    def test_the_scene_is_asked_for_once_and_before_the_script_runs(self):
        with self.served("m.onnxtxt", "n.onnxtxt") as address:
            self.page.open(address)
            asked = self.page.evaluate("performance.getEntriesByType('resource').map((entry) => new URL(entry.name).pathname)")
            self.assertEqual(asked[:2], ["/api/subject", "/api/scene/0"])
            self.assertEqual([path for path in asked if path.startswith("/api/scene")], ["/api/scene/0", "/api/scene/1"])
            self.assertNotIn("/page.js", asked)
            self.assertGreater(self.page.evaluate("assay.app.pictured"), 0)

    def test_difference(self):
        self.assertEqual(self.run_assay("view", "m.onnxtxt", "n.onnxtxt", "-o", "both.html").returncode, 0)
        self.page.open((self.folder / "both.html").as_uri())
        self.assertTrue(self.page.evaluate("assay.app.stage.scene.union"))
        self.assertIn("Sigmoid", self.page.evaluate("assay.dump()"))

    def test_steps_of_a_rewrite(self):
        (self.folder / "long.onnxtxt").write_text(MODEL.format(name="long", act="same", op="Identity"))
        done = self.run_assay("surgeon", "sanitize", "long.onnxtxt", "--simplify", "--explain", "-o", "short.onnx", "--json", "steps.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_assay("view", "long.onnxtxt", "short.onnx", "--with", "steps.json", "-o", "steps.html").returncode, 0)
        self.page.open((self.folder / "steps.html").as_uri())
        self.assertEqual(self.page.evaluate("document.getElementById('step-text').textContent"), "1 of 1: a copy of its operand: node `/body/same` (Identity) -> `r`")
        faded = "(() => { const { scene, look } = assay.app.stage; return look.fades[[...Array(scene.count).keys()].find((i) => scene.operator(i) === 'Identity')]; })()"
        for key, wanted in (("[", 0), ("]", 1)):
            self.page.key(key)
            self.page.settle()
            self.assertEqual(self.page.evaluate(faded), wanted)
        self.run_assay("surgeon", "sanitize", "long.onnxtxt", "--simplify", "-o", "short.onnx", "--json", "plain.json")
        told = self.run_assay("view", "long.onnxtxt", "--with", "plain.json", "-o", "plain.html")
        self.assertEqual(told.returncode, 0)
        self.assertIn("`plain.json` is not shown: it holds no steps, since they were not to be explained", told.stdout + told.stderr)

    def test_the_guilty_step_is_shown_first(self):
        (self.folder / "wide.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) <float[4] k = {1000, 1000, 1000, 1000}> {
  [in] a = Neg(x) [up] b = Add(a, k) [down] c = Sub(b, k) [out] y = Abs(c)
}
""")
        found = self.run_assay("debug", "bisect", "wide.onnxtxt", "--fp-to-fp16", "--ref", "--atol", "1e-2", "--rtol", "1e-2", "-o", "bad.onnx", "--json", "bisect.json")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual(self.run_assay("view", "wide.onnxtxt", "bad.onnx", "--with", "bisect.json", "-o", "bisect.html").returncode, 0)
        self.page.open((self.folder / "bisect.html").as_uri())
        self.assertTrue(self.page.evaluate("document.getElementById('step-text').textContent").startswith("2 of 4: "))

    def test_report_of_a_comparison(self):
        self.run_assay("check", "lint", "m.onnxtxt", "--json", "lint.json")
        self.run_assay("run", "m.onnxtxt", "--ref", "--ref-fp64", "--onnx-outputs", "mark", "all", "--json", "run.json")
        with self.served("m.onnxtxt", "--with", "run.json", "lint.json") as address:
            self.page.open(address)
            self.assertEqual(self.page.evaluate("assay.app.overlays.length"), 2)
            self.assertEqual(self.page.evaluate("document.getElementById('banners').innerText"), "")

    def test_a_run_gives_a_value(self):
        with self.served("m.onnxtxt") as address:
            self.page.open(address)
            self.page.evaluate("assay.app.select({kind: 'value', stage: assay.app.stage, id: [...Array(assay.app.stage.scene.values).keys()].find((v) => assay.app.stage.scene.valueNames.at(v) === 'r')})")
            self.page.wait("[...document.querySelectorAll('#panel button')].some((b) => b.textContent === 'Compute it by a run')")
            self.page.evaluate("[...document.querySelectorAll('#panel button')].find((b) => b.textContent === 'Compute it by a run').click()")
            self.page.wait("document.getElementById('task').innerText.includes('assay run m.onnxtxt --ref --onnx-outputs r --save-outputs values.json')")
            self.page.wait("document.getElementById('panel').innerText.includes('HISTOGRAM')")
            self.assertIn("256", self.page.evaluate("document.getElementById('panel').innerText"))
            self.assertEqual(self.page.evaluate("document.getElementById('banners').innerText"), "")
        self.assertFalse((self.folder / "values.json").exists())

    def test_three_channels_are_colours(self):
        self.run_assay("run", "m.onnxtxt", "--engine", "--save-inputs", "inputs.json")
        with self.served("m.onnxtxt", "--with", "inputs.json") as address:
            self.page.open(address)
            self.page.evaluate("assay.app.select({kind: 'value', stage: assay.app.stage, id: [...Array(assay.app.stage.scene.values).keys()].find((v) => assay.app.stage.scene.valueNames.at(v) === 'x')})")
            self.page.wait("document.getElementById('panel').innerText.includes('8 × 8')")
            colours = """(() => { const canvas = document.querySelector('canvas.heat'), copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
                copy.drawImage(canvas, 0, 0);
                const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
                const seen = new Set(); for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join()); return seen.size; })()"""
            self.page.evaluate("[...document.querySelectorAll('#panel input')].find((b) => b.type === 'checkbox').click()")
            self.page.wait(f"{colours} === 64")

    def test_ranges_of_a_calibration_cache(self):
        (self.folder / "m.cache").write_text("TRT-8601-EntropyCalibration2\nr: 3c000000\nnothing: 3c000000\n")
        with self.served("m.onnxtxt", "--with", "m.cache") as address:
            self.page.open(address)
            self.assertEqual(self.page.evaluate("assay.app.overlays.map((overlay) => overlay.title).join()"), "calibrated ranges")
            relu = "[...assay.app.stage.scene.ordered()].find((i) => assay.app.stage.scene.operator(i) === 'Relu')"
            self.page.evaluate(f"assay.app.choose({relu})")
            self.page.wait("document.getElementById('panel').innerText.includes('0.992')")

    def test_inspected_and_in_a_notebook(self):
        self.assertEqual(self.run_assay("inspect", "model", "m.onnxtxt", "--visual", "--save-visual", "inspected.html").returncode, 0)
        self.page.open((self.folder / "inspected.html").as_uri())
        inspected = self.page.evaluate("assay.dump()")
        self.assertIn('Tanh"', inspected)
        text = html.escape((self.folder / "inspected.html").read_text())
        (self.folder / "notebook.html").write_text(f'<!doctype html><iframe srcdoc="{text}" sandbox="allow-scripts allow-downloads" style="width: 1180px; height: 640px"></iframe>')
        self.page.origin = (self.folder / "notebook.html").as_uri()
        self.page.call("Page.navigate", url=self.page.origin)
        self.page.wait("document.querySelector('iframe') !== null")
        self.assert_graph_in_frame()

    def test_pages_of_reports_have_the_graph(self):
        for words in (["run", "m.onnxtxt", "--ref", "--ref-fp64"], ["debug", "accuracy", "m.onnxtxt", "--engine"], ["profile", "m.onnxtxt", "--engine"],
                      ["bench", "m.onnxtxt", "--engine", "--duration", "0.05"]):
            with self.subTest(words[0]):
                done = self.run_assay(*words, "--report", "report.html")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                report = (self.folder / "report.html").read_text()
                graph = html.unescape(re.search('<iframe class="graph"[^>]* srcdoc="([^"]*)"', report)[1])
                (self.folder / "graph.html").write_text(graph)
                self.page.open((self.folder / "graph.html").as_uri())
                self.assertIn('Tanh"', self.page.evaluate("assay.dump()"))
                self.assertEqual(self.page.evaluate("assay.app.overlays.length"), 0 if words[0] == "bench" else 1)
                self.page.origin = (self.folder / "report.html").as_uri()
                self.page.call("Page.navigate", url=self.page.origin)
                self.page.wait("document.querySelector('iframe') !== null")
                self.page.evaluate("document.querySelector('iframe').scrollIntoView()")
                self.assert_graph_in_frame()

    def assert_graph_in_frame(self):
        """The page inside of a frame draws: its own elements cannot be asked, but they are on the screen in many colours."""
        end = time.monotonic() + 20
        while self.page.seen("iframe")["parts"][0]["colors"] < 100 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertGreaterEqual(self.page.seen("iframe")["parts"][0]["colors"], 100)


if __name__ == "__main__":
    if not chromium.program():
        print("no chromium: tools/setup.sh browser installs it")
        sys.exit(77)
    unittest.main()
