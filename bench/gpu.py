"""The engine on a card beside PyTorch on the same card, in one run: networks of torchvision and of text with random
weights, with inputs and outputs on the card on both sides.

    gpu.py ASSAY [--models NAME[:BATCH]...] [--compile NAME...] [--type T] [--measure] [--rounds N] [--folder FOLDER]
           [--report FILE]

ASSAY is the program. Each round measures both sides in turn; the ratio is that of the least times, above 1 where the
engine is faster. PyTorch runs in a CUDA graph: as it is, and for the names of --compile as
torch.compile(mode="max-autotune") makes it, which takes minutes. --type: float16, with inputs and outputs of it, tf32 or
float32, of both sides; int4: weights of four bits in blocks of 32, beside PyTorch's own products of such weights.
--measure: the engine's tactics are measured, those of cuBLASLt among them, once for all rounds. --folder keeps the models,
and takes those that are there. Needs torch, torchvision and onnx.
"""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
import torch_networks

OTHERS = ["yolov5s", "bert_base", "gpt2", "gpt2_step"]
WARM_UP_SECONDS, SECONDS = 0.2, 0.3
FLAGS = {"float16": ["--fp16"], "tf32": ["--tf32"], "float32": [], "int4": ["--fp16"]}
IMAGES = ["resnet50", "mobilenet_v2", "efficientnet_b0", "convnext_tiny", "densenet121", "regnet_y_400mf", "vit_b_16",
          "shufflenet_v2_x1_0", "squeezenet1_1", "googlenet"]


def made(name, batch):
    """A network and its inputs."""
    if network := torch_networks.made(name, batch):
        return network
    import torchvision

    torch.manual_seed(0)
    settings = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
    return getattr(torchvision.models, name)(weights=None, **settings).eval(), (torch.randn(batch, 3, 224, 224),)


