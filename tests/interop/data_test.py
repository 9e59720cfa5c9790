#!/usr/bin/env python3
"""Files of inputs and outputs, against the real polygraphy, numpy and safetensors: what they write we read, what we
write they read, JSON byte for byte; and the listing of `inspect data`, line by line."""

import base64
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import ml_dtypes
import numpy as np
from peer import polygraphy, run_polygraphy
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import load_json, save_json
from polygraphy.logger import G_LOGGER
from safetensors import numpy as safetensors_numpy
from safetensors import safe_open

ASSAY = os.environ["ASSAY"]
G_LOGGER.module_severity = G_LOGGER.ERROR
DTYPES = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (1,), (0,), (3,), (2, 3), (0, 4), (1, 2, 3, 4), (1,) * 12, (123456, 1)]
failures = []


def check(condition: bool, what: str) -> None:
    if not condition:
        failures.append(what)
        print(f"failed: {what}")


def assay(*words: str) -> str:
    done = subprocess.run([ASSAY, *words], capture_output=True, text=True)
    check(done.returncode == 0, f"assay {' '.join(words)}: {done.stderr}")
    return done.stdout


def random_array(generator: np.random.Generator, dtype: str, shape: tuple) -> np.ndarray:
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype[0] in "iu":
        return generator.integers(0, 120, shape).astype(dtype)
    return np.asarray(generator.normal(size=shape) * 10.0 ** generator.integers(-3, 4)).astype(dtype)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_arrays(a: dict, b: dict) -> bool:
    return list(a) == list(b) and all(same(np.asarray(a[name]), np.asarray(b[name])) for name in a)


def all_arrays() -> dict:
    generator = np.random.default_rng(5)
    arrays = {}
    for dtype in DTYPES:
        for shape in SHAPES:
            arrays[f"{dtype} {shape}"] = random_array(generator, dtype, shape)
    arrays["text \u20ac\n\"\\\x7f\U0001f600/"] = np.array([["a", "\u20ac\U0001f600"], ["", "z" * 9]])
    arrays["one text"] = np.array("x")
    return arrays


def json_files() -> None:
    arrays = all_arrays()
    save_json([arrays, {}, {"x": np.float64(3) * np.ones(2)}], "theirs.json")
    assay("data", "convert", "theirs.json", "-o", "ours.json")
    check(pathlib.Path("theirs.json").read_bytes() == pathlib.Path("ours.json").read_bytes(), "inputs: the same bytes")
    check(same_arrays(load_json("ours.json")[0], arrays), "inputs: the same arrays")

    results = RunResults()
    for runner, runtimes in [("a", [1e-07, 0.1, 123456789.0, None]), ("b \u00e9\n", [float("nan"), float("inf"), 1e22]),
                             ("a", []), ("none", [5e-324])]:
        results.append((runner, [IterationResult(outputs={"y": np.arange(5), "e": np.zeros((0,))}, runtime=runtime,
                                                 runner_name=runner) for runtime in runtimes]))
    results.save("their_results.json")
    assay("data", "convert", "their_results.json", "-o", "our_results.json")
    check(pathlib.Path("their_results.json").read_bytes() == pathlib.Path("our_results.json").read_bytes(),
          "results: the same bytes")
    for empty in ([], [{}], {}):
        save_json(empty, "empty.json")
        assay("data", "convert", "empty.json", "-o", "our_empty.json")
        expected = empty if isinstance(empty, list) else [empty]
        check(load_json("our_empty.json") == expected, f"{empty}")


def odd_json() -> None:
    """Forms that are read: Fortran order, other byte orders, latin-1, npz payloads, legacy marks."""
    def npy(array: np.ndarray) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    fortran = np.asfortranarray(np.arange(24, dtype="f4").reshape(2, 3, 4))
    big = np.arange(6, dtype=">f8").reshape(3, 2)
    packed = io.BytesIO()
    np.savez_compressed(packed, fortran)
    encoded = {
        "fortran": {"array": base64.b64encode(npy(fortran)).decode(), "polygraphy_class": "ndarray"},
        "big": {"array": base64.b64encode(npy(big)).decode(), "polygraphy_class": "ndarray"},
        "latin": {"array": npy(fortran).decode("latin-1"), "polygraphy_class": "ndarray"},
        "npz": {"array": base64.b64encode(packed.getvalue()).decode(), "polygraphy_class": "ndarray"},
        "old": {"array": base64.b64encode(npy(fortran)).decode(),
                "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"},
    }
    for ascii_only in (True, False):
        pathlib.Path("odd.json").write_text(json.dumps(encoded, ensure_ascii=ascii_only), encoding="utf-8")
        assay("data", "convert", "odd.json", "-o", "even.json")
        even = load_json("even.json")[0]
        for name in encoded:
            wanted = (big if name == "big" else fortran)
            check(same(np.asarray(even[name]), np.ascontiguousarray(wanted.astype(wanted.dtype.newbyteorder("=")))), name)


def numpy_files() -> None:
    arrays = {name.replace("/", "_").replace("\n", "_"): array for name, array in all_arrays().items()}
    for save in (np.savez, np.savez_compressed):
        save("theirs.npz", **arrays)
        assay("data", "convert", "theirs.npz", "-o", "ours.npz")
        with np.load("ours.npz") as loaded:
            check(same_arrays(dict(loaded), arrays), f"{save.__name__}: the same arrays")
    for number, (name, array) in enumerate(arrays.items()):
        np.save("theirs.npy", array)
        assay("data", "convert", "theirs.npy", "-o", "ours.npy")
        check(pathlib.Path("ours.npy").read_bytes() == pathlib.Path("theirs.npy").read_bytes(), f".npy of {name}")
    arrays = {"f": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "s": np.array([b"ab", b"c"])}
    np.savez("theirs.npz", **arrays)
    assay("data", "convert", "theirs.npz", "-o", "ours.npz")
    with np.load("ours.npz") as loaded:
        check(same(loaded["f"], np.ascontiguousarray(arrays["f"])) and list(loaded["s"]) == ["ab", "c"], "other orders")


