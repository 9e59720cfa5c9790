"""Modules that are imported when they are needed, and names that a module exports."""

import functools
import importlib
import importlib.util
import inspect
import os
import re
import sys
import warnings

from assay.logger import G_LOGGER

LATEST_VERSION = "latest"


def version(version_str):
    """A version as a tuple that compares as versions do."""
    return tuple(int(part) for part in re.findall(r"\d+", version_str.split("+")[0]))


class LazyModule:
    """A module that is imported when an attribute of it is asked for."""

    def __init__(self, name, least=None):
        self.__dict__["_parts"] = (name, least)
        self.__dict__["_module"] = None

    def _load(self):
        if self.__dict__["_module"] is None:
            name, least = self._parts
            try:
                module = importlib.import_module(name)
            except ImportError as error:
                G_LOGGER.critical(f"the module `{name}` is needed and cannot be imported: {error}; install it with pip")
            found = getattr(module, "__version__", None)
            if least and found and version(found) < version(least):
                G_LOGGER.warning(f"the module `{name}` has the version {found}, {least} or later is needed")
            self.__dict__["_module"] = module
        return self.__dict__["_module"]

    def __getattr__(self, name):
        return getattr(self._load(), name)

    def __setattr__(self, name, value):
        setattr(self._load(), name, value)

    def is_installed(self):
        """Whether it can be imported."""
        return importlib.util.find_spec(self._parts[0].split(".")[0]) is not None

    def is_importable(self):
        """The same."""
        return self.is_installed()


def lazy_import(name, log=None, pkg_name=None, install_flags=None, requires=None):
    """A module that is imported at its first use; `name>=1.2` asks for a version. Nothing is ever installed."""
    found = re.fullmatch(r"([\w.]+)\s*(?:(?:>=|==)\s*([\w.]+))?", name)
    if found is None:
        G_LOGGER.critical(f"`{name}` is no name of a module")
    return LazyModule(found[1], None if found[2] == LATEST_VERSION else found[2])


def autoinstall(lazy_mod) -> None:
    """Says how to install a module; nothing is installed unasked."""
    name = lazy_mod._parts[0]
    G_LOGGER.warning(f"`{name}` is not installed for you: pip install {name}")


def import_from_script(path, name):
    """A name of a script. Its folder is searched for modules while it is imported."""
    full = os.path.abspath(path)
    if not os.path.isfile(full):
        G_LOGGER.critical(f"there is no script `{path}`")
    stem = os.path.splitext(os.path.basename(full))[0]
    spec = importlib.util.spec_from_file_location(stem, full)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(full))
    sys.modules[stem], before = module, sys.modules.get(stem)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        G_LOGGER.critical(f"the script `{path}` failed: {type(error).__name__}: {error}")
    finally:
        sys.path.remove(os.path.dirname(full))
        del sys.modules[stem]
        if before is not None:
            sys.modules[stem] = before
    if not hasattr(module, name):
        G_LOGGER.critical(f"the script `{path}` has no `{name}`")
    return getattr(module, name)


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


def export(funcify=False, func_name=None):
    """A decorator: the name is exported from its module; `funcify`: a function that evaluates the loader at once too."""

    def decorate(item):
        module = sys.modules[item.__module__]
        names = module.__dict__.setdefault("__all__", [])
        names.append(item.__name__)
        if funcify:
            name = func_name or snake_case(item.__name__)
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
