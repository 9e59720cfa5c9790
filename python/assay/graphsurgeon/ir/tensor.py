"""Tensors of graphs: variables and constants."""

from __future__ import annotations

import functools

from assay import _native
from assay._arrays import to_numpy
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

KINDS = ("tensor_type", "sparse_tensor_type", "sequence_type", "optional_type", "map_type", "opaque_type")


class Tensor(misc.Linked):
    """A value by its name: tensors of one name are equal. `inputs` are its producers, `outputs` its consumers."""

    DYNAMIC = -1

    def __init__(self) -> None:
        raise NotImplementedError("a Tensor is a Variable or a Constant")

    def _start(self, name):
        self.name = name
        self._link()

    def is_empty(self) -> bool:
        """Whether it stands for an input or output that is left out."""
        return self.name == ""

    def to_constant(self, values, data_location=None, export_dtype=None):
        """Becomes a Constant, for all who hold it."""
        self.__class__ = Constant
        self._values = _checked_values(values)
        self.data_location = data_location
        self._export_dtype = export_dtype
        return self

    def to_variable(self, dtype=None, shape=None):
        """Becomes a Variable, for all who hold it. Without a shape it is a scalar's, as the peer has it."""
        variable_dtype = dtype if dtype is not None else getattr(self, "export_dtype", getattr(self, "dtype", None))
        for name in ("_values", "data_location", "_export_dtype"):
            self.__dict__.pop(name, None)
        self.__class__ = Variable
        self.dtype = variable_dtype
        self.shape = [] if shape is None else shape
        self.type = "tensor_type"
        return self

    def i(self, tensor_idx: int = 0, producer_idx: int = 0) -> Tensor:
        """The tensor `tensor_idx` that the producer `producer_idx` reads."""
        return self.inputs[producer_idx].inputs[tensor_idx]

    def o(self, consumer_idx: int = 0, tensor_idx: int = 0) -> Tensor:
        """The tensor `tensor_idx` that the consumer `consumer_idx` gives."""
        return self.outputs[consumer_idx].outputs[tensor_idx]

    def __str__(self):
        return f"{type(self).__name__} ({self.name}): (shape={self.shape}, dtype={self.dtype})"

    def __repr__(self):
        return str(self)

    def __eq__(self, other):
        return self is other or (isinstance(other, Tensor) and self.name == other.name)

    __hash__ = None  # type: ignore[assignment]


class Variable(Tensor):
    """A tensor that is known when the model runs."""

    def __init__(self, name: str, dtype=None, shape=None, type: str = "tensor_type") -> None:
        self._start(name)
        self.dtype = dtype
        self.shape = misc.default_value(shape, None)
        self.type = type

    @staticmethod
    def empty():
        """What stands for an input or output that is left out."""
        return Variable(name="")

    def to_constant(self, values, export_dtype=None):
        """Becomes a Constant, for all who hold it."""
        values = _checked_values(values)
        for name in ("dtype", "shape", "type"):
            self.__dict__.pop(name, None)
        return super().to_constant(values, None, export_dtype)

    def copy(self):
        """Another variable of this name, type and shape, without edges."""
        return Variable(self.name, self.dtype, self.shape, self.type)


class LazyValues:
    """Elements that are read when load() is called: of a native array, or of a TensorProto of the package onnx.

    Of a ValueInfoProto there are only type and shape.
    """

    def __init__(self, tensor) -> None:
        if hasattr(tensor, "SerializeToString"):
            tensor = _array_of_proto(tensor) if hasattr(tensor, "data_type") else _Described(tensor)
        self.tensor = tensor
        self.shape = list(tensor.shape)
        self.dtype = dtype_of(tensor.number)
        self.nbytes = tensor.nbytes

    def load(self):
        """The elements, which may be changed."""
        import numpy as np

        if isinstance(self.tensor, _Described):
            G_LOGGER.critical("only the type and the shape of these values are known")
        return np.array(to_numpy(self.tensor))

    def __str__(self):
        return f"LazyValues (shape={self.shape}, dtype={self.dtype})"

    __repr__ = __str__


