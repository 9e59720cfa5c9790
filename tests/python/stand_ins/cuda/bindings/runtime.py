"""Memory of the process, in the place of cuda-python; STAND_IN_DRIVER=none: no driver."""

import os

from assay.compat import cudart
from assay.compat.cudart import *  # noqa: F403


def cudaStreamCreate():
    return (35,) if os.environ.get("STAND_IN_DRIVER") == "none" else cudart.cudaStreamCreate()
