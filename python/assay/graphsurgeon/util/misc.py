"""Lists that keep both ends of an edge alike, and small functions about shapes."""

import contextlib
import gc
from collections import OrderedDict


@contextlib.contextmanager
def without_collections():
    """Python's search for cycles waits: it would look at all that is made again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def finite_bodies():
    """A graph that is its own body is an error that says so."""
    from assay.graphsurgeon.util.exception import OnnxGraphSurgeonException

    try:
        yield
    except RecursionError:
        raise OnnxGraphSurgeonException("bodies are nested too deeply, or a graph is a body of itself") from None


def default_value(value, default):
    """The value, or what stands for None."""
    return default if value is None else value


def combine_dicts(dict0, dict1):
    """Both; the second one counts where both have a key."""
    combined = OrderedDict(dict0)
    combined.update(dict1)
    return combined


def is_dynamic_dimension(dim):
    """Whether a dim is no number that is known."""
    return not isinstance(dim, int) or dim < 0


def is_dynamic_shape(shape):
    """Whether a dim of the shape is."""
    return any(is_dynamic_dimension(dim) for dim in shape)


def volume(obj):
    """The product of dims."""
    product = 1
    for dim in obj:
        product *= dim
    return product


def convert_from_onnx_attr_type(onnx_attr_type):
    """The Python type of a kind of attribute, by its number; the number where there is no such type."""
    from assay.graphsurgeon.ir.graph import Graph
    from assay.graphsurgeon.ir.tensor import Tensor

    types = {0: None, 1: float, 2: int, 3: str, 4: Tensor, 5: Graph, 6: list[float], 7: list[int], 8: list[str],
             9: list[Tensor], 10: list[Graph]}
    return types.get(int(onnx_attr_type), int(onnx_attr_type))


def convert_to_onnx_attr_type(any_type):
    """The number of the kind of attributes that a Python type or value stands for."""
    from assay.graphsurgeon.ir.node import kind_number

    return kind_number(any_type)


def remove_identical(items, item) -> None:
    """Removes one occurrence of the object itself."""
    for i, each in enumerate(items):
        if each is item:
            list.__delitem__(items, i)
            return


class SynchronizedList(list):
    """A list of an object whose every change is repeated in the lists of the objects in it."""

    __slots__ = ("parent_obj", "field_name")

    def __init__(self, parent_obj, field_name, initial=()) -> None:
        self.parent_obj = parent_obj
        self.field_name = field_name
        for item in initial:
            list.append(getattr(item, field_name), parent_obj)
        list.extend(self, initial)

    def _add(self, item):
        list.append(getattr(item, self.field_name), self.parent_obj)

    def _remove(self, item):
        remove_identical(getattr(item, self.field_name), self.parent_obj)

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            before, after = list(self[index]), list(value)
            for item in before:
                self._remove(item)
            for item in after:
                self._add(item)
            list.__setitem__(self, index, after)
            return
        self._remove(self[index])
        self._add(value)
        list.__setitem__(self, index, value)

    def __delitem__(self, index):
        for item in self[index] if isinstance(index, slice) else [self[index]]:
            self._remove(item)
        list.__delitem__(self, index)

    def append(self, item) -> None:
        self._add(item)
        list.append(self, item)

    def extend(self, items) -> None:
        items = list(items)
        for item in items:
            list.append(getattr(item, self.field_name), self.parent_obj)
        list.extend(self, items)

    def insert(self, index, item) -> None:
        self._add(item)
        list.insert(self, index, item)

    def remove(self, item) -> None:
        del self[self.index(item)]

    def pop(self, index=-1):
        item = self[index]
        self._remove(item)
        return list.pop(self, index)

    def clear(self) -> None:
        for item in self:
            self._remove(item)
        list.clear(self)

    def __add__(self, other):
        return list(self) + list(other)

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __copy__(self):
        return list(self)

    def __deepcopy__(self, memo):
        import copy

        return copy.deepcopy(list(self), memo)

    def __reduce__(self):
        return list, (list(self),)


class Linked:
    """What has inputs and outputs: lists that are repeated in the objects in them."""

    def _link(self, inputs=(), outputs=()):
        self._inputs = SynchronizedList(self, "outputs", inputs)
        self._outputs = SynchronizedList(self, "inputs", outputs)

    @property
    def inputs(self):
        return self._inputs

    @inputs.setter
    def inputs(self, value):
        self._assign(self._inputs, value)

    @property
    def outputs(self):
        return self._outputs

    @outputs.setter
    def outputs(self, value):
        self._assign(self._outputs, value)

    @staticmethod
    def _assign(synchronized, value):
        if value is synchronized:
            return
        value = list(value)
        synchronized.clear()
        synchronized.extend(value)
