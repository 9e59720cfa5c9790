"""Planted faults, and what `assay debug accuracy` says about them.

    verdicts.py [--count N] [--seed S] [--program PROGRAM] [--kind KIND...] [--benchmark-models [NAME...]]

Draws small networks, plants a fault into a copy, runs the copy in ONNX Runtime with all values as outputs, and has
these judged against the sound network. A hit names the layer with the fault first; a miss names none, or another one;
clean pairs, which only round differently, must accuse nobody. With --benchmark-models, the faults are planted into
these instead, as far as each has such a layer. Prints a table, and ends with 1 if there is a miss or a false accusation.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

from convert import ASSAY
from models.model_plantings import MODEL_KINDS, NAMES, model_plantings
from models.plantings import KINDS, plantings


def word_for(verdict):
    if verdict in ("hit", "clean"):
        return "right"
    return "false" if verdict.startswith(("accused", "hit,")) else "miss"


def print_table(table, title):
    print(f"{title:<24}{'right':>7}{'missed':>8}{'false accusations':>19}")
    for kind, counts in [*table.items(), ("all", sum(table.values(), collections.Counter()))]:
        print(f"{kind:<24}{counts['right']:>7}{counts['miss']:>8}{counts['false']:>19}")


def small_plantings(options):
    for kind in options.kind or KINDS:
        for number, case in plantings(kind, options.count or 32, options.seed):
            yield f"{kind} {number}", case


def judge_all(options, cases, title="planted"):
    table, faults = collections.defaultdict(collections.Counter), []
    with tempfile.TemporaryDirectory(prefix="verdicts-") as place:
        for name, case in cases:
            verdict = case.judge(options.program, pathlib.Path(place))
            table[case.kind][word_for(verdict)] += 1
            if word_for(verdict) != "right":
                faults.append(f"{name}: {verdict}")
    print_table(table, title)
    print("\n".join(faults[:20]), flush=True)
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="plantings of each kind: 32, or one into each model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", nargs="+", choices=sorted({*KINDS, *MODEL_KINDS}))
    parser.add_argument("--program", default=ASSAY)
    parser.add_argument("--benchmark-models", nargs="*", metavar="NAME", help=f"all: {' '.join(NAMES)}")
    options = parser.parse_args()
    unknown = set(options.kind or []) - set(KINDS if options.benchmark_models is None else MODEL_KINDS)
    if unknown:
        parser.error(f"planted elsewhere: {' '.join(sorted(unknown))}")
    if options.benchmark_models is None:
        return judge_all(options, small_plantings(options))
    return max(judge_all(options, model_plantings(name, options.kind or MODEL_KINDS, options.count or 1, options.seed), name)
               for name in options.benchmark_models or NAMES)


if __name__ == "__main__":
    sys.exit(main())
