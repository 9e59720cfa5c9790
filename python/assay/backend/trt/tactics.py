"""Tactics of a build, saved and prescribed."""

import os
import tempfile

from assay import tensorrt as trt
from assay.json import add_json_methods, load_json
from assay.logger import G_LOGGER
from assay.tensorrt.interfaces import IAlgorithmSelector


def _check(value, kind, name):
    if not isinstance(value, kind):
        G_LOGGER.critical(f"'{name}' must be an instance of {getattr(kind, '__name__', kind)}, but is: {value}.")


@add_json_methods("tensor info", name="TensorInfo")
class TensorInfo:
    """How a tensor of a layer lies in memory."""

    def __init__(self, dtype, strides, vectorized_dim, components_per_element) -> None:
        _check(dtype, trt.DataType, "dtype")
        _check(strides, (list, tuple), "strides")
        self.dtype = dtype
        self.strides = tuple(strides)
        self.vectorized_dim = vectorized_dim
        self.components_per_element = components_per_element

    @staticmethod
    def from_trt(io_info):
        """Of an IAlgorithmIOInfo."""
        return TensorInfo(io_info.dtype, tuple(io_info.strides), getattr(io_info, "vectorized_dim", None),
                          getattr(io_info, "components_per_element", None))

    def to_dict(self):
        return {"dtype": str(self.dtype), "strides": list(self.strides), "vectorized_dim": self.vectorized_dim,
                "components_per_element": self.components_per_element}

    @classmethod
    def from_dict(cls, dct):
        dtype = trt.DataType.__members__.get(dct["dtype"].rpartition(".")[2], trt.DataType.FLOAT)
        return cls(dtype, dct["strides"], dct["vectorized_dim"], dct["components_per_element"])

    def __eq__(self, other):
        return isinstance(other, TensorInfo) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash((self.dtype, self.strides, self.vectorized_dim, self.components_per_element))

    def __repr__(self):
        return f"TensorInfo({self.dtype}, {self.strides}, {self.vectorized_dim}, {self.components_per_element})"


@add_json_methods("algorithm")
class Algorithm:
    """The tactic of a layer."""

    def __init__(self, implementation, tactic, inputs, outputs) -> None:
        for name, infos in (("inputs", inputs), ("outputs", outputs)):
            for index, each in enumerate(infos):
                _check(each, TensorInfo, f"{name}[{index}]")
        self.implementation = implementation
        self.tactic = tactic
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)

    @staticmethod
    def from_trt(context, algorithm):
        """Of an IAlgorithmContext and an IAlgorithm."""
        infos = [TensorInfo.from_trt(algorithm.get_algorithm_io_info(i))
                 for i in range(context.num_inputs + context.num_outputs)]
        variant = algorithm.algorithm_variant
        return Algorithm(variant.implementation, variant.tactic, infos[:context.num_inputs], infos[context.num_inputs:])

    def to_dict(self):
        return {"implementation": self.implementation, "tactic": self.tactic, "inputs": list(self.inputs),
                "outputs": list(self.outputs)}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["implementation"], dct["tactic"], dct["inputs"], dct["outputs"])

    def __eq__(self, other):
        return isinstance(other, Algorithm) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash((self.implementation, self.tactic, self.inputs, self.outputs))

    def __repr__(self):
        return f"Algorithm({self.implementation}, {self.tactic})"

    def __str__(self):
        return (f"(Implementation: {self.implementation}, Tactic: {self.tactic}) | Inputs: {self.inputs} | "
                f"Outputs: {self.outputs}")


@add_json_methods("tactic replay file")
class TacticReplayData(dict):
    """Tactics by layer."""

    def __init__(self, dct=None) -> None:
        super().__init__(dct or {})

    def add(self, name, algorithm):
        """Adds a layer, and gives this again."""
        self[name] = algorithm
        return self

    def to_json(self):
        from assay.json import to_json

        return to_json({"replay": dict(self), "polygraphy_class": "TacticReplayData"})

    def save(self, dest) -> None:
        from assay import util

        util.save_file(self.to_json(), dest, mode="w", description="tactic replay file")

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["replay"])

    def __str__(self):
        return "\n".join(f"Layer: {name}\n    Algorithm: {algorithm}" for name, algorithm in self.items())


class _Selector(IAlgorithmSelector):
    """What the two selectors have in common. Builds ask native code for what they do (`assay_settings`)."""

    def __init__(self, data) -> None:
        super().__init__()
        self.data = data if isinstance(data, TacticReplayData) else TacticReplayData()
        self.path = None if isinstance(data, TacticReplayData) else data
        self.make_func = type(self)
        self.assay_settings: dict = {}
        self._file = ""

    def _new_file(self):
        handle, self._file = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        return self._file

    def select_algorithms(self, context, choices):
        return list(range(len(choices)))

    def finish(self) -> None:
        """After a build."""
        self.assay_settings = {}
        if self._file:
            os.unlink(self._file)
            self._file = ""


class TacticRecorder(_Selector):
    """Saves the tactic of each layer to a path or a file, or adds it to TacticReplayData."""

    def __init__(self, record) -> None:
        super().__init__(record)

    def start(self) -> None:
        """Before a build: where native code writes them."""
        self.assay_settings = {"save-tactics": [self._new_file()]}

    def finish(self) -> None:
        """After a build: adds and saves what native code has written."""
        if os.path.getsize(self._file):
            self.data.update(load_json(self._file))
            self._save()
        super().finish()

    def report_algorithms(self, contexts, choices) -> None:
        for context, choice in zip(contexts, choices):
            self.data.add(context.name, Algorithm.from_trt(context, choice))
        self._save()

    def _save(self):
        if self.path is not None:
            self.data.save(self.path)


class TacticReplayer(_Selector):
    """Prescribes the tactics of TacticReplayData, or of its path or file."""

    def __init__(self, replay) -> None:
        super().__init__(replay)
        if isinstance(self.path, (str, os.PathLike)) and not os.path.exists(self.path):
            G_LOGGER.critical(f"there is no file of tactics `{self.path}`")
        if self.path is not None:
            self.data = load_json(self.path, "tactic replay file")

    def start(self) -> None:
        """Before a build: where native code reads them."""
        self.data.save(self._new_file())
        self.assay_settings = {"load-tactics": [self._file]}

    def select_algorithms(self, context, choices):
        """The number of the tactic that is prescribed for a layer; all numbers if there is none."""
        wanted = self.data.get(context.name)
        if wanted is None:
            if self.data:
                G_LOGGER.warning(f"Layer: {context.name} was not found in the tactic replay. Falling back to default tactics.")
            return super().select_algorithms(context, choices)
        given = [Algorithm.from_trt(context, each) for each in choices]
        if wanted not in given:
            G_LOGGER.critical(f"Layer: {context.name} | Tactic in replay was not provided by TensorRT as a choice for this "
                              f"layer: {wanted}; choices: {'; '.join(map(str, given))}")
        return [given.index(wanted)]

    def report_algorithms(self, contexts, choices) -> None:
        """Refuses tactics that are not those that are prescribed."""
        for context, choice in zip(contexts, choices):
            wanted, taken = self.data.get(context.name), Algorithm.from_trt(context, choice)
            if wanted is not None and wanted != taken:
                G_LOGGER.critical(f"Layer: {context.name} | TensorRT selected a tactic different than the one specified in "
                                  f"the tactic replay: {taken} instead of {wanted}")
