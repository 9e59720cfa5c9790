"""How programs live on a card (for card.py): kernels that are late, plans in other processes, what the sanitizer sees,
memory after many builds, contexts on two threads."""

import os
import re
import subprocess
import sys
import time

DELAYED = [[], ["--fp16"], ["--bf16"]]
REPEATS = 100
LARGE = """<ir_version: 8, opset_import: ["" : 17]> g (float[400000,2] x) => (float[400000,1] z) {
  t = Transpose(x) a = MatMul(x, t) s = Softmax(a) z = ReduceMax<axes = [1]>(s) }"""
# Convolutions, attention, a normalisation and products: small, so that it may be built often.
SMALL = """<ir_version: 10, opset_import: ["" : 21]> g (float[4,8,16,16] x) => (float[4,64,8] z)
  <int64[3] n = {4,8,64}, WEIGHTS> {
  c = Conv<pads = [1,1,1,1]>(x, w) r = Relu(c) m = MaxPool<kernel_shape = [2,2], strides = [2,2]>(r)
  p = Reshape(m, n) q = MatMul(p, u) t = Transpose<perm = [0,2,1]>(q)
  a = MatMul(t, p) b = Softmax(a) d = MatMul(b, t) e = LayerNormalization(d, s) z = Add(e, t) }"""
TOOLS = [("memcheck", "--report-api-errors", "no"), ("racecheck",), ("synccheck",)]
SANITIZED = ["matmul", "conv_transpose", "convolution", "normalization", "attention", "gather", "scatter", "topk", "pool",
             "cumsum", "recurrent", "resize", "quantizelinear", "reducesum", "transpose"]


def last_line(output):
    return (output.strip().splitlines() or ["no word"])[-1]


def timed(run, *command, **variables):
    begin = time.monotonic()
    status, output = run(*command, **variables)
    return status, output, time.monotonic() - begin


def delays(run, build, folder, paths):
    """Runs with kernels that sleep at random: all of them, and those without sleep, have the same bits."""
    assay, faults = build / "bin" / "assay", []
    for path in paths:
        for flags in DELAYED:
            engine = ["--engine", "--device", "cuda", *flags]
            saved = folder / "undelayed.json"
            found = [run(assay, "run", path, *engine, "--save-outputs", saved),
                     run(assay, "run", path, *engine, "--load-outputs", saved, "--atol", "0", "--rtol", "0", ASSAY_CARD_KERNELS="late"),
                     run(assay, "debug", "repeat", path, "--same", "--until", REPEATS, *engine, ASSAY_CARD_KERNELS="late")]
            faults += [f"{path.stem} {' '.join(flags)}: {last_line(output)}" for status, output in found if status]
    total = 3 * len(paths) * len(DELAYED)
    return total - len(faults), total, faults


def plans(run, build, folder, paths):
    """Plans in other processes, by their own kernels alone; how long the first runs take."""
    assay, faults, told = build / "bin" / "assay", [], []
    nothing = {"ASSAY_CUBIN_CACHE": str(folder / "no_cache")}
    for path in paths:
        plan, engine = folder / f"{path.stem}.plan", ["--engine", "--device", "cuda", "--fp16"]
        saved = folder / "of_model.json"
        cache = {"ASSAY_CUBIN_CACHE": str(folder / f"cache_{path.stem}")}
        steps = {"compiled": ("run", path, *engine, "--save-outputs", saved, cache),
                 "from the cache": ("run", path, *engine, cache),
                 "built": ("convert", path, "-o", plan, *engine[1:], "--builder-optimization-level", "0", cache),
                 "from the plan": ("run", plan, *engine[:3], "--load-outputs", saved, nothing)}
        seconds = {}
        for name, (*command, variables) in steps.items():
            status, output, seconds[name] = timed(run, assay, *command, **variables)
            if status:
                faults.append(f"{path.stem}, {name}: {last_line(output)}")
        if (folder / "no_cache").exists():
            faults.append(f"{path.stem}: kernels of the plan were compiled anew")
        told.append(f"{path.stem}, seconds of a process: " + ", ".join(f"{name} {of:.2f}" for name, of in seconds.items()))
    total = 5 * len(paths)
    return total - len(faults), total, [*faults, *told]


def sanitizer(run, each, build, cases):
    """Small layers under compute-sanitizer. The driver's answer that memory is none of the card's is asked for."""
    work = [(tool, file) for tool in TOOLS for name in SANITIZED for file in sorted(cases.glob(f"*/{name}.case"))]
    outputs = each(lambda of: run("compute-sanitizer", "--tool", *of[0], "--error-exitcode", "9", build / "tests" / "op_cases",
                                  "--backend", "engine", of[1]), work)
    good = ("ERROR SUMMARY: 0 errors", "RACECHECK SUMMARY: 0 hazards")
    faults = [f"{tool[0]} {file.stem}: {last_line(output)}" for (tool, file), (status, output) in zip(work, outputs)
              if status or not any(word in output for word in good)]
    return len(work) - len(faults), len(work), faults


