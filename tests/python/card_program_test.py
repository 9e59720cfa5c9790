"""The program with `--device cuda`, on a card whose kernels the host runs."""

import json
import os
import re
import subprocess

import numpy as np
import onnx.numpy_helper
import onnx.parser

import checks
import host_card

MODEL = """<ir_version: 8, opset_import: ["" : 17]> g (float[4,8] x, float[8,4] w) => (float[4,4] z) {
  a = Exp(x) b = MatMul(a, w) z = Softmax(b) }"""


def assay(*arguments, expected=0, changed=None):
    """What the program prints, with some environment variables changed."""
    with host_card.environment() as variables:
        done = subprocess.run([os.environ["ASSAY"], *arguments], env={**variables, **(changed or {})}, capture_output=True,
                              text=True, check=False)
    assert done.returncode == expected, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def doctor_report():
    assay("doctor", "--json", "doctor.json")
    with open("doctor.json", encoding="utf-8") as file:
        return json.load(file)


def saved_model():
    onnx.save(onnx.parser.parse_model(MODEL), "net.onnx")
    return "net.onnx"


def test_doctor_names_the_card():
    devices = doctor_report()["devices"]
    assert [each["kind"] for each in devices] == ["cuda:0"], devices
    assert not devices[0]["problem"], devices


def test_a_card_is_a_side():
    text = assay("run", saved_model(), "--engine", "--ref", "--device", "cuda")
    assert "engine-cuda" in text and "PASSED" in text, text
    text = assay("debug", "accuracy", "net.onnx", "--engine", "--device", "cuda")
    assert "engine-cuda" in text, text


def test_the_engine_is_a_side_on_each_device():
    text = assay("run", saved_model(), "--engine", "--device", "cuda,cpu")
    assert re.search(r"engine-cuda-runner-\S+ +vs\. engine-runner-", text), text
    text = assay("debug", "accuracy", "net.onnx", "--engine", "--device", "cuda,cpu")
    assert "engine-cuda |" in text and " engine |" in text, text
    text = assay("bench", "net.onnx", "--ref", "--against", "engine:cuda,engine:cpu:bf16", "--duration", "0.02")
    assert "engine:cuda / ref" in text and "engine:cpu:bf16 / ref" in text, text
    assert "no setting `cudo`; did you mean `cuda`?" in assay("bench", "net.onnx", "--against", "engine:cudo", expected=2)
    text = assay("run", "net.onnx", "--engine", "--device", "cuda,gpu", expected=2)
    assert "`engine` has no setting `gpu`" in text and "--against" not in text, text


def test_capability_names_layers_that_the_card_leaves_to_the_processor():
    assert "fully supported by the engine on the card" in assay("inspect", "capability", saved_model(), "--device", "cuda")
    left = onnx.parser.parse_model(MODEL.replace("z = Softmax(b)", "[left] c = Hardmax(b) z = Softmax(c)"))
    onnx.save(left, "left.onnx")
    text = assay("inspect", "capability", "left.onnx", "--device", "cuda", "--with-partitioning", "-o", "parts")
    assert re.search(r"Hardmax +\| 1 +\| runs on the processor \(`reference`\), between two transfers \| \[\[2, 3\]\]", text), text
    assert "fully supported by the engine\n" not in assay("inspect", "capability", "left.onnx", "--device", "cuda")


