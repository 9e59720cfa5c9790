"""Names that a module exports, functions that evaluate loaders at once, and names that will go."""

import functools
import inspect
import re
import sys
import warnings


def snake_case(name):
    """`EngineFromNetwork` as `engine_from_network`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _required_first(parameters):
    is_optional = [each.default is not each.empty for each in parameters]
    return [each for each, optional in zip(parameters, is_optional) if not optional] + [
        each for each, optional in zip(parameters, is_optional) if optional]


def immediate(loader, name):
    """A function that makes the loader and calls it: parameters of its constructor, then of its call."""
    made = list(inspect.signature(loader.__init__).parameters.values())[1:]
    call = getattr(loader, "call_impl", loader.__call__)
    called = list(inspect.signature(call).parameters.values())[1:]
    everything = [*made, *called]
    plain = [each for each in everything if each.kind == each.POSITIONAL_OR_KEYWORD]
    rest = [next((each for each in everything if each.kind == kind), None)
            for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)]
    signature = inspect.Signature([*_required_first(plain), *(each for each in rest if each is not None)])
    names = {each.name for each in called}

    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs).arguments
        extra = {}
        for each in signature.parameters.values():
            if each.kind == each.VAR_KEYWORD:
                extra = bound.pop(each.name, {})
        first = {key: value for key, value in bound.items() if key not in names}
        positional = [value for each in made if each.kind == each.VAR_POSITIONAL for value in first.pop(each.name, ())]
        rest = [value for each in called if each.kind == each.VAR_POSITIONAL for value in bound.pop(each.name, ())]
        then = {key: value for key, value in bound.items() if key in names}
        loader_extra, call_extra = (extra, {}) if any(each.kind == each.VAR_KEYWORD for each in made) else ({}, extra)
        return loader(*positional, **first, **loader_extra)(*rest, **then, **call_extra)

    function.__signature__ = signature
    function.__name__ = function.__qualname__ = name
    function.__module__ = loader.__module__
    function.__doc__ = f"What `{loader.__name__}` gives, at once.\n\n{inspect.getdoc(loader) or ''}"
    return function


def _check_loader(item):
    """A function that evaluates at once can be made of loaders whose two lists of parameters differ."""
    assert inspect.isclass(item), f"{item.__name__} is exported with `funcify`: it must be a loader"
    base = sys.modules.get("assay.backend.base.loader")
    assert base is not None and issubclass(item, base.BaseLoader), f"{item.__name__} must derive from BaseLoader"
    made, called = (set(list(inspect.signature(each).parameters)[1:]) for each in (item.__init__, item.call_impl))
    shared = (made & called) - {"args", "kwargs"}
    assert not shared, f"{item.__name__}: call_impl and __init__ have the same argument names: {sorted(shared)}"


def export(funcify=False, func_name=None):
    """A decorator: the name is exported from its module; `funcify`: a function that evaluates the loader at once too."""

    def decorate(item):
        if funcify:
            _check_loader(item)
        module = sys.modules[item.__module__]
        names = module.__dict__.setdefault("__all__", [])
        names.append(item.__name__)
        if funcify:
            name = func_name or snake_case(item.__name__)
            # A module that is loaded again has what it exported before.
            assert not hasattr(module, name) or name in names, f"{item.__name__}: {name}: symbol is already defined"
            setattr(module, name, immediate(item, name))
            names.append(name)
        return item

    return decorate


def warn_deprecated(name, use_instead, remove_in, module_name=None, always_show_warning=False) -> None:
    """Says that a name will go."""
    instead = f"; use {use_instead}" if use_instead else ""
    where = f"{module_name}." if module_name else ""
    warnings.warn(f"{where}{name} is deprecated and goes in {remove_in}{instead}", DeprecationWarning, stacklevel=3)


def deprecate(remove_in, use_instead, module_name=None, name=None):
    """A decorator: whoever calls it is told that it will go."""

    def decorate(item):
        @functools.wraps(item)
        def warning(*args, **kwargs):
            warn_deprecated(name or item.__name__, use_instead, remove_in, module_name)
            return item(*args, **kwargs)

        return warning

    return decorate


def export_deprecated_alias(name, remove_in, use_instead=None):
    """A decorator: another name, which will go."""

    def decorate(item):
        module = sys.modules[item.__module__]
        setattr(module, name, deprecate(remove_in, use_instead or item.__name__, name=name)(item))
        module.__dict__.setdefault("__all__", []).append(name)
        return item

    return decorate
