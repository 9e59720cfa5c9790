"""Tensors of networks."""

from __future__ import annotations

from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims
from assay.tensorrt.enums import DataType, TensorFormat, TensorLocation
from assay.tensorrt.generations import IS_STRICT
from assay.tensorrt.logger import note, say


ALL_FORMATS = (1 << len(TensorFormat)) - 1


def _expect(name, value, kind):
    if not isinstance(value, kind):
        raise TypeError(f"incompatible function arguments: `{name}` is {value!r}, expected is a {kind.__name__}")
    return value


class ITensor:
    """A tensor of a network."""

    def __init__(self, network, name, dtype=None, shape=None, layer=None) -> None:
        self._network = network
        self._name = name
        self._dtype = dtype
        self._shape = shape
        self._layer = layer
        self._location = TensorLocation.DEVICE
        self._formats = ALL_FORMATS
        self._dynamic_range = None
        self._dim_names: dict = {}
        self._number = None  # of the element type of a parsed input, which TensorRT may have no word for

    @property
    def name(self):
        """Each tensor of a network has its own."""
        return self._name

    @name.setter
    def name(self, value):
        self._network._rename(self, _expect("name", value, str))

    @property
    def location(self):
        """Where elements are; accepted."""
        return self._location

    @location.setter
    def location(self, value):
        self._location = _expect("location", value, TensorLocation)

    @property
    def allowed_formats(self):
        """A mask of formats of an input or output, by default all of them."""
        return self._formats

    @allowed_formats.setter
    def allowed_formats(self, value):
        self._formats = _expect("allowed_formats", value, int)

    @property
    def dtype(self):
        """The type of elements."""
        if self._dtype is not None:
            return self._dtype
        return DataType.of_native(self._network._inferred(self)[0]) or DataType.FLOAT

    @dtype.setter
    def dtype(self, value):
        self._dtype = _expect("dtype", value, DataType)
        self._network._changed()

    @property
    def shape(self):
        """The dims; -1 for open ones."""
        if self._shape is not None:
            return Dims(self._shape)
        try:
            dims, reason = self._network._inferred(self)[1], "its layer does not fit its inputs"
        except PolygraphyException as error:  # of a layer that cannot be drawn
            if not IS_STRICT:
                raise
            dims, reason = None, str(error)
        if dims is None:
            say(self._network.logger, f"the shape of the tensor `{self._name}` cannot be told: {reason}")
            raise RuntimeError(f"Could not get tensor shape: that of the tensor `{self._name}` cannot be told")
        return Dims(dims)

    @shape.setter
    def shape(self, value):
        self._network._changed()
        self._shape = Dims(value)

    @property
    def is_network_input(self):
        return any(each is self for each in self._network._inputs)

    @property
    def is_network_output(self):
        return any(each is self for each in self._network._outputs)

    @property
    def is_shape_tensor(self):
        return self.is_network_input and self.dtype in (DataType.INT32, DataType.INT64, DataType.BOOL) and \
            self._name in self._network._shape_inputs()

    @property
    def is_execution_tensor(self):
        return not self.is_shape_tensor

    @property
    def dynamic_range(self):
        return self._dynamic_range

    @dynamic_range.setter
    def dynamic_range(self, value):
        note(self._network.logger, "dynamic ranges are not used: scales come from calibration or from quantisers")
        self._dynamic_range = value

    def set_dynamic_range(self, min: float, max: float) -> bool:
        """Accepted; see dynamic_range."""
        self.dynamic_range = (min, max)
        return True

    def reset_dynamic_range(self) -> None:
        """No range is known."""
        self._dynamic_range = None

    broadcast_across_batch = False  # batches are dims of their own

    def get_dimension_name(self, index: int) -> str | None:
        """The name of a dim of an input."""
        return self._dim_names.get(index)

    def set_dimension_name(self, index: int, name: str) -> None:
        """Dims of one name are equal."""
        self._network._changed()
        self._dim_names[index] = name

    def _dims(self):
        return [self._dim_names.get(i) if dim < 0 else dim for i, dim in enumerate(self._shape)]

    def __repr__(self):
        return f"<ITensor {self._name}>"
