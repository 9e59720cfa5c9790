"""Runs models with the user's TensorFlow, for host.py: what a worker of the program answers about a session.

TFLite files need an interpreter alone: that of TensorFlow, ai_edge_litert or tflite_runtime.
"""

import collections
import contextlib
import importlib
import os
import sys
import tempfile
import time
import warnings

from host_messages import DONE, NUMBERS, PREPARED, RAN, UNSUPPORTED, USAGE, VALUE, Fault, Writer, load_numpy, summary, \
    to_numpy
from host_tensorrt import ABSENT, add_findings, write_ports

INSTALL = "`pip install tensorflow` brings it; for TFLite files `pip install ai-edge-litert` is enough"
NO_OUTPUTS = ("NoOp", "Assert", "Placeholder", "Const", "_Retval", "SaveV2", "VarHandleOp", "PlaceholderWithDefault")
STRINGS = "string", "bytes_", "object", "object_"
KERAS_FILES = b"PK\x03\x04", b"\x89HDF"
LITE = "ai_edge_litert.interpreter", "tflite_runtime.interpreter"


@contextlib.contextmanager
def hidden_log():
    """Libraries that begin say so to standard error, before they ask how much of that is wanted."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def import_quietly(name):
    """A module; None: it is not installed."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        with hidden_log():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or name.split(".")[0] != error.name.split(".")[0]:
            raise
        return None


def load_tensorflow():
    module = import_quietly("tensorflow")
    if module is None:
        raise Fault(UNSUPPORTED, f"the Python `{sys.executable}` has no package tensorflow; {INSTALL}")
    return module


def load_interpreter():
    """The module of the interpreter, and what it is from."""
    for name in LITE:
        module = import_quietly(name)
        if module is not None:
            return module, name.split(".", maxsplit=1)[0]
    tensorflow = import_quietly("tensorflow")
    if tensorflow is not None:
        module = importlib.import_module("tensorflow.lite.python.interpreter")
        return module, f"TensorFlow {tensorflow.__version__}"
    raise Fault(UNSUPPORTED, f"the Python `{sys.executable}` has no interpreter of TFLite files; {INSTALL}")


def port(name, dtype, shape):
    number = NUMBERS.get(str(dtype))
    if str(dtype) in STRINGS:
        raise Fault(UNSUPPORTED, f"`{name}` is of strings, which are not compared: choose outputs, and inputs, of numbers")
    if number is None:
        raise Fault(UNSUPPORTED, f"`{name}` is of type {dtype}, which ONNX does not have")
    return name, number, tuple(-1 if size is None else int(size) for size in shape), False


def chosen_of(outputs, names):
    """Those of named outputs that are chosen, in the order of the choice; all, if none is."""
    missing = [name for name in names if name not in outputs]
    if missing:
        raise Fault(USAGE, f"the model has no output `{missing[0]}`, but: {', '.join(outputs)}")
    return {name: outputs[name] for name in names} if names else outputs


def is_number(dtype):
    return str(dtype) in NUMBERS