def test_large_constants_are_computed_once_in_float16():
    weights = onnx.numpy_helper.from_array(np.ones((768, 3, 256), np.float32), "w")
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[768] x) => (float[768,768] y)
      <int64[2] s = {768, 768}> { m = Reshape(w, s) y = Add(x, m) }""")
    model.graph.initializer.append(weights)
    onnx.save(model, "large.onnx")
    assay("convert", "large.onnx", "--device", "cuda", "--fp16", "-o", "large.plan")
    text = assay("inspect", "model", "large.plan", "--show", "layers")
    assert "1 Node(s) Folded" in text and "reference" not in text, text


def test_bench_tells_transfers_apart():
    text = assay("bench", saved_model(), "--device", "cuda", "--duration", "0.05", "--iterations", "3", "--json", "b.json")
    order = [text.index(each) for each in ("] Latency:", "] H2D Latency:", "] Compute Time:", "] D2H Latency:")]
    assert order == sorted(order), text
    with open("b.json", encoding="utf-8") as file:
        side = json.load(file)["backends"][0]
    assert side["upload"]["median"] > 0 and side["download"]["median"] > 0, side
    text = assay("bench", "--onnx=net.onnx", "--device", "cuda", "--duration=0.05", "--noDataTransfers",
                 "--exportTimes=t.json", "--dumpOutput")
    with open("t.json", encoding="utf-8") as file:
        runs = json.load(file)
    assert all(run["h2dMs"] >= 0 and run["endH2dMs"] == run["startComputeMs"] for run in runs), runs[0]
    assert len(re.findall(r"\[\[?[0-9.e-]+ ", text)) >= 1, text
    text = assay("bench", "net.onnx", "--device", "cuda", "--duration", "0.05", "--no-transfers", "--dumpProfile")
    assert re.search(r" 0\.0000 .* transfer of ", text), text
    assay("bench", "net.onnx", "--device", "cuda", "--no-transfers", "--against", "ref", expected=2)


def test_profile_tells_what_layers_add_to_a_run():
    text = assay("profile", saved_model(), "--device", "cuda", "--iterations", "2", "--marginal", "--json", "p.json")
    assert "| what each layer adds to a run ===" in text, text
    with open("p.json", encoding="utf-8") as file:
        side = json.load(file)["backends"][0]
    layers = {layer["name"]: layer["seconds"] for layer in side["layers"]}
    assert side["added"] and sum(layers.values()) > 0, side
    roof = side["roof"]
    assert roof["type"] == "float32" and roof["flops_per_second"] > 0 and roof["bytes_per_second"] > 0, roof
    assert "The device of the engine reaches at best" in text and "products of float32" in text, text
    assert "added" not in assay("profile", "net.onnx", "--device", "cuda", "--iterations", "2", "--json", "-")
    halves = assay("profile", "net.onnx", "--device", "cuda", "--fp16", "--iterations", "2")
    assert "products of float16" in halves, halves
    assert "The device of" not in assay("profile", "net.onnx", "--iterations", "2")
    text = assay("profile", "net.onnx", "--marginal", expected=3)
    assert "only the engine on a card can tell what layers add to a run" in text, text


def test_a_plan_runs_in_another_process():
    assay("convert", saved_model(), "-o", "net.plan", "--device", "cuda")
    text = assay("bench", "--loadEngine=net.plan", "--device", "cuda", "--duration=0.02")
    assert "H2D Latency" in text, text


def test_two_convolutions_are_one_layer_in_plans_and_profiles():
    parsed = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
      g (float16[1,16,9,9] x) => (float16[1,24,5,5] z) {
      d = Conv<group = 16, pads = [1,1,1,1], strides = [2,2]>(x, w) y = Relu(d) z = Conv(y, v) }""")
    for name, dims in {"w": (16, 1, 3, 3), "v": (24, 16, 1, 1)}.items():
        values = np.random.default_rng(dims[0]).normal(size=dims).astype(np.float16)
        parsed.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.save(parsed, "pair.onnx")
    text = assay("run", "pair.onnx", "--device", "cuda", "--engine", "--ref", "--strict", "--tolerance", "auto",
                 "--save-outputs", "pair.json")
    assert "PASSED" in text, text
    assert re.search(r"d \+ y \+ z \[conv.separable", assay("profile", "pair.onnx", "--device", "cuda", "--iterations", "2"))
    assay("convert", "pair.onnx", "-o", "pair.plan", "--device", "cuda", "--strict")
    text = assay("run", "pair.plan", "--engine", "--device", "cuda", "--load-outputs", "pair.json", "--tolerance", "auto")
    assert "PASSED" in text, text
    assert "Conv+Relu+Conv" in assay("inspect", "model", "pair.plan", "--show", "layers")


def test_the_kernels_of_a_plan_run_if_this_user_built_it():
    own = {"XDG_CONFIG_HOME": os.path.abspath("own")}
    assay("convert", saved_model(), "-o", "net.plan", "--device", "cuda", changed=own)
    key = "own/assay/plan.key"
    assert os.stat(key).st_mode & 0o777 == 0o600 and os.stat(key).st_size == 32

    os.mkdir("driver")
    os.symlink(os.path.join(os.environ["ASSAY_BIN_DIR"], "libhost_cuda.so"), "driver/libcuda.so.1")
    bare = {"LD_LIBRARY_PATH": os.path.abspath("driver"), "ASSAY_NVRTC": "/none", "ASSAY_CUBIN_CACHE": os.path.abspath("cache")}

    def run(folder, *options, expected=0):
        changed = {**bare, "XDG_CONFIG_HOME": os.path.abspath(folder)}
        return assay("run", "net.plan", "--engine", "--device", "cuda", *options, expected=expected, changed=changed)

    assert "not compiled by this user" not in run("own")
    text = run("other", expected=3)  # no seal, and nothing to compile with
    assert "no kernel for the card can be compiled" in text, text
    assert "kernels were not compiled by this user: they are compiled anew, unless the plan is trusted (--trust-plan)" in text, text
    run("other", "--trust-plan")
    os.chmod(key, 0o640)
    run("own", expected=3)
    os.chmod(key, 0o600)
    assay("run", "net.onnx", "--engine", "--device", "cuda", expected=3, changed=bare)


def test_code_that_was_changed_in_a_plan_is_not_run():
    own = {"XDG_CONFIG_HOME": os.path.abspath("own")}
    assay("convert", saved_model(), "-o", "net.plan", "--device", "cuda", changed=own)
    with open("net.plan", "rb") as file:
        plan = file.read()
    at = plan.index(b"\x7fELF")
    with open("net.plan", "wb") as file:
        file.write(plan[:at + 100] + bytes([plan[at + 100] ^ 1]) + plan[at + 101:])
    assert "is damaged" in assay("run", "net.plan", "--engine", "--device", "cuda", expected=2, changed=own)


if __name__ == "__main__":
    checks.run_all(globals())
