#!/usr/bin/env python3
"""Time and memory of `assay inspect model` beside `polygraphy inspect model`.

    inspect_model.py [--runs N] [--only PART] [--no-peer]

Wall time is the minimum, memory the maximum of N interleaved runs with a warm page cache. Exits 1 if a bar is missed.
"""

import argparse
import dataclasses
import pathlib
import sys

import make_synthetic
import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
PEER = str(ROOT / ".venv" / "bin" / "polygraphy")
LARGEST_FOR_PEER = 100_000


@dataclasses.dataclass
class Case:
    name: str
    words: list[str]
    model: str | None = None
    bar_ms: float | None = None
    bar_mb: float | None = None
    with_peer: bool = True
    nodes: int = 0


def cases() -> list[Case]:
    inspect = ["inspect", "model"]
    layers = [*inspect, "--show", "layers"]
    found = [
        Case("--version", ["--version"], bar_ms=5),
        Case("BERT-base", inspect, "bert_base_s128", 20, 40),
        Case("10 GB external", inspect, "external_10gb", 100, with_peer=False)]
    bars = {"nodes_100k": (200, None), "nodes_1m": (2000, 600)}
    for name, nodes in make_synthetic.NODE_COUNTS.items():
        with_peer = nodes <= LARGEST_FOR_PEER
        found.append(Case(name, inspect, name, *bars.get(name, (None, None)), with_peer=with_peer, nodes=nodes))
        found.append(Case(name + " --show layers", layers, name, with_peer=with_peer))
    return found


def model_path(name: str) -> pathlib.Path:
    """The model's file, made if missing and read once, so that it is in the page cache."""
    if name in make_synthetic.NODE_COUNTS or name == "external_10gb":
        path = make_synthetic.make(MODELS, name)
    else:
        import make_models  # needs onnx
        path = make_models.make(MODELS, name)
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass
    return path


def verdict(case: Case, ours: measure.Result) -> str:
    if ours.status != 0:
        return f"MISS: exit {ours.status}"
    missed = ours.ms > (case.bar_ms or ours.ms) or ours.mb > (case.bar_mb or ours.mb)
    return "MISS" if missed else "ok" if case.bar_ms else ""


def row(case: Case, ours: measure.Result, peer: measure.Result | None) -> list[str]:
    bars = [f"{case.bar_ms:g} ms"] * bool(case.bar_ms) + [f"{case.bar_mb:g} MB"] * bool(case.bar_mb)
    theirs = [f"{peer.ms:.0f}", f"{peer.mb:.0f}", f"{peer.ms / ours.ms:.1f}"] if peer else ["-"] * 3
    if peer and peer.status:
        theirs[2] = f"exit {peer.status}"
    return [case.name, f"{ours.ms:.1f}", f"{ours.mb:.0f}", *theirs, ", ".join(bars), verdict(case, ours)]


def print_table(rows: list[list[str]]) -> None:
    rows = [["case", "ours ms", "ours MB", "peer ms", "peer MB", "ratio", "bar", ""], *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for cells in rows:
        padded = [cell.rjust(width) if 0 < column < 6 else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(cells, widths))]
        print("  ".join(padded).rstrip())


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--only", default="")
    options.add_argument("--no-peer", action="store_true")
    options = options.parse_args()
    floor = measure.memory_floor_mb()
    rows, sizes, times = [], [], []
    for case in cases():
        if options.only not in case.name:
            continue
        words = case.words + ([str(model_path(case.model))] if case.model else [])
        peer_command = [PEER, *words] if case.with_peer and not options.no_peer else None
        ours, peer = measure.side_by_side([[ASSAY, *words], peer_command], options.runs)
        rows.append(row(case, ours, peer))
        if case.nodes:
            sizes.append(case.nodes)
            times.append(ours.ms)
        print(f"{case.name}: done", file=sys.stderr)
    print_table(rows)
    if len(sizes) > 1:
        print(f"growth: time ~ nodes^{measure.growth(sizes, times):.2f}")
    print(f"memory below {floor:.0f} MB cannot be told apart")
    return 1 if any("MISS" in cells[-1] for cells in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
