"""Runs runners on the same inputs, and compares what they gave."""

from __future__ import annotations

import copy
import pickle

from assay import _native, util
from assay.comparator import streams
from assay.comparator.compare import IndicesCompareFunc, SimpleCompareFunc
from assay.comparator.data_loader import DataLoader, DataLoaderCache
from assay.comparator.results import SimpleThreshold
from assay.comparator.struct import AccuracyResult, AccuracyResults, IterationResult, RunResults
from assay.json import IterationWriter, is_single_file
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Callable, Iterable

    from assay.backend.base import BaseRunner


def _time_text(runner, results):
    times = [each.runtime for each in results if each.runtime is not None]
    if not times:
        return f"{runner.name} | Completed {len(results)} iteration(s)"
    total = 1e3 * sum(times)
    return (f"{runner.name} | Completed {len(results)} iteration(s) in {total:.4g} ms | "
            f"Average inference time: {total / len(times):.4g} ms.")


def _run_one(runner, cache, warm_up):
    results = []
    with runner as active:
        G_LOGGER.start(f"{runner.name} | Activating and starting inference")
        metadata = active.get_input_metadata(use_numpy_dtypes=False)
        cache.set_input_metadata(metadata)
        G_LOGGER.verbose(lambda: f"{runner.name} | Input Metadata:\n{metadata}")
        for _ in range(warm_up):
            active.infer(cache[0])
        for feeds in cache:
            outputs = active.infer(feeds)
            if len(cache) > 1:
                outputs = copy.deepcopy(outputs)
            results.append(IterationResult(outputs, active.last_inference_time(), runner.name))
        G_LOGGER.finish(_time_text(runner, results))
    return results


