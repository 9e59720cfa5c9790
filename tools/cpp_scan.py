"""Finds the functions of a C++ file without a compiler: comments and literals are blanked, then braces are followed."""

import dataclasses
import re

LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\b\d[\w'.]*|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
PREFIX = re.compile(r"^(?:\s|(?:public|private|protected)\s*:|\[\[[^\]]*\]\]|template\s*<[^;{}()]*?>(?=\s*\w))*")
TYPE = re.compile(
    r"(?:inline\s+|typedef\s+)?(?:namespace|class|struct|union|enum|extern)\b(?!.*\)\s*(?:const)?$)", re.DOTALL)
CONTROL = re.compile(r"(?:if|else|for|while|do|switch|try|catch)\b")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:<[^<>]*>\s*)?(?:\([^{}]*\))?[\w\s:<>,*&()-]*$")
CASE_ROW = re.compile(r"^[ \t]*(?:case\b[^;{}\n]*|default):\s*return\b[^;\n]*;[^\n]*\n", re.MULTILINE)
NO_NAME = {"decltype", "noexcept", "requires", "alignas", "__attribute__", "explicit"}
SCOPES = {"file", "type"}


@dataclasses.dataclass
class Function:
    name: str
    line: int
    lines: int = 0  # without those of tables in it
    parameters: int = 0
    nesting: int = 0


@dataclasses.dataclass
class Brace:
    kind: str  # file, type, function, control, block, lambda, table
    head: int  # where the statement began that the brace belongs to
    open: int = 0
    parentheses: int = 0
    function: Function | None = None
    table_lines: int = 0


def blank(match: re.Match) -> str:
    text = match.group()
    newlines = "\n" * text.count("\n")
    if text[0].isdigit():
        return text.replace("'", "")
    return newlines if text[0] in "/#" or text.lstrip()[0] == "#" else '""' + newlines


def parameter_list(head: str) -> tuple[str, int, int] | None:
    """The function's name and where its parameters begin and end, if the head is that of a function."""
    for match in re.finditer(r"((?:\w+::)*operator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|[\w:~]+)\s*\(", head):
        if match.group(1) not in NO_NAME and "=" not in re.sub(r"operator\W+", "", head[: match.start()]):
            return match.group(1), match.end(), closing(head, match.end())
    return None


def closing(text: str, position: int) -> int:
    depth = 1
    while position < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position - 1


def count_parameters(text: str) -> int:
    depth = commas = 0
    for character in text.replace("->", ""):
        depth += {"(": 1, "<": 1, "[": 1, "{": 1, ")": -1, ">": -1, "]": -1, "}": -1}.get(character, 0)
        commas += character == "," and depth == 0
    return commas + 1 if text.strip() not in ("", "void") else 0


def is_member_initializer(head: str, end: int) -> bool:
    """Whether the brace after the head initializes a member of a constructor's list, as in `X() : a_{1} {`."""
    return bool(re.search(r"^[^:]*(?<!:):(?!:)", head[end + 1:])) and bool(re.search(r"[\w>]$", head.rstrip()))


def classify(head: str, scope: str) -> tuple[str, tuple[str, str] | None]:
    """The kind of the brace behind the head; for a function also its name and parameters."""
    head = head[PREFIX.match(head).end():]
    if TYPE.match(head):
        return "type", None
    if scope in SCOPES:
        found = parameter_list(head)
        if found and not is_member_initializer(head, found[2]):
            return "function", (found[0], head[found[1]:found[2]])
        return "table", None
    if CONTROL.match(head):
        return "control", None
    if not head.strip() or head.rstrip().endswith(":"):
        return "block", None
    return ("lambda" if LAMBDA.search(head) else "table"), None


class Scanner:
    def __init__(self, text: str):
        self.text = PREPROCESSOR.sub(blank, LITERAL.sub(blank, text))
        self.functions: list[Function] = []
        self.stack = [Brace("file", 0)]
        self.head = 0

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def run(self) -> None:
        for match in re.finditer(r"[{}();]", self.text):
            getattr(self, {"{": "opened", "}": "closed", ";": "ended"}.get(match.group(), "parenthesis"))(match)

    def parenthesis(self, match: re.Match) -> None:
        self.stack[-1].parentheses += 1 if match.group() == "(" else -1

    def ended(self, match: re.Match) -> None:
        if self.stack[-1].parentheses == 0:
            self.head = match.end()

    def opened(self, match: re.Match) -> None:
        outer = self.stack[-1]
        head = self.text[self.head:match.start()]
        kind, signature = classify(head, outer.kind)
        if outer.parentheses > 0:
            kind = "lambda" if LAMBDA.search(head) else "table"
        brace = Brace(kind, self.head, match.start(), function=outer.function)
        if kind == "function":
            start = self.head + PREFIX.match(head).end()
            brace.function = Function(signature[0], self.line(start), parameters=count_parameters(signature[1]))
            self.functions.append(brace.function)
        self.stack.append(brace)
        self.head = match.end()
        self.note_nesting()

    def note_nesting(self) -> None:
        function = self.stack[-1].function
        if function:
            kinds = [brace.kind for brace in self.stack if brace.function is function]
            function.nesting = max(function.nesting, kinds.count("control"))

    def closed(self, match: re.Match) -> None:
        if len(self.stack) == 1:
            return
        brace = self.stack.pop()
        outer = self.stack[-1]
        outer.table_lines += brace.table_lines
        if brace.kind == "table":
            outer.table_lines += self.text.count("\n", brace.open, match.start()) - brace.table_lines
        if brace.kind == "function":
            rows = "".join(CASE_ROW.findall(self.text, brace.open, match.start())).count("\n")
            brace.function.lines = self.line(match.start()) - brace.function.line + 1 - brace.table_lines - rows
        self.head = brace.head if brace.kind in ("table", "lambda") else match.end()


def scan(text: str) -> tuple[list[Function], int]:
    """The functions of a file, and how many of its lines are the insides of tables (brace initializers).

    In a function, tables and the rows `case x: return y;` of a switch do not count.
    """
    scanner = Scanner(text)
    scanner.run()
    return scanner.functions, scanner.stack[0].table_lines
