"""Loaders that refuse."""

from assay import mod
from assay.backend.base.loader import BaseLoader
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # made by export()
    __all__: list[str]


def refuse() -> None:
    """Raises what there is to do instead."""
    G_LOGGER.critical("models of TensorFlow are no objects here: assay.load() and `assay convert` make ONNX models of their files")


class _Refused(BaseLoader):
    def call_impl(self) -> None:
        refuse()


@mod.export(funcify=True)
class OptimizeGraph(_Refused):
    """Refused."""

    def __init__(self, graph) -> None:
        self._graph = graph


@mod.export(funcify=True)
class GraphFromKeras(_Refused):
    """Refused."""

    def __init__(self, path) -> None:
        self.path = path


@mod.export(funcify=True)
class GraphFromFrozen(_Refused):
    """Refused."""

    def __init__(self, path) -> None:
        self.path = path


@mod.export(funcify=True)
class GraphFromCkpt(_Refused):
    """Refused."""

    def __init__(self, dir, name=None) -> None:
        self.dir = dir
        self.name = name


@mod.export(funcify=True)
class UseTfTrt(_Refused):
    """Refused."""

    def __init__(self, graph, max_workspace_size=None, fp16=None, int8=None, max_batch_size=None, is_dynamic_op=False,
                 minimum_segment_size=None) -> None:
        self._graph = graph


@mod.export(funcify=True)
class ModifyGraphOutputs(_Refused):
    """Refused."""

    def __init__(self, graph, outputs=None) -> None:
        self._graph = graph
        self.outputs = outputs


@mod.export(funcify=True)
class SaveGraph(_Refused):
    """Refused."""

    def __init__(self, graph, path=None, tensorboard_dir=None, engine_dir=None) -> None:
        self._graph = graph
        self.path = path


@mod.export(funcify=True)
class CreateConfig(_Refused):
    """Refused."""

    def __init__(self, gpu_memory_fraction=None, allow_growth=None, use_xla=None) -> None:
        self.gpu_memory_fraction = gpu_memory_fraction


@mod.export(funcify=True)
class SessionFromGraph(_Refused):
    """Refused."""

    def __init__(self, graph, config=None) -> None:
        self.graph = graph
        self.config = config
