"""JSON of Polygraphy: plain objects, arrays, and objects with methods `to_json`, `save`, `load`."""

from assay.json.serde import (Decoder, Encoder, add_json_methods, from_json, load_json, register_alias, save_json,
                              to_json)

__all__ = ["Decoder", "Encoder", "add_json_methods", "from_json", "load_json", "register_alias", "save_json", "to_json"]
