"""What all layers have in common."""

from typing import Any

from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.logger import say
from assay.tensorrt.tensor import ITensor


class ILayer:
    """A layer: inputs, outputs, and what it computes.

    What a network gives of its layers are objects of this class, whose `type` is a LayerType. They share what they know
    with the layer that was added, and `layer.__class__ = …` makes them one of its kind.
    """

    _TYPE = LayerType.IDENTITY
    _WORD = "Layer"

    def __init__(self, network, index, inputs, count=1) -> None:
        self._network = network
        self._index = index
        self._typed = self
        self._kind = self._TYPE
        self._inputs = list(inputs)
        self._name = f"(Unnamed Layer* {index}) [{self._WORD}]"
        self._precision = None
        self._output_types: dict = {}
        self._metadata = ""
        self._outputs = [network._new_tensor(self._output_name(i), layer=self) for i in range(count)]

    def __setattr__(self, name, value):
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return isinstance(other, ILayer) and self.__dict__ is other.__dict__

    def __hash__(self):
        return id(self.__dict__)

    def _least_opset(self):
        """The version of ONNX's operators that its nodes need."""
        return 0

    def _seen(self):
        """The layer as its network gives it."""
        if type(self.__dict__.get("_view")) is not ILayer:
            self._view = object.__new__(ILayer)
            self._view.__dict__ = self.__dict__
        return self._view

    def _values(self):
        """Attributes of a parsed layer, which are those of its node."""
        return {} if type(self) is type(self._typed) else self._typed._values()

    def _changed(self):
        """An attribute is set."""
        if self._typed is not self:
            self._typed._changed()
        else:
            self._network._changed()

    def _output_name(self, index):
        return f"{self._name}_output" + (f" ({index})" if index else "")

    @property
    def name(self) -> str:
        """Its outputs are named after it until they have names of their own."""
        return self._name

    @name.setter
    def name(self, value):
        if not isinstance(value, str):
            raise TypeError(f"incompatible function arguments: a name is {value!r}, expected is a str")
        if self._network._named.get(value, self._typed) is not self._typed:
            say(self._network.logger, f"the layer `{self._name}` is not renamed: there is a layer `{value}` already")
            return
        old = [self._output_name(i) for i in range(len(self._outputs))]
        self._network._named.pop(self._name, None)
        self._network._named[value] = self._typed
        self._name = value
        for i, (before, tensor) in enumerate(zip(old, self._outputs)):
            if tensor.name == before:
                tensor.name = self._output_name(i)

    @property
    def metadata(self) -> str:
        """Any text."""
        return self._metadata

    @metadata.setter
    def metadata(self, value):
        if not isinstance(value, str):
            raise TypeError(f"incompatible function arguments: metadata is {value!r}, expected is a str")
        self._metadata = value

    @property
    def type(self) -> Any:
        """The kind of layer."""
        return self._kind

    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))
    num_ranks = property(lambda self: 1, doc="Over how many devices the layer is spread.")

    def get_input(self, index: int) -> Any:
        """An input; None if it is left out, or there is none of that number."""
        return self._inputs[index] if 0 <= index < len(self._inputs) else None

    def get_output(self, index: int) -> Any:
        """An output; None, which the logger is told, if there is none of that number."""
        if 0 <= index < len(self._outputs):
            return self._outputs[index]
        say(self._network.logger, f"the layer `{self._name}` has {len(self._outputs)} outputs, not one of the number {index}")
        return None

    def set_input(self, index: int, tensor: ITensor) -> None:
        """Another tensor for an input."""
        if not isinstance(tensor, ITensor):
            raise TypeError(f"set_input(): incompatible function arguments: `tensor` is {tensor!r}, expected is a ITensor")
        if tensor._network is not self._network:
            say(self._network.logger, f"the tensor `{tensor.name}` belongs to another network than the layer `{self._name}`")
            return
        layer = self._typed
        layer._inputs.extend([None] * (index + 1 - len(layer._inputs)))
        layer._inputs[index] = tensor
        self._network._is_mixed |= any(each._index > layer._index for each in layer._producers())
        self._network._changed()

    def _producers(self):
        """The layers before this one."""
        return [each._layer for each in self._inputs if each is not None and each._layer is not None]

    @property
    def precision(self) -> DataType:
        return self._precision or (self._outputs[0].dtype if self._outputs else DataType.FLOAT)

    @precision.setter
    def precision(self, value):
        self._precision = _checked_type("precision", value)

    precision_is_set = property(lambda self: self._precision is not None)

    def reset_precision(self) -> None:
        self._precision = None

    def set_output_type(self, index: int, dtype: DataType) -> None:
        """The layer computes in this type, where the configuration heeds precisions."""
        self._output_types[index] = _checked_type("dtype", dtype)

    def get_output_type(self, index: int) -> DataType:
        return self._output_types.get(index, self._outputs[index].dtype)

    def output_type_is_set(self, index: int) -> bool:
        return index in self._output_types

    def reset_output_type(self, index: int) -> None:
        self._output_types.pop(index, None)

    def _emit(self, emitter):
        raise NotImplementedError

    def __repr__(self):
        return f"<{type(self).__name__} {self._name}>"


def _checked_type(name, value):
    if not isinstance(value, DataType):
        raise TypeError(f"incompatible function arguments: `{name}` is {value!r}, expected is a DataType")
    return value


class SimpleLayer(ILayer):
    """One node over all inputs."""

    _OP = ""

    def _attrs(self):
        return {}

    def _emit(self, emitter):
        emitter.node(self, self._OP, self._inputs, self._outputs, **self._attrs())


def axes_of(mask):
    """The axes whose bits are set."""
    return [i for i in range(32) if mask >> i & 1]
