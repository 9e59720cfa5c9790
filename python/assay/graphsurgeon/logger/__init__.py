"""The log of graphs: G_LOGGER of the package, whose critical messages are of OnnxGraphSurgeonException."""

from assay.graphsurgeon.util.exception import OnnxGraphSurgeonException
from assay.logger.logger import Logger, LogMode


class _Log(Logger):
    def critical(self, message):
        """Writes the message and raises it."""
        self.log(message, self.CRITICAL, stack_depth=2)
        raise OnnxGraphSurgeonException(str(message() if callable(message) else message))


G_LOGGER = _Log()

__all__ = ["G_LOGGER", "LogMode", "Logger"]
