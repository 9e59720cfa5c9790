"""Generators of ai.onnx.ml."""

import numpy as np

from .draw import generator

ML = "ai.onnx.ml"
NUMBERS = ("float32", "float64", "int32", "int64")
POSTS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def rows(r, d, features, variable="T", most=4):
    array = r.array(d.dtype(variable, only=NUMBERS), [r.randint(1, most), features])
    d.input(array)
    return array


def numbers(r, count, low=-2.0, high=2.0):
    return [float(np.float32(x)) for x in r.numbers(count, low, high)]


@generator("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(r, d):
    shape = r.shape(1, 3, zero=0)
    d.input(r.array(d.dtype(only=(*NUMBERS, "string")), shape))
    d.input(r.integers([r.randint(1, 4)], 0, shape[-1] - 1))


@generator("Binarizer", domain=ML)
def binarizer(r, d):
    d.input(r.array(d.dtype(only=NUMBERS), r.shape(1, 3)))
    d.maybe_attribute(threshold=0.5)


@generator("CategoryMapper", domain=ML)
def category_mapper(r, d):
    strings = r.maybe()
    d.input(np.array([r.choice(["a", "b", "?"]) for _ in range(4)], object) if strings else r.integers([4], 0, 3))
    d.attribute(cats_strings=["a", "b", "c"], cats_int64s=[0, 1, 2])
    d.maybe_attribute(default_int64=-7, default_string="none")


@generator("FeatureVectorizer", domain=ML)
def feature_vectorizer(r, d):
    n = r.randint(1, 3)
    sizes = [r.randint(1, 3) for _ in range(r.randint(1, 3))]
    dtype = d.dtype("T1", only=NUMBERS)
    for size in sizes:
        d.input(r.array(dtype, [n, size]))
    d.attribute(inputdimensions=sizes)


@generator("Imputer", domain=ML)
def imputer(r, d):
    dtype = d.dtype(only=("float32", "int64"))
    array = r.array(dtype, [r.randint(1, 3), 3])
    if dtype == "float32":
        array[0, 1] = np.nan
        d.attribute(imputed_value_floats=numbers(r, r.choice([1, 3])), replaced_value_float=float("nan"))
    else:
        d.attribute(imputed_value_int64s=[7] if r.maybe() else [7, 8, 9], replaced_value_int64=1)
    d.input(array)


@generator("LabelEncoder", domain=ML)
def label_encoder(r, d):
    shape = r.shape(0, 3)
    words = np.array([*(r.choice(["a", "b", "?"]) for _ in range(int(np.prod(shape)))), None], object)[:-1]
    if d.version < 2:
        d.input(words.reshape(shape))
        d.attribute(classes_strings=["a", "b"])
        return d.maybe_attribute(default_int64=-3)
    choice = r.randint(0, 3)
    if choice == 0:
        d.input(words.reshape(shape))
        d.attribute(keys_strings=["a", "b"], values_int64s=[4, 5])
        return d.maybe_attribute(default_int64=-3)
    if choice == 1:
        d.input(words.reshape(shape))
        d.attribute(keys_strings=["a", "b"], values_floats=[0.5, 1.5])
        return d.maybe_attribute(default_float=-3.0)
    if choice == 2:
        d.input(r.integers(shape, 0, 3))
        d.attribute(keys_int64s=[0, 1, 2], values_strings=["x", "y", "z"])
        return d.maybe_attribute(default_string="none")
    d.input(r.integers(shape, 0, 3, "float32"))
    d.attribute(keys_floats=[0.0, 1.0], values_floats=[7.5, 8.5])
    return d.maybe_attribute(default_float=-3.0)


@generator("LinearClassifier", domain=ML)
def linear_classifier(r, d):
    features, classes = r.randint(1, 4), r.randint(2, 4)
    rows(r, d, features, "T1")
    d.attribute(coefficients=numbers(r, features * classes), intercepts=numbers(r, classes),
                post_transform=r.choice(POSTS))
    if r.maybe():
        d.attribute(classlabels_ints=list(range(10, 10 + classes)))
    else:
        d.attribute(classlabels_strings=[f"c{i}" for i in range(classes)])
    d.outputs = 2
    d.near(64, terms=32, scale=8)


@generator("LinearRegressor", domain=ML)
def linear_regressor(r, d):
    features, targets = r.randint(1, 4), r.randint(1, 3)
    d.input(r.array("float32", [r.randint(1, 4), features]))
    d.attribute(coefficients=numbers(r, features * targets), targets=targets,
                post_transform=r.choice(["NONE", "NONE", "SOFTMAX", "LOGISTIC"]))
    d.maybe_attribute(intercepts=numbers(r, targets))
    d.near(64, terms=32, scale=8)


@generator("Normalizer", domain=ML)
def normalizer(r, d):
    rows(r, d, r.randint(1, 4))
    d.attribute(norm=r.choice(["MAX", "L1", "L2"]))
    d.near(16)


@generator("OneHotEncoder", domain=ML)
def one_hot_encoder(r, d):
    if r.maybe(0.4):
        d.input(np.array([r.choice(["a", "b", "?"]) for _ in range(4)], object))
        d.attribute(cats_strings=["a", "b"])
    else:
        d.input(r.array(d.dtype(only=NUMBERS), r.shape(1, 3), 0, 3))
        if d.inputs[0].dtype.kind == "f":
            d.inputs[0] = np.floor(d.inputs[0])
        d.attribute(cats_int64s=[0, 1, 2, 3])
    d.maybe_attribute(zeros=1)


@generator("Scaler", domain=ML)
def scaler(r, d):
    features = r.randint(1, 4)
    rows(r, d, features)
    d.attribute(offset=numbers(r, r.choice([1, features])))
    d.attribute(scale=numbers(r, len(d.attributes["offset"])))
    d.near(8, terms=2, scale=8)


def kernel(r, d):
    d.attribute(kernel_type=r.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]), kernel_params=[0.5, 0.25, 2.0])
    d.near(256, terms=256, scale=16)


