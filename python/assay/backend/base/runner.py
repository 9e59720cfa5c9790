"""Runners: a model on a backend, between activate() and deactivate()."""

from __future__ import annotations

import time
from collections import defaultdict

from assay import util
from assay.backend.base.util import check_input, check_inputs
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER, LogMode

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Mapping
    from typing import Any


class BaseRunner:
    """Derived classes define `activate_impl`, `deactivate_impl`, `get_input_metadata_impl` and `infer_impl`."""

    RUNNER_COUNTS: dict = defaultdict(int)

    def __init__(self, name: str | None = None, prefix: str | None = None) -> None:
        prefix = util.default(prefix, "Runner")
        if name is None:
            count = BaseRunner.RUNNER_COUNTS[prefix]
            BaseRunner.RUNNER_COUNTS[prefix] += 1
            name = f"{prefix}-N{count}-{time.strftime('%x')}-{time.strftime('%X')}"
        self.name = name
        self.inference_time = None
        self.is_active: bool | None = False  # None: it is being deactivated
        self._known = None  # the metadata that `_exact` is made of

    def __enter__(self):
        self.activate()
        return self

    def __exit__(self, *exc_info):
        self.deactivate()

    def activate(self) -> None:
        """Makes the runner ready."""
        if self.is_active:
            G_LOGGER.warning(f"{self.name} | is active already; nothing is done")
            return
        try:
            self.activate_impl()
        except BaseException:
            self.deactivate_impl()
            raise
        self.is_active = True

    def deactivate(self) -> None:
        """Gives back what activate() took."""
        if not self.is_active:
            G_LOGGER.warning(f"{self.name} | is not active; nothing is done")
            return
        self.inference_time = None
        self.is_active = None
        try:
            self.deactivate_impl()
        finally:
            self.is_active = False

    def activate_impl(self):
        pass

    def deactivate_impl(self):
        pass

    def get_input_metadata_impl(self):
        raise NotImplementedError

    def infer_impl(self, feed_dict, **kwargs):
        raise NotImplementedError

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("assay."):  # what users' runners do is for their authors to say
            for name in ("activate", "get_input_metadata", "infer", "deactivate"):
                if f"{name}_impl" in vars(cls):
                    setattr(cls, f"{name}_impl", util.check_called_by(name)(vars(cls)[f"{name}_impl"]))

    def _require_active(self, method):
        if not self.is_active:
            G_LOGGER.critical(f"{self.name:35} | Must be activated prior to calling {method}(): `with` it, or call "
                              "activate()")

    def get_input_metadata(self, use_numpy_dtypes: bool | None = None) -> TensorMetadata:
        """Types and shapes of the inputs. Open dims are None, -1 or names.

        Types are numpy's; `use_numpy_dtypes=False`: of DataType.
        """
        self._require_active("get_input_metadata")
        metadata = self.get_input_metadata_impl()
        return metadata.of_numpy() if util.default(use_numpy_dtypes, True) else metadata

    def infer(self, feed_dict: Mapping[str, Any], check_inputs: bool = True, *args, **kwargs) -> dict[str, Any]:
        """Runs once on a dictionary of arrays and gives one of outputs."""
        self._require_active("infer")
        if check_inputs:
            self._check(feed_dict)
        return self.infer_impl(feed_dict, *args, **kwargs)

    def _check(self, feed_dict):
        metadata = self.get_input_metadata_impl()
        if metadata is not self._known:
            self._known = metadata
            self._exact = {name: _exact(meta) for name, meta in metadata.items()}
        if feed_dict.keys() != self._exact.keys():
            return check_inputs(feed_dict, metadata)
        for name, value in feed_dict.items():
            if getattr(value, "dtype", None) != self._exact[name][0] or value.shape != self._exact[name][1]:
                check_input(name, value, metadata[name])

    def last_inference_time(self):
        """The seconds of the last infer(); None if there was none."""
        if self.inference_time is None:
            G_LOGGER.warning(f"{self.name} | the time of an inference is not known: none was made", LogMode.ONCE)
        return self.inference_time

    def __del__(self):
        if getattr(self, "is_active", False):
            G_LOGGER.warning(f"{self.name} | was never deactivated")

    def __repr__(self):
        return f"{type(self).__name__}(name={self.name!r})"


def _exact(meta):
    """Type and shape of arrays that need no closer look."""
    is_fixed = meta.dtype is not None and meta.shape is not None and not util.is_shape_dynamic(meta.shape)
    return (meta.dtype.numpy(), tuple(meta.shape)) if is_fixed else (None, None)


def metadata_of(ports):
    """The inputs or outputs of a session."""
    meta = TensorMetadata()
    for name, dtype, dims, _ in ports:
        meta.add(name, None if dtype is None else DataType.from_native(dtype), dims)
    return meta


__all__ = ["BaseRunner", "PolygraphyException", "metadata_of"]