def accidents(run, build, folder, path):
    """Kernels that fail or hang, and memory that is not there: one line each, within time, and the card works on."""
    assay, faults = build / "bin" / "assay", []
    engine = ["--engine", "--device", "cuda"]
    isolated = ["--isolate", "--timeout", "20"]
    large = folder / "large.onnxtxt"
    large.write_text(LARGE)
    steps = [("a kernel fails", ["run", path, *engine], {"ASSAY_CARD_KERNELS": "trap"}, 3, "CUDA refuses"),
             ("a kernel fails, isolated", ["run", path, *engine, "--onnxrt", *isolated], {"ASSAY_CARD_KERNELS": "trap"}, 3,
              "CUDA refuses"),
             ("a kernel hangs", ["run", path, *engine, "--onnxrt", *isolated], {"ASSAY_CARD_KERNELS": "hang"}, 3, "20"),
             ("too little memory", ["run", path, *engine, "--max-memory", "1M"], {}, 3, "memory"),
             ("more than the card has", ["run", large, *engine], {}, 3, "memory"),
             ("no such card", ["run", path, "--engine", "--device", "cuda:7"], {}, 3, "card 7"),
             ("afterwards", ["run", path, *engine, "--onnxrt", "--tolerance", "auto"], {}, 0, "PASSED")]
    for name, command, variables, expected, word in steps:
        status, output, seconds = timed(run, assay, *command, **variables)
        if status != expected or word not in output or seconds > 60:
            told = [line for line in output.splitlines() if "rror" in line]
            faults.append(f"{name}: status {status} after {seconds:.1f} s: {told[0] if told else last_line(output)}")
    return len(steps) - len(faults), len(steps), faults


def lifetimes(run, build, folder):
    """Builds and deletions with flat memory, and two contexts on two threads, in a process with the Python package."""
    text, path = folder / "small.onnxtxt", folder / "small.onnx"
    weights = [f"float[{dims}] {name} = {{{','.join(str(i % 7 / 8 - 0.3) for i in range(count))}}}"
               for name, dims, count in (("w", "8,8,3,3", 576), ("u", "64,64", 4096), ("s", "8", 8))]
    text.write_text(SMALL.replace("WEIGHTS", ", ".join(weights)))
    status, output = run(build / "bin" / "assay", "convert", text, "-o", path)
    if status:
        return 0, 2, [last_line(output)]
    environment = os.environ | {"ASSAY_DEVICE": "cuda"}
    done = subprocess.run([sys.executable, "-X", "faulthandler", __file__, str(path)], env=environment, capture_output=True,
                          text=True, timeout=600)
    passed = re.findall(r"^good: .*$", done.stdout, re.MULTILINE)
    return len(passed), 2, [*passed, *([f"status {done.returncode}: {last_line(done.stderr)}"] if done.returncode else [])]


def built(trt, model):
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    assert trt.OnnxParser(network, logger).parse(model)
    config = builder.create_builder_config()
    config.builder_optimization_level = 0
    plan = builder.build_serialized_network(network, config)
    return trt.Runtime(logger).deserialize_cuda_engine(plan)


def run_once(engine, context, numpy, seed):
    """The bytes of the outputs for drawn inputs."""
    arrays = {}
    for i in range(engine.num_io_tensors):
        name = engine.get_tensor_name(i)
        shape = tuple(engine.get_tensor_shape(name))
        arrays[name] = numpy.random.default_rng(seed + i).normal(size=shape).astype(numpy.float32)
        context.set_tensor_address(name, arrays[name].ctypes.data)
    assert context.execute_async_v3(0)
    return arrays[engine.get_tensor_name(engine.num_io_tensors - 1)].tobytes()


def free_bytes():
    from assay.compat import cudart

    status, free, _ = cudart.cudaMemGetInfo()
    assert int(status) == 0
    return free


def live(path, builds):
    import gc
    import threading

    import numpy

    import assay.tensorrt as trt

    with open(path, "rb") as file:
        model = file.read()
    at_start = None
    for number in range(builds):
        engine = built(trt, model)
        run_once(engine, engine.create_execution_context(), numpy, number)
        del engine
        gc.collect()
        at_start = free_bytes() if number == 4 else at_start
    lost = at_start - free_bytes()
    assert lost <= 4 << 20, f"{lost} bytes of the card were lost in {builds} builds"
    print(f"good: {builds} builds and deletions, {lost} bytes lost", flush=True)
    engine = built(trt, model)
    expected = [run_once(engine, engine.create_execution_context(), numpy, seed) for seed in (0, 100)]
    seen = [[], []]

    def work(number):
        context = engine.create_execution_context()
        for _ in range(50):
            seen[number].append(run_once(engine, context, numpy, 100 * number))

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(set(seen[number]) == {expected[number]} and len(seen[number]) == 50 for number in (0, 1)), "other bits"
    print("good: two contexts on two threads, 50 runs each, with the bits of one")


if __name__ == "__main__":
    live(sys.argv[1], 200)
