#!/usr/bin/env python3
"""Time and memory of `assay inspect model` beside `polygraphy inspect model`.

    inspect_model.py [--runs N] [--only PART] [--no-peer]

Wall time is the minimum, memory the maximum of N interleaved runs with a warm page cache. Exits 1 if a bar is missed.
"""

import dataclasses
import pathlib
import subprocess
import sys

import make_synthetic
import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
PEER = str(ROOT / ".venv" / "bin" / "polygraphy")
LARGEST_FOR_PEER = 100_000
MODEL = "MODEL"  # stands for the model's path in a case's words


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
    inspect, layers = ["inspect", "model", MODEL], ["inspect", "model", MODEL, "--show", "layers"]
    found = [
        Case("--version", ["--version"], bar_ms=3),
        Case("BERT-base", inspect, "bert_base_s128", 6, 40),
        Case("10 GB external", inspect, "external_10gb", 100, with_peer=False)]
    bars = {"nodes_100k": (200, None), "nodes_1m": (2000, 600)}
    for name, nodes in make_synthetic.NODE_COUNTS.items():
        with_peer = nodes <= LARGEST_FOR_PEER
        found.append(Case(name, inspect, name, *bars.get(name, (None, None)), with_peer=with_peer, nodes=nodes))
        found.append(Case(name + " --show layers", layers, name, with_peer=with_peer))
    return found


def model_path(name: str) -> pathlib.Path:
    """The model's file, made if missing and read once, so that it is in the page cache. It is made by another process,
    because the memory of this one would count as that of the programs measured."""
    synthetic = name in {*make_synthetic.NODE_COUNTS, *make_synthetic.SHUFFLED_COUNTS, "external_10gb"}
    maker = "make_synthetic.py" if synthetic else "make_models.py"
    subprocess.run([sys.executable, ROOT / "bench" / maker, MODELS, name], check=True, stdout=subprocess.DEVNULL)
    path = MODELS / f"{name}.onnx"
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
    bars = [f"{bar:g} {unit}" for bar, unit in ((case.bar_ms, "ms"), (case.bar_mb, "MB")) if bar]
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


def run_case(case: Case, runs: int, peer_too: bool) -> tuple[measure.Result, list[str]]:
    words = [str(model_path(case.model)) if word == MODEL else word for word in case.words]
    peer_command = [PEER, *words] if case.with_peer and peer_too else None
    ours, peer = measure.side_by_side([[ASSAY, *words], peer_command], runs)
    print(f"{case.name}: done", file=sys.stderr)
    return ours, row(case, ours, peer)


def main() -> int:
    options = measure.parse_options(7)
    floor = measure.memory_floor_mb()
    chosen = [case for case in cases() if options.only in case.name]
    results = [run_case(case, options.runs, not options.no_peer) for case in chosen]
    print_table([cells for _, cells in results])
    points = [(case.nodes, ours.ms) for case, (ours, _) in zip(chosen, results) if case.nodes]
    if len(points) > 1:
        print(f"growth: time ~ nodes^{measure.growth(points):.2f}")
    print(f"memory below {floor:.0f} MB cannot be told apart")
    return 1 if any("MISS" in cells[-1] for _, cells in results) else 0


if __name__ == "__main__":
    sys.exit(main())
