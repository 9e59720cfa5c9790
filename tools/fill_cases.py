#!/usr/bin/env python3
"""Fills the expected values `== ?` of test cases (tests/cases/README.md) by asking programs that are not ours.

    fill_cases.py FILE... [--runner OP_CASES]

ONNX Runtime is asked first, and onnx's ReferenceEvaluator for what it cannot run; the source is written behind the
value. The runner (build/release/tests/op_cases) only says what the models and the inputs are. A value of several types
is written once where one text is right for all of them, else by type. Cases that no program can run stay as they are.
Review the difference: a value is only as good as who says it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).parent.parent
WIDTH = 116
SHORT = {"FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16", "STRING": "str", "BOOL": "bool",
         "COMPLEX64": "c64", "COMPLEX128": "c128"}


class Unfilled(Exception):
    pass


def version(package):
    return ".".join(package.__version__.split(".")[:2])


def short_name(number):
    """`f32`, `i4`, `f8e4m3fn` for the number of an element type."""
    name = TensorProto.DataType.Name(number)
    return SHORT.get(name, name.lower().replace("float", "f").replace("uint", "u").replace("int", "i"))


def to_value(described):
    if described is None or isinstance(described, list):
        return described and [to_value(item) for item in described]
    if "map" in described:
        keys, values = map(to_value, described["map"])
        return dict(zip(keys.tolist(), values.tolist()))
    tensor = TensorProto(data_type=described["dtype"], dims=described["dims"])
    if "strings" in described:
        tensor.string_data.extend(text.encode() for text in described["strings"])
    else:
        tensor.raw_data = bytes.fromhex(described["hex"])
    return numpy_helper.to_array(tensor)


def ask_onnxruntime(run, inputs, names):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(run["model"], options, providers=["CPUExecutionProvider"])
    types = {output.name: output.type for output in session.get_outputs()}
    return [as_type(value, types[name]) for name, value in zip(names, session.run(names, inputs))]


def as_type(value, type_name):
    """ONNX Runtime gives the codes of float8 as uint8."""
    word = type_name.removeprefix("tensor(").removesuffix(")").upper()
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or word == "UINT8":
        return value
    if not word.startswith("FLOAT8"):
        raise Unfilled(f"codes of {word} as uint8")
    return value.view(onnx.helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(word)))


def ask_reference(run, inputs, names):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(onnx.load(run["model"])).run(names, inputs)


SOURCES = {f"ort-{version(onnxruntime)}": ask_onnxruntime, f"onnx-ref-{version(onnx)}": ask_reference}


def ask(run):
    """The outputs by name, and who gave them."""
    inputs = {name: to_value(value) for name, value in run["inputs"].items()}
    names = [output["name"] for output in run["outputs"]]
    reasons = []
    for source, function in SOURCES.items():
        try:
            return dict(zip(names, function(run, inputs, names))), source
        except Exception as error:  # whatever a foreign program throws, the next one is asked
            reasons.append(f"{source}: {str(error).strip().splitlines()[0] if str(error).strip() else error!r}")
    raise Unfilled(f"line {run['line']}: {run['name']}: " + "; ".join(reasons))


def number_of(array):
    if array.dtype == object or array.dtype.kind in "US":
        return TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def quote(text):
    text = text.decode() if isinstance(text, bytes) else str(text)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def words(array):
    number = number_of(array)
    if number == TensorProto.STRING:
        return [quote(text) for text in array.flat]
    if number == TensorProto.BOOL:
        return ["true" if truth else "false" for truth in array.flat]
    if array.dtype.kind in "iu" or short_name(number)[0] in "iu":
        return [str(int(value)) for value in array.flat]
    if array.dtype.kind == "c":
        array = array.reshape(-1).view(np.float32 if number == TensorProto.COMPLEX64 else np.float64)
    if array.dtype != np.float64:
        array = array.astype(np.float32)
    return [str(value).removesuffix(".0") for value in array.flat]


def type_text(array, dtype):
    return dtype + "[" + ",".join(map(str, array.shape)) + "]"


def literal(value):
    """A value with its type: `f32[2]{1,2}`, `seq(…)`."""
    if isinstance(value, list) and value:
        return "seq(" + ", ".join(map(literal, value)) + ")"
    if isinstance(value, dict) and value:
        return f"map({literal(np.array(list(value)))}, {literal(np.array(list(value.values()), np.float32))})"
    if not isinstance(value, np.ndarray):
        raise Unfilled(f"a value of type {type(value).__name__} has to be written by hand")
    return type_text(value, short_name(number_of(value))) + elements(value)


def elements(array):
    return "{" + ", ".join(words(array)) + "}"


class Place:
    """One `== ?` of a file and the answers for it, by the variables of the runs."""

    def __init__(self, run, output):
        self.line, self.begin, self.end = run["line"], output["begin"], output["end"]
        self.declared = output.get("type")
        self.answers = []  # (variables, value, source)

    def add(self, run, output, value, source):
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if "dtype" in output and number_of(value) != output["dtype"]:
            raise Unfilled(f"line {self.line}: {run['name']}: `{output['name']}` is {short_name(number_of(value))}, "
                           f"declared {short_name(output['dtype'])}")
        self.answers.append((run["variables"], value, source))

    def text(self):
        values = [value for _, value, _ in self.answers]
        if not all(isinstance(value, np.ndarray) for value in values):
            return " == " + self.by_variable(literal)
        if len({value.shape for value in values}) > 1:
            return " == " + self.by_variable(literal)
        head = ": " + type_text(values[0], self.dtype_word()) + " == "
        common = elements(values[0])
        if all(is_right(words(values[0]), value) for value in values):
            return head + common + " from " + "+".join(sorted({source for *_, source in self.answers}, reverse=True))
        return head + self.by_variable(elements)

    def dtype_word(self):
        """The declared one, else a variable that says it for all answers, else the type itself."""
        if self.declared:
            return self.declared
        names = [short_name(number_of(value)) for _, value, _ in self.answers]
        for variable in self.answers[0][0]:
            if all(variables[variable] == name for (variables, *_), name in zip(self.answers, names)):
                return variable
        if len(set(names)) > 1:
            raise Unfilled(f"line {self.line}: the type of the output follows no variable: {', '.join(names)}")
        return names[0]

    def by_variable(self, text_of):
        first = self.answers[0]
        if all(text_of(value) == text_of(first[1]) for _, value, _ in self.answers):
            return f"{text_of(first[1])} from {first[2]}"
        for variable in first[0]:
            texts = {}
            for variables, value, source in self.answers:
                texts.setdefault(variables[variable], set()).add(f"{text_of(value)} from {source}")
            if all(len(found) == 1 for found in texts.values()):
                return f"by {variable}\n" + "\n".join(f"{word} {found.pop()}" for word, found in texts.items())
        raise Unfilled(f"line {self.line}: the values depend on more than one variable")


def is_right(texts, array):
    """Whether these words are this array, read as its type."""
    if number_of(array) == TensorProto.STRING or array.dtype.kind == "c":
        return texts == words(array)
    if number_of(array) == TensorProto.BOOL:
        return [{"1": "true", "0": "false"}.get(text, text) for text in texts] == words(array)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if array.dtype.kind in "iu" or short_name(number_of(array))[0] in "iu":
                return [int(text) for text in texts] == [int(value) for value in array.flat]
            wide = np.float64 if array.dtype == np.float64 else np.float32
            read = np.array([float(text) for text in texts], wide).astype(array.dtype).astype(np.float64)
        except ValueError:
            return False
    return bool(np.array_equal(read, array.reshape(-1).astype(np.float64), equal_nan=True))


def wrap(text):
    """The lines of a value; what stands in quotes is left alone."""
    lines = []
    for number, line in enumerate(text.split("\n")):
        first = "x" * 10 if number == 0 else " " * 4
        wrapped = line if '"' in line else textwrap.fill(line, WIDTH, initial_indent=first, drop_whitespace=True,
                                                         subsequent_indent=" " * (4 if number == 0 else 6),
                                                         break_on_hyphens=False)
        lines.append(wrapped.removeprefix("x" * 10) if '"' not in line else (first.replace("x", "") + line))
    return "\n".join(lines)


def add_answers(places, run):
    values, source = ask(run)
    for output in run["outputs"]:
        if output["unfilled"]:
            place = places.setdefault(output["begin"], Place(run, output))
            place.add(run, output, values[output["name"]], source)


def texts_of(runs, report):
    """(place, text) of all that can be filled, the last one first; what cannot is reported and left out whole."""
    cases = {}
    for run in runs:
        cases.setdefault(run["line"], {}).setdefault(tuple(run["variables"].values()), run)  # at the first version
    found = []
    for runs_of_case in cases.values():
        places = {}
        try:
            for run in runs_of_case.values():
                add_answers(places, run)
            found += [(place, wrap(place.text())) for place in places.values()]
        except Unfilled as unfilled:
            report(unfilled)
    return sorted(found, key=lambda item: item[0].begin, reverse=True)


def fill(path, runner):
    """How many values were filled, and the lines about those that were not."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        described = subprocess.run([runner, "--describe", folder, path], capture_output=True, text=True)
        if described.returncode != 0:
            return 0, [described.stderr.strip()]
        texts = texts_of(json.loads(described.stdout), problems.append)
    content = path.read_bytes()
    for place, text in texts:
        content = content[:place.begin] + text.encode() + content[place.end:]
    path.write_bytes(content)
    return len(texts), problems


def main():
    default = pathlib.Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/release/tests")) / "op_cases"
    options = argparse.ArgumentParser()
    options.add_argument("files", nargs="+", type=pathlib.Path)
    options.add_argument("--runner", type=pathlib.Path, default=default)
    options = options.parse_args()
    status = 0
    for path in options.files:
        filled, problems = fill(path, options.runner)
        print(f"{path}: {filled} values filled")
        for problem in problems:
            print(f"{path}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
