#!/usr/bin/env python3
"""Writes src/schema/schemas.txt: every version of every operator that the installed package onnx declares.

    gen_schemas.py [--check]

--check changes nothing and fails if the file is not what the package says. The format is described at the head of the
file.
"""

import argparse
import pathlib
import sys

import numpy
import onnx
from onnx import defs, helper

TARGET = pathlib.Path(__file__).parent.parent / "src/schema/schemas.txt"
HEAD = """\
# The operators of the package onnx {version}, written by tools/gen_schemas.py. One operator version a line:
#   NAME SINCE FLAG... | INPUT... | OUTPUT... | ATTRIBUTE... | VARIABLE...
# NAME has the domain and `::` before it, if that is not ai.onnx. FLAG: deprecated; body (defined by other operators);
# random (equal inputs may give different outputs).
# INPUT, OUTPUT: name:T, T a variable or a type. Behind it: ? optional, *N the last one, at least N times; *N~ also of
# different types.
# ATTRIBUTE: name:type. Behind it: ! required, =VALUE the default.
# VARIABLE: T=TYPE or T={{TYPE...}}, the types that it stands for; a bare element type is a tensor of it.
# @set NAME TYPE...: a short name for several element types. @domain: its newest version. @release: a release of onnx,
# its IR version and versions of ai.onnx, ai.onnx.ml and ai.onnx.preview.training (0: none).
"""

# Named sets of element types, each made of element types and sets above it.
SETS = {
    "signed": "int8 int16 int32 int64",
    "unsigned": "uint8 uint16 uint32 uint64",
    "integers": "signed unsigned",
    "index": "int32 int64",
    "wide_integers": "index uint32 uint64",
    "floats": "float16 float double",
    "floats4": "floats bfloat16",
    "floats8": "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz",
    "floats6": "float6e2m3 float6e3m2",
    "integers4": "int4 uint4",
    "integers2": "int2 uint2",
    "wide7": "floats wide_integers",
    "wide8": "floats4 wide_integers",
    "numbers11": "floats integers",
    "numbers12": "floats4 integers",
    "all15": "numbers11 bool string complex64 complex128",
    "all16": "numbers12 bool string complex64 complex128",
    "all20": "all16 floats8",
    "all22": "all20 integers4",
    "all23": "all22 float4e2m1",
    "all24": "all23 float8e8m0",
    "all26": "all24 integers2",
    "all28": "all26 floats6",
}
CONTAINERS = ("{}", "seq({})", "optional({})", "optional(seq({}))")
ELEMENTS = [name.lower() for name in onnx.TensorProto.DataType.keys()]


def expanded_sets() -> dict[str, frozenset[str]]:
    sets: dict[str, frozenset[str]] = {}
    for name, words in SETS.items():
        sets[name] = frozenset().union(*(sets.get(word, {word}) for word in words.split()))
    return sets


LARGEST_FIRST = sorted(expanded_sets().items(), key=lambda item: -len(item[1]))


def element_words(elements: set[str]) -> list[str]:
    """The fewest words that we find for a set of element types: named sets, then what is left in ONNX's order."""
    words, rest = [], set(elements)
    for name, members in LARGEST_FIRST:
        if members <= rest:
            words.append(name)
            rest -= members
    return words + sorted(rest, key=ELEMENTS.index)


def type_words(types: list[str]) -> list[str]:
    words, rest = [], set(types)
    for container in CONTAINERS:
        elements = {element for element in ELEMENTS if container.format(f"tensor({element})") in rest}
        rest -= {container.format(f"tensor({element})") for element in elements}
        words += [container.format(word) for word in element_words(elements)]
    return words + sorted(rest)


def type_text(types: list[str]) -> str:
    words = type_words(types)
    return words[0] if len(words) == 1 else "{" + " ".join(words) + "}"


def argument_text(argument: defs.OpSchema.FormalParameter, variables: set[str]) -> str:
    of = argument.type_str if argument.type_str in variables else type_text([argument.type_str])
    option = argument.option.name
    suffix = {"Single": "", "Optional": "?", "Variadic": f"*{argument.min_arity}"}[option]
    if option == "Variadic" and not argument.is_homogeneous:
        suffix += "~"
    return f"{argument.name}:{of}{suffix}"


def value_text(value: object) -> str:
    if isinstance(value, bytes):
        text = value.decode("ascii")
        assert text.isprintable() and not set(text) & set(' "|,[]{}()'), f"{text!r} needs a richer format"
        return f'"{text}"'
    if isinstance(value, float):
        return str(numpy.float32(value))
    if isinstance(value, list):
        return "[" + ",".join(map(value_text, value)) + "]"
    assert isinstance(value, int), f"no format for a default of {type(value)}"
    return str(value)


def attribute_text(attribute: defs.OpSchema.Attribute) -> str:
    text = f"{attribute.name}:{attribute.type.name.lower()}"
    if attribute.required:
        return text + "!"
    default = attribute.default_value
    return f"{text}={value_text(helper.get_attribute_value(default))}" if default.type else text


def schema_text(schema: defs.OpSchema) -> str:
    constraints = sorted(schema.type_constraints, key=lambda constraint: constraint.type_param_str)
    variables = {constraint.type_param_str for constraint in constraints}
    flags = {
        "deprecated": schema.deprecated,
        "body": schema.has_function or schema.has_context_dependent_function,
        "random": schema.non_deterministic,
    }
    prefix = f"{schema.domain}::" if schema.domain else ""
    columns = [
        [f"{prefix}{schema.name} {schema.since_version}", *(flag for flag, holds in flags.items() if holds)],
        [argument_text(argument, variables) for argument in schema.inputs],
        [argument_text(argument, variables) for argument in schema.outputs],
        [attribute_text(attribute) for _, attribute in sorted(schema.attributes.items())],
        [f"{c.type_param_str}={type_text(c.allowed_type_strs)}" for c in constraints],
    ]
    return " |".join(" ".join(["", *column]) for column in columns).strip()


def header_lines(schemas: list[defs.OpSchema]) -> list[str]:
    newest = {schema.domain: 0 for schema in schemas}
    for schema in schemas:
        newest[schema.domain] = max(newest[schema.domain], schema.since_version)
    newest[""] = defs.onnx_opset_version()
    lines = [f"@package onnx {onnx.__version__}", f"@ir {int(onnx.IR_VERSION)}"]
    lines += [f"@domain {domain or 'ai.onnx'} {version}" for domain, version in sorted(newest.items())]
    for release in helper.VERSION_TABLE:
        lines.append("@release " + " ".join(map(str, (*release, 0)[:5])))
    return lines + [f"@set {name} {words}" for name, words in SETS.items()]


def table_text() -> tuple[str, int]:
    schemas = defs.get_all_schemas_with_history()
    schemas.sort(key=lambda schema: (schema.domain, schema.name, schema.since_version))
    lines = header_lines(schemas) + [schema_text(schema) for schema in schemas]
    return HEAD.format(version=onnx.__version__) + "\n".join(lines) + "\n", len(schemas)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true")
    options = options.parse_args()
    text, count = table_text()
    if not options.check:
        TARGET.write_text(text)
        print(f"{TARGET.name}: {count} operator versions of onnx {onnx.__version__}")
        return 0
    if TARGET.read_text() != text:
        print(f"{TARGET.name} is not what onnx {onnx.__version__} says; run tools/gen_schemas.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
