"""Loads, edits and saves ONNX models; the work is done by native code."""

from assay import _native, constants, mod, util
from assay.backend.base.loader import BaseLoader, given
from assay.logger import G_LOGGER
from assay.model import Model, load, native_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


UNLIMITED = 1 << 62  # bytes


def _is_graph(model):
    return hasattr(model, "nodes") and hasattr(model, "tensors")


class _Edit(BaseLoader):
    """A loader that changes a model, given as such, as a graph of graphsurgeon, or by a loader."""

    def _edit(self, model, options, error_ok=False):
        try:
            return Model(_native.sanitize(native_of(model), options, G_LOGGER.native))
        except _native.Error as error:
            if not error_ok:
                raise
            G_LOGGER.warning(f"nothing is changed: {error}")
            return model


@mod.export(funcify=True)
class OnnxFromPath(BaseLoader):
    """The model of a file."""

    def __init__(self, path, external_data_dir=None, ignore_external_data=None) -> None:
        self.path = path
        self.external_data_dir = external_data_dir
        self.ignore_external_data = util.default(ignore_external_data, False)

    def call_impl(self):
        return load(given(self.path), given(self.external_data_dir), self.ignore_external_data)


@mod.export(funcify=True)
class OnnxFromBytes(BaseLoader):
    """The model of the bytes of a file."""

    def __init__(self, serialized_onnx) -> None:
        self._serialized_onnx = serialized_onnx

    def call_impl(self):
        return Model(_native.model_from_bytes(given(self._serialized_onnx)))


@mod.export(funcify=True)
class BytesFromOnnx(BaseLoader):
    """The bytes of a model."""

    def __init__(self, model) -> None:
        self._model = model

    def call_impl(self):
        model = given(self._model)
        return native_of(model).bytes() if _is_graph(model) else model.SerializeToString()


@mod.export(funcify=True)
class OnnxFromTfGraph(BaseLoader):
    """Refused: models of TensorFlow are no objects here."""

    def __init__(self, graph, opset=None, optimize=None) -> None:
        self._graph = graph

    def call_impl(self) -> None:
        G_LOGGER.critical("models of TensorFlow are no objects here: assay.load() and `assay convert` make ONNX models of their files")


@mod.export(funcify=True)
class GsFromOnnx(BaseLoader):
    """The model as a graph of assay.graphsurgeon."""

    def __init__(self, model) -> None:
        self._model = model

    def call_impl(self):
        from assay import graphsurgeon

        return graphsurgeon.import_onnx(given(self._model))


@mod.export(funcify=True)
class InferShapes(BaseLoader):
    """The model, also from a path, with the types and shapes of all values as far as they can be told."""

    def __init__(self, model, error_ok=None, external_data_dir=None, save_to_disk_threshold_bytes=None,
                 allow_onnxruntime=None) -> None:
        self._model = model
        self.error_ok = util.default(error_ok, True)
        self.external_data_dir = external_data_dir

    def call_impl(self):
        model = given(self._model)
        try:
            if isinstance(model, str):
                model = load(model, given(self.external_data_dir))
            return Model(_native.infer_shapes(native_of(model)))
        except _native.Error as error:
            if not self.error_ok or isinstance(model, str):
                raise
            G_LOGGER.warning(f"shapes are not inferred: {error}")
            return model


@mod.export(funcify=True)
class FoldConstants(_Edit):
    """Computes what is the same in every run."""

    def __init__(self, model, num_passes=None, do_shape_inference=None, partitioning=None, fold_shapes=None, copy=None,
                 error_ok=None, size_threshold=None, allow_onnxruntime_shape_inference=None) -> None:
        self._model = model
        self.num_passes = num_passes
        self.do_shape_inference = util.default(do_shape_inference, True)
        self.partitioning = partitioning
        self.fold_shapes = util.default(fold_shapes, True)
        self.error_ok = util.default(error_ok, True)
        self.size_threshold = size_threshold

    def call_impl(self):
        if self.partitioning not in (None, "basic", "recursive"):
            G_LOGGER.critical(f"there is no partitioning `{self.partitioning}`; known are basic and recursive")
        options = {"fold_constants": True, "keeps_shapes": not self.fold_shapes, "clean": True,
                   "infers_nothing": not self.do_shape_inference}
        if self.num_passes is not None:
            options["fold_rounds"] = self.num_passes
        options["size_threshold"] = util.default(self.size_threshold, UNLIMITED)
        return self._edit(given(self._model), options, self.error_ok)


