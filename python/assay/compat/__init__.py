"""Scripts for Polygraphy, ONNX GraphSurgeon, TensorRT and CUDA run on this package, in this process only. Packages for
CUDA that are installed stay where $ASSAY_DEVICE names a card.

`python -m assay.compat SCRIPT ARGUMENTS` runs a script; `install()` does the same for what is imported from then on.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

PACKAGES = {"polygraphy": "assay", "onnx_graphsurgeon": "assay.graphsurgeon", "tensorrt": "assay.tensorrt"}
MODULES = {"cuda": "assay.compat.cuda_package", "cuda.cudart": "assay.compat.cudart",
           "cuda.bindings": "assay.compat.cuda_package", "cuda.bindings.runtime": "assay.compat.cudart",
           "pycuda": "assay.compat.pycuda", "pycuda.driver": "assay.compat.pycuda",
           "pycuda.autoinit": "assay.compat.pycuda"}


def _has_card_package(head):
    """True if a card is asked for and the package that programs it is installed: ours steps aside."""
    if os.environ.get("ASSAY_DEVICE", "cpu") in ("", "cpu"):
        return False
    return any(importlib.machinery.PathFinder.find_spec(head, [path]) for path in sys.path)


def target_of(name):
    """The module of ours that a name stands for; None: none does."""
    if name in MODULES:
        return None if _has_card_package(name.partition(".")[0]) else MODULES[name]
    head, _, rest = name.partition(".")
    if head not in PACKAGES:
        return None
    return f"{PACKAGES[head]}.{rest}" if rest else PACKAGES[head]


class _Loader(importlib.abc.Loader):
    """Importing changes nothing of what our module says of itself."""

    def __init__(self, target):
        self.target = target

    def create_module(self, spec):
        module = importlib.import_module(self.target)
        self.before = {name: getattr(module, name, None) for name in ("__spec__", "__loader__", "__package__",
                                                                      "__path__", "__name__", "__file__")}
        return module

    def exec_module(self, module):
        for name, value in self.before.items():
            if value is not None:
                setattr(module, name, value)


class _Finder(importlib.abc.MetaPathFinder):
    """Gives our modules under the names of others: the same modules, so that their classes are the same."""

    def find_spec(self, name, path=None, target=None):
        ours = target_of(name)
        if ours is None:
            return None
        found = importlib.util.find_spec(ours)
        if found is None:
            return None
        return importlib.util.spec_from_loader(name, _Loader(ours), is_package=True)


def install():
    """From now on, imports of the packages' names give ours."""
    if any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name in [each for each in sys.modules if target_of(each.partition(".")[0])]:
        if not getattr(sys.modules[name], "__name__", "").startswith("assay"):
            del sys.modules[name]


def uninstall():
    """Imports give again what they gave before."""
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, _Finder)]
    for name in [each for each in sys.modules if each.partition(".")[0] in (*PACKAGES, "cuda", "pycuda")]:
        del sys.modules[name]
