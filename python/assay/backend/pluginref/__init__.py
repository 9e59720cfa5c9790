"""Reference results of every operator, by the interpreter of native code."""

from assay.backend.pluginref.runner import PluginRefRunner

__all__ = ["PluginRefRunner"]
