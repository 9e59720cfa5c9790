"""Files that both makers of TensorFlow's models write, in a Python that has TensorFlow."""

import json

import tensorflow as tf


def describe(path, *names):
    """The names of inputs and outputs, beside a model."""
    path.with_name(path.name + ".json").write_text(json.dumps(names))


def write_graph(path, graph, inputs, outputs):
    path.write_bytes(graph.SerializeToString())
    describe(path, [each.name for each in inputs], [each.name for each in outputs])


def write_lite(path, frozen):
    """Nothing where TFLite's converter refuses the function."""
    try:
        file = tf.lite.TFLiteConverter.from_concrete_functions([frozen]).convert()
    except Exception:  # noqa: BLE001: of whatever the converter does not know
        return
    interpreter = tf.lite.Interpreter(model_content=file)
    ports = interpreter.get_input_details(), interpreter.get_output_details()
    describe(path, *([each["name"] for each in details] for details in ports))
    path.write_bytes(file)


def arrays(inputs, outputs):
    return {f"in{i}": each for i, each in enumerate(inputs)} | {f"out{i}": each for i, each in enumerate(outputs)}
