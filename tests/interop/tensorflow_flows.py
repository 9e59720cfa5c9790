"""Run by a Python that has TensorFlow: networks with loops, branches and lists as SavedModels, frozen graphs of both
generations of control flow and TFLite files in a folder, with TensorFlow's own results. `tensorflow_flows.py FOLDER`; files
that TFLite's converter refuses are left out. `tensorflow_flows.py --keep FOLDER` puts those of KEPT, packed, into
tests/interop/tensorflow_kept, for runs without TensorFlow; those there are from TensorFlow 2.21.0."""

import json
import os
import pathlib
import sys

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tensorflow_writing import arrays, describe, write_graph, write_lite

L, V1, RAW = tf.keras.layers, tf.compat.v1, tf.raw_ops
FLOAT, INT = tf.float32, tf.int32
DICE = np.random.default_rng(5)
tf.keras.utils.set_random_seed(5)
FLOWS, NETWORKS = {}, {}
KEPT = ("lstm_steps.first lstm_any_length.second gru_reset_before.second lstm_masked.first pictures.second ended_early_old "
        "read_and_written.first written_backwards.second written_in_part_old grown_list_old chosen_in_loop_old scattered_old "
        "loop_in_chosen.first chosen_constants.first chosen_old nested.second growing.second lists.second unstacked_old")


def flow(*shapes, dtype=FLOAT):
    """A function of tensors, for control flow of both generations."""
    def keep(function):
        FLOWS[function.__name__] = function, shapes, dtype
        return function
    return keep


def normal(*shape):
    return DICE.normal(size=shape).astype(np.float32)


def network(name, layers, shape, dtype=FLOAT, batch=None):
    x = tf.keras.Input(shape, batch_size=batch, dtype=dtype.name)
    NETWORKS[name] = tf.keras.Model(x, layers(x)), dtype


def row(*layers):
    def apply(x):
        for layer in layers:
            x = layer(x)
        return x
    return apply


network("lstm", L.LSTM(4), (6, 3))
network("lstm_steps", L.LSTM(4, return_sequences=True), (6, 3))
network("lstm_any_length", L.LSTM(4, return_sequences=True), (None, 3))
network("lstm_backwards", L.LSTM(4, return_sequences=True, go_backwards=True), (6, 3))
network("lstm_states", L.LSTM(4, return_sequences=True, return_state=True), (6, 3))
network("lstm_masked", row(L.Embedding(9, 3, mask_zero=True), L.LSTM(4, return_sequences=True)), (6,), INT)
network("gru", L.GRU(4, return_sequences=True), (6, 3))
network("gru_reset_before", L.GRU(4, reset_after=False), (6, 3), batch=2)
network("simple", L.SimpleRNN(4, return_sequences=True), (6, 3))
network("both_ways", L.Bidirectional(L.LSTM(4, return_sequences=True)), (6, 3))
network("both_ways_gru", L.Bidirectional(L.GRU(4)), (None, 3))
network("rows", row(L.LSTM(5, return_sequences=True), L.Dense(4, "relu"), L.GRU(3)), (6, 3))
network("pictures", L.ConvLSTM2D(2, 3, padding="same", return_sequences=True), (4, 5, 5, 2))
network("frames", row(L.TimeDistributed(L.Conv2D(3, 3)), L.TimeDistributed(L.GlobalAveragePooling2D()), L.LSTM(4)), (4, 6, 6, 2))


@flow((3, 4))
def until_large(x):
    return tf.while_loop(lambda v, i: tf.reduce_sum(tf.abs(v)) < 100., lambda v, i: (v * 1.5 + 0.1, i + 1), [x, 0])


@flow((3, 4))
def counted_down(x):
    return tf.while_loop(lambda i, v: i > 0, lambda i, v: (i - 1, v * 1.1 + tf.cast(i, FLOAT)), [5, x])[1]


@flow((3, 4))
def no_rounds(x):
    return tf.while_loop(lambda i, v: i < 0, lambda i, v: (i + 1, v * 2.), [0, x])[1]


@flow((2, 3))
def growing(x):
    invariants = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, v[:1] * 2.], 0)), [0, x], invariants)[1]


@flow((4, 3))
def swapped(x):
    return tf.while_loop(lambda i, a, b: i < 5, lambda i, a, b: (i + 1, b, a + b), [0, x, -x])[1:]


@flow((4, 3))
def nested(x):
    def outer(i, v):
        inner = tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, w * 0.5 + tf.cast(i + j, FLOAT)), [0, v])
        return i + 1, inner[1]
    return tf.while_loop(lambda i, v: i < 4, outer, [0, x])[1]


@flow((5, 3))
def written_in_order(x):
    def body(i, array):
        return i + 1, array.write(i, tf.reduce_sum(x[: i + 1], 0))
    return tf.while_loop(lambda i, a: i < 5, body, [0, tf.TensorArray(FLOAT, 5)])[1].stack()


