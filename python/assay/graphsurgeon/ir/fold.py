"""Computes what is the same in every run of a graph. What is computed is computed by native code."""

from dataclasses import dataclass

from assay import _native
from assay._arrays import to_numpy
from assay.graphsurgeon.ir.casts import drop_casts
from assay.graphsurgeon.ir.flatten import flatten_ifs
from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.shapes import known_shape_results
from assay.graphsurgeon.ir.tensor import Constant, LazyValues, dtype_of
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

# Quantisers stay for who reads the model; what draws numbers draws others in every run.
NEVER = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "RandomNormal", "RandomNormalLike",
         "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
LARGE = 1 << 20  # bytes of a result that is told of
SMALL = 1 << 12  # bytes of operands whose results are kept although nothing needs them any more


@dataclass
class FoldOptions:
    """The arguments of Graph.fold_constants."""

    fold_shapes: bool = True
    recurse_subgraphs: bool = True
    partitioning: str | None = None
    error_ok: bool = True
    flatten_subgraphs: bool = True
    size_threshold: int | None = None
    should_exclude_node: object = None
    recurse_functions: bool = True


@misc.finite_bodies()
def fold_constants(graph, options):
    """See Graph.fold_constants."""
    if options.partitioning not in (None, "basic", "recursive"):
        G_LOGGER.critical(f"there is no partitioning `{options.partitioning}`; known are basic and recursive")
    constant_nodes(graph)
    if options.fold_shapes:
        drop_casts(graph)
    _fold_until_nothing_changes(graph, options)
    if options.recurse_subgraphs:
        for body in graph.subgraphs():
            fold_constants(body, FoldOptions(**{**vars(options), "recurse_functions": False}))
    if options.flatten_subgraphs:
        flatten_ifs(graph)
    if options.recurse_functions:
        for function in graph.functions:
            fold_constants(function, FoldOptions(**{**vars(options), "recurse_functions": False}))
    return graph


def constant_nodes(graph) -> None:
    """Results of Constant nodes become constants."""
    import numpy as np

    types = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    for node in graph.nodes:
        if node.op != "Constant" or len(node.attrs) != 1 or not node.outputs:
            continue
        (name, value), = node.attrs.items()
        if isinstance(value, Node.AttributeRef):
            continue
        if name == "value" and isinstance(value, Constant):
            values = value._values
        elif name in types:
            values = np.array(value, dtype=types[name])
        else:
            G_LOGGER.warning(f"the attribute `{name}` of a Constant node is left as it is")
            continue
        _become_constant(node.outputs[0], values)


def _become_constant(tensor, values):
    tensor.inputs.clear()
    tensor.to_constant(values)


def _fold_until_nothing_changes(graph, options):
    refused = set()  # nodes that could not be evaluated, or whose results are too large
    asked = {}
    while True:
        if options.fold_shapes:
            for tensor, values in known_shape_results(graph, options.error_ok):
                _become_constant(tensor, values)
        nodes, known = _foldable(graph, options, refused, asked)
        frontier = _frontier(graph, nodes, known, options.size_threshold)
        if not nodes or not frontier:
            return
        results = _evaluate(graph, frontier, nodes, options, _inner(graph, nodes, frontier))
        refused.update(nodes)
        if not results or not _write_back(results, options) or not options.fold_shapes:
            return


def _may_fold(node, options, asked):
    if node.op in NEVER or node.op == "Constant" or not node.outputs:
        return False
    if any(isinstance(each, Node.AttributeRef) for each in node.attrs.values()):
        return False
    if options.should_exclude_node is None:
        return True
    if id(node) not in asked:
        asked[id(node)] = not options.should_exclude_node(node)
    return asked[id(node)]


def _reads(node):
    """What the node needs to be known: its inputs, and what its bodies take from outside of them."""
    yield from (each for each in node.inputs if not each.is_empty())
    for body in node.subgraphs(recursive=True):
        own = {id(each) for each in body.inputs}
        for each in body.nodes:
            own.update(id(output) for output in each.outputs)
        inner = {id(tensor) for other in node.subgraphs(recursive=True) for each in other.nodes
                 for tensor in each.outputs}
        inner.update(id(tensor) for other in node.subgraphs(recursive=True) for tensor in other.inputs)
        for each in body.nodes:
            yield from (tensor for tensor in each.inputs
                        if not tensor.is_empty() and id(tensor) not in own and id(tensor) not in inner)


def _has_references(node):
    """Whether a body refers to attributes of the function that the node stands in."""
    return any(isinstance(value, Node.AttributeRef) for body in node.subgraphs(recursive=True) for each in body.nodes
               for value in each.attrs.values())


def _foldable(graph, options, refused, asked):
    """Identities of nodes whose operands are all known, with the nodes; in any order of the graph's nodes."""
    found, known = {}, set()
    waiting = {}
    ready = []
    for node in graph.nodes:
        needed = {id(each) for each in _reads(node) if not isinstance(each, Constant)}
        if id(node) in refused or _has_references(node):
            continue
        if not needed:
            ready.append(node)
        for each in needed:
            waiting.setdefault(each, []).append((node, needed))
    while ready:
        node = ready.pop()
        if id(node) in found or not _may_fold(node, options, asked):
            continue
        found[id(node)] = node
        for output in node.outputs:
            known.add(id(output))
            for other, needed in waiting.get(id(output), ()):
                needed.discard(id(output))
                if not needed:
                    ready.append(other)
    return found, known


