"""Models on backends of native code."""

from __future__ import annotations

import atexit
import os
import sys
import time

from assay import _native, util
from assay._arrays import to_numpy, values_to_numpy
from assay.backend.base.runner import BaseRunner, metadata_of
from assay.logger import G_LOGGER
from assay.model import native_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Iterable, Mapping
    from typing import Any


PROVIDERS = [f"{name}ExecutionProvider" for name in (
    "CPU", "CUDA", "Tensorrt", "NvTensorRTRTX", "OpenVINO", "Dml", "ROCM", "MIGraphX", "CoreML", "DNNL", "Xnnpack", "QNN",
    "VitisAI", "CANN", "ACL", "ArmNN", "NNAPI", "WebGPU", "Azure")]


@atexit.register
def _wait_for_runs():
    """Runs that were interrupted end before what they need does; who interrupts again ends the process. Daemon threads
    stay in native code from here on."""
    try:
        while _native.abandoned_runs():
            time.sleep(0.02)
    except KeyboardInterrupt:
        os._exit(130)
    _native.close_interpreter()


class Session:
    """A model made ready on a backend, with the methods of `onnxruntime.InferenceSession` that scripts use."""

    def __init__(self, model, backend: str = "onnxrt", settings: dict[str, list[str]] | None = None,
                 values: Iterable[str] = (), threads: int = 0):
        self.native = _native.prepare(native_of(model), _native.Wanted(backend, settings or {}, list(values), threads),
                                      G_LOGGER.native)
        self.settings = settings or {}
        self.backend = backend
        self.execution = _native.Execution(self.native)

    @property  # type: ignore[misc]
    def __class__(self):
        is_theirs = "onnxruntime" in sys.modules and self.__dict__.get("backend") == "onnxrt"
        return getattr(sys.modules["onnxruntime"], "InferenceSession", Session) if is_theirs else Session

    @property
    def input_metadata(self):
        """Types and shapes of the inputs."""
        return metadata_of(self.native.inputs)

    @property
    def output_names(self) -> list[str]:
        """In the order of the model."""
        return [each[0] for each in self.native.outputs]

    def get_inputs(self) -> list[NodeArg]:
        """Inputs with `name`, `type` and `shape`, as ONNX Runtime says it."""
        return [NodeArg(*each) for each in self.native.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """Outputs, likewise."""
        return [NodeArg(*each) for each in self.native.outputs]

    def get_providers(self) -> list[str]:
        """The providers that were asked for, and that of the processor, which is always the last resort."""
        names = [util.find_str_in_iterable(each, PROVIDERS) or each for each in self.settings.get("providers", [])]
        return util.unique_list([*(each for each in names if each != PROVIDERS[0]), PROVIDERS[0]])

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """By provider; none are set."""
        return {name: {} for name in self.get_providers()}

    def run(self, output_names: Iterable[str] | None, input_feed: Mapping[str, Any], run_options=None) -> list[Any]:
        """A list of outputs."""
        names = list(output_names) if output_names else self.output_names
        values = values_to_numpy(self.execution.run(dict(input_feed), names))
        return [values[name] for name in names]


    def run_on_device(self, output_names: Iterable[str] | None, input_feed: Mapping[str, Any]) -> list[Any]:
        """A list of outputs in the memory of the card that computes them (DeviceOutput); arrays of numpy where sizes depend
        on data, or there is no card."""
        names = list(output_names) if output_names else self.output_names
        values = self.execution.run(dict(input_feed), names, keeps=True)
        return [DeviceOutput(value) if isinstance(value, _native.KeptArray) else to_numpy(value)
                for value in (values[name] for name in names)]


class DeviceOutput:
    """An output in the memory of a card, for others that take arrays there (DLPack, `__cuda_array_interface__`): torch,
    cupy, `Session.run`."""

    def __init__(self, native):
        self.native = native
        self.shape = tuple(native.shape)
        self.ptr = native.address

    @property
    def dtype(self):
        """numpy's type, or that of ml_dtypes."""
        from assay.datatype import DataType

        return DataType.from_native(self.native.dtype).numpy()

    def numpy(self):
        """A copy of the elements."""
        return to_numpy(self.native.on_host())

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack_device__(self):
        return 2, self.native.device

    def __dlpack__(self, **_):
        return self.native.capsule()

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.ptr, False), "version": 3}

    def __repr__(self):
        return f"DeviceOutput(shape={self.shape}, dtype={self.native.dtype}, ptr={self.ptr:#x})"


class NodeArg:
    """An input or output."""

    def __init__(self, name, dtype, dims, is_shape):
        from assay.datatype import DataType

        self.name = name
        self.type = "" if dtype is None else DataType.from_native(dtype).onnxrt()
        self.shape = dims

    def __repr__(self):
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class BackendRunner(BaseRunner):
    """A runner of any backend of native code: a model, or what gives one, and the backend's name."""

    def __init__(self, model, backend: str, name: str | None = None, settings: dict[str, list[str]] | None = None,
                 outputs: Iterable[str] | None = None):
        super().__init__(name=name, prefix=f"{backend}-runner")
        self._model = model
        self._backend = backend
        self._settings = settings
        self._outputs = list(outputs or [])
        self.session = None

    def activate_impl(self):
        from assay.backend.base.loader import given

        self.session = Session(given(self._model), self._backend, self._settings, self._outputs)
        self._metadata = self.session.input_metadata
        self._names = self._outputs or self.session.output_names

    def deactivate_impl(self):
        self.session = None

    def get_input_metadata_impl(self):
        return self._metadata

    def infer_impl(self, feed_dict):
        execution = self.session.execution
        outputs = execution.run(feed_dict, self._names)
        self.inference_time = execution.seconds
        values = values_to_numpy(outputs)
        if util.has_torch(feed_dict.values()):
            return {name: util.array.to_torch(value) for name, value in values.items()}
        return values
