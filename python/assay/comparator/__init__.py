"""Runs models on several backends and compares what they give."""

from assay.comparator.compare import (BaseCompareFunc, CompareFunc, CosineSimilarityCompareFunc, IndicesCompareFunc,
                                      L2CompareFunc, PerceptualMetricsCompareFunc, PsnrCompareFunc, SimpleCompareFunc,
                                      SnrCompareFunc)
from assay.comparator.comparator import Comparator
from assay.comparator.data_loader import DataLoader, DataLoaderCache, StreamingDataLoader
from assay.comparator.postprocess import BasePostprocessFunc, PostprocessFunc, TopKPostprocessFunc
from assay.comparator.results import (CompareResult, CosineSimilarityResult, CosineSimilarityThreshold, L2Result,
                                      L2Threshold, LpipsThreshold, OutputCompareResult, PerceptualMetricsResult,
                                      PsnrResult, PsnrThreshold, SimpleThreshold, SnrResult, SnrThreshold, Threshold)
from assay.comparator.struct import AccuracyResult, AccuracyResults, IterationResult, LazyArray, RunResults

__all__ = ["AccuracyResult", "AccuracyResults", "BaseCompareFunc", "BasePostprocessFunc", "Comparator", "CompareFunc",
           "CompareResult", "CosineSimilarityCompareFunc", "CosineSimilarityResult", "CosineSimilarityThreshold",
           "DataLoader", "DataLoaderCache", "IndicesCompareFunc", "IterationResult", "L2CompareFunc", "L2Result",
           "L2Threshold", "LazyArray", "LpipsThreshold", "OutputCompareResult", "PerceptualMetricsCompareFunc",
           "PerceptualMetricsResult", "PostprocessFunc", "PsnrCompareFunc", "PsnrResult", "PsnrThreshold",
           "RunResults", "SimpleCompareFunc", "SimpleThreshold", "SnrCompareFunc", "SnrResult", "SnrThreshold",
           "StreamingDataLoader", "Threshold", "TopKPostprocessFunc"]