@flow((5, 3))
def written_backwards(x):
    array = tf.TensorArray(FLOAT, 5)
    return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(4 - i, x[i] * 2.)), [0, array])[1].stack()


@flow((6, 3))
def written_in_part(x):
    """Tensors that were not written are 0."""
    array = tf.TensorArray(FLOAT, 6, element_shape=[3])
    return tf.while_loop(lambda i, a: i < 6, lambda i, a: (i + 2, a.write(i, x[i])), [0, array])[1].stack()


@flow((6, 3))
def ended_early(x):
    array = tf.TensorArray(FLOAT, 6, element_shape=[3])
    def goes_on(i, total, _):
        return (i < 6) & (total < 2.)
    def body(i, total, a):
        return i + 1, total + tf.reduce_sum(tf.abs(x[i])), a.write(i, x[i] - 1.)
    return tf.while_loop(goes_on, body, [0, 0., array])[2].stack()


@flow((5, 3))
def read_and_written(x):
    """A recurrence over what the loop wrote itself."""
    array = tf.TensorArray(FLOAT, 5, element_shape=[3], clear_after_read=False).write(0, x[0]).write(1, x[1])
    def body(i, a):
        return i + 1, a.write(i, a.read(i - 1) + a.read(i - 2) * 0.5)
    return tf.while_loop(lambda i, a: i < 5, body, [2, array])[1].stack()


@flow((5, 3))
def grown_list(x):
    array = tf.TensorArray(FLOAT, 0, dynamic_size=True, element_shape=[3])
    return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, x[i] * 3.)), [0, array])[1].stack()


@flow((6, 2))
def unstacked(x):
    array = tf.TensorArray(FLOAT, 6, clear_after_read=False).unstack(x)
    total = tf.while_loop(lambda i, t: i < 6, lambda i, t: (i + 1, t * 0.5 + array.read(i)), [0, tf.zeros([2])])[1]
    return total, array.gather([4, 0, 2]), tf.cast(array.size(), FLOAT)


@flow((3, 4, 2))
def joined(x):
    array = tf.TensorArray(FLOAT, 3, element_shape=[4, 2])
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i] + 1.)), [0, array])[1].concat()


@flow((6, 2))
def scattered(x):
    return (tf.TensorArray(FLOAT, 6, element_shape=[2]).scatter([3, 0, 5], x[:3]).stack(),
            tf.TensorArray(FLOAT, 3).split(x, [2, 2, 2]).stack())


@flow((3, 4))
def chosen(x):
    return tf.cond(tf.reduce_sum(x) > 0., lambda: (x * 2., tf.constant(1.)), lambda: (x - 1., tf.reduce_max(x)))


@flow((3, 4))
def chosen_constants(x):
    return tf.cond(tf.reduce_sum(x) > 0., lambda: tf.constant([1., 2.]), lambda: tf.constant([3., 4.]))


@flow((3, 4))
def chosen_in_chosen(x):
    def positive():
        return tf.cond(x[0, 0] > 0.5, lambda: x * 3., lambda: x + 3.)
    return tf.cond(tf.reduce_sum(x) > 0., positive, lambda: -x) * tf.cond(x[1, 1] > 0., lambda: x, lambda: x * x)


@flow((5, 3))
def chosen_in_loop(x):
    def body(i, v, a):
        w = tf.cond(v[0] > 0., lambda: v - x[i], lambda: v + tf.abs(x[i]))
        return i + 1, w, a.write(i, w)
    return tf.while_loop(lambda i, v, a: i < 5, body, [0, x[0], tf.TensorArray(FLOAT, 5)])[2].stack()


@flow((5, 3))
def loop_in_chosen(x):
    def looped():
        return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * x[i] + 1.), [0, x[0]])[1]
    return tf.cond(tf.reduce_sum(x) > 0., looped, lambda: tf.reduce_sum(x, 0))


@flow((2, 6, 6, 3))
def layers_in_loop(x, kernel=normal(3, 3, 3, 3)):
    """Layers that need to know sizes."""
    def body(i, v):
        v = tf.nn.max_pool2d(tf.nn.conv2d(v, kernel, 1, "SAME"), 2, 1, "SAME")
        return i + 1, tf.nn.relu(v) / (1. + tf.reduce_mean(tf.abs(v), [1, 2], keepdims=True))
    return tf.while_loop(lambda i, v: i < 3, body, [0, x])[1]


@flow((4, 3))
def mapped(x):
    return tf.map_fn(lambda r: tf.reduce_sum(r) * r, x), tf.scan(lambda a, r: a * 0.5 + r, x), tf.foldl(lambda a, r: a - r, x)


