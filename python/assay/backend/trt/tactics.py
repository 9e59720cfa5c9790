"""Tactics of a build, saved and prescribed."""

import os
import tempfile

from assay import tensorrt as trt
from assay.json import add_json_methods, load_json
from assay.logger import G_LOGGER


@add_json_methods("tensor info", name="TensorInfo")
class TensorInfo:
    """How a tensor of a layer lies in memory."""

    def __init__(self, dtype, strides, vectorized_dim, components_per_element) -> None:
        self.dtype = dtype
        self.strides = tuple(strides)
        self.vectorized_dim = vectorized_dim
        self.components_per_element = components_per_element

    def to_dict(self):
        return {"dtype": str(self.dtype), "strides": list(self.strides), "vectorized_dim": self.vectorized_dim,
                "components_per_element": self.components_per_element}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["dtype"], dct["strides"], dct["vectorized_dim"], dct["components_per_element"])

    def __eq__(self, other):
        return isinstance(other, TensorInfo) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


@add_json_methods("algorithm")
class Algorithm:
    """The tactic of a layer."""

    def __init__(self, implementation, tactic, inputs, outputs) -> None:
        self.implementation = implementation
        self.tactic = tactic
        self.inputs = inputs
        self.outputs = outputs

    def to_dict(self):
        return {"implementation": self.implementation, "tactic": self.tactic, "inputs": self.inputs,
                "outputs": self.outputs}

    @classmethod
    def from_dict(cls, dct):
        return cls(dct["implementation"], dct["tactic"], dct["inputs"], dct["outputs"])

    def __eq__(self, other):
        return isinstance(other, Algorithm) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"Algorithm({self.implementation}, {self.tactic})"


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


class TacticRecorder(trt.IAlgorithmSelector):
    """Saves the tactic of each layer to a path or a file, or adds it to TacticReplayData."""

    def __init__(self, record) -> None:
        super().__init__()
        self._record = record
        self.assay_settings: dict = {}

    def start(self) -> None:
        """Before a build: where native code writes them."""
        self._is_path = isinstance(self._record, (str, os.PathLike))
        if self._is_path:
            self.path = str(self._record)
        else:
            handle, self.path = tempfile.mkstemp(suffix=".json")
            os.close(handle)
        self.assay_settings = {"save-tactics": [self.path]}

    def finish(self) -> None:
        """After a build."""
        if self._is_path:
            return
        data = load_json(self.path)
        if isinstance(self._record, dict):
            self._record.update(data)
        else:
            data.save(self._record)
        os.unlink(self.path)


class TacticReplayer(trt.IAlgorithmSelector):
    """Prescribes the tactics of TacticReplayData, or of its path or file."""

    def __init__(self, replay) -> None:
        super().__init__()
        self._replay = replay
        self.assay_settings: dict = {}
        self.path = None

    def start(self):
        """Before a build: where native code reads them."""
        if isinstance(self._replay, (str, os.PathLike)):
            if not os.path.exists(self._replay):
                G_LOGGER.critical(f"there is no file of tactics `{self._replay}`")
            self.assay_settings = {"load-tactics": [str(self._replay)]}
            return
        data = self._replay if isinstance(self._replay, TacticReplayData) else load_json(self._replay)
        handle, self.path = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        data.save(self.path)
        self.assay_settings = {"load-tactics": [self.path]}

    def finish(self) -> None:
        """After a build."""
        if self.path:
            os.unlink(self.path)
            self.path = None