@generator("SVMClassifier", domain=ML)
def svm_classifier(r, d):
    features, classes = r.randint(1, 3), r.randint(2, 3)
    rows(r, d, features, "T1")
    kernel(r, d)
    counts = [r.randint(1, 2) for _ in range(classes)]
    vectors, pairs = sum(counts), classes * (classes - 1) // 2
    d.attribute(support_vectors=numbers(r, vectors * features), coefficients=numbers(r, vectors * (classes - 1)),
                vectors_per_class=counts, rho=numbers(r, pairs))
    if r.maybe(0.3):
        d.attribute(prob_a=numbers(r, pairs), prob_b=numbers(r, pairs))
    if r.maybe():
        d.attribute(classlabels_ints=list(range(classes)))
    else:
        d.attribute(classlabels_strings=[f"c{i}" for i in range(classes)])
    d.maybe_attribute(0.3, post_transform=r.choice(POSTS))
    d.outputs = 2


@generator("SVMRegressor", domain=ML)
def svm_regressor(r, d):
    features, vectors = r.randint(1, 3), r.randint(1, 4)
    d.input(r.array("float32", [r.randint(1, 4), features]))
    kernel(r, d)
    d.attribute(support_vectors=numbers(r, vectors * features), coefficients=numbers(r, vectors), n_supports=vectors,
                rho=numbers(r, 1))


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def tree_nodes(r, trees):
    """Node attributes of trees with three inner nodes and four leaves, and the (tree, node) of the leaves."""
    ids, nodes, modes, yes, no, leaves = [], [], [], [], [], []
    for tree in range(trees):
        ids += [tree] * 7
        nodes += range(7)
        modes += [r.choice(MODES) for _ in range(3)] + ["LEAF"] * 4
        yes += [1, 3, 5, 0, 0, 0, 0]
        no += [2, 4, 6, 0, 0, 0, 0]
        leaves += [(tree, node) for node in range(3, 7)]
    count = len(ids)
    return {"nodes_treeids": ids, "nodes_nodeids": nodes, "nodes_modes": modes, "nodes_truenodeids": yes,
            "nodes_falsenodeids": no, "nodes_featureids": [r.randint(0, 2) for _ in range(count)],
            "nodes_values": [float(r.randint(-2, 2)) for _ in range(count)],
            "nodes_missing_value_tracks_true": [r.randint(0, 1) for _ in range(count)]}, leaves


@generator("TreeEnsembleClassifier TreeEnsembleRegressor", domain=ML)
def tree_ensemble_old(r, d):
    array = r.array(d.dtype("T1" if d.op.endswith("fier") else "T", only=NUMBERS), [r.randint(1, 5), 3])
    if array.dtype.kind == "f" and r.maybe(0.3):
        array[0, 0] = np.nan
    d.input(array)
    attributes, leaves = tree_nodes(r, r.randint(1, 3))
    d.attribute(**attributes)
    width = r.randint(3, 4) if d.op.endswith("fier") else r.randint(1, 2)  # of two labels, ONNX Runtime gives 0 or 1
    owner = "class" if d.op.endswith("fier") else "target"
    # Every leaf has a weight for every class: without one, ONNX Runtime leaves base values and labels out.
    places = [(tree, node, index) for tree, node in leaves for index in range(width)]
    for key, column in zip(("treeids", "nodeids", "ids"), zip(*places)):
        d.attribute(**{f"{owner}_{key}": list(column)})
    d.attribute(**{f"{owner}_weights": numbers(r, len(places))})
    if owner == "class":
        labels = list(range(5, 5 + width))
        d.attribute(classlabels_int64s=labels) if r.maybe() else d.attribute(classlabels_strings=list(map(str, labels)))
        d.outputs = 2
    else:
        d.attribute(n_targets=width)
        d.maybe_attribute(aggregate_function=r.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    d.maybe_attribute(0.4, post_transform=r.choice(POSTS), base_values=numbers(r, width))
    d.near(64, terms=16, scale=4)


@generator("TreeEnsemble", domain=ML)
def tree_ensemble(r, d):
    d.input(r.array("float32", [r.randint(1, 5), 3]))
    trees = 1
    real = np.float32
    d.attribute(nodes_splits=np.array(numbers(r, 3 * trees), real),
                nodes_featureids=[r.randint(0, 2) for _ in range(3)],
                nodes_modes=np.array([r.randint(0, 5) for _ in range(3)], np.uint8),
                nodes_truenodeids=[1, 0, 2], nodes_falsenodeids=[2, 1, 3], nodes_trueleafs=[0, 1, 1],
                nodes_falseleafs=[0, 1, 1], tree_roots=[0], n_targets=2,
                leaf_targetids=[r.randint(0, 1) for _ in range(4)], leaf_weights=np.array(numbers(r, 4), real),
                aggregate_function=r.randint(0, 3), post_transform=r.randint(0, 1))
    d.near(16)


@generator("ZipMap", domain=ML)
def zip_map(r, d):
    classes = r.randint(1, 3)
    d.input(r.array("float32", [r.randint(1, 3), classes]))
    if r.maybe():
        d.attribute(classlabels_int64s=list(range(classes)))
    else:
        d.attribute(classlabels_strings=[f"c{i}" for i in range(classes)])
