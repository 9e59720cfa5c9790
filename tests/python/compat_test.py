"""Scripts for other packages run unchanged: through `python -m assay.compat`, and with their imports' names changed."""

import os
import pathlib
import subprocess
import sys

import checks

SCRIPTS = pathlib.Path(__file__).parent / "scripts"
NAMES = {"polygraphy": "assay", "onnx_graphsurgeon": "assay.graphsurgeon", "tensorrt": "assay.tensorrt",
         "cuda": "assay.compat"}


def run(*words, status=0):
    found = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    assert found.returncode == status, f"{words}: {found.returncode}\n{found.stdout}{found.stderr}"
    return found


def renamed(path):
    """The script with our names in its imports."""
    lines = []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["from"]:
            head, _, rest = words[1].partition(".")
            words[1] = ".".join(filter(None, [NAMES.get(head, head), rest]))
            line = " ".join(words)
        elif words[:1] == ["import"] and words[1] in NAMES:
            line = f"import {NAMES[words[1]]} as {words[-1]}"
        lines.append(line)
    made = pathlib.Path(f"renamed_{path.name}")
    made.write_text("\n".join(lines) + "\n")
    return made


def test_scripts_run_both_ways():
    checks.save_identity()
    checks.save_identity("dynamic.onnx", ("N", 3, 28, 28), ("X", "Y"))
    for script in sorted(SCRIPTS.glob("*.py")):
        for found in (run("-m", "assay.compat", script), run(renamed(script))):
            assert "done" in found.stdout and "two tensors" not in found.stderr, found.stderr


def test_arguments_and_neighbours_are_there():
    pathlib.Path("neighbour.py").write_text("WORD = 'found'\n")
    pathlib.Path("script.py").write_text("import sys, neighbour\nprint(sys.argv[1:], neighbour.WORD, __name__)\n")
    assert run("-m", "assay.compat", "script.py", "a", "--b").stdout == "['a', '--b'] found __main__\n"
    assert "nothere.py" in run("-m", "assay.compat", "nothere.py", status=2).stderr
    assert "usage" in run("-m", "assay.compat", status=2).stderr


def test_names_are_the_same_modules_in_this_process_only():
    code = """if True:
        import assay.compat
        assay.compat.install()
        assay.compat.install()
        import polygraphy, polygraphy.backend.trt, onnx_graphsurgeon, tensorrt, cuda.cudart, pycuda.driver, pycuda.autoinit
        from cuda.bindings import runtime
        from onnx_graphsurgeon.ir.tensor import LazyValues
        from polygraphy.backend.onnx import gs_from_onnx
        import assay.backend.trt
        assert polygraphy is assay and polygraphy.backend.trt is assay.backend.trt and runtime is cuda.cudart
        assert polygraphy.__name__ == "assay" and onnx_graphsurgeon.Graph is assay.graphsurgeon.Graph
        memory = pycuda.driver.mem_alloc(16)
        assert int(memory) > 0 and pycuda.driver.Stream().handle == 0
        try:
            import polygraphy.nothing
        except ImportError:
            pass
        assay.compat.uninstall()
        import polygraphy
        assert polygraphy is not assay
    """
    run("-c", code)
    assert run("-c", "import polygraphy, assay; print(polygraphy is assay)").stdout == "False\n"


def test_memory_that_cannot_be_had_is_one_error():
    code = """if True:
        import assay.compat
        assay.compat.install()
        import pycuda.driver as cuda
        try:
            cuda.mem_alloc(1 << 62)
        except Exception as error:
            print(type(error).__name__)"""
    done = run("-c", code)
    assert "AttributeError" not in done.stdout + done.stderr, done


def test_memory_that_is_not_there_is_not_touched():
    code = """if True:
        from assay.compat import cudart
        kinds, bad = cudart.cudaMemcpyKind, cudart.cudaError_t.cudaErrorInvalidValue
        memory = cudart.cudaMalloc(16)[1]
        host = bytearray(64)
        assert cudart.cudaMemcpy(memory, 1 << 20, 17, kinds.cudaMemcpyHostToDevice) == (bad,)
        assert cudart.cudaMemcpy(12345, memory, 4, kinds.cudaMemcpyDeviceToDevice) == (bad,)
        assert cudart.cudaMemset(memory + 8, 1, 9) == (bad,) and cudart.cudaMemset(memory + 8, 1, 8)[0] == 0
        assert cudart.cudaFree(memory)[0] == 0 and cudart.cudaFree(memory) == (bad,)
        assert cudart.cudaMalloc(1 << 62)[0] == cudart.cudaError_t.cudaErrorMemoryAllocation
        start, end = cudart.cudaEventCreate()[1], cudart.cudaEventCreate()[1]
        cudart.cudaEventRecord(start), cudart.cudaEventRecord(end)
        assert cudart.cudaEventElapsedTime(start, end)[1] >= 0
    """
    run("-c", code)


def test_devices_contexts_and_copies_of_pycuda():
    code = """if True:
        import assay.compat
        assay.compat.install()
        import numpy as np
        import pycuda.driver as cuda
        from cuda import cudart
        cuda.init()
        device = cuda.Device(0)
        context = device.make_context()
        context.push(), cuda.Context.synchronize()
        first, second = cuda.mem_alloc(16), cuda.mem_alloc(16)
        cuda.memcpy_htod(first, np.arange(4, dtype=np.float32))
        cuda.memcpy_dtod_async(second, first, 16)
        found = cuda.pagelocked_zeros(4, np.float32)
        cuda.memcpy_dtoh(found, second)
        assert found.tolist() == [0, 1, 2, 3] and device.count() == 1 and device.total_memory() > 0 and device.name()
        cuda.memset_d32(second, 7, 4)
        cuda.memset_d8(second, 1, 4)
        words = np.empty(4, np.uint32)
        cuda.memcpy_dtoh(words, second)
        assert words.tolist() == [0x01010101, 7, 7, 7] and cuda.mem_get_info()[1] > 0
        context.pop()
        error, properties = cudart.cudaGetDeviceProperties(0)
        assert error == 0 and properties.totalGlobalMem > 0 and properties.name and properties.multiProcessorCount > 0
        assert cudart.cudaGetDeviceProperties(1)[0] != 0 and cudart.cudaRuntimeGetVersion() == (0, 0)
        assert cudart.cudaStreamCreateWithPriority(1, 0)[0] == 0
    """
    run("-c", code)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    checks.run_all(globals())
