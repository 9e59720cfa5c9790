"""The logger that messages of the engine go to."""

from assay import tensorrt as trt
from assay.logger import G_LOGGER

_LEVELS = {trt.Logger.INTERNAL_ERROR: G_LOGGER.ERROR, trt.Logger.ERROR: G_LOGGER.ERROR,
           trt.Logger.WARNING: G_LOGGER.WARNING, trt.Logger.INFO: G_LOGGER.VERBOSE,
           trt.Logger.VERBOSE: G_LOGGER.EXTRA_VERBOSE}


class _Forwarding(trt.Logger):
    def log(self, severity, msg) -> None:
        G_LOGGER.log(msg, _LEVELS[severity])


_LOGGER = _Forwarding()


def get_trt_logger():
    """A logger of assay.tensorrt that writes with G_LOGGER."""
    return _LOGGER
