"""Quick plugins that functions describe: the object that runs, and its creator."""

from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import PluginFieldType, TensorFormat
from assay.tensorrt.plugin.symbols import Shape, ShapeExpr, ShapeExprs
from assay.tensorrt.plugin.tensors import Tensor, TensorDesc
from assay.tensorrt.plugins import DimsExprs, IPluginV3, PluginField, PluginFieldCollection, PluginTensorDesc
from assay.tensorrt.quick_plugins import IPluginCreatorV3Quick, IPluginV3QuickBuild, IPluginV3QuickCore, IPluginV3QuickRuntime

_FIELD_TYPES = {int: PluginFieldType.INT64, float: PluginFieldType.FLOAT64, bool: PluginFieldType.INT8,
                str: PluginFieldType.CHAR, bytes: PluginFieldType.UNKNOWN}


def field_of(name, value):
    """An attribute as a field."""
    import numpy as np

    if isinstance(value, str):
        value = value.encode()
        return PluginField(name, np.frombuffer(value, np.uint8), PluginFieldType.CHAR)
    if isinstance(value, bytes):
        return PluginField(name, np.frombuffer(value, np.uint8), PluginFieldType.UNKNOWN)
    if isinstance(value, np.ndarray):
        word = "INT8" if value.dtype == np.bool_ else value.dtype.name.upper()
        return PluginField(name, value, PluginFieldType.__members__[word])
    return PluginField(name, np.array([value]), _FIELD_TYPES[type(value)])


def value_of(data, kind):
    """An attribute of a field, in the type that the description gives it."""
    import numpy as np

    if kind in (str, bytes):
        data = data if isinstance(data, bytes) else np.asarray(data).tobytes()
        return data.decode() if kind is str else data
    if isinstance(kind, type) and issubclass(kind, (int, float)):
        return kind(np.asarray(data).reshape(-1)[0])
    return np.asarray(data).astype(kind)


