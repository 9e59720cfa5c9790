"""A draw as an ONNX model, and as files for a repetition."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

IR_VERSION = 10  # every element type but the newest; ONNX Runtime reads it


def type_of(value):
    if isinstance(value, list):
        element = type_of(value[0]) if value else helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)
        element.tensor_type.ClearField("shape")
        return helper.make_sequence_type_proto(element)
    return helper.make_tensor_type_proto(element_number(value), value.shape)


def element_number(array):
    if array.dtype == object:
        return onnx.TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def attribute_of(name, value):
    if isinstance(value, np.ndarray):
        value = numpy_helper.from_array(value)
    if isinstance(value, list) and not value:
        return onnx.AttributeProto(name=name, type=onnx.AttributeProto.INTS)
    return helper.make_attribute(name, value)


def input_name(index):
    return f"x{index}"


def model_of(draw):
    operands = [input_name(i) if value is not None else "" for i, value in enumerate(draw.inputs)]
    outputs = [f"y{i}" for i in range(draw.outputs)]
    node = helper.make_node(draw.op, operands[:draw.operands], outputs, domain=draw.domain, name="node")
    node.attribute.extend(attribute_of(name, value) for name, value in draw.attributes.items())
    given = [(name, value, i in draw.constants) for i, (name, value) in enumerate(zip(operands, draw.inputs)) if name]
    graph = helper.make_graph(
        [node], "draw",
        [helper.make_value_info(name, type_of(value)) for name, value, is_constant in given if not is_constant],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value, is_constant in given if is_constant])
    opsets = [helper.make_opsetid(draw.domain, draw.version)]
    if draw.domain:
        opsets.append(helper.make_opsetid("", draw.companion))
    ir_version = IR_VERSION if draw.domain or draw.version < 24 else 11
    return helper.make_model(graph, ir_version=ir_version, opset_imports=opsets)


def feeds_of(draw):
    return {input_name(i): value for i, value in enumerate(draw.inputs)
            if value is not None and i not in draw.constants}


def proto_of(value):
    return numpy_helper.from_list(value, dtype=1) if isinstance(value, list) else numpy_helper.from_array(value)


def save(model, feeds, folder):
    """model.onnx and input_N.pb, as ONNX's backend tests store them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pb"):
        old.unlink()
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    for i, value in enumerate(feeds.values()):
        (folder / f"input_{i}.pb").write_bytes(proto_of(value).SerializeToString())
    return path


def read_output(path, kind):
    if kind == "none":
        return None
    messages = {"tensor": (onnx.TensorProto, numpy_helper.to_array), "sequence": (onnx.SequenceProto, to_list),
                "map": (onnx.MapProto, to_dict)}
    message, convert = messages[kind]
    return convert(message.FromString(path.read_bytes()))


def to_dict(message):
    keys = [key.decode() for key in message.string_keys] or list(message.keys)
    return dict(zip(keys, numpy_helper.to_array(message.values.tensor_values[0]).reshape(-1).tolist()))


def to_list(message):
    if message.elem_type == onnx.SequenceProto.MAP:
        return [to_dict(item) for item in message.map_values]
    return numpy_helper.to_list(message)
