"""What runs and comparisons give."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import MutableMapping, MutableSequence

from assay import json as _json
from assay import util
from assay.json import add_json_methods
from assay.logger import G_LOGGER

TYPE_CHECKING = False


@add_json_methods("array")
class LazyArray:
    """An array in the form that files have it in."""

    def __init__(self, arr):
        self.arr = arr

    def load(self):
        """The array."""
        return self.arr

    def numpy(self):
        """The array, of numpy."""
        return util.array_of(self.arr)

    def to_dict(self):
        return {"values": self.arr}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["values"])


_json.register_alias("LazyNumpyArray", LazyArray)


@add_json_methods("iteration result")
class IterationResult(MutableMapping):
    """Outputs of one iteration by name, with the seconds that it took and who ran it."""

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        self.dct = OrderedDict()
        for name, value in (outputs or {}).items():
            self[name] = value.load() if isinstance(value, LazyArray) else value
        self.runtime = runtime
        self.runner_name = util.default(runner_name, "custom_runner")

    def __getitem__(self, name):
        return self.dct[name]

    def __setitem__(self, name, value):
        self.dct[name] = value

    def __delitem__(self, name):
        del self.dct[name]

    def __iter__(self):
        return iter(self.dct)

    def __len__(self):
        return len(self.dct)

    def __repr__(self):
        return f"IterationResult({dict(self.dct)!r}, runtime={self.runtime!r}, runner_name={self.runner_name!r})"

    def to_dict(self):
        outputs = {name: LazyArray(value) for name, value in self.items()}
        return {"outputs": outputs, "runtime": self.runtime, "runner_name": self.runner_name}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["outputs"], dct["runtime"], dct["runner_name"])

    def __eq__(self, other):
        if not isinstance(other, IterationResult) or list(self) != list(other):
            return False
        return all(_same(self[name], other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]


def _same(a, b):
    import numpy as np

    return np.array_equal(util.array_of(a), util.array_of(b))


class _Pairs:
    """A list of (key, value) that also goes by its keys."""

    def __init__(self, lst=None):
        self.lst = [(key, value) for key, value in (lst or [])]

    def _index(self, key):
        if isinstance(key, int):
            return key
        for i, (name, _) in enumerate(self.lst):
            if name == key:
                return i
        raise KeyError(f"there is nothing of `{key}`; there is: {', '.join(str(name) for name, _ in self.lst)}")

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, key):
        return any(name == key for name, _ in self.lst)

    def __getitem__(self, key):
        index = self._index(key)
        return self.lst[index] if isinstance(key, int) else self.lst[index][1]

    def __setitem__(self, key, value):
        if isinstance(key, int):
            self.lst[key] = value
            return
        if key in self:
            self.lst[self._index(key)] = (key, value)
        else:
            self.lst.append((key, value))

    def __delitem__(self, key):
        del self.lst[self._index(key)]

    def keys(self):
        return [name for name, _ in self.lst]

    def values(self):
        return [value for _, value in self.lst]

    def items(self):
        return list(self.lst)

    def get(self, key, fallback=None):
        return self[key] if key in self else fallback

    def update(self, other):
        for key, value in other.items():
            self[key] = value

    def __repr__(self):
        return f"{type(self).__name__}({self.lst!r})"


@add_json_methods("inference results")
class RunResults(_Pairs):
    """Outputs of runners: a list of (name, [IterationResult]) that also goes by names."""

    if TYPE_CHECKING:  # made by add_json_methods()

        def save(self, dest) -> None: ...

        @staticmethod
        def load(src) -> RunResults: ...

    @staticmethod
    def from_outputs(outputs, runner_name=None):
        """Of a list of dictionaries."""
        results = RunResults()
        results.add(outputs, runner_name=runner_name)
        return results

    def add(self, out_list, runtime=None, runner_name=None):
        """Adds the iterations of one runner."""
        iterations = [IterationResult(each, runtime, runner_name) for each in out_list]
        name = iterations[0].runner_name if iterations else util.default(runner_name, "custom_runner")
        self.lst.append((name, iterations))

    def append(self, entry):
        self.lst.append(entry)

    def extend(self, entries):
        self.lst.extend(entries)

    def insert(self, index, entry):
        self.lst.insert(index, entry)

    def __iter__(self):
        return iter(self.lst)

    def __add__(self, other):
        return RunResults([*self.lst, *other.lst])

    def __iadd__(self, other):
        self.lst.extend(other.lst)
        return self

    def __eq__(self, other):
        return isinstance(other, RunResults) and self.lst == other.lst

    __hash__ = None  # type: ignore[assignment]

    def split(self):
        """Results of one iteration each."""
        count = max((len(iterations) for _, iterations in self.lst), default=0)
        for i in range(count):
            yield RunResults([(name, iterations[i:i + 1]) for name, iterations in self.lst])

    @staticmethod
    def concat(runs):
        """The iterations of several results in a row, by runner."""
        joined = RunResults()
        for each in runs:
            for name, iterations in each:
                joined[name] = [*joined.get(name, []), *iterations]
        return joined

    @staticmethod
    def load_streaming(path, allow_dirs=True):
        """The results of a file, or of the files of a folder in the order of their names, one iteration at a time."""
        import os

        paths = [path]
        if allow_dirs and os.path.isdir(path):
            paths = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".json")]
        for each in paths:
            yield from RunResults.load(each).split()

    def to_dict(self):
        return {"lst": [[name, list(iterations)] for name, iterations in self.lst]}

    @classmethod
    def from_dict(cls, dct):
        return cls([(name, iterations) for name, iterations in dct["lst"]])

    def _repr_html_(self):
        rows = [(name, i, output, value) for name, iterations in self.lst for i, each in enumerate(iterations)
                for output, value in each.items()]
        return _table(("runner", "iteration", "output", "type", "shape"), [
            (name, i, output, getattr(value, "dtype", ""), tuple(getattr(value, "shape", ())))
            for name, i, output, value in rows])


def _table(head, rows):
    from html import escape

    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(each, 'td') for each in rows)}</table>"


@add_json_methods("accuracy result")
class AccuracyResult(_Pairs):
    """By pairs of runners: for each iteration, a dictionary from outputs to results. True if all matched."""

    def __init__(self, dct=None, aggregation="per_sample"):
        items = dct.items() if isinstance(dct, (dict, _Pairs)) else dct
        super().__init__([(tuple(key), value) for key, value in (items or [])])
        self.aggregation = aggregation

    def __bool__(self):
        if self.aggregation == "average":
            return all(bool(each) for pair, _ in self.lst for each in self.average_results(pair).values())
        return all(bool(result) for _, iterations in self.lst for each in iterations for result in each.values())

    def _pair(self, runner_pair):
        return self.lst[0][0] if runner_pair is None else tuple(runner_pair)

    def percentage(self, runner_pair=None):
        """Which share of the iterations matched, from 0 to 1."""
        matched, _, total = self.stats(runner_pair)
        return 1.0 if total == 0 else matched / total

    def stats(self, runner_pair=None):
        """(iterations that matched, that did not, all)."""
        iterations = self[self._pair(runner_pair)] if self.lst else []
        matched = sum(all(bool(result) for result in each.values()) for each in iterations)
        return matched, len(iterations) - matched, len(iterations)

    def output_names(self):
        """Of all pairs and iterations, each once."""
        return util.unique_list(name for _, iterations in self.lst for each in iterations for name in each)

    def average_results(self, runner_pair=None):
        """By output: a result with the means of what was measured, judged by the same thresholds."""
        averages = OrderedDict()
        iterations = self[self._pair(runner_pair)]
        for name in util.unique_list(name for each in iterations for name in each):
            averages[name] = _average(name, [each[name] for each in iterations if name in each])
        return averages

    def metric_fields(self):
        """What was measured; nothing, if there are verdicts only."""
        results = (result for _, iterations in self.lst for each in iterations for result in each.values())
        return next((list(each.metric_fields()) for each in results if hasattr(each, "metric_fields")), [])

    def describe_average(self, runner_pair=None):
        """The averages as lines."""
        lines = [f"{name}: {result}" for name, result in self.average_results(runner_pair).items()]
        return "\n".join(lines)

    def reevaluate(self, thresholds, aggregation=None):
        """The same measurements judged by a Threshold, or a dictionary of them by output ("": others). Gives itself."""
        self.aggregation = util.default(aggregation, self.aggregation)
        for _, iterations in self.lst:
            for name, result in [item for each in iterations for item in each.items()]:
                threshold = util.value_or_from_dict(thresholds, name)
                if threshold is None:
                    G_LOGGER.critical(f"there is no threshold for the output `{name}`")
                if not hasattr(result, "set_thresholds"):
                    G_LOGGER.critical(f"the output `{name}` has a verdict only: it cannot be judged again")
                result.set_thresholds(threshold)
        return self

    def to_dict(self):
        lst = [[list(pair), [dict(each) for each in iterations]] for pair, iterations in self.lst]
        return {"lst": lst, "aggregation": self.aggregation}

    @classmethod
    def from_dict(cls, dct):
        return cls([(pair, iterations) for pair, iterations in dct["lst"]], dct.get("aggregation", "per_sample"))

    def _repr_html_(self):
        rows = [(" vs. ".join(pair), i, name, "passed" if result else "FAILED", result)
                for pair, iterations in self.lst for i, each in enumerate(iterations) for name, result in each.items()]
        return _table(("runners", "iteration", "output", "verdict", "measured"), rows)


def _average(name, results):
    if not all(hasattr(each, "metric_values") for each in results):
        G_LOGGER.critical(f"the output `{name}` has no average: in some iteration nothing could be measured")
    measured = [each.metric_values() for each in results]
    means = {}
    for field in measured[0]:
        numbers = [each[field] for each in measured if each.get(field) is not None]
        means[field] = math.fsum(numbers) / len(numbers) if numbers else None
    return type(results[0])._of_metrics(means, results[0].thresholds)


@add_json_methods("accuracy results")
class AccuracyResults(MutableSequence):
    """One AccuracyResult for each comparison function. True if all are; a single one's methods may be asked here."""

    if TYPE_CHECKING:  # made by add_json_methods()

        def save(self, dest) -> None: ...

        @staticmethod
        def load(src) -> AccuracyResults: ...

    def __init__(self, lst=None):
        self.lst = list(lst or [])

    def __len__(self):
        return len(self.lst)

    def __setitem__(self, index, value):
        self.lst[index] = value

    def __delitem__(self, index):
        del self.lst[index]

    def insert(self, index, value):
        self.lst.insert(index, value)

    def __repr__(self):
        return f"AccuracyResults({self.lst!r})"

    def __bool__(self):
        return all(bool(each) for each in self)

    def output_names(self):
        """Of all comparisons, each once."""
        return util.unique_list(name for each in self for name in each.output_names())

    def reevaluate(self, thresholds, aggregation=None):
        """Keeps the comparisons that measured what the thresholds are about, judged by them. Gives itself."""
        rest, judged = list(self.lst), []
        for each in thresholds if isinstance(thresholds, (list, tuple)) else [thresholds]:
            fields = list((next(iter(each.values())) if isinstance(each, dict) else each).metric_fields())
            fitting = [result for result in rest if result.metric_fields() == fields]
            if not fitting:
                G_LOGGER.critical(f"no comparison measured {fields}; seen: {[result.metric_fields() for result in self]}")
            rest.remove(fitting[0])
            judged.append(fitting[0].reevaluate(each, aggregation))
        self.lst = judged
        return self

    def __getattr__(self, name):
        if name.startswith("_") or name == "lst" or not self.lst or not hasattr(AccuracyResult, name):
            raise AttributeError(f"AccuracyResults has no attribute '{name}'")
        if len(self.lst) > 1:
            G_LOGGER.critical(f"`{name}` is asked of {len(self)} comparisons: ask one of them, as [0]")
        return getattr(self.lst[0], name)

    def __getitem__(self, key):
        if isinstance(key, (int, slice)):
            return self.lst[key]
        return self.lst[0][key]

    def to_dict(self):
        return {"lst": self.lst}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["lst"])

    def _repr_html_(self):
        return "".join(each._repr_html_() for each in self)