class _Described:
    """What a ValueInfoProto says of a tensor."""

    def __init__(self, proto) -> None:
        from assay.graphsurgeon.importers.protos import get_itemsize, get_onnx_tensor_dtype, get_onnx_tensor_shape

        dtype = get_onnx_tensor_dtype(proto)
        self.number = number_of(dtype)
        self.shape = get_onnx_tensor_shape(proto) or []
        self.nbytes = misc.volume(self.shape) * get_itemsize(dtype)


class SparseValues(LazyValues):
    """Elements of which most are zero: (values, indices, dims). `message`: the SparseTensorProto that they came from."""

    def __init__(self, tensor, message=None) -> None:
        self.tensor = tensor
        self.message = message
        self.shape = list(tensor[2])
        self.dtype = dtype_of(tensor[0].number)
        self.nbytes = tensor[0].nbytes + tensor[1].nbytes

    def load(self):
        """All elements."""
        import numpy as np

        values, indices = to_numpy(self.tensor[0]), to_numpy(self.tensor[1])
        dense = np.zeros(self.shape, dtype=values.dtype)
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
        return dense


def _array_of_proto(proto):
    """The array of a TensorProto, by way of a model that holds nothing else."""
    import onnx

    graph = onnx.GraphProto(name="tensor")
    graph.initializer.append(proto)
    graph.initializer[0].name = "values"
    model = onnx.ModelProto(ir_version=8, graph=graph, opset_import=[onnx.OperatorSetIdProto(version=13)])
    found = _native.read_graph(_native.model_from_bytes(model.SerializeToString()))
    return found["values"][found["graph"][4][0]][2]


@functools.lru_cache(maxsize=None)
def dtype_of(number):
    """An element type by ONNX's number: numpy's, or the number where numpy has none."""
    import numpy as np

    from assay.datatype import DataType

    found = DataType.from_number(number)
    if found is None or found.native in ("bfloat16", "int4", "uint4") or found.native.startswith("float8") or \
            found.native == "float4e2m1":
        return number if number else None
    return np.dtype(object) if found.native == "string" else np.dtype(found.native)


def number_of(dtype):
    """ONNX's number of an element type, 0 for None."""
    if dtype is None:
        return 0
    if isinstance(dtype, int):
        return int(dtype)
    number = _NUMBERS.get(dtype)
    if number is None:
        from assay.datatype import DataType

        number = _NUMBERS[dtype] = DataType.from_dtype(dtype).number
    return number


_NUMBERS: dict = {}  # that were asked for


def _checked_values(values):
    import numpy as np

    if not isinstance(values, (np.ndarray, LazyValues)):
        G_LOGGER.critical(f"the values of a Constant are a numpy array or LazyValues, not a {type(values).__name__}: "
                          f"{values!r}")
    return values


class Constant(Tensor):
    """A tensor that is known now. Its values are read when they are asked for."""

    def __init__(self, name, values, data_location=None, export_dtype=None) -> None:
        self._start(name)
        self._values = _checked_values(values)
        self.data_location = data_location
        self._export_dtype = export_dtype

    @property
    def values(self):
        """The elements as a numpy array, which may be changed."""
        if isinstance(self._values, LazyValues):
            self._values = self._values.load()
        return self._values

    @values.setter
    def values(self, values):
        self._values = _checked_values(values)

    @property
    def shape(self):
        return self._values.shape

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def export_dtype(self):
        """The type that the elements are written in."""
        return self.dtype if self._export_dtype is None else self._export_dtype

    @export_dtype.setter
    def export_dtype(self, value):
        self._export_dtype = value

    def copy(self):
        """Another constant of this name and these values, without edges."""
        return Constant(self.name, self._values, self.data_location, self._export_dtype)

    def __repr__(self):
        return f"{self}\n{self._values}"
