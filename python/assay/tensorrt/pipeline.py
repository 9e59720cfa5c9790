"""Engines with plugins: plans of the parts between them, which native code runs, and the plugins, which run here.

A file is MAGIC, the size of a header and the CRC-32 of all that follows, the header as JSON, and the bytes that it
refers to.
"""

import base64
import io
import json
import struct
import zlib

from assay import _native
from assay._arrays import to_numpy
from assay.exception import PolygraphyException
from assay.tensorrt.enums import TensorRTPhase
from assay.tensorrt.layers.plugin import DOMAIN
from assay.tensorrt.plugin_parts import Capabilities, measured, run_plugin
from assay.tensorrt.plugins import PluginField, PluginFieldCollection
from assay.tensorrt.quick_plugins import IPluginCreatorV3Quick

MAGIC = b"ASSAYPIP"
SIZE_AND_SUM = struct.Struct("<QI")


# Building.


class Parts:
    """The parts of a graph: what native code computes before the plugins, between them, and after."""

    def __init__(self, graph) -> None:
        self.graph = graph
        if any(node.domain == DOMAIN for body in graph.subgraphs(recursive=True) for node in body.nodes):
            raise PolygraphyException("plugins inside of loops and conditions are not there")
        graph.toposort()
        self.levels: dict = {}  # by the identity of a tensor: how many plugins are before it at most
        self.parts: dict = {}  # nodes and plugins by level
        for node in graph.nodes:
            self._place(node)

    def _place(self, node):
        from assay.graphsurgeon.ir.cleanup import all_inputs

        is_plugin = id(node) in self.graph._plugins
        level = max((self.levels.get(id(each), 0) for each in all_inputs(node)), default=0)
        nodes, plugins = self.parts.setdefault(level, ([], []))
        (plugins if is_plugin else nodes).append(node)
        for each in node.outputs:
            self.levels[id(each)] = level + is_plugin

    def steps(self):
        """Graphs and nodes of plugins, in the order in which they run."""
        for level in sorted(self.parts):
            nodes, plugins = self.parts[level]
            if nodes:
                yield self._part(nodes)
            yield from plugins

    def _part(self, nodes):
        from assay.graphsurgeon.ir.cleanup import all_inputs
        from assay.graphsurgeon.ir.tensor import Constant

        own = {id(node) for node in nodes}
        made = {id(each) for node in nodes for each in node.outputs}
        inputs, outputs = {}, {}
        for node in nodes:
            for each in all_inputs(node):
                is_outer = each.inputs or each in self.graph.inputs
                if id(each) not in made and is_outer and not isinstance(each, Constant):
                    inputs[id(each)] = each
            for each in node.outputs:
                if any(id(user) not in own for user in each.outputs) or each in self.graph.outputs:
                    outputs[id(each)] = each
        return self.graph._like(nodes, list(inputs.values()), list(outputs.values()))


def set_types(graph) -> None:
    """Gives all tensors the types that follow from those of inputs and plugins."""
    from assay.graphsurgeon import export_onnx
    from assay.graphsurgeon.ir.tensor import Variable

    found = _native.read_graph(_native.infer_shapes(export_onnx(graph, do_type_check=False).native))
    types = {name: type_of_value for name, type_of_value, _ in found["values"].values()}
    for name, tensor in graph.tensors().items():
        if isinstance(tensor, Variable) and types.get(name) is not None and tensor not in graph.inputs:
            _, tensor.dtype, tensor.shape = types[name]


def build(network, header, build_part):
    """The bytes of an engine. `build_part(model)` gives the plan of a part."""
    from assay.graphsurgeon import export_onnx

    graph = network._graph()
    set_types(graph)
    blobs, steps = [], []
    constants = {}
    for step in Parts(graph).steps():
        if hasattr(step, "nodes"):
            blobs.append(build_part(export_onnx(step, do_type_check=False).native))
            steps.append({"inputs": _names(step.inputs), "outputs": _names(step.outputs), "plan": len(blobs[-1])})
            continue
        for each in step.inputs:
            if type(each).__name__ == "Constant":
                constants[each.name] = each.values
        steps.append({"inputs": _names(step.inputs), "outputs": _names(step.outputs),
                      **_saved(graph._plugins[id(step)]), **_tactic(graph._plugins[id(step)], step)})
    blobs.append(_packed(constants))
    header = {**header, "steps": steps, "inputs": _ports(graph.inputs), "outputs": _ports(graph.outputs)}
    head = json.dumps(header).encode()
    body = b"".join([head, *blobs])
    return MAGIC + SIZE_AND_SUM.pack(len(head), zlib.crc32(body)) + body


def opened(data):
    """(header, what it refers to) of the bytes of an engine."""
    start = len(MAGIC) + SIZE_AND_SUM.size
    size, checksum = SIZE_AND_SUM.unpack_from(data, len(MAGIC)) if len(data) >= start else (0, None)
    body = memoryview(data)[start:]
    if zlib.crc32(body) != checksum:
        raise PolygraphyException("the engine is damaged")
    return json.loads(bytes(body[:size])), body[size:]


def _names(tensors):
    return [each.name for each in tensors]


