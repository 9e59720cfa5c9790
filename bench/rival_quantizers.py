#!/usr/bin/env python3
"""Quantizers of other tools, run by a Python that has them; for quantize_accuracy.py --rivals.

    rival_quantizers.py KIND FOLDER

KIND is int8, uint8, fp8, int4, int4_asymmetric, nf4, nvfp4 or mxfp4. FOLDER has model.onnx and inputs*.npz; each way to
quantize it writes rival_NAME.onnx there. What a tool refuses is told on stderr.
"""

import contextlib
import io
import logging
import pathlib
import sys

import numpy as np
import onnx


def modelopt(folder, inputs, mode, method, **more):
    from modelopt.onnx.quantization import quantize
    data = {name: np.concatenate([feeds[name] for feeds in inputs]) for name in inputs[0]}
    path = folder / f"rival_modelopt_{method}.onnx"
    quantize(str(folder / "model.onnx"), quantize_mode=mode, calibration_data=data, calibration_method=method,
             calibration_eps=["cpu"], high_precision_dtype="fp32", output_path=str(path), log_level="ERROR", **more)


def onnxsim_static(folder, inputs, method):
    import onnxsim
    made = onnxsim.quantize_static(onnx.load(folder / "model.onnx"), inputs, method=method)
    onnx.save(made, folder / f"rival_onnxsim_{method}.onnx")


def onnxsim_weights(folder, inputs, name):
    import onnxsim
    model = onnx.load(folder / "model.onnx")
    if name == "int4_hqq":
        made = onnxsim.quantize_weight_only_int4_hqq(model)
    elif name.startswith("int4_"):
        config = onnxsim.QuantizationConfig(scheme="weight_only", dtype="int4", calibration_data=inputs,
                                            **{word: True for word in name.split("_")[1:]})
        made = onnxsim.quantize(model, config)
    else:
        made = getattr(onnxsim, "quantize_weight_only_" + name)(model)
    onnx.save(made, folder / f"rival_onnxsim_{name}.onnx")


def ways(kind, folder, inputs):
    if kind == "uint8":  # the only activations that it has
        for method in ("minmax", "entropy", "mse", "percentile", "auto"):
            yield f"onnxsim {method}", lambda method=method: onnxsim_static(folder, inputs, method)
    if kind in ("int8", "fp8"):
        for method in ("max", "entropy"):
            yield f"modelopt {method}", lambda method=method: modelopt(folder, inputs, kind, method)
    if kind in ("int4", "int4_asymmetric"):
        for method in ("rtn_dq", "awq_lite", "awq_clip"):
            more = {"block_size": 32, "use_zero_point": kind != "int4"}
            yield f"modelopt {method}", lambda method=method: modelopt(folder, inputs, "int4", method, **more)
    if kind in ("int4", "int4_asymmetric"):
        signed = ("int4", "int4_awq", "int4_gptq", "int4_awq_gptq", "int4_gptaq")
        for name in signed if kind == "int4" else ("int4_hqq",):
            yield f"onnxsim {name}", lambda name=name: onnxsim_weights(folder, inputs, name)
    if kind in ("nf4", "nvfp4", "mxfp4"):
        yield f"onnxsim {kind}", lambda: onnxsim_weights(folder, inputs, kind)


def main() -> int:
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    logging.disable(logging.CRITICAL)
    inputs = [dict(np.load(path)) for path in sorted(folder.glob("inputs*.npz"))]
    for name, quantize in ways(kind, folder, inputs):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                quantize()
        except Exception as error:  # a tool's own failure is no result of ours
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
