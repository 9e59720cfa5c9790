"""Messages by severity, with scopes, indents and hooks."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import sys
import time

from assay.exception import PolygraphyException, PolygraphyInternalException

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import NoReturn


class LogMode(enum.IntEnum):
    """How often a message is written."""

    EACH = 0
    ONCE = 1


class SeverityTrie:
    """Severities by folder or file of the package; the longest prefix counts, "" is the default."""

    def __init__(self, severities) -> None:
        self.severities = dict(severities)
        self.severities.setdefault("", Logger.INFO)

    def get(self, path=""):
        """The severity of a path, as `comparator/compare.py`."""
        fitting = [prefix for prefix in self.severities if not prefix or path.startswith(prefix)]
        return self.severities[max(fitting, key=len)]

    def __eq__(self, other):
        return isinstance(other, SeverityTrie) and self.severities == other.severities

    __hash__ = None  # type: ignore[assignment]


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

    LETTERS = {-20: "UV", -10: "SV", 0: "XV", 10: "V", 20: "I", 22: "I", 28: "I", 30: "W", 40: "E", 50: "!"}
    COLORS = {-20: 90, -10: 90, 0: 90, 10: 90, 20: 0, 22: 96, 28: 92, 30: 93, 40: 91, 50: 91}

    def __init__(self, severity=INFO, colors=True, letter=True, timestamp=False, line_info=False, exit_on_errors=False) -> None:
        self._severity = SeverityTrie({"": severity})
        self._callbacks: list = []
        self._indent = 0
        self._once: set = set()
        self._log_file = None
        self._log_path = None
        self.colors = colors
        self.letter = letter
        self.timestamp = timestamp
        self.line_info = line_info
        self.exit_on_errors = exit_on_errors
        self.use_stderr = False
        self.use_python_logging_system = False  # messages go to logging.getLogger("Polygraphy")

    @property
    def module_severity(self):
        """What is written: a severity, or a dictionary of them by path."""
        return self._severity

    @module_severity.setter
    def module_severity(self, value):
        if not isinstance(value, SeverityTrie):
            value = SeverityTrie(value if isinstance(value, dict) else {"": value})
        self._severity = value
        for callback in self._callbacks:
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
        self._log_file = open(path, "w", encoding="utf-8") if path else None

    def register_callback(self, callback) -> None:
        """Calls `callback(severities)` now and whenever they change."""
        callback(self._severity)
        self._callbacks.append(callback)

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        """Another severity for a while; by default only what is critical is written."""
        before = self._severity
        self.module_severity = severity
        try:
            yield
        finally:
            self.module_severity = before

    @contextlib.contextmanager
    def indent(self, level=1):
        """Messages of a while are indented by so many steps more."""
        self._indent += level
        try:
            yield
        finally:
            self._indent -= level

    def log(self, message, severity, mode=LogMode.EACH, stack_depth=2, error_ok=False) -> None:
        """Writes a message: a text, or a function that makes it where it is wanted."""
        if severity < self._severity.get(self._path_of(stack_depth)):
            return
        text = str(message() if callable(message) else message)
        if mode == LogMode.ONCE:
            if (text, severity) in self._once:
                return
            self._once.add((text, severity))
        self._write(text, severity)

    def _path_of(self, depth):
        if len(self._severity.severities) == 1:
            return ""
        path = sys._getframe(depth + 1).f_code.co_filename
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return os.path.relpath(path, root) if path.startswith(root) else path

    def _write(self, text, severity):
        prefix = f"[{self.LETTERS.get(severity, 'I')}] " if self.letter else ""
        if self.timestamp:
            prefix += time.strftime("[%X] ")
        blanks = " " * (4 * self._indent)
        lines = ("\n" + " " * len(prefix) + blanks).join(text.split("\n"))
        line = prefix + blanks + lines
        if self._log_file:
            print(line, file=self._log_file, flush=True)
        if self.use_python_logging_system:
            return self._hand_on(line, severity)
        stream = sys.stderr if severity >= self.WARNING or self.use_stderr else sys.stdout
        color = self.COLORS.get(severity, 0)
        if self.colors and color and "NO_COLOR" not in os.environ and stream.isatty():
            line = f"\033[{color}m{line}\033[0m"
        print(line, file=stream)

    def _hand_on(self, line, severity):
        import logging

        # There, all severities are above 0.
        levels = {self.ULTRA_VERBOSE: 2, self.SUPER_VERBOSE: 4, self.EXTRA_VERBOSE: 6}
        logging.getLogger("Polygraphy").log(levels.get(severity, severity), line)

    def backtrace(self, depth=0, limit=None, severity=ERROR) -> None:
        """Where the caller is."""
        import traceback

        self.log("".join(traceback.format_stack(sys._getframe(depth + 1), limit=limit)), severity)

    def ultra_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.ULTRA_VERBOSE, mode, 2)

    def super_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.SUPER_VERBOSE, mode, 2)

    def extra_verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.EXTRA_VERBOSE, mode, 2)

    def verbose(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.VERBOSE, mode, 2)

    def info(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.INFO, mode, 2)

    def start(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.START, mode, 2)

    def finish(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.FINISH, mode, 2)

    def warning(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.WARNING, mode, 2)

    def error(self, message, mode=LogMode.EACH) -> None:
        self.log(message, self.ERROR, mode, 2)

    def critical(self, message) -> NoReturn:
        """Writes the message and raises it as a PolygraphyException."""
        self.log(message, self.CRITICAL, stack_depth=2)
        if self.exit_on_errors:
            sys.exit(1)
        raise PolygraphyException(str(message() if callable(message) else message))

    def internal_error(self, message) -> None:
        """Raises the message where checks of the package about itself are on."""
        from assay import config

        if config.INTERNAL_CORRECTNESS_CHECKS:
            self.log(message, self.CRITICAL, stack_depth=2)
            raise PolygraphyInternalException(str(message() if callable(message) else message))

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
