"""Messages by severity, with scopes, indents and hooks."""

from __future__ import annotations

import enum
import functools
import os
import sys
import time

from assay.exception import PolygraphyException, PolygraphyInternalException

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import NoReturn


def _checks_itself():
    from assay import config

    return config.INTERNAL_CORRECTNESS_CHECKS


class LogMode(enum.IntEnum):
    """How often a message is written."""

    EACH = 0
    ONCE = 1


class SeverityTrie:
    """Severities by folder or file of the package: what is said of the nearest folder counts, "" is the default."""

    def __init__(self, severity_dict) -> None:
        self.trie: dict = {}
        for path, severity in {"": Logger.INFO, **severity_dict}.items():
            place = self.trie
            for part in _parts(path):
                place = place.setdefault(part, {})
            place[""] = severity
        self.has_non_default_entries = len(self.trie) > 1

    def get(self, path=None):
        """The severity of a path, as `comparator/compare.py`."""
        place = self.trie
        if path is None or not self.has_non_default_entries:
            return place[""]
        for part in _parts(path):
            if part not in place:
                break
            place = place[part]
        return place.get("", self.trie[""])

    def __eq__(self, other):
        return isinstance(other, SeverityTrie) and self.trie == other.trie

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        return str(self.trie)


def _parts(path):
    return [part for part in path.split(os.sep) if part]


def has_colors():
    """Whether messages can be coloured: nothing has to be installed for it."""
    return True


class LoggerIndent:
    """Messages of a while are indented so far."""

    def __init__(self, logger, indent) -> None:
        self.logger = logger
        self.indent = indent
        self.old_indent = logger.logging_indent

    def __enter__(self):
        self.logger.logging_indent = self.indent
        return self

    def __exit__(self, *exc_info):
        self.logger.logging_indent = self.old_indent


class LoggerVerbosity:
    """Another severity for a while."""

    def __init__(self, logger, severity) -> None:
        self.logger = logger
        self.module_severity = severity
        self.old_severity = logger.module_severity

    def __enter__(self):
        self.logger.module_severity = self.module_severity
        return self

    def __exit__(self, *exc_info):
        self.logger.module_severity = self.old_severity


