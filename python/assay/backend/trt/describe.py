"""Networks, configurations and engines as text."""

import json

from assay import tensorrt as trt
from assay import util
from assay.backend.trt.metadata import (get_layer_input_names_meta, get_layer_output_names_meta,
                                        get_metadata_from_engine, get_network_input_names_meta,
                                        get_network_output_names_meta)
from assay.common import TensorMetadata


def get_layer_class_mapping():
    """Classes of layers by their type; scripts give a layer of a network its class so: `layer.__class__ = …`."""
    classes = [each for each in vars(trt).values() if isinstance(each, type) and issubclass(each, trt.ILayer)]
    found = {each._TYPE: each for each in classes if "_TYPE" in vars(each) and each is not trt.ILayer}
    return {each: found[each] for each in trt.LayerType if each in found}


def str_from_tensor(tensor, is_shape_tensor):
    """An input in a line."""
    word = "shape-tensor" if is_shape_tensor else "tensor"
    return f"Input {word}: {tensor.name} (dtype={tensor.dtype}, shape={tensor.shape})"


def _layer_lines(index, name, op, inputs, outputs):
    rows = [f"Layer {index:<4} | {name} [Op: {op}]"]
    return "\n".join([*rows, util.indent_block(str(inputs)), util.indent_block(f"-> {outputs}")])


def str_from_layer(layer, index):
    """A layer with its inputs and outputs."""
    return _layer_lines(index, layer.name, layer.type, get_layer_input_names_meta(layer)[1],
                        get_layer_output_names_meta(layer)[1])


def _attributes(layer):
    """Names of what layers of this kind have, and others have not."""
    common = set(dir(trt.ILayer)) - ({"type"} if "type" in vars(type(layer)) else set())
    return [each for each in dir(layer) if each.islower() and not each.startswith("_") and each not in common and
            not callable(getattr(type(layer), each, None))]


def _attribute_lines(layer, show_weights):
    typed = object.__new__(get_layer_class_mapping().get(layer.type, trt.ILayer))
    typed.__dict__ = layer.__dict__
    for name in _attributes(typed):
        try:
            value = getattr(typed, name)
        except (AttributeError, RuntimeError):  # not known of a node of a parsed model
            continue
        if show_weights or not isinstance(value, trt.Weights) and not hasattr(value, "__array_interface__"):
            yield util.indent_block(f"{layer.name}.{name} = {value}")


