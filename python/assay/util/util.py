"""Small functions that scripts for Polygraphy use."""

import contextlib
import functools
import os
import sys
import tempfile
from collections import OrderedDict
from fnmatch import fnmatch

from assay._arrays import of_torch
from assay.exception import MissingFileException
from assay.logger import G_LOGGER
from assay.util.queues import receive_on_queue, send_on_queue, try_receive_on_queue, try_send_on_queue
from assay.util.reprs import apply_repr, handle_special_repr, is_inf, is_nan, make_repr
from assay.util.shaping import (is_dimension_dynamic, is_empty_shape, is_shape_dynamic, is_valid_shape_override,
                                num_dynamic_dimensions, override_dynamic_shape, try_match_shape, volume)


__all__ = ["LockFile", "NamedTemporaryFile", "TempAttrChange", "add_file_suffix", "apply_repr", "array_of",
           "check_called_by", "check_sequence_contains", "contains_wildcard", "default", "find_in_dirs",
           "find_str_in_iterable", "get_file_size", "getattr_nested", "handle_special_repr", "has_torch",
           "indent_block", "invert_dict", "invoke_if_callable", "is_dimension_dynamic", "is_empty_shape",
           "is_file_like", "is_inf", "is_nan", "is_sequence", "is_shape_dynamic", "is_valid_shape_override",
           "load_file", "make_repr", "makedirs", "match_keys", "num_dynamic_dimensions", "override_dynamic_shape",
           "receive_on_queue", "sanitize_filename", "save_file", "send_on_queue", "str_from_layer", "try_getattr",
           "try_match_shape", "try_receive_on_queue", "try_send_on_queue", "unique_list", "unpack_args",
           "value_or_from_dict", "volume", "warn_if_wrong_mode"]


def default(value, default):
    """The value, or what stands for None."""
    return default if value is None else value


def invoke_if_callable(func, *args, **kwargs):
    """(what the function gives, True), or (the thing itself, False)."""
    if callable(func):
        return func(*args, **kwargs), True
    return func, False


def sanitize_filename(path):
    """A path as the name of one file."""
    return path.replace(os.path.sep, "_")


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


def check_sequence_contains(sequence, items, name=None, items_name=None, log_func=None, check_missing=None,
                            check_extra=None):
    """Complains of items that are not in the sequence, and of others that are; gives both as sets."""
    name, items_name = default(name, "the sequence"), default(items_name, "items")
    log_func = default(log_func, G_LOGGER.critical)
    sequence, items = unique_list(sequence), unique_list(items)
    missing = [item for item in items if item not in sequence]
    extra = [item for item in sequence if item not in items]
    note = f"Note: {items_name} requested were: {items}, but all {items_name} are: {sequence}"
    if missing and default(check_missing, True):
        log_func(f"The following {items_name} were not found in {name}: {missing}.\n{note}")
    if extra and default(check_extra, True):
        log_func(f"Extra {items_name} in {name}: {extra}.\n{note}")
    return set(missing), set(extra)


def is_file_like(obj):
    """Whether it can be read or written like a file."""
    return hasattr(obj, "read") or hasattr(obj, "write")


