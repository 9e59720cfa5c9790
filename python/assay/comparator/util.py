"""Figures about outputs, as scripts print them."""

from assay.datatype import DataType
from assay.logger import G_LOGGER
from assay.util import array


def cast_up(buffer):
    """Small floats as float32, and small integers as int64, so that sums do not overflow."""
    dtype = array.dtype(buffer)
    if dtype.is_floating and dtype.itemsize < 4:
        return array.cast(buffer, DataType.FLOAT32)
    return array.cast(buffer, DataType.INT64) if dtype.is_integral and dtype.itemsize < 8 else buffer


def _is_empty(buffer):
    return array.size(buffer) == 0


def compute_max(buffer):
    """The greatest element; 0 where there is none."""
    return 0 if _is_empty(buffer) else array.max(cast_up(buffer))


def compute_argmax(buffer):
    """The place of the greatest element."""
    return array.unravel_index(array.argmax(cast_up(buffer)), array.shape(buffer))


def compute_min(buffer):
    """The least element; 0 where there is none."""
    return 0 if _is_empty(buffer) else array.min(cast_up(buffer))


def compute_argmin(buffer):
    """The place of the least element."""
    return array.unravel_index(array.argmin(cast_up(buffer)), array.shape(buffer))


def compute_mean(buffer):
    """The mean."""
    return array.mean(cast_up(buffer), dtype=DataType.FLOAT32)


def compute_std(buffer):
    """The standard deviation."""
    return array.std(cast_up(buffer))


def compute_variance(buffer):
    """The variance."""
    return array.var(cast_up(buffer))


def compute_median(buffer):
    """The median."""
    return array.median(cast_up(buffer))


def compute_quantile(buffer, q):
    """The element below which that share of all is."""
    return array.quantile(cast_up(buffer), q)


def compute_average_magnitude(buffer):
    """The mean of the magnitudes."""
    return array.mean(array.abs(cast_up(buffer)), dtype=DataType.FLOAT32)


def str_histogram(output, hist_range=None):
    """How many elements are in each of ten ranges, as lines."""
    if array.dtype(output) == DataType.BOOL:
        return ""
    counts, edges = (array.to_numpy(each) for each in array.histogram(output, hist_range))
    most = counts.max()
    lines = ["---- Histogram ----", "    Bin Range            |  Num Elems | Visualization"]
    for count, low, high in zip(counts, edges[:-1], edges[1:]):
        bar = "#" * int(40 * count / most) if most else ""
        lines.append(f"    ({low:<8.3g}, {high:<8.3g}) | {count:10.5g} | {bar}")
    return "\n".join(lines)


def str_output_stats(output, runner_name=None):
    """Mean, deviation, least and greatest element as a line."""
    title = f"{runner_name} | Stats: " if runner_name else ""
    if _is_empty(output):
        return f"{title}no elements"
    if array.dtype(output) == DataType.BOOL:
        count = int(array.to_numpy(output).sum())
        return f"{title}True: {count}, False: {array.size(output) - count}"
    return (f"{title}mean={compute_mean(output):.5g}, std-dev={compute_std(output):.5g}, "
            f"var={compute_variance(output):.5g}, median={compute_median(output):.5g}, min={compute_min(output):.5g} at "
            f"{compute_argmin(output)}, max={compute_max(output):.5g} at {compute_argmax(output)}, "
            f"avg-magnitude={compute_average_magnitude(output):.5g}")


def log_output_stats(output, info_hist=False, runner_name=None, hist_range=None) -> None:
    """Writes both; the histogram where details are wanted, or if `info_hist`."""
    G_LOGGER.info(lambda: str_output_stats(output, runner_name))
    with G_LOGGER.indent():
        G_LOGGER.log(lambda: str_histogram(output, hist_range),
                     G_LOGGER.INFO if info_hist else G_LOGGER.VERBOSE)
