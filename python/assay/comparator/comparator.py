"""Runs runners on the same inputs, and compares what they gave."""

from __future__ import annotations

import contextlib
import copy
import pickle

from assay import _native, util
from assay.comparator.compare import SimpleCompareFunc
from assay.comparator.data_loader import DataLoader, DataLoaderCache
from assay.comparator.struct import AccuracyResult, AccuracyResults, IterationResult, RunResults
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


def _stream(runners, data_loader):
    """Results of one iteration each; all runners are active at once."""
    with contextlib.ExitStack() as stack:
        active = [stack.enter_context(runner) for runner in runners]
        cache = DataLoaderCache(data_loader)
        cache.set_input_metadata(active[0].get_input_metadata(use_numpy_dtypes=False))
        for i in range(len(cache)):
            results = RunResults()
            for runner in active:
                cache.set_input_metadata(runner.get_input_metadata(use_numpy_dtypes=False))
                outputs = copy.deepcopy(runner.infer(cache[i]))
                results.append((runner.name, [IterationResult(outputs, runner.last_inference_time(), runner.name)]))
            yield results


def _all_results(run_results):
    if isinstance(run_results, RunResults):
        return run_results
    if not util.is_sequence(run_results):
        G_LOGGER.critical(f"expected RunResults or a list of them, seen {type(run_results).__name__}")
    joined = RunResults()
    parts = list(run_results)
    if parts and isinstance(parts[0], RunResults):
        return RunResults.concat(parts)
    for each in parts:
        joined += _all_results(each)
    return joined


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
            return _stream(runners, data_loader)
        cache = DataLoaderCache(data_loader, save_inputs_path)
        results = RunResults()
        for runner in runners:
            if use_subprocess:
                iterations = _run_in_child(runner, cache, util.default(warm_up, 0), subprocess_timeout)
            else:
                iterations = _run_one(runner, cache, util.default(warm_up, 0))
            results.append((runner.name, iterations))
        if save_outputs_path:
            results.save(save_outputs_path)
        if save_input_blob_path:
            _save_blobs(cache, save_input_blob_path)
        return results

    @staticmethod
    def postprocess(run_results: RunResults, postprocess_func: Callable) -> RunResults:
        """Changes the outputs of all iterations."""
        processed = RunResults()
        for name, iterations in _all_results(run_results):
            processed.append((name, [postprocess_func(each) for each in iterations]))
        return processed

    @staticmethod
    def default_comparisons(run_results):
        """Each runner with the next one."""
        return [(i, i + 1) for i in range(len(run_results) - 1)]

    @staticmethod
    def compare_accuracy(run_results: RunResults, fail_fast: bool = False, comparisons=None,
                         compare_func: Callable | None = None, check_average: bool = False) -> AccuracyResults:
        """Compares outputs, each runner's with the next one's; gives AccuracyResults."""
        results = _all_results(run_results)
        functions = compare_func if isinstance(compare_func, (list, tuple)) else [compare_func]
        pairs = util.default(comparisons, Comparator.default_comparisons(results))
        compared = AccuracyResults()
        for function in functions:
            compared.append(_compare(results, pairs, function or SimpleCompareFunc(), fail_fast))
            if check_average:
                compared[-1].aggregation = "average"
        return compared

    @staticmethod
    def validate(run_results: RunResults, check_inf: bool | None = None, check_nan: bool | None = None,
                 fail_fast: bool | None = None) -> bool:
        """Whether outputs are free of NaN, and of infinities if `check_inf`."""
        is_valid = True
        for name, iterations in _all_results(run_results):
            for index, iteration in enumerate(iterations):
                for output, value in iteration.items():
                    nans, infinities = _native.validate(util.array_of(value))
                    faults = []
                    if nans and util.default(check_nan, True):
                        faults.append(f"{nans} NaN")
                    if infinities and util.default(check_inf, False):
                        faults.append(f"{infinities} infinite")
                    if faults:
                        is_valid = False
                        G_LOGGER.error(f"{name} | iteration {index} | output '{output}': {', '.join(faults)} element(s)")
                    if faults and fail_fast:
                        return False
        return is_valid


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
        matched, _, total = found.stats((name0, name1))
        log = G_LOGGER.finish if matched == total else G_LOGGER.error
        log(f"Accuracy Summary | {name0} vs. {name1} | Passed: {matched}/{total} iterations | Pass Rate: "
            f"{100 * found.percentage((name0, name1)):.2f}%")
        if fail_fast and matched != total:
            break
    return found


def _save_blobs(cache, folder):
    import os

    for index, feeds in enumerate(cache.cache):
        os.makedirs(os.path.join(folder, str(index)), exist_ok=True)
        for name, value in feeds.items():
            util.array_of(value).tofile(os.path.join(folder, str(index), f"{name.replace('/', '_')}.bin"))
