"""What comparisons give."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import MutableSequence

from assay import util
from assay.comparator.pairs import Pairs, table
from assay.json import add_json_methods
from assay.logger import G_LOGGER

TYPE_CHECKING = False


@add_json_methods("accuracy result")
class AccuracyResult(Pairs):
    """By pairs of runners: for each iteration, a dictionary from outputs to results. True if all matched."""

    def __init__(self, dct=None, aggregation="per_sample") -> None:
        items = dct.items() if isinstance(dct, (dict, Pairs)) else dct
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
        return table(("runners", "iteration", "output", "verdict", "measured"), rows)


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

    def __init__(self, lst=None) -> None:
        self.lst = list(lst or [])

    def __len__(self):
        return len(self.lst)

    def __setitem__(self, index, value):
        self.lst[index] = value

    def __delitem__(self, index):
        del self.lst[index]

    def insert(self, index, value) -> None:
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
