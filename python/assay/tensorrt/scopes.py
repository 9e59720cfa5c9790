"""Which layers of a network are inside which loop or branch, and the nodes that loops and conditions become."""

import numpy as np

from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant, Variable
from assay.tensorrt.enums import LoopOutput, TripLimit
from assay.tensorrt.layers.boundaries import (IConditionLayer, IIfConditionalInputLayer, IIteratorLayer, ILoop,
                                              ILoopOutputLayer, IRecurrenceLayer, ITripLimitLayer)

BOOL, INT64 = 9, 7  # ONNX's numbers


class Scopes:
    """Emits the layers of a network, those of loops and branches in bodies."""

    def __init__(self, network, emitter) -> None:
        self.emitter = emitter
        self.layers = emitter.layers
        self.constructs = [each for each in network._constructs if self.among(each._layers)]
        self.producers = {id(tensor): layer for layer in self.layers for tensor in layer._outputs}
        self.consumers: dict = {}
        for layer in self.layers:
            for tensor in layer._inputs:
                self.consumers.setdefault(id(tensor), []).append(layer)
        self.inside = {id(each): self._inside(each) for each in self.constructs}

    def among(self, layers):
        """Those of the layers that are emitted."""
        return [each for each in layers if each._index < len(self.layers)]

    def emit(self) -> None:
        """All layers; nodes are in no order."""
        self._emit_scope(self.layers, self.constructs)

    # Layers by identity, in the order of the network.

    def _inside(self, construct):
        """What depends on the entries, as far as the exits; loops and conditions of which a part does so, as a whole."""
        found, waiting = set(), [each for each in construct._layers if isinstance(each, construct._ENTRIES)]
        while waiting:
            layer = waiting.pop()
            consumers = [each for tensor in layer._outputs for each in self.consumers.get(id(tensor), ())]
            for each in [*consumers, *(self._whole(layer) if id(layer) in found else ())]:
                if id(each) not in found and each not in construct._layers:
                    found.add(id(each))
                    waiting.append(each)
        return found

    def _whole(self, layer):
        """The boundary layers of the loop or condition that the layer is one of."""
        return next((each._layers for each in self.constructs if layer in each._layers), [layer])

    def _needed(self, tensors, among):
        """Of the layers `among` those that the tensors need."""
        found, waiting = set(), list(tensors)
        while waiting:
            layer = self.producers.get(id(waiting.pop()))
            if layer is None or id(layer) in found or id(layer) not in among:
                continue
            whole = self._whole(layer)
            found.update(id(each) for each in whole)
            waiting.extend(tensor for each in whole for tensor in each._inputs if tensor is not None)
        return found

    # Nodes.

    def _emit_scope(self, layers, constructs):
        within = set().union(*(self.inside[id(each)] for each in constructs))
        outermost = [each for each in constructs if not any(id(layer) in within for layer in each._layers)]
        boundaries = {id(layer) for each in constructs for layer in each._layers}
        for layer in layers:
            if id(layer) not in within and id(layer) not in boundaries:
                layer._emit(self.emitter)
        for construct in outermost:
            self._emit_loop(construct) if isinstance(construct, ILoop) else self._emit_condition(construct)

    def _body(self, chosen, finish):
        """The graph of the layers with these identities. `finish()` adds nodes and gives inputs and outputs."""
        emitter = self.emitter
        outer, emitter.nodes = emitter.nodes, []
        layers = [each for each in self.layers if id(each) in chosen]
        self._emit_scope(layers, [each for each in self.constructs
                                   if all(id(layer) in chosen for layer in self.among(each._layers))])
        inputs, outputs = finish()
        body = Graph(emitter.nodes, inputs, outputs, "body", opset=emitter.opset)
        emitter.nodes = outer
        for layer in layers:
            for tensor in layer._outputs:
                emitter.tensors.pop(id(tensor), None)
        return body

    def _emit_condition(self, construct):
        emitter = self.emitter
        for layer in self.among(construct._all(IIfConditionalInputLayer)):
            emitter.node(layer, "Identity", layer._inputs, layer._outputs)
        outputs = self.among(construct._all(construct._EXITS))
        conditions = self.among(construct._all(IConditionLayer))
        if not outputs or not conditions:
            return
        bodies = {}
        for name, index in (("then_branch", 0), ("else_branch", 1)):
            wanted = [each._inputs[index] for each in outputs]
            chosen = self._needed(wanted, self.inside[id(construct)])
            bodies[name] = self._body(chosen, lambda wanted=wanted: ([], [self._copy(outputs[0], each) for each in wanted]))
        made = [each._outputs[0] for each in outputs]
        emitter.node(outputs[0], "If", conditions[0]._inputs, made, **bodies)

    def _copy(self, layer, tensor):
        return self.emitter.node(layer, "Identity", [tensor])

    def _emit_loop(self, loop):
        LoopNode(self, loop).emit()


