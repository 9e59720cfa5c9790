"""Small functions that scripts for Polygraphy use."""

import contextlib
import os
import sys
import tempfile
from collections import OrderedDict
from fnmatch import fnmatch

from assay.logger import G_LOGGER


def default(value, default):
    """The value, or what stands for None."""
    return default if value is None else value


def invoke_if_callable(func, *args, **kwargs):
    """(what the function gives, True), or (the thing itself, False)."""
    if callable(func):
        return func(*args, **kwargs), True
    return func, False


def volume(obj):
    """The product of dims."""
    product = 1
    for dim in obj:
        product *= dim
    return product


def is_dimension_dynamic(dim):
    """Whether a dim is no number that is known."""
    return not isinstance(dim, int) and not hasattr(dim, "__index__") or int(dim) < 0


def is_empty_shape(shape):
    """Whether it has no elements."""
    return volume(shape) == 0


def is_nan(obj):
    """Whether it is a float that is no number."""
    return isinstance(obj, float) and obj != obj


def is_inf(obj):
    """Whether it is an infinite float."""
    return isinstance(obj, float) and abs(obj) == float("inf")


def sanitize_filename(path):
    """A path as the name of one file."""
    return path.replace(os.path.sep, "_")


def is_shape_dynamic(shape):
    """Whether a dim of the shape is."""
    return any(is_dimension_dynamic(dim) for dim in shape)


def is_valid_shape_override(new_shape, original_shape):
    """Whether a shape has the rank and the known dims of another."""
    if original_shape is None:
        return True
    if len(new_shape) != len(original_shape):
        return False
    return all(is_dimension_dynamic(old) or new == old for new, old in zip(new_shape, original_shape))


def override_dynamic_shape(shape, default_shape_value=1):
    """The shape with dims that are not known replaced."""
    return [default_shape_value if is_dimension_dynamic(dim) else dim for dim in shape]


def find_str_in_iterable(name, seq, index=None):
    """The name, or what contains it or is contained in it, or what stands at the index; None: nothing."""
    seq = list(seq)
    if name in seq:
        return name
    lower = name.lower()
    for candidate in seq:
        if lower in candidate.lower() or candidate.lower() in lower:
            return candidate
    if index is not None and index < len(seq):
        return seq[index]
    return None


def value_or_from_dict(obj, key, default=None):
    """A setting of one output: by its name, by "", or the same for all."""
    if not isinstance(obj, dict):
        return obj
    if key in obj:
        return obj[key]
    for pattern, value in obj.items():
        if pattern and fnmatch(key, pattern):
            return value
    return obj.get("", default)


def check_sequence_contains(sequence, items, name="", items_name="items", log_func=None, check_missing=True,
                            check_extra=True):
    """Complains of items that are not in the sequence, and of others that are; gives both."""
    log_func = log_func or G_LOGGER.critical
    sequence, items = list(sequence), list(items)
    missing = [item for item in items if item not in sequence]
    extra = [item for item in sequence if item not in items]
    if missing and check_missing:
        log_func(f"the following {items_name} are missing from {name}: {missing}; given: {sequence}")
    if extra and check_extra:
        log_func(f"{name} has {items_name} that are not expected: {extra}; expected: {items}")
    return missing, extra


def is_file_like(obj):
    """Whether it can be read or written like a file."""
    return hasattr(obj, "read") or hasattr(obj, "write")


def makedirs(path):
    """Makes the folder that a file goes into."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)


def load_file(src, mode="rb", description=None):
    """What is in a file, given by its path or as an object."""
    if description:
        G_LOGGER.info(f"Loading {description} from {src}")
    if is_file_like(src):
        return src.read()
    try:
        with open(src, mode) as file:
            return file.read()
    except OSError as error:
        G_LOGGER.critical(f"cannot read `{src}`: {error.strerror}")


def save_file(contents, dest, mode="wb", description=None):
    """Writes a file that appears when it is complete."""
    if description:
        G_LOGGER.info(f"Saving {description} to {dest}")
    if is_file_like(dest):
        dest.write(contents)
        return dest
    makedirs(dest)
    target = os.path.realpath(dest)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, mode) as file:
            file.write(contents)
        return dest
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".assay-")
    try:
        with os.fdopen(handle, mode) as file:
            file.write(contents)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    return dest


def _umask():
    current = os.umask(0)
    os.umask(current)
    return current


@contextlib.contextmanager
def TempAttrChange(obj, values):
    """Attributes that have other values for a while."""
    before = {name: getattr(obj, name) for name in values}
    try:
        for name, value in values.items():
            if value is not None:
                setattr(obj, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(obj, name, value)


def NamedTemporaryFile(mode="w+b", suffix=None, prefix=None):
    """A temporary file that others may open by its name."""
    return tempfile.NamedTemporaryFile(mode=mode, suffix=suffix or "", prefix=prefix or "assay")


def make_repr(type_str, *args, **kwargs):
    """(text as a call, whether all is default, ...) of a constructor."""
    parts = [repr(arg) for arg in args] + [f"{key}={value!r}" for key, value in kwargs.items() if value is not None]
    return f"{type_str}({', '.join(parts)})", not args, all(value is None for value in kwargs.values())


def str_from_layer(prefix, index, name, op, input_info, output_info):
    """One layer of a listing."""
    lines = [f"{prefix} {index:<4} | {name} [Op: {op}]", "    " + str(input_info), "     -> " + str(output_info)]
    return "\n".join(lines)


def unique_list(sequence):
    """What is in it, each once, in order."""
    return list(OrderedDict.fromkeys(sequence))


def array_of(obj):
    """The object as a numpy array."""
    import numpy as np

    if type(obj).__module__.split(".")[0] == "torch":
        return obj.detach().cpu().numpy()
    return np.asarray(obj)


def has_torch(values):
    """Whether one of them is a tensor of torch."""
    return "torch" in sys.modules and any(isinstance(each, sys.modules["torch"].Tensor) for each in values)


def is_sequence(obj):
    """Whether it has elements in order, and is no text."""
    return hasattr(obj, "__iter__") and not isinstance(obj, (dict, set, str, bytes))


def contains_wildcard(name):
    """Whether it can stand for several names."""
    return any(each in name for each in "*?[]!")


def match_keys(keys, targets):
    """(the key that each target fits, by target; keys that fit none): keys are names or wildcards, the last one counts."""
    found = {target: key for key in keys for target in targets if fnmatch(target, key)}
    return found, [key for key in keys if not any(fnmatch(target, key) for target in targets)]


def invert_dict(dct):
    """Keys by values."""
    return {value: key for key, value in dct.items()}


def indent_block(block, level=1):
    """Lines that are indented."""
    return "\n".join("    " * level + line for line in str(block).split("\n"))


def add_file_suffix(path, suffix):
    """`a.json` with `_1` as `a_1.json`."""
    stem, extension = os.path.splitext(path)
    return stem + suffix + extension


def get_file_size(src):
    """In bytes."""
    return os.stat(src).st_size


def unpack_args(args, num):
    """So many values of a tuple, None for those that are not there."""
    args = args if isinstance(args, tuple) else (args,)
    return (*args, *[None] * (num - len(args)))[:num]


def find_in_dirs(name_glob, dirs):
    """Files of that name, with wildcards, in folders."""
    import glob

    return [path for folder in dirs for path in sorted(glob.glob(os.path.join(folder, name_glob)))]


@contextlib.contextmanager
def LockFile(path):
    """Nobody else who asks for the lock of this path has it meanwhile."""
    import fcntl

    with open(f"{path}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
