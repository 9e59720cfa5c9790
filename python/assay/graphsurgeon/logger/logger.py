"""The log of graphs: G_LOGGER of the package, whose critical messages are of OnnxGraphSurgeonException."""

from assay.graphsurgeon.util.exception import OnnxGraphSurgeonException
from assay.logger.logger import Logger, LoggerIndent, LogMode
from assay.logger.logger import LoggerVerbosity as LoggerSuppress


class _Log(Logger):
    DEBUG = Logger.VERBOSE

    def critical(self, message, ExceptionType=None):
        """Writes the message and raises it."""
        text = self._text(message, False)
        self.log(text, self.CRITICAL, stack_depth=3)
        raise (ExceptionType or OnnxGraphSurgeonException)(text) from None

    def suppress(self, severity=Logger.CRITICAL):
        """Another severity for a while; by default only what is critical is written."""
        return self.verbosity(severity)

    def debug(self, message, mode=LogMode.EACH):
        """Writes what is of interest when something is wrong."""
        self.log(message, self.DEBUG, mode, 3)


G_LOGGER = _Log()

__all__ = ["G_LOGGER", "LogMode", "Logger", "LoggerIndent", "LoggerSuppress"]