class QuickPlugin(IPluginV3, IPluginV3QuickCore, IPluginV3QuickBuild, IPluginV3QuickRuntime):
    """A plugin of a definition, with values of its attributes."""

    def __init__(self, definition, attrs) -> None:
        super().__init__()
        self.definition, self.attrs = definition, attrs
        self.plugin_namespace, self.plugin_name = definition.plugin_id.split("::")
        self.plugin_version, self.num_outputs = "1", definition.num_outputs
        self._tactics: list = []
        self._tactic = 0
        self._types: list = []

    def _described(self, inputs):
        for each in inputs:
            each._immutable = True
        outputs = self.definition.register_func(*inputs, **self.attrs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(outputs) != self.num_outputs or not all(isinstance(each, TensorDesc) for each in outputs):
            raise ValueError(f"the description of `{self.definition.plugin_id}` gives {outputs}, expected are "
                             f"{self.num_outputs} TensorDesc")
        return outputs

    def get_output_data_types(self, input_types, ranks):
        self._types = list(input_types)
        inputs = [TensorDesc(ShapeExprs(rank, _is_dummy=True), dtype) for dtype, rank in zip(input_types, ranks)]
        outputs = self._described(inputs)
        self._aliased = [next((i for i, each in enumerate(inputs) if each is out.get_aliased()), -1) for out in outputs]
        return [each.dtype for each in outputs]

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        descs = [TensorDesc(ShapeExprs.from_tuple(tuple(ShapeExpr(dim) for dim in dims)), dtype)
                 for dims, dtype in zip(inputs, self._types)]
        outputs = self._described(descs)
        for dim in (dim for each in outputs for dim in each.shape_expr if dim.is_size_tensor):
            dim._expr.teller = next(i for i, each in enumerate(outputs) if each is dim._size)
        self._descs = descs, outputs
        return [DimsExprs([dim._expr for dim in each.shape_expr]) for each in self._descs[1]]

    def get_aliased_input(self, output_index):
        return self._aliased[output_index]

    def get_supported_format_combinations(self, in_out, num_inputs):
        """Rows of descriptors, one behind the other; tactics of those that have the types of the network are kept."""
        offered = self.definition.autotune_func
        if offered is None:
            return [PluginTensorDesc(each.desc.dims, each.desc.type) for each in in_out]
        inputs, outputs = ([self._with_shape(desc, each) for desc, each in zip(descs, part)]
                           for descs, part in zip(self._descs, (in_out[:num_inputs], in_out[num_inputs:])))
        attrs = [self.attrs[name] for name in self.definition.autotune_attr_names]
        rows, self._tactics = [], []
        wanted = [each.desc.type for each in in_out]
        for each in offered(*inputs, *attrs, tuple(outputs)):
            for types, formats in each._spelled(len(in_out)):
                rows += [_formatted(desc, dtype, layout) for desc, dtype, layout in zip(in_out, types, formats)]
                if types == wanted and set(formats) == {TensorFormat.LINEAR}:
                    self._tactics += [tactic for tactic in each._tactics or () if tactic not in self._tactics]
        return rows

    @staticmethod
    def _with_shape(desc, given):
        made = desc.like()
        made.shape, made.format, made.scale = Shape(given), given.desc.format, given.desc.scale
        made._immutable = True
        return made

    def get_valid_tactics(self):
        return self._tactics

    def set_tactic(self, tactic):
        self._tactic = tactic

    def enqueue(self, input_desc, output_desc, inputs, outputs, in_strides, out_strides, stream):
        read = [Tensor(address, desc) for address, desc in zip(inputs, input_desc)]
        most = [[dim._expr.most for dim in desc.shape_expr] for desc in self._descs[1]]
        made = [Tensor(address, desc, dims) for address, desc, dims in zip(outputs, output_desc, most)]
        for i, place in enumerate(self._aliased):
            if place >= 0:
                made[i]._aliased, read[place]._aliased = read[place], made[i]
        for each in read + made:
            each._immutable = True
        attrs = [self.attrs[name] for name in self.definition.impl_attr_names]
        tactic = (self._tactic,) if self.definition.expects_tactic else ()
        self.definition.impl_func(*read, *attrs, tuple(made), stream, *tactic)

    def get_fields_to_serialize(self):
        return PluginFieldCollection(field_of(name, value) for name, value in self.attrs.items())

    def clone(self):
        made = QuickPlugin(self.definition, self.attrs)
        made.__dict__.update(self.__dict__)
        return made


def _formatted(given, dtype, layout):
    made = PluginTensorDesc(Dims(given.desc.dims), dtype)
    made.format = layout
    return made


class QuickPluginCreator(IPluginCreatorV3Quick):
    """Makes plugins of a definition."""

    def __init__(self, definition) -> None:
        self.definition = definition
        self.plugin_namespace, self.name = definition.plugin_id.split("::")
        self.plugin_version = "1"
        self.field_names = PluginFieldCollection(
            PluginField(name, None, _FIELD_TYPES.get(kind, PluginFieldType.UNKNOWN))
            for name, kind in definition.attrs.items())

    def create_plugin(self, name, namespace, field_collection, phase, quick_plugin_creation_request=None):
        definition = self.definition
        definition.check_request(quick_plugin_creation_request)
        kinds = definition.attrs
        unknown = [each.name for each in field_collection if each.name not in kinds]
        if unknown:
            raise ValueError(f"`{definition.plugin_id}` has no attribute `{unknown[0]}`; it has {list(kinds)}")
        attrs = {each.name: value_of(each.data, kinds[each.name]) for each in field_collection}
        missing = [each for each in kinds if each not in attrs]
        if missing:
            raise ValueError(f"`{definition.plugin_id}` needs a value of its attribute `{missing[0]}`")
        return QuickPlugin(definition, {name: attrs[name] for name in kinds})

