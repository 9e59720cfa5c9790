"""Choices that building an engine leaves open: those of `assay bench --tuneBuildRoutes`."""

import json

from assay.exception import PolygraphyException

# Values, the default first; None: any.
KNOBS: dict = {"tactics": ("measured", "first"), "level": ("3", "0", "1", "2", "4", "5"), "without": None, "bf16": ("off", "on"),
               "strict": ("off", "on")}
ROUTES = json.dumps({"tuner_version": "1", "tuner_options": [
    {"option": f"-{name}", "allowed_values": list(values or ()), "default_value": values[0] if values else "none"}
    for name, values in KNOBS.items()]})


def route_settings(route):
    """What native code is told of a route: values by the names of the engine's settings, and None for what is left out."""
    settings: dict = {}
    for word in route.split():
        name, sign, value = word.partition("=")
        name = name[1:]
        if not word.startswith("-") or not sign or not value or name not in KNOBS:
            raise PolygraphyException(f"`{word}` is no choice of a build; expected are -KNOB=VALUE of {', '.join(KNOBS)}")
        if KNOBS[name] is not None and value not in KNOBS[name]:
            raise PolygraphyException(f"`{word}`: expected is one of {', '.join(KNOBS[name])}")
        if name == "tactics" and value == "first" or name == "level":
            settings["builder-optimization-level"] = ["0" if name == "tactics" else value]
        elif name == "without" and value != "none":
            settings["exclude-tactics"] = [value]
        elif name in ("bf16", "strict"):
            settings[name] = [] if value == "on" else None
    return settings
