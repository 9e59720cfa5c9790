"""JSON of Polygraphy: plain objects, arrays, and objects with methods `to_json`, `save`, `load`."""

from __future__ import annotations

import base64
import io
import json
import sys

from assay import constants
from assay.exception import PolygraphyException
from assay.json.iterations import (ITERATION_FILE_INDEX_WIDTH, IterationWriter, is_single_file, iterate_from_files,
                                   iterate_json_list, list_iteration_files)
from assay.logger import G_LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from typing import Any

__all__ = ["Decoder", "Encoder", "ITERATION_FILE_INDEX_WIDTH", "IterationWriter", "add_json_methods", "from_json",
           "is_single_file", "iterate_from_files", "iterate_json_list", "list_iteration_files", "load_json", "save_json",
           "to_json"]

class MalformedJsonException(PolygraphyException, ValueError):
    """A text is no JSON, or not that of saved data."""


_CLASSES: dict = {}  # by the name in files
# Where classes are that a file may name before their module was imported.
_HOMES = {"RunResults": "assay.comparator", "IterationResult": "assay.comparator", "LazyArray": "assay.comparator",
          "LazyNumpyArray": "assay.comparator", "AccuracyResults": "assay.comparator",
          "AccuracyResult": "assay.comparator", "FormattedArray": "assay.common",
          "OutputCompareResult": "assay.comparator", "L2Result": "assay.comparator",
          "CosineSimilarityResult": "assay.comparator", "PsnrResult": "assay.comparator",
          "SnrResult": "assay.comparator", "SimpleThreshold": "assay.comparator", "L2Threshold": "assay.comparator",
          "CosineSimilarityThreshold": "assay.comparator", "PsnrThreshold": "assay.comparator",
          "SnrThreshold": "assay.comparator", "TacticReplayData": "assay.backend.trt",
          "Algorithm": "assay.backend.trt", "TensorInfo": "assay.backend.trt"}


def _array_to_dict(array):
    import numpy as np

    from assay._arrays import TYPES_OF_ML_DTYPES

    more = {}
    if array.dtype == object:
        array = array.astype(str)
    elif array.dtype.name in TYPES_OF_ML_DTYPES:
        array, more = _codes(array, TYPES_OF_ML_DTYPES[array.dtype.name])
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return {"array": base64.b64encode(file.getbuffer()).decode(), **more, constants.TYPE_MARKER: "ndarray"}


def _codes(array, name):
    """(bits of elements as integers, what says of which type they are), as the program writes them."""
    import numpy as np

    from assay._arrays import BITS, to_array

    more = {"assay_dtype": name}
    if name in BITS:
        more["assay_shape"] = list(array.shape)
        return np.asarray(to_array(array)).reshape(-1).view(np.uint8), more
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape), more


def _bytes_of(text):
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return text.encode("latin-1")