class Logger:
    """Writes messages; `critical` raises what it says."""

    ULTRA_VERBOSE = -20
    SUPER_VERBOSE = -10
    EXTRA_VERBOSE = 0
    VERBOSE = 10
    INFO = 20
    START = 22
    FINISH = 28
    WARNING = 30
    ERROR = 40
    CRITICAL = 50

    SEVERITY_LETTER_MAPPING = {-20: "[U]", -10: "[S]", 0: "[X]", 10: "[V]", 20: "[I]", 22: "[I]", 28: "[I]", 30: "[W]",
                               40: "[E]", 50: "[!]"}
    SEVERITY_COLOR_MAPPING = {-20: 90, -10: 90, 0: 90, 10: 90, 20: None, 22: 96, 28: 92, 30: 93, 40: 91, 50: 91}
    use_python_logging_system = False  # messages go to logging.getLogger("Polygraphy")
    LEVELS_OF_PYTHON = {-20: 2, -10: 4, 0: 6}  # Python's logging has no levels below 1

    def __init__(self, severity=INFO, colors=True, letter=True, timestamp=False, line_info=False, exit_on_errors=False) -> None:
        self.logging_indent = 0
        self.once_logged: set = set()
        self.logger_callbacks: list = []
        self._log_file = None
        self._log_path = None
        self.colors = colors
        self.letter = letter
        self.timestamp = timestamp
        self.line_info = line_info
        self.exit_on_errors = exit_on_errors
        self.module_severity = severity

    @property
    def module_severity(self):
        """What is written: a severity, or a dictionary of them by path."""
        return self._severity

    @module_severity.setter
    def module_severity(self, value):
        if not isinstance(value, SeverityTrie):
            value = SeverityTrie(value if isinstance(value, dict) else {"": value})
        self._severity = value
        for callback in self.logger_callbacks:
            callback(value)

    @property
    def severity(self):
        """The default of `module_severity`."""
        return self._severity.get()

    @severity.setter
    def severity(self, value):
        self.module_severity = value

    @property
    def log_file(self):
        """A file that gets all messages too; None: none."""
        return self._log_path

    @log_file.setter
    def log_file(self, path):
        if self._log_file:
            self._log_file.close()
        self._log_path = path
        if path:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self._log_file = open(path, "w", encoding="utf-8") if path else None

    def module_path(self, path):
        """A path as it counts for severities: from the folder of the package, or what is not common with that."""
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        relative = os.path.relpath(path, root)
        if os.pardir not in relative:
            return relative
        return os.path.abspath(path)[len(os.path.commonpath([root, os.path.abspath(path)])):].lstrip(os.sep)

    def register_callback(self, callback) -> None:
        """Calls `callback(severities)` now and whenever they change."""
        callback(self._severity)
        self.logger_callbacks.append(callback)

    def verbosity(self, severity=CRITICAL):
        """Another severity for a while; by default only what is critical is written."""
        return LoggerVerbosity(self, severity)

    def indent(self, level=1):
        """Messages of a while are indented by so many steps more."""
        return LoggerIndent(self, self.logging_indent + level)

    def log(self, message, severity, mode=LogMode.EACH, stack_depth=2, error_ok=False) -> None:
        """Writes a message: a text, or a function that makes it where it is wanted.

        `stack_depth`: whose line it is, 2 for who calls log(). `error_ok`: a function that fails is told of, not raised.
        """
        place = None
        if self.line_info or self._severity.has_non_default_entries:
            place = self._place(stack_depth)
        if severity < self._severity.get(None if place is None else place[0]):
            return
        if mode == LogMode.ONCE:
            if message in self.once_logged:
                return
            self.once_logged.add(message)
        text = self._text(message, error_ok)
        if severity == self.WARNING and _checks_itself():
            import warnings

            warnings.warn(text, stacklevel=stack_depth)
        self._write(text, severity, place)

    @staticmethod
    def _text(message, error_ok):
        if not callable(message):
            return str(message)
        try:
            return str(message())
        except Exception as error:
            if not error_ok or _checks_itself():
                raise
            return f"(this message could not be made: {type(error).__name__}: {error})"

    def _place(self, depth):
        """File and line of a caller; of the next one with a file where it has none."""
        frame = sys._getframe(depth)
        while frame.f_back is not None and not os.path.exists(frame.f_code.co_filename):
            frame = frame.f_back
        return self.module_path(frame.f_code.co_filename), frame.f_lineno

    def _write(self, text, severity, place):
        prefix = self.SEVERITY_LETTER_MAPPING.get(severity, "[I]") + " " if self.letter else ""
        if self.timestamp:
            prefix += time.strftime("(%X) ")
        if self.line_info and place is not None:
            prefix += f"[{place[0]}:{place[1]}] "
        blanks = " " * (4 * self.logging_indent)
        line = prefix + blanks + ("\n" + " " * len(prefix) + blanks).join(text.split("\n"))
        if self._log_file:
            print(line, file=self._log_file, flush=True)
        if self.use_python_logging_system:
            import logging

            logging.getLogger("Polygraphy").log(self.LEVELS_OF_PYTHON.get(severity, severity), line)
            return
        stream = sys.stderr if severity >= self.CRITICAL else sys.stdout
        color = self.SEVERITY_COLOR_MAPPING.get(severity)
        if self.colors and color and "NO_COLOR" not in os.environ and stream.isatty():
            line = f"\033[{color}m{line}\033[0m"
        print(line, file=stream)

    def module_info(self, module, name=None, severity=VERBOSE) -> None:
        """Says once which module was imported, its version and where it is."""
        parts = [name or f"Loaded Module: {getattr(module, '__name__', module)}"]
        if hasattr(module, "__version__"):
            parts.append(f"Version: {module.__version__}")
        if hasattr(module, "__path__"):
            parts.append(f"Path: {[os.path.realpath(each) for each in module.__path__]}")
        self.log(" | ".join(parts), severity, LogMode.ONCE, 3)

    def backtrace(self, depth=0, limit=None, severity=ERROR) -> None:
        """Where the caller is."""
        import traceback

        self.log("".join(traceback.format_stack(sys._getframe(depth + 1), limit=limit)), severity, stack_depth=3)

    def ultra_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.ULTRA_VERBOSE, mode, 3, True)

    def super_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.SUPER_VERBOSE, mode, 3, True)

    def extra_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.EXTRA_VERBOSE, mode, 3, True)

    def verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.VERBOSE, mode, 3, True)

    def info(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.INFO, mode, 3)

    def start(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.START, mode, 3)

    def finish(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.FINISH, mode, 3)

    def warning(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.WARNING, mode, 3)

    def error(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.ERROR, mode, 3)

    def critical(self, message, ExceptionType=None) -> NoReturn:
        """Writes the message and raises it, by default as a PolygraphyException."""
        text = self._text(message, False)
        self.log(text, self.CRITICAL, stack_depth=3)
        if self.exit_on_errors:
            sys.exit(1)
        raise (ExceptionType or PolygraphyException)(text) from None

    def internal_error(self, message) -> None:
        """Raises the message where checks of the package about itself are on."""
        if _checks_itself():
            text = self._text(message, False)
            self.log(text, self.CRITICAL, stack_depth=3)
            raise PolygraphyInternalException(text)

    def log_exception(self, func):
        """A decorator: exceptions of the function that are none of this package are written, and go on."""
        @functools.wraps(func)
        def logged(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except PolygraphyException:
                raise
            except Exception as error:
                self.error(error)
                raise

        return logged

    def native(self, severity, text) -> None:
        """Takes messages of native code."""
        self.log(text, severity)


G_LOGGER = Logger()
G_LOGGER.exit = G_LOGGER.critical  # type: ignore[attr-defined]  # its older name
