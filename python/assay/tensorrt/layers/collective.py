"""The layer that ranks compute together."""

from assay.exception import PolygraphyException
from assay.tensorrt.arguments import Setting
from assay.tensorrt.enums import CollectiveOperation, LayerType, ReduceOperation
from assay.tensorrt.layers.base import SimpleLayer

_REDUCING = {CollectiveOperation.ALL_REDUCE, CollectiveOperation.REDUCE, CollectiveOperation.REDUCE_SCATTER}
_ROOTED = {CollectiveOperation.BROADCAST, CollectiveOperation.REDUCE, CollectiveOperation.GATHER, CollectiveOperation.SCATTER}


class IDistCollectiveLayer(SimpleLayer):
    """What several ranks do with one tensor, along its first axis."""

    _TYPE, _WORD, _OP = LayerType.DIST_COLLECTIVE, "DistCollective", "DistCollective"

    num_ranks = Setting(int, "How many ranks take part; the engine must be told.")

    def __init__(self, network, index, input, operation, reduction, root, groups) -> None:
        if (operation in _REDUCING) == (reduction == ReduceOperation.NONE):
            raise PolygraphyException(f"{operation} does not go with {reduction}")
        if operation in _ROOTED and root < 0:
            raise PolygraphyException(f"{operation} needs a root, found {root}")
        super().__init__(network, index, [input])
        self._operation, self._reduction, self._root = operation, reduction, int(root)
        self._groups = [int(rank) for rank in (groups if groups is not None else [])]
        self.num_ranks = len(self._groups) or 1

    def _attrs(self):
        return {"collective_operation": self._operation.name.lower(), "reduce_op": self._reduction.name.lower(),
                "root": self._root, "nb_rank": self.num_ranks, "groups": self._groups, "group_size": len(self._groups)}
