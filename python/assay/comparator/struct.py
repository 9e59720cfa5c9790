"""What runs give; what comparisons give is here too, by name."""

from __future__ import annotations

import contextlib
import os
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import MutableMapping

from assay import config, util
from assay import json as _json
from assay.common import FormattedArray
from assay.comparator.accuracy import AccuracyResult, AccuracyResults
from assay.comparator.pairs import Pairs, table
from assay.exception import MissingFileException
from assay.json import add_json_methods, iterate_from_files
from assay.logger import G_LOGGER

__all__ = ["AccuracyResult", "AccuracyResults", "IterationResult", "LazyArray", "RunResults"]

TYPE_CHECKING = False


class _Swapped:
    """A file with an array, which goes with the object."""

    def __init__(self, arr) -> None:
        handle, self.name = tempfile.mkstemp(prefix="assay-", suffix=".array")
        with os.fdopen(handle, "wb") as file:
            pickle.dump(arr, file, protocol=pickle.HIGHEST_PROTOCOL)

    def __del__(self):
        with contextlib.suppress(OSError):
            os.unlink(self.name)


@add_json_methods("array")
class LazyArray:
    """An array, in memory or, where it has more MiB than `config.ARRAY_SWAP_THRESHOLD_MB` (-1: no limit), in a file."""

    def __init__(self, arr) -> None:
        self.arr = None
        self.tmpfile = None
        if _is_large(arr):
            self.tmpfile = _Swapped(arr)
            G_LOGGER.extra_verbose(f"an array of {util.array.nbytes(arr)} bytes went to {self.tmpfile.name}")
        else:
            self.arr = arr

    def load(self):
        """The array; each time it is read anew where it is in a file."""
        if self.tmpfile is None:
            return self.arr
        try:
            with open(self.tmpfile.name, "rb") as file:  # one that this object made
                return pickle.load(file)
        except FileNotFoundError:
            G_LOGGER.critical(f"an array was in {self.tmpfile.name}, which is not there any more", MissingFileException)

    def numpy(self):
        """The array, of numpy."""
        return util.array_of(self.load())

    def to_dict(self):
        return {"values": self.load()}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["values"])


def _is_large(arr):
    if config.ARRAY_SWAP_THRESHOLD_MB < 0 or not (util.array.is_numpy(arr) or util.array.is_torch(arr)):
        return False
    return util.array.nbytes(arr) > config.ARRAY_SWAP_THRESHOLD_MB << 20


_json.register_alias("LazyNumpyArray", LazyArray)


@add_json_methods("iteration result")
class IterationResult(MutableMapping):
    """Outputs of one iteration by name, with the seconds that it took and who ran it."""

    def __init__(self, outputs=None, runtime=None, runner_name=None) -> None:
        self.dct: OrderedDict = OrderedDict()
        for name, value in (outputs or {}).items():
            self[name] = value
        self.runtime = runtime
        self.runner_name = util.default(runner_name, "custom_runner")

    def __getitem__(self, name):
        return self.dct[name].load()

    def __setitem__(self, name, value):
        self.dct[name] = value if isinstance(value, LazyArray) else LazyArray(value)

    def __delitem__(self, name):
        del self.dct[name]

    def __iter__(self):
        return iter(self.dct)

    def __len__(self):
        return len(self.dct)

    def __repr__(self):
        return f"IterationResult({dict(self)!r}, runtime={self.runtime!r}, runner_name={self.runner_name!r})"

    def to_dict(self):
        return {"outputs": self.dct, "runtime": self.runtime, "runner_name": self.runner_name}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["outputs"], dct["runtime"], dct["runner_name"])

    def __eq__(self, other):
        if not isinstance(other, IterationResult) or list(self) != list(other):
            return False
        if (self.runtime, self.runner_name) != (other.runtime, other.runner_name):
            return False
        return all(_same(self[name], other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]


def _same(a, b):
    if isinstance(a, FormattedArray) or isinstance(b, FormattedArray):
        return a == b
    return util.array.equal(*(each if util.array.is_torch(each) else util.array_of(each) for each in (a, b)))


@add_json_methods("inference results")
class RunResults(Pairs):
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

    def add(self, out_list, runtime=None, runner_name=None) -> None:
        """Adds the iterations of one runner."""
        iterations = [IterationResult(each, runtime, runner_name) for each in out_list]
        name = iterations[0].runner_name if iterations else util.default(runner_name, "custom_runner")
        self.lst.append((name, iterations))

    def append(self, entry) -> None:
        self.lst.append(entry)

    def extend(self, entries) -> None:
        self.lst.extend(entries)

    def insert(self, index, entry) -> None:
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
        """The results of files, or of the files of folders in the order of their names, one iteration at a time."""
        return iterate_from_files(path, lambda each: RunResults.load(each).split(), allow_dirs)

    def to_dict(self):
        return {"lst": [[name, list(iterations)] for name, iterations in self.lst]}

    @classmethod
    def from_dict(cls, dct):
        return cls([(name, iterations) for name, iterations in dct["lst"]])

    def _repr_html_(self):
        rows = [(name, i, output, value) for name, iterations in self.lst for i, each in enumerate(iterations)
                for output, value in each.items()]
        return table(("runner", "iteration", "output", "type", "shape"), [
            (name, i, output, getattr(value, "dtype", ""), tuple(getattr(value, "shape", ())))
            for name, i, output, value in rows])
