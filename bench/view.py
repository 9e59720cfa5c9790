#!/usr/bin/env python3
"""What the page of `assay view` costs over many nodes, in Debian's Chromium without a GPU, beside Netron's (PyPI `netron`) and
Model Explorer's (`ai-edge-model-explorer` and `model-explorer-onnx`), which are looked for in this Python's environment.

    view.py [--runs N] [--only MODEL] [--no-peer] [--model FILE]

Native part: a file is opened, grouped, laid out and written, as a process of its own. Page: from its address until all of it
is there; from the command to the first picture, by the clock of the page; frames of a pan of 120 steps with all groups open
(time of the script and the drawing calls), opening the group with the most children, a search, the heap. The least of N runs.
An empty page, with a line of text and a canvas, tells how much of it is the browser's own. Exits 1 if a budget is missed;
budgets are for 100,000 nodes, and a fifth of a 1,000,000 nodes' ones; ResNet-50 has one for its picture. `--model` measures a
file of your own instead, without budgets.
"""

import argparse
import contextlib
import http.server
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import measure
from inspect_model import ASSAY, model_path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "browser"))
import chromium  # noqa: E402

MODELS = {"resnet50": math.inf, "nodes_100k": 1, "nodes_1m": 5}  # and the factor for their budgets
SMALL_BUDGETS = {"resnet50": {"command to picture ms": 300}}
BUDGETS = {"native ms": 500, "native MB": 200, "page ms": 1000, "command to picture ms": 1000, "frame median ms": 16, "frame 95 % ms": 33, "open ms": 100,
           "search ms": 50, "heap MB": 80, "exported MB": 2}
PAN = """(async () => {
  const {graph, stage} = assay.app;
  stage.setOpen(Array.from({length: stage.scene.count}, (_, i) => i).filter((i) => i && stage.scene.isOpenable(i)), true, 0);
  stage.camera.set(0, 0, SCALE);
  graph.frames.length = 0;
  for (let i = 0; i < 120; i++) { stage.camera.pan(6, 45); graph.request(); await new Promise(requestAnimationFrame); }
  return graph.frames.sort((a, b) => a - b);
})()"""
OPEN = """(async () => {
  const {stage, tree, graph} = assay.app;
  stage.setOpen(stage.places.openGroups(), false, 0);
  let group = 0;
  for (let i = 1; i < stage.scene.count; i++) if (stage.scene.children[i] > (group ? stage.scene.children[group] : 0)) group = i;
  if (!group) return 0;
  stage.openAround(group); graph.draw();
  const begun = performance.now();
  assay.app.toggle(stage, group); stage.finish(); graph.draw();
  return performance.now() - begun;
})()"""
SEARCH = """(async () => {
  await assay.app.stage.search.find('warm');
  const begun = performance.now();
  await assay.app.stage.search.find('add op:Add');
  return performance.now() - begun;
})()"""


EMPTY = b"""<!DOCTYPE html><title>empty</title><p>a line of text</p><canvas id="canvas" width="800" height="600"></canvas><script>
const app = {};
globalThis.assay = { app, ready: new Promise((done) => {
  const context = document.getElementById("canvas").getContext("2d");
  context.fillRect(0, 0, 90, 90);
  context.fillText("a word", 100, 100);
  requestAnimationFrame(() => setTimeout(() => done(app.pictured = performance.now())));
}) };
</script>"""


