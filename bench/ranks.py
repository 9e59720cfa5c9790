"""Shards and copies on two cards beside one card: the table of docs/ranks.md.

    ranks.py ASSAY [--devices cuda:0,cuda:1] [--folder FOLDER] [--duration SECONDS] [--layers N]

ASSAY is the program. Copies: ResNet-50 with 64 pictures a card, runs in a second of both cards in parts of one card's.
Tensor parallel: BERT base with a batch of 128, and the decoding step of a model of Llama's shape with 7 B parameters
(32 layers, or --layers of them, with the same weights, which no cache of a card holds), the median time of one card in
parts of that of both. Whether the ranks' outputs are those of one card within computed tolerances is asked of small models
of the same layers, and whether runs have the same bits of the measured ones. In float16, inputs and outputs on the cards.
Needs two cards.
"""

import argparse
import functools
import json
import pathlib
import subprocess
import sys

import make_models
from models import convnets, llama, transformers

PAST = 127


def decoder(layers, vocabulary=32000):
    size = llama.Size(layers=layers, width=4096, heads=32, groups=32, inner=11008, past=PAST, vocabulary=vocabulary,
                      own_weights=1)
    return functools.partial(llama.llama, size=size)


def encoder(batch):
    return functools.partial(transformers.bert_base, batch=batch)


class Cards:
    def __init__(self, assay, devices, folder, duration):
        self.assay, self.devices, self.folder, self.duration = assay, devices, folder, duration

    def call(self, *words):
        return subprocess.run([str(word) for word in (self.assay, *words)], capture_output=True, text=True, check=False)

    def missing(self):
        report = self.folder / "doctor.json"
        self.call("doctor", "--engine", "--json", report)
        usable = {device["kind"] for device in json.loads(report.read_text())["devices"] if not device.get("problem")}
        return sorted(set(self.devices) - usable)

    def measure(self, path, *words):
        report = self.folder / "bench.json"
        done = self.call("bench", path, "--engine", "--fp16", "--no-transfers", "--duration", self.duration,
                         "--json", report, *words)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
        return json.loads(report.read_text())["backends"][0]

    def agree(self, path):
        done = self.call("run", path, "--shard", "tp:2", "--engine", "--engine", "--fp16", "--device", ",".join(self.devices),
                         "--tolerance", "auto")
        return self.answer(done)

    def repeats(self, path):
        return self.answer(self.call("debug", "repeat", path, "--same", "--until", 5, "--shard", "tp:2", "--engine", "--fp16",
                                     "--device", ",".join(self.devices)))

    @staticmethod
    def answer(done):
        return {0: "yes", 1: "no"}.get(done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1])

    def halves(self, path):
        """The model with weights, caches and outputs in float16."""
        half = path.with_name(f"{path.stem}_float16.onnx")
        if not half.exists():
            done = self.call("convert", path, "--fp-to-fp16", "--no-keep-io-types", "-o", half)
            if done.returncode:
                raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
        return half

    def copies(self, path):
        one = self.measure(path, "--device", self.devices[0])["throughput_qps"]
        all_ = self.measure(path, "--devices", ",".join(self.devices))["throughput_qps"]
        return one, all_, all_ / one

    def shards(self, path):
        one = self.measure(path, "--device", self.devices[0])["latency"]["median"] * 1e3
        all_ = self.measure(path, "--shard", "tp:2", "--device", ",".join(self.devices))["latency"]["median"] * 1e3
        return one, all_, one / all_


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=pathlib.Path)
    parser.add_argument("--devices", default="cuda:0,cuda:1")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench/ranks"))
    parser.add_argument("--duration", type=float, default=3)
    parser.add_argument("--layers", type=int, default=32)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    cards = Cards(options.assay.resolve(), options.devices.split(","), options.folder, options.duration)
    if missing := cards.missing():
        print(f"two cards are needed, and {', '.join(missing)} cannot be used here", file=sys.stderr)
        return 3
    decoders = f"llama_7b_{options.layers}"
    make_models.MODELS |= {"resnet50_b64": functools.partial(convnets.resnet50, batch=64),
                           "bert_base_s128_b128": encoder(128), "bert_base_s128_b2": encoder(2),
                           decoders: decoder(options.layers), "llama_7b_small": decoder(1, vocabulary=2000)}
    print("| model | on | one card | both | ratio |\n|---|---|---|---|---|")
    one, both, ratio = cards.copies(make_models.make(options.folder, "resnet50_b64"))
    print(f"| ResNet-50, 64 pictures a card | copies | {one:.1f} runs/s | {both:.1f} runs/s | {ratio:.2f} |", flush=True)
    shards = (("bert_base_s128_b128", "bert_base_s128_b2", "BERT base, batch 128"),
              (decoders, "llama_7b_small", f"Llama's shape, 7 B, {options.layers} layers, a decoding step"))
    def made(name):
        path = make_models.make(options.folder, name)
        return cards.halves(path) if name.startswith("llama") else path

    for name, _, title in shards:
        one, both, ratio = cards.shards(made(name))
        print(f"| {title} | tp:2 | {one:.2f} ms | {both:.2f} ms | {ratio:.2f} |", flush=True)
    print("| model | same outputs | same bits |\n|---|---|---|")
    for name, small, title in shards:
        same = cards.agree(made(small)), cards.repeats(made(name))
        print(f"| {title} | {' | '.join(same)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
