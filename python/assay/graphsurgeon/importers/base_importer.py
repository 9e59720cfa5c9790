"""What importers have in common."""


class BaseImporter:
    """Makes graphs."""

    @staticmethod
    def import_graph(graph, /):
        """The graph of something else."""
        raise NotImplementedError("BaseImporter is an abstract class")
