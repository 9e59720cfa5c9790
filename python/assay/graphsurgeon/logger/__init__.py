"""The log of graphs."""

from assay.graphsurgeon.logger.logger import G_LOGGER, Logger, LogMode

__all__ = ["G_LOGGER", "LogMode", "Logger"]
