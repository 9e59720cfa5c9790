"""Communicators of ranks that are threads of one process. NCCL's connect processes, and are not taken."""

from assay import _native
from assay.exception import PolygraphyException

MOST = 256


class Communicator:
    """The place of one rank among all, for `IExecutionContext.set_communicator`."""

    def __init__(self, meeting, rank) -> None:
        self._meeting = meeting
        self._rank = rank

    rank = property(lambda self: self._rank, doc="Its number, from 0 on.")
    count = property(lambda self: self._meeting.count, doc="How many ranks there are.")


def communicators(count, timeout=120.0):
    """One for each of `count` ranks, whose contexts then run at the same time, each in a thread of its own. A rank that does
    not come to a collective within `timeout` seconds ends the runs of all with an error that names it; after an error, new
    communicators are needed."""
    if not 2 <= count <= MOST:
        raise PolygraphyException(f"expected from 2 to {MOST} ranks, found {count}")
    if not timeout > 0:
        raise PolygraphyException(f"expected a timeout above 0, found {timeout}")
    meeting = _native.Meeting(count, timeout)
    return [Communicator(meeting, rank) for rank in range(count)]