def _run_in_child(runner, cache, warm_up, timeout):
    """The same in a process of its own; its death is an error of this one. Inputs that it loaded stay in the cache."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(there, runner, cache, warm_up))
    child.start()
    there.close()
    try:
        if not here.poll(timeout):
            raise TimeoutError
        kind, *result = pickle.loads(here.recv_bytes())
    except (EOFError, TimeoutError) as error:
        child.kill()
        child.join()
        what = "took too long" if isinstance(error, TimeoutError) else f"ended with the status {child.exitcode}"
        G_LOGGER.critical(f"{runner.name} | its process {what}")
    child.join()
    if kind == "error":
        G_LOGGER.critical(f"{runner.name} | {result[0]}")
    iterations, cache.cache = result
    cache.save()
    return iterations


def _child(pipe, runner, cache, warm_up):
    try:
        with util.TempAttrChange(cache, {"save_inputs_path": ""}):  # this process is not the one that saves them
            results = _run_one(runner, cache, warm_up)
        # By value: torch would hand its tensors on by files that end with this process.
        pipe.send_bytes(pickle.dumps(("results", results, cache.cache)))
    except Exception as error:
        pipe.send_bytes(pickle.dumps(("error", f"{type(error).__name__}: {error}")))
    pipe.close()


class Comparator:
    """Compares backends."""

    @staticmethod
    def run(runners: Iterable[BaseRunner], data_loader=None, warm_up: int | None = None,
            use_subprocess: bool | None = None, subprocess_timeout: float | None = None,
            subprocess_polling_interval=None, save_inputs_path=None, save_outputs_path=None, save_input_blob_path=None,
            streaming=None) -> RunResults:
        """Runs all runners, one after the other, on the same inputs; gives RunResults."""
        data_loader = DataLoader() if data_loader is None else data_loader
        if streaming:
            if warm_up or use_subprocess:
                G_LOGGER.critical("streaming runs have neither warm-up runs nor processes of their own")
            return streams.run_streaming(runners, data_loader, save_inputs_path, save_outputs_path, save_input_blob_path)
        cache = DataLoaderCache(data_loader, save_inputs_path)
        results = RunResults()
        for runner in runners:
            if use_subprocess:
                iterations = _run_in_child(runner, cache, util.default(warm_up, 0), subprocess_timeout)
            else:
                iterations = _run_one(runner, cache, util.default(warm_up, 0))
            results.append((runner.name, iterations))
        _save(results, save_outputs_path)
        blobs = streams.BlobWriter(save_input_blob_path)
        for feeds in cache.cache:
            blobs.append(feeds)
        return results

    @staticmethod
    def postprocess(run_results: RunResults, postprocess_func: Callable) -> RunResults:
        """Changes the outputs of all iterations, and gives the results again; of a stream, or a list, another one."""
        if isinstance(run_results, (list, tuple)):
            return [Comparator.postprocess(each, postprocess_func) for each in run_results]  # type: ignore[return-value]
        if streams.is_stream(run_results):
            return streams.mapped(run_results, lambda each: Comparator.postprocess(each, postprocess_func))
        for _, iterations in run_results:
            iterations[:] = [postprocess_func(each) for each in iterations]
        return run_results

    @staticmethod
    def default_comparisons(run_results):
        """Each runner with the next one."""
        return [(i, i + 1) for i in range(len(run_results) - 1)]

    @staticmethod
    def compare_accuracy(run_results: RunResults, fail_fast: bool = False, comparisons=None,
                         compare_func: Callable | None = None, check_average: bool = False) -> AccuracyResults:
        """Compares outputs, each runner's with the next one's; gives AccuracyResults.

        A list is one of several runs. Of a stream, as of run(streaming=True), an iteration is compared at a time.
        """
        functions = compare_func if isinstance(compare_func, (list, tuple)) else [compare_func]
        functions = [util.default(each, SimpleCompareFunc()) for each in functions]
        aggregation = "average" if check_average else "per_sample"
        if check_average:
            _check_averages(functions, fail_fast)
        if isinstance(run_results, RunResults):
            pairs = util.default(comparisons, Comparator.default_comparisons(run_results))
            found = [_compare(run_results, pairs, each, fail_fast) for each in functions]
        else:
            found = _compare_streams(run_results, comparisons, functions, fail_fast)
        for each in found:
            each.aggregation = aggregation
        return AccuracyResults(found)

    @staticmethod
    def validate(run_results: RunResults, check_inf: bool | None = None, check_nan: bool | None = None,
                 fail_fast: bool | None = None) -> bool:
        """Whether outputs are free of NaN, and of infinities if `check_inf`.

        Of a list, a list of that; of a stream, the stream again, which then ends with an error where they are not.
        """
        check_inf, check_nan = util.default(check_inf, False), util.default(check_nan, True)
        if isinstance(run_results, (list, tuple)):
            found = [Comparator.validate(each, check_inf, check_nan, fail_fast) for each in run_results]
            return found  # type: ignore[return-value]
        if streams.is_stream(run_results):
            return streams.mapped(run_results, lambda each: _valid_or_end(each, check_inf, check_nan))
        return _validate(run_results, check_inf, check_nan, fail_fast)


def _validate(results, check_inf, check_nan, fail_fast):
    is_valid = True
    for name, iterations in results:
        for index, iteration in enumerate(iterations):
            for output, value in iteration.items():
                nans, infinities = _native.validate(util.array_of(value))
                faults = [f"{nans} NaN"] if nans and check_nan else []
                faults += [f"{infinities} infinite"] if infinities and check_inf else []
                if faults:
                    is_valid = False
                    G_LOGGER.error(f"{name} | iteration {index} | output '{output}': {', '.join(faults)} element(s)")
                if faults and fail_fast:
                    return False
    return is_valid


def _valid_or_end(results, check_inf, check_nan):
    if not _validate(results, check_inf, check_nan, True):
        G_LOGGER.critical("an output has elements that are no numbers, or infinite")
    return results


def _save(results, path):
    if path and is_single_file(path):
        results.save(path)
    elif path:
        with IterationWriter(path, description="inference results") as writer:
            for each in results.split():
                writer.append(each)


def _check_averages(functions, fail_fast):
    """Refuses comparisons of which no average can be judged."""
    if fail_fast:
        G_LOGGER.critical("check_average and fail_fast cannot be used together: an average is of all iterations")
    for function in functions:
        if not hasattr(function, "thresholds_for") or isinstance(function, IndicesCompareFunc):
            G_LOGGER.critical(f"{type(function).__name__} does not support average comparison: it measures nothing")
        threshold = function.thresholds_for("")
        if isinstance(threshold, SimpleThreshold) and threshold.check_error_stat == "elemwise":
            G_LOGGER.critical("check_average is not supported with check_error_stat='elemwise', which has no statistic: "
                              "take max, mean, median or quantile")


def _compare(results, pairs, function, fail_fast):
    found = AccuracyResult()
    for first, second in pairs:
        (name0, iterations0), (name1, iterations1) = results[first], results[second]
        G_LOGGER.start(f"Accuracy Comparison | {name0} vs. {name1}")
        if len(iterations0) != len(iterations1):
            G_LOGGER.warning(f"{name0} has {len(iterations0)} iterations, {name1} has {len(iterations1)}: the rest is "
                             "not compared")
        judged = []
        with G_LOGGER.indent():
            for a, b in zip(iterations0, iterations1):
                judged.append(function(a, b))
                if fail_fast and not all(bool(each) for each in judged[-1].values()):
                    break
        found[(name0, name1)] = judged
        _tell_summary(found, (name0, name1))
        if fail_fast and not all(bool(result) for each in judged for result in each.values()):
            break
    return found


def _tell_summary(found, pair):
    matched, _, total = found.stats(pair)
    log = G_LOGGER.finish if matched == total else G_LOGGER.error
    log(f"Accuracy Summary | {pair[0]} vs. {pair[1]} | Passed: {matched}/{total} iterations | Pass Rate: "
        f"{100 * found.percentage(pair):.2f}%")


def _compare_streams(run_results, comparisons, functions, fail_fast):
    """The same for several runs, or for one that comes an iteration at a time."""
    found = [AccuracyResult() for _ in functions]
    merged = streams.side_by_side(run_results if isinstance(run_results, (list, tuple)) else [run_results])
    try:
        for results in merged:
            for first, second in util.default(comparisons, Comparator.default_comparisons(results)):
                (name0, (a, *_)), (name1, (b, *_)) = results[first], results[second]
                for judged, function in zip(found, functions):
                    judged[(name0, name1)] = [*judged.get((name0, name1), []), function(a, b)]
            if fail_fast and not all(map(bool, found)):
                break
    finally:
        merged.close()
    for judged in found:
        for pair in judged.keys():
            _tell_summary(judged, pair)
    return found
