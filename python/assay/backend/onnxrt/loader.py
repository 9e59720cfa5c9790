"""ONNX Runtime, driven by native code or by the user's own package."""

from assay import mod, util
from assay.backend.base import BaseLoader
from assay.backend.base.loader import given
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER
from assay.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


@mod.export(funcify=True)
class SessionFromOnnx(BaseLoader):
    """A session of a model, given by its path, as bytes, or as a model. `providers`: names, or (name, options)."""

    def __init__(self, model_bytes, providers=None, graph_optimization_level=None) -> None:
        self._model = model_bytes
        self.providers = util.default(providers, ["cpu"])
        self.graph_optimization_level = graph_optimization_level

    def call_impl(self):
        names = [each if isinstance(each, str) else each[0] for each in self.providers]
        settings = {"providers": names}
        if self.graph_optimization_level is not None:
            level = str(getattr(self.graph_optimization_level, "name", self.graph_optimization_level))
            settings["graph-optimization-level"] = [level if level.startswith("ORT_") else f"ORT_{level}".upper()]
        for each in self.providers:
            if not isinstance(each, str) and each[1]:
                G_LOGGER.warning(f"the options of the provider `{each[0]}` are not handed on: {each[1]}")
        try:
            return Session(given(self._model), "onnxrt", settings)
        except PolygraphyException as error:
            if "has no provider" not in str(error):
                raise
            G_LOGGER.critical(f"Could not find specified ONNX-Runtime execution provider: {error}")
