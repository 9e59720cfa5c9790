#!/usr/bin/env python3
"""The tables of docs/performance.md: the engine beside its rivals, and where its time goes beside what the machine can do.

    roofline.py [--only PART] [--repeats N] [--seconds N] [--threads N] [--output FILE]      default: prints them

They go behind the marker of the document. The first ones are those of engine.py, N seconds for each model; 0: none.
Each model is profiled N times by `assay profile`, and the least time of each layer counts. Layers of one kernel that
merge the same operators are a row. `floor` is the time that the row's operations and bytes take at the machine's best,
whichever is longer, `left` what it takes beyond that.
"""

import argparse
import dataclasses
import datetime
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from engine import BUILT, COMPRESSED, LLAMA, MEMORY, MODELS, MODES, NAMES, QUANTISED, ROOT, make
from engine import build_table, memory_table, session_table
from engine import table as rival_table

PROGRAM = ROOT / "build" / "release" / "bin" / "assay"
MARKER = "<!-- what follows is written by bench/roofline.py -->"
INTEGERS = 4  # times as many operations as float32 in a second
LEAST_SHARE = 0.01  # of a row; what is below is summed up


@dataclasses.dataclass
class Row:
    count: int = 0
    seconds: float = 0
    flops: float = 0
    bytes: float = 0
    floor: float = 0

    def add(self, layer: dict, roof: dict, peak: float) -> None:
        flops, size = layer.get("flops", 0), layer.get("bytes", 0)
        self.count += 1
        self.seconds += layer["seconds"]
        self.flops += flops
        self.bytes += size
        self.floor += max(flops / (roof["flops_per_second"] * peak), size / roof["bytes_per_second"])

    def line(self, name: str, total: float) -> str:
        left = max(self.seconds - self.floor, 0)
        cells = [name, str(self.count), f"{self.seconds * 1e3:.3f}", f"{self.seconds / total:.0%}",
                 f"{self.flops / self.seconds / 1e9:.0f}", f"{self.bytes / self.seconds / 1e9:.1f}",
                 f"{self.floor * 1e3:.3f}", f"{left * 1e3:.3f}"]
        return f"| {' | '.join(cells)} |"


def profile(model: pathlib.Path, threads: int) -> dict:
    packages = glob.glob(str(ROOT / ".venv" / "lib" / "python3*" / "site-packages"))[0]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "profile.json"
        subprocess.run([str(PROGRAM), "profile", str(model), "--engine", "--measure-tactics", "--json", str(report),
                        *(["--threads", str(threads)] if threads else [])],
                       env=os.environ | {"ASSAY_ONEDNN": packages}, check=True, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text())


def name_of(layer: dict) -> str:
    """The kernel and what it merges, without the numbers of layers and the variants of tactics."""
    merged = re.search(r"\(([^()]*)\)$|the (\S+) node", layer["name"])
    operators = re.sub(r"_\d+$", "", merged.group(1) or merged.group(2)) if merged else ""
    operators = operators.replace("DequantizeLinear", "DQ").replace("QuantizeLinear", "Q").replace("_", " ")
    return f"{layer['op'].split(':')[0]} {operators}".strip()


def table(model: pathlib.Path, repeats: int, threads: int) -> list[str]:
    found = [profile(model, threads) for _ in range(repeats)]
    roof = {what: max(run["roof"][what] for run in found) for what in found[0]["roof"]}
    layers = found[0]["backends"][0]["layers"]
    for run in found[1:]:
        for layer, other in zip(layers, run["backends"][0]["layers"]):
            layer["seconds"] = min(layer["seconds"], other["seconds"])
    total = sum(layer["seconds"] for layer in layers)
    rows: dict[str, Row] = {}
    for layer in layers:
        name = name_of(layer)
        is_integer = ("DQ" in name or "Integer" in name) and not name.startswith("product.compressed")
        rows.setdefault(name, Row()).add(layer, roof, INTEGERS if is_integer else 1)
    small = [name for name, row in rows.items() if row.seconds < LEAST_SHARE * total]
    if small:
        rest = Row(*(sum(values) for values in zip(*(dataclasses.astuple(rows.pop(name)) for name in small))))
        rows["others"] = rest
    lines = [f"### {model.stem}", "",
             f"{total * 1e3:.2f} ms in all; the machine's best: {roof['flops_per_second'] / 1e9:.0f} GFLOP/s in float32, "
             f"{roof['bytes_per_second'] / 1e9:.1f} GB/s of memory, {roof['threads']:.0f} threads.", "",
             "| layers | count | ms | share | GFLOP/s | GB/s | floor, ms | left, ms |", "|---|---|---|---|---|---|---|---|"]
    ordered = sorted(rows.items(), key=lambda item: (item[0] == "others", -item[1].seconds))
    return lines + [row.line(name, total) for name, row in ordered] + [""]


def machine() -> str:
    cpu = next(line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
               if line.startswith("model name"))
    return (f"{cpu}, {os.cpu_count()} processors, {datetime.date.today().isoformat()}; in the minute before, "
            f"{os.getloadavg()[0]:.1f} processes were running.")


def rivals(only: str, seconds: float, threads: int) -> list[str]:
    lines = ["## Beside the rivals", "", f"Least milliseconds of a run, {threads or 'all'} threads. {machine()}", ""]
    for mode, (names, _) in MODES.items():
        chosen = [name for name in names if only in name]
        make(chosen)
        if chosen:
            lines += [*rival_table(mode, chosen, seconds, threads), ""]
    chosen = [name for name in NAMES if only in name]
    return [*lines, "## Memory", "", *memory_table([name for name in MEMORY if only in name]), "", *session_table(chosen), "",
            "## Building", "", *build_table([name for name in BUILT if only in name]), ""]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", type=int, default=0, help="0: all, but for the modes with one")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    lines = rivals(options.only, options.seconds, options.threads) if options.seconds > 0 else []
    names = [name for name in (*NAMES, *QUANTISED, *COMPRESSED, *LLAMA) if options.only in name]
    make(names)
    lines += ["## Where the time goes", "", machine(), ""]
    for name in names:
        lines += table(MODELS / f"{name}.onnx", options.repeats, options.threads)
    text = "\n".join(lines)
    if not options.output:
        print(text)
        return 0
    written = options.output.read_text().split(MARKER)[0] if options.output.exists() else ""
    options.output.write_text(f"{written}{MARKER}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
