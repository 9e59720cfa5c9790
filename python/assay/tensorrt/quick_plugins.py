"""Interfaces of quick plugins, which tensorrt.plugin makes of functions, and of moving weights on a card."""

from assay.tensorrt.interfaces import IVersionedInterface
from assay.tensorrt.plugins import IPluginCapability, IPluginCreatorInterface, PluginFieldCollection, PluginTensorDesc


class IPluginV3QuickCore(IPluginCapability):
    """Name, version and name space of a quick plugin."""

    plugin_name, plugin_version, plugin_namespace = "", "1", ""


class IPluginV3QuickBuild(IPluginCapability):
    """What is known of a quick plugin when an engine is built; types are asked for with the numbers of dims."""

    num_outputs = 1

    def get_output_data_types(self, input_types, ranks):
        return [input_types[0]] * self.num_outputs

    def get_output_shapes(self, inputs, shape_inputs, expr_builder):
        raise NotImplementedError

    def get_supported_format_combinations(self, in_out, num_inputs):
        """Descriptors of all inputs and outputs, one row behind the other."""
        return [PluginTensorDesc(each.desc.dims, each.desc.type) for each in in_out]

    def get_aliased_input(self, output_index):
        return -1

    def configure_plugin(self, in_, out):
        pass

    def get_valid_tactics(self):
        return []


class IPluginV3QuickRuntime(IPluginCapability):
    """What runs of a quick plugin."""

    def set_tactic(self, tactic):
        pass

    def enqueue(self, input_desc, output_desc, inputs, outputs, in_strides, out_strides, stream):
        raise NotImplementedError

    def get_fields_to_serialize(self):
        return PluginFieldCollection()


class IPluginCreatorV3Quick(IPluginCreatorInterface):
    """To be derived from: `create_plugin(name, namespace, field_collection, phase)`."""

    name, plugin_version, plugin_namespace = "", "1", ""
    field_names: list = []

    def create_plugin(self, name, namespace, field_collection, phase, quick_plugin_creation_request=None):
        raise NotImplementedError


class IWeightsManager(IVersionedInterface):
    """Moves the weights of an engine out of a card's memory; engines have none here."""
