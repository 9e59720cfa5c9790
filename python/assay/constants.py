"""Values that scripts refer to."""

from assay.config import AUTOINSTALL_DEPS, INTERNAL_CORRECTNESS_CHECKS

DEFAULT_SHAPE_VALUE = 1
DEFAULT_SEED = 1
MARK_ALL = "mark-all"
TAB = " " * 4
TYPE_MARKER = "polygraphy_class"
LEGACY_TYPE_MARKER = "polygraphy_serialized_json_type"

__all__ = ["AUTOINSTALL_DEPS", "DEFAULT_SEED", "DEFAULT_SHAPE_VALUE", "INTERNAL_CORRECTNESS_CHECKS",
           "LEGACY_TYPE_MARKER", "MARK_ALL", "TAB", "TYPE_MARKER"]
