"""Loops and conditions: layers at their boundaries. What depends on the boundary on one side of it is inside."""

from assay.exception import PolygraphyException
from assay.tensorrt.enums import LayerType, LoopOutput, TripLimit
from assay.tensorrt.layers.base import ILayer


class _Boundary(ILayer):
    """A layer at the boundary of a loop or condition, whose nodes that emits."""

    def __init__(self, network, index, construct, inputs, count=1) -> None:
        self._construct = construct
        super().__init__(network, index, inputs, count)

    def _emit(self, emitter):
        raise AssertionError("its loop or condition emits it")


class _LoopBoundary(_Boundary):
    loop = property(lambda self: self._construct)


class _ConditionBoundary(_Boundary):
    conditional = property(lambda self: self._construct)


class ITripLimitLayer(_LoopBoundary):
    """How often the loop runs: a number, or a condition at the start of each iteration."""

    TYPE, WORD = LayerType.TRIP_LIMIT, "Trip Limit"

    def __init__(self, network, index, loop, tensor, kind) -> None:
        super().__init__(network, index, loop, [tensor], 0)
        self.kind = kind


class IRecurrenceLayer(_LoopBoundary):
    """A value that goes from iteration to iteration: input 0 is the first one, input 1 the next one."""

    TYPE, WORD = LayerType.RECURRENCE, "Recurrence"

    def __init__(self, network, index, loop, initial_value) -> None:
        super().__init__(network, index, loop, [initial_value])

    def _producers(self):
        return [each for each in [self._inputs[0]._layer] if each is not None]


class IIteratorLayer(_LoopBoundary):
    """A slice of a tensor for each iteration."""

    TYPE, WORD = LayerType.ITERATOR, "Iterator"

    def __init__(self, network, index, loop, tensor, axis=0, reverse=False) -> None:
        super().__init__(network, index, loop, [tensor])
        self.axis = axis
        self.reverse = reverse


class ILoopOutputLayer(_LoopBoundary):
    """What is left of a loop: the last value of a recurrence, or the values of all iterations. Input 1 is not used."""

    TYPE, WORD = LayerType.LOOP_OUTPUT, "Loop Output"

    def __init__(self, network, index, loop, tensor, kind, axis=0) -> None:
        super().__init__(network, index, loop, [tensor])
        self.kind = kind
        self.axis = axis

    @property
    def axis(self):
        return self._axis

    @axis.setter
    def axis(self, value):
        self._axis = value
        self._rank = 1 + len(self.get_input(0).shape) if value else None


class IConditionLayer(_ConditionBoundary):
    """What decides."""

    TYPE, WORD = LayerType.CONDITION, "Condition"

    def __init__(self, network, index, conditional, condition) -> None:
        super().__init__(network, index, conditional, [condition], 0)


class IIfConditionalInputLayer(_ConditionBoundary):
    """A tensor that the branches read."""

    TYPE, WORD = LayerType.CONDITIONAL_INPUT, "Conditional Input"

    def __init__(self, network, index, conditional, input) -> None:
        super().__init__(network, index, conditional, [input])


class IIfConditionalOutputLayer(_ConditionBoundary):
    """The tensor of the branch that is taken: input 0 where the condition holds, input 1 where it does not."""

    TYPE, WORD = LayerType.CONDITIONAL_OUTPUT, "Conditional Output"

    def __init__(self, network, index, conditional, true_subgraph_output, false_subgraph_output) -> None:
        super().__init__(network, index, conditional, [true_subgraph_output, false_subgraph_output])


class _Construct:
    """A loop or condition of a network, by its boundary layers."""

    def __init__(self, network) -> None:
        self._network = network
        self.name = ""
        self._layers: list = []
        network._constructs.append(self)

    def _add(self, kind, *args):
        layer = self._network._add(kind, self, *args)
        self._layers.append(layer)
        return layer

    def _all(self, kind):
        return [each for each in self._layers if isinstance(each, kind)]


class ILoop(_Construct):
    """A loop: an ONNX Loop when the network is built."""

    ENTRIES, EXITS = (IRecurrenceLayer, IIteratorLayer), ILoopOutputLayer

    def add_trip_limit(self, tensor, kind):
        if any(each.kind == kind for each in self._all(ITripLimitLayer)):
            raise PolygraphyException(f"the loop has a trip limit of the kind {kind.name} already")
        return self._add(ITripLimitLayer, tensor, TripLimit(kind))

    def add_recurrence(self, initial_value):
        return self._add(IRecurrenceLayer, initial_value)

    def add_iterator(self, tensor, axis=0, reverse=False):
        return self._add(IIteratorLayer, tensor, axis, reverse)

    def add_loop_output(self, tensor, kind, axis=0):
        return self._add(ILoopOutputLayer, tensor, LoopOutput(kind), axis)

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

    ENTRIES, EXITS = (IIfConditionalInputLayer,), IIfConditionalOutputLayer

    def set_condition(self, condition):
        if self._all(IConditionLayer):
            raise PolygraphyException("the conditional has a condition already")
        return self._add(IConditionLayer, condition)

    def add_input(self, input):
        return self._add(IIfConditionalInputLayer, input)

    def add_output(self, true_subgraph_output, false_subgraph_output):
        return self._add(IIfConditionalOutputLayer, true_subgraph_output, false_subgraph_output)

    def _branches(self):
        return [0, 1]

    def _check(self):
        if not self._all(IConditionLayer):
            raise PolygraphyException("a conditional has no condition: set_condition() gives it one")