def str_from_network(network, show_layers=None, show_attrs=None, show_weights=None):
    """A network: its inputs, outputs, and if asked for its layers and their attributes."""
    is_typed = network.get_flag(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    lines = [f"Name: {network.name} | Explicit Batch{' Strongly Typed' if is_typed else ''} Network", ""]
    for word, (names, meta) in (("Input", get_network_input_names_meta(network)),
                                ("Output", get_network_output_names_meta(network))):
        lines += [f"---- {len(names)} Network {word}(s) ----", str(meta), ""]
    lines.append(f"---- {network.num_layers} Layer(s) ----")
    for index, layer in enumerate(network if show_layers else []):
        lines.append(str_from_layer(layer, index))
        rows = list(_attribute_lines(layer, show_weights)) if show_attrs else []
        lines += [util.indent_block("---- Attributes ----"), *rows, ""] if rows else [""]
    return util.indent_block("\n".join(lines), level=0)


def _listed(words):
    return "[" + ", ".join(words) + "]"


def _chosen(kind, is_chosen):
    return [name for name, member in kind.__members__.items() if member.name == name and is_chosen(member)]


def str_from_config(config, network):
    """A configuration, a row for each of its parts that says something."""
    with_dla = config.DLA_core >= 0 or config.default_device_type == trt.DeviceType.DLA
    flags = _chosen(trt.BuilderFlag, config.get_flag)
    if hasattr(network, "get_flag"):
        flags += _chosen(trt.NetworkDefinitionCreationFlag, network.get_flag)
    pools = [f"{name}: {config.get_memory_pool_limit(pool) / (1 << 20):.2f} MiB"
             for name, pool in trt.MemoryPoolType.__members__.items()
             if (with_dla if name.startswith("DLA") else config.get_memory_pool_limit(pool))]
    sources = _chosen(trt.TacticSource, lambda each: config.get_tactic_sources() >> int(each) & 1)
    rows = [("Flags", _listed(flags)), ("Engine Capability", config.engine_capability), ("Memory Pools", _listed(pools)),
            ("Tactic Sources", _listed(sources))]
    if with_dla:
        rows.append(("DLA", f"Default Device Type: {config.default_device_type}, Core: {config.DLA_core}"))
    rows.append(("Profiling Verbosity", config.profiling_verbosity))
    if config.num_optimization_profiles > 1:
        rows.append(("Optimization Profiles", f"{config.num_optimization_profiles} profile(s)"))
    features = _chosen(trt.PreviewFeature, config.get_preview_feature)
    if features:
        rows.append(("Preview Features", _listed(features)))
    if getattr(config, "int8_calibrator", None) is not None:
        rows.append(("Calibrator", config.int8_calibrator))
    if hasattr(config, "get_quantization_flag"):
        chosen = _chosen(trt.QuantizationFlag, config.get_quantization_flag)
        rows += [("Quantization Flags", _listed(chosen))] if chosen else []
    return "\n".join(f"{title:<22} | {value}" for title, value in rows)


def _profile_lines(engine):
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    width = max(map(len, names), default=0) + 8
    for profile in range(engine.num_optimization_profiles):
        yield f"- Profile: {profile}"
        for index, name in enumerate(names):
            if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
                low, best, high = engine.get_tensor_profile_shape(name, profile)
                word, shapes = " (Input)", f"Shapes: min={low}, opt={best}, max={high}"
            else:
                word, shapes = "(Output)", f"Shape: {engine.get_tensor_shape(name)}"
            yield util.indent_block(f"Tensor: {name:<{width}} {word}, Index: {index} | {shapes}")
        yield ""


def _of_inspector(tensors):
    meta = TensorMetadata()
    for each in tensors:
        meta.add(each["Name"], None, each.get("Dimensions"), docstring=f"Format: {each.get('Format/Datatype', 'N/A')}")
    return meta


def _engine_layer_lines(engine, context, show_attrs):
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context
    for index in range(engine.num_layers):
        layer = json.loads(inspector.get_layer_information(index, trt.LayerInformationFormat.JSON))
        yield _layer_lines(index, layer.get("Name", "Unknown"), layer.get("LayerType", "Unknown"),
                           _of_inspector(layer.get("Inputs", [])), _of_inspector(layer.get("Outputs", [])))
        if show_attrs:
            yield util.indent_block("---- Attributes ----")
            yield util.indent_block(f"Origin = {layer.get('Origin', 'Unknown')}")
            yield util.indent_block(f"Tactic = {layer.get('TacticName', layer.get('TacticValue', 'Unknown'))}")
        yield ""


def str_from_engine(engine, context, show_layers=None, show_attrs=None, combine_tensor_info=None):
    """An engine: its inputs, outputs, profiles, and if asked for its layers with their tactics."""
    lines = [f"Name: {engine.name} | {'Refittable ' if engine.refittable else ''}Explicit Batch Engine", ""]
    for word, mode in (("Input", trt.TensorIOMode.INPUT), ("Output", trt.TensorIOMode.OUTPUT)):
        ports = get_metadata_from_engine(engine, context, mode)
        lines += [f"---- {len(ports)} Engine {word}(s) ----", str(ports), ""]
    lines += ["---- Memory ----", f"Device Memory: {engine.device_memory_size_v2} bytes", ""]
    lines.append(f"---- {engine.num_optimization_profiles} Profile(s) ({engine.num_io_tensors} Tensor(s) Each) ----")
    lines += _profile_lines(engine)
    lines.append(f"---- {engine.num_layers} Layer(s) ----")
    if show_layers:
        lines += _engine_layer_lines(engine, context, show_attrs)
    return util.indent_block("\n".join(lines), level=0)
