"""Inputs: made up, from files, or of the user's own, fitted to what runners want."""

from collections import OrderedDict
from fnmatch import fnmatch

from assay import _native, constants, util
from assay._arrays import to_numpy
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.json import load_json, save_json
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
        user = self._user_metadata(name)
        given = meta.shape
        if user is not None and user.shape is not None:
            if given is None or util.is_valid_shape_override(user.shape, given):
                return list(user.shape), None
            if len(given) == 1 and dtype.is_integral and given[0] == len(user.shape):
                return list(given), list(user.shape)
            G_LOGGER.critical(f"the input `{name}` has the shape {tuple(given)}, which {tuple(user.shape)} does not fit")
        if given is None:
            G_LOGGER.critical(f"the input `{name}` has no known rank: give its shape with `input_metadata`")
        if not util.is_shape_dynamic(given):
            return list(given), None
        least = given.min or [constants.DEFAULT_SHAPE_VALUE] * len(given)
        shape = [low if util.is_dimension_dynamic(dim) else dim for dim, low in zip(given, least)]
        G_LOGGER.warning(f"Input tensor: {name} [shape={tuple(given)}] | Will generate data of shape: {tuple(shape)}.\n"
                         "If this is incorrect, please provide a custom data loader.", LogMode.ONCE)
        return shape, None

    def _range(self, name, dtype):
        ranges = util.value_or_from_dict(self.val_range, name, (0.0, 1.0))
        older = self.int_range if dtype.is_integral else self.float_range
        low, high = older if older is not None else ranges
        return (name, float(low), float(high))

    def __getitem__(self, index):
        if index >= self.iterations or index < -self.iterations:
            raise IndexError(f"there are {self.iterations} iterations")
        index %= self.iterations
        metadata = self.input_metadata
        if metadata is None:
            metadata = TensorMetadata(self.user_input_metadata)
        self._warn_unused(metadata)
        ports, ranges, fixed = [], [], {}
        for name, meta in metadata.items():
            user = self._user_metadata(name)
            dtype = user.dtype if user is not None and user.dtype is not None else meta.dtype
            if dtype is None:
                G_LOGGER.critical(f"the input `{name}` has no known type: give it with `input_metadata`")
            shape, numbers = self._shape(name, dtype, meta)
            if numbers is not None:
                import numpy as np

                fixed[name] = np.array(numbers, dtype=dtype.numpy())
            ports.append((name, dtype.native, shape))
            ranges.append(self._range(name, dtype))
        made = _native.generate(ports, self.seed + index, ranges, G_LOGGER.native)
        feeds = OrderedDict((name, fixed.get(name, to_numpy(array))) for name, array in made.items())
        if self.data_loader_backend_module == "torch":
            import torch

            return OrderedDict((name, torch.from_numpy(array)) for name, array in feeds.items())
        return feeds

    def _warn_unused(self, metadata):
        for pattern in self.user_input_metadata:
            if not any(pattern == name or fnmatch(name, pattern) for name in metadata):
                near = util.find_str_in_iterable(pattern, metadata)
                G_LOGGER.warning(f"`{pattern}` of the input metadata is no input"
                                 + (f"; did you mean `{near}`?" if near else ""), LogMode.ONCE)


class StreamingDataLoader:
    """Saved inputs, an iteration at a time: of files, or of the files of folders in the order of their names."""

    def __init__(self, paths, allow_dirs=True) -> None:
        self.paths = [paths] if isinstance(paths, str) else list(paths)
        self.allow_dirs = allow_dirs

    def __iter__(self):
        import os

        for path in self.paths:
            files = [path]
            if self.allow_dirs and os.path.isdir(path):
                files = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".json")]
            for file in files:
                loaded = load_json(file, "input data")
                yield from loaded if isinstance(loaded, list) else [loaded]


def fit_array(name, value, meta):
    """The array with the type and the dims that a runner wants, where that is possible."""
    value = util.array_of(value)
    if meta.dtype is not None and DataType.from_dtype(value.dtype) != meta.dtype:
        value = _cast(name, value, meta.dtype)
    if meta.shape is None or util.is_valid_shape_override(value.shape, meta.shape):
        return value
    return _reshaped(name, value, meta.shape)


def _cast(name, value, dtype):
    import numpy as np

    G_LOGGER.warning(f"the input `{name}` is converted from {value.dtype} to {dtype}", LogMode.ONCE)
    converted = value.astype(dtype.numpy())
    if value.dtype.kind in "iu" and not np.array_equal(converted.astype(value.dtype), value):
        G_LOGGER.warning(f"numbers of the input `{name}` do not fit into {dtype}", LogMode.ONCE)
    return converted


def _reshaped(name, value, shape):
    import numpy as np

    open_dims = [i for i, dim in enumerate(shape) if util.is_dimension_dynamic(dim)]
    target = [-1 if i in open_dims else dim for i, dim in enumerate(shape)]
    if len(open_dims) > 1 and len(shape) == value.ndim:
        target = [value.shape[i] if i in open_dims else dim for i, dim in enumerate(shape)]
    if sorted(value.shape) == sorted(target):
        free = list(range(value.ndim))
        order = []
        for dim in target:
            order.append(next(i for i in free if value.shape[i] == dim))
            free.remove(order[-1])
        G_LOGGER.info(f"Permuted array of shape: {value.shape} to: {tuple(target)} using permutation {order}")
        return np.transpose(value, order)
    try:
        made = value.reshape(target)
    except ValueError:
        G_LOGGER.critical(f"the input `{name}` has the shape {tuple(value.shape)}, expected is {tuple(shape)}")
    G_LOGGER.info(f"Reshaped array from shape: {value.shape} to: {made.shape}")
    return made


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
        source = self.data_loader() if callable(self.data_loader) else self.data_loader
        self.cache = list(source)
        if not self.cache:
            G_LOGGER.critical("the data loader gave no inputs")
        first = self.cache[0]
        if not isinstance(first, dict):
            hint = "; outputs become inputs with `assay data merge`" if type(first).__name__ == "tuple" else ""
            G_LOGGER.critical(f"a data loader gives dictionaries of arrays, this one a {type(first).__name__}{hint}")
        if self.save_inputs_path:
            save_json([dict(each) for each in self.cache], self.save_inputs_path, "input data")

    def __getitem__(self, index):
        feeds = self.cache[index]
        if self.input_metadata is None:
            return feeds
        fitted = OrderedDict()
        for i, (name, meta) in enumerate(self.input_metadata.items()):
            found = util.find_str_in_iterable(name, feeds, i)
            if found is None:
                G_LOGGER.critical(f"the input `{name}` is not in what the data loader gave: {list(feeds)}")
            if found != name:
                G_LOGGER.warning(f"the input `{name}` is not in the inputs; `{found}` is used", LogMode.ONCE)
            fitted[name] = fit_array(name, feeds[found], meta)
        return fitted
