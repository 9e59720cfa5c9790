"""Run by a Python that has TensorFlow: the networks of mlcommons/tiny and one like basic-pitch's, with weights by chance, as
TFLite files, and two as SavedModels and frozen graphs too, with TensorFlow's own results. `tensorflow_tiny.py FOLDER` writes
them; `tensorflow_tiny.py --keep FOLDER` puts those of KEPT, with what their last two operators give, into
tests/interop/tensorflow_kept/lite, for runs without TensorFlow; those there are from TensorFlow 2.21.0."""

import os
import pathlib
import sys

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tensorflow_writing import describe, write_graph

L = tf.keras.layers
DICE = np.random.default_rng(7)
tf.keras.utils.set_random_seed(7)
KEPT = ("keywords.int8", "pictures.int8")
IN_THREE_FORMATS = ("keywords", "pictures")
KINDS = ("float32", "float16", "dynamic", "int8", "int16")
CODED = {"int8": (tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.int8),
         "int16": (tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8, tf.int16)}
PLAIN = tf.lite.experimental.OpResolverType.BUILTIN_REF


def normed(x, activation="relu"):
    x = L.BatchNormalization()(x)
    return L.Activation(activation)(x) if activation else x


def convolved(x, channels, size, stride=1, activation="relu"):
    return normed(L.Conv2D(channels, size, stride, "same", use_bias=False)(x), activation)


def separable(x, channels, stride=1):
    x = normed(L.DepthwiseConv2D(3, stride, "same", use_bias=False)(x))
    return convolved(x, channels, 1)


def anomalies():
    """The autoencoder for sounds of machines."""
    x = y = tf.keras.Input((640,))
    for size in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        y = normed(L.Dense(size)(y))
    return tf.keras.Model(x, L.Dense(640)(y))


def pictures():
    """ResNet-8 for CIFAR-10."""
    x = tf.keras.Input((32, 32, 3))
    y = convolved(x, 16, 3)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        way = convolved(convolved(y, channels, 3, stride), channels, 3, activation=None)
        y = y if stride == 1 else L.Conv2D(channels, 1, stride, "same")(y)
        y = L.ReLU()(L.Add()([way, y]))
    y = L.Flatten()(L.AveragePooling2D(8)(y))
    return tf.keras.Model(x, L.Dense(10, "softmax")(y))


def keywords():
    """DS-CNN for spoken words."""
    x = tf.keras.Input((49, 10, 1))
    y = convolved(x, 64, (10, 4), 2)
    for _ in range(4):
        y = separable(L.Dropout(0.2)(y), 64)
    y = L.Flatten()(L.AveragePooling2D((25, 5))(y))
    return tf.keras.Model(x, L.Dense(12, "softmax")(y))


def persons():
    """MobileNet of a quarter of the channels, for pictures with and without persons."""
    x = tf.keras.Input((96, 96, 3))
    y = convolved(x, 8, 3, 2)
    for channels, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)):
        y = separable(y, channels, stride)
    y = L.Flatten()(L.AveragePooling2D(3)(y))
    return tf.keras.Model(x, L.Dense(2, "softmax")(y))


def spectrum(x, octaves=8, bins=36):
    """Constant Q: the same filters over signals of half, a quarter, ... of the rate, one frame for 256 samples."""
    lengths = 256 / 2 ** (np.arange(bins) / bins)
    times = np.arange(256) - 127.5
    window = np.where(abs(times) < lengths[:, None] / 2, np.cos(np.pi * times / lengths[:, None]) ** 2, 0)
    phases = 2 * np.pi * times * 20 / lengths[:, None]
    filters = [tf.constant((window * wave(phases)).T[:, None].astype(np.float32)) for wave in (np.cos, np.sin)]
    low = np.sinc(np.arange(-15, 16) / 2) * np.hamming(31)
    found, hop = [], 256
    for _ in range(octaves):
        padded = tf.pad(x, [[0, 0], [128, 128], [0, 0]], "REFLECT")
        both = [tf.nn.conv1d(padded, each, hop, "VALID")[:, :172] for each in filters]
        found.insert(0, tf.sqrt(both[0] ** 2 + both[1] ** 2))
        x = tf.nn.conv1d(x, tf.constant((low / low.sum())[:, None, None].astype(np.float32)), 2, "SAME")
        hop //= 2
    return tf.concat(found, 2)


