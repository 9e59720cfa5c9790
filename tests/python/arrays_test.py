"""assay.util.array gives what polygraphy.util.array gives."""

import assay.util as ours
import assay.util.array as mine
import checks
import numpy as np
import polygraphy.util as real
import polygraphy.util.array as theirs
from assay.cuda import DeviceArray
from assay.exception import PolygraphyException

RANDOM = np.random.RandomState(0)
A, B = RANDOM.standard_normal((2, 3, 4)).astype(np.float32), RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
A[0, 1, 2] = np.nan
C = np.abs(B) + 1
CALLS = {
    "abs": (B,), "sqrt": (C,), "isfinite": (A,), "isinf": (np.array([np.inf, 1]),), "isnan": (A,), "logical_not": (B > 0,), "argwhere": (B > 0,),
    "divide": (B, C), "greater": (B, C - 1), "logical_and": (B > 0, C > 1.5), "logical_xor": (B > 0, C > 1.5),
    "multiply": (B, C), "subtract": (B, C), "all": (B > -9,), "any": (B > 9,), "argmax": (B,), "argmin": (B,), "max": (B,),
    "median": (B,), "min": (B,), "std": (B,), "sum": (B,), "var": (B,), "mean": (B,), "quantile": (B, 0.9), "power": (C.astype(np.float64), 2),
    "topk": (B, 2, 1), "histogram": (B, (-1, 1)), "pad": (B, [(1, 0), (0, 2), (0, 0)]), "where": (B > 0, B, C),
    "allclose": (B, B + 1e-9), "equal": (B, B), "transpose": (B, (2, 0, 1)), "reshape": (B, (4, 6)), "ravel": (B,),
    "size": (B,), "nbytes": (B,), "shape": (B,), "data_ptr": (B,), "is_contiguous": (B.T,), "make_contiguous": (B.T,),
    "is_numpy": (B,), "is_torch": (B,), "is_device_view": (B,), "is_on_cpu": (B,), "is_on_gpu": (B,), "to_numpy": (B,),
    "unravel_index": (17, (2, 3, 4)), "resize_or_reallocate": (np.zeros((2, 2), np.float32), (2, 2))}


def same(found, expected):
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(same(*pair) for pair in zip(found, expected))
    return np.array_equal(found, expected, equal_nan=np.asarray(expected).dtype.kind == "f") and \
        (np.ndim(expected) == 0 or found.dtype == expected.dtype)


def test_functions_agree():
    for name, arguments in CALLS.items():
        expected = getattr(theirs, name)(*arguments)
        assert same(getattr(mine, name)(*arguments), expected), name
    assert set(mine.__all__) == {*CALLS, "cast", "dtype", "view", "to_torch"}
    number = ours.array.cast(B, ours.array.dtype(np.ones(1, np.int64)))
    assert np.array_equal(number, B.astype(np.int64)) and mine.dtype(B).name == theirs.dtype(B).name == "float32"
    assert np.array_equal(mine.view(B, mine.dtype(np.ones(1, np.int32)), (24,)), B.view(np.int32).reshape(24))
    assert np.array_equal(mine.pad(B, [(1, 2)], axes=[1], constant_val=5), theirs.pad(B, [(1, 2)], axes=[1], constant_val=5))


def test_memory_of_devices_and_wrong_input():
    with DeviceArray(shape=(2, 3), dtype=np.float32) as device:
        device.copy_from(np.ones((2, 3), np.float32))
        assert mine.is_on_gpu(device) and mine.is_contiguous(device) and mine.data_ptr(device) == device.ptr
        assert mine.nbytes(device) == 24 and mine.size(device) == 6 and mine.sum(device) == 6
    with checks.raises(PolygraphyException, "list", "no array"):
        mine.sum([1, 2])
    with checks.raises(PolygraphyException, "in one piece"):
        mine.view(B.T, mine.dtype(B), (24,))
    with checks.raises(TypeError, "takes 2"):
        mine.divide(B)


def test_small_functions_agree():
    for keys in (["x*", "y"], ["z", "[xy]"], []):
        assert ours.match_keys(keys, ["x1", "y", "w"]) == real.match_keys(keys, ["x1", "y", "w"])
    for name, values in {"is_nan": (float("nan"), 1.0, 3), "is_inf": (float("inf"), -float("inf"), 2), "is_empty_shape":
                         ((0, 2), (1,), ()), "sanitize_filename": ("a/b/c", "d"), "contains_wildcard": ("a*", "b", "[c]")}.items():
        for value in values:
            assert getattr(ours, name)(value) == getattr(real, name)(value), (name, value)


if __name__ == "__main__":
    checks.run_all(globals())
