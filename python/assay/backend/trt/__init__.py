"""The engine, by the loaders and runners that scripts for TensorRT use."""

from assay.backend.trt.calibrator import Calibrator
from assay.backend.trt.config import *  # noqa: F403
from assay.backend.trt.config import __all__ as _config
from assay.backend.trt.loader import *  # noqa: F403
from assay.backend.trt.loader import __all__ as _loader
from assay.backend.trt.profile import Profile, ShapeTuple
from assay.backend.trt.runner import TrtRunner
from assay.backend.trt.tactics import Algorithm, TacticRecorder, TacticReplayData, TacticReplayer, TensorInfo
from assay.backend.trt.util import get_trt_logger

__all__ = ["Algorithm", "Calibrator", "Profile", "ShapeTuple", "TacticRecorder", "TacticReplayData", "TacticReplayer",
           "TensorInfo", "TrtRunner", "get_trt_logger", *_config, *_loader]

TYPE_CHECKING = False
if TYPE_CHECKING:  # the functions that evaluate loaders at once are made by export()
    from typing import Any

    def __getattr__(name: str) -> Any: ...
