"""Functions that change outputs before they are compared."""

from __future__ import annotations

from assay import _native, util
from assay._arrays import to_numpy
from assay.comparator.struct import IterationResult


class BasePostprocessFunc:
    """Called with an IterationResult, gives another one."""

    def __call__(self, iter_result):
        raise NotImplementedError


class TopKPostprocessFunc(BasePostprocessFunc):
    """The indices of the k greatest elements along an axis in the place of the elements.

    `k`: a number, or (number, axis), or a dictionary of them by output; 10 by default.
    """

    def __init__(self, k=None) -> None:
        self.k = util.default(k, 10)

    def __call__(self, iter_result):
        made = IterationResult(runtime=iter_result.runtime, runner_name=iter_result.runner_name)
        for name, value in iter_result.items():
            wanted = util.value_or_from_dict(self.k, name)
            made[name] = value if wanted is None else self._top(value, wanted)
        return made

    @staticmethod
    def _top(value, wanted):
        k, axis = wanted if isinstance(wanted, tuple) else (wanted, -1)
        shape = getattr(value, "shape", ())
        length = shape[axis] if len(shape) and -len(shape) <= axis < len(shape) else 1
        found = to_numpy(_native.top_k(value, min(k, length), axis))
        return util.array.to_torch(found) if util.array.is_torch(value) else found


class PostprocessFunc:
    """The functions by their older names."""

    @staticmethod
    def top_k(k: int | tuple[int, int] | dict | None = None) -> TopKPostprocessFunc:
        """TopKPostprocessFunc."""
        return TopKPostprocessFunc(k)
