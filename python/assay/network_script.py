"""Calls functions of users' scripts for the program: python -m assay.network_script SCRIPT FUNCTION [MODEL].

Without a model, the function draws a network, which goes to descriptor 3 as an ONNX model. With one, it makes a
configuration for that model, whose settings go there as lines of words with tabs between them. Where there is nothing to
give, the reason goes to descriptor 4.
"""

import os
import sys


def network_of(loaded):
    """The network in what a function gave: a network, or a tuple that has one."""
    from assay import tensorrt as trt

    for each in loaded if isinstance(loaded, tuple) else (loaded,):
        if isinstance(each, trt.INetworkDefinition):
            return each
    raise TypeError(f"it gave a {type(loaded).__name__}, expected (builder, network) or (builder, network, parser)")


def function_of(path, name):
    """The function of the script, whose imports of other packages give ours."""
    from assay import compat, mod
    from assay.logger import G_LOGGER

    compat.install()
    with G_LOGGER.verbosity(G_LOGGER.CRITICAL + 1):
        function = mod.import_from_script(path, name)
    if not callable(function):
        raise TypeError(f"`{name}` is a {type(function).__name__}, expected a function")
    return function


def model_of(path, name):
    """The bytes of the model that the function of the script draws."""
    from assay import _native

    network = network_of(function_of(path, name)())
    if not network.num_outputs:
        raise ValueError("the network has no outputs")
    return _native.infer_shapes(network._model()).bytes()


def settings_of(path, name, model):
    """The settings of native code in the configuration that the function of the script makes."""
    from assay import tensorrt as trt
    from assay.backend.trt import network_from_onnx_path

    builder, network, _ = network_from_onnx_path(model)
    config = function_of(path, name)(builder, network)
    if not isinstance(config, trt.IBuilderConfig):
        raise TypeError(f"it gave a {type(config).__name__}, expected a builder's configuration")
    if config.int8_calibrator is not None:
        raise ValueError("a calibrator is not taken from a script: quantise with `assay convert --int8`")
    rows = [[name, *values] for name, values in builder.settings(network, config).items()]
    return "".join("\t".join(row) + "\n" for row in rows).encode() or b"\n"


def main():
    """Writes what a script makes to descriptor 3, or what went wrong to descriptor 4."""
    try:
        data = memoryview(settings_of(*sys.argv[1:4]) if len(sys.argv) > 3 else model_of(*sys.argv[1:3]))
    except Exception as error:
        os.write(4, (str(error) or type(error).__name__).encode(errors="replace"))
        sys.exit(1)
    while data:
        data = data[os.write(3, data):]


if __name__ == "__main__":
    main()
