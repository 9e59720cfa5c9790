#!/usr/bin/env python3
"""Attention whose masks are float32's least number, which bfloat16 rounds to minus infinity: a row that hides all keys
is as finite with `--bf16` as in float32, on the engine and after `convert`.

    bf16_masks_test.py ASSAY
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ASSAY = sys.argv[1]
BATCH, HEADS, TOKENS, WIDTH = 1, 2, 8, 16
LEAST = float(np.finfo(np.float32).min)
SCORES = "t = Transpose<perm = [0, 1, 3, 2]>(k)  r = MatMul(q, t)  s = Mul(r, quarter)  "
VALUES = "  p = Softmax(a)  y = MatMul(p, v)"
TURNED = "f = Cast<to = 1>(tokens)  u = Unsqueeze(f, axes)  i = Sub(one, u)  "
FILLED = f"h = Shape(tokens)  w = ConstantOfShape<value = float[1] {{{LEAST!r}}}>(h)  "
# How `a` is made of scores `s` and a mask.
MASKS = {
    "product": TURNED + "m = Mul(i, least)  a = Add(s, m)",
    "product, bounded": TURNED + "m = Mul(i, least)  b = Add(s, m)  a = Max(b, least)",
    "choice": "a = Where(sees, s, least)",
    "choice of a mask": "m = Where(sees, zero, least)  a = Add(s, m)",
    "filled": FILLED + "b = Cast<to = 9>(tokens)  m = Where(b, zero, w)  a = Add(s, m)",
    "given": "a = Add(s, given)",
    "given, another shape": "m = Unsqueeze(given_rows, first)  a = Add(s, m)",
}
KINDS = {"tokens": f"int64[{BATCH},{TOKENS}] tokens", "sees": f"bool[{BATCH},1,1,{TOKENS}] sees",
         "given": f"float[{BATCH},1,{TOKENS},{TOKENS}] given", "given_rows": f"float[1,{TOKENS},{TOKENS}] given_rows"}
CONSTANTS = f"""<float one = {{1}}, float zero = {{0}}, float quarter = {{0.25}}, float least = {{{LEAST!r}}},
  int64[2] axes = {{1, 2}}, int64[1] first = {{0}}>"""


def is_read(name, body):
    return any(name in words.replace(",", " ").replace(")", " ").split() for words in body.split("("))


def model_of(body):
    shape = f"float[{BATCH},{HEADS},{TOKENS},{WIDTH}]"
    inputs = [f"{shape} {name}" for name in "qkv"] + [text for name, text in KINDS.items() if is_read(name, body)]
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\ng ({", ".join(inputs)}) => ({shape} y) '
                                   f"{CONSTANTS} {{ {SCORES}{body}{VALUES} }}")


def feeds_of(model):
    """Of a batch of which no token counts."""
    rng = np.random.default_rng(3)
    hidden = np.full((BATCH, 1, TOKENS, TOKENS), LEAST, np.float32)
    masks = {"tokens": np.zeros((BATCH, TOKENS), np.int64), "sees": np.zeros((BATCH, 1, 1, TOKENS), bool),
             "given": hidden, "given_rows": hidden[0]}
    shape = (BATCH, HEADS, TOKENS, WIDTH)
    return {each.name: masks[each.name] if each.name in masks else rng.normal(size=shape).astype(np.float32)
            for each in model.graph.input}


def assay(*words):
    done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def run(folder, model, *words):
    assay("run", folder / model, "--load-inputs", folder / "feeds.npz", "--save-outputs", folder / "out.npz", *words)
    return np.load(folder / "out.npz")["y"]


def check(folder, name, body):
    model = model_of(body)
    feeds = feeds_of(model)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "feeds.npz", **feeds)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, feeds)[0]
    assert np.isfinite(expected).all(), f"{name}: float32 has NaN itself"
    assay("convert", folder / "model.onnx", "--fp-to-bf16", "-o", folder / "half.onnx")
    onnx.checker.check_model(onnx.load(folder / "half.onnx"), full_check=True)
    for what, words in (("model.onnx", ("--engine", "--bf16")), ("model.onnx", ("--engine", "--bf16", "--strict")),
                        ("half.onnx", ("--ref",)), ("half.onnx", ("--engine",))):
        np.testing.assert_allclose(run(folder, what, *words), expected, rtol=0, atol=0.03, err_msg=f"{name}: {what} {words}")


def main():
    with tempfile.TemporaryDirectory() as name:
        for mask, body in MASKS.items():
            check(pathlib.Path(name), mask, body)
            print(f"{mask}: ok")


if __name__ == "__main__":
    main()