def _dict_to_array(dct):
    import numpy as np

    loaded = np.load(io.BytesIO(_bytes_of(dct["array"])), allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        loaded = loaded[list(loaded.keys())[0]]
    if "assay_dtype" not in dct:
        return loaded
    from assay import _native
    from assay._arrays import to_numpy

    name, shape = dct["assay_dtype"], dct.get("assay_shape", loaded.shape)
    if not isinstance(name, str) or not isinstance(shape, (list, tuple)):
        G_LOGGER.critical(f"an array has the type {name!r} and the shape {shape!r}", MalformedJsonException)
    codes = np.ascontiguousarray(loaded).reshape(-1).view(np.uint8)
    return to_numpy(_native.make_array(codes, name, list(shape)))


def _dict_to_tensor(dct):
    try:
        import torch
    except ImportError as error:
        G_LOGGER.critical(f"Could not decode serialized type: torch.Tensor. This could be because a required module is missing: "
                          f"{error}")
    return torch.load(io.BytesIO(_bytes_of(dct["tensor"])), weights_only=True)


class Encoder(json.JSONEncoder):
    """Writes arrays and registered objects."""

    polygraphy_registered: dict = {}

    @staticmethod
    def register(typ, alias=None):
        """A decorator: the function makes a dictionary of objects of a type."""

        def decorate(func):
            _refuse_second(Encoder, typ, func)

            def encode(obj):
                return {**func(obj), constants.TYPE_MARKER: typ.__name__}

            Encoder.polygraphy_registered[typ] = encode
            return encode

        return decorate

    def default(self, o):
        for typ in type(o).__mro__:
            if typ in Encoder.polygraphy_registered:
                return Encoder.polygraphy_registered[typ](o)
        name = getattr(type(o), "polygraphy_class", None)
        if name is not None:
            return {**o.to_dict(), constants.TYPE_MARKER: name}
        if "numpy" in sys.modules:
            import numpy as np

            if isinstance(o, np.ndarray):
                return _array_to_dict(o)
            if isinstance(o, np.generic):
                return o.item()
        if type(o).__module__.split(".")[0] == "torch" and hasattr(o, "detach"):
            return _tensor_to_dict(o)
        return super().default(o)


def _refuse_second(registry, key, func):
    known = registry.polygraphy_registered.get(key)
    if known is not None:
        G_LOGGER.critical(f"Duplicate serialization function for type: {key}. There is {known}; {func} was to be added")


def _tensor_to_dict(tensor):
    import torch

    file = io.BytesIO()
    torch.save(tensor, file)
    return {"tensor": base64.b64encode(file.getbuffer()).decode(), constants.TYPE_MARKER: "Tensor"}


class Decoder(json.JSONDecoder):
    """Reads what Encoder writes."""

    polygraphy_registered: dict = {}

    @staticmethod
    def register(typ, alias=None):
        """A decorator: the function makes an object of a type, or of the name of one, from its dictionary.

        `alias`: another name that files may have.
        """

        def decorate(func):
            name = typ if isinstance(typ, str) else typ.__name__

            def decode(dct):
                return func({key: value for key, value in dct.items() if key not in _markers(name)})

            for key in (f"{_LEGACY_PREFIX}{name}", name, *([alias] if alias else [])):
                _refuse_second(Decoder, key, func)
                Decoder.polygraphy_registered[key] = decode
            return decode

        return decorate

    def __init__(self) -> None:
        super().__init__(object_hook=_from_dict)


_LEGACY_PREFIX = "__polygraphy_encoded_"


def _markers(name):
    return constants.TYPE_MARKER, f"{_LEGACY_PREFIX}{name}"


def _type_name(dct):
    name = dct.get(constants.TYPE_MARKER)
    if name is not None:
        return name
    for key, value in dct.items():
        if key.startswith(_LEGACY_PREFIX) and value == constants.LEGACY_TYPE_MARKER:
            return key[len(_LEGACY_PREFIX):]
    return None


def _from_dict(dct):
    name = _type_name(dct)
    if name is None:
        return dct
    if name in Decoder.polygraphy_registered:
        return Decoder.polygraphy_registered[name](dct)
    if name == "ndarray":
        return _dict_to_array(dct)
    if name == "Tensor":
        return _dict_to_tensor(dct)
    if name not in _CLASSES and name in _HOMES:
        __import__(_HOMES[name])
    if name not in _CLASSES:
        G_LOGGER.critical(f"Could not decode serialized type: {name}. This could be because a required module is missing. "
                          "It is decoded where its module is imported, or a function is registered with Decoder.register")
    return _CLASSES[name].from_dict(dct)


def to_json(obj) -> str:
    """The object as text."""
    return json.dumps(obj, cls=Encoder, indent=constants.TAB)


def from_json(src: str) -> Any:
    """What `to_json` made the text of."""
    try:
        return json.loads(src, cls=Decoder)
    except (ValueError, KeyError, EOFError) as error:
        G_LOGGER.critical(f"this is not the JSON of saved data: {error}", MalformedJsonException)


def save_json(obj, dest, description: str | None = None) -> None:
    """Writes the object to a path or a file."""
    from assay import util

    util.save_file(to_json(obj), dest, mode="w", description=description)


def load_json(src, description: str | None = None) -> Any:
    """Reads an object from a path or a file."""
    from assay import util

    text = util.load_file(src, mode="r", description=description)
    return from_json(text.decode() if isinstance(text, bytes) else text)


def add_json_methods(description=None, name=None):
    """A decorator: the class, which has `to_dict` and `from_dict`, gets `to_json`, `from_json`, `save` and `load`."""

    def decorate(cls):
        cls.polygraphy_class = name or cls.__name__
        _CLASSES[cls.polygraphy_class] = cls

        def checked(loaded):
            if not isinstance(loaded, cls):
                G_LOGGER.critical(f"Provided JSON cannot be decoded into a {cls.__name__}: it holds a {type(loaded).__name__}")
            return loaded

        methods = {"to_json": to_json, "from_json": staticmethod(lambda src: checked(from_json(src))),
                   "save": lambda self, dest: save_json(self, dest, description),
                   "load": staticmethod(lambda src: checked(load_json(src, description)))}
        for method, function in methods.items():
            if method not in vars(cls):
                setattr(cls, method, function)
        return cls

    return decorate


def register_alias(name, cls) -> None:
    """Another name of a class in older files."""
    _CLASSES[name] = cls
