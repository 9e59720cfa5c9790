"""Modules that are imported when they are needed."""

import importlib
import importlib.util
import os
import re
import sys

from assay.logger import G_LOGGER, LogMode
from assay.mod.util import version

LATEST_VERSION = "==latest"
_HOLDS = {"==": lambda a, b: a == b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b,
          "<": lambda a, b: a < b}


def _version_ok(ver, preferred):
    """Whether a version is one of `>=1.2`. What is the latest one is not known."""
    if preferred == LATEST_VERSION:
        return False
    found = re.fullmatch(r"\s*(==|>=|<=|>|<)\s*(\S+)\s*", preferred)
    if found is None:
        G_LOGGER.critical(f"`{preferred}` asks for no version: expected ==, >=, <=, > or < and a version")
    return _HOLDS[found[1]](version(ver), version(found[2]))


def has_mod(modname):
    """Whether the module is installed; it is not imported."""
    if modname in sys.modules:
        return True
    try:
        return importlib.util.find_spec(modname) is not None
    except (ImportError, ValueError):
        return False


class LazyModule:
    """A module that is imported when an attribute of it is asked for."""

    def __init__(self, name, wanted=None, log=True) -> None:
        self.__dict__["_parts"] = (name, wanted, log)
        self.__dict__["module"] = None

    def _load(self):
        if self.__dict__["module"] is None:
            name, wanted, log = self._parts
            try:
                module = importlib.import_module(name)
            except ImportError as error:
                G_LOGGER.critical(f"Module: '{name}' is required but could not be imported: {error}; install it with pip")
            found = getattr(module, "__version__", None)
            if wanted and found and wanted != LATEST_VERSION and not _version_ok(found, wanted):
                G_LOGGER.error(f"Module: '{name}' version '{found}' is installed, but version '{wanted}' is required; "
                               "it is used all the same", LogMode.ONCE)
            if log:
                G_LOGGER.module_info(module)
            self.__dict__["module"] = module
        return self.__dict__["module"]

    def __getattr__(self, name):
        return getattr(self._load(), name)

    def __setattr__(self, name, value):
        setattr(self._load(), name, value)

    def is_installed(self):
        """Whether there is such a module; it is not imported."""
        return has_mod(self._parts[0])

    def is_importable(self):
        """Whether it can be imported, which it is."""
        try:
            importlib.import_module(self._parts[0])
        except Exception:
            return False
        return True


def lazy_import(name, log=None, pkg_name=None, install_flags=None, requires=None):
    """A module that is imported at its first use; `name>=1.2` asks for a version. Nothing is ever installed."""
    found = re.fullmatch(r"\s*([\w.]+)\s*((?:==|>=|<=|>|<).*)?", name)
    if found is None:
        G_LOGGER.critical(f"`{name}` is no name of a module")
    return LazyModule(found[1], found[2], True if log is None else log)


def autoinstall(lazy_mod) -> None:
    """Says how to install a module; nothing is installed unasked."""
    name = lazy_mod._parts[0]
    G_LOGGER.warning(f"`{name}` is not installed for you: pip install {name}")


def import_from_script(path, name):
    """A name of a script. Its folder is searched for modules while it is imported."""
    full = os.path.abspath(path)
    failed = f"Could not import symbol: {name} from script: {path}"
    if not os.path.isfile(full):
        G_LOGGER.critical(f"{failed}: there is no such file")
    stem = os.path.splitext(os.path.basename(full))[0]
    spec = importlib.util.spec_from_file_location(stem, full)
    if spec is None or spec.loader is None:
        G_LOGGER.critical(f"{failed}: the name of a script ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(full))
    sys.modules[stem], before = module, sys.modules.get(stem)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        G_LOGGER.critical(f"{failed}: {type(error).__name__}: {error}")
    finally:
        sys.path.remove(os.path.dirname(full))
        del sys.modules[stem]
        if before is not None:
            sys.modules[stem] = before
    if not hasattr(module, name):
        G_LOGGER.critical(f"{failed}: the script has no `{name}`")
    return getattr(module, name)
