"""A card whose kernels the host runs, for the program and the package as a whole."""

import contextlib
import os
import tempfile
from pathlib import Path


@contextlib.contextmanager
def environment():
    """Variables with which a process finds the card: the driver and NVRTC are a library of the tests."""
    binaries = Path(os.environ["ASSAY_BIN_DIR"])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so.1", "libnvrtc.so.13"):
            (Path(folder) / name).symlink_to(binaries / "libhost_cuda.so")
        yield {**os.environ, "LD_LIBRARY_PATH": folder, "ASSAY_NVRTC": f"{folder}/libnvrtc.so.13",
               "ASSAY_CUBIN_CACHE": str(binaries.parent / "kernels_of_programs")}
