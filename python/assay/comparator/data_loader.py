"""Inputs: made up, from files, or of the user's own, fitted to what runners want."""

import math
from collections import OrderedDict
from fnmatch import fnmatch

from assay import _native, constants, util
from assay._arrays import to_numpy
from assay.common import TensorMetadata
from assay.exception import PolygraphyException
from assay.json import IterationWriter, iterate_from_files, iterate_json_list
from assay.logger import G_LOGGER, LogMode


class DataLoader:
    """Made-up inputs: item i is drawn with the seed plus i, the same numbers as Polygraphy's.

    `val_range`: (low, high), or a dictionary of them by input. Types and shapes come from the first runner, as far as
    `input_metadata`, whose names may be wildcards, does not give them.
    """

    def __init__(self, seed=None, iterations=None, input_metadata=None, val_range=None,
                 data_loader_backend_module=None, int_range=None, float_range=None) -> None:
        self.seed = util.default(seed, constants.DEFAULT_SEED)
        self.iterations = util.default(iterations, 1)
        self.user_input_metadata = util.default(input_metadata, {})
        self.val_range = util.default(val_range, (0.0, 1.0))
        self.int_range = int_range
        self.float_range = float_range
        self.input_metadata = None
        self.data_loader_backend_module = util.default(data_loader_backend_module, "numpy")
        if self.data_loader_backend_module not in ("numpy", "torch"):
            G_LOGGER.critical(f"`{self.data_loader_backend_module}` makes no arrays; known are numpy and torch")

    def __len__(self):
        return self.iterations

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _user_metadata(self, name):
        found = None
        for pattern, meta in self.user_input_metadata.items():
            if pattern == name or fnmatch(name, pattern):
                found = meta
        return found

    def _shape(self, name, dtype, meta):
        """(dims, None), or (dims, elements) of an input that holds a shape, which `input_metadata` then gives."""
        user = self._user_metadata(name)
        given = meta.shape
        if user is not None and user.shape is not None:
            if given is None or util.is_valid_shape_override(user.shape, given):
                return _closed(name, user.shape), None
            is_fixed = not util.is_shape_dynamic(user.shape)
            if len(given) == 1 and dtype.is_integral and given[0] == len(user.shape) and is_fixed:
                G_LOGGER.info(f"the input `{name}` is taken for a shape, whose elements are {tuple(user.shape)}", LogMode.ONCE)
                return list(given), list(user.shape)
            G_LOGGER.warning(f"the input `{name}` has the shape {tuple(given)}, which {tuple(user.shape)} does not fit: it "
                             "does not count", LogMode.ONCE)
        if given is None:
            G_LOGGER.critical(f"the input `{name}` has no known rank: give its shape with `input_metadata`")
        return _closed(name, given), None

    def _range(self, name, dtype):
        ranges = util.value_or_from_dict(self.val_range, name, (0.0, 1.0))
        older = self.int_range if dtype.is_integral else self.float_range
        low, high = (float(each) for each in (older if older is not None else ranges))
        if not dtype.is_floating and (math.isinf(low) or math.isinf(high)):
            G_LOGGER.critical(f"the input `{name}` is of {dtype}, whose range cannot be infinite: ({low}, {high})")
        return low, high

    def __getitem__(self, index):
        if index >= self.iterations or index < -self.iterations:
            raise IndexError(f"there are {self.iterations} iterations")
        index %= self.iterations
        metadata = self.input_metadata
        if metadata is None:
            metadata = TensorMetadata(self.user_input_metadata)
        self._warn_unused(metadata)
        ports, ranges, fixed, infinite = [], [], {}, {}
        for name, meta in metadata.items():
            user = self._user_metadata(name)
            dtype = user.dtype if user is not None and user.dtype is not None else meta.dtype
            if dtype is None:
                G_LOGGER.critical(f"the input `{name}` has no known type: give it with `input_metadata`")
            shape, numbers = self._shape(name, dtype, meta)
            if numbers is not None:
                import numpy as np

                fixed[name] = np.array(numbers, dtype=dtype.numpy())
            low, high = self._range(name, dtype)
            if math.isinf(low) or math.isinf(high):
                infinite[name] = high if math.isinf(high) else low
                low, high = 0.0, 1.0
            ports.append((name, dtype.native, shape))
            ranges.append((name, low, high))
        made = _native.generate(ports, self.seed + index, ranges, G_LOGGER.native)
        feeds = OrderedDict((name, fixed.get(name, to_numpy(array))) for name, array in made.items())
        for name, value in infinite.items():
            feeds[name][...] = value
        if self.data_loader_backend_module == "torch":
            return OrderedDict((name, util.array.to_torch(array)) for name, array in feeds.items())
        return feeds

    def _warn_unused(self, metadata):
        for pattern in self.user_input_metadata:
            if not any(pattern == name or fnmatch(name, pattern) for name in metadata):
                near = util.find_str_in_iterable(pattern, metadata)
                G_LOGGER.warning(f"`{pattern}` of the input metadata is no input"
                                 + (f"; did you mean `{near}`?" if near else ""), LogMode.ONCE)


