"""Versions."""

import re

_STAGES = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "c": -1, "post": 1}


class Version(tuple):
    """The numbers of a release. Compares as versions do: pre-releases before their release, what was fixed since after it."""

    __slots__ = ()

    def _key(self):
        numbers = [each for each in self if isinstance(each, int)]
        while numbers and numbers[-1] == 0:
            numbers.pop()
        return numbers, [(_STAGES[name], number) for name, number in (each for each in self if isinstance(each, tuple))]

    @staticmethod
    def _order(left, right):
        """-1, 0 or 1."""
        (numbers, stages), (others, other_stages) = left._key(), Version(right)._key()
        if numbers != others:
            return -1 if numbers < others else 1
        width = max(len(stages), len(other_stages))
        a, b = ([*each, *[(0, 0)] * (width - len(each))] for each in (stages, other_stages))
        return (a > b) - (a < b)

    def __lt__(self, other):
        return Version._order(self, other) < 0

    def __le__(self, other):
        return Version._order(self, other) <= 0

    def __gt__(self, other):
        return Version._order(self, other) > 0

    def __ge__(self, other):
        return Version._order(self, other) >= 0

    def __eq__(self, other):
        return isinstance(other, tuple) and Version._order(self, other) == 0

    def __hash__(self):
        return hash(tuple(self._key()[0]))


def version(version_str):
    """A version that compares as versions do; what follows a `+` does not count."""
    text = version_str.partition("+")[0].lower()
    release = re.match(r"[v\D]*((?:\d+\.?)*)", text)[1]
    numbers = [int(each) for each in release.split(".") if each]
    rest = text[text.index(release) + len(release):] if release else text
    stages = re.findall(r"(dev|alpha|beta|rc|post|a|b|c)[-_.]?(\d*)", rest)
    return Version([*numbers, *((name, int(number or 0)) for name, number in stages)])
