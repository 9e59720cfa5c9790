"""Types, formats and tactics that quick plugins offer."""

from itertools import product

from assay.tensorrt.enums import DataType, TensorFormat

_SHORT = {"FP32": "FLOAT", "FP16": "HALF"}


def _spelled(words, kind):
    """The rows that words spell: alternatives of words with `|` go together, those with `*` are each their own."""
    rows = [word.split("|") for word in words]
    count = max((len(row) for row in rows), default=1)
    for word, row in zip(words, rows):
        if len(row) > 1 and "*" in word:
            raise ValueError(f"`{word}` has both | and *")
        if len(row) not in (1, count):
            raise ValueError(f"{words}: alternatives with | are as many everywhere")
    found = []
    for i in range(count):
        columns = [row[i] if len(row) > 1 else row[0] for row in rows]
        found += [list(each) for each in product(*(column.split("*") for column in columns))]
    return [[_member(kind, word.strip()) for word in row] for row in found]


def _member(kind, word):
    name = _SHORT.get(word, word) if kind is DataType else word
    if name not in kind.__members__:
        raise ValueError(f"there is no {kind.__name__} `{word}`")
    return kind.__members__[name]


class AutoTuneCombination:
    """Types and formats of inputs and outputs that go together, and tactics for them.

    `"FP32|FP16, FP32|FP16"` are two combinations, `"FP32*FP16, FP32*FP16"` are four.
    """

    def __init__(self, io_types=None, layouts=None, tactics=None) -> None:
        self.io_types = [each.strip() for each in io_types.split(",")] if io_types is not None else []
        self.layouts = [each.strip() for each in (layouts or "LINEAR").split(",")] if self.io_types else []
        if len(self.layouts) == 1:
            self.layouts = self.layouts * len(self.io_types)
        if len(self.layouts) != len(self.io_types):
            raise ValueError(f"{len(self.io_types)} types and {len(self.layouts)} formats: expected is one format, or as many")
        self._tactics = tactics

    def pos(self, pos, io_types, layouts="LINEAR") -> None:
        """Types and formats of some inputs and outputs, by their numbers."""
        for place in [pos] if isinstance(pos, int) else pos:
            missing = place + 1 - len(self.io_types)
            self.io_types += [None] * missing
            self.layouts += [None] * missing
            if self.io_types[place] is not None:
                raise ValueError(f"the types of number {place} are there already")
            self.io_types[place], self.layouts[place] = io_types, layouts

    def tactics(self, tactics) -> None:
        """Ways to compute the plugin, as numbers above 0."""
        self._tactics = tactics

    def _spelled(self, count):
        """(types, formats) of `count` inputs and outputs."""
        if len(self.io_types) != count or None in self.io_types:
            raise ValueError(f"types of {len(self.io_types)} inputs and outputs are there, expected are those of {count}")
        for types in _spelled(self.io_types, DataType):
            for formats in _spelled(self.layouts, TensorFormat):
                yield types, formats
