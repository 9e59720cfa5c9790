"""The module of Polygraphy's that has the selectors."""

from assay.backend.trt.tactics import Algorithm, TacticRecorder, TacticReplayData, TacticReplayer, TensorInfo

__all__ = ["Algorithm", "TacticRecorder", "TacticReplayData", "TacticReplayer", "TensorInfo"]
