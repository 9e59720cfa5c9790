"""Every public name, method and parameter of the packages whose shapes ours has is there, but for a known few."""

import importlib
import inspect

import assay.graphsurgeon as ours
import checks
import onnx_graphsurgeon as real

MODULES = ("comparator", "backend.onnx", "backend.onnxrt", "backend.trt", "backend.common", "backend.pluginref",
           "backend.base", "json", "func", "logger", "common", "cuda", "exception", "mod", "config", "constants",
           "datatype")
# What serves the package itself, or things that are not here.
ABSENT = {"backend.trt.FileReader", "backend.trt.lazy_import_trt", "backend.trt.tensorrt_module_and_version_string",
          "backend.trt.Algorithm.from_trt", "backend.trt.TensorInfo.from_trt",
          "cuda.Cuda.check", "mod.List", "mod.dedent", "datatype.from_datatype", "datatype.lazy_import_trt",
          "datatype.register_dtype_exporter",
          "datatype.register_dtype_importer", "GraphPattern.match", "GraphPattern.get_inbound_or_outbound_onnx_node"}
ABSENT |= {f"backend.onnx.{name}.load" for name in ("ConvertToFp16", "FoldConstants", "ModifyOutputs", "SetUpperBound")}


def public(module):
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return [name for name in names if not inspect.ismodule(getattr(module, name, None))
            and type(getattr(module, name, None)).__name__ != "LazyModule"]


def differences(theirs, mine, names, prefix):
    for name in names:
        if not hasattr(mine, name):
            yield f"{prefix}{name}"
            continue
        first, second = getattr(theirs, name), getattr(mine, name)
        if inspect.isclass(first):
            for member in dir(first):
                if not member.startswith("_") and not hasattr(second, member):
                    yield f"{prefix}{name}.{member}"
        yield from missing_parameters(first, second, f"{prefix}{name}")


def missing_parameters(first, second, name):
    try:
        expected, found = inspect.signature(first).parameters, inspect.signature(second).parameters
    except (TypeError, ValueError):
        return
    if any(each.kind == each.VAR_KEYWORD for each in found.values()):
        return
    for parameter in expected:
        if parameter not in found:
            yield f"{name}({parameter})"


def test_names_of_polygraphy():
    missing = set()
    for module in MODULES:
        theirs, mine = (importlib.import_module(f"{package}.{module}") for package in ("polygraphy", "assay"))
        missing |= set(differences(theirs, mine, public(theirs), f"{module}."))
    assert missing <= ABSENT, sorted(missing - ABSENT)


def test_names_of_graphsurgeon():
    names = [name for name in dir(real) if name[0].isupper() or name.endswith("_onnx")]
    missing = set(differences(real, ours, names, ""))
    assert missing <= ABSENT, sorted(missing - ABSENT)


if __name__ == "__main__":
    checks.run_all(globals())
