"""Reference results of every operator, by the interpreter of native code."""

from assay import mod
from assay.session import BackendRunner

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


@mod.export()
class PluginRefRunner(BackendRunner):
    """Runs a graph of assay.graphsurgeon, or any model, operator by operator."""

    def __init__(self, graph, name=None) -> None:
        super().__init__(graph, "ref", name)
        if name is None:
            self.name = self.name.replace("ref-runner", "pluginref-runner", 1)
