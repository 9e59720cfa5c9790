#!/usr/bin/env python3
"""Says which sources the compiler can read as one, which halves the time of a build without a compiler cache.

    unity_groups.py ROOT SOURCE...

Writes CMake's lines that set the sources' UNITY_GROUP. The sources of a group are of one module, and no word of a source
is a name that another keeps to itself, or one that only a header of the other declares, so that a group means what its
sources mean.
"""

import dataclasses
import functools
import pathlib
import re
import sys

import source_tree

MOST_LINES = 3000
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
ALONE = re.compile(r"^\s*#\s*(define|pragma)|^using namespace", re.MULTILINE)
WORD = re.compile(r"(?<![.\w:])(?<!->)[A-Za-z_]\w*")  # not qualified
NAMESPACE = re.compile(r"namespace (assay[\w:]*) \{")
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)|alignas\(.*?\)|\[\[.*?\]\]")
ARGUMENTS = re.compile(r"<[^<>]*>")
TYPE = re.compile(r"(?:struct|class|union|enum class|enum|using|concept)\s+([A-Za-z_]\w*)")
DECLARED = re.compile(r"([A-Za-z_]\w*)\s*[(={;[]")
FIRST = re.compile(r"[A-Za-z_\[]")
SEVERAL = re.compile(r", *\n? *(k[A-Z]\w*) = ")  # constants after the first of a declaration
CONSTANT_OR_TYPE = re.compile(r"k?[A-Z]")
ALIAS = re.compile(r"using (?:\w+::)*(\w+);")


@dataclasses.dataclass
class Part:
    """A source, or several that are read as one."""

    module: str
    paths: list[str]
    lines: int
    own: set[str]  # names that only it declares
    words: set[str]  # that may be names of a namespace around it
    namespaces: set[str]
    aliases: set[str]  # using-declarations, which may be repeated
    headers: set[pathlib.Path]

    def changes(self, other: "Part") -> bool:
        """Whether what this declares could stand for a word of the other, or of a header that only the other includes."""
        known = set().union(*map(declared_in, other.headers))
        new = self.own | {ALIAS.match(line)[1] for line in self.aliases - other.aliases}
        for header in self.headers - other.headers:
            new |= {name for scope, name in declared_in(header) - known if other.sees(scope)}
        # What neither it nor its headers declare are its locals and members, which come first. Locals that would hide
        # constants or types have warnings.
        new = {name for name in new if CONSTANT_OR_TYPE.match(name)} | new & (other.own | {name for _, name in known})
        return bool(new) and not (new.isdisjoint(other.words) and all(
            new.isdisjoint(words_of(header)) for header in other.headers - self.headers))

    def sees(self, scope: str) -> bool:
        return any(used == scope or used.startswith(scope + "::") for used in self.namespaces)

    def takes(self, other: "Part") -> bool:
        return (self.module == other.module and self.lines + other.lines <= MOST_LINES and not self.changes(other)
                and not other.changes(self))

    def add(self, other: "Part") -> None:
        self.paths += other.paths
        self.lines += other.lines
        self.own |= other.own
        self.words |= other.words
        self.namespaces |= other.namespaces
        self.aliases |= other.aliases
        self.headers |= other.headers


def declared_name(line: str) -> str | None:
    line = ATTRIBUTE.sub("", line)
    while ARGUMENTS.search(line):
        line = ARGUMENTS.sub("", line)
    found = TYPE.match(line) or DECLARED.search(line)
    return found[1] if found else None


def without_text(code: str) -> str:
    return NOT_CODE.sub(lambda found: " " + "\n" * found[0].count("\n"), code)


@functools.cache
def words_of(file: pathlib.Path) -> set[str]:
    return set(WORD.findall(without_text(file.read_text())))


@functools.cache
def declared_in(header: pathlib.Path) -> set[tuple[str, str]]:
    """Namespaces and the names that the header declares there; the layout begins declarations in the first column."""
    found = set()
    scope = ""
    for line in without_text(header.read_text()).splitlines():
        if opened := NAMESPACE.match(line):
            scope = opened[1]
        elif FIRST.match(line) and (name := declared_name(line)):
            found.add((scope, name))
    return found


def read(root: pathlib.Path, path: str) -> Part | None:
    """None for a source that has to be compiled alone."""
    text = pathlib.Path(path).read_text()
    code = without_text(text)
    if ALONE.search(code):
        return None
    source = pathlib.Path(path)
    part = Part(source.relative_to(root).parts[1], [path], text.count("\n"), set(SEVERAL.findall(code)),
                set(WORD.findall(code)), set(NAMESPACE.findall(code)), set(), set(source_tree.parts(source, root)) - {source})
    hidden = False  # in a namespace without a name; the layout begins its declarations in the first column
    for line, full in zip(code.splitlines(), text.splitlines()):
        if full in ("namespace {", "}  // namespace"):
            hidden = full == "namespace {"
        elif ALIAS.match(line):
            part.aliases.add(line.strip())
        elif (hidden and FIRST.match(line)) or line.startswith(("static ", "using ")):
            name = declared_name(line)
            if name and not name.isupper():  # TEST and its like
                part.own.add(name)
    return part


def main() -> None:
    groups: list[Part] = []
    for part in filter(None, map(functools.partial(read, pathlib.Path(sys.argv[1])), sys.argv[2:])):
        group = next((group for group in groups if group.takes(part)), None)
        if group:
            group.add(part)
        else:
            groups.append(part)
    for number, group in enumerate(groups):
        if len(group.paths) > 1:
            print(f"set_source_files_properties({' '.join(group.paths)} PROPERTIES UNITY_GROUP group_{number})")


main()
