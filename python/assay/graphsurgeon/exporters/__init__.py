"""Parts of assay.graphsurgeon."""
