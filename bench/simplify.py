#!/usr/bin/env python3
"""Nodes that `assay surgeon sanitize --simplify --fuse` leaves, beside onnxsim and onnxslim.

    simplify.py [--only PART]

Exits 1 if another program leaves fewer.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from inspect_model import ASSAY, model_path
from sanitize import BIN

MODELS = {"BERT-base": "bert_base_s128", "GPT-2": "gpt2_s128", "GPT-2 decode": "gpt2_dec_p127", "YOLOv5s": "yolov5s",
          "encoder": "encoder_b2_s32", "encoder, heads": "encoder_heads_s32"}


def node_count(path: pathlib.Path) -> int | None:
    done = subprocess.run([ASSAY, "inspect", "model", path, "--json", "-", "-q"], capture_output=True, text=True)
    return json.loads(done.stdout)["total_node_count"] if done.returncode == 0 else None


def counts(model: pathlib.Path, folder: pathlib.Path) -> dict[str, int | None]:
    commands = {"assay": [ASSAY, "surgeon", "sanitize", model, "--simplify", "--fuse", "-o", folder / "assay.onnx"],
                "onnxsim": [BIN / "onnxsim", model, folder / "onnxsim.onnx"],
                "onnxslim": [BIN / "onnxslim", model, folder / "onnxslim.onnx"]}
    for command in commands.values():
        subprocess.run(list(map(str, command)), capture_output=True)
    return {"before": node_count(model), **{name: node_count(folder / f"{name}.onnx") for name in commands}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose names contain this")
    only, fine = parser.parse_args().only, True
    for name, model in MODELS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = counts(model_path(model), pathlib.Path(folder))
        others = [count for program, count in found.items() if program.startswith("onnx") and count is not None]
        met = found["assay"] is not None and all(found["assay"] <= count for count in others)
        fine &= met
        print(f"{name:<16}" + "".join(f"{program} {count}  " for program, count in found.items()) +
              ("met" if met else "MISSED"))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
