#!/usr/bin/env python3
"""Time and memory of `assay surgeon sanitize --fold-constants` beside polygraphy, onnxsim and onnxslim, from the start
of the process to the saved file.

    sanitize.py [--runs N] [--only PART] [--no-peer]

Files go to a folder in memory, so that the disk does not decide. Wall time is the minimum, memory the maximum of N
interleaved runs. Exits 1 if a bar is missed.
"""

import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

import measure
from inspect_model import MODELS, ROOT, ASSAY, model_path

BIN = ROOT / ".venv" / "bin"
BASE_MB = 100  # of memory, besides three times the largest tensor
RATIO = 5  # over the fastest of the others


@dataclasses.dataclass
class Case:
    name: str
    model: str
    with_peers: bool = True
    bar_ms: float | None = None
    nodes: int = 0
    words: tuple[str, ...] = ("--fold-constants",)
    kind: str = ""  # of cases whose times are compared by their numbers of nodes


CLEAN = ("--cleanup", "--toposort", "--fold-constants")
SORT = ("--toposort", "-q")
CASES = [Case("BERT-base", "bert_base_s128"), Case("GPT-2", "gpt2_s128"), Case("YOLOv5s", "yolov5s"),
         Case("20,000 nodes with shapes", "shapes_20k"),
         Case("100,000 nodes", "nodes_100k", False, 1000, 100_000, CLEAN, "clean"),
         Case("300,000 nodes", "nodes_300k", False, None, 300_000, CLEAN, "clean"),
         Case("1,000,000 nodes", "nodes_1m", False, None, 1_000_000, CLEAN, "clean"),
         Case("100,000 shuffled nodes", "shuffled_100k", False, None, 100_000, SORT, "sort"),
         Case("300,000 shuffled nodes", "shuffled_300k", False, None, 300_000, SORT, "sort"),
         Case("1,000,000 shuffled nodes", "shuffled_1m", False, 4000, 1_000_000, SORT, "sort")]
GROWTH_BARS = {"sort": 1.1}


def path_of(model: str) -> pathlib.Path:
    if model != "shapes_20k":
        return model_path(model)
    path = MODELS / f"{model}.onnx"
    if not path.exists():
        MODELS.mkdir(parents=True, exist_ok=True)
        code = f"import make_shapes, onnx; onnx.save(make_shapes.transformer(265), {str(path)!r})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=pathlib.Path(__file__).parent)
    return path


def commands(case: Case, model: pathlib.Path, folder: pathlib.Path) -> dict[str, list[str] | None]:
    ours = [ASSAY, "surgeon", "sanitize", str(model), *case.words, "-o", str(folder / "ours.onnx")]
    if not case.with_peers:
        return {"assay": ours}
    return {"assay": ours,
            "polygraphy": [str(BIN / "polygraphy"), "surgeon", "sanitize", str(model), "--fold-constants", "-o",
                           str(folder / "polygraphy.onnx")],
            "onnxsim": [str(BIN / "onnxsim"), str(model), str(folder / "sim.onnx")],
            "onnxslim": [str(BIN / "onnxslim"), str(model), str(folder / "slim.onnx")]}


def run_case(case: Case, runs: int, peers: bool) -> tuple[float, bool]:
    """Prints one block; gives our time and whether every bar was met."""
    model = path_of(case.model)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        chosen = commands(case, model, pathlib.Path(folder))
        if not peers:
            chosen = {"assay": chosen["assay"]}
        results = dict(zip(chosen, measure.side_by_side(list(chosen.values()), runs)))
    ours = results["assay"]
    print(f"\n{case.name} ({model.stat().st_size / 1e6:.0f} MB)")
    for name, result in results.items():
        ratio = "" if result is ours else f"  {result.ms / ours.ms:6.1f} x"
        failed = f"  exit {result.status}" if result.status else ""
        print(f"  {name:<12}{result.ms:9.0f} ms {result.mb:8.0f} MB{ratio}{failed}")
    memory_bar = 3 * measure.largest_tensor_mb(model) + BASE_MB if case.with_peers else None
    fine = ours.status == 0
    if memory_bar:
        fine &= ours.mb <= memory_bar
        print(f"  memory bar: {memory_bar:.0f} MB, {'met' if ours.mb <= memory_bar else 'MISSED'}")
    rivals = [result.ms for name, result in results.items() if name != "assay" and result.status == 0]
    if rivals:
        ratio = min(rivals) / ours.ms
        fine &= ratio >= RATIO
        print(f"  fastest of the others / ours: {ratio:.1f}, bar {RATIO}, {'met' if ratio >= RATIO else 'MISSED'}")
    if case.bar_ms:
        fine &= ours.ms <= case.bar_ms
        print(f"  bar: {case.bar_ms:.0f} ms, {'met' if ours.ms <= case.bar_ms else 'MISSED'}")
    return ours.ms, fine


def main() -> int:
    options = measure.parse_options(5)
    points, fine = {}, True
    for case in CASES:
        if options.only not in case.name:
            continue
        ms, met = run_case(case, options.runs, not options.no_peer)
        fine &= met
        if case.nodes:
            points.setdefault(case.kind, []).append((case.nodes, ms))
    for kind, measured in points.items():
        if len(measured) > 1:
            growth, bar = measure.growth(measured), GROWTH_BARS.get(kind)
            fine &= not bar or growth <= bar
            print(f"\ngrowth of {kind}: time ~ nodes^{growth:.2f}" + (f", bar {bar}" if bar else ""))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
