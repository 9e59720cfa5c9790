#!/usr/bin/env python3
"""Time and memory of `assay convert --fp-to-fp16` beside `polygraphy convert --fp-to-fp16`.

    convert.py [--runs N] [--only PART] [--no-peer]

From the start of the process to the saved file, on a file system in memory; wall time is the minimum, memory the
maximum of N interleaved runs with a warm page cache. Exits 1 if a bar is missed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "bench-models"
ASSAY = str(ROOT / "build" / "release" / "bin" / "assay")
PEER = str(ROOT / ".venv" / "bin" / "polygraphy")
NAMES = ["bert_base_s128", "resnet50", "mobilenetv2"]
BAR_RATIO = 5
BASE_MB = 100  # of memory, besides three times the largest tensor


def model_path(name: str) -> pathlib.Path:
    """The model's file, made if missing and read once, so that it is in the page cache."""
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        subprocess.run([sys.executable, ROOT / "bench" / "make_models.py", MODELS, name], check=True)
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass
    return path


def run_case(name: str, runs: int, with_peer: bool, folder: pathlib.Path) -> bool:
    path = model_path(name)
    ours_out, peer_out = folder / "ours.onnx", folder / "peer.onnx"
    words = ["convert", str(path), "--fp-to-fp16", "-o"]
    peer_command = [PEER, *words, str(peer_out)] if with_peer else None
    ours, peer = measure.side_by_side([[ASSAY, *words, str(ours_out)], peer_command], runs)
    bar_mb = 3 * measure.largest_tensor_mb(path) + BASE_MB
    ratio = peer.ms / ours.ms if peer else 0
    missed = ours.status != 0 or ours.mb > bar_mb or (peer is not None and ratio < BAR_RATIO)
    text = f"{name}: ours {ours.ms:.0f} ms, {ours.mb:.0f} MB (bar {bar_mb:.0f})"
    if peer:
        text += f"; peer {peer.ms:.0f} ms, {peer.mb:.0f} MB, exit {peer.status}; ratio {ratio:.1f} (bar {BAR_RATIO})"
    print(text + ("  MISS" if missed else "  ok"), flush=True)
    return missed


def main() -> int:
    options = measure.parse_options(5)
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        missed = [run_case(name, options.runs, not options.no_peer, folder) for name in NAMES if options.only in name]
    finally:
        shutil.rmtree(folder)
    return 1 if any(missed) else 0


if __name__ == "__main__":
    sys.exit(main())
