#!/usr/bin/env python3
"""Errors of the engine's convolutions 3 x 3 (Winograd's forms) and of those that sum up directly (`--strict`), against
float64: the greatest, and the root mean square, in units of the root mean square of the results.

    winograd.py [--draws N] [--channels N...]

Weights and pictures are drawn; the input is what Relu leaves of a mixed picture, two of whose channels may be 20 times larger.
"""

import argparse
import itertools
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "interop"))

import numpy as np
import onnx
from in_folder import run
from polygraphy.json import load_json
from winograd_verdicts_test import WEIGHTS, convolution

PROGRAM = ROOT / "build" / "release" / "bin" / "assay"


def outputs(path: pathlib.Path, *words: str) -> dict:
    saved = path.with_suffix(".json")
    run(PROGRAM, "run", path, *words, "--save-outputs", saved)
    return next(iter(load_json(str(saved)).values()))[0]


def direct(pictures: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The convolution in float64."""
    padded = np.pad(pictures.astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    height, width = pictures.shape[1:]
    return sum(np.einsum("oc,chw->ohw", weights[:, :, y, x].astype(np.float64), padded[:, y:y + height, x:x + width])
               for y in range(3) for x in range(3))


def errors(path: pathlib.Path, words: tuple[str, ...]) -> tuple[float, float]:
    weights = next(onnx.numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer if one.name == "w")
    found = outputs(path, *words, "--onnx-outputs", "scaled", "y")
    exact = direct(np.asarray(found["scaled"])[0], weights)
    difference = np.asarray(found["y"])[0] - exact
    scale = np.sqrt(np.mean(exact ** 2))
    return np.abs(difference).max() / scale, np.sqrt(np.mean(difference ** 2)) / scale


def summary(models: list[onnx.ModelProto], words: tuple[str, ...]) -> tuple[float, float]:
    """The greatest error of all, and the root mean square."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        found = []
        for model in models:
            onnx.save(model, path)
            found.append(errors(path, ("--engine", *words)))
    return max(one[0] for one in found), float(np.sqrt(np.mean([one[1] ** 2 for one in found])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--channels", type=int, nargs="+", default=[64, 128])
    options = parser.parse_args()
    print("| weights | data | greatest | mean | greatest, direct | mean, direct |\n|---|---|---|---|---|---|")
    for kind, has_large_channels in itertools.product(WEIGHTS, (False, True)):
        drawn = [convolution(channels, 28, kind, has_large_channels, 100 + draw)
                 for draw, channels in enumerate(options.channels * options.draws)]
        numbers = [*summary(drawn, ()), *summary(drawn, ("--strict",))]
        data = "2 channels x 20" if has_large_channels else "relu"
        print(f"| {kind} | {data} | " + " | ".join(f"{number:.1e}" for number in numbers) + " |")


if __name__ == "__main__":
    main()
