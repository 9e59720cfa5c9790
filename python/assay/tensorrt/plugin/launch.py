"""Sizes with which a kernel is launched."""

from assay.tensorrt.plugin.symbols import SymInt32

SIZES = {"grid_x": 1, "grid_y": 1, "grid_z": 1, "block_x": 1, "block_y": 1, "block_z": 1, "shared_mem": 0}


class KernelLaunchParams:
    """Blocks, threads of a block, and bytes that a block shares."""

    def __init__(self, **sizes) -> None:
        for name, value in {**SIZES, **sizes}.items():
            setattr(self, name, value)

    def __setattr__(self, name, value) -> None:
        if name not in SIZES:
            raise AttributeError(f"KernelLaunchParams has no attribute `{name}`; it has {', '.join(SIZES)}")
        super().__setattr__(name, SymInt32(value))
