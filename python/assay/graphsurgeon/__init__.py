"""Graphs of ONNX models that can be edited, in the shape of ONNX GraphSurgeon.

Models are read, written and evaluated by native code; weights stay in their file until their values are asked for.
"""

from assay.graphsurgeon.exporters.onnx_exporter import export_onnx, save
from assay.graphsurgeon.graph_pattern import GraphPattern, PatternMapping
from assay.graphsurgeon.importers.onnx_importer import import_onnx
from assay.graphsurgeon.ir.function import Function
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant, Tensor, Variable
from assay.graphsurgeon.util.exception import OnnxGraphSurgeonException

__version__ = "0.6.1"  # whose names these are

__all__ = ["Constant", "Function", "Graph", "GraphPattern", "Node", "OnnxGraphSurgeonException", "PatternMapping",
           "Tensor", "Variable", "export_onnx", "import_onnx", "save"]