@flow((5, 2, 3))
def lists(x):
    """Operators of lists that arrays do not have."""
    made = RAW.EmptyTensorList(element_shape=[2, 3], max_num_elements=-1, element_dtype=FLOAT)
    for i in range(3):
        made = RAW.TensorListPushBack(input_handle=made, tensor=x[i] * (i + 1.))
    popped, last = RAW.TensorListPopBack(input_handle=made, element_shape=[2, 3], element_dtype=FLOAT)
    both = RAW.TensorListConcatLists(input_a=popped, input_b=made, element_dtype=FLOAT)
    resized = RAW.TensorListResize(input_handle=made, size=4)
    def stack(handle):
        return RAW.TensorListStack(input_handle=handle, element_shape=[2, 3], element_dtype=FLOAT)
    shape = RAW.TensorListElementShape(input_handle=made, shape_type=INT)
    return last, stack(both), stack(resized), shape, RAW.TensorListLength(input_handle=both)


@flow((5, 3))
def pushed_in_loop(x):
    made = RAW.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=FLOAT)
    def body(i, handle):
        return i + 1, RAW.TensorListPushBack(input_handle=handle, tensor=x[i] * 2.)
    made = tf.while_loop(lambda i, handle: i < 4, body, [0, made])[1]
    return RAW.TensorListStack(input_handle=made, element_shape=[3], element_dtype=FLOAT)


def values(specs):
    made = []
    for spec in specs:
        shape = [2 + 3 * (axis > 0) if size is None else size for axis, size in enumerate(spec.shape)]
        made.append(DICE.normal(size=shape).astype(np.float32) if spec.dtype == FLOAT
                    else DICE.integers(0, 9, shape).astype(np.int32))
    return made


def write(folder, name, concrete, specs):
    """A function in all forms, and what it gives."""
    inputs = values(specs)
    outputs = [each.numpy() for each in tf.nest.flatten(concrete(*map(tf.constant, inputs)))]
    np.savez(folder / f"{name}.npz", **arrays(inputs, outputs))
    for ending, is_lowered in (("second.pb", False), ("first.pb", True)):
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=is_lowered)
        write_graph(folder / f"{name}.{ending}", frozen.graph.as_graph_def(), frozen.inputs, frozen.outputs)
    write_lite(folder / f"{name}.tflite", frozen)


def write_flow(folder, name):
    function, shapes, dtype = FLOWS[name]
    specs = [tf.TensorSpec(shape, dtype, name=f"x{i}") for i, shape in enumerate(shapes)]
    write(folder, name, tf.function(lambda *given: function(*given)).get_concrete_function(*specs), specs)


def write_network(folder, name):
    """A network by layers, as a SavedModel with variables too."""
    model, dtype = NETWORKS[name]
    specs = [tf.TensorSpec(model.inputs[0].shape, dtype, name="x0")]
    write(folder, name, tf.function(lambda x: model(x)).get_concrete_function(*specs), specs)
    saved = folder / f"{name}.saved"
    model.export(saved, verbose=False)
    names = list(tf.saved_model.load(saved).signatures["serving_default"].structured_input_signature[1])
    describe(saved, names, [])


def write_old(folder, name):
    """The same function built as programs of TensorFlow 1 do."""
    function, shapes, dtype = FLOWS[name]
    with tf.Graph().as_default() as graph:
        V1.disable_control_flow_v2()
        inputs = [V1.placeholder(dtype, shape, name=f"x{i}") for i, shape in enumerate(shapes)]
        outputs = [tf.identity(each, name=f"y{i}") for i, each in enumerate(tf.nest.flatten(function(*inputs)))]
        V1.enable_control_flow_v2()
    given = values([tf.TensorSpec(shape, dtype) for shape in shapes])
    with V1.Session(graph=graph) as session:
        results = session.run(outputs, dict(zip(inputs, given)))
    np.savez(folder / f"{name}_old.npz", **arrays(given, results))
    kept = V1.graph_util.extract_sub_graph(graph.as_graph_def(), [each.op.name for each in outputs])
    write_graph(folder / f"{name}_old.pb", kept, inputs, outputs)


def without_notes(graph):
    """Attributes that only tell where a node comes from are left out."""
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        for node in nodes:
            node.ClearField("experimental_debug_info")
            for key in [key for key in node.attr if key.startswith("_")]:
                del node.attr[key]
    for function in graph.library.function:
        function.arg_attr.clear()
    return graph


def keep(folder):
    kept = pathlib.Path(__file__).with_name("tensorflow_kept")
    kept.mkdir(exist_ok=True)
    for name in KEPT.split():
        graph = without_notes(V1.GraphDef.FromString((folder / f"{name}.pb").read_bytes())).SerializeToString()
        inputs, outputs = json.loads((folder / f"{name}.pb.json").read_text())
        np.savez_compressed(kept / f"{name}.npz", graph=np.frombuffer(graph, np.uint8), inputs=inputs, outputs=outputs,
                            **np.load(folder / f"{name.split('.')[0]}.npz"))


def write_all(folder):
    for name in FLOWS:
        write_flow(folder, name)
        if name not in ("lists", "pushed_in_loop"):
            write_old(folder, name)
    for name in NETWORKS:
        write_network(folder, name)


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(pathlib.Path(sys.argv[2]))
    else:
        write_all(pathlib.Path(sys.argv[1]))