def _closed(name, shape):
    """The dims without open ones: those of its least shape, or of its greatest, or 1."""
    if not util.is_shape_dynamic(shape):
        return list(shape)
    known = shape.min or shape.max or [constants.DEFAULT_SHAPE_VALUE] * len(shape)
    closed = [low if util.is_dimension_dynamic(dim) else dim for dim, low in zip(shape, known)]
    G_LOGGER.warning(f"Input tensor: {name} [shape={tuple(shape)}] | Will generate data of shape: {tuple(closed)}.\n"
                     "If this is incorrect, please provide a custom data loader.", LogMode.ONCE)
    return closed


class StreamingDataLoader:
    """Saved inputs, an iteration at a time: of files, or of the files of folders in the order of their names."""

    def __init__(self, paths, allow_dirs=True) -> None:
        self.paths = paths
        self.allow_dirs = allow_dirs

    def __iter__(self):
        return iterate_from_files(self.paths, lambda path: iterate_json_list(path, "input data"), self.allow_dirs)


def fit_array(name, value, meta):
    """The array with the type and the dims that a runner wants, where that is possible."""
    if isinstance(value, int) or util.array.is_device_view(value):
        return value  # memory of a device, whose owner knows what is in it
    if not util.array.is_torch(value):
        value = util.array_of(value)
    if meta.dtype is not None and util.array.dtype(value) != meta.dtype:
        value = _cast(name, value, meta.dtype)
    if meta.shape is None or util.is_valid_shape_override(value.shape, meta.shape):
        return value
    fitted = util.try_match_shape(value, meta.shape)
    if not util.is_valid_shape_override(fitted.shape, meta.shape):
        G_LOGGER.critical(f"the input `{name}` has the shape {tuple(value.shape)}, expected is {tuple(meta.shape)}")
    return fitted


def _cast(name, value, dtype):
    G_LOGGER.warning(f"the input `{name}` is converted from {value.dtype} to {dtype}", LogMode.ONCE)
    converted = util.array.cast(value, dtype)
    if util.array.dtype(value).is_integral:
        if not util.array.equal(util.array.cast(converted, util.array.dtype(value)), value):
            G_LOGGER.warning(f"numbers of the input `{name}` do not fit into {dtype}", LogMode.ONCE)
    return converted


def _source_of(data_loader):
    return data_loader() if callable(data_loader) else data_loader


class DataLoaderCache:
    """Inputs that were loaded once, fitted to each runner."""

    def __init__(self, data_loader, save_inputs_path=None) -> None:
        self.data_loader = data_loader
        self.save_inputs_path = save_inputs_path
        self.cache: list = []
        self.input_metadata = None

    def __len__(self):
        return len(self.cache)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def set_input_metadata(self, input_metadata) -> None:
        """Loads all inputs where that was not done, and fits them from now on to this runner."""
        self.input_metadata = input_metadata
        if self.cache:
            return
        if hasattr(self.data_loader, "input_metadata"):
            self.data_loader.input_metadata = input_metadata
        self.cache = list(_source_of(self.data_loader))
        if not self.cache:
            G_LOGGER.critical("the data loader gave no inputs")
        check_feed_dict(self.cache[0])
        self.save()

    def save(self) -> None:
        """Writes the inputs, once, if a path was given."""
        if self.save_inputs_path:
            with IterationWriter(self.save_inputs_path, description="input data") as writer:
                for feeds in self.cache:
                    writer.append(dict(feeds))
            self.save_inputs_path = None

    def __getitem__(self, index):
        feeds = self.cache[index]
        if self.input_metadata is None:
            return feeds
        return OrderedDict((name, self._fitted(index, place, name, meta))
                           for place, (name, meta) in enumerate(self.input_metadata.items()))

    def _fitted(self, index, place, name, meta):
        try:
            return _fit_input(self.cache[index], place, name, meta)
        except PolygraphyException as error:
            # The loader makes other inputs where it knows what is wanted.
            again = self._loaded_again(index, error)
            if again is None:
                raise
            return _fit_input(again, place, name, meta)

    def _loaded_again(self, index, error):
        if not hasattr(self.data_loader, "__getitem__"):
            return None
        G_LOGGER.warning(f"{error}; it is loaded again")
        try:
            return self.data_loader[index]
        except Exception:
            return None


def check_feed_dict(feeds, source="a data loader") -> None:
    """Raises where it is no dictionary of arrays by name."""
    if isinstance(feeds, dict) and all(isinstance(name, str) for name in feeds):
        return
    hint = "; outputs become inputs with `assay data merge`" if type(feeds).__name__ in ("tuple", "RunResults") else ""
    G_LOGGER.critical(f"{source} gives dictionaries of arrays by name, this one a {type(feeds).__name__}{hint}")


def coerce_feed_dict(feeds, input_metadata):
    """Inputs, fitted to what a runner wants."""
    return OrderedDict((name, _fit_input(feeds, place, name, meta))
                       for place, (name, meta) in enumerate(input_metadata.items()))


def _fit_input(feeds, place, name, meta):
    found = util.find_str_in_iterable(name, feeds, place)
    if found is None:
        G_LOGGER.critical(f"the input `{name}` is not in what the data loader gave: {list(feeds)}")
    if found != name:
        G_LOGGER.warning(f"the input `{name}` is not in the inputs; `{found}` is used", LogMode.ONCE)
    return fit_array(name, feeds[found], meta)
