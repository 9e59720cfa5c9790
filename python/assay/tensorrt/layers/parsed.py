"""Nodes of models that were parsed. Their properties may be changed until the network is built."""

from assay.exception import PolygraphyException
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.layers.node_values import values_of


class OnnxLayer(ILayer):
    """A node of a model that a parser read."""

    TYPES = {"Conv": "CONVOLUTION", "ConvTranspose": "DECONVOLUTION", "Gemm": "MATRIX_MULTIPLY",
             "MatMul": "MATRIX_MULTIPLY", "Softmax": "SOFTMAX", "Concat": "CONCATENATION", "Reshape": "SHUFFLE",
             "Transpose": "SHUFFLE", "Flatten": "SHUFFLE", "Slice": "SLICE", "Shape": "SHAPE", "Gather": "GATHER",
             "Identity": "IDENTITY", "Cast": "CAST", "Constant": "CONSTANT", "TopK": "TOPK", "Einsum": "EINSUM",
             "Resize": "RESIZE", "Pad": "PADDING", "Where": "SELECT", "NonZero": "NON_ZERO", "OneHot": "ONE_HOT",
             "QuantizeLinear": "QUANTIZE", "DequantizeLinear": "DEQUANTIZE", "LRN": "LRN", "PRelu": "PARAMETRIC_RELU",
             "LayerNormalization": "NORMALIZATION", "Squeeze": "SQUEEZE", "Unsqueeze": "UNSQUEEZE", "CumSum": "CUMULATIVE"}
    GROUPS = {"ACTIVATION": "Relu Sigmoid Tanh LeakyRelu Elu Selu Softsign Softplus Clip HardSigmoid ThresholdedRelu Gelu",
              "ELEMENTWISE": "Add Mul Sub Div Max Min Pow And Or Xor Equal Greater Less Mod Sum",
              "UNARY": "Exp Log Sqrt Reciprocal Abs Neg Sin Cos Tan Sinh Cosh Asin Acos Atan Ceil Floor Erf Not Sign Round",
              "POOLING": "MaxPool AveragePool GlobalAveragePool GlobalMaxPool",
              "REDUCE": "ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean"}

    WEIGHTED = ("Conv", "ConvTranspose", "Gemm")

    def __init__(self, network, index, node, inputs, outputs) -> None:
        self._node = node
        super().__init__(network, index, inputs, 0)
        self._outputs = outputs
        for tensor in outputs:
            tensor._layer = self
        self._kind = self.type_of(node.op)
        name = node.name or f"node_of_{outputs[0].name if outputs else index}"
        self._name, self._metadata = self._unused(name), f"[ONNX Layer: {name}]"

    def _unused(self, name):
        """The name, with a number where another layer has it."""
        taken, count, unused = self._network._named, 0, name
        while unused in taken:
            unused = f"{name}_{count}"
            count += 1
        return unused

    def _values(self):
        first = self.get_input(0)
        try:
            rank = None if first is None else len(first.shape)
        except RuntimeError:
            rank = None
        return values_of(self._node, rank)

    def _changed(self):
        raise PolygraphyException(f"`{self._name}` is a node of a parsed model, whose attributes cannot be changed; replace the "
                                  "layer, or edit the model with assay.graphsurgeon")

    @classmethod
    def type_of(cls, op):
        """The LayerType of an operator."""
        group = next((name for name, ops in cls.GROUPS.items() if op in ops.split()), "PLUGIN_V3")
        return LayerType[cls.TYPES.get(op, group)]

    def _emit(self, emitter):
        from assay.graphsurgeon.ir.node import Node
        from assay.graphsurgeon.ir.tensor import Constant

        inputs = []
        for given, tensor in zip(self._node.inputs, self._inputs):
            inputs.append(given if isinstance(given, Constant) and tensor._name == given.name else emitter.tensor(tensor))
        inputs += [emitter.tensor(each) for each in self._inputs[len(inputs):]]
        if self._node.op in self.WEIGHTED:
            emitter.weights += [(self._name, role, each.name) for role, each in zip(("KERNEL", "BIAS"), inputs[1:])
                                if isinstance(each, Constant)]
        names = iter(self._outputs)
        outputs = [each if each.is_empty() else emitter.tensor(next(names)) for each in self._node.outputs]
        emitter.nodes.append(Node(self._node.op, self._name, self._bodies(emitter), _copies(inputs, emitter), outputs,
                                  self._node.domain))

    def _bodies(self, emitter):
        from assay.graphsurgeon.ir.graph import Graph

        return {name: value.copy() if isinstance(value, Graph) else value for name, value in self._node.attrs.items()}


def _copies(tensors, emitter):
    """Constants of the parsed model as tensors of this graph, each once."""
    from assay.graphsurgeon.ir.tensor import Constant

    made = []
    for tensor in tensors:
        if isinstance(tensor, Constant):
            tensor = emitter.tensors.setdefault(("constant", tensor.name), tensor.copy())
        made.append(tensor)
    return made