def _ports(tensors):
    from assay.datatype import DataType as Shared
    from assay.graphsurgeon.ir.tensor import number_of

    return [[each.name, Shared.from_number(number_of(each.dtype)).native,
             None if each.shape is None else [dim if isinstance(dim, int) and dim >= 0 else None for dim in each.shape],
             False] for each in tensors]


def _packed(arrays):
    import numpy as np

    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _saved(parts):
    """What makes the plugin anew."""
    made = {"plugin": parts.key()}
    if not parts.is_v3:
        return {**made, "data": base64.b64encode(bytes(parts.plugin.serialize())).decode()}
    import numpy as np

    fields = {each.name: np.asarray(each.data) for each in parts.runtime.get_fields_to_serialize()}
    return {**made, "fields": base64.b64encode(_packed(fields)).decode()}


def _tactic(parts, node):
    """The tactic that is fastest for the shapes of the network; nothing where they are open, or where there is none."""
    arrays = [_example(each) for each in node.inputs]
    tactic = None if any(each is None for each in arrays) else measured(parts, arrays)
    return {} if tactic is None else {"tactic": tactic}


def _example(tensor):
    """Elements of a tensor: a constant's, or any; None: its shape is not known."""
    import numpy as np

    from assay.datatype import DataType as Shared
    from assay.graphsurgeon.ir.tensor import number_of

    if type(tensor).__name__ == "Constant":
        return np.asarray(tensor.values)
    if tensor.shape is None or any(not isinstance(dim, int) or dim < 0 for dim in tensor.shape):
        return None
    return np.zeros(tensor.shape, Shared.from_number(number_of(tensor.dtype)).numpy())


# Running.


def is_pipeline(data):
    """Whether the bytes are an engine with plugins."""
    return data[:len(MAGIC)] == MAGIC


class PipelineSession:
    """An engine with plugins, with what a session of native code has."""

    def __init__(self, data, open_plan) -> None:
        import numpy as np

        self.header, data = opened(data)
        self.inputs, self.outputs = ([tuple(each) for each in self.header[name]] for name in ("inputs", "outputs"))
        self.steps = []
        place = 0
        for step in self.header["steps"]:
            if "plan" in step:
                session = open_plan(bytes(data[place:place + step["plan"]]))
                place += step["plan"]
            else:
                session = _plugin(step)
            self.steps.append((step["inputs"], step["outputs"], session))
        self.constants = dict(np.load(io.BytesIO(data[place:])))


def _plugin(step):
    import numpy as np

    from assay.tensorrt.plugins import get_plugin_registry

    name, version, namespace = step["plugin"]
    creator = get_plugin_registry().get_creator(name, version, namespace)
    if creator is None:
        raise PolygraphyException(f"there is no creator of the plugin `{name}` of version {version}: register_creator() "
                                  "of the plugin registry takes one")
    if "data" in step:
        plugin = creator.deserialize_plugin(name, base64.b64decode(step["data"]))
        plugin.initialize()
        return Capabilities(plugin)
    arrays = np.load(io.BytesIO(base64.b64decode(step["fields"])))
    fields = PluginFieldCollection(PluginField(each, arrays[each]) for each in arrays)
    names = (name, namespace) if isinstance(creator, IPluginCreatorV3Quick) else (name,)
    parts = Capabilities(creator.create_plugin(*names, fields, TensorRTPhase.RUNTIME))
    if "tactic" in step:
        parts.is_open = False
        parts.runtime.set_tactic(step["tactic"])
    return parts


class PipelineExecution:
    """One context of such an engine, with what an execution of native code has."""

    def __init__(self, session) -> None:
        self.session = session
        self.seconds = 0.0
        self.executions = [step if isinstance(step, Capabilities) else _native.Execution(step)
                           for _, _, step in session.steps]

    def follow(self, stream) -> None:
        """A run is over when it returns."""

    def run(self, feeds, names=None):
        """Arrays of outputs."""
        import time

        import numpy as np

        start = time.perf_counter()
        values = {**self.session.constants, **{name: np.ascontiguousarray(each) for name, each in feeds.items()}}
        for (inputs, outputs, _), execution in zip(self.session.steps, self.executions):
            given = {name: values[name] for name in inputs}
            if isinstance(execution, Capabilities):
                values.update(zip(outputs, run_plugin(execution, list(given.values()))))
            else:
                values.update((name, to_numpy(each)) for name, each in execution.run(given, outputs).items())
        self.seconds = time.perf_counter() - start
        return {name: values[name] for name in names or [each[0] for each in self.session.outputs]}

    def bind_at(self, inputs, outputs) -> None:
        """Runs by run_bound() read inputs and write outputs at these addresses."""
        types = {each[0]: each[1] for each in self.session.inputs}
        self.feeds = {name: to_numpy(_native.array_at(address, types[name], shape)) for name, address, shape in inputs}
        self.places = outputs

    def run_bound(self) -> None:
        found = self.run(self.feeds, [name for name, _, _ in self.places])
        for name, address, shape in self.places:
            if list(found[name].shape) != list(shape):
                raise PolygraphyException(f"the output `{name}` has the shape {found[name].shape}, expected {shape}")
            _native.copy_memory(address, found[name].ctypes.data, found[name].nbytes)

    def profile(self):
        return []
