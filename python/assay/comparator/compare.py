"""Functions that compare the outputs of two runners. What is measured is measured by native code."""

from __future__ import annotations

from collections import OrderedDict

from assay import _native, util
from assay.comparator.results import (CompareResult, CosineSimilarityResult, CosineSimilarityThreshold, L2Result,
                                      L2Threshold, OutputCompareResult, PsnrResult, PsnrThreshold, SimpleThreshold,
                                      SnrResult, SnrThreshold, Threshold)
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Callable

STATISTICS = ("elemwise", "max", "mean", "median", "quantile")


def _find_output(name, index, outputs, has_own_partner):
    """The output of the second runner that belongs to one of the first; None: there is none."""
    if name in outputs:
        return name
    found = util.find_str_in_iterable(name, outputs, index)
    if found is None or found in has_own_partner:
        return None
    G_LOGGER.warning(f"the output `{name}` has no partner of its name and is compared with `{found}`")
    return found


def _describe(value):
    dims = ", ".join(str(dim) for dim in getattr(value, "shape", ()))
    return f"dtype={getattr(value, 'dtype', '?')}, shape=({dims})"


class BaseCompareFunc:
    """Called with two IterationResults, compares the outputs of the first with their partners in the second."""

    NAME = ""

    def __init__(self, fail_fast=None, find_output_func=None) -> None:
        self.fail_fast = util.default(fail_fast, False)
        self.find_output_func = find_output_func

    def thresholds_for(self, output_name):
        """The thresholds of one output."""
        raise NotImplementedError

    def compare_output(self, name, a, b):
        """Compares two arrays; the result is true or false."""
        raise NotImplementedError

    def _pairs(self, iter_result0, iter_result1):
        for index, name in enumerate(iter_result0):
            if self.find_output_func is not None:
                found = self.find_output_func(name, index, iter_result1)
                found = found if found is None or isinstance(found, list) else [found]
            else:
                partner = _find_output(name, index, iter_result1, set(iter_result0) & set(iter_result1))
                found = None if partner is None else [partner]
            if found is None:
                G_LOGGER.warning(f"the output `{name}` has no partner in {iter_result1.runner_name} and is skipped")
            for partner in found or ():
                if partner not in iter_result1:
                    G_LOGGER.critical(f"`{partner}` is no output of {iter_result1.runner_name}; "
                                      f"outputs: {list(iter_result1)}")
                yield name, partner

    def __call__(self, iter_result0, iter_result1):
        results = OrderedDict()
        for name, partner in self._pairs(iter_result0, iter_result1):
            a, b = iter_result0[name], iter_result1[partner]
            G_LOGGER.start(lambda: f"{self.NAME} | Comparing Output: '{name}' ({_describe(a)}) with '{partner}' "
                                   f"({_describe(b)})")
            with G_LOGGER.indent():
                results[name] = self.compare_output(name, a, b)
                if isinstance(results[name], CompareResult):
                    results[name].output0_name, results[name].output1_name = name, partner
            if self.fail_fast and not results[name]:
                break
        if not results and len(iter_result0):
            G_LOGGER.critical("no output of the two runners could be compared: their names differ")
        failed = [name for name, result in results.items() if not result]
        if failed:
            G_LOGGER.error(f"FAILED | {self.NAME} | Mismatched outputs: {failed}")
        else:
            G_LOGGER.finish(f"PASSED | {self.NAME} | All outputs matched | Outputs: {list(results)}")
        return results

    def _measure(self, name, a, b, options):
        found = _native.compare(name, util_array(a), util_array(b), self.NAME, options)
        if found["shape_note"]:
            G_LOGGER.info(found["shape_note"])
        if found["fault"]:
            G_LOGGER.error(f"FAILED | Output: '{name}' | {found['fault']} differ")
            return None
        return found


def util_array(value):
    """The array of a formatted one; others as they are."""
    return getattr(value, "array", value) if type(value).__name__ == "FormattedArray" else value


def _passes_rounded(a, b, result):
    """Whether a statistic is within a tolerance that has the precision of the outputs, as numpy compares them."""
    import numpy as np

    kinds = {str(getattr(each, "dtype", "")).rpartition(".")[2] for each in (a, b)}
    if kinds != {"float32"}:
        return False
    bounds = result.thresholds
    measured = (result.metric_values().get(name) for name in bounds.metric_fields())
    return any(value is not None and np.float32(value) <= np.float32(bound)
               for value, bound in zip(measured, (bounds.atol, bounds.rtol)))


