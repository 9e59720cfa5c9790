"""JSON of Polygraphy: plain objects, arrays, and objects with methods `to_json`, `save`, `load`."""

from assay.json.iterations import (ITERATION_FILE_INDEX_WIDTH, IterationWriter, is_single_file, iterate_from_files,
                                   iterate_json_list, list_iteration_files)
from assay.json.serde import (Decoder, Encoder, add_json_methods, from_json, load_json, register_alias, save_json,
                              to_json)

__all__ = ["Decoder", "Encoder", "ITERATION_FILE_INDEX_WIDTH", "IterationWriter", "add_json_methods", "from_json",
           "is_single_file", "iterate_from_files", "iterate_json_list", "list_iteration_files", "load_json",
           "register_alias", "save_json", "to_json"]
