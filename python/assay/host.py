"""Runs functions of users' scripts for the program `assay`, which starts it with a socket as descriptor SOCKET.

Needs Python 3.8, and numpy for arrays.
"""

import collections.abc
import importlib.machinery
import importlib.util
import inspect
import json
import numbers
import os
import re
import signal
import sys
import traceback

import host_tensorflow
import host_tensorrt
from host_messages import (COMPARE, DATA, DONE, END, LIST, LOAD_DATA, MAKE_EXECUTION, MATCH, MATCHED, NEXT_DATA,
                           POSTPROCESS, PREPARE, REFUSE, REPLACE, REPLACED, RUN, SCORE, SCORED, UNSUPPORTED, USAGE,
                           VERDICTS, Connection, Fault, Writer, failure, load_numpy, summary, type_name)

REPLACER = "replace_with_plugin"
OF_TENSORRT = (PREPARE, MAKE_EXECUTION, RUN, LIST, REFUSE)


def is_ours(frame):
    return frame.f_code.co_filename == "<assay>" or frame.f_code.co_filename.startswith("<frozen importlib")


def user_traceback(error):
    where = error.__traceback__
    while where is not None and is_ours(where.tb_frame):
        where = where.tb_next
    return "".join(traceback.format_exception(type(error), error, where))


def place_in(path, error):
    full = os.path.abspath(path)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == full]
    if isinstance(error, SyntaxError) and error.filename == full:
        lines.append(error.lineno)
    return f" in line {lines[-1]}" if lines else ""


class Scripts:
    """Scripts by their path; each is imported once."""

    def __init__(self):
        self.modules = {}

    def symbol(self, path, name):
        module = self.module(path)
        if not hasattr(module, name):
            raise Fault(USAGE, f"the script `{path}` has no `{name}`")
        symbol = getattr(module, name)
        return symbol() if inspect.isclass(symbol) else symbol

    def function(self, path, name):
        function = self.symbol(path, name)
        if not callable(function):
            raise Fault(USAGE, f"`{name}` of the script `{path}` is a `{type_name(function)}`, expected a function")
        return function

    def module(self, path):
        if not os.path.isfile(path):
            raise Fault(USAGE, f"there is no script `{path}`")
        full = os.path.abspath(path)
        if full not in self.modules:
            self.modules[full] = self.load(full)
        return self.modules[full]

    def load(self, full):
        load_numpy()  # before a neighbour of the script can go by its name
        name = re.sub(r"\.py$", "", os.path.basename(full))
        sys.path.insert(0, os.path.dirname(full))
        loader = importlib.machinery.SourceFileLoader(name, full)
        module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, full, loader=loader))
        is_new = sys.modules.setdefault(name, module) is module
        try:
            loader.exec_module(module)
        except BaseException:
            if is_new:
                del sys.modules[name]
            raise
        return module