class LoopNode:
    """The ONNX Loop of a loop. A condition that is asked at the start of an iteration makes one more of them, whose
    values do not count."""

    def __init__(self, scopes, loop) -> None:
        self.scopes, self.emitter, self.loop = scopes, scopes.emitter, loop
        self.recurrences, self.iterators, self.outputs, limits = (
            scopes.among(loop._all(kind)) for kind in (IRecurrenceLayer, IIteratorLayer, ILoopOutputLayer, ITripLimitLayer))
        limits = {each.kind: each.get_input(0) for each in limits}
        self.count, self.condition = limits.get(TripLimit.COUNT), limits.get(TripLimit.WHILE)
        self.stacked = [each for each in self.outputs if each.kind != LoopOutput.LAST_VALUE]
        self.layer = loop._layers[0]

    def node(self, op, *inputs, **attrs):
        return self.emitter.node(self.layer, op, inputs, **attrs)

    def emit(self) -> None:
        states = [each.get_input(0) for each in self.recurrences]
        limit = None if self.count is None else self.node("Cast", self._scalar(self.count), to=INT64)
        body = self.scopes._body(self.scopes.inside[id(self.loop)], self._finish)
        ends = [self.emitter.variable() for _ in range(1 + len(states) + len(self.stacked))]
        first = self.emitter.constant(0)
        for each in self.recurrences + self.iterators:
            self.emitter.tensors.pop(id(each.get_output(0)), None)
        self.emitter.node(self.layer, "Loop", [limit, None, first, *states], ends, body=body)
        self._emit_ends(ends)

    def _scalar(self, tensor):
        return self.node("Reshape", tensor, self.emitter.constant([]))

    def _finish(self):
        index, going = Variable("__index", INT64, []), Variable("__going", BOOL, [])
        index.name += f"_{self.emitter.count}"
        going.name += f"_{self.emitter.count}"
        done = self.emitter.variable()  # how many iterations count
        done.dtype, done.shape = INT64, []
        for each in self.iterators:
            self._slice(each, index)
        states = [self.emitter.tensor(each.get_output(0)) for each in self.recurrences]
        for each, state in zip(self.recurrences, states):
            state.dtype = each.get_input(0)._dtype.onnx_number if each.get_input(0)._dtype is not None else None
        holds = going if self.condition is None else self._scalar(self.condition)
        results = [self.node("Identity", holds), self.node("Add", done, self.node("Cast", holds, to=INT64))]
        for each, state in zip(self.recurrences, states):
            next_value = each.get_input(1)
            if next_value is None or next_value._layer is not None and not self.scopes.among([next_value._layer]):
                next_value = state
            results.append(self.node("Identity", next_value) if self.condition is None else
                           self.node("Where", holds, next_value, state))
        results += [self.node("Identity", each.get_input(0)) for each in self.stacked]
        return [index, going, done, *states], results

    def _slice(self, layer, index):
        source = layer.get_input(0)
        length = self.node("Gather", self.node("Shape", source), self.emitter.constant(layer.axis))
        last = self.node("Sub", length, self.emitter.constant(1))
        if self.condition is not None:
            index = self.node("Min", index, last)
        place = self.node("Sub", last, index) if layer.reverse else index
        self.emitter.node(layer, "Gather", [source, place], layer._outputs, axis=layer.axis)

    def _emit_ends(self, ends):
        done, *rest = ends
        last = dict(zip((id(each.get_output(0)) for each in self.recurrences), rest))
        rows = iter(rest[len(self.recurrences):])
        for each in self.outputs:
            if each.kind == LoopOutput.LAST_VALUE:
                self.emitter.node(each, "Identity", [last.get(id(each.get_input(0)), each.get_input(0))], each._outputs)
                continue
            self._place(each, self._counted(next(rows), done))

    def _counted(self, rows, done):
        if self.condition is None:
            return rows
        return self.node("Slice", rows, self.emitter.constant([0]), self.node("Reshape", done, self.emitter.constant([1])),
                         self.emitter.constant([0]))

    def _place(self, layer, rows):
        """Iterations along the axis of the layer, as they came or the last one first."""
        if layer.kind == LoopOutput.REVERSE:
            rows = self.node("Slice", rows, self.emitter.constant([-1]), self.emitter.constant([np.iinfo(np.int64).min]),
                             self.emitter.constant([0]), self.emitter.constant([-1]))
        if layer.axis == 0:
            self.emitter.node(layer, "Identity", [rows], layer._outputs)
            return
        order = list(range(1, layer._rank))
        order.insert(layer.axis, 0)
        self.emitter.node(layer, "Transpose", [rows], layer._outputs, perm=order)