class Borders(torch.nn.Module):
    """A network of float32 whose inputs and outputs are float16, as PyTorch has them."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *inputs):
        results = self.network(*(x.float() if x.is_floating_point() else x for x in inputs))
        return tuple(y.half() for y in results) if isinstance(results, tuple) else results.half()


def exported(name, batch, kind, folder):
    has_halves = kind in ("float16", "int4")
    path = folder / f"{name}_b{batch}{'' if has_halves else '_float32'}.onnx"
    if path.exists():
        return path
    model, inputs = made(name, batch)
    if has_halves:
        model, inputs = Borders(model), tuple(x.half() if x.is_floating_point() else x for x in inputs)
    folder.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(model, inputs, str(path), opset_version=17, dynamo=False)
    return path


def compressed(program, path):
    small = path.with_suffix(".int4.onnx")
    subprocess.run([program, "convert", str(path), "--weights", "int4", "--weights-form", "matmulnbits", "-o", str(small)],
                   check=True, capture_output=True)
    return small


class Int4(torch.nn.Module):
    """A product of weights of four bits by PyTorch's kernel, which takes bfloat16."""

    def __init__(self, linear):
        super().__init__()
        outputs, inputs = linear.weight.shape
        codes = torch.randint(0, 256, (outputs, inputs // 2), dtype=torch.uint8, device="cuda")
        self.weight = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
        self.scales = torch.full((inputs // 32, outputs, 2), 0.01, dtype=torch.bfloat16, device="cuda")

    def forward(self, x):
        y = torch.ops.aten._weight_int4pack_mm(x.reshape(-1, x.shape[-1]), self.weight, 32, self.scales)
        return y.view(*x.shape[:-1], -1)


def replace_products(module):
    for name, child in module.named_children():
        if isinstance(child, torch.nn.Linear):
            setattr(module, name, Int4(child))
        else:
            replace_products(child)


class Engine:
    def __init__(self, program, path, kind="float16", measures=False):
        path = compressed(program, path) if kind == "int4" else path
        self.command = [program, "bench", str(path), "--device", "cuda", *FLAGS[kind], "--no-transfers",
                        "--warm-up", str(WARM_UP_SECONDS * 1e3), "--duration", str(SECONDS)]
        if measures:
            cache = str(path.with_suffix(".timings"))
            first = [*self.command, "--measure-tactics", "--save-timing-cache", cache]
            subprocess.run(first, check=True, capture_output=True)
            self.command += ["--measure-tactics", "--load-timing-cache", cache]
        self.least = float("inf")

    def measure(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            done = subprocess.run([*self.command, "--json", file.name], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
            self.least = min(self.least, json.load(open(file.name, encoding="utf-8"))["backends"][0]["compute"]["min"] * 1e3)


class Graphed:
    """A CUDA graph of what PyTorch runs."""

    def __init__(self, run, inputs):
        self.least = float("inf")
        with torch.inference_mode():
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(3):
                    run(*inputs)
            stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                self.out = run(*inputs)

    def measure(self):
        """As long as the engine does: a card slows down under load."""
        self.replay(WARM_UP_SECONDS)
        self.least = min(self.least, min(self.replay(SECONDS)))

    def replay(self, seconds):
        """Times of runs that follow each other, in batches until the time is over."""
        times, begin = [], time.monotonic()
        while time.monotonic() - begin < seconds:
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(51)]
            for mark in marks[:-1]:
                mark.record()
                self.graph.replay()
            marks[-1].record()
            torch.cuda.synchronize()
            times += [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
        return times


class Torch(Graphed):
    """The model with channels last."""

    def __init__(self, name, batch, compiles, kind="float16"):
        model, inputs = made(name, batch)
        dtype = {"float16": torch.float16, "int4": torch.bfloat16}.get(kind, torch.float32)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "tf32"
        model = model.to(dtype).cuda().to(memory_format=torch.channels_last)
        if kind == "int4":
            replace_products(model)
        run = torch.compile(model, mode="max-autotune-no-cudagraphs") if compiles else model
        super().__init__(run, [self.placed(x, dtype) for x in inputs])

    @staticmethod
    def placed(x, dtype):
        if not x.is_floating_point():
            return x.cuda()
        x = x.to(dtype).cuda()
        return x.to(memory_format=torch.channels_last) if x.dim() == 4 and x.shape[1] == 3 else x


def measured(title, options, folder):
    name, _, batch = title.partition(":")
    batch = int(batch or 1)
    engine = Engine(options.program, exported(name, batch, options.type, folder), options.type, options.measure)
    sides = [("torch", Torch(name, batch, False, options.type))]
    if title in options.compile:
        sides.append(("torch.compile", Torch(name, batch, True, options.type)))
    for _ in range(options.rounds):
        for side in [engine, *(each for _, each in sides)]:
            side.measure()
    return engine.least, [(title, side.least, side.least / engine.least) for title, side in sides]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--models", nargs="*", default=[*IMAGES, *OTHERS])
    parser.add_argument("--compile", nargs="*", default=[])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--type", choices=FLAGS, default="float16")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    lines = [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.type}, least times",
             "| model | engine, ms | rivals: ms, ratio |", "|---|---|---|"]
    logs = {"torch": 0.0, "torch.compile": 0.0}
    counts = dict.fromkeys(logs, 0)
    print("\n".join(lines), flush=True)
    with contextlib.nullcontext(options.folder) if options.folder else tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            try:
                engine, rivals = measured(name, options, pathlib.Path(folder))
                rows = "; ".join(f"{title} {least:.3f}, {ratio:.2f}" for title, least, ratio in rivals)
                line = f"| {name} | {engine:.3f} | {rows} |"
                for title, _, ratio in rivals:
                    logs[title] += torch.tensor(ratio).log().item()
                    counts[title] += 1
            except Exception as error:  # noqa: BLE001: another model may run
                line = f"| {name} | failed | {str(error).splitlines()[0][:150]} |"
            print(line, flush=True)
            lines.append(line)
            torch.cuda.empty_cache()
    for title, count in counts.items():
        if count:
            lines.append(f"geometric mean over {title}: {torch.tensor(logs[title] / count).exp().item():.2f} ({count} models)")
            print(lines[-1])
    if options.report:
        options.report.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
