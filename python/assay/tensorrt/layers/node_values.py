"""Attributes of layers that a parser made: what TensorRT's layers would say of the nodes."""

from assay.tensorrt import enums
from assay.tensorrt.dims import Dims

ACTIVATIONS = {"Relu": ("RELU", 0, 0), "Sigmoid": ("SIGMOID", 0, 0), "Tanh": ("TANH", 0, 0), "Softsign": ("SOFTSIGN", 0, 0),
               "LeakyRelu": ("LEAKY_RELU", 0.01, 0), "Elu": ("ELU", 1.0, 0), "ThresholdedRelu": ("THRESHOLDED_RELU", 1.0, 0),
               "Softplus": ("SOFTPLUS", 1.0, 1.0), "HardSigmoid": ("HARD_SIGMOID", 0.2, 0.5),
               "Selu": ("SELU", 1.67326319217681884765625, 1.05070102214813232421875), "Clip": ("CLIP", -3.4028234663852886e38, 3.4028234663852886e38)}
ELEMENTWISE = {"Add": "SUM", "Mul": "PROD", "Pow": "POW", "Sub": "SUB", "Div": "DIV", "Max": "MAX", "Min": "MIN", "And": "AND",
               "Or": "OR", "Xor": "XOR", "Equal": "EQUAL", "Greater": "GREATER", "Less": "LESS"}
UNARY = {"Reciprocal": "RECIP", "IsInf": "ISINF", "IsNaN": "ISNAN"}
REDUCTIONS = {"ReduceSum": "SUM", "ReduceProd": "PROD", "ReduceMax": "MAX", "ReduceMin": "MIN", "ReduceMean": "AVG"}
PADDING = {"SAME_UPPER": "SAME_UPPER", "SAME_LOWER": "SAME_LOWER"}


def values_of(node, rank):
    """Attributes by name; those of kinds that are not known here are left out. `rank`: of the first input, None if it
    cannot be told."""
    for kinds, function in ((("Conv", "ConvTranspose"), _convolution), (("MaxPool", "AveragePool"), _pooling)):
        if node.op in kinds:
            return function(node)
    if node.op in ACTIVATIONS:
        return _activation(node)
    if node.op in REDUCTIONS:
        return _reduction(node, rank)
    for table, kind in ((ELEMENTWISE, enums.ElementWiseOperation), (UNARY, enums.UnaryOperation)):
        word = table.get(node.op, node.op.upper())
        if word in kind.__members__ and (node.op in table or kind is enums.UnaryOperation):
            return {"op": kind[word]}
    return _others(node, rank)


def _constant(node, index):
    """The elements of an input that is known; None: it is not, or is left out."""
    tensor = node.inputs[index] if index < len(node.inputs) else None
    return getattr(tensor, "values", None)


def _window(node, count):
    pads = node.attrs.get("pads", [0] * (2 * count))
    mode = PADDING.get(node.attrs.get("auto_pad", ""), "EXPLICIT_ROUND_UP" if node.attrs.get("ceil_mode") else
                       "EXPLICIT_ROUND_DOWN")
    return {"stride_nd": Dims(node.attrs.get("strides", [1] * count)), "pre_padding": Dims(pads[:count]),
            "post_padding": Dims(pads[count:]), "padding_mode": enums.PaddingMode[mode]}


def _convolution(node):
    import numpy as np

    kernel, bias = _constant(node, 1), _constant(node, 2)
    shape = node.attrs.get("kernel_shape") or list(kernel.shape[2:] if kernel is not None else [])
    groups = node.attrs.get("group", 1)
    found = {**_window(node, len(shape)), "kernel_size_nd": Dims(shape), "num_groups": groups,
             "dilation_nd": Dims(node.attrs.get("dilations", [1] * len(shape))),
             "kernel": np.zeros(0, np.float32) if kernel is None else np.asarray(kernel).reshape(-1),
             "bias": np.zeros(0, np.float32) if bias is None else np.asarray(bias).reshape(-1)}
    if kernel is not None:
        found["num_output_maps"] = kernel.shape[0] if node.op == "Conv" else kernel.shape[1] * groups
    return found


def _pooling(node):
    shape = node.attrs.get("kernel_shape", [])
    kind = enums.PoolingType.MAX if node.op == "MaxPool" else enums.PoolingType.AVERAGE
    return {**_window(node, len(shape)), "type": kind, "window_size_nd": Dims(shape), "blend_factor": 0.0,
            "average_count_excludes_padding": not node.attrs.get("count_include_pad", 0)}


def _activation(node):
    word, alpha, beta = ACTIVATIONS[node.op]
    if node.op == "Clip":
        bounds = [_constant(node, 1), _constant(node, 2)]
        alpha, beta = (known if each is None else float(each) for known, each in zip((alpha, beta), bounds))
    return {"type": enums.ActivationType[word], "alpha": node.attrs.get("alpha", alpha),
            "beta": node.attrs.get("gamma" if node.op == "Selu" else "beta", beta)}


def _mask(axes, rank):
    return sum(1 << (each % rank) for each in axes) if rank else 0


def _reduction(node, rank):
    axes = node.attrs.get("axes", _constant(node, 1))
    axes = range(rank or 0) if axes is None else [int(each) for each in axes]
    return {"op": enums.ReduceOperation[REDUCTIONS[node.op]], "axes": _mask(axes, rank),
            "keep_dims": bool(node.attrs.get("keepdims", 1))}


def _others(node, rank):
    attrs = node.attrs
    if node.op == "Softmax":
        return {"axes": _mask([attrs.get("axis", -1)], rank)}
    if node.op == "Concat":
        return {"axis": attrs.get("axis", 0) % rank if rank else attrs.get("axis", 0)}
    if node.op == "Gather":
        return {"axis": attrs.get("axis", 0), "mode": enums.GatherMode.DEFAULT, "num_elementwise_dims": 0}
    if node.op == "MatMul":
        return {"op0": enums.MatrixOperation.NONE, "op1": enums.MatrixOperation.NONE}
    if node.op == "Cast":
        found = enums.DataType.of_number(attrs.get("to"))
        return {} if found is None else {"to_type": found}
    return {"equation": attrs["equation"]} if node.op == "Einsum" else {}
