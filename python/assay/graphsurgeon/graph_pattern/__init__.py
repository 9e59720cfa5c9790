"""Patterns of nodes, and where a graph has them."""

from assay.graphsurgeon.graph_pattern.graph_pattern import GraphPattern, PatternMapping

__all__ = ["GraphPattern", "PatternMapping"]
