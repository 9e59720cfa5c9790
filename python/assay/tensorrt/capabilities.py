"""Kinds of GPUs that a build is for, as TensorRT-RTX asks for them."""

from assay.tensorrt.arguments import checked
from assay.tensorrt.enums import ComputeCapability
from assay.tensorrt.logger import note, say


class Capabilities:
    """The part of a builder's configuration that names them: `_capabilities` holds them, `logger` is told of mistakes."""

    _capabilities: list
    logger: object

    @property
    def num_compute_capabilities(self):
        """How many kinds of GPUs are named. Plans are of the processor, whatever these are."""
        return len(self._capabilities)

    @num_compute_capabilities.setter
    def num_compute_capabilities(self, value):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"incompatible function arguments: `num_compute_capabilities` is {value!r}, expected is an int")
        known = self._capabilities[:max(0, value)]
        self._capabilities = known + [ComputeCapability.NONE] * (value - len(known))

    @checked
    def get_compute_capability(self, index: int):
        """NONE, which the logger is told, if there is none of that number."""
        if 0 <= index < len(self._capabilities):
            return self._capabilities[index]
        say(self.logger, f"there are {len(self._capabilities)} compute capabilities, not one of the number {index}")
        return ComputeCapability.NONE

    @checked
    def set_compute_capability(self, compute_capability: ComputeCapability, index: int) -> bool:
        """Whether it is taken: NONE is not, and CURRENT is only if it is alone."""
        current = ComputeCapability.CURRENT
        is_alone = len(self._capabilities) == 1
        if not 0 <= index < len(self._capabilities) or compute_capability == ComputeCapability.NONE or (
                compute_capability == current and not is_alone):
            say(self.logger, f"the compute capability {compute_capability.name} cannot have the number {index} of "
                             f"{len(self._capabilities)}")
            return False
        if compute_capability != current:
            note(self.logger, f"the compute capability {compute_capability.name} is not built for: plans are of the processor")
        self._capabilities[index] = compute_capability
        return True
