"""ONNX Runtime, driven by native code or by the user's own package."""

import time
from collections import OrderedDict

from assay import mod, util
from assay._arrays import values_to_numpy
from assay.backend.base import BaseLoader, BaseRunner
from assay.backend.base.loader import given
from assay.common import TensorMetadata
from assay.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


@mod.export(funcify=True)
class SessionFromOnnx(BaseLoader):
    """A session of a model, given by its path, as bytes, or as a model. `providers`: names, or (name, options)."""

    def __init__(self, model_bytes, providers=None, graph_optimization_level=None) -> None:
        self._model = model_bytes
        self.providers = util.default(providers, ["cpu"])
        self.graph_optimization_level = graph_optimization_level

    def call_impl(self):
        names = [each if isinstance(each, str) else each[0] for each in self.providers]
        settings = {"providers": names}
        if self.graph_optimization_level is not None:
            level = str(getattr(self.graph_optimization_level, "name", self.graph_optimization_level))
            settings["graph-optimization-level"] = [level if level.startswith("ORT_") else f"ORT_{level}".upper()]
        return Session(given(self._model), "onnxrt", settings)


@mod.export()
class OnnxrtRunner(BaseRunner):
    """Runs a session: of SessionFromOnnx, or an `onnxruntime.InferenceSession`."""

    def __init__(self, sess, name=None) -> None:
        super().__init__(name=name, prefix="onnxrt-runner")
        self._sess = sess
        self.sess = None

    def activate_impl(self):
        self.sess = given(self._sess)
        self._is_native = isinstance(self.sess, Session)
        if self._is_native:
            self._metadata = self.sess.input_metadata
            self._names = self.sess.output_names
            return
        self._metadata = TensorMetadata()
        for each in self.sess.get_inputs():
            self._metadata.add(each.name, each.type, each.shape)
        self._names = [each.name for each in self.sess.get_outputs()]

    def deactivate_impl(self) -> None:
        self.sess = None

    def get_input_metadata_impl(self):
        return self._metadata

    def infer_impl(self, feed_dict):
        is_torch = util.has_torch(feed_dict.values())
        if self._is_native:
            execution = self.sess.execution
            outputs = values_to_numpy(execution.run(feed_dict, self._names))
            self.inference_time = execution.seconds
        else:
            feeds = {name: util.array_of(value) for name, value in feed_dict.items()} if is_torch else feed_dict
            start = time.perf_counter()
            outputs = dict(zip(self._names, self.sess.run(self._names, feeds)))
            self.inference_time = time.perf_counter() - start
        if is_torch:
            import torch

            return OrderedDict((name, torch.from_numpy(value)) for name, value in outputs.items())
        return outputs
