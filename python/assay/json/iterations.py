"""Iterations in files: all in one, or each in one of a folder."""

import copy
import os

from assay.logger import G_LOGGER

ITERATION_FILE_INDEX_WIDTH = 10  # names sort as numbers do


def list_iteration_files(dir_path):
    """The files of a folder that hold iterations, in order."""
    return [os.path.join(dir_path, name) for name in sorted(os.listdir(dir_path)) if name.endswith(".json")]


def is_single_file(path):
    """Whether a path is that of a file, whose name has an extension; others are folders."""
    return path is not None and os.path.splitext(path)[1] != ""


class IterationWriter:
    """Writes iterations: to a folder, which has to be empty, each at once; to a file all at the end. None: nowhere.

    `combine` makes one object of all for a file; `copy_on_accumulate`: they may change until then.
    """

    def __init__(self, path, combine=None, copy_on_accumulate=False, description=None) -> None:
        self.path = path
        self.single_file = is_single_file(path)
        self.combine = combine or list
        self.copies = copy_on_accumulate
        self.description = description
        self.items: list = []
        self.count = 0
        if path is None or self.single_file:
            return
        if os.path.exists(path) and not os.path.isdir(path):
            G_LOGGER.critical(f"`{path}` is a file; a path without an extension is a folder with a file for each iteration")
        if os.path.isdir(path) and os.listdir(path):
            G_LOGGER.critical(f"the folder `{path}` is not empty: iterations go to a new one or an empty one")
        os.makedirs(path, exist_ok=True)

    def append(self, item) -> None:
        """Writes an iteration, or keeps it for the file."""
        from assay.json.serde import save_json

        if self.single_file:
            self.items.append(copy.deepcopy(item) if self.copies else item)
        elif self.path is not None:
            name = f"{self.count:0{ITERATION_FILE_INDEX_WIDTH}}.json"
            save_json(item, os.path.join(self.path, name), self.description)
            self.count += 1

    def flush(self) -> None:
        """Writes the file, if it is one."""
        from assay.json.serde import save_json

        if self.single_file:
            save_json(self.combine(self.items), self.path, self.description)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.flush()


def iterate_from_files(paths, load_file, allow_dirs=True):
    """Iterations of files, and of folders, one after the other. `load_file(path)` gives those of a file."""
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        if not os.path.isdir(path):
            yield from load_file(path)
            continue
        if not allow_dirs:
            G_LOGGER.critical(f"`{path}` is a folder, expected a file")
        for file in list_iteration_files(path):
            yield from load_file(file)


def iterate_json_list(path, description=None):
    """The elements of a file with a list, or what else the file holds."""
    from assay.json.serde import load_json

    loaded = load_json(path, description)
    yield from loaded if isinstance(loaded, list) else [loaded]
