#!/usr/bin/env python3
"""Writes benchmark models with random weights; the same bytes each time.

    make_models.py FOLDER [NAME...]        default: all that are not there yet
"""

import functools
import pathlib
import sys

from models import convnets, exported, llama, small, transformers

MODELS = {
    "resnet50": convnets.resnet50,
    "resnet50_qdq": functools.partial(convnets.resnet50, quantised=True),
    "resnet50_b32": functools.partial(convnets.resnet50, batch=32),
    "resnet50_b8": functools.partial(convnets.resnet50, batch=8),
    "mobilenetv2": convnets.mobilenetv2,
    "yolov5s": convnets.yolov5s,
    "bert_base_s128": transformers.bert_base,
    "bert_base_s128_dynq": functools.partial(transformers.bert_base, dynamic=True),
    "bert_base_s128_b8": functools.partial(transformers.bert_base, batch=8),
    "bert_base_s128_b32": functools.partial(transformers.bert_base, batch=32),
    "small_perceptron": small.perceptron,
    "small_lstm": small.lstm,
    "small_trees": small.trees,
    "gpt2_s128": transformers.gpt2,
    "gpt2_dec_p127": functools.partial(transformers.gpt2, sequence=1, past=127),
    "llama_dec_p127": llama.llama,
    "llama_1b_dec_p127_int4": llama.llama_1b_int4,
    "encoder_b2_s32": exported.encoder,
    "encoder_heads_s32": functools.partial(exported.encoder, kind=exported.EncoderOfHeads),
}


def make(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Writes the model unless it is there, and returns its path."""
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        MODELS[name](str(unfinished))
        unfinished.rename(path)
    return path


def main() -> int:
    if len(sys.argv) < 2 or set(sys.argv[2:]) - MODELS.keys():
        print(f"usage: make_models.py FOLDER [NAME...]; names: {' '.join(MODELS)}", file=sys.stderr)
        return 2
    for name in sys.argv[2:] or MODELS:
        make(pathlib.Path(sys.argv[1]), name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
