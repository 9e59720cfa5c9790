"""Reads how a build compiles its files."""

import dataclasses
import json
import pathlib
import shlex


@dataclasses.dataclass
class Compilation:
    source: pathlib.Path
    output: str  # as Ninja names it
    words: list[str]

    def discarding(self) -> list[str]:
        """The same command with its output thrown away."""
        return ["/dev/null" if word == self.output else word for word in self.words]


def read(build: pathlib.Path) -> list[Compilation]:
    found = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        found.append(Compilation(pathlib.Path(entry["file"]), words[words.index("-o") + 1], words))
    return found