def makedirs(path):
    """Makes the folder that a file goes into."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)


def warn_if_wrong_mode(file_like, mode) -> None:
    """Says where a file is open for text and bytes are meant, or the other way round."""
    opened = getattr(file_like, "mode", mode)
    if isinstance(opened, str) and ("b" in opened) != ("b" in mode):
        G_LOGGER.warning(f"a file is open in the mode `{opened}`, for this it should be `{mode}`")


def load_file(src, mode="rb", description=None):
    """What is in a file, given by its path or as an object."""
    if description:
        G_LOGGER.info(f"Loading {description} from {src}")
    if is_file_like(src):
        warn_if_wrong_mode(src, mode)
        return _whole(src)
    try:
        with open(src, mode) as file:
            return file.read()
    except FileNotFoundError as error:
        G_LOGGER.critical(f"cannot read `{src}`: {error.strerror}", MissingFileException)
    except OSError as error:
        G_LOGGER.critical(f"cannot read `{src}`: {error.strerror}")


def _whole(file):
    """All of a file, from its beginning where it has one; it stays at its place."""
    if not (hasattr(file, "seekable") and file.seekable()):
        return file.read()
    place = file.tell()
    file.seek(0)
    contents = file.read()
    file.seek(place)
    return contents


def _get_num_bytes(contents):
    """The bytes of a text, or of what has the interface of buffers."""
    if isinstance(contents, str):
        return len(contents.encode())
    try:
        return memoryview(contents).nbytes
    except TypeError:
        raise TypeError(f"`contents` is {contents}, which is not bytes-like. Cannot get number of bytes.") from None


def save_file(contents, dest, mode="wb", description=None):
    """Writes a file that appears when it is complete."""
    if description:
        G_LOGGER.info(f"Saving {description} to {dest}")
    if is_file_like(dest):
        warn_if_wrong_mode(dest, mode)
        dest.write(contents)
        if hasattr(dest, "flush"):
            dest.flush()
        return dest
    makedirs(dest)
    target = os.path.realpath(dest)
    # An empty file has nothing to lose, and whoever made it may have it open: a temporary one.
    if os.path.exists(target) and not (os.path.isfile(target) and os.path.getsize(target)):
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


class TempAttrChange:
    """Attributes that have other values for a while; those for which None is given stay."""

    def __init__(self, arg_group, attr_values) -> None:
        self.arg_group = arg_group
        self.new_values = {name: value for name, value in attr_values.items() if value is not None}
        self.old_values: dict = {}

    def __enter__(self):
        for name, value in self.new_values.items():
            self.old_values[name] = getattr(self.arg_group, name)
            setattr(self.arg_group, name, value)

    def __exit__(self, *exc_info):
        for name, value in self.old_values.items():
            setattr(self.arg_group, name, value)


def NamedTemporaryFile(mode="w+b", suffix=None, prefix=None):
    """A temporary file that others may open by its name."""
    return tempfile.NamedTemporaryFile(mode=mode, suffix=suffix or "", prefix=prefix or "assay")


def str_from_layer(prefix, index, name, op, input_names, input_meta, output_names, output_meta):
    """One layer of a listing."""
    def listed(names, meta):
        return "{" + ", ".join(f"{each} {meta[each] if each in meta else ''}".rstrip() for each in names) + "}"

    title = f"{prefix} {index:<4} | {name} [Op: {op}]"
    return "\n".join([title, indent_block(listed(input_names, input_meta)),
                      indent_block(" -> " + listed(output_names, output_meta)), ""])


def unique_list(sequence):
    """What is in it, each once, in order."""
    return list(OrderedDict.fromkeys(sequence))


def array_of(obj):
    """The object as a numpy array."""
    import numpy as np

    if type(obj).__module__.split(".")[0] == "torch":
        return of_torch(obj)
    return np.asarray(obj)


def has_torch(values):
    """Whether one of them is a tensor of torch."""
    return "torch" in sys.modules and any(isinstance(each, sys.modules["torch"].Tensor) for each in values)


def is_sequence(obj):
    """Whether it has elements in order, and is no text."""
    return hasattr(obj, "__iter__") and not isinstance(obj, (dict, set, str, bytes))


def contains_wildcard(target):
    """Whether it can stand for several names."""
    return any(each in target for each in "*?[]!")


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


def getattr_nested(obj, attr):
    """An attribute of an attribute: `a.b`."""
    return functools.reduce(getattr, attr.split("."), obj)


def try_getattr(obj, attr, default=None):
    """An attribute, or what stands for one that is not there."""
    return getattr(obj, attr, default)


def check_called_by(expected_caller_name):
    """A decorator: who calls it from outside of the package, and not by the function of that name, is warned."""

    def decorate(func):
        @functools.wraps(func)
        def checked(*args, **kwargs):
            caller = sys._getframe(1)
            is_ours = caller.f_globals.get("__name__", "").split(".")[0] == "assay"
            if not is_ours and caller.f_code.co_name != expected_caller_name:
                G_LOGGER.warning(f"Calling '{func.__qualname__}()' directly is not recommended. Please use "
                                 f"'{expected_caller_name}()' instead.")
            return func(*args, **kwargs)

        return checked

    return decorate
