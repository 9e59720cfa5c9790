"""Engines whose weights are replaced: those of a layer, of a name, or all that an ONNX model has."""

import os
import tempfile

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Attribute
from assay.tensorrt.dims import NoOpContext, Weights, array_of
from assay.tensorrt.enums import ErrorCode, TensorLocation, WeightsRole
from assay.tensorrt.initializers import ModelInParts
from assay.tensorrt.logger import native_log, report
from assay.tensorrt.parser import ParserError


class Refitter(NoOpContext):
    """Replaces weights of an engine that was built with BuilderFlag.REFIT or STRIP_PLAN, or by `convert --refittable`;
    its tactics stay."""

    logger = property(lambda self: self._logger, doc="Who is told of mistakes.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    max_threads = Attribute(int, 1, "Accepted.")
    weights_validation = Attribute(bool, True, "Accepted.")

    def release_refit_resources(self) -> bool:
        """There are none between two calls."""
        return True

    def __init__(self, engine, logger) -> None:
        from assay.graphsurgeon import import_onnx

        if not engine.refittable:
            raise PolygraphyException("the engine cannot be refitted: it was built without BuilderFlag.REFIT")
        self.engine = engine
        self._logger = logger
        self.error_recorder = engine.error_recorder
        self._graph = import_onnx(engine._source)
        tensors = self._graph.tensors()
        self._constants = {name: each for name, each in tensors.items() if type(each).__name__ == "Constant"
                           and (engine._marked is None or name in engine._marked)}
        rows = _weights_of(self._graph) if engine._weights is None else engine._weights
        self._places = {(layer, WeightsRole[role]): name for layer, role, name in rows}
        self._given: dict = {}

    def _roles(self, names):
        rows = [place for place, name in self._places.items() if name in names]
        return [layer for layer, _ in rows], [role for _, role in rows]

    def get_dynamic_range(self, tensor_name):
        """(-1, -1): ranges are in the quantisers of the model."""
        return -1.0, -1.0

    def set_dynamic_range(self, tensor_name, range):
        """False; likewise."""
        return False

    def get_tensors_with_dynamic_range(self):
        return []

    def get_all(self):
        """(layers, roles) of all weights that belong to layers."""
        return self._roles(self._constants)

    def get_missing(self):
        """Those that have to be set before the engine can be refitted."""
        return self._roles(self.get_missing_weights())

    def get_all_weights(self):
        """Names of all weights."""
        return [name for name in self._constants if not name.startswith("__constant_")]

    def get_missing_weights(self):
        """Names of weights that the plan lacks and that were not set."""
        return [name for name, each in self._constants.items() if name not in self._given and _is_absent(each)]

    def _constant(self, name):
        if name not in self._constants:
            raise PolygraphyException(f"the engine has no weights `{name}`")
        return self._constants[name]

    def set_weights(self, layer_name, role, weights):
        """Weights of a layer; whether they fit."""
        name = self._places.get((layer_name, WeightsRole(role)))
        if name is None:
            report(self, f"the layer `{layer_name}` has no weights of the role {WeightsRole(role).name}")
            return False
        return self.set_named_weights(name, weights)

    def set_named_weights(self, name, weights, location=TensorLocation.HOST):
        """Weights by their name; whether they fit."""
        try:
            self._given[name] = self._fitting(name, array_of(weights))
        except PolygraphyException as error:
            report(self, error)
            return False
        return True

    def _fitting(self, name, array):
        constant = self._constant(name)
        shape, dtype = tuple(constant.shape), constant.dtype
        count = 1
        for dim in shape:
            count *= dim
        if array is None or array.size != count or array.dtype != dtype:
            seen = "nothing" if array is None else f"{array.size} of {array.dtype}"
            raise PolygraphyException(f"the weights `{name}` are {count} elements of {dtype}, seen {seen}")
        return array.reshape(shape).copy()

    def unset_named_weights(self, name):
        """The weights are those of the plan again; whether they had been set."""
        return self._given.pop(name, None) is not None

    def get_named_weights(self, name):
        """What was set; empty if nothing was."""
        return Weights(self._given.get(name))

    def get_weights_prototype(self, name):
        """Weights of the right type and number."""
        import numpy as np

        constant = self._constant(name)
        return Weights(np.zeros(tuple(constant.shape), constant.dtype))

    def get_weights_location(self, name):
        return TensorLocation.HOST

    def refit_cuda_engine(self):
        """Gives the engine, and its contexts, the weights; whether that went well."""
        try:
            self._refit()
        except PolygraphyException as error:
            report(self, error)
            return False
        return True

    def refit_cuda_engine_async(self, stream_handle=0):
        """The same; it is over when it returns."""
        return self.refit_cuda_engine()

    def _refit(self):
        from assay.graphsurgeon import save

        missing = self.get_missing_weights()
        if missing:
            raise PolygraphyException(f"the weights {missing} have to be set: the plan lacks them")
        for name, array in self._given.items():
            self._constants[name].values = array
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = os.path.join(folder, "model.onnx")
            save(self._graph, path, do_type_check=False)
            self.engine._refit(path, native_log(self.logger))
        self._given = {}


def _weights_of(graph):
    """(layer, role, name) of all weights of a model, as a network that is parsed from it has them."""
    rows = {}
    for node in graph.nodes:
        is_window = node.op in ("Conv", "ConvTranspose")
        for place, tensor in enumerate(node.inputs):
            if type(tensor).__name__ != "Constant":
                continue
            role = {1: "KERNEL", 2: "BIAS"}.get(place) if is_window else None
            rows.setdefault(tensor.name, (node.name if role else tensor.name, role or "CONSTANT", tensor.name))
    return list(rows.values())


def _is_absent(constant):
    tensor = getattr(constant._values, "tensor", None)
    if not isinstance(tensor, _native.Array) or tensor.type == "string":
        return False
    try:
        memoryview(tensor).release()
    except BufferError:
        return True
    return False


class OnnxParserRefitter(ModelInParts, NoOpContext):
    """Refits an engine with the weights of an ONNX model, which are matched by name."""

    def __init__(self, refitter, logger) -> None:
        self.refitter = refitter
        self.logger = logger
        self._errors: list = []

    num_errors = property(lambda self: len(self._errors))

    def get_error(self, index):
        return self._errors[index]

    def clear_errors(self) -> None:
        self._errors = []

    def refit_from_file(self, path):
        """Whether the weights of the file fit; the refitter has to refit the engine then."""
        return self._take(lambda: _native.load_model(str(path), "", False, native_log(self.logger)))

    def refit_from_bytes(self, model, path=None):
        """Likewise of the bytes of a file."""
        return self._take(lambda: _native.model_from_bytes(bytes(model)))

    def refit_model_proto(self):
        """Likewise of what load_model_proto() loaded."""
        return self._take(self._whole)

    def _fail(self, text, code):
        self._errors.append(ParserError(text, code))
        return False

    def _take(self, load):
        from assay.graphsurgeon import import_onnx

        try:
            tensors = import_onnx(load()).tensors()
            for name in self.refitter.get_all_weights():
                if name in tensors and type(tensors[name]).__name__ == "Constant":
                    self.refitter._given[name] = self.refitter._fitting(name, tensors[name].values)
        except PolygraphyException as error:
            self._errors.append(ParserError(str(error), ErrorCode.INVALID_VALUE))
            return False
        return True
