"""Compares the option parser with Python's argparse on random tables and random command lines.

    argparse_test.py PARSE_OPTIONS [--cases N] [--seed S]

PARSE_OPTIONS is the program built from tests/support/parse_options.cpp. Both sides get the same table and the same
words; they must agree on whether the words are accepted and, if so, on every value.

Deliberate differences, which Reference below adds to argparse:
  * names of one option are no ambiguity among each other;
  * a number with an exponent (-1e5) is a value, as -1 and -1.5 are;
  * `?` and `*` positionals that would get nothing before an option wait for words behind it (argparse does so too from
    Python 3.12.7 on);
  * a word as `--opt=a b` whose blank stands behind the equals sign is an option word, never a value.
Not generated, because argparse's versions disagree with each other: a second `--`, `--` as the last word, and an equals
sign inside a bundle (`-vo=x`, which gives `x` here and from Python 3.12 on).
"""

import argparse
import json
import random
import re
import subprocess
import sys

LONG = ["alpha", "alphabet", "beta", "bet", "gamma-ray", "gamma-rays", "delta", "dex", "x", "omega"]
VALUES = ["a", "b", "m.onnx", "X:[1,2]", "Y:[-1,'N', 3]", "", "-", "-1", "-1.5", "-.5", "-2e-3", "a=b", "=",
          "two words", "-a b", "α", "1", "inf", "[", "k:v:1"]
CHOICES = ["red", "green", "blue"]
NARGS = {"one": None, "?": "?", "+": "+", "*": "*"}
LEAST = {"one": 1, "?": 0, "+": 1, "*": 0}


class Refused(Exception):
    pass


class Reference(argparse.ArgumentParser):
    """argparse with the deliberate differences."""

    def __init__(self):
        super().__init__(add_help=False)
        self._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
        self.add_argument("-h", "--help", dest="--help", action="append_const", const=[])

    def error(self, message):
        raise Refused(message)

    def _get_option_tuples(self, option_string):
        found = {}
        for candidate in super()._get_option_tuples(option_string):
            action, name = candidate[0], candidate[1]
            if action not in found or name == option_string[:2]:
                found[action] = candidate
        return list(found.values())

    def _parse_optional(self, word):
        equals = word.find("=")
        if word.startswith("-") and word not in self._option_string_actions and " " not in word[:equals] and equals > 0:
            return super()._parse_optional(word.replace(" ", "\0"))
        return super()._parse_optional(word)

    def _get_values(self, action, words):
        return super()._get_values(action, [word.replace("\0", " ") for word in words])

    def _match_arguments_partial(self, actions, pattern):
        counts = super()._match_arguments_partial(actions, pattern)
        if sum(counts) < len(pattern) and pattern[sum(counts)] == "O":
            while counts and counts[-1] == 0:
                counts.pop()
        return counts


class Use(argparse.Action):
    """Keeps the values of each use as a list."""

    def __call__(self, parser, namespace, values, option_string=None):
        if self.option_strings == [] and self.nargs in ("?", "*") and values in (None, []):
            return
        if isinstance(values, str):
            values = [values]
        if self.nargs == "?" and values is None:
            values = []
        getattr(namespace, self.dest).append(values)


def reference_outcome(table, words):
    parser = Reference()
    defaults = {"--help": []}
    for option in table["options"]:
        name = canonical(option["names"])
        defaults[name] = []
        kind = option["arity"]
        if kind == "flag":
            parser.add_argument(*option["names"], dest=name, action="append_const", const=[],
                                required=option["required"])
        else:
            parser.add_argument(*option["names"], dest=name, nargs=NARGS[kind], action=Use,
                                choices=option["choices"] or None, required=option["required"])
    for positional in table["positionals"]:
        defaults[positional["name"]] = []
        parser.add_argument(positional["name"], nargs=NARGS[positional["arity"]], action=Use)
    try:
        namespace = parser.parse_args(words, argparse.Namespace(**{name: [] for name in defaults}))
    except Refused as refused:
        return {"error": str(refused)}
    return {"values": {name: getattr(namespace, name) for name in defaults}}


def canonical(names):
    return next((name for name in names if name.startswith("--")), names[0])


