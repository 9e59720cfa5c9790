"""Backends, each in a module of its own; importing one imports no other. Other packages add runners by entry points."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from importlib.metadata import EntryPoint
    from typing import Any

    from assay.backend.base import BaseRunner

GROUP = "assay.runners"
__all__ = ["runner", "runners"]


def _entries() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for each in entry_points(group=GROUP):
        found.setdefault(each.name, each)
    return found


def runners() -> list[str]:
    """Names of the runners that installed packages add, by entry points of the group `assay.runners`."""
    return sorted(_entries())


def runner(name: str, model, **settings: Any) -> BaseRunner:
    """A runner of a model, or of what gives one: that of an installed package, or of a backend of native code.

    An entry point is a class or function that is called with the model and the settings. `assay.session.BackendRunner`
    takes the others.
    """
    from assay.logger import G_LOGGER
    from assay.session import BackendRunner

    entry = _entries().get(name)
    if entry is None:
        return BackendRunner(model, name, **settings)
    source = f"`{entry.value}`" + (f" of {entry.dist.name} {entry.dist.version}" if entry.dist else "")
    try:
        make = entry.load()
    except Exception as error:
        G_LOGGER.critical(f"the runner `{name}`, {source}, cannot be loaded: {type(error).__name__}: {error}")
    made = make(model, **settings)
    if not hasattr(made, "infer") or not hasattr(made, "activate"):
        G_LOGGER.critical(f"{source} gives a {type(made).__name__}, which is no runner: it has no infer() or activate()")
    return made
