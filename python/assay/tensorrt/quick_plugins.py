"""Interfaces of TensorRT's plugins that bring kernels for a card, and of moving weights on one: they have their names here."""

from assay.exception import PolygraphyException
from assay.tensorrt.interfaces import IVersionedInterface
from assay.tensorrt.plugins import IPluginCapability, IPluginCreatorInterface

REASON = "a quick plugin brings kernels that Triton or CUDA compiles; write an IPluginV3, whose enqueue() is Python"


class IPluginV3QuickCore(IPluginCapability):
    """Name and version of a quick plugin."""

    plugin_name, plugin_version, plugin_namespace = "", "1", ""


class IPluginV3QuickBuild(IPluginCapability):
    """Types and shapes of its outputs."""


class IPluginV3QuickRuntime(IPluginCapability):
    """Its kernels."""


class IPluginCreatorV3Quick(IPluginCreatorInterface):
    """Makes quick plugins; the registry refuses it."""

    name, plugin_version, plugin_namespace = "", "1", ""
    field_names: list = []

    def create_plugin(self, name, namespace, field_collection, phase):
        """Refused."""
        raise PolygraphyException(REASON)


class IWeightsManager(IVersionedInterface):
    """Moves the weights of an engine out of a card's memory; engines have none here."""
