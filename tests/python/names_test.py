"""Every public name, method and parameter of the packages whose shapes ours has is there, but for a known few."""

import importlib
import inspect

import assay.graphsurgeon as ours
import checks
import onnx_graphsurgeon as real

MODULES = ("comparator", "backend.onnx", "backend.onnxrt", "backend.trt", "backend.common", "backend.pluginref",
           "backend.base", "json", "func", "logger", "common", "cuda", "exception", "mod", "config", "constants",
           "datatype", "backend.base.loader", "backend.base.runner", "backend.base.util", "backend.common.loader",
           "backend.onnx.loader", "backend.onnx.util", "backend.onnxrt.loader", "backend.onnxrt.runner",
           "backend.pluginref.references", "backend.pluginref.runner", "backend.pyt", "backend.tf", "backend.tf.loader",
           "backend.tf.runner", "common.interface", "common.struct", "comparator.comparator", "comparator.compare",
           "comparator.data_loader", "comparator.postprocess", "comparator.struct", "comparator.util",
           "datatype.datatype", "datatype.numpy", "datatype.onnx", "datatype.onnxrt", "datatype.tensorrt",
           "datatype.torch", "exception.exception", "func.func", "json.serde", "logger.logger", "mod.exporter",
           "mod.importer", "mod.trt_importer", "mod.util", "util", "util.array", "util.util")
# What serves the package itself, or things that are not here.
ABSENT = {"backend.trt.FileReader", "backend.trt.lazy_import_trt", "backend.trt.tensorrt_module_and_version_string",
          "backend.trt.Algorithm.from_trt", "backend.trt.TensorInfo.from_trt",
          "cuda.Cuda.check", "mod.List", "mod.dedent", "mod.exporter.G_LOGGER", "mod.exporter.dedent",
          "mod.exporter.version", "mod.importer.List", "mod.trt_importer.tensorrt_module_and_version_string",
          "datatype.from_datatype", "datatype.lazy_import_trt", "backend.onnx.util.LogMode",
          "backend.onnx.util.OrderedDict", "comparator.compare.LpipsThreshold",
          "comparator.compare.PerceptualMetricsResult", "comparator.util.build_heatmaps",
          "comparator.util.log_compared_output_stats", "comparator.util.scatter_plot_error_magnitude",
          "comparator.util.use_higher_precision", "logger.logger.COLORED_MODULE_PRESENT",
          "backend.tf.OptimizeGraph.constfold", "backend.tf.loader.OptimizeGraph.constfold", "GraphPattern.match", "GraphPattern.get_inbound_or_outbound_onnx_node"}
ABSENT |= {f"backend.onnx.{module}{name}.load" for module in ("", "loader.")
           for name in ("ConvertToFp16", "FoldConstants", "ModifyOutputs", "SetUpperBound")}
ABSENT |= {f"backend.pluginref.references.run_{name}" for name in ("identity", "instancenorm", "meanvarnorm")}
ABSENT |= {f"datatype.{library}.{name}" for library in ("numpy", "onnx", "onnxrt", "tensorrt", "torch")
           for name in ("from_datatype(self)", "lazy_import_trt", "register_dtype_exporter", "register_dtype_importer")}


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
