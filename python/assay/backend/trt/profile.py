"""Optimisation profiles by the names of inputs."""

from __future__ import annotations

from collections import OrderedDict
from fnmatch import fnmatch

from assay import constants, util
from assay.backend.trt.util import check_profile, str_from_tensor
from assay.common import TensorMetadata
from assay.logger import G_LOGGER, LogMode

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Sequence


class ShapeTuple:
    """The least, the best and the greatest shape of an input."""

    def __init__(self, min, opt, max) -> None:
        self.min = min
        self.opt = opt
        self.max = max

    def __iter__(self):
        yield from (self.min, self.opt, self.max)

    def __eq__(self, other):
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"ShapeTuple(min={self.min}, opt={self.opt}, max={self.max})"


def _takes_values(tensor):
    """Whether a profile has the elements of an input, not its shape."""
    return tensor.is_shape_tensor and not util.is_shape_dynamic(tensor.shape)


class Profile(OrderedDict):
    """Shapes by input; names may be wildcards."""

    def __init__(self, dct=None) -> None:
        super().__init__(dct or {})

    def add(self, name: str, min: Sequence[int], opt: Sequence[int], max: Sequence[int]) -> Profile:
        """Adds an input, and gives this profile again."""
        self[name] = ShapeTuple(min, opt, max)
        return self

    @classmethod
    def from_dict(cls, dct):
        return cls(dct)

    def __getitem__(self, key):
        if key not in self:
            G_LOGGER.critical(f"Binding: {key} does not have shapes set in this profile; inputs: {list(self)}")
        return super().__getitem__(key)

    def _found(self, name):
        found = None
        for pattern, shapes in self.items():
            if pattern == name or fnmatch(name, pattern):
                found = shapes
        return found

    def fill_defaults(self, network, default_shape_value=None):
        """Inputs that are not there get their shapes, open dims as 1; gives this profile again."""
        fallback = util.default(default_shape_value, constants.DEFAULT_SHAPE_VALUE)
        for index in range(network.num_inputs):
            tensor = network.get_input(index)
            if self._found(tensor.name) is not None:
                continue
            is_values = _takes_values(tensor)
            if is_values:
                shape = (fallback,) * (tensor.shape[0] if len(tensor.shape) else 1)
            else:
                shape = tuple(util.override_dynamic_shape(list(tensor.shape), fallback))
            if is_values or util.is_shape_dynamic(tensor.shape):
                word = "values: {} for min/opt/max" if is_values else "shape: {} for min/opt/max"
                G_LOGGER.warning(f"{str_from_tensor(tensor, is_values)} | No {'values' if is_values else 'shapes'} provided; "
                                 f"Will use {word.format(list(shape))} in profile.", LogMode.ONCE)
            self.add(tensor.name, shape, shape, shape)
        return self

    def to_trt(self, builder, network):
        """The profile of assay.tensorrt."""
        made = builder.create_optimization_profile()
        names = [network.get_input(i).name for i in range(network.num_inputs)]
        for pattern in self:
            if not any(pattern == name or fnmatch(name, pattern) for name in names):
                G_LOGGER.critical(f"the profile names `{pattern}`, which is no input of the network; inputs: {names}")
        for index in range(network.num_inputs):
            tensor = network.get_input(index)
            shapes = self._found(tensor.name)
            if shapes is None:
                continue
            (made.set_shape_input if _takes_values(tensor) else made.set_shape)(tensor.name, *shapes)
        return check_profile(made)

    def to_input_metadata(self):
        """The best shapes, with their bounds."""
        meta = TensorMetadata()
        for name, shapes in self.items():
            meta.add(name, None, shapes.opt, shapes.min, shapes.max)
        return meta

    def __repr__(self):
        return "Profile()" + "".join(f".add({name!r}, min={each.min}, opt={each.opt}, max={each.max})"
                                     for name, each in self.items())

    def __str__(self):
        rows = [f"{name} [min={list(each.min)}, opt={list(each.opt)}, max={list(each.max)}]"
                for name, each in self.items()]
        return "{" + ",\n ".join(rows) + "}"
