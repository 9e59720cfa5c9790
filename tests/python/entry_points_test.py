"""Runners that an installed package adds by entry points."""

import importlib
import pathlib
import sys

import checks
import numpy as np
import onnx
from assay import backend
from assay.comparator import Comparator
from assay.exception import PolygraphyException

MODULE = """
import numpy as np
from assay import mod
from assay.backend.base import BaseLoader, BaseRunner
from assay.common import TensorMetadata
from assay.model import native_of


@mod.export(funcify=True)
class NamesOf(BaseLoader):
    def __init__(self, model):
        self._model = model

    def call_impl(self):
        return [each[0] for each in native_of(self._model).inputs]


class Doubling(BaseRunner):
    def __init__(self, model, factor=2):
        super().__init__(prefix="doubling")
        self._model, self._factor = model, factor

    def get_input_metadata_impl(self):
        meta = TensorMetadata()
        for name in names_of(self._model):
            meta.add(name, np.float32, (1, 1, 2, 2))
        return meta

    def infer_impl(self, feed_dict):
        self.inference_time = 0.0
        return {"y": feed_dict["x"] * self._factor}


def nothing(model):
    return 3
"""
ENTRIES = """[assay.runners]
doubling = extra_runners:Doubling
nothing = extra_runners:nothing
broken = extra_runners:Missing
absent = no_such_module:Runner

[console_scripts]
unrelated = extra_runners:nothing
"""


def install():
    """A distribution as pip leaves it."""
    folder = pathlib.Path("site").absolute()
    (folder / "extra_runners-1.5.dist-info").mkdir(parents=True)
    (folder / "extra_runners.py").write_text(MODULE)
    (folder / "extra_runners-1.5.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: extra-runners\nVersion: 1.5\n")
    (folder / "extra_runners-1.5.dist-info/entry_points.txt").write_text(ENTRIES)
    sys.path.insert(0, str(folder))
    sys.modules.pop("extra_runners", None)
    importlib.invalidate_caches()
    return str(folder)


def test_runners_of_installed_packages():
    assert "doubling" not in backend.runners()
    folder = install()
    try:
        assert backend.runners() == ["absent", "broken", "doubling", "nothing"]
        model = checks.save_identity()
        runners = [backend.runner("doubling", "identity.onnx", factor=1), backend.runner("ref", "identity.onnx")]
        assert [type(each).__name__ for each in runners] == ["Doubling", "BackendRunner"]
        assert bool(Comparator.compare_accuracy(Comparator.run(runners)))
        with backend.runner("doubling", model) as runner:
            assert runner.infer({"x": np.ones((1, 1, 2, 2), np.float32)})["y"].tolist() == [[[[2, 2], [2, 2]]]]
        assert sys.modules["extra_runners"].names_of("identity.onnx") == ["x"]
    finally:
        sys.path.remove(folder)
    assert "doubling" not in backend.runners()


def test_what_is_no_runner_is_said():
    folder = install()
    try:
        with checks.raises(PolygraphyException, "`extra_runners:nothing` of extra-runners 1.5 gives a int"):
            backend.runner("nothing", onnx.ModelProto())
        with checks.raises(PolygraphyException, "the runner `broken`, `extra_runners:Missing` of extra-runners 1.5",
                           "AttributeError"):
            backend.runner("broken", onnx.ModelProto())
        with checks.raises(PolygraphyException, "the runner `absent`", "No module named 'no_such_module'"):
            backend.runner("absent", onnx.ModelProto())
    finally:
        sys.path.remove(folder)
    with checks.raises(PolygraphyException, "nowhere"):
        backend.runner("nowhere", checks.save_identity()).activate()


if __name__ == "__main__":
    checks.run_all(globals())