class EmptyPage(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(model: pathlib.Path):
    """The address of a page that the program serves, and when the program was started."""
    command = [ASSAY, "view", str(model), "--no-browser", "--keep"]
    started = time.time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        try:
            lines = iter(program.stdout.readline, "")
            address = next(found[0] for line in lines if (found := re.search(r"http://\S+#token=\w+", line)))
            yield address, started
        finally:
            program.terminate()


def pictured(page: chromium.Page, address: str, started: float) -> dict[str, float]:
    """How long a page takes until all of it is there, and until its first picture since a moment."""
    asked = time.perf_counter()
    page.open(address)
    numbers = {"page ms": (time.perf_counter() - asked) * 1000}
    return numbers | {"command to picture ms": page.evaluate("performance.timeOrigin + assay.app.pictured") - started * 1000}


def least(many: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(numbers[name] for numbers in many) for name in many[0]}


def empty_page(runs: int) -> dict[str, float]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    many = []
    for _ in range(runs):
        with chromium.browser() as page:
            page.size(1400, 900)
            many.append(pictured(page, f"http://127.0.0.1:{server.server_port}/", time.time()))
    server.shutdown()
    return least(many)


def picture_numbers(model: pathlib.Path, runs: int) -> dict[str, float]:
    many = []
    for _ in range(runs):
        with chromium.browser() as page:
            page.size(1400, 900)
            page.media()
            with served(model) as (address, started):
                many.append(pictured(page, address, started))
    return least(many)


def page_numbers(page: chromium.Page, address: str) -> dict[str, float]:
    page.open(address)
    numbers = {}
    frames = []
    for scale in (1, 0.5, 0.2):
        frames += page.evaluate(PAN.replace("SCALE", str(scale)))
    frames.sort()
    numbers["frame median ms"] = frames[len(frames) // 2]
    numbers["frame 95 % ms"] = frames[len(frames) * 95 // 100]
    numbers["open ms"] = page.evaluate(OPEN)
    numbers["search ms"] = page.evaluate(SEARCH)
    page.call("HeapProfiler.collectGarbage")
    page.call("Performance.enable")
    numbers["heap MB"] = next(metric["value"] for metric in page.call("Performance.getMetrics")["metrics"] if metric["name"] == "JSHeapUsedSize") / 1e6
    if page.faults:
        raise SystemExit(f"view: {page.faults}")
    return numbers


def native_numbers(model: pathlib.Path, runs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        result = measure.side_by_side([[ASSAY, "view", str(model), "-o", str(page), "-q"]], runs)[0]
        return {"native ms": result.ms, "native MB": result.mb, "exported MB": page.stat().st_size / 1e6}


def first_picture(page: chromium.Page, address: str, is_there: str, seconds: float) -> str:
    """How long a page takes until an expression is true; a reason where it does not become so."""
    page.origin = "/".join(address.split("/")[:3])
    started = time.perf_counter()
    page.call("Page.navigate", url=address)
    while time.perf_counter() - started < seconds:
        with contextlib.suppress(RuntimeError, TimeoutError):  # the page is busy, or changes
            if page.evaluate(is_there):
                return f"first picture {(time.perf_counter() - started) * 1000:.0f} ms after the page was asked for"
        time.sleep(0.05)
    return f"no picture after {seconds:.0f} s"


def netron_numbers(model: pathlib.Path, seconds: float) -> str:
    """How long Netron's page takes to its first picture. It first asks to agree to cookies."""
    try:
        import netron
    except ImportError:
        return "not installed (pip install netron)"
    host, port = netron.start(str(model), browse=False)
    agreed = "document.body?.classList.contains('notification') && document.getElementById('message-button')?.click()"
    try:
        with chromium.browser() as page:
            return first_picture(page, f"http://{host}:{port}", f"({agreed}, document.querySelectorAll('#canvas .node').length > 0)", seconds)
    finally:
        netron.stop((host, port))


def explorer_numbers(model: pathlib.Path, seconds: float) -> str:
    """How long Model Explorer's page takes until its graph is there; it wants WebGL, which is drawn in software."""
    program = pathlib.Path(sys.executable).with_name("model-explorer")
    if not program.exists():
        return "not installed (pip install ai-edge-model-explorer model-explorer-onnx)"
    command = [program, "--no_open_in_browser", "--skip_health_check", "--extensions", "model_explorer_onnx", "--port", "8931", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            address = next(found[0] for line in iter(process.stdout.readline, "") if (found := re.search(r"http://localhost\S+", line)))
            with chromium.browser("--enable-unsafe-swiftshader", "--use-angle=swiftshader") as page:
                page.size(1400, 900)
                return first_picture(page, address, "document.querySelector('legends-panel, selection-panel') !== null", seconds)
        finally:
            process.terminate()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=120, help="that a peer gets")
    options = parser.parse_args()
    if not chromium.program():
        print("view: no chromium; tools/setup.sh browser installs it")
        return 0
    fine = True
    for what, number in empty_page(options.runs).items():
        print(f"{'an empty page':<16}{what:<22}{number:9.1f}", flush=True)
    models = {name: model_path(name) for name in MODELS if options.only in name} if options.model is None else {options.model.stem: options.model}
    for name, model in models.items():
        factor = MODELS.get(name, math.inf)
        numbers = native_numbers(model, options.runs) | picture_numbers(model, options.runs)
        with chromium.browser() as page, served(model) as (address, _):
            page.size(1400, 900)
            page.media()
            numbers |= page_numbers(page, address)
        for what, number in numbers.items():
            budget = SMALL_BUDGETS.get(name, {}).get(what, BUDGETS[what] * factor)
            met = number <= budget
            fine &= met
            print(f"{name:<16}{what:<22}{number:9.1f}  budget {budget:6}  {'met' if met else 'MISSED'}", flush=True)
        if not options.no_peer:
            print(f"{name:<16}Netron: {netron_numbers(model, options.seconds)}", flush=True)
            print(f"{name:<16}Model Explorer: {explorer_numbers(model, options.seconds)}", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
