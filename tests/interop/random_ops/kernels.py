"""What ONNX Runtime's CPU kernels implement: versions and element types of each operator."""

import collections
import functools

import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

NEWEST = {"": 26, "ai.onnx.ml": 5}  # that ONNX Runtime loads without complaint
OPEN_END = 2**31 - 1
WITHOUT_KERNEL = {"Constant"}  # becomes an initializer
OLDEST = {"": 7, "ai.onnx.ml": 1}
DTYPES = {"float": "float32", "double": "float64"}


@functools.cache
def table():
    kernels = collections.defaultdict(list)
    for kernel in runtime.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            kernels[kernel.domain, kernel.op_name].append(kernel)
    return kernels


@functools.cache
def schemas(domain, op):
    """Ascending, those of versions that ONNX Runtime may run."""
    found = {}
    for version in range(1, NEWEST[domain] + 1):
        try:
            schema = onnx.defs.get_schema(op, version, domain)
        except onnx.defs.SchemaError:
            continue
        if not schema.deprecated:
            found[version] = schema
    return found


@functools.cache
def versions(domain, op):
    """One operator-set version for each version of the operator that has a kernel (or a function body)."""
    usable = {}
    for version, schema in schemas(domain, op).items():
        is_function = schema.has_function or schema.has_context_dependent_function or op in WITHOUT_KERNEL
        if version >= OLDEST[domain] and (is_function or has_kernel(domain, op, schema.since_version)):
            usable.setdefault(schema.since_version, []).append(version)
    return sorted(usable.values())


def covers(kernel, since):
    """An open-ended kernel holds only for the operator version that it was registered for."""
    first, last = kernel.version_range
    return first == since or (first <= since <= last and last != OPEN_END)


def has_kernel(domain, op, since):
    return any(covers(kernel, since) for kernel in table()[domain, op])


def name_of(text):
    """`tensor(float)` as numpy calls it; None for what is no tensor."""
    if not text.startswith("tensor("):
        return None
    word = text[len("tensor("):-1]
    return DTYPES.get(word, word)


@functools.cache
def dtypes(domain, op, version, variable):
    """Element types that both the schema and some kernel allow, for a type variable of the schema."""
    schema = schemas(domain, op)[version]
    allowed = {name_of(text) for constraint in schema.type_constraints if constraint.type_param_str == variable
               for text in constraint.allowed_type_strs}
    implemented = set()
    for kernel in table()[domain, op]:
        if covers(kernel, schema.since_version):
            implemented |= {name_of(text) for text in kernel.type_constraints.get(variable, [])}
    both = allowed & implemented if implemented - {None} else allowed
    if "float32" in both and "float16" in allowed:
        both = both | {"float16"}  # it inserts casts
    return sorted(both - {None})
