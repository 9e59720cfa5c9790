"""Graphs of ONNX models."""

from __future__ import annotations

from assay import _native
from assay.graphsurgeon.importers import protos
from assay.graphsurgeon.importers.base_importer import BaseImporter
from assay.graphsurgeon.importers.protos import (get_itemsize, get_numpy_type, get_onnx_tensor_dtype,
                                                 get_onnx_tensor_shape, get_onnx_tensor_type)
from assay.graphsurgeon.importers.reader import Importer
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

__all__ = ["OnnxImporter", "get_itemsize", "get_numpy_type", "get_onnx_tensor_dtype", "get_onnx_tensor_shape",
           "get_onnx_tensor_type", "import_onnx"]


@misc.without_collections()
def import_onnx(onnx_model) -> Graph:
    """The graph of a model: of ours, of the package onnx, of a path, or of bytes."""
    from assay.model import native_of

    found = _native.read_graph(native_of(onnx_model))
    importer = Importer(found)
    functions = [importer.function(each) for each in found["functions"]]
    importer.functions = functions
    graph = importer.graph(found["graph"], functions=functions, producer_name=found["producer_name"],
                           producer_version=found["producer_version"], ir_version=found["ir_version"])
    graph._model_fields = {name: found[name] for name in ("domain", "model_version", "doc", "metadata")}
    return graph


class OnnxImporter(BaseImporter):
    """Makes graphs and their parts of messages of the package onnx."""

    import_attributes = staticmethod(protos.import_attributes)
    import_function = staticmethod(protos.import_function)
    import_node = staticmethod(protos.import_node)
    import_tensor = staticmethod(protos.import_tensor)

    @staticmethod
    def get_opset(model_or_func):
        """The version of ONNX's own operators that a ModelProto or FunctionProto imports; None: it does not say."""
        versions = [each.version for each in model_or_func.opset_import if each.domain in ("", "ai.onnx")]
        if not versions:
            G_LOGGER.warning(f"a {type(model_or_func).__name__} does not say which version of ONNX's operators it uses")
        return versions[0] if versions else None

    @staticmethod
    def get_import_domains(model_or_func):
        """What a ModelProto or FunctionProto imports."""
        return model_or_func.opset_import

    @staticmethod
    def import_graph(onnx_graph, *args, **kwargs) -> Graph:
        """The graph of a GraphProto; a whole model is taken too."""
        is_graph = hasattr(onnx_graph, "node")
        return protos.import_graph(onnx_graph, *args, **kwargs) if is_graph else import_onnx(onnx_graph)
