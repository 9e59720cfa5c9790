"""The parser of ONNX models."""

from __future__ import annotations

import re

from assay import _native
from assay.tensorrt.dims import NoOpContext
from assay.tensorrt.enums import DataType, ErrorCode, OnnxParserFlag, PluginFieldType, TensorRTPhase
from assay.tensorrt.generations import IS_STRICT
from assay.tensorrt.initializers import ModelInParts
from assay.tensorrt.layers import OnnxLayer
from assay.tensorrt.layers.plugin import IPluginV2Layer, IPluginV3Layer
from assay.tensorrt.logger import native_log, say
from assay.tensorrt.plugins import (IPluginCreatorV3One, IPluginV3, PluginField, PluginFieldCollection,
                                    get_plugin_registry)
from assay.tensorrt.quick_plugins import IPluginCreatorV3Quick

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    import os
    from typing import Any


class ParserError:
    """What is wrong with a model."""

    def __init__(self, description, code=ErrorCode.INVALID_GRAPH, node=-1, node_name="", operator="") -> None:
        self._parts = (description, code, node, node_name, operator)

    def desc(self) -> str:
        return self._parts[0]

    def code(self):
        return self._parts[1]

    def node(self):
        return self._parts[2]

    def node_name(self):
        return self._parts[3]

    def node_operator(self):
        return self._parts[4]

    def file(self):
        return ""

    def func(self):
        return ""

    def local_function_stack(self):
        return []

    def local_function_stack_size(self):
        return 0

    def line(self):
        return 0

    def __str__(self):
        where = f"In node {self._parts[2]} ({self._parts[3]}): " if self._parts[3] else ""
        return f"{where}{self._parts[1].name}: {self._parts[0]}"

    __repr__ = __str__


class OnnxParser(ModelInParts, NoOpContext):
    """Puts the layers of an ONNX model into a network."""

    flags = 1 << int(OnnxParserFlag.NATIVE_INSTANCENORM)

    def __init__(self, network, logger) -> None:
        self.network = network
        self.logger = logger
        self._errors: list = []
        self._subgraphs: list = []
        self._faulty: set = set()  # numbers of nodes that cannot be parsed

    num_errors = property(lambda self: len(self._errors))

    def get_error(self, index: int) -> ParserError | Any:
        """None, which the logger is told, if there is none of that number."""
        if 0 <= index < len(self._errors):
            return self._errors[index]
        say(self.logger, f"the parser has {len(self._errors)} errors, not one of the number {index}")
        return None

    def clear_errors(self) -> None:
        self._errors = []

    def set_builder_config(self, builder_config):
        """True: nothing of a configuration changes what is parsed."""
        return True

    def set_flag(self, flag) -> None:
        self.flags |= 1 << int(flag)

    def clear_flag(self, flag) -> None:
        self.flags &= ~(1 << int(flag))

    def get_flag(self, flag):
        return bool(self.flags >> int(flag) & 1)

    def parse_from_file(self, path: str | os.PathLike) -> bool:
        """Whether the file's model could be read; if not, the errors say why."""
        return self._parse(lambda: _native.load_model(str(path), "", False, native_log(self.logger)))

    def parse(self, model, path: str | os.PathLike | None = None) -> bool:
        """Likewise of the bytes of a file."""
        if path is not None:
            return self.parse_from_file(path)
        data = model if isinstance(model, (bytes, bytearray, memoryview)) else model.SerializeToString()
        return self._parse(lambda: _native.model_from_bytes(data))

    parse_with_weight_descriptors = parse

    def parse_model_proto(self) -> bool:
        """Parses what load_model_proto() loaded."""
        return self._parse(self._whole)

    def _fail(self, text, code):
        self._errors.append(ParserError(text, code))
        return False

    def supports_model(self, model, path=None):
        """(whether the engine runs the model, [(nodes, whether it runs them)])."""
        is_whole = self.supports_model_v2(model, path)
        return is_whole, list(self._subgraphs)

    def supports_model_v2(self, model, path=None):
        """Whether the engine runs the model. Subgraphs are runs of nodes, by number, that are supported or not."""
        from assay.model import native_of

        other = OnnxParser(type(self.network)(self.logger), self.logger)
        is_whole = other.parse(model, path)
        self._errors = other._errors
        self._subgraphs = []
        try:
            count = len(_native.read_graph(native_of(path or model))["graph"][5])
        except _native.Error:
            return False
        for index in range(count):
            fits = index not in other._faulty
            if not self._subgraphs or self._subgraphs[-1][1] != fits:
                self._subgraphs.append(([], fits))
            self._subgraphs[-1][0].append(index)
        return is_whole

    num_subgraphs = property(lambda self: len(self._subgraphs))

    def is_subgraph_supported(self, index):
        return self._subgraphs[index][1]

    def get_subgraph_nodes(self, index):
        return self._subgraphs[index][0]

    def get_layer_output_tensor(self, name, i):
        """An output of the layer of a node; None: there is none."""
        layer = next((each for each in self.network if each.name == name), None)
        return None if layer is None else layer.get_output(i)

    def get_used_vc_plugin_libraries(self):
        return []

    def supports_operator(self, op_name):
        """Whether there is an operator of that name."""
        text = f'<ir_version: 8, opset_import: ["" : 18]> g () => (float y) {{ y = {op_name} () }}'
        return not any(code == "unknown_operator" or "no released" in message
                       for _, code, _, message in _native.model_from_text(text).findings)

    def _parse(self, load):
        try:
            native = load()
        except _native.Error as error:
            self._errors.append(ParserError(str(error), ErrorCode.MODEL_DESERIALIZE_FAILED))
            return False
        plugins = {f"has no operator `{each.name}`" for each in get_plugin_registry()._creators.values()}
        faults = [each for each in native.findings if each[0] == 2 and not any(text in each[3] for text in plugins)]
        nodes = _native.read_graph(native)["graph"][5] if faults else []
        for _, _, name, message in faults:
            places = _places(nodes, name, message)
            op, _, name = nodes[places[0]][:3] if places else ("", "", name)
            self._errors.append(ParserError(message, node=places[0] if places else -1, node_name=name, operator=op))
            self._faulty.update(places)
        if faults:
            return False
        self._fill(native)
        return True

    def _fill(self, native):
        from assay.graphsurgeon import import_onnx
        from assay.graphsurgeon.ir.tensor import number_of

        graph = import_onnx(native)
        network = self.network
        network._parsed = graph
        if graph.name and not IS_STRICT:  # the newest generation leaves the network its own
            network.name = graph.name
        known = {}
        for tensor in graph.inputs:
            dims = tensor.shape if tensor.shape is not None else []
            dtype = DataType.of_number(number_of(tensor.dtype)) or DataType.FLOAT
            made = network.add_input(tensor.name, dtype,
                                     [each if isinstance(each, int) else -1 for each in dims])
            made._dim_names = {i: each for i, each in enumerate(dims) if isinstance(each, str)}
            made._number = number_of(tensor.dtype) or 1
            known[tensor.name] = made
        for node in graph.nodes:
            network._append(self._layer(network, node, known))
        for tensor in graph.outputs:
            network.mark_output(self._tensor(network, tensor, known))
        network._changed()

    def _layer(self, network, node, known):
        inputs = [None if each.is_empty() else self._tensor(network, each, known) for each in node.inputs]
        outputs = [self._tensor(network, each, known) for each in node.outputs if not each.is_empty()]
        plugin = _plugin_of(node)
        if plugin is None:
            return OnnxLayer(network, len(network._layers), node, inputs, outputs)
        kind = IPluginV3Layer if isinstance(plugin, IPluginV3) else IPluginV2Layer
        return kind._of_node(network, node.name, inputs, outputs, plugin)

    @staticmethod
    def _tensor(network, tensor, known):
        if tensor.name not in known:
            known[tensor.name] = network._new_tensor(tensor.name)
        return known[tensor.name]


