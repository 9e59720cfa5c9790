"""What variables of the environment say; a name ASSAY_… goes before the POLYGRAPHY_… of scripts written for Polygraphy."""

import os
import sys


def _variable(name, default=""):
    return os.environ.get(f"ASSAY_{name}", os.environ.get(f"POLYGRAPHY_{name}", default))


def _flag(name):
    return _variable(name, "0") not in ("", "0")


INTERNAL_CORRECTNESS_CHECKS = _flag("INTERNAL_CORRECTNESS_CHECKS")
# Nothing is ever installed unasked; scripts may read these.
AUTOINSTALL_DEPS = _flag("AUTOINSTALL_DEPS")
ASK_BEFORE_INSTALL = _flag("ASK_BEFORE_INSTALL")
INSTALL_CMD = _variable("INSTALL_CMD", f"{sys.executable} -m pip install").split()
ARRAY_SWAP_THRESHOLD_MB = int(_variable("ARRAY_SWAP_THRESHOLD_MB", "-1"))
USE_TENSORRT_RTX = _flag("USE_TENSORRT_RTX")
TENSORRT_GENERATION = int(_variable("TENSORRT_GENERATION") or "0")  # 11: assay.tensorrt has the names of that one only
