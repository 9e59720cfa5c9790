"""Checks of what methods and attributes are given: what is of a wrong type is a TypeError, as in TensorRT's package."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Optional, TypeVar, Union, cast

from assay.tensorrt.dims import Dims, Permutation, Weights, array_of, weights_of
from assay.tensorrt.enums import DataType, _Enum
from assay.tensorrt.tensor import ITensor

Shape = Sequence[int]
Values = Union[Sequence[int], Dims]  # of any number
Elements = Union[Weights, Any]  # Weights, or an array of numpy
OptionalElements = Optional[Elements]
OptionalType = Optional[DataType]
Tensors = Sequence[ITensor]


class _Wrong(Exception):
    pass


def _is_integer(value):
    return hasattr(type(value), "__index__")


def _integer(value):
    if not _is_integer(value):
        raise _Wrong("an int")
    return int(value)


def _number(value):
    if isinstance(value, (str, bytes, _Enum)) or not (hasattr(type(value), "__float__") or _is_integer(value)):
        raise _Wrong("a float")
    return float(value)


def _truth(value):
    if isinstance(value, (str, bytes)):
        raise _Wrong("a bool")
    return bool(value)


def _text(value):
    if not isinstance(value, str):
        raise _Wrong("a str")
    return value


def _shape(value):
    is_sequence = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__") and hasattr(value, "__len__")
    if not is_sequence or not all(_is_integer(each) for each in value) or len(value) > Dims.MAX_DIMS:
        raise _Wrong(f"a sequence of at most {Dims.MAX_DIMS} ints")
    return value if isinstance(value, Dims) else Dims(value)


def _values(value):
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or not all(_is_integer(each) for each in value):
        raise _Wrong("a sequence of ints")
    return [int(each) for each in value]


def _permutation(value):
    return value if isinstance(value, Permutation) else Permutation(_shape(value))


def _elements(value):
    try:
        return weights_of(value)
    except TypeError as error:
        raise _Wrong("Weights or an array of numpy of a type that TensorRT has") from error


def _optional_elements(value):
    return None if value is None else _elements(value)


def _optional_type(value):
    if value is not None and not isinstance(value, DataType):
        raise _Wrong("a DataType")
    return value


def _tensors(value):
    if not isinstance(value, (list, tuple)) or not all(each is None or isinstance(each, ITensor) for each in value):
        raise _Wrong("a sequence of tensors of a network")
    return list(value)


# What is taken as it is, or as it is made, of each kind of argument.
_KINDS: list = [(int, _integer), (float, _number), (bool, _truth), (str, _text), (Shape, _shape), (Elements, _elements),
                (OptionalElements, _optional_elements), (OptionalType, _optional_type), (Tensors, _tensors), (Values, _values),
                (Permutation, _permutation)]


def converted(kind, value):
    """The value as one of the kind, a type or one of the aliases above; raises _Wrong."""
    for known, convert in _KINDS:
        if known is kind:
            return convert(value)
    if isinstance(kind, type) and not isinstance(value, kind):
        raise _Wrong(f"a {kind.__name__}")
    return value


Method = TypeVar("Method", bound=Callable[..., Any])


def checked(method: Method) -> Method:
    """A decorator: arguments of other types than the annotations of the method are TypeErrors."""
    import inspect

    signature = inspect.signature(method)
    kinds = {name: each.annotation for name, each in signature.parameters.items() if each.annotation is not each.empty}

    @functools.wraps(method)
    def call(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{method.__name__}(): incompatible function arguments: {error}") from None
        for name, value in bound.arguments.items():
            if name in kinds:
                try:
                    bound.arguments[name] = converted(kinds[name], value)
                except _Wrong as wrong:
                    raise TypeError(f"{method.__name__}(): incompatible function arguments: `{name}` is {value!r}, expected "
                                    f"is {wrong}") from None
        return method(*bound.args, **bound.kwargs)

    return cast(Method, call)


KEY = "="  # before the name of an attribute in the dictionary of an object, where no other class of object finds it


def given(instance, name):
    """The value that an attribute was set to, as it was given; None: it was not set."""
    return instance.__dict__.get(KEY + name)


class Setting:
    """An attribute of a class whose values are of a kind. What is inferred of the object's network is inferred anew when
    it is set."""

    def __init__(self, kind, doc=None) -> None:
        self.kind = kind
        self.__doc__ = doc

    def __set_name__(self, owner, name):
        self.name, self.key = name, KEY + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            return self._shown(instance.__dict__[self.key])
        except KeyError:
            return self._missing(instance)

    def _missing(self, instance):
        known = instance._values()
        if self.name not in known:
            raise AttributeError(f"`{self.name}` is not known of this layer")
        return known[self.name]

    @staticmethod
    def _shown(value):
        return value

    def _checked(self, value):
        try:
            return converted(self.kind, value)
        except _Wrong as wrong:
            raise TypeError(f"incompatible function arguments: `{self.name}` is {value!r}, expected is {wrong}") from None

    def __set__(self, instance, value):
        value = self._checked(value)
        instance._changed()
        instance.__dict__[self.key] = value


class Attribute(Setting):
    """An attribute of an object that is no layer, with a value that it has until it is set."""

    def __init__(self, kind, default, doc=None) -> None:
        super().__init__(kind, doc)
        self.default = default

    def _missing(self, instance):
        return self.default

    def __set__(self, instance, value):
        instance.__dict__[self.key] = self._checked(value)


class Fixed(Attribute):
    """What can only be read."""

    def __init__(self, default, doc=None) -> None:
        super().__init__(None, default, doc)

    def __set__(self, instance, value):
        raise AttributeError(f"property '{self.name}' of '{type(instance).__name__}' object has no setter")


class Threads(Attribute):
    """How many threads there may be: 1 as long as nobody has said so, and then as many as the processor has."""

    def __init__(self, doc=None) -> None:
        super().__init__(int, 1, doc)

    @staticmethod
    def of(instance):
        """The number that native code is told; 0: all."""
        return given(instance, "max_threads") or 0


class WeightsSetting(Setting):
    """Weights, which are read as an array of one axis."""

    def __init__(self, doc=None) -> None:
        super().__init__(OptionalElements, doc)

    @staticmethod
    def _shown(value):
        import numpy as np

        array = array_of(value)
        return np.zeros(0, np.float32) if array is None else array.reshape(-1)


class OptionalSetting(Setting):
    """A setting that may be None."""

    def __set__(self, instance, value):
        if value is None:
            instance.__dict__[self.key] = None
            instance._changed()
        else:
            super().__set__(instance, value)


def renamed(name):
    """Another name of an attribute, as older versions have it."""
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value),
                    doc=f"The same as {name}.")
