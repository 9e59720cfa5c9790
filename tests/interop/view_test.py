#!/usr/bin/env python3
"""`view` as a browser asks it, against NumPy and against what exporters write: view_test.py ASSAY"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTHS = {"u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}


class Served:
    """The program with a page that nobody has opened."""

    def __init__(self, assay, *words):
        self.process = subprocess.Popen([assay, "view", *words, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://127.0.0.1:(\d+)/#token=([0-9a-f]{32})$", line.strip()):
                self.port, self.token = int(found[1]), found[2]
                return
        raise AssertionError("no address was printed")

    def ask(self, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST" if body is not None else "GET", path, body, {"X-Assay-Token": self.token, **headers})
        reply = connection.getresponse()
        return reply.status, reply.read()

    def json(self, path, body=None):
        status, content = self.ask(path, body)
        assert status == 200, (path, status, content)
        return json.loads(content)

    def container(self, path):
        status, data = self.ask(path)
        assert status == 200 and data[:4] == b"ASV1", (path, status, data[:100])
        size = struct.unpack("<I", data[4:8])[0]
        head = json.loads(data[-size:])
        columns = {name: np.frombuffer(data, np.dtype("<" + WIDTHS[facts["type"]]), facts["count"], facts["offset"])
                   for name, facts in head.pop("columns").items()}
        return head, columns

    def events(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/api/events", headers={"X-Assay-Token": self.token})
        return connection.getresponse()

    def end(self):
        self.process.terminate()
        self.process.communicate()


@contextlib.contextmanager
def served(assay, *words):
    page = Served(assay, *words)
    try:
        yield page
    finally:
        page.end()


def texts(columns, name):
    whole, begin, parts = columns[name + ".text"].tobytes(), 0, []
    for end in columns[name + ".ends"]:
        parts.append(whole[begin:end].decode())
        begin = end
    return parts


def model(nodes, weights, dims=(2, 3)):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def check_values(assay, folder):
    """Statistics and slices of a weight are NumPy's."""
    weight = np.random.default_rng(1).standard_normal((300, 7, 40)).astype(np.float32)
    weight[0, 0, :5] = [0, np.inf, 1e-40, 70000, -0.0]
    path = str(folder / "values.onnx")
    onnx.save(model([helper.make_node("Add", ["x", "w"], ["y"], "add")], {"w": weight}, (1, 7, 40)), path)
    with served(assay, path) as page:
        _, scene = page.container("/api/scene/0")
        item = texts(scene, "name").index("add")
        port = page.json(f"/api/node/0/{item}")["inputs"][1]
        assert port["constant"] and port["name"] == "w"
        facts = page.json(f"/api/value/0/{port['value']}/statistics")
        finite = weight[np.isfinite(weight)]
        assert facts["count"] == weight.size and facts["infs"] == 1 and facts["zeros"] == 2 and facts["subnormals"] == 1, facts
        assert facts["outside_float16"] == 1 and facts["least"] == float(weight.min()) and facts["least_at"] == list(np.unravel_index(weight.argmin(), weight.shape))
        assert np.isclose(facts["percentiles"]["50"], np.median(weight)), facts["percentiles"]
        channel = facts["channels"][3]
        assert np.allclose([channel["least"], channel["mean"], channel["greatest"]], [weight[3].min(), weight[3].mean(), weight[3].max()])
        assert sum(facts["log_histogram"]["counts"]) == finite.size - 2
        for at, expected in {"5,:,::2": weight[5, :, ::2], ":,3": weight[:, 3], "-1": weight[-1]}.items():
            head, found = page.container(f"/api/value/0/{port['value']}/slice?at={at}&reduce=max&width=512")
            assert head["shape"] == list(expected.shape) and np.array_equal(found["data"].reshape(head["shape"]), expected), at
        head, found = page.container(f"/api/value/0/{port['value']}/slice?at=7:17&reduce=max&width=10")
        assert head["shape"] == [10, 10] and head["is_reduced"]
        assert np.array_equal(found["data"].reshape(10, 10), weight[7:17].reshape(10, 7, 10, 4).max(axis=(1, 3)))


def check_scopes(assay, folder):
    """The notes of PyTorch's exporters make groups, whatever the names of nodes are."""
    notes = [["", "layer1", "layer1.0", "layer1.0.conv", "conv2d"], ["", "layer1", "layer1.0", "layer1.0.act", "relu"],
             ["", "layer1", "layer1.1", "neg"], ["", "layer1", "layer1.1", "exp"], None]
    nodes = []
    for i, scopes in enumerate(notes):
        node = helper.make_node(["Abs", "Relu", "Neg", "Exp", "Sqrt"][i], [f"v{i}" if i else "x"], [f"v{i + 1}" if i < 4 else "y"], f"node_{i}")
        if scopes:
            node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=str(scopes))
        nodes.append(node)
    path = str(folder / "scopes.onnx")
    onnx.save(model(nodes, {}), path)
    with served(assay, path) as page:
        _, scene = page.container("/api/scene/0")
        names = texts(scene, "name")
        parent = {name: names[scene["parent"][i]] for i, name in enumerate(names) if i}
        assert parent["node_0"] == parent["node_1"] == "0" and parent["node_2"] == "1" and parent["0"] == "layer1", parent
        assert parent["layer1"] == "net", parent
        facts = page.json(f"/api/node/0/{names.index('node_0')}")
        assert facts["metadata"] == {"pkg.torch.onnx.name_scopes": str(notes[0])}, facts


