"""Run by a Python that has TensorFlow: small functions as frozen graphs and TFLite files in a folder, with TensorFlow's own
results. `tensorflow_operators.py FOLDER`; files that TFLite's converter refuses are left out."""

import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tensorflow_writing import arrays, write_graph, write_lite

FLOAT, INT, RAW, NN = tf.float32, tf.int32, tf.raw_ops, tf.nn
DICE = np.random.default_rng(0)
CASES = {}


def normal(*shape):
    return tf.constant(DICE.normal(size=shape).astype(np.float32))


def case(name, function, *shapes, dtype=FLOAT):
    CASES[name] = function, shapes, dtype


def unary(name, key="x"):
    return lambda x: getattr(RAW, name)(**{key: x})


def binary(name):
    return lambda x, y: getattr(RAW, name)(x=x, y=y)


def reduction(name):
    reduce = getattr(tf, f"reduce_{name}")
    return lambda x: (reduce(x, [1, 2]), reduce(x, -1, keepdims=True), reduce(x))


for each in "Abs Neg Exp Sin Cos Tanh Sigmoid Floor Ceil Round Rint Sign Erf Erfc Square Expm1 Tan Sinh Cosh Atan Asinh".split():
    case(each, unary(each), (2, 3, 4, 5))
for each in "Relu Relu6 Elu Selu Softplus Softsign".split():
    case(each, unary(each, "features"), (2, 3, 4, 5))
for each in "Log Sqrt Rsqrt Reciprocal Log1p Acosh".split():
    case(each, lambda x, each=each: getattr(RAW, each)(x=tf.abs(x) + 1.5), (2, 7))
for each in ("AddV2 Sub Mul RealDiv Maximum Minimum SquaredDifference FloorDiv FloorMod Greater GreaterEqual Less LessEqual "
             "Equal NotEqual DivNoNan").split():
    case(each, binary(each), (2, 3, 4), (3, 1))
for each in "FloorDiv FloorMod TruncateDiv TruncateMod".split():
    case(f"{each}_int", lambda x, y, each=each: getattr(RAW, each)(x=x - 5, y=y * 2 + 1 - 14), (4, 6), (4, 6), dtype=INT)
case("pow", lambda x: tf.pow(tf.abs(x) + 0.5, 2.3), (3, 4))
case("logical", lambda x, y: tf.cast(tf.logical_or((x > 0) & (y > 0), tf.logical_not(x < y)), FLOAT), (3, 4), (3, 4))
case("leaky_relu", lambda x: NN.leaky_relu(x, 0.3), (3, 4))
case("gelu", lambda x: (NN.gelu(x), NN.gelu(x, approximate=True)), (3, 4))
case("silu", NN.silu, (3, 4))
case("hard_swish", lambda x: x * NN.relu6(x + 3) / 6, (3, 4, 4, 2))
case("softmax", lambda x: (NN.softmax(x), NN.softmax(x, axis=1), NN.log_softmax(x)), (3, 4, 5))
for each in ("mean", "sum", "max", "min", "prod"):
    case(f"reduce_{each}", reduction(each), (2, 3, 4, 5))
case("all_any", lambda x: (tf.reduce_all(x > 0, 1), tf.reduce_any(x > 0, [0, 1], keepdims=True)), (3, 4))
case("arg", lambda x: (tf.argmax(x, 1), tf.argmin(x, -1, output_type=INT)), (3, 4, 5))
case("cumsum", lambda x: (tf.cumsum(x, 1), tf.cumsum(x, 0, exclusive=True, reverse=True)), (3, 4))
case("add_n", lambda x, y: tf.add_n([x, y, x]), (3, 4), (3, 4))
for padding in ("SAME", "VALID"):
    for step in (1, 2, 3):
        sizes = [7 * step, 5 * step] if padding == "SAME" else [6 * step + max(3, step), 4 * step + max(2, step)]
        ends = f"{padding}_{step}"
        case(f"conv_{ends}", lambda x, w=normal(3, 5, 4, 6), s=step, p=padding: NN.bias_add(NN.conv2d(x, w, s, p), w[0, 0, 0]),
             (1, 13, 12, 4))
        case(f"depthwise_{ends}", lambda x, w=normal(3, 3, 4, 2), s=step, p=padding: NN.depthwise_conv2d(x, w, [1, s, s, 1], p),
             (2, 13, 12, 4))
        case(f"average_{ends}", lambda x, s=step, p=padding: NN.avg_pool2d(x, [3, 2], s, p), (2, 13, 12, 4))
        case(f"most_{ends}", lambda x, s=step, p=padding: NN.max_pool2d(x - 5, [3, 2], s, p), (2, 13, 12, 4))
        case(f"transposed_{ends}", lambda x, w=normal(3, 2, 6, 4), s=step, p=padding, z=sizes:
             NN.conv2d_transpose(x, w, [1, *z, 6], s, p), (1, 7, 5, 4))
