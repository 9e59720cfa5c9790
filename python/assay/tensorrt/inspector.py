"""What an engine is made of."""

import json

from assay.tensorrt.arguments import Attribute
from assay.tensorrt.enums import LayerInformationFormat


def _tensor(name, dtype, dims, layout):
    return {"Name": name, "Dimensions": list(dims), "Format/Datatype": f"{layout or 'Linear'} {dtype or 'unknown'}"}


class EngineInspector:
    """Tells the layers of an engine, their tensors and tactics, and the nodes that they were made of."""

    execution_context = Attribute(None, None, "A context, whose shapes are told.")
    error_recorder = Attribute(None, None, "Who is told of mistakes, besides the logger.")

    def __init__(self, engine) -> None:
        self._engine = engine

    def _layer(self, index):
        layer = self._engine._layers[index]
        return {"Name": layer["name"] or "copy", "LayerType": layer["op"], "TacticName": layer["tactic"],
                "Inputs": [_tensor(*each) for each in layer["inputs"]],
                "Outputs": [_tensor(*each) for each in layer["outputs"]], "Origin": layer["origins"]}

    def get_layer_information(self, layer_index, format):
        """One layer, as a line or as JSON."""
        layer = self._layer(layer_index)
        if format == LayerInformationFormat.ONELINE:
            return f"{layer['Name']}, {layer['TacticName']}\n"
        return json.dumps(layer, indent=2)

    def get_engine_information(self, format):
        """All layers, as lines or as JSON."""
        count = len(self._engine._layers)
        if format == LayerInformationFormat.ONELINE:
            return "".join(self.get_layer_information(i, format) for i in range(count))
        return json.dumps({"Layers": [self._layer(i) for i in range(count)], "Bindings": self._engine._names}, indent=2)