class SimpleCompareFunc(BaseCompareFunc):
    """Absolute and relative differences: one of the two must be within its tolerance."""

    NAME = "simple"

    def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None, find_output_func=None,
                 check_error_stat=None, infinities_compare_equal=None, save_heatmaps=None, show_heatmaps=None,
                 save_error_metrics_plot=None, show_error_metrics_plot=None, error_quantile=None) -> None:
        super().__init__(fail_fast, find_output_func)
        self.check_shapes = util.default(check_shapes, True)
        self.rtol = util.default(rtol, 1e-5)
        self.atol = util.default(atol, 1e-5)
        self.check_error_stat = util.default(check_error_stat, "elemwise")
        self.infinities_compare_equal = util.default(infinities_compare_equal, False)
        self.error_quantile = util.default(error_quantile, 0.99)
        stats = self.check_error_stat.values() if isinstance(self.check_error_stat, dict) else [self.check_error_stat]
        for each in stats:
            if each not in STATISTICS:
                G_LOGGER.critical(f"Invalid choice for check_error_stat: {each}. Known are {', '.join(STATISTICS)}")
        if any((save_heatmaps, show_heatmaps, save_error_metrics_plot, show_error_metrics_plot)):
            G_LOGGER.warning("pictures are drawn by the program: assay run --save-heatmaps, --save-error-metrics-plot")

    def thresholds_for(self, output_name):
        statistic = util.value_or_from_dict(self.check_error_stat, output_name, "elemwise")
        return SimpleThreshold(statistic, util.value_or_from_dict(self.atol, output_name, 1e-5),
                               util.value_or_from_dict(self.rtol, output_name, 1e-5))

    def compare_output(self, name, a, b):
        thresholds = self.thresholds_for(name)
        quantile = util.value_or_from_dict(self.error_quantile, name, 0.99)
        G_LOGGER.info(f"Tolerance: [abs={thresholds.atol:.5g}, rel={thresholds.rtol:.5g}] | Checking "
                      f"{thresholds.check_error_stat} error")
        found = self._measure(name, a, b, {
            "atol": thresholds.atol, "rtol": thresholds.rtol, "statistic": thresholds.check_error_stat,
            "quantile": quantile, "check_shapes": self.check_shapes, "infinities_equal": self.infinities_compare_equal})
        if found is None:
            return False
        if "absolute" not in found:
            return bool(found["passed"])
        absolute, relative = found["absolute"], found["relative"]
        result = OutputCompareResult(absolute["max"], relative["max"], absolute["mean"], relative["mean"],
                                     absolute["median"], relative["median"], found["quantile_absolute"],
                                     found["quantile_relative"], thresholds, bool(found["passed"]))
        if not result and thresholds.check_error_stat != "elemwise" and _passes_rounded(a, b, result):
            result = result.with_verdict(True)
        self._tell(name, found, result)
        return result

    @staticmethod
    def _tell(name, found, result):
        bounds = result.thresholds
        G_LOGGER.info(f"Minimum Required Tolerance: {bounds.check_error_stat} error | "
                      f"[abs={found['required_abs']:.5g}] OR [rel={found['required_rel']:.5g}]")
        tolerance = f"(rel={bounds.rtol:.5g}, abs={bounds.atol:.5g})"
        if result:
            G_LOGGER.finish(f"PASSED | Output: '{name}' | Difference is within tolerance {tolerance}")
        else:
            G_LOGGER.error(f"FAILED | Output: '{name}' | Difference exceeds tolerance {tolerance}")


class IndicesCompareFunc(BaseCompareFunc):
    """Lists of indices: each must be in the other list at most `index_tolerance` places away."""

    NAME = "indices"

    def __init__(self, index_tolerance=None, fail_fast=None) -> None:
        super().__init__(fail_fast)
        self.index_tolerance = util.default(index_tolerance, 0)

    def compare_output(self, name, a, b):
        tolerance = util.value_or_from_dict(self.index_tolerance, name, 0)
        found = self._measure(name, a, b, {"index_tolerance": tolerance})
        if found is None:
            return False
        for note in found["notes"]:
            G_LOGGER.error(note)
        return bool(found["passed"])


class _MetricCompareFunc(BaseCompareFunc):
    KEY = ""
    DEFAULT = 0.0
    RESULT: type[CompareResult]
    THRESHOLD: type[Threshold]

    def __init__(self, threshold, check_shapes, fail_fast, find_output_func) -> None:
        super().__init__(fail_fast, find_output_func)
        self.threshold = util.default(threshold, self.DEFAULT)
        self.check_shapes = util.default(check_shapes, True)

    def thresholds_for(self, output_name):
        return self.THRESHOLD(util.value_or_from_dict(self.threshold, output_name, self.DEFAULT))

    def compare_output(self, name, a, b):
        thresholds = self.thresholds_for(name)
        options = {self.KEY: thresholds.threshold, "check_shapes": self.check_shapes}
        found = self._measure(name, a, b, options)
        if found is None:
            return False
        if self.KEY not in found:
            return bool(found["passed"])
        result = self.RESULT(found[self.KEY], thresholds)
        verdict = "PASSED" if result else "FAILED"
        log = G_LOGGER.finish if result else G_LOGGER.error
        log(f"{verdict} | Output: '{name}' | {result} | Threshold: {thresholds.threshold:.5g}")
        return result


