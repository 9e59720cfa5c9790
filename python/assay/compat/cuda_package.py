"""What `cuda` and `cuda.bindings` stand for."""

from assay.compat import cudart

runtime = cudart
__path__: list = []
