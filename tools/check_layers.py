#!/usr/bin/env python3
"""Fails on includes that the table of modules does not allow.

    check_layers.py [ROOT]

The table is the lines `assay_module(name [BRIEF | KERNELS] [PARTS n] DEPS …)` of CMakeLists.txt. A file of module m may
include m and m's DEPS, which must have no cycle. Tests (x_test.cpp) may include every module. Every include with
quotes is written from src/ (in tests also from tests/) and must exist. Our headers include no third-party header but
<fmt/core.h>. The headers src/*.h, which the build puts before every source, belong to no module. include/ holds what
the library shows: those headers include nothing but each other and the standard library, and only the module
`library` uses them, but for the error. Only the module cli names options of the command line, in text and in
comments; the other modules name settings of requests. The table in ARCHITECTURE.md, where there is one, says the same.
"""

import pathlib
import re
import sys

import source_tree

MODULE = re.compile(r"^\s*assay_module\(\s*([\w/]+)(?:\s+(?:BRIEF|KERNELS|PARTS\s+\d+))?(?:\s+DEPS\s+([\w/\s]*))?\s*\)", re.MULTILINE)
ROW = re.compile(r"^\| ([\w/]+) \| (.+) \|$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SYSTEM_HEADER = re.compile(r"\w+|(sys|linux|gnu)/[\w-]+\.h|(dlfcn|fcntl|immintrin|poll|pthread|signal|unistd)\.h")

PUBLIC = "include"
PUBLIC_MODULE = "library"
PUBLIC_FOR_ALL = "assay/error.h"

COMMAND_LINE = "cli"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
TEXT_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
# The peer's own lines, a value of a format, and the word that starts a worker process.
OPTIONS_ELSEWHERE = {
    "src/report/run/text_output.cpp": {"--no-shape-check"},
    "src/compare/runs/run_comparer.cpp": {"--match"},
    "src/results/comparison.h": {"--match"},
    "src/remote/isolated_backend.cpp": {"--worker"},
    "src/remote/isolated_backend.h": {"--worker"},
    "src/remote/worker.h": {"--worker"},
}

Table = dict[str, set[str]]


def read_table(root: pathlib.Path) -> Table:
    text = re.sub(r"#.*", "", (root / "CMakeLists.txt").read_text())
    return {name: set(deps.split()) for name, deps in MODULE.findall(text)}


def table_findings(table: Table) -> list[str]:
    """Names that are no module, and modules that depend on themselves through others."""
    known = set(table)
    findings = [f"CMakeLists.txt: module {name} depends on {dep}, which is no module"
                for name, deps in table.items() for dep in sorted(deps - known)]
    rest = {name: deps & known for name, deps in table.items()}
    while free := [name for name, deps in rest.items() if not deps & rest.keys()]:
        for name in free:
            del rest[name]
    if rest:
        findings.append(f"CMakeLists.txt: modules depend on each other in a circle: {', '.join(sorted(rest))}")
    return findings


def document_findings(root: pathlib.Path, table: Table) -> list[str]:
    """Modules whose row in ARCHITECTURE.md is missing or says something else."""
    document = root / "ARCHITECTURE.md"
    if not document.is_file():
        return []
    rows = {name: set(re.findall(r"[\w/]+", deps)) - {PUBLIC + "/assay"} for name, deps in ROW.findall(document.read_text())}
    return [f"ARCHITECTURE.md: the row of module {name} is not what CMakeLists.txt says: {', '.join(sorted(deps)) or '–'}"
            for name, deps in table.items() if rows.get(name) != deps]


def module_of(path: pathlib.PurePath, table: Table) -> str | None:
    """The module with the longest name that holds the path (relative to src/)."""
    folders = [parent.as_posix() for parent in path.parents]
    return next((folder for folder in folders if folder in table), None)


def public_finding(path: pathlib.Path, target: str, table: Table) -> str | None:
    own = module_of(path.relative_to("src"), table) if path.parts[0] == "src" else None
    is_open = target == PUBLIC_FOR_ALL or own == PUBLIC_MODULE or path.parts[0] == PUBLIC or source_tree.is_test(path)
    return None if is_open else f'"{target}": only module {PUBLIC_MODULE} may include what the library shows'


def quoted_finding(root: pathlib.Path, path: pathlib.Path, target: str, table: Table) -> str | None:
    if (root / PUBLIC / target).is_file():
        return public_finding(path, target, table)
    if path.parts[0] == PUBLIC:
        return f'"{target}" is not a file below {PUBLIC}/'
    in_source = (root / "src" / target).is_file()
    if source_tree.is_test(path) and (in_source or (root / "tests" / target).is_file()):
        return None
    if not in_source:
        return f'"{target}" is not a file below src/'
    own = module_of(path.relative_to("src"), table)
    other = module_of(pathlib.PurePath(target), table)
    if own is None or other is None:
        return f'"{target}": no assay_module holds {path if own is None else "it"}'
    if other != own and other not in table[own]:
        return f'"{target}": module {own} may not include {other}'
    return None


def include_finding(root: pathlib.Path, path: pathlib.Path, line: str, table: Table) -> str | None:
    match = INCLUDE.match(line)
    if not match:
        return None
    quote, target = match.groups()
    if quote == '"':
        return quoted_finding(root, path, target, table)
    if path.suffix == ".h" and (target != "fmt/core.h" or path.parts[0] == PUBLIC) and not SYSTEM_HEADER.fullmatch(target):
        return f"<{target}>: a header includes no third-party header but <fmt/core.h>"
    return None


def option_finding(path: pathlib.Path, line: str, table: Table) -> str | None:
    is_library = path.parts[0] == PUBLIC or (path.parts[0] == "src" and not source_tree.is_test(path) and
                                             module_of(path.relative_to("src"), table) != COMMAND_LINE)
    if not is_library:
        return None
    named = {option for text in TEXT_OR_COMMENT.findall(line) for option in OPTION.findall(text)}
    named -= OPTIONS_ELSEWHERE.get(path.as_posix(), set())
    return f"names {', '.join(sorted(named))}: only module {COMMAND_LINE} knows options" if named else None


def file_findings(root: pathlib.Path, path: pathlib.Path, table: Table) -> list[str]:
    lines = (root / path).read_text(errors="replace").splitlines()
    findings = ((number, finding) for number, line in enumerate(lines, 1)
                for finding in (include_finding(root, path, line, table), option_finding(path, line, table)))
    return [f"{path}:{number}: {finding}" for number, finding in findings if finding]


def check(root: pathlib.Path) -> list[str]:
    table = read_table(root)
    findings = table_findings(table) + document_findings(root, table)
    for path in source_tree.files(root, ".h", ".cpp"):
        is_precompiled = path.parent == pathlib.Path("src")
        if path.parts[0] in ("src", "tests", PUBLIC) and not is_precompiled:
            findings += file_findings(root, path, table)
    return findings


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    return source_tree.report("check_layers", check(root))


if __name__ == "__main__":
    sys.exit(main())
