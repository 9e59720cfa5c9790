"""Planted faults, and what `assay debug accuracy` says about them.

    verdicts.py [--count N] [--seed S] [--program PROGRAM] [--kind KIND...] [--benchmark-models [NAME...]]
    verdicts.py --audit [--count N] [--seed S]
    verdicts.py --device cuda ...

Draws small networks, plants a fault into a copy, runs the copy in ONNX Runtime with all values as outputs, and has
these judged against the sound network. A hit names the layer with the fault first; a miss names none, or another one;
clean pairs, which only round differently, must accuse nobody. With --benchmark-models, the faults are planted into
these instead, as far as each has such a layer. Prints a table, and ends with 1 if there is a miss or a false accusation.
With --audit, sound networks of two dozen kinds run on five sides and must not be accused by `run --tolerance auto` or by
`debug accuracy`; faults of 25 kinds must be named with a true cause; and what used to pass must not: garbage behind
quantisers, wrong modes of Resize, small faults in narrow types. With --device, the engine runs on that device in the
place of ONNX Runtime and the other sides; kinds whose faults are in values alone are left out.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

from convert import ASSAY
from models.audit import Audit
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


def on_side(options, kinds):
    """Not with a device: faults of values alone, ONNX Runtime's optimisations, and what only values within layers show."""
    left = ("fused_fault", "clean_fused", "overflow_in_half", "finite_mask", "two_faults")
    return [kind for kind in kinds if options.device is None or kind not in left]


def small_plantings(options):
    for kind in options.kind or on_side(options, KINDS):
        for number, case in plantings(kind, options.count or 32, options.seed):
            yield f"{kind} {number}", case


def judge_all(options, cases, title="planted"):
    table, faults = collections.defaultdict(collections.Counter), []
    with tempfile.TemporaryDirectory(prefix="verdicts-") as place:
        for name, case in cases:
            verdict = case.judge(options.program, pathlib.Path(place), options.device)
            table[case.kind][word_for(verdict)] += 1
            if word_for(verdict) != "right":
                faults.append(f"{name}: {verdict}")
    print_table(table, title)
    print("\n".join(faults[:20]), flush=True)
    return 1 if faults else 0


def audit(options):
    draws = options.count or 3
    with tempfile.TemporaryDirectory(prefix="verdicts-") as place:
        made = Audit(options.program, place, options.device)
        print("sound networks: layers, and who is accused")
        for side, row in made.sound(draws, options.seed).items():
            print(f"    {side:<18}{row['models']:>4} models, {row['layers']:>5} layers; accused: {row['run']} by run, "
                  f"{row['accuracy']} by debug accuracy; {row['undecided']} undecided, {row['refused']} refused", flush=True)
        print("planted faults")
        for how, row in made.planted(4 * draws, options.seed).items():
            print(f"    {how:<18}{row['planted']:>4} planted; named first {row['first']}, by the next layer {row['next']}, missed "
                  f"{row['missed']}, within what a declared type may {row['hidden']}, sound side first {row['sound side']}; "
                  f"causes: {row['true']} true, {row['unknown']} unknown, {row['false']} false", flush=True)
        if options.device is None:
            print_values_alone(made, draws, options.seed)
        print("\n".join(made.faults[:40]), flush=True)
        return 1 if made.faults else 0


def print_values_alone(made, draws, seed):
    for title, row in (("garbage behind quantisers", made.garbage(seed)), ("modes of Resize", made.modes())):
        print(f"{title}: {row['planted']} planted; found by run {row['run']}, by debug accuracy {row['accuracy']}", flush=True)
    row = made.narrow(4 * draws, seed)
    for title in ("float16 x1.01", "mask"):
        name = title.split()[0]
        print(f"{title}: {row[title]} planted; found by run {row[name + ' run']}, by debug accuracy {row[name + ' accuracy']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="plantings of each kind: 32, or one into each model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", nargs="+", choices=sorted({*KINDS, *MODEL_KINDS}))
    parser.add_argument("--program", default=ASSAY)
    parser.add_argument("--benchmark-models", nargs="*", metavar="NAME", help=f"all: {' '.join(NAMES)}")
    parser.add_argument("--device", help="cuda or cuda:N: what the engine computes there is judged")
    parser.add_argument("--audit", action="store_true", help="sound networks and faults of many kinds on five sides")
    options = parser.parse_args()
    if options.audit:
        return audit(options)
    unknown = set(options.kind or []) - set(KINDS if options.benchmark_models is None else MODEL_KINDS)
    if unknown:
        parser.error(f"planted elsewhere: {' '.join(sorted(unknown))}")
    if options.benchmark_models is None:
        return judge_all(options, small_plantings(options))
    return max(judge_all(options, model_plantings(name, options.kind or on_side(options, MODEL_KINDS), options.count or 1, options.seed), name)
               for name in options.benchmark_models or NAMES)


if __name__ == "__main__":
    sys.exit(main())
