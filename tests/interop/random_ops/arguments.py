"""What tests with random draws understand."""

import argparse
import pathlib
import random


def parser(tool, seed, count):
    options = argparse.ArgumentParser()
    options.add_argument(tool, type=pathlib.Path)
    options.add_argument("--seed", default=seed, help="a number, or `random`")
    options.add_argument("--count", type=int, default=count)
    options.add_argument("--draw", type=int, help="this one only")
    return options


def parse(options, words=None):
    """`words` in place of the program's own."""
    options = options.parse_args(words)
    options.seed = random.randrange(10**9) if options.seed == "random" else int(options.seed)
    return options