case("transposed_odd", lambda x, w=normal(3, 3, 6, 4): NN.conv2d_transpose(x, w, [1, 13, 9, 6], 2, "SAME"), (1, 7, 5, 4))
case("conv_dilated", lambda x, w=normal(3, 3, 4, 6): NN.conv2d(x, w, 1, "SAME", dilations=[2, 3]), (1, 13, 12, 4))
case("conv_padded", lambda x, w=normal(3, 3, 4, 6): NN.conv2d(x, w, 2, [[0, 0], [1, 2], [0, 3], [0, 0]]), (1, 13, 12, 4))
case("conv_groups", lambda x, w=normal(3, 3, 2, 6): NN.conv2d(x, w, 1, "SAME"), (1, 8, 8, 4))
case("conv_rows", lambda x, w=normal(3, 4, 6): NN.conv1d(x, w, 2, "SAME"), (2, 13, 4))
case("conv_rows_dilated", lambda x, w=normal(3, 4, 6): NN.convolution(x, w, 1, "SAME", dilations=[3]), (2, 14, 4))
case("conv_volume", lambda x, w=normal(3, 3, 2, 4, 6): NN.conv3d(x, w, [1, 2, 2, 2, 1], "SAME"), (1, 6, 7, 8, 4))
case("space_to_batch", lambda x: tf.space_to_batch(x, [2, 3], [[1, 1], [0, 2]]), (1, 6, 7, 2))
case("batch_to_space", lambda x: tf.batch_to_space(x, [2, 2], [[1, 0], [0, 1]]), (8, 3, 4, 2))
case("space_to_depth", lambda x: tf.nn.space_to_depth(x, 2), (2, 4, 6, 3))
case("depth_to_space", lambda x: tf.nn.depth_to_space(x, 2), (2, 4, 6, 12))
case("normalization", lambda x, p=normal(4, 5): RAW.FusedBatchNormV3(
    x=x, scale=p[0], offset=p[1], mean=p[2], variance=tf.abs(p[3]) + 0.5, epsilon=1e-2, is_training=False)[0], (2, 4, 4, 5))
case("products", lambda x, y: (tf.matmul(x, y), tf.matmul(x, x, transpose_b=True), tf.matmul(y, y, transpose_a=True)),
     (3, 4), (4, 5))
case("batch_products", lambda x, y: (tf.matmul(x, y), tf.matmul(x, x, transpose_b=True), tf.matmul(y, y, transpose_a=True)),
     (2, 3, 3, 4), (2, 3, 4, 5))
case("dense", lambda x, w=normal(5, 6): tf.tensordot(x, w, 1) + w[0], (2, 3, 5))
case("einsum", lambda x, y: tf.einsum("abc,cde->abde", x, y), (2, 3, 4), (4, 2, 3))
case("reshape", lambda x: (tf.reshape(x, [2, -1]), tf.reshape(x, tf.concat([tf.shape(x)[:1], [-1]], 0))), (2, 3, 4))
case("squeeze", lambda x: (tf.squeeze(x), tf.squeeze(x, [1]), tf.expand_dims(x, 2), tf.expand_dims(x, -1)), (2, 1, 3, 1))
case("strided_slice", lambda x: (x[1:, ::2, ..., 0], x[..., tf.newaxis, 1:3], x[:, -1], x[::-1, :, 3:0:-1],
                                 x[0, 1:2, tf.newaxis, ...]), (4, 5, 6, 3))
case("slice", lambda x: (tf.slice(x, [1, 0, 2], [2, -1, 3]), x[:, : tf.shape(x)[1] - 2, tf.shape(x)[0]:]), (4, 5, 6))
case("pad", lambda x: (tf.pad(x, [[0, 0], [1, 2], [3, 0]]), tf.pad(x, [[0, 0], [1, 2], [3, 0]], constant_values=1.5),
                       tf.pad(x, [[0, 0], [1, 2], [2, 1]], "REFLECT"), tf.pad(x, [[1, 2], [2, 1], [0, 3]], "SYMMETRIC")),
     (2, 3, 4))