class L2CompareFunc(_MetricCompareFunc):
    """The Euclidean distance of outputs."""

    NAME, KEY, DEFAULT, RESULT, THRESHOLD = "l2", "l2", 1e-5, L2Result, L2Threshold

    def __init__(self, l2_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> None:
        super().__init__(l2_threshold, check_shapes, fail_fast, find_output_func)


class CosineSimilarityCompareFunc(_MetricCompareFunc):
    """The cosine of outputs."""

    NAME, KEY, DEFAULT = "cosine_similarity", "cosine", 0.997
    RESULT, THRESHOLD = CosineSimilarityResult, CosineSimilarityThreshold

    def __init__(self, cosine_similarity_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> None:
        super().__init__(cosine_similarity_threshold, check_shapes, fail_fast, find_output_func)


class PsnrCompareFunc(_MetricCompareFunc):
    """The peak signal-to-noise ratio of outputs, in dB."""

    NAME, KEY, DEFAULT, RESULT, THRESHOLD = "psnr", "psnr", 30.0, PsnrResult, PsnrThreshold

    def __init__(self, psnr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> None:
        super().__init__(psnr_threshold, check_shapes, fail_fast, find_output_func)


class SnrCompareFunc(_MetricCompareFunc):
    """The signal-to-noise ratio of outputs, in dB."""

    NAME, KEY, DEFAULT, RESULT, THRESHOLD = "snr", "snr", 20.0, SnrResult, SnrThreshold

    def __init__(self, snr_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> None:
        super().__init__(snr_threshold, check_shapes, fail_fast, find_output_func)


class PerceptualMetricsCompareFunc(BaseCompareFunc):
    """Refused: it would need a trained network, which is not part of this package."""

    NAME = "perceptual_metrics"

    def __init__(self, lpips_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> None:
        G_LOGGER.critical("perceptual metrics need a trained network, which is not here; use PSNR, SNR or the cosine")


class CompareFunc:
    """The comparison functions by their older names."""

    @staticmethod
    def simple(check_shapes=None, rtol=None, atol=None, fail_fast=None, find_output_func=None, check_error_stat=None,
               infinities_compare_equal=None, save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
               show_error_metrics_plot=None, error_quantile=None) -> SimpleCompareFunc:
        """SimpleCompareFunc."""
        return SimpleCompareFunc(check_shapes, rtol, atol, fail_fast, find_output_func, check_error_stat,
                                 infinities_compare_equal, save_heatmaps, show_heatmaps, save_error_metrics_plot,
                                 show_error_metrics_plot, error_quantile)

    @staticmethod
    def indices(index_tolerance=None, fail_fast=None) -> IndicesCompareFunc:
        """IndicesCompareFunc."""
        return IndicesCompareFunc(index_tolerance, fail_fast)

    @staticmethod
    def distance_metrics(l2_tolerance=None, cosine_similarity_threshold=None, check_shapes=None, fail_fast=None) -> Callable:
        """Both the Euclidean distance and the cosine must be within their bounds."""
        return _both(L2CompareFunc(l2_tolerance, check_shapes, fail_fast),
                     CosineSimilarityCompareFunc(cosine_similarity_threshold, check_shapes, fail_fast))

    @staticmethod
    def quality_metrics(psnr_tolerance=None, snr_tolerance=None, check_shapes=None, fail_fast=None) -> Callable:
        """Both ratios of signal to noise must be within their bounds."""
        return _both(PsnrCompareFunc(psnr_tolerance, check_shapes, fail_fast),
                     SnrCompareFunc(snr_tolerance, check_shapes, fail_fast))

    @staticmethod
    def perceptual_metrics(lpips_threshold=None, check_shapes=None, fail_fast=None, find_output_func=None) -> Callable:
        """PerceptualMetricsCompareFunc."""
        return PerceptualMetricsCompareFunc(lpips_threshold, check_shapes, fail_fast, find_output_func)


def _both(first, second):
    def compare(iter_result0, iter_result1):
        a, b = first(iter_result0, iter_result1), second(iter_result0, iter_result1)
        return OrderedDict((name, bool(a[name]) and bool(b.get(name, True))) for name in a)

    return compare
