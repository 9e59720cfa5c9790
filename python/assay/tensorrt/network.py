"""Networks: layers that become nodes of an ONNX model when it is built or asked for shapes."""

from typing import Any

from assay import _native
from assay.exception import PolygraphyException
from assay.tensorrt.additions import Additions
from assay.tensorrt.arguments import Attribute, Shape, checked
from assay.tensorrt.dims import NoOpContext
from assay.tensorrt.enums import DataType, LayerType
from assay.tensorrt.layers import ILayer
from assay.tensorrt.logger import note, report
from assay.tensorrt.tensor import ITensor


OPSET = 18
SHAPING = {"Reshape": 1, "Expand": 1, "Tile": 1, "Slice": 1, "Resize": 1, "Pad": 1, "Range": 0, "ConstantOfShape": 0}
LEAVING = ("Shape", "Size")  # what they give does not depend on elements


class INetworkDefinition(Additions, NoOpContext):
    """Layers, inputs and outputs."""

    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")
    logger = property(lambda self: self._logger, doc="Who is told of mistakes.")
    flags = property(lambda self: self._flags, doc="A mask of NetworkDefinitionCreationFlag.")
    builder = property(lambda self: self._builder, doc="Who made the network.")

    def __init__(self, logger, flags=0, builder=None) -> None:
        self._logger, self._flags, self._builder = logger, flags, builder
        self._name = "Unnamed Network 0"
        self._named: dict = {}  # layers by name
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

    name = property(lambda self: self._name, lambda self, value: setattr(self, "_name", value))
    num_layers = property(lambda self: len(self._layers))
    num_inputs = property(lambda self: len(self._inputs))
    num_outputs = property(lambda self: len(self._outputs))
    has_implicit_batch_dimension = False
    has_explicit_precision = False

    def get_flag(self, flag):
        """Whether the network was made with a flag."""
        return bool(self._flags >> int(flag) & 1)

    def _at(self, found, index, word) -> Any:
        if isinstance(index, int) and 0 <= index < len(found):
            return found[index]
        return self._tell(f"the network has {len(found)} {word}, not one of the number {index}")

    def _tell(self, text):
        """Tells the logger of a mistake; gives None."""
        report(self, text)

    def get_layer(self, index: int) -> ILayer:
        """A layer, as an ILayer whose `type` is a LayerType; None, which the logger is told, if there is none."""
        layer: Any = self._at(self._layers, index, "layers")
        return layer and layer._seen()

    def get_input(self, index: int) -> ITensor:
        """An input; None, which the logger is told, if there is none of that number."""
        return self._at(self._inputs, index, "inputs")

    def get_output(self, index: int) -> ITensor:
        """An output; likewise."""
        return self._at(self._outputs, index, "outputs")

    def __len__(self):
        return len(self._layers)

    def __getitem__(self, index):
        try:
            return self._layers[index]._seen()
        except IndexError:
            raise IndexError("Out of bounds") from None

    def __iter__(self):
        return (each._seen() for each in self._layers)

    @checked
    def add_input(self, name: str, dtype: DataType, shape: Shape) -> ITensor:
        """An input; open dims are -1. None, which the logger is told, if there is a tensor of the name already."""
        if name in self._tensors:
            return self._tell(f"the network has a tensor `{name}` already")
        if min(shape, default=0) < -1:
            return self._tell(f"the input `{name}` cannot have the shape {shape}")
        tensor = self._new_tensor(name, dtype, shape)
        self._inputs.append(tensor)
        return tensor

    @checked
    def mark_output(self, tensor: ITensor) -> None:
        """The tensor becomes an output."""
        if tensor._network is not self:
            return self._tell(f"the tensor `{tensor.name}` belongs to another network")
        if tensor.is_network_output:
            return self._tell(f"the tensor `{tensor.name}` is an output already")
        if tensor.is_network_input:
            return self._tell(f"the tensor `{tensor.name}` is an input: it cannot be an output; add_identity() copies it")
        self._changed()
        self._outputs.append(tensor)

    @checked
    def unmark_output(self, tensor: ITensor) -> None:
        """The tensor is no output any more."""
        if not tensor.is_network_output:
            return self._tell(f"the tensor `{tensor.name}` is no output")
        self._changed()
        self._outputs = [each for each in self._outputs if each is not tensor]

    def mark_output_for_shapes(self, tensor):
        """The same as mark_output()."""
        self.mark_output(tensor)
        return tensor.is_network_output

    def unmark_output_for_shapes(self, tensor):
        """The same as unmark_output()."""
        self.unmark_output(tensor)
        return not tensor.is_network_output

    def remove_tensor(self, tensor) -> None:
        """An input that no layer reads goes."""
        readers = [each.name for each in self._layers if any(tensor is other for other in each._inputs)]
        if readers:
            return self._tell(f"the tensor `{tensor.name}` stays: the layer `{readers[0]}` reads it")
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
                tensor._layer._kind == LayerType.CONSTANT:
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

    def _add(self, kind, *args):
        """A layer of the kind; None, which the logger and the recorder are told, where it cannot be added."""
        tensors = [each for given in args for each in (given if isinstance(given, list) else [given])
                   if isinstance(each, ITensor) or each is None and isinstance(given, list)]
        count = len(self._tensors)
        try:
            for tensor in tensors:
                self._check_own(tensor)
            layer = kind(self, len(self._layers), *args)
        except PolygraphyException as error:
            for name in list(self._tensors)[count:]:  # what it had made of its outputs
                del self._tensors[name]
            return self._tell(error)
        self._append(layer)
        return layer

    def _append(self, layer):
        self._layers.append(layer)
        self._named[layer._name] = layer
        self._changed()

    def _check_own(self, tensor):
        if tensor is None:
            raise PolygraphyException("a layer of several inputs has None among them")
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
            return self._tell(f"the tensor `{tensor.name}` is not renamed: the network has a tensor `{name}` already")
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

    def _graph(self, outputs=None, layers=None, orders=None):
        """The network, or what the layers `layers` make of it, as a graph of assay.graphsurgeon. `orders`: of the axes of
        inputs and outputs, by name, if they are others."""
        from assay.tensorrt.emit import Emitter

        before, self._emitted = self._emitted, self._ordered() if layers is None else layers
        if outputs is None:
            outputs = self._outputs + self._hidden()
        try:
            return Emitter(self, self._emitted).graph(outputs, orders)
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
        outputs += [each for layer in layers if layer._kind in (LayerType.CONSTANT, LayerType.FILL) for each in layer._outputs]
        found = _native.read_graph(_native.infer_shapes(self._model(outputs, layers)))
        types = {name: type_of_value for name, type_of_value, _ in found["values"].values()}
        for name, _, array in found["values"].values():
            if array is not None and not isinstance(array, tuple):
                types[name] = (0, array.number, list(array.shape))
        return types

    def _shape_inputs(self):
        """Names of inputs whose elements decide shapes."""
        waiting = [tensor for node in self._graph().nodes if node.op in SHAPING for tensor in node.inputs[SHAPING[node.op]:]]
        names = set()
        while waiting:
            tensor = waiting.pop()
            if tensor.name not in names:
                names.add(tensor.name)
                waiting += [each for node in tensor.inputs if node.op not in LEAVING for each in node.inputs]
        return names
