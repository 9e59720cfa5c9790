"""Runs modules of torch, of the user's own package."""

import time
from collections import OrderedDict

from assay.backend.base import BaseRunner
from assay.backend.base.loader import given
from assay.util import array


class PytRunner(BaseRunner):
    """Runs a `torch.nn.Module`, or what a function gives; it stays on the device that it is on."""

    def __init__(self, model, input_metadata, output_names, name=None) -> None:
        super().__init__(name=name, prefix="pytorch-runner")
        self._model = model
        self.input_metadata = input_metadata
        self.output_names = output_names

    def activate_impl(self):
        # A module can be called too: it is one already.
        self.model = self._model if hasattr(self._model, "state_dict") else given(self._model)
        self.model.eval()

    def deactivate_impl(self) -> None:
        self.model = None

    def get_input_metadata_impl(self):
        return self.input_metadata

    def infer_impl(self, feed_dict):
        import torch

        first = next(iter(self.model.parameters()), None)
        inputs = [array.to_torch(feed_dict[name]) for name in self.input_metadata]
        with torch.no_grad():
            inputs = [each if first is None else each.to(first.device) for each in inputs]
            start = time.perf_counter()
            outputs = self.model(*inputs)
            self.inference_time = time.perf_counter() - start
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return OrderedDict((name, array.to_numpy(each)) for name, each in zip(self.output_names, outputs))
