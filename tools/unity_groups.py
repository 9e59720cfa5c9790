#!/usr/bin/env python3
"""Says which sources the compiler can read as one, which halves the time of a build without a compiler cache.

    unity_groups.py ROOT [TARGET:] SOURCE...

Writes CMake's lines that set the sources' UNITY_GROUP. The sources of a group are of one module and one target, and no
word of a source is a name that another keeps to itself, or one that only a header of the other declares, so that a group
means what its sources mean.
"""

import collections
import dataclasses
import functools
import itertools
import pathlib
import re
import sys

import source_tree

MOST_LINES = 3000
# Operators are changed one at a time, and half as many lines take half as long: 7 s.
MOST_LINES_OF = {"ops": 1500}
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
ALONE = re.compile(r"^\s*#\s*(define|pragma)", re.MULTILINE)
WORD = re.compile(r"(?<![.\w:])(?<!->)[A-Za-z_]\w*")  # not qualified
NAMESPACE = re.compile(r"namespace (assay[\w:]*) \{")
DIRECTIVE = re.compile(r"^using namespace ([\w:]+);", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)|alignas\(.*?\)|\[\[.*?\]\]")
ARGUMENTS = re.compile(r"<[^<>]*>")
TYPE = re.compile(r"(?:struct|class|union|enum class|enum|using|concept)\s+([A-Za-z_]\w*)")
DECLARED = re.compile(r"([A-Za-z_]\w*)\s*[(={;[]")
FIRST = re.compile(r"[A-Za-z_\[]")
SEVERAL = re.compile(r", *\n? *(k[A-Z]\w*) = ")  # constants after the first of a declaration
CONSTANT_OR_TYPE = re.compile(r"k?[A-Z]")
ALIAS = re.compile(r"(?:using (?:\w+::)*|namespace (?=\w+ = ))(\w+)(?: = .*)?;")


@dataclasses.dataclass
class Part:
    """A source, or several that are read as one."""

    module: str
    paths: list[str]
    lines: int
    own: set[str]  # names that only it declares
    words: set[str]  # that may be names of a namespace around it
    namespaces: set[str]
    aliases: set[str]  # using-declarations and names of namespaces, which may be repeated
    opened: set[str]  # namespaces that using-directives open for the rest of what is read together
    headers: set[pathlib.Path]

    def changes(self, other: "Part") -> bool:
        """Whether what this declares could stand for a word of the other, or of a header that only the other includes."""
        known = set().union(*map(declared_in, other.headers))
        own = self.own | {ALIAS.match(line)[1] for line in self.aliases - other.aliases}
        included = {name for header in self.headers - other.headers for scope, name in declared_in(header) - known
                    if sees(other.namespaces, scope)}
        # What neither it nor its headers declare are its locals and members, which come first. Locals that would hide
        # constants or types have warnings.
        heard_of = other.own | {name for _, name in known}
        own = {name for name in own if CONSTANT_OR_TYPE.match(name)} | own & heard_of
        included = {name for name in included if CONSTANT_OR_TYPE.match(name)} | included & heard_of
        # Functions are found from elsewhere too, by the types of their arguments.
        functions = {name for name in own if not CONSTANT_OR_TYPE.match(name)}
        texts = [(other.words, other.namespaces)]
        texts += [(words_of(header), namespaces_of(header)) for header in other.headers - self.headers]
        return any(words & (included | (own if self.is_seen_from(namespaces) else functions)) for words, namespaces in texts)

    def is_seen_from(self, namespaces: set[str]) -> bool:
        return not self.namespaces or any(sees(namespaces, scope) for scope in self.namespaces)

    def takes(self, other: "Part") -> bool:
        most = MOST_LINES_OF.get(self.module, MOST_LINES)
        return (self.module == other.module and self.opened == other.opened and self.lines + other.lines <= most
                and not self.changes(other) and not other.changes(self))

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
def namespaces_of(file: pathlib.Path) -> set[str]:
    return set(NAMESPACE.findall(without_text(file.read_text())))


def sees(namespaces: set[str], scope: str) -> bool:
    """Whether what stands in one of the namespaces sees what the scope declares."""
    return any(inside == scope or inside.startswith(scope + "::") for inside in namespaces)


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
    opened = {f"assay::{name.removeprefix('assay::')}" for name in DIRECTIVE.findall(code)}
    part = Part(source.relative_to(root).parts[1], [path], text.count("\n"), set(SEVERAL.findall(code)),
                set(WORD.findall(code)), set(NAMESPACE.findall(code)) | opened, set(), opened,
                set(source_tree.parts(source, root)) - {source})
    hidden = False  # in a namespace without a name; the layout begins its declarations in the first column
    for line, full in zip(code.splitlines(), text.splitlines()):
        if full in ("namespace {", "}  // namespace"):
            hidden = full == "namespace {"
        elif ALIAS.match(line):
            part.aliases.add(line.strip())
        elif not DIRECTIVE.match(line) and ((hidden and FIRST.match(line)) or line.startswith(("static ", "using "))):
            name = declared_name(line)
            if name and not name.isupper():  # TEST and its like
                part.own.add(name)
    return part


def grouped(parts: list[Part]) -> list[Part]:
    groups: list[Part] = []
    for part in parts:
        group = next((group for group in groups if group.takes(part)), None)
        if group:
            group.add(part)
        else:
            groups.append(part)
    return [group for group in groups if len(group.paths) > 1]


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    targets: list[list[Part]] = [[]]
    for word in sys.argv[2:]:
        if word.endswith(":"):
            targets.append([])
        elif part := read(root, word):
            targets[-1].append(part)
    for groups in map(grouped, targets):
        # Numbers for each module, so that a new source leaves the names of other modules' groups as they are.
        numbers = collections.defaultdict(itertools.count)
        for group in groups:
            name = f"{group.module}_{next(numbers[group.module])}"
            print(f"set_source_files_properties({' '.join(group.paths)} PROPERTIES UNITY_GROUP {name})")


main()
