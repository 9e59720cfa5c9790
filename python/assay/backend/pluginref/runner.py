"""Runs every operator on the interpreter of native code, or as a function of the user's own says."""

import time
from collections import OrderedDict

from assay import mod
from assay.backend.base.loader import given
from assay.backend.pluginref.references import OP_REGISTRY
from assay.session import BackendRunner, Session

TYPE_CHECKING = False
if TYPE_CHECKING:  # made by export()
    __all__: list[str]


@mod.export()
class PluginRefRunner(BackendRunner):
    """Runs a graph of assay.graphsurgeon, or any model, operator by operator.

    Operators that `references.register` knows a function for are computed by that, which goes for graphs only.
    """

    def __init__(self, graph, name=None) -> None:
        super().__init__(graph, "ref", name)
        self.graph = None
        if name is None:
            self.name = self.name.replace("ref-runner", "pluginref-runner", 1)

    def activate_impl(self):
        model = given(self._model)
        if hasattr(model, "nodes") and any(node.op in OP_REGISTRY for node in model.nodes):
            self.graph = model.toposort()
            return
        self.session = Session(model, "ref", {}, [])
        self._metadata = self.session.input_metadata
        self._names = self.session.output_names

    def deactivate_impl(self) -> None:
        super().deactivate_impl()
        self.graph = None

    def get_input_metadata_impl(self):
        from assay.backend.onnx.util import meta_from_gs_tensors

        return self._metadata if self.graph is None else meta_from_gs_tensors(self.graph.inputs)

    def infer_impl(self, feed_dict):
        if self.graph is None:
            return super().infer_impl(feed_dict)
        start = time.perf_counter()
        known = dict(feed_dict)
        for node in self.graph.nodes:
            known.update(OP_REGISTRY.get(node.op, self._on_reference)(node, known))
        self.inference_time = time.perf_counter() - start
        return OrderedDict((each.name, known[each.name]) for each in self.graph.outputs)

    def _on_reference(self, node, known):
        """The results of one node that nothing is registered for."""
        from assay.graphsurgeon import Constant, Graph, Variable

        operands = [Constant(each.name, known[each.name]) if each.name in known else each.copy() for each in node.inputs]
        results = [Variable(each.name, each.dtype) for each in node.outputs]
        outer = {name: Constant(name, value) for name, value in known.items()} if node.attrs else {}
        part = Graph([node.copy(operands, results, outer)], [], [each for each in results if each.name],
                     opset=self.graph.opset, import_domains=self.graph.import_domains, functions=self.graph.functions)
        session = Session(part, "ref", {}, [])
        return dict(zip(session.output_names, session.run(None, {})))