def loudness(x):
    """Decibels from 0 to 1 over all of a signal."""
    x = tf.math.log(x ** 2 + 1e-10) * np.float32(10 / np.log(10))
    x = x - tf.reduce_min(x, [1, 2], keepdims=True)
    return tf.math.divide_no_nan(x, tf.reduce_max(x, [1, 2], keepdims=True))[..., None]


def harmonics(x, bins=36):
    """Channels in which the overtones of a tone stand at its own place."""
    shifted = []
    for factor in (0.5, 1, 2, 3, 4, 5, 6, 7):
        by = round(bins * np.log2(factor))
        part = x[:, :, by:] if by >= 0 else x[:, :, :by]
        shifted.append(tf.pad(part, [[0, 0], [0, 0], [0, by] if by >= 0 else [-by, 0], [0, 0]]))
    return tf.concat(shifted, 3)[:, :, :264]


def notes():
    """Like basic-pitch's: contours, notes and onsets from sound."""
    x = tf.keras.Input((43844, 1))
    tones = L.BatchNormalization()(L.Lambda(lambda v: loudness(spectrum(v)))(x))
    tones = L.Lambda(harmonics)(tones)
    y = convolved(convolved(tones, 16, 5), 8, (3, 39))
    contours = L.Conv2D(1, 5, padding="same", activation="sigmoid")(y)
    y = L.Conv2D(32, 7, (1, 3), "same", activation="relu")(contours)
    pitches = L.Conv2D(1, (7, 3), padding="same", activation="sigmoid")(y)
    y = L.Concatenate()([pitches, convolved(tones, 32, 5, (1, 3))])
    onsets = L.Conv2D(1, 3, padding="same", activation="sigmoid")(y)
    return tf.keras.Model(x, [L.Reshape(each.shape[1:-1])(each) for each in (contours, pitches, onsets)])


TINY, NOTES = (anomalies, pictures, keywords, persons), notes


def sample(model, batch):
    return DICE.normal(size=(batch, *model.inputs[0].shape[1:])).astype(np.float32)


def drawn(model):
    """The model with normalisations that fit what comes to them, as those of trained models do."""
    for layer in model.layers:
        if isinstance(layer, L.BatchNormalization):
            layer.momentum = 0
            layer.gamma.assign(DICE.uniform(0.4, 0.6, layer.gamma.shape))
            layer.beta.assign(DICE.uniform(0.5, 1, layer.beta.shape))
    model(sample(model, 8), training=True)
    return model


def converted(frozen, model, kind):
    """A TFLite file of the function."""
    converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
    if kind != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if kind in CODED:
        converter.representative_dataset = lambda: ([sample(model, 1)] for _ in range(20))
        ops, dtype = CODED[kind]
        converter.target_spec.supported_ops = [ops]
        converter.inference_input_type = converter.inference_output_type = dtype
    return converter.convert()


def interpreter_of(file, batch=1):
    interpreter = tf.lite.Interpreter(model_content=file, experimental_op_resolver_type=PLAIN,
                                      experimental_preserve_all_tensors=True)
    port = interpreter.get_input_details()[0]
    interpreter.resize_tensor_input(port["index"], [batch, *port["shape"][1:]])
    interpreter.allocate_tensors()
    return interpreter


