"""What an algorithm selector is told of a build: the layers of a plan, and the tactic of each."""

import contextlib

from assay import _native
from assay.tensorrt.dims import Dims, in_memory
from assay.tensorrt.enums import DataType, OptProfileSelector, TensorFormat
from assay.tensorrt.interfaces import IAlgorithmSelector


class IAlgorithmIOInfo:
    """How an input or output of a layer lies in memory."""

    dtype, tensor_format, strides = DataType.FLOAT, TensorFormat.LINEAR, Dims()
    vectorized_dim, components_per_element = -1, 1

    def __init__(self, dtype, dims, layout) -> None:
        self.dtype = DataType.of_native(dtype or "") or DataType.FLOAT
        self.tensor_format = TensorFormat.HWC if layout == "channels last" else TensorFormat.LINEAR
        self.strides = _strides(dims, layout == "channels last")


def _strides(dims, is_channels_last):
    order = [0, *range(2, len(dims)), 1] if is_channels_last and len(dims) > 2 else list(range(len(dims)))
    strides, step = [0] * len(dims), 1
    for axis in reversed(order):
        strides[axis], step = step, step * dims[axis]
    return Dims(strides)


class IAlgorithmVariant:
    """A tactic: the kernels that it is of, and its whole name."""

    implementation = tactic = ""

    def __init__(self, name) -> None:
        self.implementation = name.partition(":")[0]
        self.tactic = name


class IAlgorithm:
    """The tactic of a layer. What it took is known to the timing cache only, so that `timing_msec` is no number."""

    timing_msec, workspace_size, num_inputs, num_outputs = float("nan"), 0, 0, 0
    algorithm_variant = IAlgorithmVariant("")

    def __init__(self, layer) -> None:
        self.algorithm_variant = IAlgorithmVariant(layer["tactic"])
        self.num_inputs, self.num_outputs = len(layer["inputs"]), len(layer["outputs"])
        self._infos = [IAlgorithmIOInfo(dtype, dims, layout)
                       for _, dtype, dims, layout in (*layer["inputs"], *layer["outputs"])]

    def get_algorithm_io_info(self, index):
        """Of the inputs, then of the outputs; None: there is none."""
        return self._infos[index] if 0 <= index < len(self._infos) else None


class IAlgorithmContext:
    """A layer of a plan."""

    name, num_inputs, num_outputs = "", 0, 0

    def __init__(self, layer) -> None:
        self.name = " + ".join(layer["origins"]) or layer["name"]
        self.num_inputs, self.num_outputs = len(layer["inputs"]), len(layer["outputs"])
        self._dims = [Dims(each[2]) for each in (*layer["inputs"], *layer["outputs"])]

    def get_shape(self, index):
        """Least, best and greatest shape of an input, or after them of an output: those that the layer was planned for."""
        return [self._dims[index]] * len(OptProfileSelector) if 0 <= index < len(self._dims) else []


@contextlib.contextmanager
def selecting(selector):
    """A selector of assay.backend.trt in use: it says what native code is told of tactics."""
    if not hasattr(selector, "finish"):
        yield
        return
    selector.start()
    try:
        yield
    finally:
        selector.finish()


def report_tactics(selector, plan):
    """Tells a selector that has a report_algorithms() of its own the layers of a plan."""
    if not isinstance(selector, IAlgorithmSelector) or getattr(selector, "assay_settings", None) or \
            type(selector).report_algorithms is IAlgorithmSelector.report_algorithms:
        return
    with in_memory(plan) as path:
        layers = [each for each in _native.read_plan(path)[2] if each["origins"]]
    selector.report_algorithms([IAlgorithmContext(each) for each in layers], [IAlgorithm(each) for each in layers])
