"""Puts nodes, and functions, after those that they depend on."""

from assay.graphsurgeon.ir.cleanup import all_inputs
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util.misc import finite_bodies, without_collections


@finite_bodies()
@without_collections()
def toposort(graph, recurse_subgraphs, recurse_functions, mode):
    """See Graph.toposort."""
    if mode not in ("full", "nodes", "functions"):
        G_LOGGER.critical(f"there is no mode `{mode}` of sorting; known are full, nodes and functions")
    if mode in ("full", "nodes"):
        if recurse_subgraphs:
            for body in graph.subgraphs():
                body.toposort(recurse_subgraphs=True, recurse_functions=False, mode="nodes")
        graph.nodes[:] = by_level(graph.nodes, _producers(graph.nodes), lambda node: f"`{node.name}` ({node.op})")
    if recurse_functions and mode in ("full", "nodes"):
        for function in graph.functions:
            function.toposort(recurse_subgraphs=recurse_subgraphs, mode="nodes")
    if mode in ("full", "functions"):
        graph._merge_functions()
        functions = graph.functions
        functions[:] = by_level(functions, _callees(functions), lambda each: f"the function `{each.name}`")
    return graph


def by_level(items, dependencies, describe):
    """Items by their longest distance from those that depend on nothing; otherwise in their order."""
    levels = _levels_in_order(dependencies)
    for start in range(len(items)):
        if levels[start] is not None:
            continue
        path = [(start, iter(dependencies[start]))]
        on_path = {start}
        while path:
            index, rest = path[-1]
            nearest = next((each for each in rest if levels[each] is None), None)
            if nearest is None:
                levels[index] = 1 + max((levels[each] for each in dependencies[index]), default=-1)
                on_path.remove(index)
                path.pop()
            elif nearest in on_path:
                G_LOGGER.critical(f"there is a cycle through {describe(items[nearest])}; are there two tensors of one "
                                  "name?")
            else:
                on_path.add(nearest)
                path.append((nearest, iter(dependencies[nearest])))
    order = sorted(range(len(items)), key=levels.__getitem__)
    return [items[index] for index in order]


def _levels_in_order(dependencies):
    """Levels of items that stand after what they depend on; None for those that do not."""
    levels = []
    for needed in dependencies:
        if not needed:
            levels.append(0)
            continue
        place = len(levels)
        known = [levels[each] for each in needed if each < place]
        levels.append(1 + max(known) if len(known) == len(needed) and None not in known else None)
    return levels


def _producers(nodes):
    places = {id(node): index for index, node in enumerate(nodes)}
    found = []
    for node in nodes:
        needed = []
        for tensor in all_inputs(node):
            for each in tensor._inputs:
                place = places.get(id(each))
                if place is not None:
                    needed.append(place)
        found.append(needed)
    return found


def _callees(functions):
    places = {each.unique_id: index for index, each in enumerate(functions)}
    found = []
    for function in functions:
        graphs = [function, *function.subgraphs(recursive=True)]
        called = [(node.domain, node.op) for graph in graphs for node in graph.nodes]
        found.append([places[each] for each in called if each in places])
    return found
