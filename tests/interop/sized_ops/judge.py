"""Whether results are near enough for the sums that they were made of."""

import numpy as np
from random_ops.judge import describe

from .graph import EPSILON


def difference(graph, ours, theirs, epsilon=0, times=1):
    """Empty: none. `theirs` may be wider than ours. `epsilon`: a precision that is enough; `times` the tolerance."""
    for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine.shape != other.shape or (mine.dtype != other.dtype and other.dtype != np.float64):
            return f"output {i}: ours {describe(mine)}, theirs {describe(other)}"
        wrong = ~near(graph, mine, other, epsilon, times)
        if wrong.any():
            at = tuple(int(place) for place in np.argwhere(wrong)[0])
            return (f"output {i}: {int(wrong.sum())} of {wrong.size} elements of {describe(mine)}, first at {list(at)}: "
                    f"ours {mine[at]!r}, theirs {other[at]!r}")
    return ""


def near(graph, mine, other, least_epsilon, times):
    if mine.dtype.name not in EPSILON:
        if graph.steps and mine.dtype.kind in "iu":
            return np.abs(mine.astype(np.int64) - other.astype(np.int64)) <= graph.steps
        return mine == other
    a, b = mine.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(b)
    greatest = np.max(np.abs(b), initial=graph.least, where=finite)
    epsilon = max(EPSILON[mine.dtype.name], graph.epsilon, least_epsilon)
    allowed = graph.absolute + times * graph.looseness * epsilon * (8 * np.abs(b) + (8 + graph.depth**0.5) * greatest)
    return (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
