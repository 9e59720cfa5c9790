"""Runs an input at a time, whose results are gone when they were compared."""

from __future__ import annotations

import contextlib
import itertools
import os

from assay import util
from assay.comparator.data_loader import check_feed_dict, coerce_feed_dict
from assay.comparator.struct import IterationResult, RunResults
from assay.json import ITERATION_FILE_INDEX_WIDTH, IterationWriter
from assay.logger import G_LOGGER


class BlobWriter:
    """Writes the bytes of inputs: a folder for each iteration with a file for each input. None: nowhere."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.count = 0

    def append(self, feeds) -> None:
        if self.folder is None:
            return
        place = os.path.join(self.folder, f"{self.count:0{ITERATION_FILE_INDEX_WIDTH}}")
        os.makedirs(place, exist_ok=True)
        for name, value in feeds.items():
            util.array_of(value).tofile(os.path.join(place, f"{util.sanitize_filename(name)}.bin"))
        self.count += 1


def run_streaming(runners, data_loader, inputs_path, outputs_path, blob_path):
    """Results of one iteration each; all runners are active at once."""
    with contextlib.ExitStack() as stack:
        active = [stack.enter_context(runner) for runner in runners]
        metadata = [runner.get_input_metadata(use_numpy_dtypes=False) for runner in active]
        if metadata and hasattr(data_loader, "input_metadata"):
            data_loader.input_metadata = metadata[0]
        blobs = BlobWriter(blob_path)
        inputs = stack.enter_context(IterationWriter(inputs_path, None, True, "input data"))
        outputs = stack.enter_context(IterationWriter(outputs_path, RunResults.concat, True, "inference results"))
        for feeds in data_loader() if callable(data_loader) else data_loader:
            check_feed_dict(feeds)
            inputs.append(dict(feeds))
            blobs.append(feeds)
            results = RunResults([(runner.name, [_infer(runner, coerce_feed_dict(feeds, wanted))])
                                  for runner, wanted in zip(active, metadata)])
            outputs.append(results)
            yield results


def _infer(runner, feeds):
    found = runner.infer(feeds)
    return IterationResult(found, runner.last_inference_time(), runner.name)


def close(stream) -> None:
    """Ends a stream that may not be at its end: what it has to write, it writes now."""
    if hasattr(stream, "close"):
        stream.close()


def is_stream(results):
    """Whether they come one after the other: neither RunResults nor a list of runs."""
    if not hasattr(results, "__iter__") or isinstance(results, (str, bytes, dict)):
        G_LOGGER.critical(f"expected RunResults or a list of them, seen {type(results).__name__}")
    return not isinstance(results, (RunResults, list, tuple))


def mapped(stream, function):
    """What a function gives for each of a stream."""
    try:
        yield from map(function, stream)
    finally:
        close(stream)


def _alone(name, iterations):
    for each in iterations:
        yield RunResults([(name, [each])])


def side_by_side(runs):
    """Results of one iteration each, of several runs, which are RunResults or streams of such results."""
    streams: list = []
    for run in runs:
        streams.extend([run] if is_stream(run) else [_alone(name, iterations) for name, iterations in run])
    nothing = object()
    try:
        for count, group in enumerate(itertools.zip_longest(*streams, fillvalue=nothing)):
            if any(each is nothing for each in group):
                G_LOGGER.warning(f"the runs have different numbers of iterations: the first {count} were compared")
                return
            yield RunResults([entry for each in group for entry in each])
    finally:
        for each in streams:
            close(each)
