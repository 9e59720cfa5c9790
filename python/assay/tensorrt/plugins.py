"""Plugins written in Python: classes to be derived from, and the registry of their creators.

`enqueue` gets addresses of memory of this process, which are valid during the call.
"""

from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, DimensionOperation, PluginFieldType, TensorFormat


class PluginField:
    """A named value for a creator."""

    name, data, type, size = "", None, PluginFieldType.UNKNOWN, 0

    def __init__(self, name="", data=None, type=PluginFieldType.UNKNOWN) -> None:
        self.name = name
        self.data = data
        self.type = type
        self.size = 0 if data is None else len(data)


class PluginFieldCollection(list):
    """Fields in order."""


class IDimensionExpr:
    """A dim; -1 is one that is not known. Of one that an output of a plugin tells in a run, `most` is the bound."""

    def __init__(self, value, most=None, teller=None) -> None:
        self._value = int(value)
        self.most, self.teller = self._value if most is None else int(most), teller

    def is_constant(self):
        return self._value >= 0

    def get_constant_value(self):
        return self._value

    def is_size_tensor(self):
        return self.teller is not None


class DimsExprs(list):
    """Dims of a tensor, as numbers or expressions."""

    def __init__(self, dims=()) -> None:
        super().__init__([0] * dims if isinstance(dims, int) else dims)


