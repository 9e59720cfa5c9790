"""The page that shows a model, as the command `view`: served, written to a file, or in a notebook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from assay import _native
from assay.model import native_of

_HEIGHT = 640


def _program() -> str:
    beside = Path(__file__).with_name("assay")
    for place in (beside, Path(_native.__file__).parents[2] / "bin" / "assay"):
        if place.is_file():
            return str(place)
    found = shutil.which("assay")
    if found is None:
        raise _native.Error("the program `assay` was not found: it lies neither beside the package nor in PATH")
    return found


def _message(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "the program ended without a message"


class View:
    """A model on a page, with another one and with what files say about it."""

    def __init__(self, model, other=None, files: Sequence[str | os.PathLike] = ()):
        self._folder = tempfile.TemporaryDirectory(prefix="assay-view-")
        self._words = [self._path(model, "model"), *([] if other is None else [self._path(other, "other")])]
        if files:
            self._words += ["--with", *map(str, files)]
        self._process: subprocess.Popen | None = None
        self.address: str | None = None

    def _path(self, model, name):
        if isinstance(model, (str, os.PathLike)):
            return str(model)
        path = os.path.join(self._folder.name, f"{name}.onnx")
        native_of(model).save(path)
        return path

    def _start(self, *words):
        environment = {**os.environ, "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV", sys.prefix)}
        return subprocess.Popen([_program(), "view", *self._words, *words], text=True, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page to one .html file that works offline, or its picture to .svg."""
        process = self._start("--output", str(path))
        _, errors = process.communicate()
        if process.returncode != 0:
            raise _native.Error(_message(errors))

    def html(self) -> str:
        """The page as one document that works offline."""
        path = Path(self._folder.name) / "page.html"
        self.save(path)
        return path.read_text(encoding="utf-8")

    def open(self, port: int = 0, browser: bool = True) -> str:
        """Serves the page until it is closed, or until close(); gives its address."""
        self.close()
        process = self._start("--port", str(port), *([] if browser else ["--no-browser"]))
        for line in process.stdout or ():
            if "The page is at " in line:
                self._process = process
                self.address = line.split("The page is at ")[1].strip()
                return self.address
        raise _native.Error(_message(process.communicate()[1]))

    def close(self) -> None:
        """Ends the program that serves the page."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
        self._process = self.address = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_process", None) is not None:
            self.close()

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts allow-downloads" '
                f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>')


def view(model, other=None, files: Sequence[str | os.PathLike] = ()) -> View:
    """Shows a model, a path or whatever stands for one, on a page; the last value of a cell of a notebook shows it
    there. `other`: a second model, shown with what differs; `files`: reports, plans, saved values and calibration
    caches that are shown on the model."""
    return View(model, other, files)