class Host:
    def __init__(self):
        self.scripts, self.loaders, self.path = Scripts(), [], ""
        self.session, self.library = None, "TensorRT"  # of the user's TensorRT or TensorFlow

    def answer(self, kind, reader):
        handlers = {LOAD_DATA: self.load_data, NEXT_DATA: self.next_data, POSTPROCESS: self.postprocess,
                    COMPARE: self.compare, MATCH: self.match, REPLACE: self.replace, PREPARE: self.prepare,
                    MAKE_EXECUTION: lambda reader: self.session.make_context(), RUN: self.run, LIST: self.list,
                    REFUSE: self.refuse, SCORE: self.score}
        try:
            return handlers[kind](reader)
        except Fault as fault:
            return failure(fault)
        except BaseException as error:  # SystemExit too: a script must not end the process
            if kind in OF_TENSORRT:
                return failure(Fault(UNSUPPORTED, f"{self.library} failed: {summary(error)}", user_traceback(error)))
            line = f"the script `{self.path}` failed{place_in(self.path, error)}: {summary(error)}"
            return failure(Fault(USAGE, line, user_traceback(error)))

    def prepare(self, reader):
        request = host_tensorrt.Request(reader)
        self.library = "TensorFlow" if request.backend == "tf" else "TensorRT"
        self.session = (host_tensorflow if request.backend == "tf" else host_tensorrt).Session(request)
        return self.session.prepared()

    def run(self, reader):
        return self.session.run(reader.number(), reader.raw_data(), reader.texts())

    def list(self, reader):
        """The layers of an engine, or of the network that is made of a model."""
        request = host_tensorrt.Request(reader)
        return host_tensorrt.Session(request).listed() if request.is_plan else host_tensorrt.list_network(request)

    def refuse(self, reader):
        return host_tensorrt.list_refusals(host_tensorrt.Request(reader))

    def load_data(self, reader):
        self.path, name = reader.text(), reader.text()
        loader = self.scripts.symbol(self.path, name)
        values = loader() if callable(loader) else loader
        if isinstance(values, (str, collections.abc.Mapping)) or not (
                hasattr(values, "__iter__") or hasattr(values, "__getitem__")):
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` gave a `{type_name(values)}`, expected a list "
                        "or generator of dicts of arrays by name")
        self.loaders.append([iter(values), 0, self.path, name])
        return Writer(DONE).number(len(self.loaders) - 1)

    def next_data(self, reader):
        loader = self.loaders[reader.number()]
        values, iteration, self.path, name = loader
        try:
            feeds = next(values)
        except StopIteration:
            return Writer(END)
        if not isinstance(feeds, collections.abc.Mapping):
            raise Fault(USAGE, f"iteration {iteration} of `{name}` of the script `{self.path}` is a "
                        f"`{type_name(feeds)}`, expected a dict of arrays by name")
        loader[1] += 1
        return self.data(feeds, name)

    def postprocess(self, reader):
        self.path, name = reader.text(), reader.text()
        outputs = self.scripts.function(self.path, name)(reader.result())
        self.require_mapping(outputs, name, "outputs")
        return self.data(outputs, name)

    def compare(self, reader):
        self.path, name = reader.text(), reader.text()
        results = reader.result(), reader.result()
        outputs = [list(result) for result in results]  # the function may change them
        verdicts = self.scripts.function(self.path, name)(*results)
        self.require_mapping(verdicts, name, "verdicts")
        self.require_outputs(verdicts, name, *outputs)
        writer = Writer(VERDICTS).number(len(verdicts))
        for output, passed in verdicts.items():
            writer.text(output).number(self.verdict(passed, name, output))
        return writer

    def score(self, reader):
        """What a metric says of one sample: a number, or hits and trials."""
        self.path, name = reader.text(), reader.text()
        given = self.scripts.function(self.path, name)(reader.data(), reader.data())
        try:
            pair = [float(value) for value in given] if isinstance(given, (tuple, list)) else [float(given), 1.0]
        except (TypeError, ValueError):
            pair = []
        if len(pair) != 2:
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` gave a `{type_name(given)}`, expected a number or "
                        "a pair of hits and trials")
        return Writer(SCORED).real(pair[0]).real(pair[1])

    def require_outputs(self, verdicts, name, names_a, names_b):
        """Every key is an output, and every output that both results have is a key: nothing else was compared."""
        unknown = [key for key in verdicts if key not in names_a and key not in names_b]
        missing = [key for key in names_a if key in names_b and key not in verdicts]
        if unknown:
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` judged `{unknown[0]}`, which is no output")
        if missing:
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` gave no verdict about the output `{missing[0]}`")

    def verdict(self, value, name, output):
        """A verdict may be any object that has a truth, as that of the peer; numbers, None and arrays are mistakes."""
        is_truth = type(value).__name__ in ("bool", "bool_") or (
            hasattr(type(value), "__bool__") and value is not None
            and not isinstance(value, numbers.Number) and not hasattr(value, "__array__"))
        if not is_truth:
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` gave a `{type_name(value)}` for the output "
                        f"`{output}`, expected a bool")
        return bool(value)

    def match(self, reader):
        """The plugin of a script and the subgraphs that it matches, as JSON."""
        self.path, model = reader.text(), reader.text()
        onnx, surgeon = graph_packages()
        graph = surgeon.import_onnx(onnx.load(model))
        instances = self.scripts.function(self.path, "get_matching_subgraphs")(graph)
        plugin = self.scripts.function(self.path, "get_plugin_metadata")()
        self.require_mapping(plugin, "get_plugin_metadata", "texts")
        plugin = {key: plugin[key] for key in ("name", "op", "domain") if key in plugin}
        plugin["instances"] = [{key: list(value) if key != "attributes" else value for key, value in instance.items()}
                               for instance in instances]
        return Writer(MATCHED).text(json.dumps(plugin, default=lambda value: value.tolist()))

    def replace(self, reader):
        """Has a script replace the instances of its plugin in the model of a file, and writes another. Gives whether
        the script can, and for each instance why it is left as it is, if it is."""
        self.path, source, target = reader.text(), reader.text(), reader.text()
        plugin = json.loads(reader.text())
        if not hasattr(self.scripts.module(self.path), REPLACER):
            return Writer(REPLACED).number(False).number(0)
        function = self.scripts.function(self.path, REPLACER)
        onnx, surgeon = graph_packages()
        model = onnx.load(source, load_external_data=False)
        read_weights_from(os.path.dirname(source), onnx, surgeon)
        graph = surgeon.import_onnx(model)
        tensors = graph.tensors()
        tensors[""] = surgeon.Variable.empty()  # an operand that is left out
        writer = Writer(REPLACED).number(True).number(len(plugin["instances"]))
        for instance in plugin["instances"]:
            writer.text(replace_one(function, graph, tensors, plugin["op"], instance))
        try:
            edited = surgeon.export_onnx(graph)
        except Exception as error:
            line = f"what the script `{self.path}` made cannot be exported by onnx-graphsurgeon: {summary(error)}"
            raise Fault(USAGE, line, user_traceback(error)) from None
        save_edited(onnx, model, edited, target)
        return writer

    def require_mapping(self, value, name, what):
        if not isinstance(value, collections.abc.Mapping):
            raise Fault(USAGE, f"`{name}` of the script `{self.path}` gave a `{type_name(value)}`, expected a dict of "
                        f"{what} by name")

    def data(self, values, name):
        try:
            return Writer(DATA).data(values)
        except Fault as fault:
            fault.line = f"`{name}` of the script `{self.path}`: {fault.line}"
            raise


def graph_packages():
    try:
        import onnx
        import onnx_graphsurgeon
    except ModuleNotFoundError as error:
        raise Fault(UNSUPPORTED, f"the Python `{sys.executable}` has no package {error.name}, which plugin scripts need "
                    "(see `--python`)") from None
    logger = onnx_graphsurgeon.logger.G_LOGGER
    logger.severity = logger.ERROR  # it says a line for each node that it looks at
    return onnx, onnx_graphsurgeon


def read_weights_from(folder, onnx, surgeon):
    """Weights in files stay there until somebody asks for their values."""
    numpy = load_numpy()

    def load(values):
        tensor = onnx.TensorProto()
        tensor.CopyFrom(values.tensor)  # as the values come into it
        return numpy.array(onnx.numpy_helper.to_array(tensor, folder))

    surgeon.ir.tensor.LazyValues.load = load


def replace_one(function, graph, tensors, op, instance):
    names = instance["inputs"] + instance["outputs"]
    missing = [name for name in names if name not in tensors]
    if missing:
        return f"`{missing[0]}` is not in the main graph; another replacement may have taken it"
    inputs, outputs = ([tensors[name] for name in instance[key]] for key in ("inputs", "outputs"))
    value = function(graph=graph, input_tensors=inputs, output_tensors=outputs, attrs=instance["attributes"], op=op)
    return "" if value else f"its function {REPLACER} gave `{value}`, not what stands for it"


def save_edited(onnx, model, edited, path):
    """Saves `edited`, which was made of `model`, with what ONNX GraphSurgeon does not know of it."""
    keep_of_nodes(model.graph.node, edited.graph.node)
    for tensor in edited.graph.initializer:
        if tensor.HasField("raw_data"):
            tensor.ClearField("data_location")  # it was in a file before its values were asked for
    weights = [{tensor.name for tensor in graph.initializer} for graph in (model.graph, edited.graph)]
    inputs = {value.name for value in edited.graph.input}
    names = weights[0] & weights[1] - inputs
    edited.graph.input.extend(value for value in model.graph.input if value.name in names)  # those with a default
    for field in ("opset_import", "functions"):
        model.ClearField(field)
    for field in ("node", "initializer", "sparse_initializer", "input", "output", "value_info"):
        model.graph.ClearField(field)
    model.MergeFrom(edited)
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=1024)


def keep_of_nodes(nodes, edited):
    """Gives nodes that are still there their documentation, metadata and whatever else there is. Empties `nodes`."""
    known = {(node.op_type, *node.output): node for node in nodes}
    for node in nodes:
        for field in ("op_type", "domain", "name", "input", "output", "attribute"):
            node.ClearField(field)
    for node in edited:
        old = known.get((node.op_type, *node.output))
        if old is not None:
            node.MergeFrom(old)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # a script may have replaced or closed it
            pass


def main(descriptor):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.reconfigure(line_buffering=True)
    connection, host = Connection(descriptor), Host()
    while True:
        message = connection.receive()
        if message is None:
            return
        reply = host.answer(*message)
        flush()
        try:
            for each in reply if isinstance(reply, list) else [reply]:
                connection.send(each)
        except BrokenPipeError:
            return
        except (OSError, Fault) as error:
            connection.send(failure(Fault(USAGE, f"the values of the script `{host.path}` cannot be sent: "
                                          f"{summary(error)}")))


main(SOCKET)  # noqa: F821: given by who starts this