case("concat", lambda x, y: (tf.concat([x, y, x], 1), tf.concat([x, y], -1)), (2, 3, 4), (2, 3, 4))
case("split", lambda x: tf.split(x, 3, 1) + tf.split(x, [1, -1, 2], -1), (2, 6, 7))
case("stack", lambda x, y: (tf.stack([x, y], 1), *tf.unstack(x, axis=-1)), (2, 3), (2, 3))
case("gather", lambda x: (tf.gather(x, [2, 0, 1], axis=1), tf.gather(x, [[1, 0], [0, 1]], axis=0),
                          tf.gather(x, [[1, 0], [0, 1]], axis=1, batch_dims=1), tf.gather_nd(x, [[0, 1], [1, 2]])), (2, 3, 4))
case("scatter", lambda x: tf.scatter_nd([[1], [3], [1]], x, [5, 4]), (3, 4))
case("scatter_update", lambda x, u=normal(2, 4): tf.tensor_scatter_nd_update(x, [[0], [2]], u), (3, 4))
for flags in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
    for sizes in ([9, 11], [3, 4]):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
            case(f"{op}_{''.join(flags)}_{sizes[0]}", lambda x, op=op, flags=flags, sizes=sizes: getattr(RAW, op)(
                images=x, size=sizes, **flags), (1, 5, 6, 3))
case("moves", lambda x: (tf.transpose(x, [2, 0, 1]), tf.tile(x, [1, 2, 3]), tf.reverse(x, [1, 2])), (2, 3, 4))
case("broadcast", lambda x: tf.broadcast_to(x, [4, 3, 5]), (3, 1))
case("one_hot", lambda x: (tf.one_hot(x, 5), tf.one_hot(x, 4, on_value=2.0, off_value=-1.0, axis=0)), (2, 3), dtype=INT)
case("top_k", lambda x: tuple(NN.top_k(x, 3)), (2, 7))
case("fill", lambda x: tf.fill([tf.shape(x)[0], 3], 2.5) * tf.ones_like(x) + tf.zeros_like(x), (2, 3))
case("range", lambda x: tf.cast(tf.range(tf.shape(x)[1]), FLOAT) * x, (2, 5))
case("where", lambda x: (tf.where(x > 0), tf.where(x > 0, x, -x * 3)), (3, 4))
case("select", lambda x: RAW.Select(condition=x[:, 0] > 0, x=x, y=-x), (4, 3))
case("cast", lambda x: (tf.cast(x * 10, INT), tf.cast(tf.cast(x * 3, tf.int64), FLOAT), tf.cast(x > 0, FLOAT)), (3, 4))
case("shape", lambda x: (tf.shape(x), tf.size(x), tf.rank(x)), (3, 4))
case("length", lambda x: NN.l2_normalize(x, -1), (3, 4))
case("response", lambda x: NN.local_response_normalization(x, 2, 1.5, 0.3, 0.6), (1, 3, 4, 7))
case("cond", lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), (3, 4))
case("while", lambda x: tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * 1.5 + tf.cast(i, FLOAT)), [0, x])[1], (3, 4))
case("prelu", lambda x, a=normal(4): NN.relu(x) - a * NN.relu(-x), (2, 3, 4))
case("fake", lambda x: tf.quantization.fake_quant_with_min_max_args(x, -2, 3), (3, 4))


def write(folder, name):
    function, shapes, dtype = CASES[name]
    specs = [tf.TensorSpec(shape, dtype, name=f"x{i}") for i, shape in enumerate(shapes)]
    concrete = tf.function(lambda *values: function(*values)).get_concrete_function(*specs)
    inputs = [DICE.normal(size=each) if dtype == FLOAT else DICE.integers(0, 5, each) for each in shapes]
    inputs = [each.astype(dtype.as_numpy_dtype) for each in inputs]
    outputs = [each.numpy() for each in tf.nest.flatten(concrete(*map(tf.constant, inputs)))]
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    np.savez(folder / f"{name}.npz", **arrays(inputs, outputs))
    write_graph(folder / f"{name}.pb", frozen.graph.as_graph_def(), frozen.inputs, frozen.outputs)
    write_lite(folder / f"{name}.tflite", frozen)


for each in CASES:
    write(pathlib.Path(sys.argv[1]), each)