_OPERATIONS = {"SUM": lambda a, b: a + b, "PROD": lambda a, b: a * b, "MAX": max, "MIN": min,
               "SUB": lambda a, b: a - b, "EQUAL": lambda a, b: int(a == b), "LESS": lambda a, b: int(a < b),
               "FLOOR_DIV": lambda a, b: a // b, "CEIL_DIV": lambda a, b: -(-a // b)}


class IExprBuilder:
    """Computes with dims."""

    def constant(self, value):
        return IDimensionExpr(value)

    def declare_size_tensor(self, output_index, opt, upper):
        """The size of an output that the plugin itself decides in a run: not known before, at most `upper`."""
        return IDimensionExpr(-1, upper.get_constant_value(), output_index)

    def operation(self, op, first, second):
        if not first.is_constant() or not second.is_constant():
            return IDimensionExpr(-1)
        found = _OPERATIONS[DimensionOperation(op).name](first._value, second._value)
        return IDimensionExpr(found)


class PluginTensorDesc:
    """Dims, type and format of a tensor."""

    dims, type, format, scale = Dims(), DataType.FLOAT, TensorFormat.LINEAR, 1.0

    def __init__(self, dims=(), type=DataType.FLOAT) -> None:
        self.dims = Dims(dims)
        self.type = type


class DynamicPluginTensorDesc:
    """A tensor with the least and greatest dims that it may have."""

    desc, min, opt, max = PluginTensorDesc(), Dims(), Dims(), Dims()

    def __init__(self, desc=None) -> None:
        self.desc = desc or PluginTensorDesc()
        self.min = self.max = self.opt = self.desc.dims


class IPluginV2:
    """What plugins of the second version have in common."""

    plugin_type = ""
    plugin_version = "1"
    plugin_namespace = ""
    num_outputs = 1
    serialization_size = 0

    def __init__(self) -> None:
        pass

    def initialize(self):
        return 0

    def terminate(self):
        pass

    def destroy(self):
        pass

    def serialize(self):
        return b""


class IPluginV2Ext(IPluginV2):
    """Plugins that tell the types of their outputs."""

    def get_output_datatype(self, index, input_types):
        return input_types[0]


class IPluginV2DynamicExt(IPluginV2Ext):
    """To be derived from: `get_output_dimensions` and `enqueue` are what counts."""

    def get_output_dimensions(self, output_index, inputs, expr_builder):
        raise NotImplementedError

    def supports_format_combination(self, pos, in_out, num_inputs):
        return True

    def configure_plugin(self, pos, in_out):
        pass

    def get_workspace_size(self, inputs, outputs):
        return 0

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        raise NotImplementedError

    def clone(self):
        return self


class IPluginV3:
    """To be derived from, with the capabilities IPluginV3OneCore, IPluginV3OneBuild and IPluginV3OneRuntime."""

    def __init__(self) -> None:
        pass

    def get_capability_interface(self, type):
        return self

    def clone(self):
        return self


class IPluginCapability:
    """What the three capabilities have in common."""


class IPluginV3OneCore(IPluginCapability):
    """Name, version and name space."""

    plugin_name = ""
    plugin_version = "1"
    plugin_namespace = ""


class IPluginV3OneBuild(IPluginCapability):
    """What is known when an engine is built."""

    num_outputs = 1

    def get_output_data_types(self, input_types):
        return [input_types[0]] * self.num_outputs

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        raise NotImplementedError

    def supports_format_combination(self, pos, in_out, num_inputs):
        return True

    def configure_plugin(self, in_, out):
        pass

    def get_workspace_size(self, inputs, outputs):
        return 0

    def get_valid_tactics(self):
        return []


class IPluginV3OneBuildV2(IPluginV3OneBuild):
    """Likewise; outputs that are inputs are not there."""

    def get_aliased_input(self, output_index):
        return -1


class IPluginV3OneRuntime(IPluginCapability):
    """What runs."""

    def set_tactic(self, tactic):
        pass

    def on_shape_change(self, in_, out):
        pass

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        raise NotImplementedError

    def attach_to_context(self, resource_context):
        return self.clone()

    def get_fields_to_serialize(self):
        return PluginFieldCollection()


class IPluginResource:
    """To be derived from: what plugins share by a key of the registry."""

    def release(self):
        pass

    def clone(self):
        return self


class IPluginResourceContext:
    """What a context has for plugins: nothing of its own."""

    gpu_allocator = error_recorder = None


class IPluginCreatorInterface:
    """What creators have in common."""


class IPluginCreator(IPluginCreatorInterface):
    """To be derived from: `create_plugin(name, field_collection)`, `deserialize_plugin(name, data)`."""

    name = ""
    plugin_version = "1"
    plugin_namespace = ""
    field_names = PluginFieldCollection()

    def __init__(self) -> None:
        pass


class IPluginCreatorV3One(IPluginCreator):
    """To be derived from: `create_plugin(name, field_collection, phase)`."""


class IPluginRegistry:
    """Creators by name, version and name space."""

    error_recorder = None
    parent_search_enabled = True

    def __init__(self) -> None:
        self._creators: dict = {}
        self._resources: dict = {}  # [resource, how often it was acquired] by key

    @property
    def plugin_creator_list(self):
        return list(self._creators.values())

    all_creators = all_creators_recursive = plugin_creator_list

    def load_library(self, plugin_path):
        """Libraries of plugins hold code for TensorRT and its devices."""
        raise PolygraphyException(f"the plugins of `{plugin_path}` are TensorRT's: here, plugins are written in Python")

    def deregister_library(self, handle):
        """No library was loaded."""
        raise PolygraphyException("no library of plugins is loaded: load_library() refuses them")

    def acquire_plugin_resource(self, key, resource):
        """The resource of a key, which plugins share: a clone of the one that came first."""
        held = self._resources.setdefault(key, [None, 0])
        if held[1] == 0:
            held[0] = resource.clone()
        held[1] += 1
        return held[0]

    def release_plugin_resource(self, key):
        """Who acquired a resource last releases it; whether there was one."""
        held = self._resources.get(key)
        if held is None:
            return False
        held[1] -= 1
        if held[1] == 0:
            self._resources.pop(key)[0].release()
        return True

    @staticmethod
    def _key(creator):
        return creator.name, str(creator.plugin_version), getattr(creator, "plugin_namespace", "")

    def register_creator(self, creator, plugin_namespace=""):
        """Whether there was none of that name."""
        key = (*self._key(creator)[:2], plugin_namespace or self._key(creator)[2])
        if key in self._creators:
            return False
        self._creators[key] = creator
        return True

    def deregister_creator(self, creator):
        keys = [key for key, value in self._creators.items() if value is creator]
        for key in keys:
            del self._creators[key]
        return bool(keys)

    def get_plugin_creator(self, type, version, plugin_namespace=""):
        return self._creators.get((type, str(version), plugin_namespace))

    get_creator = get_plugin_creator


_REGISTRY = IPluginRegistry()


def get_plugin_registry():
    """The registry of the process."""
    return _REGISTRY


def get_builder_plugin_registry(engine_capability=None):
    """There is one registry."""
    return get_plugin_registry()


def init_libnvinfer_plugins(logger, namespace):
    """True: what there is of plugins is there already."""
    return True
