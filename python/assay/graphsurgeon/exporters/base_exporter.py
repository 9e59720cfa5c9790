"""What exporters have in common."""


class BaseExporter:
    """Makes something else of graphs."""

    @staticmethod
    def export_graph(graph):
        """Something else for a graph."""
        raise NotImplementedError("BaseExporter is an abstract class")
