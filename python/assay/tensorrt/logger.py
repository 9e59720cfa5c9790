"""TensorRT's logger."""

import sys

from assay.tensorrt.enums import ErrorCodeTRT, _Enum


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

    min_severity = Severity.WARNING

    def __init__(self, min_severity=Severity.WARNING) -> None:
        self.min_severity = min_severity

    def log(self, severity, msg) -> None:
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


class IErrorRecorder:
    """To be derived from: `report_error(code, description)` gets what went wrong, besides the logger."""

    MAX_DESC_LENGTH = 127

    def __init__(self) -> None:
        pass

    def num_errors(self):
        raise NotImplementedError

    def get_error_code(self, index):
        raise NotImplementedError

    def get_error_desc(self, index):
        raise NotImplementedError

    def has_overflowed(self):
        return False

    def clear(self):
        raise NotImplementedError

    def report_error(self, code, description):
        raise NotImplementedError


_CODES = {"usage": ErrorCodeTRT.INVALID_ARGUMENT, "shape": ErrorCodeTRT.INVALID_ARGUMENT,
          "unsupported": ErrorCodeTRT.UNSUPPORTED_STATE, "limit": ErrorCodeTRT.FAILED_ALLOCATION,
          "backend": ErrorCodeTRT.FAILED_EXECUTION, "parse": ErrorCodeTRT.INVALID_CONFIG,
          "cancelled": ErrorCodeTRT.INVALID_STATE}


def say(logger, error) -> None:
    """Tells a logger of a mistake: an exception, or a text."""
    if logger is not None:
        logger.log(Severity.ERROR, str(error))


def report(owner, error):
    """Tells the logger and the recorder of an object what went wrong: an exception, or a text about its arguments.
    Gives None."""
    say(owner.logger, error)
    if owner.error_recorder is not None:
        code = getattr(error, "code", "usage")
        owner.error_recorder.report_error(_CODES.get(code, ErrorCodeTRT.UNSPECIFIED_ERROR), str(error))


_ONCE: set = set()


def note(logger, text) -> None:
    """A warning, each once in a process."""
    if text not in _ONCE and logger is not None:
        _ONCE.add(text)
        logger.log(Severity.WARNING, text)
