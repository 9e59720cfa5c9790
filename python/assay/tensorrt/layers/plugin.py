"""Layers that are computed by plugins written in Python."""

from assay.exception import PolygraphyException
from assay.tensorrt.enums import LayerType
from assay.tensorrt.layers.base import ILayer
from assay.tensorrt.plugin_parts import Capabilities

DOMAIN = "assay.plugins"  # of the nodes that stand for plugins until an engine is built


class _PluginLayer(ILayer):
    _WORD = "Plugin"

    def __init__(self, network, index, inputs, plugin) -> None:
        self._plugin = Capabilities(plugin)
        super().__init__(network, index, inputs, self._plugin.count)

    plugin = property(lambda self: self._plugin.plugin)

    @classmethod
    def _of_node(cls, network, name, inputs, outputs, plugin):
        """The layer of a node that a parser read."""
        made = cls.__new__(cls)
        made._plugin = Capabilities(plugin)
        ILayer.__init__(made, network, len(network._layers), inputs, 0)
        made._name = name or made._name
        made._outputs = outputs
        for tensor in outputs:
            tensor._layer = made
        return made

    def _emit(self, emitter):
        given = [tuple(each.shape) for each in self._inputs]
        types = self._plugin.types([each.dtype for each in self._inputs], [len(each) for each in given])
        shapes = self._plugin.shapes(given)
        for tensor, shape, dtype in zip(self._outputs, shapes, types):
            made = emitter.tensor(tensor)
            made.shape = [None if dim < 0 else dim for dim in shape]
            made.dtype = dtype.onnx_number
        emitter.node(self, self._plugin.name, self._inputs, self._outputs)
        emitter.nodes[-1].domain = DOMAIN
        emitter.plugins[id(emitter.nodes[-1])] = self._plugin


class IPluginV2Layer(_PluginLayer):
    """A plugin of the second version."""

    _TYPE = LayerType.PLUGIN_V2


class IPluginV3Layer(_PluginLayer):
    """A plugin of the third version."""

    _TYPE = LayerType.PLUGIN_V3

    def __init__(self, network, index, inputs, shape_inputs, plugin) -> None:
        if shape_inputs:
            raise PolygraphyException("plugins with shape inputs are not there: give them as inputs")
        super().__init__(network, index, inputs, plugin)