@mod.export(funcify=True)
class SetUpperBound(_Edit):
    """Bounds tensors whose sizes only data decides: one number, or a dictionary of them by name ("": all others)."""

    def __init__(self, model, upper_bounds, copy=None) -> None:
        self._model = model
        self.upper_bounds = upper_bounds

    def call_impl(self):
        bounds = self.upper_bounds if isinstance(self.upper_bounds, dict) else {"": self.upper_bounds}
        return self._edit(given(self._model), {"bounds": bounds})


@mod.export(funcify=True)
class ModifyOutputs(_Edit):
    """Other outputs: `outputs` names (wildcards too) or constants.MARK_ALL; `mark_types`: results of operators.

    The model that is given is changed, unless `copy` is.
    """

    def __init__(self, model, outputs=None, exclude_outputs=None, copy=None, mark_types=None) -> None:
        self._model = model
        self.outputs = outputs
        self.exclude_outputs = exclude_outputs
        self.copy = util.default(copy, False)
        self.mark_types = mark_types

    def call_impl(self):
        options = {"excluded_outputs": list(self.exclude_outputs or []), "output_types": list(self.mark_types or [])}
        if self.outputs == constants.MARK_ALL:
            options["all_outputs"] = True
        else:
            options["outputs"] = list(self.outputs or [])
        model = given(self._model)
        if not any(options.values()):
            return model
        made = self._edit(model, options)
        if self.copy or not hasattr(model, "ParseFromString"):
            return made
        if type(model) is Model:
            model.CopyFrom(made)
        else:
            model.ParseFromString(made.SerializeToString())
        return model


@mod.export(funcify=True)
class ConvertToFp16(_Edit):
    """The floats of a model as float16; inputs and outputs keep their types."""

    def __init__(self, model, copy=None) -> None:
        self._model = model

    def call_impl(self):
        return self._edit(given(self._model), {"float16": True})


@mod.export(funcify=True)
class ExtractSubgraph(BaseLoader):
    """The part between inputs and outputs, given as TensorMetadata whose types and shapes may be None.

    Gives the kind of model that it was given.
    """

    def __init__(self, model, input_metadata=None, output_metadata=None, check_meta=None) -> None:
        self._model = model
        self.input_metadata = input_metadata
        self.output_metadata = output_metadata
        self.check_meta = util.default(check_meta, True)

    @staticmethod
    def _boundaries(metadata):
        rows = []
        for name, meta in (metadata or {}).items():
            dims = None
            if meta.shape is not None:
                dims = [None if isinstance(dim, int) and dim < 0 else dim for dim in meta.shape]
            rows.append((name, "" if meta.dtype is None else meta.dtype.native, dims))
        return rows

    def call_impl(self):
        model = given(self._model)
        made = Model(_native.extract(native_of(model), self._boundaries(self.input_metadata),
                                     self._boundaries(self.output_metadata), G_LOGGER.native))
        if not _is_graph(model):
            return made
        from assay import graphsurgeon

        return graphsurgeon.import_onnx(made)


@mod.export(funcify=True)
class SaveOnnx(BaseLoader):
    """Writes a model, with large weights in a file beside it if `external_data_path` is given, and gives it again."""

    def __init__(self, model, path, external_data_path=None, size_threshold=None, all_tensors_to_one_file=None) -> None:
        self._model = model
        self.path = path
        self.external_data_path = external_data_path
        self.size_threshold = util.default(size_threshold, 1024)
        self.all_tensors_to_one_file = util.default(all_tensors_to_one_file, True)

    def call_impl(self):
        model = given(self._model)
        util.makedirs(self.path)
        native_of(model).save(str(self.path), self.external_data_path, self.size_threshold,
                              self.all_tensors_to_one_file, G_LOGGER.native)
        return model
