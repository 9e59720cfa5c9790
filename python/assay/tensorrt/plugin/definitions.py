"""Decorators that make quick plugins of functions: their description, implementation, and what they offer to choose from."""

import inspect
import types
import typing

from assay.exception import PolygraphyException
from assay.tensorrt.enums import QuickPluginCreationRequest as Request
from assay.tensorrt.enums import TensorRTPhase
from assay.tensorrt.plugin.quick import QuickPluginCreator, field_of
from assay.tensorrt.plugin.tensors import Tensor, TensorDesc
from assay.tensorrt.plugins import PluginFieldCollection, get_plugin_registry
from assay.tensorrt.tensor import ITensor

BUILT_IN = (int, float, bytes, bool, str)
NUMPY = ("int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")
RESERVED = ("", "trt", "tensorrt", "std")
NOT_ATTRIBUTES = ("outputs", "stream", "tactic")
NEEDS_CARD = "its kernels are for a card, and plugins run here as Python: @tensorrt.plugin.impl gives such a function"

_DEFINITIONS: dict = {}


class PluginDef:
    """A quick plugin: called with tensors and attributes, it gives what network.add_plugin() takes."""

    def __init__(self, plugin_id, function) -> None:
        self.plugin_id, self.register_func = plugin_id, function
        self.impl_func = self.aot_impl_func = self.autotune_func = None
        self.impl_attr_names: list = []
        self.autotune_attr_names: list = []
        self.expects_tactic = False
        self.tensors, self.attrs = _arguments(function)
        self.num_outputs = _output_count(function)

    def check_request(self, request) -> None:
        """Refuses what has no implementation that runs here."""
        if request == Request.STRICT_AOT or (self.impl_func is None and self.aot_impl_func is not None):
            raise PolygraphyException(f"`{self.plugin_id}`: {NEEDS_CARD}")
        if self.impl_func is None:
            raise ValueError(f"`{self.plugin_id}` has no implementation: @tensorrt.plugin.impl gives one")

    def __call__(self, *tensors, **attrs):
        wrong = [each for each in tensors if not isinstance(each, ITensor)]
        if wrong:
            raise ValueError(f"`{self.plugin_id}`: a tensor is {wrong[0]!r}, expected is an ITensor")
        if len(tensors) != len(self.tensors) or list(attrs) != list(self.attrs):
            raise ValueError(f"`{self.plugin_id}` is called with {len(tensors)} tensors and {list(attrs)}, expected are "
                             f"{self.tensors} and {list(self.attrs)}")
        for name, value in attrs.items():
            _check_value(self.plugin_id, name, value, self.attrs[name])
        creator = _creator(self)
        fields = PluginFieldCollection(field_of(name, value) for name, value in attrs.items())
        namespace, name = self.plugin_id.split("::")

        def made(quick_plugin_creation_request=None):
            plugin = creator.create_plugin(name, namespace, fields, TensorRTPhase.BUILD, quick_plugin_creation_request)
            return list(tensors), [], plugin

        return made


class _Namespace(types.ModuleType):
    """Plugins, or their name spaces, as attributes."""

    def __getattr__(self, name):
        raise AttributeError(f"`{self.__name__}` has no plugin or name space `{name}`")


op = _Namespace("tensorrt.plugin.op")


def _arguments(function):
    """(names of tensors, types of attributes by name) of a description."""
    hints, tensors, attrs = typing.get_type_hints(function), [], {}
    for name, argument in inspect.signature(function).parameters.items():
        if argument.kind not in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY) or argument.default is not argument.empty:
            raise ValueError(f"the argument `{name}` is no plain one: expected is one with a name, and without a default")
        hint = hints.get(name)
        if hint is None:
            raise ValueError(f"the argument `{name}` has no type: expected is TensorDesc, or the type of an attribute")
        if isinstance(hint, type) and issubclass(hint, TensorDesc):
            if attrs:
                raise ValueError(f"the tensor `{name}` comes behind attributes: tensors come first")
            tensors.append(name)
            continue
        if name in NOT_ATTRIBUTES:
            raise ValueError(f"`{name}` is no name for an attribute")
        attrs[name] = _attribute_type(name, hint)
    if not tensors:
        raise ValueError("the description takes no tensors: expected is at least one TensorDesc, which come first")
    return tensors, attrs


