"""Parts of assay.graphsurgeon."""

from assay.graphsurgeon.ir import function, graph, node, tensor

__all__ = ["function", "graph", "node", "tensor"]