def _frontier(graph, nodes, known, size_threshold):
    """Known tensors that something unknown reads, or nothing; those that are too large for sure are left out."""
    found = []
    for node in graph.nodes:
        if id(node) not in nodes:
            continue
        for tensor in node.outputs:
            if tensor.is_empty() or isinstance(tensor, Constant):
                continue
            readers = [each for each in tensor.outputs]
            if readers and all(id(each) in nodes for each in readers):
                continue
            if size_threshold is None or (_declared_bytes(tensor) or 0) <= size_threshold:
                found.append(tensor)
    return found


def _declared_bytes(tensor):
    import numpy as np

    if tensor.dtype is None or tensor.shape is None or misc.is_dynamic_shape(tensor.shape) or \
            isinstance(tensor.dtype, int):
        return None
    return misc.volume(tensor.shape) * np.dtype(tensor.dtype).itemsize


def _inner(graph, nodes, frontier):
    """Known tensors that only known nodes read, where what they are computed from is small; they become constants too."""
    at_frontier = {id(each) for each in frontier}
    small, found = set(), []
    for node in graph.nodes:
        if id(node) not in nodes or not all(_is_small(each, small) for each in _reads(node)):
            continue
        small.update(id(each) for each in node.outputs)
        found.extend(each for each in node.outputs
                     if not each.is_empty() and not isinstance(each, Constant) and id(each) not in at_frontier)
    return found


def _is_small(tensor, known):
    return tensor._values.nbytes <= SMALL if isinstance(tensor, Constant) else id(tensor) in known


def _evaluate(graph, frontier, nodes, options, inner):
    """(tensor, values) by identity of tensors; those that cannot be computed are left out."""
    try:
        return _run(graph, [*frontier, *inner], nodes)
    except _native.Error as error:
        if not options.error_ok:
            raise
        if options.partitioning is None:
            G_LOGGER.warning(f"constants are not folded: {error}; `partitioning` folds what can be computed")
            return {}
    results = {}
    for tensor in frontier:
        try:
            results.update(_run(graph, [tensor], nodes))
        except _native.Error as error:
            G_LOGGER.warning(f"`{tensor.name}` is not folded: {error}")
            if options.partitioning == "recursive":
                results.update(_ancestors(graph, tensor, nodes))
    return results


def _ancestors(graph, tensor, nodes):
    """What can be computed of the operands of a tensor that cannot."""
    results, waiting, seen = {}, [tensor], set()
    while waiting:
        for operand in [each for node in waiting.pop().inputs for each in node.inputs]:
            if id(operand) in seen or isinstance(operand, Constant) or operand.is_empty():
                continue
            seen.add(id(operand))
            try:
                results.update(_run(graph, [operand], nodes))
            except _native.Error:
                waiting.append(operand)
    return results


def _run(graph, wanted, nodes):
    from assay.graphsurgeon.exporters.onnx_exporter import _Exporter, _header
    from assay.graphsurgeon.ir.graph import Graph
    from assay.graphsurgeon.ir.toposort import _producers, by_level

    needed, waiting = {}, list(wanted)
    while waiting:
        for node in waiting.pop().inputs:
            if id(node) in nodes and id(node) not in needed:
                needed[id(node)] = node
                waiting.extend(_reads(node))
    ordered = [node for node in graph.nodes if id(node) in needed]
    ordered = by_level(ordered, _producers(ordered), lambda node: f"`{node.name}` ({node.op})")
    part = Graph(ordered, [], list(wanted), "folded", "", graph.opset, graph.import_domains,
                 ir_version=graph.ir_version)
    part._functions = graph._functions
    exporter = _Exporter(part, False, _header(part, {}))
    number = exporter.builder.add_graph("folded", "")
    exporter.fill(number, part, {}, False)
    from assay.graphsurgeon.exporters.onnx_exporter import _function

    exporter.skips_dead = True
    for function in graph.functions:
        _function(exporter, function)
    model = exporter.builder.finish("the constants of a graph")
    execution = _native.Execution(_native.prepare(model, _native.Wanted("ref"), G_LOGGER.native))
    values = execution.run({}, [each.name for each in wanted])
    return {id(each): (each, values[each.name]) for each in wanted}


def _write_back(results, options):
    """Whether anything became a constant."""
    changed, large = False, []
    for tensor, array in results.values():
        if options.size_threshold is not None and array.nbytes > options.size_threshold:
            continue
        if options.size_threshold is None and array.nbytes > LARGE:
            large.append(tensor.name)
        dtype = dtype_of(array.number)
        values = LazyValues(array) if isinstance(dtype, int) else to_numpy(array)
        _become_constant(tensor, values)
        changed = True
    if large:
        G_LOGGER.warning(f"folding made constants of more than 1 MiB: {large}; `size_threshold` leaves them as they are")
    return changed
