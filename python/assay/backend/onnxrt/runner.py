"""Runs sessions of ONNX Runtime, of native code or of the user's own package."""

import time
from collections import OrderedDict

from assay import mod, util
from assay._arrays import values_to_numpy
from assay.backend.base import BaseRunner
from assay.backend.base.loader import given
from assay.common import TensorMetadata
from assay.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:  # made by export()
    __all__: list[str]


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
            return OrderedDict((name, util.array.to_torch(value)) for name, value in outputs.items())
        return outputs