def results(file, value):
    """What TFLite's plain kernels give, by the names of outputs, the results of all operators, and the input as the file has
    it."""
    interpreter = interpreter_of(file, len(value))
    port = interpreter.get_input_details()[0]
    if port["dtype"] != np.float32:
        scale, zero = port["quantization"]
        range_of = np.iinfo(port["dtype"])
        value = np.clip(np.rint(value / scale) + zero, range_of.min, range_of.max).astype(port["dtype"])
    interpreter.set_tensor(port["index"], value)
    interpreter.invoke()
    outputs = interpreter.get_output_details()
    names = {each["index"]: each["name"] for each in interpreter.get_tensor_details()}
    made = [index for each in interpreter._get_ops_details() for index in each["outputs"]]
    inside = {f"inside{i}": interpreter.get_tensor(index) for i, index in enumerate(made)}
    return {"in": value, "input": port["name"], "outputs": [each["name"] for each in outputs],
            **{f"out{i}": interpreter.get_tensor(each["index"]) for i, each in enumerate(outputs)},
            "names": [names[index] for index in made], **inside}


def with_weights_of(plain, coded):
    """The file with floats in which each weight is the number that its code in the other file stands for."""
    codes, floats = interpreter_of(coded), interpreter_of(plain)
    coded_details = {each["name"]: each for each in codes.get_tensor_details()}
    changed = 0
    for detail in floats.get_tensor_details():
        other = coded_details.get(detail["name"])
        if other is None or other["dtype"] != np.int8:
            continue
        parameters = other["quantization_parameters"]
        scales = parameters["scales"]
        shape = np.ones(len(other["shape"]), int)
        shape[parameters["quantized_dimension"]] = scales.size
        value = codes.get_tensor(other["index"]).astype(np.float32) * scales.reshape(shape)
        old = floats.get_tensor(detail["index"]).tobytes()
        assert plain.count(old) == 1
        plain = plain.replace(old, value.tobytes())
        changed += 1
    assert changed
    return plain


def function_of(model):
    spec = tf.TensorSpec(model.inputs[0].shape, name="x")
    return convert_variables_to_constants_v2(tf.function(lambda x: model(x, training=False)).get_concrete_function(spec))


def write_lite(folder, make, kinds):
    model = drawn(make())
    frozen, value, files = function_of(model), sample(model, 2), {}
    for kind in kinds:
        file = files[kind] = converted(frozen, model, kind)
        path = folder / f"{make.__name__}.{kind}.tflite"
        path.write_bytes(file)
        found = results(file, value)
        if kind == "dynamic":
            exact = results(with_weights_of(files["float32"], file), value)
            found |= {f"exact{i}": exact[f"out{i}"] for i in range(len(exact["outputs"]))}
        np.savez(path.with_suffix(".npz"), **found)
    return model, frozen


def write_others(folder, model, frozen, name):
    """The same network as a frozen graph and as a SavedModel."""
    write_graph(folder / f"{name}.pb", frozen.graph.as_graph_def(), frozen.inputs, frozen.outputs)
    saved = folder / f"{name}.saved"
    model.export(saved, verbose=False)
    names = list(tf.saved_model.load(saved).signatures["serving_default"].structured_input_signature[1])
    describe(saved, names, [])


def write_all(folder):
    for make in TINY:
        model, frozen = write_lite(folder, make, KINDS)
        if make.__name__ in IN_THREE_FORMATS:
            write_others(folder, model, frozen, make.__name__)
    write_lite(folder, NOTES, ("float32",))


def keep(folder):
    kept = pathlib.Path(__file__).with_name("tensorflow_kept") / "lite"
    kept.mkdir(exist_ok=True)
    for name in KEPT:
        model = np.frombuffer((folder / f"{name}.tflite").read_bytes(), np.uint8)
        arrays = dict(np.load(folder / f"{name}.npz"))
        last = len(arrays["names"]) - 2
        arrays = {key: value for key, value in arrays.items() if not key.startswith("inside")} | {
            "names": arrays["names"][last:], "inside0": arrays[f"inside{last}"], "inside1": arrays[f"inside{last + 1}"]}
        np.savez_compressed(kept / f"{name}.npz", model=model, **arrays)


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(pathlib.Path(sys.argv[2]))
    else:
        write_all(pathlib.Path(sys.argv[1]))
