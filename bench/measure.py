"""Runs programs side by side and keeps the best time and the largest memory of each."""

import argparse
import dataclasses
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

MOST_SECONDS = 10.0  # for one program in one case, unless a single run takes longer


@dataclasses.dataclass
class Result:
    ms: float = math.inf
    mb: float = 0.0
    status: int = 0
    runs: int = 0
    seconds: float = 0.0


def run_once(command: list[str], result: Result) -> None:
    """Runs a program to its end with its output thrown away, and adds what was seen to the result."""
    actions = [(os.POSIX_SPAWN_OPEN, stream, "/dev/null", os.O_RDWR, 0) for stream in (0, 1, 2)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    result.ms = min(result.ms, seconds * 1000)
    result.mb = max(result.mb, usage.ru_maxrss / 1024)
    result.status = result.status or os.waitstatus_to_exitcode(status)
    result.runs += 1
    result.seconds += seconds


def side_by_side(commands: list[list[str] | None], runs: int) -> list[Result | None]:
    """Runs the programs in turn, A B A B, so that a disturbance meets all of them."""
    results = [Result() if command else None for command in commands]
    pairs = [(command, result) for command, result in zip(commands, results) if command]
    for command, result in pairs * runs:
        if result.runs == 0 or result.seconds < MOST_SECONDS:
            run_once(command, result)
    return results


def parse_options(runs: int) -> argparse.Namespace:
    """What benchmarks of programs beside their peers understand."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--no-peer", action="store_true")
    return parser.parse_args()


def memory_floor_mb() -> float:
    """Smaller memory cannot be seen: a new process is charged with what its parent held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def largest_tensor_mb(model: pathlib.Path) -> float:
    """Asked of another process, whose memory does not count."""
    code = ("import math, onnx, sys\n"
            "m = onnx.load(sys.argv[1], load_external_data=False)\n"
            "print(max(math.prod(t.dims) * (8 if t.data_type in (7, 11) else 4) for t in m.graph.initializer))")
    return int(subprocess.check_output([sys.executable, "-c", code, model])) / 2**20


def growth(points: list[tuple[int, float]]) -> float:
    """The exponent e of the best fit time = c * size^e through points (size, time)."""
    logs = [(math.log(size), math.log(time)) for size, time in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)
