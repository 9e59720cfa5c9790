"""Loaders of bytes and of users' scripts."""

from assay import mod, util
from assay.backend.base.loader import BaseLoader, given

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    __all__: list[str]

    def __getattr__(name: str) -> Any: ...


@mod.export(funcify=True)
class BytesFromPath(BaseLoader):
    """The bytes of a file."""

    def __init__(self, path) -> None:
        self._path = path

    def call_impl(self):
        return util.load_file(self._path, description="bytes")


@mod.export(funcify=True)
class SaveBytes(BaseLoader):
    """Writes bytes to a path or a file, and gives them again."""

    def __init__(self, obj, path) -> None:
        self._bytes = obj
        self._path = path

    def call_impl(self):
        contents = given(self._bytes)
        util.save_file(contents, self._path, description="bytes")
        return contents


@mod.export(funcify=True)
class InvokeFromScript(BaseLoader):
    """Calls a function of a script with the arguments of the call; a class is made first. It has the attributes of both."""

    def __init__(self, path, name) -> None:
        self._path = path
        self._name = name

    @property
    def __name__(self):
        return self._name

    def _load(self):
        found = mod.import_from_script(self._path, self._name)
        return found() if isinstance(found, type) else found

    def call_impl(self, *args, **kwargs):
        return self._load()(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._load(), name)
