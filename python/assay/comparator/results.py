"""What one comparison of an output measured, and the thresholds that it is judged by."""

from __future__ import annotations

import math

from assay.json import add_json_methods


class Threshold:
    """A bound for what a comparison measures."""

    FIELDS: tuple = ()
    METRIC_FIELDS = ()

    def __init_subclass__(cls):
        cls.METRIC_FIELDS = cls.FIELDS

    def metric_fields(self):
        """Names of what is judged."""
        return list(self.FIELDS)

    def passed(self, values):
        """Whether measurements by name are within."""
        raise NotImplementedError

    def describe(self, values):
        """The measurements and their bound as a line."""
        return ", ".join(f"{name}={values.get(name)}" for name in self.metric_fields())

    def to_dict(self):
        return dict(vars(self))

    @classmethod
    def from_dict(cls, dct):
        return cls(**{name: value for name, value in dct.items() if name != "polygraphy_class"})

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


def _fails(value, bound):
    return value is None or math.isnan(value) or value > bound


@add_json_methods("threshold")
class SimpleThreshold(Threshold):
    """Either difference must be within its bound, for the statistic `check_error_stat`."""

    def __init__(self, check_error_stat, atol, rtol) -> None:
        self.check_error_stat = check_error_stat
        self.atol = atol
        self.rtol = rtol

    def _statistic(self):
        return "max" if self.check_error_stat == "elemwise" else self.check_error_stat

    def metric_fields(self):
        return [f"{self._statistic()}_absdiff", f"{self._statistic()}_reldiff"]

    def passed(self, values):
        absolute, relative = (values.get(name) for name in self.metric_fields())
        return not (_fails(absolute, self.atol) and _fails(relative, self.rtol))


class _LeastOrMost(Threshold):
    IS_LEAST = True

    def __init__(self, threshold) -> None:
        self.threshold = threshold

    def passed(self, values):
        value = values.get(self.FIELDS[0])
        if value is None or math.isnan(value):
            return False
        return value >= self.threshold if self.IS_LEAST else value <= self.threshold


@add_json_methods("threshold")
class L2Threshold(_LeastOrMost):
    """The greatest Euclidean distance."""

    FIELDS = ("l2_norm",)
    IS_LEAST = False


@add_json_methods("threshold")
class CosineSimilarityThreshold(_LeastOrMost):
    """The least cosine."""

    FIELDS = ("cosine_similarity",)


@add_json_methods("threshold")
class PsnrThreshold(_LeastOrMost):
    """The least peak signal-to-noise ratio in dB."""

    FIELDS = ("psnr",)


@add_json_methods("threshold")
class SnrThreshold(_LeastOrMost):
    """The least signal-to-noise ratio in dB."""

    FIELDS = ("snr",)


@add_json_methods("threshold")
class LpipsThreshold(_LeastOrMost):
    """The greatest perceptual distance."""

    FIELDS = ("lpips",)
    IS_LEAST = False


class CompareResult:
    """What was measured of one output; true if it is within the thresholds."""

    FIELDS: tuple = ()
    output0_name: str | None = None  # what was compared
    output1_name: str | None = None

    def __init__(self, thresholds=None) -> None:
        self.thresholds = thresholds

    @property
    def passed(self):
        return self.thresholds is None or self.thresholds.passed(self.metric_values())

    def __bool__(self):
        return bool(self.passed)

    def metric_values(self):
        """What was measured, by name."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def metric_fields(self):
        """The names of that."""
        return list(self.FIELDS)

    def set_thresholds(self, thresholds) -> None:
        """Judges by other thresholds from now on."""
        self.thresholds = thresholds

    def describe(self):
        """A line about it."""
        return str(self)

    @classmethod
    def _of_metrics(cls, values, thresholds):
        return cls(**values, thresholds=thresholds)

    def to_dict(self):
        return {**self.metric_values(), "thresholds": self.thresholds}

    @classmethod
    def from_dict(cls, dct):
        return cls(**{name: dct.get(name) for name in (*cls.FIELDS, "thresholds")})

    def __str__(self):
        return ", ".join(f"{name}={value}" for name, value in self.metric_values().items())

    def __repr__(self):
        return f"{type(self).__name__}({self})"


@add_json_methods("output compare result")
class OutputCompareResult(CompareResult):
    """Differences of one output."""

    FIELDS = tuple(f"{statistic}_{kind}diff" for statistic in ("max", "mean", "median", "quantile")
                   for kind in ("abs", "rel"))

    def __init__(self, max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff, median_reldiff,
                 quantile_absdiff, quantile_reldiff, thresholds=None, passed=None) -> None:
        super().__init__(thresholds)
        values = (max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff, median_reldiff,
                  quantile_absdiff, quantile_reldiff)
        for name, value in zip(self.FIELDS, values):
            setattr(self, name, value)
        self._passed = passed

    @property
    def passed(self):
        # Element by element it was decided when it was measured: the greatest differences do not tell.
        return super().passed if self._passed is None else self._passed

    def set_thresholds(self, thresholds) -> None:
        self.thresholds = thresholds
        self._passed = None

    def with_verdict(self, passed):
        """The same measurements with another verdict."""
        return OutputCompareResult(*self.metric_values().values(), self.thresholds, passed)

    def to_dict(self):
        return {**super().to_dict(), "passed": self.passed}

    @classmethod
    def from_dict(cls, dct):
        return cls(*(dct.get(name) for name in cls.FIELDS), dct.get("thresholds"), dct.get("passed"))


@add_json_methods("L2 result")
class L2Result(CompareResult):
    """The Euclidean distance of one output."""

    FIELDS = ("l2_norm",)

    def __init__(self, l2_norm, thresholds=None) -> None:
        super().__init__(thresholds)
        self.l2_norm = l2_norm


@add_json_methods("cosine similarity result")
class CosineSimilarityResult(CompareResult):
    """The cosine of one output."""

    FIELDS = ("cosine_similarity",)

    def __init__(self, cosine_similarity, thresholds=None) -> None:
        super().__init__(thresholds)
        self.cosine_similarity = cosine_similarity


@add_json_methods("PSNR result")
class PsnrResult(CompareResult):
    """The peak signal-to-noise ratio of one output."""

    FIELDS = ("psnr",)

    def __init__(self, psnr, thresholds=None) -> None:
        super().__init__(thresholds)
        self.psnr = psnr


@add_json_methods("SNR result")
class SnrResult(CompareResult):
    """The signal-to-noise ratio of one output."""

    FIELDS = ("snr",)

    def __init__(self, snr, thresholds=None) -> None:
        super().__init__(thresholds)
        self.snr = snr


@add_json_methods("perceptual metrics result")
class PerceptualMetricsResult(CompareResult):
    """The perceptual distance of one output."""

    FIELDS = ("lpips",)

    def __init__(self, lpips=None, thresholds=None) -> None:
        super().__init__(thresholds)
        self.lpips = lpips
