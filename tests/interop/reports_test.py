"""The forms of the report of `assay run` that other programs read: pictures as a PNG decoder, JUnit as an XML parser,
the page as an HTML parser sees them."""

import html.parser
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

import numpy as np
from polygraphy.comparator import IterationResult, RunResults

ASSAY = os.environ["ASSAY"]
VOID = {"meta", "input", "img", "br"}
LARGEST_PAGE = 5_000_000


def decode_png(data: bytes) -> np.ndarray:
    """The colours of a palette picture of 8 bits."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        chunks[kind] = chunks.get(kind, b"") + body
        at += 12 + size
    width, height, depth, colour_type, *_, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour_type, interlaced) == (8, 3, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any(), "a filter that this decoder does not know"
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    return palette[rows[:, 1:]]


class Page(html.parser.HTMLParser):
    """Checks that tags are closed, and collects what matters."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.tags = [], set(), [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        for name in ("src", "href"):
            if tag != "a" and name in values:
                self.images.append(values[name])

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


class ReportsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_saved(self, first: dict, second: dict, *words: str, status: int = 1) -> str:
        for name, arrays in (("first.npz", first), ("second.npz", second)):
            np.savez(self.folder / name, **arrays)
        done = subprocess.run([ASSAY, "run", "--load-outputs", "first.npz", "second.npz", *words], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def page(self) -> tuple[str, Page]:
        text = (self.folder / "r.html").read_text()
        page = Page(text)
        self.assertLess(len(text.encode()), LARGEST_PAGE)
        self.assertTrue(all(source.startswith("data:image/png;base64,") for source in page.images))
        self.assertTrue(all(link[1:] in page.ids for link in page.links))
        own = re.sub(r' srcdoc="[^"]*"', "", text)  # the graph is looked at in tests/browser
        self.assertIsNone(re.search(r"https?://|@import|url\(", own))
        for svg in re.findall(r"<svg.*?</svg>", own, re.S):
            xml.etree.ElementTree.fromstring(svg)
        return text, page

    def test_heat_maps_show_the_elements(self):
        first = np.zeros((480, 500), np.float32)
        first[7, 9], first[100, 200], first[0, 499] = 4, np.nan, 2
        printed = self.run_saved({"y": first}, {"y": np.zeros_like(first)}, "--save-heatmaps", "maps")
        files = sorted((self.folder / "maps").rglob("*.png"))
        self.assertEqual([file.name for file in files], ["Absolute Error - y.png", "Relative Error - y.png"])
        for file in files:
            self.assertIn(f"to: '{file.relative_to(self.folder)}'", printed)
        picture = decode_png(files[0].read_bytes())
        self.assertEqual(picture.shape[1], 500)
        drawn = picture[:480]
        colours, counts = np.unique(drawn.reshape(-1, 3), axis=0, return_counts=True)
        self.assertEqual(sorted(counts), [1, 1, 1, 480 * 500 - 3])
        self.assertTrue((drawn[7, 9].astype(int) > drawn[0, 0]).all())
        self.assertTrue((drawn[100, 200] != drawn[0, 0]).any() and (drawn[100, 200] != drawn[7, 9]).any())

    def test_names_are_safe_and_no_picture_overwrites_another(self):
        names = ["../../up", "a/b", "a_b", "a|b", "<script>", "x" * 300]
        self.save_json("first.json", {name: 1.0 for name in names})
        self.save_json("second.json", {name: 2.0 for name in names})
        done = subprocess.run([ASSAY, "run", "--load-outputs", "first.json", "second.json", "--save-heatmaps", "maps",
                               "--save-error-metrics-plot", "maps", "--report", "r.html", "--junit", "r.xml"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        files = list(self.folder.rglob("*.png"))
        self.assertEqual(len(files), 3 * len(names))
        self.assertTrue(all((self.folder / "maps") in file.parents for file in files))
        self.assertTrue(all(re.fullmatch(r"[\w .()+-]+", file.name) for file in files), files)
        text, page = self.page()
        self.assertEqual(page.tags.count("script"), 1)
        self.assertIn("&lt;script&gt;", text)
        self.junit()

    def save_json(self, name: str, values: dict):
        """A file of results of the peer, which may have any names."""
        results = RunResults()
        arrays = {key: np.full((2, 2), value, np.float32) for key, value in values.items()}
        results.append((name, [IterationResult(arrays, runtime=0.0, runner_name=name)]))
        results.save(str(self.folder / name))

    def test_error_plot_is_a_picture_with_dots_and_axes(self):
        x = np.random.default_rng(0).normal(size=5000)
        self.run_saved({"y": x * (1 + 1e-4)}, {"y": x}, "--save-error-metrics-plot", "plots")
        (file,) = (self.folder / "plots").rglob("error_metrics_y.png")
        picture = decode_png(file.read_bytes())
        white = (picture == 255).all(axis=2)
        self.assertGreater(picture.shape[0], 600)
        self.assertTrue(0.01 < 1 - white.mean() < 0.4)

    def junit(self) -> xml.etree.ElementTree.Element:
        root = xml.etree.ElementTree.parse(self.folder / "r.xml").getroot()
        self.assertEqual(root.tag, "testsuites")
        for suite in root:
            for attribute, path in (("tests", "testcase"), ("failures", "testcase/failure"),
                                    ("errors", "testcase/error"), ("skipped", "testcase/skipped")):
                self.assertEqual(int(suite.get(attribute)), len(suite.findall(path)))
        for attribute in ("tests", "failures", "errors", "skipped"):
            self.assertEqual(int(root.get(attribute)), sum(int(suite.get(attribute)) for suite in root))
        return root

    def test_junit_has_a_case_for_each_output(self):
        self.run_saved({"y": np.ones(3), "only": np.ones(2)}, {"y": np.full(3, 1.5), "new": np.ones(1)}, "--junit",
                       "r.xml")
        root = self.junit()
        cases = {case.get("name"): case for case in root.iter("testcase")}
        self.assertIn("max abs 0.5", cases["y"].find("failure").get("message"))
        self.assertIn("missing in", cases["only"].find("failure").get("message"))
        self.assertIn("not in", cases["new"].find("failure").get("message"))

    def test_what_lifts_a_failure_is_an_option(self):
        (self.folder / "loop.onnxtxt").write_text("""<ir_version: 8, opset_import: ["" : 13]>
            g (float[1] X) => (float[] Y) <bool on = {1}> {
                Y = Loop("", on, X) <body = b (int64 i, bool c, float[1] a) => (bool d, float[1] e) {
                    d = Identity(c) e = Neg(a) }> }""")
        done = subprocess.run([ASSAY, "run", "loop.onnxtxt", "--ref", "--max-steps", "9", "--report", "r.html",
                               "--junit", "r.xml", "--json", "r.json"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        line = "the loop did not end within 9 iterations (--max-steps)"
        self.assertIn(line, self.page()[0])
        (error,) = self.junit().iter("error")
        self.assertIn(line, error.get("message"))
        (run,) = json.loads((self.folder / "r.json").read_text())["runs"]
        self.assertEqual(run["remedy"], "max_steps")

    def test_page_of_many_outputs_stays_small(self):
        rng = np.random.default_rng(1)
        first = {f"layer_{i}": rng.normal(size=(3, 30, 30)).astype(np.float32) for i in range(2000)}
        second = {name: array * np.float32(1.1) for name, array in first.items()}
        self.run_saved(first, second, "--report", "r.html", "-q")
        text, page = self.page()
        self.assertIn("worst of 2000 outputs", text)
        self.assertEqual(text.count("class=\"failed\""), 2000)
        self.assertGreater(page.tags.count("svg"), 100)

    def test_page_shows_the_numbers_of_the_report(self):
        x = np.random.default_rng(2).normal(size=(4, 100, 120)).astype(np.float32)
        self.run_saved({"y": x}, {"y": x + np.float32(0.25)}, "--report", "r.html", "--json", "r.json")
        text, page = self.page()
        output = json.loads((self.folder / "r.json").read_text())["pairs"][0]["iterations"][0]["outputs"][0]
        for key in ("max_abs", "mean_abs", "l2"):
            self.assertIn(f"<b>{output[key]:.5g}</b>", text)
        self.assertEqual(page.tags.count("img"), 2)
        self.assertEqual(page.tags.count("svg"), 3)


if __name__ == "__main__":
    unittest.main()
