"""The engine in the shape of TensorRT's Python package, of version 8 as well as of later ones.

Networks become ONNX models, engines run on the processor, and addresses are those of memory of this process.
"""

from assay.tensorrt import enums, generations
from assay.tensorrt.algorithms import IAlgorithm, IAlgorithmContext, IAlgorithmIOInfo, IAlgorithmVariant
from assay.tensorrt.builder import Builder
from assay.tensorrt.calibrator import (IInt8Calibrator, IInt8EntropyCalibrator, IInt8EntropyCalibrator2,
                                       IInt8LegacyCalibrator, IInt8MinMaxCalibrator)
from assay.tensorrt.config import IBuilderConfig, IOptimizationProfile, ITimingCache, TimingCacheKey, TimingCacheValue
from assay.tensorrt.dims import Dims, Dims2, Dims3, Dims4, DimsHW, IHostMemory, Permutation, Weights
from assay.tensorrt.context import IExecutionContext, IOutputAllocator
from assay.tensorrt.engine import ICudaEngine, Runtime
from assay.tensorrt.inspector import EngineInspector
from assay.tensorrt.interfaces import (IAlgorithmSelector, IDebugListener, IGpuAllocator, IGpuAsyncAllocator, IProfiler,
                                       InterfaceInfo, IProgressMonitor, ISerializationConfig,
                                       IStreamReader, IStreamReaderV2, IStreamWriter, IVersionedInterface, Profiler)
from assay.tensorrt.layers import CLASSES, ILayer
from assay.tensorrt.logger import IErrorRecorder, ILogger, Logger
from assay.tensorrt.network import INetworkDefinition
from assay.tensorrt.parser import OnnxParser, ParserError
from assay.tensorrt.plugins import (DimsExprs, DynamicPluginTensorDesc, IDimensionExpr, IExprBuilder,
                                    IPluginCapability, IPluginCreator, IPluginCreatorInterface, IPluginCreatorV3One,
                                    IPluginRegistry, IPluginResource, IPluginResourceContext, IPluginV2,
                                    IPluginV2DynamicExt, IPluginV2Ext, IPluginV3, IPluginV3OneBuild,
                                    IPluginV3OneBuildV2, IPluginV3OneCore, IPluginV3OneRuntime, PluginField,
                                    PluginFieldCollection, PluginTensorDesc, get_builder_plugin_registry,
                                    get_plugin_registry,
                                    init_libnvinfer_plugins)
from assay.tensorrt.quick_plugins import (IPluginCreatorV3Quick, IPluginV3QuickBuild, IPluginV3QuickCore,
                                          IPluginV3QuickRuntime, IWeightsManager)
from assay.tensorrt.refit import OnnxParserRefitter, Refitter
from assay.tensorrt.runtime_cache import IRuntimeCache, IRuntimeConfig
from assay.tensorrt.tensor import ITensor

# Of version 8, whose names are all there beside those of later ones; or of the generation that was asked for.
__version__ = "11.1.0" if generations.IS_STRICT else "8.6.1"

TYPE_CHECKING = False
if TYPE_CHECKING:  # what globals() gets
    from typing import Any

    __all__ = ["Builder", "IAlgorithm", "IAlgorithmContext", "IAlgorithmIOInfo", "IAlgorithmVariant",
               "Dims", "Dims2", "Dims3", "Dims4", "DimsExprs", "DimsHW", "DynamicPluginTensorDesc",
               "EngineInspector", "IAlgorithmSelector", "IBuilderConfig", "IConditionLayer", "ICudaEngine",
               "IDebugListener", "IDimensionExpr", "IErrorRecorder", "IExecutionContext", "IExprBuilder",
               "IGpuAllocator", "IGpuAsyncAllocator", "IHostMemory", "IIfConditional", "IIfConditionalInputLayer",
               "IIfConditionalOutputLayer", "IInt8Calibrator", "IInt8EntropyCalibrator", "IInt8EntropyCalibrator2",
               "IInt8LegacyCalibrator", "IInt8MinMaxCalibrator", "IIteratorLayer", "ILayer", "ILogger", "ILoop",
               "ILoopOutputLayer", "INetworkDefinition", "IOptimizationProfile", "IOutputAllocator",
               "IPluginCreator", "IPluginCreatorV3One", "IPluginRegistry", "IPluginV2", "IPluginV2DynamicExt",
               "IPluginV2Ext", "IPluginV3", "IPluginV3OneBuild", "IPluginV3OneCore", "IPluginV3OneRuntime",
               "IPluginCreatorV3Quick", "IPluginV3QuickBuild", "IPluginV3QuickCore", "IPluginV3QuickRuntime",
               "IProfiler", "IProgressMonitor", "IRecurrenceLayer", "IRuntimeCache", "IRuntimeConfig",
               "ISerializationConfig", "IWeightsManager", "get_builder_plugin_registry",
               "IStreamReader", "IStreamReaderV2", "IStreamWriter", "ITensor", "ITimingCache", "ITripLimitLayer",
               "Logger", "OnnxParser", "OnnxParserRefitter", "ParserError", "Permutation", "PluginField", "PluginFieldCollection",
               "PluginTensorDesc", "Profiler", "Refitter", "Runtime", "Weights", "enums", "get_plugin_registry",
               "init_libnvinfer_plugins"]

    def __getattr__(name: str) -> Any: ...

globals().update(enums.ENUMS)
globals().update(CLASSES)
PluginFieldCollection_ = PluginFieldCollection
NodeIndices = list  # what tells nodes of a model by their numbers
DataType = enums.DataType
float32, float16, int8, int32 = DataType.FLOAT, DataType.HALF, DataType.INT8, DataType.INT32
bool, uint8, fp8, bfloat16 = DataType.BOOL, DataType.UINT8, DataType.FP8, DataType.BF16
int64, int4, fp4, e8m0 = DataType.INT64, DataType.INT4, DataType.FP4, DataType.E8M0


def volume(iterable):
    """The product of dims; of none 0, and 1 in the generation 11."""
    product = 1
    for dim in iterable:
        product *= dim
    return product if len(list(iterable)) or generations.IS_STRICT else 0


def nptype(trt_type):
    """numpy's type; of types that numpy has with ml_dtypes only, those."""
    import numpy as np

    from assay.datatype import DataType as Shared

    try:
        found = Shared.from_native(trt_type.native).numpy()
    except ImportError:
        raise TypeError("Could not resolve TensorRT datatype to an equivalent numpy datatype.") from None
    return found.type if found.type is not np.void else found


def get_nv_onnx_parser_version():
    """The version of the parser, as one number."""
    return 110100 if generations.IS_STRICT else 80601


if generations.IS_STRICT:
    generations.restrict(globals())
