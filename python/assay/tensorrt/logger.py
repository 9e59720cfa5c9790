"""TensorRT's logger."""

import sys

from assay.tensorrt.enums import _Enum


class Severity(_Enum):
    """Severities, the gravest first."""

    INTERNAL_ERROR = 0
    ERROR = 1
    WARNING = 2
    INFO = 3
    VERBOSE = 4


class ILogger:
    """To be derived from: `log(severity, msg)` gets all messages."""

    Severity = Severity
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity

    def log(self, severity, msg):
        raise NotImplementedError


class Logger(ILogger):
    """Writes messages of its severity and graver ones to standard error."""

    def __init__(self, min_severity=Severity.WARNING):
        self.min_severity = min_severity

    def log(self, severity, msg):
        if severity.value <= self.min_severity.value:
            print(f"[{severity.name}] {msg}", file=sys.stderr)


def native_log(logger):
    """A function that hands messages of native code to a logger."""

    def tell(level, text):
        if level >= 40:
            severity = Severity.ERROR
        elif level >= 30:
            severity = Severity.WARNING
        else:
            severity = Severity.INFO if level >= 20 else Severity.VERBOSE
        if logger is not None:
            logger.log(severity, text)

    return tell


_ONCE = set()


def note(logger, text):
    """A warning, each once in a process."""
    if text not in _ONCE and logger is not None:
        _ONCE.add(text)
        logger.log(Severity.WARNING, text)
