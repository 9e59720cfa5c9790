"""What ONNX Runtime is known to do otherwise than the reference in float64, with the reason."""


def has(model, op, **facts):
    """A node of that operator that has these attributes."""
    for node in model.graph.node:
        given = {attribute.name: attribute.s.decode() or attribute.i for attribute in node.attribute}
        if node.op_type == op and all(given.get(name) == value for name, value in facts.items()):
            return True
    return False


IN_FLOAT = "computes places in float32, where some that are whole, or halfway between pixels, fall short of it"
KNOWN = [  # who draws, of which models, the reason
    ("resize", lambda made, model: has(model, "Resize", mode="nearest"), IN_FLOAT),
    ("resize", lambda made, model: has(model, "Resize", antialias=1), "rounds codes after each axis, by weights of codes"),
    ("grid_sample", lambda made, model: has(model, "GridSample", mode="nearest"), IN_FLOAT),
    ("grid_sample", lambda made, model: has(model, "GridSample", mode="cubic", padding_mode="border"),
     "puts border pixels outside; onnx's reference, as ours, moves the place"),
    ("quantized_elements", lambda made, model: has(model, "QLinearSoftmax"),
     "of one column, 256 is cut to 8 bits, and becomes 0 in place of 255"),
    ("attention", lambda made, model: made.dtype == "float64", "makes NaN of no keys; onnx's reference, as ours, 0"),
    ("mean_variance_normalization", lambda made, model: True, "divides 0 by 0 where axes have one element"),
]


def reason_of(made, model):
    return next((reason for name, condition, reason in KNOWN if name == made.name and condition(made, model)), None)
