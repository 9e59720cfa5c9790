"""Networks: layers that become nodes of an ONNX model when it is built or asked for shapes."""

from __future__ import annotations

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt.dims import Dims, NoOpContext
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers import LAYERS
from assay.tensorrt.layers.boundaries import IIfConditional, ILoop
from assay.tensorrt.logger import note
from assay.tensorrt.tensor import ITensor

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import Any
    
    from assay.tensorrt.layers import ILayer

OPSET = 18
REFUSED = {"assertion": "the engine checks nothing while it runs; mark the condition as an output",
           "dynamic_quantize": "scales of blocks are not made in a run; use add_quantize() with scales that are known"}


def _refuse(name, reason):
    raise PolygraphyException(f"{name}() is not there: {reason}")


class INetworkDefinition(NoOpContext):
    """Layers, inputs and outputs."""

    def __init__(self, logger, flags=0) -> None:
        self.logger = logger
        self.flags = flags
        self._name = "Unnamed Network 0"
        self._inputs: list = []
        self._outputs: list = []
        self._debug: list = []  # tensors that a listener is told of
        self._layers: list = []
        self._is_mixed = False  # a layer reads what a later one gives
        self._constructs: list = []  # loops and conditions
        self._tensors: dict = {}  # by name
        self._parsed = None  # what a parser read: the header of the model, and its functions
        self._types: dict = {}  # of tensors by name, by the number of layers that they were inferred from
        self._emitted = None  # the layers that are becoming nodes
        self.weights_names: dict = {}
        self._refittable: set = set()  # names of weights
        self.builder: Any = None
        self.error_recorder = None

    name = property(lambda self: self._name, lambda self, value: setattr(self, "_name", value))
    num_layers = property(lambda self: len(self._layers))
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))
    has_implicit_batch_dimension = False
    has_explicit_precision = False

    def get_flag(self, flag):
        """Whether the network was made with a flag."""
        return bool(self.flags >> int(flag) & 1)

    def get_layer(self, index: int) -> ILayer:
        return self._layers[index]

    def get_input(self, index: int) -> ITensor:
        return self._inputs[index]

    def get_output(self, index: int) -> ITensor:
        return self._outputs[index]

    def __len__(self):
        return len(self._layers)

    def __getitem__(self, index):
        return self._layers[index]

    def __iter__(self):
        return iter(self._layers)

    def add_input(self, name: str, dtype, shape) -> ITensor:
        """An input; open dims are -1."""
        if name in self._tensors:
            raise PolygraphyException(f"the network has a tensor `{name}` already")
        tensor = self._new_tensor(name, dtype, Dims(shape))
        self._inputs.append(tensor)
        return tensor

    def mark_output(self, tensor: ITensor) -> None:
        """The tensor becomes an output."""
        self._check_own(tensor)
        if tensor.is_network_output:
            raise PolygraphyException(f"the tensor `{tensor.name}` is an output already")
        self._changed()
        self._outputs.append(tensor)

    def unmark_output(self, tensor) -> None:
        """The tensor is no output any more."""
        self._changed()
        self._outputs = [each for each in self._outputs if each is not tensor]

    def mark_output_for_shapes(self, tensor):
        """The same as mark_output()."""
        self.mark_output(tensor)
        return True

    def unmark_output_for_shapes(self, tensor):
        """The same as unmark_output()."""
        self.unmark_output(tensor)
        return True

    def remove_tensor(self, tensor) -> None:
        """Nothing reads the tensor any more."""
        self._changed()
        self._inputs = [each for each in self._inputs if each is not tensor]
        self._tensors.pop(tensor.name, None)

    def set_weights_name(self, weights, name):
        """A name for refitting."""
        self.weights_names[name] = weights
        return True

    def mark_weights_refittable(self, name):
        """With BuilderFlag.REFIT_INDIVIDUAL, weights of that name can be refitted; True."""
        self._refittable.add(name)
        return True

    def unmark_weights_refittable(self, name):
        """They cannot; True."""
        self._refittable.discard(name)
        return True

    def are_weights_marked_refittable(self, name):
        return name in self._refittable

    def mark_debug(self, tensor):
        """Runs tell a debug listener of the tensor, which is no output of the engine; whether that can be."""
        self._check_own(tensor)
        if tensor._layer is None and tensor.is_network_input or tensor._layer is not None and \
                tensor._layer.type == LayerType.CONSTANT:
            note(self.logger, f"the tensor `{tensor.name}` is known without a run: it is not marked for debugging")
            return False
        if not self.is_debug_tensor(tensor):
            self._debug.append(tensor)
        return True

    def unmark_debug(self, tensor):
        """The tensor is not told of any more; whether it was."""
        before = len(self._debug)
        self._debug = [each for each in self._debug if each is not tensor]
        return len(self._debug) < before

    def is_debug_tensor(self, tensor):
        return any(each is tensor for each in self._debug)

    def _hidden(self):
        """Tensors that are marked for debugging and are no outputs."""
        return [each for each in self._debug if not each.is_network_output]

    def mark_unfused_tensors_as_debug_tensors(self):
        """False: tensors are marked by name."""
        note(self.logger, "tensors are marked for debugging one by one: mark_debug(tensor)")
        return False

    def unmark_unfused_tensors_as_debug_tensors(self):
        return False

    def add_loop(self):
        """A loop, to which its boundary layers are added."""
        return ILoop(self)

    def add_if_conditional(self):
        """A condition with two branches, to which its boundary layers are added."""
        return IIfConditional(self)

    def __getattr__(self, name: str) -> Any:
        word = name.removeprefix("add_")
        if word != name and word in REFUSED:
            return lambda *args, **kwargs: _refuse(name, REFUSED[word])
        layer = LAYERS.get(word) if word != name else None
        if layer is None:
            raise AttributeError(f"'INetworkDefinition' object has no attribute '{name}'")
        return lambda *args, **kwargs: self._add(layer, *args, **kwargs)

    def _add(self, kind, *args, **kwargs):
        layer = kind(self, len(self._layers), *args, **kwargs)
        for tensor in layer._inputs:
            if tensor is not None:
                self._check_own(tensor)
        self._layers.append(layer)
        self._changed()
        return layer

    def _check_own(self, tensor):
        if not isinstance(tensor, ITensor):
            raise TypeError(f"expected a tensor of a network, not a {type(tensor).__name__}")
        if tensor._network is not self:
            raise PolygraphyException(f"the tensor `{tensor.name}` belongs to another network")

    def _new_tensor(self, name, dtype=None, shape=None, layer=None):
        unique, count = name, 0
        while unique in self._tensors:
            count += 1
            unique = f"{name}_{count}"
        tensor = self._tensors[unique] = ITensor(self, unique, dtype, shape, layer)
        self._changed()
        return tensor

    def _rename(self, tensor, name):
        other = self._tensors.get(name)
        if other is not None and other is not tensor:
            raise PolygraphyException(f"the network has a tensor `{name}` already")
        self._changed()
        self._tensors.pop(tensor._name, None)
        self._tensors[name] = tensor
        tensor._name = name

    def _changed(self):
        self._types = {}

    def _ordered(self):
        """The layers, each after those whose outputs it reads; values that go round a loop do not count."""
        if not self._is_mixed:
            return self._layers
        entered, places = set(), {}
        for layer in self._layers:
            waiting = [layer]
            while waiting:
                last = waiting[-1]
                if id(last) in entered:
                    places.setdefault(id(waiting.pop()), (len(places), last))
                else:
                    entered.add(id(last))
                    waiting += [each for each in last._producers() if id(each) not in entered]
        for place, layer in places.values():
            layer._index = place
        return [layer for _, layer in places.values()]

    def _graph(self, outputs=None, layers=None):
        """The network, or what the layers `layers` make of it, as a graph of assay.graphsurgeon."""
        from assay.tensorrt.emit import Emitter

        before, self._emitted = self._emitted, self._ordered() if layers is None else layers
        if outputs is None:
            outputs = self._outputs + self._hidden()
        try:
            return Emitter(self, self._emitted).graph(outputs)
        finally:
            self._emitted = before

    def _model(self, outputs=None, layers=None):
        from assay.graphsurgeon import export_onnx

        return export_onnx(self._graph(outputs, layers), do_type_check=False).native

    def _inferred(self, tensor):
        """(element type, dims) of a tensor, as far as they can be told. A layer that is being emitted may ask for those
        of its inputs: the layers before it tell."""
        layers = self._ordered()
        if self._emitted is not None:
            layers = [] if tensor._layer is None else layers[:tensor._layer._index + 1]
            if len(layers) >= len(self._emitted):
                raise PolygraphyException(f"the shape of the tensor `{tensor.name}` depends on itself")
        if len(layers) not in self._types:
            self._types[len(layers)] = self._infer(layers)
        known = self._types[len(layers)].get(tensor.name)
        if known is None:
            return None, None
        from assay.datatype import DataType as Shared

        _, number, dims = known
        shared = Shared.from_number(number)
        if dims is not None:
            dims = [each if isinstance(each, int) else -1 for each in dims]
        return None if shared is None else shared.native, dims

    def _infer(self, layers):
        """Types of all tensors by name."""
        outputs = list(self._outputs) if len(layers) == len(self._layers) else []
        outputs += [each for layer in layers if layer.type == LayerType.CONSTANT for each in layer._outputs]
        found = _native.read_graph(_native.infer_shapes(self._model(outputs, layers)))
        types = {name: type_of_value for name, type_of_value, _ in found["values"].values()}
        for name, _, array in found["values"].values():
            if array is not None and not isinstance(array, tuple):
                types[name] = (0, array.number, list(array.shape))
        return types

    def _shape_inputs(self):
        """Names of inputs whose elements decide shapes."""
        shaping = {"Reshape", "Expand", "Tile", "Range", "ConstantOfShape", "Slice", "Resize", "Pad"}
        graph = self._graph()
        return {tensor.name for node in graph.nodes if node.op in shaping for tensor in node.inputs[1:]}
