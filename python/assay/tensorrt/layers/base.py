"""What all layers have in common, and the methods of networks that add them."""

from assay.tensorrt.enums import DataType, LayerType

LAYERS: dict = {}  # by what follows `add_`


def adds(*names):
    """A decorator: the names of the methods of a network that add such a layer."""

    def decorate(cls):
        for name in names:
            LAYERS[name] = cls
        return cls

    return decorate


def _watched(cls):
    """Changes of properties make what was inferred of the network invalid."""
    plain = object.__setattr__

    def set_attribute(self, name, value):
        plain(self, name, value)
        if not name.startswith("_") and "_network" in self.__dict__:
            self._network._changed()

    cls.__setattr__ = set_attribute
    return cls


@_watched
class ILayer:
    """A layer: inputs, outputs, and what it computes."""

    TYPE = LayerType.IDENTITY
    WORD = "Layer"

    def __init__(self, network, index, inputs, count=1) -> None:
        self._network = network
        self._index = index
        self._inputs = list(inputs)
        self._name = f"(Unnamed Layer* {index}) [{self.WORD}]"
        self._precision = None
        self._output_types: dict = {}
        self.metadata = ""
        self._outputs = [network._new_tensor(f"{self._name}_output" + (f"_{i}" if i else ""), layer=self)
                         for i in range(count)]

    name = property(lambda self: self._name, lambda self, value: setattr(self, "_name", value))
    type = property(lambda self: self.TYPE)
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))

    def get_input(self, index):
        """An input; None if it is left out."""
        return self._inputs[index] if index < len(self._inputs) else None

    def get_output(self, index):
        return self._outputs[index] if index < len(self._outputs) else None

    def set_input(self, index, tensor) -> None:
        """Another tensor for an input."""
        self._network._check_own(tensor)
        self._inputs.extend([None] * (index + 1 - len(self._inputs)))
        self._inputs[index] = tensor
        self._network._is_mixed |= any(each._index > self._index for each in self._producers())
        self._network._changed()

    def _producers(self):
        """The layers before this one."""
        return [each._layer for each in self._inputs if each is not None and each._layer is not None]

    @property
    def precision(self):
        return self._precision or (self.get_output(0).dtype if self._outputs else DataType.FLOAT)

    @precision.setter
    def precision(self, value):
        self._precision = value

    precision_is_set = property(lambda self: self._precision is not None)

    def reset_precision(self) -> None:
        self._precision = None

    def set_output_type(self, index, dtype) -> None:
        """The layer computes in this type, where the configuration heeds precisions."""
        self._output_types[index] = dtype

    def get_output_type(self, index):
        return self._output_types.get(index, self._outputs[index].dtype)

    def output_type_is_set(self, index):
        return index in self._output_types

    def reset_output_type(self, index) -> None:
        self._output_types.pop(index, None)

    def _emit(self, emitter):
        raise NotImplementedError

    def __repr__(self):
        return f"<{type(self).__name__} {self._name}>"


class SimpleLayer(ILayer):
    """One node over all inputs."""

    OP = ""

    def _attrs(self):
        return {}

    def _emit(self, emitter):
        emitter.node(self, self.OP, self._inputs, self._outputs, **self._attrs())


def axes_of(mask):
    """The axes whose bits are set."""
    return [i for i in range(32) if mask >> i & 1]
