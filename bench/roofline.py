#!/usr/bin/env python3
"""The tables of docs/performance.md: the engine beside its rivals, and where its time goes beside what the machine can do.

    roofline.py [--only SECTION...] [--repeats N] [--seconds N] [--threads N] [--output FILE]      default: prints them

They go behind the marker of the document, each section as soon as it is measured, with the date; the others stay as they
were. The rows of the modes in the table before the marker follow from them. A section that fails says so, and the next
one follows. Sections are the modes of engine.py, N seconds for each model, `memory`, `sessions`, `building`, and models,
whose layers are listed.
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
from collections.abc import Callable

from engine import BUILT, COMPRESSED, LLAMA, MEMORY, MODELS, MODES, NAMES, QUANTISED, ROOT, make
from engine import build_table, memory_table, session_table
from engine import table as rival_table

PROGRAM = ROOT / "build" / "release" / "bin" / "assay"
MARKER = "<!-- what follows is written by bench/roofline.py -->"
INTEGERS = 4  # times as many operations as float32 in a second
LEAST_SHARE = 0.01  # of a row; what is below is summed up
RIVALS = "Beside the rivals"
MEAN, EACH = "geometric mean", "each model"
GOALS = {"strict": {MEAN: 1.10, EACH: 1.02}, "default": {MEAN: 1.18, "resnet50": 1.2, "yolov5s": 1.2},
         "int8": {MEAN: 1.15}}  # least ratios


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
    lines = [f"{total * 1e3:.2f} ms in all; the machine's best: {roof['flops_per_second'] / 1e9:.0f} GFLOP/s in float32, "
             f"{roof['bytes_per_second'] / 1e9:.1f} GB/s of memory, {roof['threads']:.0f} threads.", "",
             "| layers | count | ms | share | GFLOP/s | GB/s | floor, ms | left, ms |", "|---|---|---|---|---|---|---|---|"]
    ordered = sorted(rows.items(), key=lambda item: (item[0] == "others", -item[1].seconds))
    return lines + [row.line(name, total) for name, row in ordered]


def mode_row(mode: str, lines: list[str]) -> str:
    """The row of a mode: its goal, the ratios that were measured for it, whether they meet it, and the worst model."""
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("| ")]
    ratios = {row[0]: float(row[-1]) for row in cells if row[0] != mode}
    models = {name: ratio for name, ratio in ratios.items() if name != MEAN}
    worst = min(models, key=models.get)
    goals = GOALS.get(mode, {})
    seen = {MEAN: ratios[MEAN], **{name: ratios.get(name, models[worst]) for name in goals}}
    written = ["; ".join(f"{ratio:.2f}" if name == MEAN else f"{name} {ratio:.2f}" for name, ratio in of.items())
               for of in (goals, seen)]
    met = "–" if not goals else "yes" if all(seen[name] >= goal for name, goal in goals.items()) else "no"
    return f"| `{mode}` | {written[0] or '–'} | {written[1]} | {met} | {worst}, {models[worst]:.2f} |"


def machine() -> str:
    cpu = next(line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
               if line.startswith("model name"))
    return (f"{cpu}, {os.cpu_count()} processors, {datetime.date.today().isoformat()}; in the minute before, "
            f"{os.getloadavg()[0]:.1f} processes were running.")


@dataclasses.dataclass
class Section:
    group: str
    name: str
    measure: Callable[[], list[str]]
    models: tuple[str, ...]

    def lines(self) -> list[str]:
        make(list(self.models))
        when = machine()
        return [when, "", *self.measure()]


def sections(options: argparse.Namespace) -> list[Section]:
    """In the order of the document."""
    def rivals(mode: str) -> list[str]:
        own = "1 thread" if "threads=1" in MODES[mode][1] else "all threads"
        return [f"Least milliseconds of a run, {f'{options.threads} threads' if options.threads else own}.", "",
                *rival_table(mode, list(MODES[mode][0]), options.seconds, options.threads)]

    def layers(name: str) -> list[str]:
        return table(MODELS / f"{name}.onnx", options.repeats, options.threads)

    def section(group: str, name: str, measure: Callable[..., list[str]], models: tuple[str, ...],
                *values: object) -> Section:
        return Section(group, name, lambda: measure(*values), models)

    return [*(section(RIVALS, mode, rivals, MODES[mode][0], mode) for mode in MODES),
            section("Memory and building", "memory", memory_table, MEMORY, list(MEMORY)),
            section("Memory and building", "sessions", session_table, NAMES, list(NAMES)),
            section("Memory and building", "building", build_table, BUILT, list(BUILT)),
            *(section("Where the time goes", name, layers, (name,), name)
              for name in (*NAMES, *QUANTISED, *COMPRESSED, *LLAMA))]


class Document:
    """What stands before the marker, and the lines of each section behind it."""

    def __init__(self, path: pathlib.Path, order: list[Section]) -> None:
        self.path, self.order = path, order
        self.before, _, behind = (path.read_text() if path.exists() else "").partition(MARKER)
        self.found: dict[tuple[str, str], list[str]] = {}
        group = name = ""
        for line in behind.splitlines():
            if line.startswith("## "):
                group, name = line[3:], ""
            elif line.startswith("### "):
                name = line[4:]
            elif name:
                self.found.setdefault((group, name), []).append(line)

    def put(self, section: Section, lines: list[str]) -> None:
        self.found[section.group, section.name] = lines
        if section.group == RIVALS:
            row = mode_row(section.name, lines)
            self.before = re.sub(rf"^\| `{section.name}` \|.*$", lambda _: row, self.before, flags=re.MULTILINE)
        text, group = "", ""
        for each in self.order:
            if (each.group, each.name) not in self.found:
                continue
            text += f"\n## {each.group}\n" if each.group != group else ""
            group = each.group
            text += f"\n### {each.name}\n\n" + "\n".join(self.found[each.group, each.name]).strip("\n") + "\n"
        self.path.write_text(f"{self.before}{MARKER}\n{text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="SECTION", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", type=int, default=0, help="0: all, but for the modes with one")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    order = sections(options)
    unknown = set(options.only) - {section.name for section in order}
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(each.name for each in order)}")
    document = Document(options.output, order) if options.output else None
    failed = 0
    for section in order:
        if options.only and section.name not in options.only:
            continue
        try:
            lines = section.lines()
        except (OSError, RuntimeError, subprocess.SubprocessError, LookupError, ValueError) as error:
            print(f"{section.name} failed: {error}", file=sys.stderr, flush=True)
            failed += 1
            continue
        print("\n".join([f"### {section.name}", "", *lines, ""]), flush=True)
        if document:
            document.put(section, lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
