"""Draws the network of a script for the program: python -m assay.network_script SCRIPT FUNCTION.

The model goes to descriptor 3; where there is none, the reason goes to descriptor 4.
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


def model_of(path, function):
    """The bytes of the model that the function of the script draws."""
    from assay import _native, compat, mod
    from assay.logger import G_LOGGER

    compat.install()
    with G_LOGGER.verbosity(G_LOGGER.CRITICAL + 1):
        loader = mod.import_from_script(path, function)
    if not callable(loader):
        raise TypeError(f"`{function}` is a {type(loader).__name__}, expected a function")
    network = network_of(loader())
    if not network.num_outputs:
        raise ValueError("the network has no outputs")
    return _native.infer_shapes(network._model()).bytes()


def main():
    try:
        data = memoryview(model_of(*sys.argv[1:3]))
    except Exception as error:
        os.write(4, (str(error) or type(error).__name__).encode(errors="replace"))
        sys.exit(1)
    while data:
        data = data[os.write(3, data):]


if __name__ == "__main__":
    main()