def safetensors_files() -> None:
    arrays = {name: array for name, array in all_arrays().items()
              if array.dtype.kind != "U" and array.dtype != np.complex128}
    for name, dtype in [("bf16", ml_dtypes.bfloat16), ("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)]:
        arrays[name] = np.arange(6).reshape(2, 3).astype(dtype)
    arrays = {name: array for name, array in arrays.items() if is_known_to_safetensors(array)}
    check(len(arrays) > 100, "safetensors knows most types")
    safetensors_numpy.save_file(arrays, "theirs.safetensors", metadata={"format": "np"})
    assay("data", "convert", "theirs.safetensors", "-o", "ours.safetensors")
    ours, theirs = (safetensors_content(name) for name in ("ours.safetensors", "theirs.safetensors"))
    check(ours == theirs, "safetensors: the same tensors")
    with safe_open("ours.safetensors", framework="np") as loaded:
        for name, array in arrays.items():
            if hasattr(np, array.dtype.name):
                check(same(loaded.get_tensor(name), array), f"safetensors {name}")


def safetensors_content(path: str) -> dict:
    """Name -> type, shape, bytes; read by hand for types that numpy has no name for."""
    data = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[begin:][slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def is_known_to_safetensors(array: np.ndarray) -> bool:
    try:
        safetensors_numpy.save({"x": array})
        return True
    except Exception:
        return False


def narrow_types() -> None:
    """Types that numpy does not have keep their bits through JSON and npz, and are plain arrays to others."""
    array = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    if not is_known_to_safetensors(array):
        header = json.dumps({"x": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
        pathlib.Path("bf16.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())
    else:
        safetensors_numpy.save_file({"x": array}, "bf16.safetensors")
    assay("data", "convert", "bf16.safetensors", "-o", "bf16.json")
    assay("data", "convert", "bf16.json", "-o", "bf16.npz")
    assay("data", "convert", "bf16.npz", "-o", "again.safetensors")
    check(same(np.asarray(load_json("bf16.json")[0]["x"]), array.view("u2")), "bfloat16 in JSON")
    with np.load("bf16.npz") as loaded:
        check(same(loaded["x"], array.view("u2")) and str(loaded["x.assay_dtype"]) == "bfloat16", "bfloat16 in npz")
    data = pathlib.Path("again.safetensors").read_bytes()
    check(b'"BF16"' in data and data.endswith(array.tobytes()), "bfloat16 in safetensors")


def listing(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("[W]")]


def listings() -> None:
    generator = np.random.default_rng(9)
    # Left out is what the peer computes in its own type: int8, uint8, float16, and the bins of a single float32.
    dtypes = [dtype for dtype in DTYPES[:12] if dtype not in ("i1", "u1", "f2")]
    inputs = [{f"{dtype} {shape}": random_array(generator, dtype, shape) for dtype in dtypes for shape in SHAPES[:7]
               if dtype != "f4" or shape not in ((), (1,))} for _ in range(3)]
    inputs[0]["nan"] = np.array([1, np.nan, 3], dtype="f4")
    inputs[0]["same"] = np.array([5, 5], dtype="i4")
    inputs[0]["large"] = np.arange(3600).reshape(3, 40, 30) / 8
    save_json(inputs, "list.json")
    results = RunResults()
    for runner in ("short", "much longer"):
        results.append((runner, [IterationResult(outputs={"y": generator.normal(size=(2, 2))}, runtime=0.1,
                                                 runner_name=runner) for _ in range(2)]))
    results.save("list_results.json")
    RunResults().save("list_none.json")
    for path in ("list.json", "list_results.json", "list_none.json"):
        for options in ([], ["-a"], ["-s"], ["-a", "-s"], ["--histogram"], ["-a", "-s", "--histogram"],
                        ["-s", "-n", "1"], ["-s", "-n", "-1"], ["-s", "--line-width", "40"], ["-s", "--line-width", "-1"]):
            theirs = polygraphy("inspect", "data", path, *options)
            ours, wanted = listing(assay("inspect", "data", path, *options)), listing(theirs.stdout)
            different = [(a, b) for a, b in zip(ours, wanted) if a != b]
            check(ours == wanted, f"inspect data {path} {options}: {different[:2]} {len(ours)} {len(wanted)}")


def combined() -> None:
    save_json([{"x": np.arange(3)}, {"x": np.arange(4)}], "a.json")
    save_json([{"x": np.arange(5)}], "b.json")
    for command in (["data", "concat", "a.json", "b.json"], ["data", "merge", "b.json"],
                    ["data", "concat", "list_results.json", "list_results.json"]):
        run_polygraphy(*command, "-o", "theirs_combined.json")
        assay(*command, "-o", "ours_combined.json")
        check(pathlib.Path("theirs_combined.json").read_bytes() == pathlib.Path("ours_combined.json").read_bytes(),
              " ".join(command))
    # Where the peer repeats the last iteration, ours keeps each.
    assay("data", "merge", "a.json", "-o", "merged.json")
    check(same_arrays(load_json("merged.json")[0], {"x": np.arange(3)}), "merged iterations stay apart")


def main() -> int:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        json_files()
        odd_json()
        numpy_files()
        safetensors_files()
        narrow_types()
        listings()
        combined()
        os.chdir("/")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
