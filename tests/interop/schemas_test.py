"""The schema table as the library parses it, against the packages it describes: onnx for every operator version of ONNX,
onnxruntime for those that it has beyond them. Run as: schemas_test.py SCHEMA_TOOL"""

import importlib.metadata
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import AttributeProto, defs, helper
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

ROOT = pathlib.Path(__file__).parent.parent.parent
RUNTIME_VERSION = "1.31.1"  # whose operators schemas_microsoft.txt describes
ANY_NUMBER = 2**31 - 1
UNLIMITED = 2**32 - 1
passed = failed = 0


def check(seen, expected, what):
    global passed, failed
    if seen == expected:
        passed += 1
    else:
        failed += 1
        print(f"failed: {what}: {seen}, expected {expected}")


def tool(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def limit(count):
    return UNLIMITED if count >= ANY_NUMBER else count


def plain(value):
    """An attribute's value as the tool prints it."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def default_of(proto):
    return plain(helper.get_attribute_value(proto)) if proto.type != AttributeProto.UNDEFINED else None


def same_value(seen, expected):
    if isinstance(expected, float):
        return np.float32(seen) == np.float32(expected)
    return type(seen) is type(expected) and seen == expected


def check_arguments(seen, expected, constraints, where):
    """Expected: name, type, option, minimal number or None, homogeneous."""
    check([argument["name"] for argument in seen], [argument[0] for argument in expected], f"{where}: names")
    for argument, (name, type_text, option, least, homogeneous) in zip(seen, expected):
        what = f"{where} {name}"
        check(argument["variable"], type_text if type_text in constraints else "", f"{what}: variable")
        check(sorted(argument["types"]), sorted(constraints.get(type_text, [type_text])), f"{what}: types")
        check(argument["option"], option, f"{what}: option")
        if option == "variadic":
            check(argument["homogeneous"], homogeneous, f"{what}: homogeneous")
            if least is not None:
                check(argument["min_arity"], least, f"{what}: minimal number")


def check_attributes(seen, expected, where):
    """Expected: name -> type's number, required, default or None."""
    check([attribute["name"] for attribute in seen], sorted(expected), f"{where}: names")
    for attribute in seen:
        type_number, required, default = expected.get(attribute["name"], (None, None, None))
        what = f"{where} {attribute['name']}"
        check(attribute["type"], type_number, f"{what}: type")
        check(attribute["required"], required, f"{what}: required")
        if not same_value(attribute["default"], default):
            check(attribute["default"], default, f"{what}: default")


def check_common(seen, schema, where):
    """What the schemas of both packages have; returns the type constraints."""
    check(seen["since"], schema.since_version, f"{where}: since")
    check(seen["deprecated"], schema.deprecated, f"{where}: deprecated")
    arity = [schema.min_input, limit(schema.max_input), schema.min_output, limit(schema.max_output)]
    check(seen["arity"], arity, f"{where}: arity")
    return {constraint.type_param_str: list(constraint.allowed_type_strs) for constraint in schema.type_constraints}


def check_onnx_schema(seen, schema):
    where = f"{schema.domain}::{schema.name} {schema.since_version}"
    constraints = check_common(seen, schema, where)
    check(seen["deterministic"], not schema.non_deterministic, f"{where}: deterministic")
    body = schema.has_function or schema.has_context_dependent_function
    check(seen["has_body"], body, f"{where}: body")
    for side in ("inputs", "outputs"):
        expected = [(a.name, a.type_str, a.option.name.lower(), a.min_arity, a.is_homogeneous)
                    for a in getattr(schema, side)]
        check_arguments(seen[side], expected, constraints, f"{where} {side}")
    attributes = {name: (a.type.value, a.required, default_of(a.default_value))
                  for name, a in schema.attributes.items()}
    check_attributes(seen["attributes"], attributes, f"{where} attributes")


def check_onnx(table):
    schemas = defs.get_all_schemas_with_history()
    for schema in schemas:
        key = (schema.domain, schema.name, schema.since_version)
        if key in table:
            check_onnx_schema(table.pop(key), schema)
        else:
            check("missing", "present", key)
    return len(schemas)


def check_releases():
    seen = tool("releases")[0]
    expected = {"ir": int(onnx.IR_VERSION), "domain ": defs.onnx_opset_version()}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain:
            domain = f"domain {schema.domain}"
            expected[domain] = max(expected.get(domain, 0), schema.since_version)
    expected |= {release[0]: list((*release[1:], 0)[:4]) for release in helper.VERSION_TABLE}
    check(seen, expected, "releases")


def runtime_default(attribute):
    """The package gives the default as the bytes of an AttributeProto."""
    proto = AttributeProto()
    proto.ParseFromString(attribute._default_value)
    return default_of(proto)


def check_runtime_schema(seen, schema):
    where = f"{schema.domain}::{schema.name}"
    constraints = check_common(seen, schema, where)
    for side in ("inputs", "outputs"):
        expected = [(a.name, a.typeStr, a.option.name.lower(), None, a.isHomogeneous) for a in getattr(schema, side)]
        check_arguments(seen[side], expected, constraints, f"{where} {side}")
    attributes = {name: (AttributeProto.AttributeType.Value(a.type.name), a.required, runtime_default(a))
                  for name, a in schema.attributes.items()}
    check_attributes(seen["attributes"], attributes, f"{where} attributes")


def check_runtime(table):
    version = importlib.metadata.version("onnxruntime")
    if version != RUNTIME_VERSION:
        print(f"skipped: operators of onnxruntime {RUNTIME_VERSION}; this one is {version}")
        return
    schemas = {(schema.domain, schema.name, schema.since_version): schema
               for schema in runtime.get_all_operator_schema()}
    for key, seen in table.items():
        if key in schemas:
            check_runtime_schema(seen, schemas[key])
        else:
            check("unknown to onnxruntime", "known", key)


def check_generator():
    done = subprocess.run([sys.executable, ROOT / "tools/gen_schemas.py", "--check"], capture_output=True, text=True)
    check((done.returncode, done.stderr), (0, ""), "gen_schemas.py --check")


def main():
    lines = tool()
    table = {(line["domain"], line["name"], line["since"]): line for line in lines}
    check(len(table), len(lines), "lines of their own")
    count = check_onnx(table)
    check_releases()
    beyond = len(table)
    check_runtime(table)
    check_generator()
    print(f"{count} operator versions of onnx, {beyond} of onnxruntime: {passed} checks passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
