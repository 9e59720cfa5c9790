"""Plugins of either version at work: what they say of their tensors, and runs on addresses of this process."""

import time

from assay.exception import PolygraphyException
from assay.tensorrt.enums import DataType, PluginCapabilityType, TensorFormat
from assay.tensorrt.plugins import (DimsExprs, DynamicPluginTensorDesc, IDimensionExpr, IExprBuilder, IPluginV3,
                                    PluginTensorDesc)
from assay.tensorrt.quick_plugins import IPluginV3QuickBuild

RUNS = 4  # of a tactic that is measured; the first does not count


class Capabilities:
    """A plugin of either version: its parts, and what it says of shapes and types."""

    def __init__(self, plugin) -> None:
        self.plugin = plugin
        self.is_v3 = isinstance(plugin, IPluginV3)
        kinds = PluginCapabilityType
        self.core, self.build, self.runtime = (
            (plugin.get_capability_interface(each) if self.is_v3 else plugin)
            for each in (kinds.CORE, kinds.BUILD, kinds.RUNTIME))
        self.is_quick = isinstance(self.build, IPluginV3QuickBuild)
        self.name = self.core.plugin_name if self.is_v3 else plugin.plugin_type
        self.count = self.build.num_outputs
        self.tactics: list = []  # those that fit the types of the network
        self.is_open = self.is_v3  # its tactic is not chosen yet

    def key(self):
        """By what the registry finds its creator."""
        return self.name, str(self.core.plugin_version), self.core.plugin_namespace

    def dims(self, inputs):
        """Dims of outputs, as expressions."""
        exprs = [DimsExprs(IDimensionExpr(dim) for dim in each) for each in inputs]
        if self.is_v3:
            found = self.build.get_output_shapes(exprs, [], IExprBuilder())
        else:
            found = [self.plugin.get_output_dimensions(i, exprs, IExprBuilder()) for i in range(self.count)]
        return [[dim if isinstance(dim, IDimensionExpr) else IDimensionExpr(dim) for dim in each] for each in found]

    def shapes(self, inputs):
        """Shapes of outputs; -1 is not known."""
        return [[dim._value for dim in each] for each in self.dims(inputs)]

    def types(self, inputs, ranks):
        """Types of outputs."""
        if self.is_quick:
            return self.build.get_output_data_types(inputs, ranks)
        if self.is_v3:
            return self.build.get_output_data_types(inputs)
        return [self.plugin.get_output_datatype(i, inputs) for i in range(self.count)]

    def configure(self, inputs, outputs):
        """Tells a plugin of the third version its tensors, and asks it for its tactics."""
        if not self.is_v3:
            return
        given, made = ([DynamicPluginTensorDesc(each) for each in part] for part in (inputs, outputs))
        if self.is_quick:
            self._check_types(given + made, len(given))
        self.build.configure_plugin(given, made)
        self.tactics = list(self.build.get_valid_tactics())

    def _check_types(self, tensors, count):
        rows = self.build.get_supported_format_combinations(tensors, count)
        wanted = [(each.desc.type, TensorFormat.LINEAR) for each in tensors]
        for i in range(0, len(rows), len(tensors)):
            if [(each.type, each.format) for each in rows[i:i + len(tensors)]] == wanted:
                return
        raise PolygraphyException(f"the plugin `{self.name}` does not offer the types of its inputs and outputs here, "
                                  f"{[dtype.name for dtype, _ in wanted]}, with the format LINEAR")


class _Call:
    """The tensors of a call: arrays that are read, and memory for what comes of them."""

    def __init__(self, parts, arrays) -> None:
        import numpy as np

        from assay.datatype import DataType as Shared

        self.parts = parts
        types = [DataType.of_number(Shared.from_dtype(each.dtype).number) for each in arrays]
        self.given = [PluginTensorDesc(each.shape, dtype) for each, dtype in zip(arrays, types)]
        made_types = parts.types(types, [each.ndim for each in arrays])
        self.dims = parts.dims([each.shape for each in arrays])
        self.wanted = [PluginTensorDesc([dim._value for dim in dims], dtype) for dims, dtype in zip(self.dims, made_types)]
        self.arrays = [np.ascontiguousarray(each) for each in arrays]
        kinds = [Shared.from_native(each.type.native).numpy() for each in self.wanted]
        self.results = [self._memory(i, [dim.most for dim in dims], kind)
                        for i, (dims, kind) in enumerate(zip(self.dims, kinds))]

    def _memory(self, index, shape, kind):
        """Memory of an output; of one that lies where an input lies a copy of that."""
        import numpy as np

        if any(dim < 0 for dim in shape):
            raise PolygraphyException(f"the plugin `{self.parts.name}` does not know the shape of its output {index}: {shape}")
        place = self.parts.build.get_aliased_input(index) if self.parts.is_quick else -1
        if place < 0:
            return np.empty(shape, kind)
        self.arrays[place] = self.arrays[place].copy()
        return self.arrays[place]

    def run(self):
        """What the plugin answers."""
        import numpy as np

        parts, addresses = self.parts, [[each.ctypes.data for each in part] for part in (self.arrays, self.results)]
        if parts.is_quick:
            strides = [[tuple(step // each.itemsize for step in each.strides) for each in part]
                       for part in (self.arrays, self.results)]
            return parts.runtime.enqueue(self.given, self.wanted, *addresses, *strides, 0)
        if parts.is_v3:
            parts.runtime.on_shape_change(self.given, self.wanted)
        workspace = np.empty(max(1, parts.build.get_workspace_size(self.given, self.wanted)), np.uint8)
        return parts.runtime.enqueue(self.given, self.wanted, *addresses, workspace.ctypes.data, 0)

    def outputs(self):
        """The results, as large as the plugin has told."""
        return [result if all(dim.teller is None for dim in dims) else self._told(result, dims)
                for result, dims in zip(self.results, self.dims)]

    def _told(self, result, dims):
        import numpy as np

        shape = [dim._value if dim.teller is None else int(self.results[dim.teller].reshape(-1)[0]) for dim in dims]
        for size, dim in zip(shape, dims):
            if not 0 <= size <= dim.most:
                raise PolygraphyException(f"the plugin `{self.parts.name}` tells the size {size}, expected are 0 to {dim.most}")
        return np.ascontiguousarray(result.reshape(-1)[:int(np.prod(shape))].reshape(shape))


def run_plugin(parts, arrays):
    """Arrays that the plugin makes of arrays."""
    if parts.is_open:
        tactic = measured(parts, arrays)
        if tactic is not None:
            parts.runtime.set_tactic(tactic)
    call = _Call(parts, arrays)
    status = call.run()
    if status not in (None, 0):
        raise PolygraphyException(f"the plugin `{parts.name}` failed: its enqueue() gave {status}")
    return call.outputs()


def measured(parts, arrays):
    """The fastest tactic of a plugin for these inputs; None: it has none."""
    parts.is_open = False
    call = _Call(parts, arrays)
    parts.configure(call.given, call.wanted)
    if len(parts.tactics) < 2:
        return parts.tactics[0] if parts.tactics else None
    seconds = {}
    for tactic in parts.tactics:
        parts.runtime.set_tactic(tactic)
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            call.run()
            times.append(time.perf_counter() - start)
        seconds[tactic] = min(times[1:])
    return min(seconds, key=lambda tactic: seconds[tactic])