def check_strangers(assay, folder):
    """Whoever is not the page gets nothing."""
    path = str(folder / "values.onnx")
    with served(assay, path) as page:
        assert page.ask("/")[0] == 200 and page.ask("/api/subject")[0] == 200
        for headers in ({"X-Assay-Token": ""}, {"X-Assay-Token": "0" * 32}):
            assert page.ask("/api/subject", **headers)[0] == 401
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert page.ask("/api/subject", **headers)[0] == 403, headers
        assert b"values.onnx" not in page.ask("/")[1]
        words = ["run", path, "--engine", "--save-outputs", str(folder / "stolen.json")]
        assert page.ask("/api/task", json.dumps({"command": words}))[0] == 400
        assert not (folder / "stolen.json").exists()


def check_events(assay, folder):
    """A task that the page starts, and a file that changes, are told; the report is shown."""
    path = str(folder / "scopes.onnx")
    with served(assay, path) as page:
        events = page.events()
        assert json.loads(events.readline())["type"] == "ping"
        assert page.json("/api/task", json.dumps({"command": ["check", "lint", path]})) == {"id": 1}
        while (event := json.loads(events.readline()))["type"] != "done":
            assert event["type"] in ("progress", "ping"), event
        assert event["what"] == "lint" and event["status"] in (0, 1), event
        assert [entry["what"] for entry in page.json("/api/subject")["overlays"]] == ["lint"]
        assert page.container(f"/api/overlay/{event['overlay']}")[0]["what"] == "lint"
        os.utime(path, (time.time() + 5, time.time() + 5))
        while (event := json.loads(events.readline()))["type"] != "revision":
            assert event["type"] == "ping", event
        assert page.json("/api/subject")["revision"] == 2
        events.close()


def check_hostile(assay, folder):
    """Models that are made to break pages are shown like others."""
    names = ["</script><script>alert(1)</script>", "\u202eevil", "a\x00b", "n" * 1_000_000, "x" * 100]
    nodes = [helper.make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < 4 else "y"], name) for i, name in enumerate(names)]
    path = str(folder / "hostile.onnx")
    onnx.save(model(nodes, {}), path)
    with served(assay, path) as page:
        head, scene = page.container("/api/scene/0")
        assert head["nodes"] == 5 and max(map(len, texts(scene, "name"))) < 1100
        for item in range(len(scene["parent"])):
            page.json(f"/api/node/0/{item}")
    output = folder / "hostile.html"
    subprocess.run([assay, "view", path, "-o", str(output)], check=True, stdout=subprocess.DEVNULL)
    assert "alert(1)" not in output.read_text()


def check_shapes_of_graphs(assay, folder):
    """Bodies in bodies, cycles and a value that very many nodes read are shown."""
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["r"], "innermost")], "body0", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)])
    for depth in range(1, 25):
        inner = helper.make_graph([helper.make_node("If", ["on"], [f"r{depth}"], f"if{depth}", then_branch=inner, else_branch=inner if depth < 3 else helper.make_graph(
            [helper.make_node("Neg", ["x"], [f"n{depth}"])], "other", [], [helper.make_tensor_value_info(f"n{depth}", TensorProto.FLOAT, None)]))],
            f"body{depth}", [], [helper.make_tensor_value_info(f"r{depth}", TensorProto.FLOAT, None)])
    deep = [helper.make_node("If", ["on"], ["y"], "outermost", then_branch=inner, else_branch=inner)]
    cycle = [helper.make_node("Add", ["x", "b"], ["a"], "first"), helper.make_node("Relu", ["a"], ["b"], "second"), helper.make_node("Neg", ["b"], ["y"], "third")]
    fan = [helper.make_node("Relu", ["x"], [f"v{i}"], f"reader{i}") for i in range(20_000)] + [helper.make_node("Neg", ["v7"], ["y"], "last")]
    for name, nodes, wanted in (("deep", deep, "innermost"), ("cycle", cycle, "second"), ("fan", fan, "reader19999")):
        path = str(folder / f"{name}.onnx")
        weights = {"on": np.array(True)} if name == "deep" else {}
        pathlib.Path(path).write_bytes(model(nodes, weights).SerializeToString())
        with served(assay, path) as page:
            head, scene = page.container("/api/scene/0")
            names = texts(scene, "name")
            assert wanted in names, name
            assert (scene["children"] <= 300).all() or name == "fan", name
            assert (scene["parent"][1:] < np.arange(1, len(names))).all(), name


def instructions(assay, path):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", assay, "view", path, "-o", path + ".svg"], capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def check_cost(assay, folder):
    """Twice the nodes cost twice the instructions, from the file to the picture."""
    if shutil.which("valgrind") is None:
        return
    costs = []
    for blocks in (1, 150, 300):
        nodes, value = [], "x"
        for block in range(blocks):
            for step in range(20):
                nodes.append(helper.make_node(("Relu", "Neg", "Abs")[step % 3], [value], [f"v{block}.{step}"], f"/part{block // 50}/block{block}/op{step}"))
                value = f"v{block}.{step}"
            nodes.append(helper.make_node("Add", [value, f"v{block}.3"], [f"s{block}"], f"/part{block // 50}/block{block}/sum"))
            value = f"s{block}"
        nodes.append(helper.make_node("Identity", [value], ["y"]))
        path = str(folder / f"blocks{blocks}.onnx")
        onnx.save(model(nodes, {}), path)
        costs.append(instructions(assay, path))
    base, once, twice = costs
    assert twice - base < 2.3 * (once - base), costs


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_values, check_scopes, check_strangers, check_events, check_hostile, check_shapes_of_graphs, check_cost):
            check(sys.argv[1], folder)
            print(check.__name__, "passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
