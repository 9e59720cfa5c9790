"""The Python that has TensorFlow: ASSAY_TENSORFLOW_PYTHON, or the one that runs the tests, if it has."""

import os
import subprocess
import sys

PYTHON = os.environ.get("ASSAY_TENSORFLOW_PYTHON", sys.executable)
PROBE = "import importlib.util as u; raise SystemExit(u.find_spec('tensorflow') is None)"
HAS_TENSORFLOW = subprocess.run([PYTHON, "-c", PROBE], capture_output=True, check=False).returncode == 0
REASON = "tensorflow is not installed (ASSAY_TENSORFLOW_PYTHON names a Python that has it)"
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
