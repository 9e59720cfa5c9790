"""Loops and conditions: layers at their boundaries. What depends on the boundary on one side of it is inside."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting, checked
from assay.tensorrt.enums import LayerType, LoopOutput, TripLimit
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.logger import say
from assay.tensorrt.tensor import ITensor


class _Boundary(ILayer):
    """A layer at the boundary of a loop or condition, whose nodes that emits."""

    def __init__(self, network, index, construct, inputs, count=1) -> None:
        self._construct = construct
        super().__init__(network, index, inputs, count)

    def _emit(self, emitter):
        raise AssertionError("its loop or condition emits it")


class ILoopBoundaryLayer(_Boundary):
    """A layer at the boundary of a loop."""

    loop = property(lambda self: self._construct, doc="The loop.")


class IIfConditionalBoundaryLayer(_Boundary):
    """A layer at the boundary of a condition."""

    conditional = property(lambda self: self._construct, doc="The condition.")


class ITripLimitLayer(ILoopBoundaryLayer):
    """How often the loop runs: a number, or a condition at the start of each iteration."""

    _TYPE, _WORD = LayerType.TRIP_LIMIT, "TripLimit"

    kind = property(lambda self: self._limit, doc="What ends the loop.")

    def __init__(self, network, index, loop, tensor, kind) -> None:
        super().__init__(network, index, loop, [tensor], 0)
        self._limit = kind


class IRecurrenceLayer(ILoopBoundaryLayer):
    """A value that goes from iteration to iteration: input 0 is the first one, input 1 the next one."""

    _TYPE, _WORD = LayerType.RECURRENCE, "Recurrence"

    def __init__(self, network, index, loop, initial_value) -> None:
        super().__init__(network, index, loop, [initial_value])

    def _producers(self):
        return [each for each in [self._inputs[0]._layer] if each is not None]


class IIteratorLayer(ILoopBoundaryLayer):
    """A slice of a tensor for each iteration."""

    _TYPE, _WORD = LayerType.ITERATOR, "Iterator"

    axis = Setting(int, "The axis along which slices are taken.")
    reverse = Setting(bool, "Whether the last one comes first.")

    def __init__(self, network, index, loop, tensor, axis=0, reverse=False) -> None:
        super().__init__(network, index, loop, [tensor])
        self.axis = axis
        self.reverse = reverse


class ILoopOutputLayer(ILoopBoundaryLayer):
    """What is left of a loop: the last value of a recurrence, or the values of all iterations. Input 1 is not used."""

    _TYPE, _WORD = LayerType.LOOP_OUTPUT, "LoopOutput"

    kind = property(lambda self: self._left, doc="What is left.")

    def __init__(self, network, index, loop, tensor, kind, axis=0) -> None:
        super().__init__(network, index, loop, [tensor])
        self._left = kind
        self.axis = axis

    @property
    def axis(self):
        """The axis that iterations become."""
        return self._axis

    @axis.setter
    def axis(self, value):
        self._axis = value
        self._rank = 1 + len(self.get_input(0).shape) if value else None


class IConditionLayer(IIfConditionalBoundaryLayer):
    """What decides."""

    _TYPE, _WORD = LayerType.CONDITION, "IfCondition"

    def __init__(self, network, index, conditional, condition) -> None:
        super().__init__(network, index, conditional, [condition], 0)


class IIfConditionalInputLayer(IIfConditionalBoundaryLayer):
    """A tensor that the branches read."""

    _TYPE, _WORD = LayerType.CONDITIONAL_INPUT, "Input"

    def __init__(self, network, index, conditional, input) -> None:
        super().__init__(network, index, conditional, [input])


class IIfConditionalOutputLayer(IIfConditionalBoundaryLayer):
    """The tensor of the branch that is taken: input 0 where the condition holds, input 1 where it does not."""

    _TYPE, _WORD = LayerType.CONDITIONAL_OUTPUT, "Output"

    def __init__(self, network, index, conditional, true_subgraph_output, false_subgraph_output) -> None:
        super().__init__(network, index, conditional, [true_subgraph_output, false_subgraph_output])


class _Construct:
    """A loop or condition of a network, by its boundary layers."""

    _WORD = ""
    name = ""

    def __init__(self, network) -> None:
        self._network = network
        self.name = f"(Unnamed {self._WORD}* {len(network._constructs)})"
        self._layers: list = []
        network._constructs.append(self)

    def _add(self, kind, *args):
        layer = self._network._add(kind, self, *args)
        if layer is not None:
            self._layers.append(layer)
        return layer

    def _say(self, text):
        """Tells the logger of a mistake; gives None."""
        say(self._network.logger, text)

    def _all(self, kind):
        return [each for each in self._layers if isinstance(each, kind)]


class ILoop(_Construct):
    """A loop: an ONNX Loop when the network is built."""

    _ENTRIES, _EXITS = (IRecurrenceLayer, IIteratorLayer), ILoopOutputLayer
    _WORD = "Loop"

    @checked
    def add_trip_limit(self, tensor: ITensor, kind: TripLimit) -> ITripLimitLayer:
        """What ends the loop; one of each kind."""
        if any(each.kind == kind for each in self._all(ITripLimitLayer)):
            return self._say(f"the loop has a trip limit of the kind {kind.name} already")
        return self._add(ITripLimitLayer, tensor, kind)

    @checked
    def add_recurrence(self, initial_value: ITensor) -> IRecurrenceLayer:
        """A value that goes from iteration to iteration."""
        return self._add(IRecurrenceLayer, initial_value)

    @checked
    def add_iterator(self, tensor: ITensor, axis: int = 0, reverse: bool = False) -> IIteratorLayer:
        """A slice of a tensor for each iteration."""
        return self._add(IIteratorLayer, tensor, axis, reverse)

    @checked
    def add_loop_output(self, tensor: ITensor, kind: LoopOutput, axis: int = 0) -> ILoopOutputLayer:
        """What is left of the loop."""
        return self._add(ILoopOutputLayer, tensor, kind, axis)

    def _branches(self):
        return [None]

    def _check(self):
        if not self._all(ITripLimitLayer):
            raise PolygraphyException("a loop has no trip limit: add_trip_limit() gives it one")
        recurrences = self._all(IRecurrenceLayer)
        for each in recurrences:
            if each.get_input(1) is None:
                raise PolygraphyException(f"the recurrence `{each.name}` has no next value: set_input(1, ...) gives it one")
        outputs = [each.get_output(0) for each in recurrences]
        for each in self._all(ILoopOutputLayer):
            if each.kind == LoopOutput.LAST_VALUE and not any(each.get_input(0) is other for other in outputs):
                raise PolygraphyException(f"`{each.name}` is the last value of what is no output of a recurrence")


class IIfConditional(_Construct):
    """A condition with two branches: an ONNX If when the network is built."""

    _ENTRIES, _EXITS = (IIfConditionalInputLayer,), IIfConditionalOutputLayer
    _WORD = "IfConditional"

    @checked
    def set_condition(self, condition: ITensor) -> IConditionLayer:
        """What decides."""
        if self._all(IConditionLayer):
            return self._say("the conditional has a condition already")
        return self._add(IConditionLayer, condition)

    @checked
    def add_input(self, input: ITensor) -> IIfConditionalInputLayer:
        """A tensor that the branches read."""
        return self._add(IIfConditionalInputLayer, input)

    @checked
    def add_output(self, true_subgraph_output: ITensor, false_subgraph_output: ITensor) -> IIfConditionalOutputLayer:
        """The tensor of the branch that is taken."""
        return self._add(IIfConditionalOutputLayer, true_subgraph_output, false_subgraph_output)

    def _branches(self):
        return [0, 1]

    def _check(self):
        if not self._all(IConditionLayer):
            raise PolygraphyException("a conditional has no condition: set_condition() gives it one")