def _attribute_type(name, hint):
    """A built-in type, or the type of elements of an array."""
    import numpy as np

    if hint in BUILT_IN:
        return hint
    if typing.get_origin(hint) is np.ndarray:
        kind = np.dtype(typing.get_args(typing.get_args(hint)[1])[0])
        if kind.name in NUMPY:
            return kind
    raise ValueError(f"the attribute `{name}` is of type {hint}; expected is int, float, bool, str, bytes, or "
                     f"numpy.typing.NDArray of {', '.join(NUMPY)}")


def _check_value(plugin_id, name, value, kind):
    import numpy as np

    seen = value.dtype if isinstance(value, np.ndarray) else type(value)
    if seen != kind:
        raise ValueError(f"`{plugin_id}`: the attribute `{name}` is of type {seen}, expected is {kind}")


def _output_count(function):
    hint = typing.get_type_hints(function).get("return")
    kinds = typing.get_args(hint) if typing.get_origin(hint) is tuple else (hint,)
    if not all(isinstance(each, type) and issubclass(each, TensorDesc) for each in kinds) or not kinds:
        raise ValueError(f"the description gives {hint}, expected is TensorDesc, or a Tuple of them")
    return len(kinds)


def _definition(plugin_id):
    if plugin_id not in _DEFINITIONS:
        raise ValueError(f"there is no plugin `{plugin_id}`: @tensorrt.plugin.register describes one")
    return _DEFINITIONS[plugin_id]


def _creator(definition):
    """The creator of the process's registry, which may be there already."""
    registry = get_plugin_registry()
    creator = QuickPluginCreator(definition)
    registry.register_creator(creator)
    return registry.get_creator(creator.name, "1", creator.plugin_namespace)


def _attributes_of(function, definition, last, kind):
    """The attributes that a function takes, which has the tensors of the description, some attributes, and `last`."""
    names, hints = list(inspect.signature(function).parameters), typing.get_type_hints(function)
    attrs = [name for name in definition.attrs if name in names]
    expected = [*definition.tensors, *attrs, *last]
    if names != expected:
        raise ValueError(f"the function for `{definition.plugin_id}` takes {names}, expected are {expected}")
    for name in definition.tensors:
        if name in hints and not (isinstance(hints[name], type) and issubclass(hints[name], kind)):
            raise ValueError(f"the argument `{name}` is of type {hints[name]}, expected is {kind.__name__}")
    for name in attrs:
        if name in hints and _attribute_type(name, hints[name]) != definition.attrs[name]:
            raise ValueError(f"the attribute `{name}` has another type than the description says")
    return attrs


def register(plugin_id, lazy_register=False):
    """Describes a plugin `namespace::name` by a function from TensorDesc and attributes to TensorDesc of outputs."""

    def decorate(function):
        namespace, sign, name = plugin_id.partition("::")
        if not sign or "." in plugin_id or namespace in RESERVED or not name:
            raise ValueError(f"`{plugin_id}` is no name of a plugin; expected is namespace::name, without dots")
        if plugin_id in _DEFINITIONS:
            raise ValueError(f"there is a plugin `{plugin_id}` already")
        definition = PluginDef(plugin_id, function)
        _DEFINITIONS[plugin_id] = definition
        if namespace not in vars(op):
            setattr(op, namespace, _Namespace(f"tensorrt.plugin.op.{namespace}"))
        setattr(getattr(op, namespace), name, definition)
        if not lazy_register:
            _creator(definition)
        return function

    return decorate


def impl(plugin_id):
    """Gives a plugin a function of its tensors, attributes, outputs and stream, which computes it in Python."""

    def decorate(function):
        definition = _definition(plugin_id)
        has_tactic = "tactic" in inspect.signature(function).parameters
        last = ["outputs", "stream"] + ["tactic"] * has_tactic
        definition.impl_attr_names = _attributes_of(function, definition, last, Tensor)
        definition.impl_func, definition.expects_tactic = function, has_tactic
        return function

    return decorate


def aot_impl(plugin_id):
    """Gives a plugin a function that compiles a kernel for a card. Here it is kept, and not run."""

    def decorate(function):
        definition = _definition(plugin_id)
        _attributes_of(function, definition, ["outputs", "tactic"], TensorDesc)
        definition.aot_impl_func = function
        return function

    return decorate


def autotune(plugin_id):
    """Gives a plugin a function that tells the types, formats and tactics it offers, as AutoTuneCombination."""

    def decorate(function):
        definition = _definition(plugin_id)
        definition.autotune_attr_names = _attributes_of(function, definition, ["outputs"], TensorDesc)
        definition.autotune_func = function
        return function

    return decorate