def _places(nodes, name, message):
    """Numbers of the nodes that a finding is about: those of its name, or all of an operator that is not known."""
    unknown = re.match(r"domain `(.*)` has no operator `(.*)`:", message)
    if unknown is None:
        return [i for i, node in enumerate(nodes) if name and node[2] == name]
    return [i for i, node in enumerate(nodes) if (node[1] or "ai.onnx", node[0]) == unknown.groups()]


def _plugin_of(node):
    """The plugin that stands for a node, with its attributes as fields; None: its operator has no creator."""
    import numpy as np

    version, namespace = (node.attrs.get(name, default) for name, default in (("plugin_version", "1"),
                                                                              ("plugin_namespace", "")))
    creator = get_plugin_registry().get_creator(node.op, version, namespace)
    if creator is None:
        return None
    fields = PluginFieldCollection()
    for name, value in node.attrs.items():
        if isinstance(value, str):
            fields.append(PluginField(name, value.encode(), PluginFieldType.CHAR))
        elif isinstance(value, (int, float, list)):
            array = np.atleast_1d(np.array(value))
            is_float = array.dtype.kind == "f"
            fields.append(PluginField(name, array.astype(np.float32 if is_float else np.int32),
                                      PluginFieldType.FLOAT32 if is_float else PluginFieldType.INT32))
    phase = (TensorRTPhase.BUILD,) if isinstance(creator, IPluginCreatorV3One) else ()
    if isinstance(creator, IPluginCreatorV3Quick):
        own = PluginFieldCollection(each for each in fields if each.name not in ("plugin_version", "plugin_namespace"))
        return creator.create_plugin(node.op, namespace, own, TensorRTPhase.BUILD)
    return creator.create_plugin(node.name, fields, *phase)