class Lite:
    """A TFLite file and its interpreter."""

    def __init__(self, request):
        module, self.title = load_interpreter()
        settings = {"model_path": request.path, "num_threads": request.threads or None}
        if request.values:  # plain kernels keep what they compute, those that work on several operators do not
            settings |= {"experimental_preserve_all_tensors": True,
                         "experimental_op_resolver_type": module.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about packages that will be made in other places
                self.interpreter = module.Interpreter(**settings)
        except ValueError as error:
            raise Fault(USAGE, f"TFLite cannot load `{request.path}`: {summary(error)}") from error
        self.inputs = {detail["name"]: detail for detail in self.interpreter.get_input_details()}
        self.outputs = {detail["name"]: detail for detail in self.interpreter.get_output_details()}
        signature = request.last("signature")
        if signature is not None:
            self.rename(signature)
        self.outputs = chosen_of(self.outputs, request.settings.get("tf-outputs") or [])
        if request.last("save-pb") or request.last("freeze-graph"):
            raise Fault(USAGE, "a TFLite file is no graph that could be frozen or saved")
        self.inner = self.inner_of(request.values)

    def inner_of(self, names):
        """Values inside, by their names; a name that several tensors have tells none."""
        details = self.interpreter.get_tensor_details() if names else []
        count = collections.Counter(detail["name"] for detail in details)
        return {detail["name"]: detail for detail in details
                if detail["name"] in names and count[detail["name"]] == 1 and is_number(detail["dtype"].__name__)}

    def rename(self, signature):
        known = self.interpreter.get_signature_list()
        if signature not in known:
            raise Fault(USAGE, f"the model has no signature `{signature}`, but: {', '.join(known)}")
        runner = self.interpreter.get_signature_runner(signature)
        self.inputs, self.outputs = runner.get_input_details(), runner.get_output_details()

    def ports(self):
        return [[port(name, detail["dtype"].__name__, detail.get("shape_signature", detail["shape"]))
                 for name, detail in each.items()] for each in (self.inputs, self.outputs)]

    def run(self, feeds, names):
        for name, value in feeds.items():
            detail = self.inputs[name]
            if tuple(detail["shape"]) != value.shape:
                self.interpreter.resize_tensor_input(detail["index"], value.shape)
        self.interpreter.allocate_tensors()
        for name, value in feeds.items():
            self.interpreter.set_tensor(self.inputs[name]["index"], value)
        start = time.perf_counter()
        self.interpreter.invoke()
        seconds = time.perf_counter() - start
        known = self.inner | self.outputs
        return [self.interpreter.get_tensor(known[name]["index"]) for name in names], seconds


def inner_of(graph, names):
    """Values of a graph that are numbers, by their names."""
    known = {output.name: output for op in graph.get_operations() for output in op.outputs} if names else {}
    return {name: known[name] for name in names if name in known and is_number(known[name].dtype.base_dtype.name)}


class Graph:
    """A graph of the first generation: frozen, or with a checkpoint."""

    def __init__(self, request):
        self.tf = load_tensorflow()
        self.title = f"TensorFlow {self.tf.__version__}"
        self.v1 = self.tf.compat.v1
        self.graph = self.v1.Graph()
        with self.graph.as_default():
            self.session = self.v1.Session(graph=self.graph)
            self.load(request)
        self.inputs = [op.outputs[0] for op in self.graph.get_operations() if op.type == "Placeholder"]
        self.outputs = self.chosen(request.settings.get("tf-outputs") or [])
        if request.last("freeze-graph") or request.last("save-pb"):
            self.freeze(request)
        self.inner = inner_of(self.graph, request.values)

    def load(self, request):
        if os.path.isdir(request.path):
            return self.load_checkpoint(request)
        definition = self.v1.GraphDef()
        try:
            definition.ParseFromString(request.read(request.path))
        except Exception as error:
            raise Fault(USAGE, f"`{request.path}` is no frozen graph, or is damaged: {summary(error)}") from error
        self.v1.import_graph_def(definition, name="")

    def load_checkpoint(self, request):
        name = request.last("ckpt")
        prefix = os.path.join(request.path, name) if name else self.tf.train.latest_checkpoint(request.path)
        if not prefix or not os.path.isfile(prefix + ".meta"):
            raise Fault(USAGE, f"`{request.path}` has no checkpoint{f' `{name}`' if name else ''} with its graph (.meta)")
        self.v1.train.import_meta_graph(prefix + ".meta", clear_devices=True).restore(self.session, prefix)

    def chosen(self, names):
        try:
            named = [self.graph.get_tensor_by_name(name if ":" in name else f"{name}:0") for name in names]
        except (KeyError, ValueError) as error:
            raise Fault(USAGE, f"the graph has no such output: {summary(error)}") from error
        if named:
            return named
        return [op.outputs[0] for op in self.graph.get_operations() if op.outputs and op.type not in NO_OUTPUTS and
                not any(output.consumers() for output in op.outputs)]

    def freeze(self, request):
        names = [tensor.op.name for tensor in self.outputs]
        frozen = self.v1.graph_util.convert_variables_to_constants(self.session, self.graph.as_graph_def(), names)
        if request.last("save-pb"):
            request.save("save-pb", frozen.SerializeToString())

    def ports(self):
        return [[port(tensor.name, tensor.dtype.base_dtype.name, tensor.shape if tensor.shape.rank is not None else ())
                 for tensor in each] for each in (self.inputs, self.outputs)]

    def run(self, feeds, names):
        start = time.perf_counter()
        values = self.session.run(names, feeds)
        return values, time.perf_counter() - start


class Saved:
    """A SavedModel, by one of its signatures."""

    def __init__(self, request):
        self.tf = load_tensorflow()
        self.title = f"TensorFlow {self.tf.__version__}"
        try:
            self.model = self.tf.saved_model.load(request.path)
        except Exception as error:
            raise Fault(USAGE, f"TensorFlow cannot load `{request.path}`: {summary(error)}") from error
        known = list(self.model.signatures)
        wanted = request.last("signature") or ("serving_default" if "serving_default" in known else "".join(known[:1]))
        if wanted not in known:
            raise Fault(USAGE, f"the model has no signature `{wanted}`, but: {', '.join(known)}")
        self.function = self.model.signatures[wanted]
        self.outputs = chosen_of(self.function.structured_outputs, request.settings.get("tf-outputs") or [])
        if request.last("freeze-graph") or request.last("save-pb"):
            self.freeze(request)
        self.inner = self.inner_of(request.values)

    def freeze(self, request):
        from tensorflow.python.framework import convert_to_constants
        frozen = convert_to_constants.convert_variables_to_constants_v2(self.function)
        if request.last("save-pb"):
            request.save("save-pb", frozen.graph.as_graph_def().SerializeToString())

    def inner_of(self, names):
        """Values of the graph that has all functions in the place of their calls, by their names."""
        if not names:
            return {}
        from tensorflow.python.framework import convert_to_constants
        frozen = convert_to_constants.convert_variables_to_constants_v2(self.function, lower_control_flow=False)
        self.v1 = self.tf.compat.v1.Session(graph=frozen.graph)
        flat = self.tf.nest.flatten
        self.places = {name: tensor for part, tensors in ((self.function.structured_input_signature[1], frozen.inputs),
                                                          (self.function.structured_outputs, frozen.outputs))
                       for name, tensor in zip(sorted(part), flat(tensors))}
        return inner_of(frozen.graph, names)

    def ports(self):
        inputs = self.function.structured_input_signature[1]
        return [[port(name, spec.dtype.name, spec.shape if spec.shape.rank is not None else ())
                 for name, spec in sorted(each.items())] for each in (inputs, self.outputs)]

    def run(self, feeds, names):
        if self.inner:
            known = self.places | self.inner
            start = time.perf_counter()
            values = self.v1.run([known[name] for name in names], {known[name].name: value for name, value in feeds.items()})
            return values, time.perf_counter() - start
        values = {name: self.tf.constant(value) for name, value in feeds.items()}
        start = time.perf_counter()
        found = self.function(**values)
        results = [found[name].numpy() for name in names]
        return results, time.perf_counter() - start


class Keras(Saved):
    """A file of Keras, as the SavedModel that Keras makes of it."""

    def __init__(self, request):
        keras = load_tensorflow().keras
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.export(keras.models.load_model(request.path, compile=False), folder)
            except Exception as error:
                raise Fault(USAGE, f"Keras cannot load `{request.path}`: {summary(error)}") from error
            request.path = folder
            super().__init__(request)

    @staticmethod
    def export(model, folder):
        with contextlib.redirect_stdout(sys.stderr):
            model.export(folder)


def open_model(request):
    if os.path.basename(request.path) == "saved_model.pb":
        request.path = os.path.dirname(request.path)
    if os.path.isfile(os.path.join(request.path, "saved_model.pb")) or \
            os.path.isfile(os.path.join(request.path, "saved_model.pbtxt")):
        return Saved(request)
    if os.path.isfile(request.path):
        with open(request.path, "rb") as file:
            begin = file.read(8)
        if begin[4:] == b"TFL3":
            return Lite(request)
        if begin[:4] in KERAS_FILES:
            return Keras(request)
    return Graph(request)


class Session:
    def __init__(self, request):
        self.numpy = load_numpy()
        self.wanted = request.values
        self.model = open_model(request)

    def prepared(self):
        message = Writer(PREPARED).text(self.model.title)
        for ports in self.model.ports():
            write_ports(message, ports)
        missing = [name for name in self.wanted if name not in self.model.inner]
        message.number(len(missing))
        for name in missing:
            message.text(name).number(ABSENT).text("").text("TensorFlow has no such value")
        no_providers = 0  # of nodes
        return add_findings(message.number(no_providers), [])

    def make_context(self):
        return Writer(DONE)

    def run(self, number, feeds, values):
        """Messages of the values, and one about the run."""
        arrays = {name: to_numpy(dtype, shape, memoryview(self.numpy.ascontiguousarray(flat)), 0, flat.nbytes)
                  for name, (dtype, shape, flat) in feeds.items()}
        results, seconds = self.model.run(arrays, values)
        messages = [Writer(VALUE).text(name).datum(self.numpy.asarray(value), name)
                    for name, value in zip(values, results)]
        return [*messages, Writer(RAN).real(seconds).number(0)]