def random_table(rng):
    longs = rng.sample(LONG, rng.randint(1, 6))
    shorts = rng.sample("vqox1", rng.randint(0, 3)) if rng.random() < 0.9 else []
    options = []
    while longs or shorts:
        names = []
        if shorts and rng.random() < 0.6:
            names.append("-" + shorts.pop())
        for _ in range(rng.choice([1, 1, 2])):
            if longs:
                names.append("--" + longs.pop())
        if not names:
            continue
        arity = rng.choice(["flag", "one", "?", "+", "*"])
        choices = CHOICES if arity != "flag" and rng.random() < 0.2 else []
        options.append({"names": names, "arity": arity, "repeat": "last", "choices": choices,
                        "required": rng.random() < 0.05})
    arities = rng.choice([[], ["one"], ["?"], ["one", "one"], ["+"], ["*"], ["one", "*"], ["+", "one"], ["?", "one"],
                          ["one", "?", "+"], ["*", "one"], ["+", "+"], ["one", "?"]])
    positionals = [{"name": f"p{i}", "arity": arity} for i, arity in enumerate(arities)]
    return {"options": options, "positionals": positionals}


def option_words(rng, option):
    name = rng.choice(option["names"])
    pool = option["choices"] if option["choices"] and rng.random() < 0.9 else VALUES
    values = [rng.choice(pool) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    if option["arity"] == "flag":
        values = values if rng.random() < 0.1 else []
    if option["arity"] == "one":
        values = [rng.choice(pool)] if rng.random() < 0.9 else values
    style = rng.random()
    if len(name) > 3 and rng.random() < 0.2:
        name = name[: rng.randint(3, len(name))]
    if not name.startswith("--"):
        if option["arity"] == "flag" and style < 0.5:
            return ["-" + name[1] * rng.randint(1, 3) + rng.choice(["", "", "v", "q", "ob", "x"])]
        if values and style < 0.4:
            return [name + values[0]]
    if values and style < 0.7 and rng.random() < 0.4:
        return [f"{name}={values[0]}"] + values[1:]
    return [name] + values


def random_words(rng, table):
    words = []
    for _ in range(rng.randint(0, 5)):
        kind = rng.random()
        if kind < 0.6 and table["options"]:
            words += option_words(rng, rng.choice(table["options"]))
        elif kind < 0.95:
            words.append(rng.choice(VALUES))
        else:
            words.append(rng.choice(["--unknown", "--unknown=a b", "-z", "--al", "--gamma", "--=", "---", "-1x"]))
    for _ in range(rng.choice([0, 0, 1, 2])):
        words.insert(rng.choice([0, len(words)]), rng.choice(VALUES))
    if len(words) > 1 and rng.random() < 0.15:
        words.insert(rng.randint(0, len(words) - 1), "--")
    return words


def describe(table, words, ours, theirs):
    return "\n".join(["disagreement:", f"  table:    {json.dumps(table, ensure_ascii=False)}", f"  words:    {words}",
                      f"  ours:     {json.dumps(ours, ensure_ascii=False)}",
                      f"  argparse: {json.dumps(theirs, ensure_ascii=False)}"])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--cases", type=int, default=5000)
    options.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = options.parse_args()
    print(f"seed {options.seed} (repeat with --seed {options.seed})")
    rng = random.Random(options.seed)
    cases = []
    for _ in range(options.cases):
        table = random_table(rng)
        cases.append((table, random_words(rng, table)))
    lines = "".join(json.dumps({**table, "words": words}) + "\n" for table, words in cases)
    answers = subprocess.run([options.program], input=lines, capture_output=True, text=True, check=True).stdout
    answers = answers.splitlines()
    assert len(answers) == len(cases), f"{len(answers)} answers to {len(cases)} cases"
    accepted = wrong = 0
    for (table, words), answer in zip(cases, answers):
        ours, theirs = json.loads(answer), reference_outcome(table, words)
        accepted += "values" in theirs
        if ours.get("values") == theirs.get("values"):
            continue
        wrong += 1
        if wrong <= 5:
            print(describe(table, words, ours, theirs))
    print(f"{len(cases)} cases, {accepted} accepted, {wrong} disagreements")
    share = accepted / len(cases)
    assert 0.2 < share < 0.8, f"{share:.0%} accepted: the cases test little"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
