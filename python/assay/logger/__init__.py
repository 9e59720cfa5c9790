"""The log of the package: `G_LOGGER`."""

from assay.logger.logger import G_LOGGER, Logger, LoggerIndent, LoggerVerbosity, LogMode, SeverityTrie

__all__ = ["G_LOGGER", "LogMode", "Logger", "LoggerIndent", "LoggerVerbosity", "SeverityTrie"]
